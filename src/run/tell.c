/* SPDX-License-Identifier: BSD-3-Clause */
/* tell.c - tells the journal what changed.
 *
 * Facts, losses and groups go by their names, because the lists that number them may be
 * put into another order. Times are told since the start of the run, which makes them
 * short. */
#include "run/tell.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "run/array.h"
#include "run/journal.h"

enum { MOST_NUMBERS = ROAST_SERIES_COUNT + 3 };

static const struct roast_str no_text = {NULL, 0};

static bool tell(struct roast_run *run, enum roast_entry kind, const uint64_t *numbers,
                 size_t count, struct roast_str text)
{
    unsigned char head[MOST_NUMBERS * ROAST_VARINT_MAX_BYTES];
    unsigned char *end = head;

    if (!run->journal)
        return false;
    for (size_t i = 0; i < count; i++)
        end = roast__store_varint(end, numbers[i]);
    struct roast_str pieces[] = {{(const char *)head, (size_t)(end - head)}, text};
    return roast__journal_put(run->journal, kind, pieces, 2);
}

static uint64_t since_start(const struct roast_run *run, int64_t time_ns)
{
    return roast__zigzag(roast__wrap_sub(time_ns, run->start_ns));
}

/* ---- numbers and texts --------------------------------------------------- */

void roast__tell_finish(struct roast_run *run, int64_t end_mono_ns)
{
    uint64_t number = roast__zigzag(end_mono_ns);

    (void)tell(run, ROAST_ENTRY_finish, &number, 1, no_text);
}

void roast__tell_host(struct roast_run *run, struct roast_str host)
{
    (void)tell(run, ROAST_ENTRY_host, NULL, 0, host);
}

void roast__tell_accept(struct roast_run *run,
                        const unsigned char run_id[ROAST_RUN_ID_BYTES])
{
    struct roast_str id = {(const char *)run_id, ROAST_RUN_ID_BYTES};

    (void)tell(run, ROAST_ENTRY_accept, NULL, 0, id);
}

void roast__tell_frame(struct roast_run *run, enum roast_frames_from from,
                       struct roast_str frame)
{
    uint64_t number = from == ROAST_FROM_USER;

    (void)tell(run, ROAST_ENTRY_frame, &number, 1, frame);
}

void roast__tell_name(struct roast_run *run, struct roast_str name)
{
    (void)tell(run, ROAST_ENTRY_name, NULL, 0, name);
}

void roast__tell_offer(struct roast_run *run, const struct roast_offer *offer)
{
    uint64_t numbers[] = {since_start(run, offer->time_ns), offer->workers,
                          offer->threads};

    (void)tell(run, ROAST_ENTRY_offer, numbers, 3, no_text);
}

void roast__tell_count(struct roast_run *run, const struct roast_count *count)
{
    uint64_t numbers[] = {since_start(run, count->time_ns), count->workers};

    (void)tell(run, ROAST_ENTRY_count, numbers, 2, no_text);
}

void roast__tell_fact(struct roast_run *run, enum roast_fact fact)
{
    uint64_t bits;

    memcpy(&bits, &run->facts[fact], sizeof(bits));
    (void)tell(run, ROAST_ENTRY_fact, &bits, 1, roast_str_of(roast_fact_name(fact)));
}

void roast__tell_loss(struct roast_run *run, enum roast_run_loss loss, uint64_t count)
{
    if (count > 0)
        (void)tell(run, ROAST_ENTRY_loss, &count, 1,
                   roast_str_of(roast_run_loss_name(loss)));
}

void roast__lose_and_tell(struct roast_run *run, enum roast_run_loss loss)
{
    roast__run_lose(run, loss, 1);
    roast__tell_loss(run, loss, 1);
}

void roast__tell_mark(struct roast_run *run, enum roast_mark mark, int64_t mono_ns)
{
    uint64_t numbers[] = {mark, roast__zigzag(mono_ns)};

    (void)tell(run, ROAST_ENTRY_mark, numbers, 2, no_text);
}

void roast__tell_note(struct roast_run *run, enum roast_note_group group,
                      struct roast_str name, struct roast_str text)
{
    struct roast_str group_name = roast_str_of(roast_note_group_name(group));
    unsigned char head[3 * ROAST_VARINT_MAX_BYTES];

    if (!run->journal)
        return;
    unsigned char *end = roast__store_varint(head, group_name.size_bytes);
    end = roast__store_varint(end, name.size_bytes);
    end = roast__store_varint(end, text.data != NULL);
    struct roast_str pieces[] = {
        {(const char *)head, (size_t)(end - head)}, group_name, name, text};
    (void)roast__journal_put(run->journal, ROAST_ENTRY_note, pieces, 4);
}

/* ---- samples ------------------------------------------------------------- */

/* Where a worker's chapters are kept; NULL without memory: then it is told again. */
static struct roast_told *told_of(struct roast_journal *journal, size_t worker)
{
    size_t count = journal->told_count;

    if (worker >= count) {
        size_t more = worker + worker / 2 + 16;
        struct roast_told *told =
            roast__realloc(journal->told, more * sizeof(*journal->told));
        if (!told)
            return NULL;
        memset(told + count, 0, (more - count) * sizeof(*told));
        journal->told = told;
        journal->told_count = more;
    }
    return &journal->told[worker];
}

static size_t number_of(const struct roast_run *run,
                        const struct roast_worker_samples *worker)
{
    return (size_t)(worker - run->samples.workers);
}

void roast__tell_sample(struct roast_run *run,
                        const struct roast_worker_samples *worker,
                        const struct roast_tick *tick)
{
    uint64_t numbers[MOST_NUMBERS];
    size_t count = 3;

    if (!run->journal)
        return;
    struct roast_told *told = told_of(run->journal, number_of(run, worker));
    bool tells = !told || told->name_in != run->journal->chapter;
    numbers[0] = (uint64_t)number_of(run, worker) << 1 | tells;
    numbers[1] = roast__zigzag(roast__wrap_sub(tick->time_us, run->start_ns / 1000));
    numbers[2] = tick->present;
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        if ((tick->present >> i) & 1)
            numbers[count++] = roast__zigzag(tick->steps[i]);
    }
    struct roast_str name =
        tells ? roast__strings_get(&run->strings, worker->name) : no_text;
    bool queued = tell(run, ROAST_ENTRY_sample, numbers, count, name);
    if (told)
        told->name_in = queued ? run->journal->chapter : 0;
}

/* The command is not told: a run does not keep it. */
static size_t put_use(uint64_t *numbers, const struct roast_run *run,
                      const struct roast_process_use *use)
{
    size_t count = 0;

    numbers[count++] = (uint64_t)use->ended | (uint64_t)use->io_known << 1;
    numbers[count++] = since_start(run, use->time_ns);
    numbers[count++] = use->parent_pid;
    numbers[count++] = use->cpu_ns;
    numbers[count++] = use->reaped_cpu_ns;
    numbers[count++] = use->rss_bytes;
    numbers[count++] = use->threads;
    if (use->io_known) {
        numbers[count++] = use->read_bytes;
        numbers[count++] = use->write_bytes;
    }
    return count;
}

void roast__tell_use(struct roast_run *run, const struct roast_worker_samples *worker,
                     const struct roast_process_use *use)
{
    uint64_t numbers[MOST_NUMBERS];
    size_t count = 0;

    if (!run->journal)
        return;
    struct roast_told *told = told_of(run->journal, number_of(run, worker));
    bool tells = !told || told->process_in != run->journal->chapter;
    numbers[count++] = (uint64_t)number_of(run, worker) << 1 | tells;
    if (tells) {
        numbers[count++] = use->pid;
        numbers[count++] = use->started_ticks;
    }
    count += put_use(numbers + count, run, use);
    bool queued = tell(run, ROAST_ENTRY_use, numbers, count, no_text);
    if (told)
        told->process_in = queued ? run->journal->chapter : 0;
}
