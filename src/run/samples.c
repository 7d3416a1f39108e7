/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.c - series of workers over time, packed; samples into a run.
 *
 *     times     varint of every moment: change of the distance to the one before, us
 *     changes   varint: moments since the last entry << 1 | known
 *               varint, if known: change of the value, in steps
 *
 * All changes are zigzagged and wrap, so that no value of a clock or kernel can
 * overflow. Moments every second take one byte each; a constant value takes none. */
#include "run/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "run/journal/write.h"
#include "run/put.h"
#include "run/series.h"

_Static_assert(ROAST_SERIES_COUNT < 32, "`has` is shifted by the number of a series");

/* ---- one moment ------------------------------------------------------------------ */

/* False for NaN. Values are clamped to the range of steps. */
static bool to_steps(int64_t *steps, double value, double scale)
{
    const double most = 4.6e18; /* below 2^62: differences fit */
    double scaled = value * scale;

    if (isnan(scaled))
        return false;
    if (scaled > most)
        scaled = most;
    if (scaled < -most)
        scaled = -most;
    *steps = (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    return true;
}

struct roast_tick roast__tick_of(const roast_sample *sample)
{
    struct roast_tick tick = {.time_us = sample->time_ns / 1000};

    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        enum roast_series series = (enum roast_series)i;
        if (roast_sample_has(sample, series) &&
            to_steps(&tick.steps[i], sample->values[i],
                     roast_series_info(series)->steps))
            tick.present |= UINT32_C(1) << i;
    }
    return tick;
}

static bool changes_with(const struct roast_packed_series *series,
                         const struct roast_tick *tick, int i)
{
    bool known = (tick->present >> i) & 1;
    return known != series->known || (known && tick->steps[i] != series->last);
}

static bool has_room(struct roast_buf *buf)
{
    roast__buf_reserve(buf, 2 * ROAST_VARINT_MAX_BYTES);
    bool ok = roast__buf_ok(buf);
    buf->failed = false; /* what was written before is complete */
    return ok;
}

struct roast_packed_series *roast__samples_series(struct roast_worker_samples *worker,
                                                  enum roast_series series)
{
    uint32_t bit = UINT32_C(1) << series;
    size_t at = (size_t)__builtin_popcount(worker->has & (bit - 1));
    size_t count = (size_t)__builtin_popcount(worker->has);

    if (worker->has & bit)
        return &worker->series[at];
    struct roast_packed_series *more =
        roast__realloc(worker->series, (count + 1) * sizeof(*more));
    if (!more)
        return NULL;
    memmove(&more[at + 1], &more[at], (count - at) * sizeof(*more));
    more[at] = (struct roast_packed_series){.last = 0};
    worker->series = more;
    worker->has |= bit;
    return &more[at];
}

static bool make_series(struct roast_worker_samples *worker, uint32_t wanted)
{
    bool ok = true;

    for (int i = 0; ok && (wanted & ~worker->has) != 0; i++) {
        if ((wanted >> i) & 1)
            ok = roast__samples_series(worker, (enum roast_series)i) != NULL;
    }
    return ok;
}

static bool make_room(struct roast_worker_samples *worker,
                      const struct roast_tick *tick)
{
    bool ok = has_room(&worker->times) && make_series(worker, tick->present);
    struct roast_packed_series *series = worker->series;

    for (int i = 0; ok && worker->has >> i != 0; i++) {
        if (!((worker->has >> i) & 1))
            continue;
        ok = !changes_with(series, tick, i) || has_room(&series->changes);
        series++;
    }
    return ok;
}

static void put_change(struct roast_packed_series *series, uint64_t tick, bool known,
                       int64_t steps)
{
    roast__buf_put_varint(&series->changes, (tick - series->last_tick) << 1 | known);
    if (known) {
        roast__buf_put_signed(&series->changes, roast__wrap_sub(steps, series->last));
        series->last = steps;
    }
    series->known = known;
    series->last_tick = (uint32_t)tick;
}

static bool put_tick(struct roast_worker_samples *worker, const struct roast_tick *tick)
{
    if (!make_room(worker, tick))
        return false;
    int64_t step_us = roast__wrap_sub(tick->time_us, worker->last_time_us);
    roast__buf_put_signed(&worker->times,
                          roast__wrap_sub(step_us, worker->last_step_us));
    worker->last_time_us = tick->time_us;
    worker->last_step_us = step_us;
    struct roast_packed_series *series = worker->series;
    for (int i = 0; worker->has >> i != 0; i++) {
        if (!((worker->has >> i) & 1))
            continue;
        if (changes_with(series, tick, i))
            put_change(series, worker->ticks, (tick->present >> i) & 1, tick->steps[i]);
        series++;
    }
    worker->ticks++;
    return true;
}

/* ---- thinning -------------------------------------------------------------------- */

void roast__samples_drop(struct roast_worker_samples *worker)
{
    int count = __builtin_popcount(worker->has);

    for (int i = 0; i < count; i++)
        roast__buf_release(&worker->series[i].changes);
    roast__free(worker->series);
    worker->series = NULL;
    worker->has = 0;
    roast__buf_release(&worker->times);
    worker->ticks = 0;
    worker->last_time_us = 0;
    worker->last_step_us = 0;
}

/* The next moment of all series; false at the end. */
static bool next_tick(struct roast_series_cursor cursors[ROAST_SERIES_COUNT],
                      struct roast_tick *tick)
{
    tick->present = 0;
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        if (!roast__series_step(&cursors[i]))
            return false;
        tick->time_us = cursors[i].time_us;
        tick->steps[i] = cursors[i].value;
        tick->present |= (uint32_t)cursors[i].known << i;
    }
    return true;
}

/* Packs every second moment again. Nothing changes when memory runs out. */
static bool thin(struct roast_worker_samples *worker, uint64_t *thinned)
{
    struct roast_series_cursor cursors[ROAST_SERIES_COUNT];
    struct roast_worker_samples half = *worker;
    struct roast_tick tick;

    for (int i = 0; i < ROAST_SERIES_COUNT; i++)
        roast__series_open(&cursors[i], worker, (enum roast_series)i);
    half.series = NULL; /* owned by worker */
    half.has = 0;
    half.times = (struct roast_buf){NULL, 0, 0, false};
    half.ticks = 0;
    half.last_time_us = 0;
    half.last_step_us = 0;
    for (uint64_t i = 0; next_tick(cursors, &tick); i++) {
        if (i % 2 == 0 && !put_tick(&half, &tick)) {
            roast__samples_drop(&half);
            return false;
        }
    }
    *thinned += worker->ticks - half.ticks;
    half.stride = worker->stride > 0 ? worker->stride * 2 : 2;
    roast__samples_drop(worker);
    *worker = half;
    return true;
}

bool roast__samples_put(struct roast_worker_samples *worker,
                        const struct roast_tick *tick, uint64_t *thinned)
{
    *thinned = 0;
    if (worker->stride > 1 && worker->skipped + 1 < worker->stride) {
        worker->skipped++;
        *thinned = 1;
        return true;
    }
    if (worker->ticks >= ROAST_MOST_TICKS && !thin(worker, thinned))
        return false;
    if (!put_tick(worker, tick))
        return false;
    worker->skipped = 0;
    return true;
}

/* ---- series from a file ---------------------------------------------------------- */

static const int64_t latest_us = INT64_MAX / 1000;

static bool restore_times(struct roast_worker_samples *worker)
{
    struct roast_cursor cur =
        roast__cursor(worker->times.data, worker->times.size_bytes);

    worker->ticks = 0;
    worker->last_time_us = 0;
    worker->last_step_us = 0;
    while (roast__cursor_remaining(&cur) > 0) {
        worker->last_step_us =
            roast__wrap_add(worker->last_step_us, roast__cursor_signed(&cur));
        worker->last_time_us =
            roast__wrap_add(worker->last_time_us, worker->last_step_us);
        if (++worker->ticks > UINT32_MAX || worker->last_time_us > latest_us ||
            worker->last_time_us < -latest_us)
            return false;
    }
    return !cur.failed;
}

static bool restore_series(struct roast_packed_series *series, uint64_t ticks)
{
    struct roast_cursor cur =
        roast__cursor(series->changes.data, series->changes.size_bytes);

    series->last_tick = 0;
    series->last = 0;
    series->known = false;
    for (bool first = true; roast__cursor_remaining(&cur) > 0; first = false) {
        uint64_t head = roast__cursor_varint(&cur);
        uint64_t later = head >> 1;
        if (later >= ticks - series->last_tick || (later == 0 && !first))
            return false;
        series->last_tick += (uint32_t)later;
        series->known = head & 1;
        if (series->known)
            series->last = roast__wrap_add(series->last, roast__cursor_signed(&cur));
    }
    return !cur.failed;
}

bool roast__samples_restore(struct roast_worker_samples *worker)
{
    if (!restore_times(worker))
        return false;
    for (int i = 0; i < __builtin_popcount(worker->has); i++) {
        if (!restore_series(&worker->series[i], worker->ticks))
            return false;
    }
    return true;
}

/* ---- workers --------------------------------------------------------------------- */

static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_samples *samples = table;
    return roast__hash_number((uint64_t)samples->workers[item].name);
}

struct roast_worker_samples *roast__samples_find(const struct roast_samples *samples,
                                                 int32_t name)
{
    const struct roast_hash_table *slots = &samples->slots;

    for (size_t at = roast__hash_first(slots, roast__hash_number((uint64_t)name));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        struct roast_worker_samples *worker =
            &samples->workers[roast__hash_item(slots, at)];
        if (worker->name == name)
            return worker;
    }
    return NULL;
}

struct roast_worker_samples *roast__samples_worker(struct roast_samples *samples,
                                                   int32_t name)
{
    struct roast_worker_samples *known = roast__samples_find(samples, name);

    if (known)
        return known;
    struct roast_worker_samples *workers = roast__array_room(
        samples->workers, &samples->cap, samples->count, sizeof(*workers));
    if (!workers)
        return NULL;
    samples->workers = workers;
    if (!roast__hash_room(&samples->slots, samples->count, hash_of, samples))
        return NULL;
    struct roast_worker_samples *worker = &workers[samples->count];
    memset(worker, 0, sizeof(*worker));
    worker->name = name;
    roast__hash_put(&samples->slots, roast__hash_number((uint64_t)name),
                    (uint32_t)samples->count++);
    return worker;
}

void roast__samples_release(struct roast_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        roast__samples_drop(&samples->workers[i]);
    roast__free(samples->workers);
    roast__hash_release(&samples->slots);
    memset(samples, 0, sizeof(*samples));
}

/* ---- samples into a run. The kernel counts totals; a rate is the difference to the
 * last use. If a counter or clock decreased there is no rate: rates are never
 * negative. */

static const double ns_per_s = 1e9;

/* The lock is held. */
static int add_tick(struct roast_run *run, struct roast_worker_samples *worker,
                    const struct roast_tick *tick, roast_error *err)
{
    uint64_t thinned = 0;
    bool added = roast__samples_put(worker, tick, &thinned);

    roast__run_lose(run, ROAST_RUN_LOSS_samples_thinned, thinned);
    if (!added)
        return roast_error_set(err, ROAST_NO_MEMORY, "sample %" PRIu64, worker->ticks);
    return ROAST_OK;
}

static struct roast_worker_samples *named_worker(struct roast_run *run,
                                                 struct roast_str name)
{
    int32_t number = roast__strings_put(&run->strings, name);
    return number < 0 ? NULL : roast__samples_worker(&run->samples, number);
}

struct roast_samples *roast__run_samples(struct roast_run *run, uint32_t series)
{
    const uint32_t of_client = UINT32_C(1) << ROAST_SERIES_client_memory;
    const uint32_t of_gpus = UINT32_C(1) << ROAST_SERIES_gpu_utilization |
                             UINT32_C(1) << ROAST_SERIES_gpu_memory |
                             UINT32_C(1) << ROAST_SERIES_gpu_memory_limit |
                             UINT32_C(1) << ROAST_SERIES_gpu_power |
                             UINT32_C(1) << ROAST_SERIES_gpu_process_memory;

    if (series == of_client)
        return &run->client_samples;
    return series != 0 && (series & ~of_gpus) == 0 ? &run->gpu_samples : &run->samples;
}

/* The lock is held; a negative name means out of memory. */
static int put_worker_tick(struct roast_run *run, int32_t name,
                           const struct roast_tick *tick, roast_error *err)
{
    struct roast_worker_samples *worker =
        name < 0 ? NULL
                 : roast__samples_worker(roast__run_samples(run, tick->present), name);
    int status = worker ? add_tick(run, worker, tick, err)
                        : roast_error_set(err, ROAST_NO_MEMORY, "a worker");

    if (status == ROAST_OK)
        roast__journal_write_sample(run->journal, name, tick);
    return status;
}

int roast__run_put_tick(struct roast_run *run, int32_t worker,
                        const struct roast_tick *tick, roast_error *err)
{
    roast__run_lock(run);
    int status = put_worker_tick(run, worker, tick, err);
    roast__run_unlock(run);
    return status;
}

int roast_run_add_sample(roast_run *run, const roast_sample *sample, roast_error *err)
{
    char room[ROAST_NAME_BYTES];
    struct roast_str name = roast__clean(room, sizeof(room), sample->worker);
    if (!name.data)
        name = roast_str_of(""); /* an unnamed worker */
    struct roast_tick tick = roast__tick_of(sample);

    roast__run_lock(run);
    int status =
        put_worker_tick(run, roast__strings_put(&run->strings, name), &tick, err);
    roast__run_unlock(run);
    return status;
}

/* ---- processes of this machine --------------------------------------------------- */

/* The first process with a pid has its plain name; the name of a later one with the
 * same pid includes its start. */
static struct roast_worker_samples *process_worker(struct roast_run *run,
                                                   const struct roast_process_use *use)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "pid-%" PRIu64, use->pid);
    struct roast_worker_samples *worker = named_worker(run, roast_str_of(name));
    if (!worker || worker->pid == 0 ||
        (worker->pid == use->pid && worker->started_ticks == use->started_ticks))
        return worker;
    (void)snprintf(name, sizeof(name), "pid-%" PRIu64 "-%" PRIu64, use->pid,
                   use->started_ticks);
    return named_worker(run, roast_str_of(name));
}

static void set_rate(roast_sample *sample, enum roast_series series, uint64_t now,
                     uint64_t before, double per)
{
    if (now >= before && per > 0)
        roast_sample_set(sample, series, (double)(now - before) / per);
}

/* Rates since the last use of the same process. */
static void set_rates(roast_sample *sample, const struct roast_worker_samples *worker,
                      const struct roast_process_use *use)
{
    double seconds =
        (double)roast__sat_sub(use->time_ns, worker->last_use_ns) / ns_per_s;

    if (worker->pid == 0)
        return; /* first use */
    set_rate(sample, ROAST_SERIES_cpu, use->cpu_ns, worker->last_cpu_ns,
             seconds * ns_per_s / 100);
    if (!use->io_known || !worker->last_io_known)
        return;
    set_rate(sample, ROAST_SERIES_disk_read, use->read_bytes, worker->last_read_bytes,
             seconds);
    set_rate(sample, ROAST_SERIES_disk_write, use->write_bytes,
             worker->last_write_bytes, seconds);
}

int roast_run_add_use(roast_run *run, const struct roast_process_use *use,
                      roast_error *err)
{
    roast_sample sample = {.time_ns = use->time_ns};
    int status;

    roast__run_lock(run);
    struct roast_worker_samples *worker = process_worker(run, use);
    if (!worker) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "process %" PRIu64, use->pid);
        goto out;
    }
    roast_sample_set(&sample, ROAST_SERIES_memory, (double)use->rss_bytes);
    roast_sample_set(&sample, ROAST_SERIES_threads, (double)use->threads);
    roast_sample_set(&sample, ROAST_SERIES_cpu_seconds, (double)use->cpu_ns / ns_per_s);
    roast_sample_set(&sample, ROAST_SERIES_last_seen, (double)use->time_ns / ns_per_s);
    set_rates(&sample, worker, use);
    struct roast_tick tick = roast__tick_of(&sample);
    status = add_tick(run, worker, &tick, err);
    if (status == ROAST_OK) {
        worker->pid = use->pid;
        worker->parent_pid = use->parent_pid;
        worker->started_ticks = use->started_ticks;
        worker->last_use_ns = use->time_ns;
        worker->last_cpu_ns = use->cpu_ns;
        worker->last_io_known = use->io_known;
        worker->last_read_bytes = use->read_bytes;
        worker->last_write_bytes = use->write_bytes;
        roast__journal_write_use(run->journal, use);
    }
out:
    roast__run_unlock(run);
    return status;
}
