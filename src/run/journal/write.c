/* SPDX-License-Identifier: BSD-3-Clause */
/* write.c - writes a change of a run as a journal entry.
 *
 * Facts, losses and groups are written by name, because their numbers may change
 * between versions. Times are written relative to the start of the run, which makes
 * them short. */
#include "run/journal/write.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/mem.h"

/* ---- parts of a payload ---------------------------------------------------------- */

struct roast_buf *roast__journal_begin(struct roast_journal *journal)
{
    roast__buf_clear(&journal->entry);
    return &journal->entry;
}

static void put_bytes(struct roast_buf *out, struct roast_str bytes)
{
    roast__buf_put(out, bytes.data, bytes.size_bytes);
}

static void put_double(struct roast_buf *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    roast__buf_put_varint(out, bits);
}

void roast__journal_put_time(struct roast_journal *journal, int64_t time_ns)
{
    roast__buf_put_signed(&journal->entry,
                          roast__wrap_sub(time_ns, journal->run->start_ns));
}

void roast__journal_put_text(struct roast_journal *journal, struct roast_str text)
{
    roast__buf_put_varint(&journal->entry, text.data ? text.size_bytes + 1 : 0);
    put_bytes(&journal->entry, text);
}

/* The block in which a text was announced; NULL when out of memory: it is written
 * again. */
static uint32_t *announced_in(struct roast_journal *journal, int32_t text)
{
    size_t number = (size_t)text;
    size_t count = journal->announced_count;

    if (number >= count) {
        size_t more = number + number / 2 + 16;
        uint32_t *announced =
            roast__realloc(journal->announced, more * sizeof(*announced));
        if (!announced)
            return NULL;
        memset(announced + count, 0, (more - count) * sizeof(*announced));
        journal->announced = announced;
        journal->announced_count = more;
    }
    return &journal->announced[number];
}

void roast__journal_put_reference(struct roast_journal *journal, int32_t text,
                                  uint32_t since)
{
    uint32_t *block = text >= 0 ? announced_in(journal, text) : NULL;
    bool announce = text >= 0 && (!block || *block == 0 || *block < since);

    roast__buf_put_varint(&journal->entry,
                          ((uint64_t)((int64_t)text + 1) << 1) | announce);
    if (announce)
        roast__journal_put_text(journal,
                                roast__strings_get(&journal->run->strings, text));
    if (announce && block)
        *block = journal->block > 0 ? journal->block : 1; /* the next one */
}

/* ---- the run --------------------------------------------------------------------- */

void roast__journal_write_finish(struct roast_journal *journal, int64_t end_mono_ns)
{
    if (!journal)
        return;
    roast__buf_put_signed(roast__journal_begin(journal), end_mono_ns);
    (void)roast__journal_put(journal, ROAST_ENTRY_finish);
}

void roast__journal_write_host(struct roast_journal *journal, struct roast_str host)
{
    if (!journal)
        return;
    (void)roast__journal_begin(journal);
    roast__journal_put_text(journal, host);
    (void)roast__journal_put(journal, ROAST_ENTRY_host);
}

void roast__journal_write_accept(struct roast_journal *journal,
                                 const unsigned char run_id[ROAST_RUN_ID_BYTES])
{
    if (!journal)
        return;
    roast__buf_put(roast__journal_begin(journal), run_id, ROAST_RUN_ID_BYTES);
    (void)roast__journal_put(journal, ROAST_ENTRY_accept);
}

void roast__journal_write_text(struct roast_journal *journal, struct roast_str text,
                               bool is_name)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__buf_put_varint(out, is_name);
    put_bytes(out, text);
    (void)roast__journal_put(journal, ROAST_ENTRY_text);
}

void roast__journal_write_offer(struct roast_journal *journal,
                                const struct roast_offer *offer)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__journal_put_time(journal, offer->time_ns);
    roast__buf_put_varint(out, offer->workers);
    roast__buf_put_varint(out, offer->threads);
    (void)roast__journal_put(journal, ROAST_ENTRY_offer);
}

void roast__journal_write_count(struct roast_journal *journal,
                                const struct roast_count *count)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__journal_put_time(journal, count->time_ns);
    roast__buf_put_varint(out, count->workers);
    (void)roast__journal_put(journal, ROAST_ENTRY_count);
}

void roast__journal_write_fact(struct roast_journal *journal, enum roast_fact fact,
                               double value)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    put_double(out, value);
    put_bytes(out, roast_str_of(roast_fact_name(fact)));
    (void)roast__journal_put(journal, ROAST_ENTRY_fact);
}

void roast__journal_write_loss(struct roast_journal *journal, enum roast_run_loss loss,
                               uint64_t count)
{
    if (!journal || count == 0)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__buf_put_varint(out, count);
    put_bytes(out, roast_str_of(roast_run_loss_name(loss)));
    (void)roast__journal_put(journal, ROAST_ENTRY_loss);
}

void roast__lose_and_write(struct roast_run *run, enum roast_run_loss loss)
{
    roast__run_lose(run, loss, 1);
    roast__journal_write_loss(run->journal, loss, 1);
}

void roast__journal_write_mark(struct roast_journal *journal, enum roast_mark mark,
                               int64_t mono_ns)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__buf_put_varint(out, (uint64_t)mark);
    roast__buf_put_signed(out, mono_ns);
    (void)roast__journal_put(journal, ROAST_ENTRY_mark);
}

void roast__journal_write_note(struct roast_journal *journal,
                               enum roast_note_group group, struct roast_str name,
                               struct roast_str text)
{
    if (!journal)
        return;
    (void)roast__journal_begin(journal);
    roast__journal_put_text(journal, roast_str_of(roast_note_group_name(group)));
    roast__journal_put_text(journal, name);
    roast__journal_put_text(journal, text);
    (void)roast__journal_put(journal, ROAST_ENTRY_note);
}

/* ---- samples --------------------------------------------------------------------- */

void roast__journal_write_sample(struct roast_journal *journal, int32_t worker,
                                 const struct roast_tick *tick)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__journal_put_reference(journal, worker, journal->epoch);
    roast__buf_put_signed(
        out, roast__wrap_sub(tick->time_us, journal->run->start_ns / 1000));
    roast__buf_put_varint(out, tick->present);
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        if ((tick->present >> i) & 1)
            roast__buf_put_signed(out, tick->steps[i]);
    }
    (void)roast__journal_put(journal, ROAST_ENTRY_sample);
}

/* The command is omitted: a run does not keep it. */
void roast__journal_write_use(struct roast_journal *journal,
                              const struct roast_process_use *use)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__buf_put_varint(out, use->pid);
    roast__buf_put_varint(out, use->started_ticks);
    roast__buf_put_varint(out, (uint64_t)use->ended | (uint64_t)use->io_known << 1);
    roast__journal_put_time(journal, use->time_ns);
    uint64_t numbers[] = {use->parent_pid, use->cpu_ns,  use->reaped_cpu_ns,
                          use->rss_bytes,  use->threads, use->read_bytes,
                          use->write_bytes};
    size_t count = sizeof(numbers) / sizeof(numbers[0]) - (use->io_known ? 0 : 2);
    for (size_t i = 0; i < count; i++)
        roast__buf_put_varint(out, numbers[i]);
    (void)roast__journal_put(journal, ROAST_ENTRY_use);
}

/* ---- scheduler ------------------------------------------------------------------- */

void roast__journal_write_member(struct roast_journal *journal,
                                 const struct roast_member *member)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__journal_put_time(journal, member->joined_ns);
    roast__buf_put_varint(out, member->pid);
    roast__buf_put_varint(out, member->threads);
    roast__buf_put_varint(out, member->memory_limit_bytes);
    roast__journal_put_text(journal, member->worker);
    roast__journal_put_text(journal, member->name);
    roast__journal_put_text(journal, member->host);
    (void)roast__journal_put(journal, ROAST_ENTRY_member);
}

void roast__journal_write_departure(struct roast_journal *journal,
                                    const struct roast_departure *departure)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__journal_put_time(journal, departure->left_ns);
    roast__buf_put_varint(out, departure->expected);
    roast__journal_put_text(journal, departure->worker);
    roast__journal_put_text(journal, departure->reason);
    (void)roast__journal_put(journal, ROAST_ENTRY_departure);
}

void roast__journal_write_offset(struct roast_journal *journal, struct roast_str host,
                                 int64_t offset_ns)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__buf_put_signed(out, offset_ns);
    put_bytes(out, host);
    (void)roast__journal_put(journal, ROAST_ENTRY_offset);
}

void roast__journal_write_task(struct roast_journal *journal, size_t row)
{
    if (!journal)
        return;
    const struct roast_tasks *tasks = &journal->run->scheduler.tasks;
    struct roast_buf *out = roast__journal_begin(journal);
    unsigned end = tasks->end[row];
    roast__journal_put_reference(journal, tasks->prefix[row], journal->epoch);
    roast__journal_put_reference(journal, tasks->worker[row], journal->epoch);
    roast__buf_put_varint(out, tasks->key_hash[row]);
    roast__buf_put_varint(out, (end & ~(unsigned)ROAST_TASK_OURS) << 1 |
                                   ((end & ROAST_TASK_OURS) != 0));
    roast__journal_put_time(journal, tasks->assigned_ns[row]);
    roast__buf_put_signed(
        out, roast__wrap_sub(tasks->start_ns[row], tasks->assigned_ns[row]));
    roast__buf_put_signed(out,
                          roast__wrap_sub(tasks->stop_ns[row], tasks->start_ns[row]));
    (void)roast__journal_put(journal, ROAST_ENTRY_task);
}

void roast__journal_write_activity(struct roast_journal *journal,
                                   const struct roast_activity *activity)
{
    if (!journal)
        return;
    put_double(roast__journal_begin(journal), activity->value);
    roast__journal_put_text(journal, activity->context);
    roast__journal_put_text(journal, activity->prefix);
    roast__journal_put_text(journal, activity->activity);
    roast__journal_put_text(journal, activity->unit);
    (void)roast__journal_put(journal, ROAST_ENTRY_activity);
}

void roast__journal_write_hot_line(struct roast_journal *journal,
                                   const struct roast_hot_line *line)
{
    if (!journal)
        return;
    struct roast_buf *out = roast__journal_begin(journal);
    roast__buf_put_varint(out, line->line);
    put_double(out, line->seconds);
    put_double(out, line->self_seconds);
    roast__journal_put_text(journal, line->file);
    roast__journal_put_text(journal, line->function);
    roast__journal_put_text(journal, line->text);
    (void)roast__journal_put(journal, ROAST_ENTRY_hot_line);
}
