/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.c - samples and processes out of a live file.
 *
 * Workers have numbers there, and their names are told now and then. A number keeps
 * its meaning for the whole file: a gap never gives a sample to the wrong worker. */
#include "file/live/entry.h"
#include "run/replay.h"

static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_replay *replay = table;
    return roast__slots_mix(replay->workers[item].number);
}

static struct roast_live_worker *find_worker(const struct roast_replay *replay,
                                             uint64_t number)
{
    const struct roast_slots *slots = &replay->worker_slots;

    for (size_t at = roast__slots_first(slots, roast__slots_mix(number));
         roast__slots_holds(slots, at); at = roast__slots_next(slots, at)) {
        struct roast_live_worker *worker =
            &replay->workers[roast__slots_item(slots, at)];
        if (worker->number == number)
            return worker;
    }
    return NULL;
}

/* Finds or adds; NULL when out of memory. */
static struct roast_live_worker *get_worker(struct roast_replay *replay,
                                            uint64_t number)
{
    struct roast_live_worker *known = find_worker(replay, number);

    if (known)
        return known;
    struct roast_live_worker *workers = roast__array_room(
        replay->workers, &replay->worker_cap, replay->worker_count, sizeof(*workers));
    if (!workers)
        return NULL;
    replay->workers = workers;
    if (replay->worker_count >= UINT32_MAX ||
        !roast__slots_room(&replay->worker_slots, replay->worker_count, hash_of,
                           replay))
        return NULL;
    workers[replay->worker_count] =
        (struct roast_live_worker){.number = number, .name = ROAST_NO_STRING};
    roast__slots_put(&replay->worker_slots, roast__slots_mix(number),
                     (uint32_t)replay->worker_count);
    return &workers[replay->worker_count++];
}

static int no_memory(struct roast_live_entry *entry)
{
    return roast_error_set(entry->err, ROAST_NO_MEMORY, "a worker of a live file");
}

/* The worker that the first number of a sample or use means: one that was told before,
 * or the one that is told now. NULL: BAD_DATA. */
static int open_worker(struct roast_live_entry *entry,
                       struct roast_live_worker **worker, bool *is_told)
{
    uint64_t head = roast__cursor_varint(&entry->in);

    *is_told = head & 1;
    if (entry->in.failed)
        return ROAST_BAD_DATA;
    *worker = *is_told ? get_worker(entry->replay, head >> 1)
                       : find_worker(entry->replay, head >> 1);
    if (!*worker)
        return *is_told ? no_memory(entry) : ROAST_BAD_DATA;
    return ROAST_OK;
}

/* Values of series that a later version has are passed over. */
static void read_steps(struct roast_live_entry *entry, struct roast_tick *tick)
{
    uint64_t mask = roast__cursor_varint(&entry->in);

    for (uint64_t left = mask; left && !entry->in.failed; left &= left - 1) {
        int series = __builtin_ctzll(left);
        int64_t steps = roast__cursor_signed(&entry->in);
        if (series >= ROAST_SERIES_COUNT)
            continue;
        tick->steps[series] = steps;
        tick->present |= UINT32_C(1) << series;
    }
}

int roast__read_sample(struct roast_live_entry *entry)
{
    struct roast_replay *replay = entry->replay;
    struct roast_live_worker *worker = NULL;
    struct roast_tick tick = {0};
    bool is_told;
    int status = open_worker(entry, &worker, &is_told);

    if (status < 0)
        return status;
    tick.time_us =
        roast__wrap_add(roast__cursor_signed(&entry->in), replay->run->start_ns / 1000);
    read_steps(entry, &tick);
    if (entry->in.failed || tick.time_us > INT64_MAX / 1000 ||
        tick.time_us < INT64_MIN / 1000)
        return ROAST_BAD_DATA;
    if (is_told)
        worker->name = roast__strings_put(&replay->strings, roast__entry_rest(entry));
    if (worker->name == ROAST_STRING_NO_MEMORY)
        return no_memory(entry);
    if (worker->name == ROAST_NO_STRING)
        return ROAST_BAD_DATA;
    return roast__run_put_tick(replay->run,
                               roast__strings_get(&replay->strings, worker->name),
                               &tick, entry->err);
}

static void read_use_numbers(struct roast_live_entry *entry,
                             struct roast_process_use *use)
{
    uint64_t flags = roast__cursor_varint(&entry->in);

    use->ended = flags & 1;
    use->io_known = flags & 2;
    use->time_ns = roast__entry_time(entry);
    use->parent_pid = roast__cursor_varint(&entry->in);
    use->cpu_ns = roast__cursor_varint(&entry->in);
    use->reaped_cpu_ns = roast__cursor_varint(&entry->in);
    use->rss_bytes = roast__cursor_varint(&entry->in);
    use->threads = roast__cursor_varint(&entry->in);
    if (use->io_known) {
        use->read_bytes = roast__cursor_varint(&entry->in);
        use->write_bytes = roast__cursor_varint(&entry->in);
    }
}

int roast__read_use(struct roast_live_entry *entry)
{
    struct roast_process_use use = {0};
    struct roast_live_worker *worker = NULL;
    bool is_told;
    int status = open_worker(entry, &worker, &is_told);

    if (status < 0)
        return status;
    if (is_told) {
        worker->pid = roast__cursor_varint(&entry->in);
        worker->started_ticks = roast__cursor_varint(&entry->in);
        worker->is_process = !entry->in.failed;
    }
    use.pid = worker->pid;
    use.started_ticks = worker->started_ticks;
    read_use_numbers(entry, &use);
    if (entry->in.failed || !worker->is_process)
        return ROAST_BAD_DATA;
    return roast_run_add_use(entry->replay->run, &use, entry->err);
}
