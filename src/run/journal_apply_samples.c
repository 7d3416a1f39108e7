/* SPDX-License-Identifier: BSD-3-Clause */
/* journal_apply_samples.c - samples and uses of processes out of a journal: one by one,
 * or all of a worker at once as they are packed in memory (samples.c). */
#include "base/array.h"
#include "base/mem.h"
#include "run/journal_apply.h"
#include "run/put.h"
#include "run/series.h"

/* Values of series that a later version has are passed over. */
static void read_steps(struct roast_apply_entry *entry, struct roast_tick *tick)
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

int roast__apply_sample(struct roast_apply_entry *entry)
{
    struct roast_run *run = entry->apply->run;
    struct roast_known_text worker;
    struct roast_tick tick = {0};
    int found = roast__entry_reference(entry, &worker);

    if (found <= 0)
        return found < 0 ? found : ROAST_BAD_DATA;
    tick.time_us =
        roast__wrap_add(roast__cursor_signed(&entry->in), run->start_ns / 1000);
    read_steps(entry, &tick);
    if (entry->in.failed || tick.time_us > INT64_MAX / 1000 ||
        tick.time_us < INT64_MIN / 1000)
        return ROAST_BAD_DATA;
    return roast__run_put_tick(run, worker.id, &tick, entry->err);
}

int roast__apply_use(struct roast_apply_entry *entry)
{
    struct roast_process_use use = {.pid = roast__cursor_varint(&entry->in)};

    use.started_ticks = roast__cursor_varint(&entry->in);
    uint64_t flags = roast__cursor_varint(&entry->in);
    use.ended = flags & 1;
    use.io_known = flags & 2;
    use.time_ns = roast__entry_time(entry);
    use.parent_pid = roast__cursor_varint(&entry->in);
    use.cpu_ns = roast__cursor_varint(&entry->in);
    use.reaped_cpu_ns = roast__cursor_varint(&entry->in);
    use.rss_bytes = roast__cursor_varint(&entry->in);
    use.threads = roast__cursor_varint(&entry->in);
    if (use.io_known) {
        use.read_bytes = roast__cursor_varint(&entry->in);
        use.write_bytes = roast__cursor_varint(&entry->in);
    }
    if (entry->in.failed)
        return ROAST_BAD_DATA;
    return roast_run_add_use(entry->apply->run, &use, entry->err);
}

/* ---- all samples of a worker ----------------------------------------------------- */

/* Copies the next size and bytes of the entry; false when out of memory. */
static bool read_stream(struct roast_apply_entry *entry, struct roast_buf *out)
{
    uint64_t size = roast__cursor_varint(&entry->in);
    const unsigned char *bytes = roast__cursor_bytes(&entry->in, size);

    if (!bytes || size == 0)
        return true;
    out->data = roast__realloc(NULL, (size_t)size); /* no more than it needs */
    if (!out->data)
        return false;
    memcpy(out->data, bytes, (size_t)size);
    out->size_bytes = out->cap_bytes = (size_t)size;
    return true;
}

/* Series that a later version has come last. */
static bool read_streams(struct roast_apply_entry *entry,
                         struct roast_worker_samples *worker)
{
    bool ok = read_stream(entry, &worker->times);
    uint64_t mask = roast__cursor_varint(&entry->in);

    for (int i = 0; ok && i < ROAST_SERIES_COUNT && !entry->in.failed; i++) {
        if (!((mask >> i) & 1))
            continue;
        struct roast_packed_series *series =
            roast__samples_series(worker, (enum roast_series)i);
        ok = series && read_stream(entry, &series->changes);
    }
    return ok;
}

int roast__apply_series(struct roast_apply_entry *entry)
{
    struct roast_run *run = entry->apply->run;
    struct roast_worker_samples state = {.series = NULL};
    uint64_t *const numbers[] = {
        &state.stride,          &state.skipped,         &state.pid,
        &state.parent_pid,      &state.started_ticks,   &state.last_cpu_ns,
        &state.last_read_bytes, &state.last_write_bytes};
    struct roast_str name = roast__entry_text(entry);
    int status = ROAST_OK;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = roast__cursor_varint(&entry->in);
    state.last_io_known = roast__cursor_varint(&entry->in) != 0;
    state.last_use_ns = roast__entry_time(entry);
    if (entry->in.failed || !name.data)
        return ROAST_BAD_DATA;
    state.name = roast__strings_put(&run->strings, name);
    if (state.name >= 0 && roast__samples_find(&run->samples, state.name))
        return ROAST_BAD_DATA;
    bool ok = state.name >= 0 && read_streams(entry, &state);
    if (ok && (entry->in.failed || !roast__samples_restore(&state)))
        status = ROAST_BAD_DATA;
    struct roast_worker_samples *worker =
        ok && status == ROAST_OK ? roast__samples_worker(&run->samples, state.name)
                                 : NULL;
    if (worker) {
        *worker = state;
        return ROAST_OK;
    }
    roast__samples_drop(&state);
    return status < 0 ? status
                      : roast_error_set(entry->err, ROAST_NO_MEMORY,
                                        "the samples of a worker");
}
