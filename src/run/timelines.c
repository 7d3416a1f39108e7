/* SPDX-License-Identifier: BSD-3-Clause */
/* timelines.c - the series of a run as they were sampled, one line after the other.
 *
 * Some series of a worker are invisible to a sampler of this machine but known to the
 * run: how many threads the executor offers, and which attempts ran when. Where no
 * sampler gave these series they are derived here, at the times of the samples. So are
 * the memory in percent of its limit and the unmanaged memory, which no sampler gives. */
#include "run/timelines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"

/* ---- concurrency ----------------------------------------------------------------- */

/* How many attempts run in the process of a sampled worker at a moment. Samplers of
 * this machine know pids, records know pids: that joins them. An attempt runs from its
 * begin to its end, or until now while the run is open and no end arrived. */

/* A begin or an end of an attempt in a worker. */
struct edge {
    size_t worker; /* index in samples */
    int64_t time_ns;
};

struct concurrency {
    bool *is_worker;     /* owned; by worker: its process ran attempts of this run */
    struct edge *begins; /* owned, by worker and time */
    size_t begin_count;
    struct edge *ends; /* owned, by worker and time */
    size_t end_count;
};

/* A pid and the index of its worker in samples. */
struct worker_pid {
    uint64_t pid;
    size_t index;
};

static int by_pid(const void *left, const void *right)
{
    const struct worker_pid *a = left;
    const struct worker_pid *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int by_worker_and_time(const void *left, const void *right)
{
    const struct edge *a = left;
    const struct edge *b = right;

    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* The sampled workers that have a pid, by pid; NULL when out of memory. */
static struct worker_pid *pids_of_workers(const struct roast_samples *samples,
                                          size_t *count)
{
    struct worker_pid *pids = roast__alloc(samples->count * sizeof(*pids));

    *count = 0;
    for (size_t i = 0; pids && i < samples->count; i++) {
        if (samples->workers[i].pid != 0)
            pids[(*count)++] = (struct worker_pid){samples->workers[i].pid, i};
    }
    if (*count > 1)
        qsort(pids, *count, sizeof(*pids), by_pid);
    return pids;
}

/* The worker of a process of the records, or SIZE_MAX. A pid that was reused means the
 * newest of its processes. Pids of other hosts do not match. */
static size_t worker_of(const struct roast_run *run,
                        const struct roast_worker_process *process,
                        const struct worker_pid *pids, size_t count)
{
    size_t low = 0;
    size_t high = count;

    if (process->pid == 0 ||
        (process->host != ROAST_NO_STRING && process->host != run->host))
        return SIZE_MAX;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pids[middle].pid <= process->pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pids[low - 1].pid == process->pid ? pids[low - 1].index
                                                        : SIZE_MAX;
}

/* By process: its worker or SIZE_MAX; NULL when out of memory. */
static size_t *workers_of_processes(const struct roast_run *run)
{
    size_t process_count = run->attempts.process_count;
    size_t count;
    struct worker_pid *pids = pids_of_workers(&run->samples, &count);
    size_t *workers = roast__alloc(process_count * sizeof(*workers));

    for (size_t i = 0; pids && workers && i < process_count; i++)
        workers[i] = worker_of(run, &run->attempts.processes[i], pids, count);
    if (!pids) {
        roast__free(workers);
        workers = NULL;
    }
    roast__free(pids);
    return workers;
}

struct span {
    int64_t begin_ns;
    int64_t end_ns;
    bool ended;
};

static bool read_span(const struct roast_attempts *attempts, size_t row,
                      enum roast_attempt_column begin, enum roast_attempt_column length,
                      struct span *span)
{
    const struct roast_column *begins = &attempts->columns[begin];
    const struct roast_column *lengths = &attempts->columns[length];

    if (!roast__column_has(begins, row))
        return false;
    span->begin_ns = begins->values[row];
    span->ended = roast__column_has(lengths, row);
    if (span->ended)
        span->end_ns = roast__sat_add(span->begin_ns, lengths->values[row]);
    return true;
}

/* The whole attempt where it is known, else the time inside process(). */
static bool span_of(const struct roast_run *run, size_t row, struct span *span)
{
    const struct roast_attempts *attempts = &run->attempts;

    if (read_span(attempts, row, ROAST_COLUMN_task_start_ns, ROAST_COLUMN_task_ns,
                  span) &&
        span->ended)
        return true;
    if (read_span(attempts, row, ROAST_COLUMN_start_ns, ROAST_COLUMN_duration_ns,
                  span) &&
        span->ended)
        return true;
    return run->end_ns == 0 && attempts->parts[row] == ROAST_PART_BEGIN &&
           read_span(attempts, row, ROAST_COLUMN_task_start_ns, ROAST_COLUMN_task_ns,
                     span);
}

static void add_edges(struct concurrency *out, const struct roast_run *run,
                      const size_t *workers)
{
    for (size_t row = 0; row < run->attempts.count; row++) {
        size_t worker = workers[run->attempts.process[row]];
        struct span span;
        if (worker == SIZE_MAX)
            continue;
        out->is_worker[worker] = true;
        if (!span_of(run, row, &span))
            continue;
        out->begins[out->begin_count++] = (struct edge){worker, span.begin_ns};
        if (span.ended)
            out->ends[out->end_count++] = (struct edge){worker, span.end_ns};
    }
}

static void sort_edges(struct edge *edges, size_t count)
{
    if (count > 1)
        qsort(edges, count, sizeof(*edges), by_worker_and_time);
}

static void concurrency_release(struct concurrency *running)
{
    roast__free(running->is_worker);
    roast__free(running->begins);
    roast__free(running->ends);
    *running = (struct concurrency){NULL, NULL, 0, NULL, 0};
}

/* Reads all attempts; false when out of memory. */
static bool count_attempts(struct concurrency *out, const struct roast_run *run)
{
    size_t rows = run->attempts.count;
    size_t *workers = workers_of_processes(run);

    *out = (struct concurrency){
        .is_worker = roast__alloc(run->samples.count * sizeof(bool)),
        .begins = roast__alloc(rows * sizeof(struct edge)),
        .ends = roast__alloc(rows * sizeof(struct edge)),
    };
    bool ok = workers && out->is_worker && out->begins && out->ends;
    if (ok) {
        add_edges(out, run, workers);
        sort_edges(out->begins, out->begin_count);
        sort_edges(out->ends, out->end_count);
    }
    roast__free(workers);
    if (!ok)
        concurrency_release(out);
    return ok;
}

/* How many edges are not later than this one, including those of earlier workers. */
static size_t count_until(const struct edge *edges, size_t count, struct edge until)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_worker_and_time(&edges[middle], &until) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Edges of one worker up to a time. */
static size_t count_edges(const struct edge *edges, size_t count, size_t worker,
                          int64_t time_ns)
{
    size_t before = 0;

    if (worker > 0)
        before = count_until(edges, count, (struct edge){worker - 1, INT64_MAX});
    return count_until(edges, count, (struct edge){worker, time_ns}) - before;
}

static uint64_t concurrency_at(const struct concurrency *running, size_t worker,
                               int64_t time_ns)
{
    size_t begun = count_edges(running->begins, running->begin_count, worker, time_ns);
    size_t ended = count_edges(running->ends, running->end_count, worker, time_ns);

    return begun > ended ? begun - ended : 0;
}

/* ---- lines ----------------------------------------------------------------------- */

/* What lines are made from, and the callback that gets them. */
struct line_source {
    const struct roast_run *run;
    int only; /* series, or ROAST_ALL_SERIES */
    struct concurrency running;
    roast__line_visitor *take;
    void *context;
    size_t workers_known; /* processes of this machine that ran attempts */
};

static bool put_point(struct roast_timeline *line, size_t *cap, int64_t time_ns,
                      double value)
{
    struct roast_point *points =
        roast__array_room(line->points, cap, line->count, sizeof(*points));

    if (!points)
        return false;
    line->points = points;
    points[line->count++] = (struct roast_point){time_ns, value};
    return true;
}

static void release_line(struct roast_timeline *line)
{
    roast__free(line->worker);
    roast__free(line->points);
}

/* Passes the line on; one without points is dropped. worker is NULL for the count. */
static bool put_line(struct line_source *source, struct roast_timeline *line,
                     const struct roast_worker_samples *worker)
{
    struct roast_str name = {NULL, 0};
    bool taken = true;

    if (worker)
        name = roast__strings_get(&source->run->strings, worker->name);
    if (line->count > 0)
        taken = source->take(source->context, line, name);
    release_line(line);
    return taken;
}

/* ---- series of a worker ---------------------------------------------------------- */

/* The share of a worker in the threads that are offered; false where none are. */
static bool cores_at(const struct line_source *source, int64_t time_ns, double *value)
{
    const struct roast_offer *offer = roast__run_offer_at(source->run, time_ns);

    if (!offer || offer->workers == 0)
        return false;
    uint64_t known = source->workers_known; /* workers may be threads of one process */
    uint64_t shares = known > 0 && known < offer->workers ? known : offer->workers;
    uint64_t cores = offer->threads / shares;
    *value = cores > 0 ? (double)cores : 1;
    return true;
}

static bool derived_at(const struct line_source *source, size_t worker,
                       enum roast_series series, int64_t time_ns, double *value)
{
    if (series == ROAST_SERIES_cores)
        return cores_at(source, time_ns, value);
    *value = (double)concurrency_at(&source->running, worker, time_ns);
    return true;
}

static bool is_derived(enum roast_series series)
{
    return series == ROAST_SERIES_cores || series == ROAST_SERIES_active_tasks ||
           series == ROAST_SERIES_executing;
}

/* A sampled or derived line of a worker, at the moments of its samples; only workers of
 * `run->samples` have derived ones. */
static bool sampled_line(struct line_source *source,
                         const struct roast_worker_samples *samples,
                         enum roast_series series, bool derived)
{
    size_t worker = derived ? (size_t)(samples - source->run->samples.workers) : 0;
    struct roast_timeline line = {.series = series};
    struct roast_series_cursor cursor;
    size_t cap = 0;
    int64_t time_ns;
    double value = 0;
    bool known;

    roast__series_open(&cursor, samples, series);
    while (roast__series_next(&cursor, &time_ns, &value, &known) > 0) {
        if (derived)
            known = derived_at(source, worker, series, time_ns, &value);
        if (known && !put_point(&line, &cap, time_ns, value)) {
            release_line(&line);
            return false;
        }
    }
    return put_line(source, &line, samples);
}

static double value_of(const struct roast_series_cursor *cursor)
{
    return cursor->known ? (double)cursor->value : NAN;
}

/* Lines that are made of others: memory in percent of its limit, and unmanaged memory.
 * Moments that lack one of those are left out. */
static bool combined_line(struct line_source *source, size_t worker,
                          enum roast_series series)
{
    const struct roast_worker_samples *samples = &source->run->samples.workers[worker];
    bool is_percent = series == ROAST_SERIES_memory_percent;
    struct roast_timeline line = {.series = series};
    struct roast_series_cursor memory, other, spilled;
    size_t cap = 0;

    roast__series_open(&memory, samples, ROAST_SERIES_memory);
    roast__series_open(&other, samples,
                       is_percent ? ROAST_SERIES_memory_limit : ROAST_SERIES_nbytes);
    roast__series_open(&spilled, samples, ROAST_SERIES_spilled_memory);
    while (roast__series_step(&memory) && roast__series_step(&other) &&
           roast__series_step(&spilled)) {
        double bytes = value_of(&memory), part = value_of(&other);
        double value = !is_percent
                           ? roast__unmanaged_bytes(bytes, part, value_of(&spilled))
                       : part > 0 ? 100 * bytes / part
                                  : NAN;
        if (!isnan(value) && !put_point(&line, &cap, memory.time_us * 1000, value)) {
            release_line(&line);
            return false;
        }
    }
    return put_line(source, &line, samples);
}

static bool worker_lines(struct line_source *source, size_t worker)
{
    const struct roast_worker_samples *samples = &source->run->samples.workers[worker];

    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        enum roast_series series = (enum roast_series)i;
        bool ok = true;
        if (source->only != ROAST_ALL_SERIES && source->only != i)
            continue;
        if (roast__series_of(samples, series)->changes.size_bytes > 0)
            ok = sampled_line(source, samples, series, false);
        else if (is_derived(series) && source->running.is_worker[worker])
            ok = sampled_line(source, samples, series, true);
        else if (series == ROAST_SERIES_memory_percent ||
                 series == ROAST_SERIES_unmanaged)
            ok = combined_line(source, worker, series);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- the number of workers ------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

struct time_list {
    int64_t *all; /* owned */
    size_t count;
    size_t cap;
};

static bool put_time(struct time_list *times, int64_t time_ns)
{
    int64_t *all =
        roast__array_room(times->all, &times->cap, times->count, sizeof(all[0]));

    if (!all)
        return false;
    times->all = all;
    all[times->count++] = time_ns;
    return true;
}

double roast__sampling_interval(const struct roast_run *run)
{
    double seconds = run->facts[ROAST_FACT_sampling_seconds];

    return seconds > 0 && seconds < 1e6 ? seconds : 0; /* it may be hostile */
}

/* The moments of samples within the run; with any, or with an interval, also its begin,
 * its end if it has one, and each change of the number of workers with the microsecond
 * before it, so that straight lines between the points follow the steps. */
static bool count_times(struct time_list *times, const struct roast_run *run,
                        double interval_s)
{
    int64_t end_ns = run->end_ns != 0 ? run->end_ns : INT64_MAX;
    bool ok = true;

    for (size_t i = 0; i < run->samples.count; i++) {
        struct roast_series_cursor cursor;
        roast__series_open(&cursor, &run->samples.workers[i], ROAST_SERIES_memory);
        while (ok && roast__series_step(&cursor)) {
            int64_t time_ns = cursor.time_us * 1000;
            if (time_ns >= run->start_ns && time_ns <= end_ns)
                ok = put_time(times, time_ns);
        }
    }
    if (!ok || run->offer_count == 0 || (times->count == 0 && interval_s <= 0))
        return ok;
    ok = put_time(times, run->start_ns) &&
         (run->end_ns == 0 || put_time(times, run->end_ns));
    for (size_t i = 1; ok && i < run->offer_count; i++) {
        const struct roast_offer *offer = &run->offers[i];
        int64_t before_ns = roast__sat_sub(offer->time_ns, 1000);
        if (offer->workers != offer[-1].workers && before_ns > run->start_ns &&
            offer->time_ns < end_ns)
            ok = put_time(times, before_ns) && put_time(times, offer->time_ns);
    }
    if (times->count > 1)
        qsort(times->all, times->count, sizeof(times->all[0]), by_time);
    return ok;
}

/* Fills *line with the number of workers at those moments, and once per interval where
 * there are none, as while there is no worker. */
static bool offered_counts(const struct roast_run *run, struct roast_timeline *line)
{
    static const double most_intervals = 1e6;
    double interval_s = roast__sampling_interval(run);
    int64_t step_ns = (int64_t)(interval_s * 1e9);
    struct time_list times = {NULL, 0, 0};
    size_t cap = 0;
    bool ok = count_times(&times, run, interval_s);

    if (times.count > 0 &&
        (double)roast__sat_sub(times.all[times.count - 1], times.all[0]) >
            most_intervals * (double)step_ns)
        step_ns = 0;
    for (size_t i = 0; ok && i < times.count; i++) {
        const struct roast_offer *offer = NULL;
        int64_t time_ns = i > 0 ? times.all[i - 1] : times.all[i];
        if (i > 0 && times.all[i] == times.all[i - 1])
            continue;
        while (ok && step_ns > 0 &&
               roast__sat_sub(times.all[i], time_ns) - step_ns / 2 > step_ns) {
            time_ns += step_ns;
            offer = roast__run_offer_at(run, time_ns);
            ok = offer && put_point(line, &cap, time_ns, (double)offer->workers);
        }
        offer = roast__run_offer_at(run, times.all[i]);
        if (ok && offer)
            ok = put_point(line, &cap, times.all[i], (double)offer->workers);
    }
    roast__free(times.all);
    return ok;
}

static bool count_line(struct line_source *source)
{
    const struct roast_run *run = source->run;
    struct roast_timeline line = {.worker = NULL};
    size_t cap = 0;
    bool ok = run->count_count > 0 || offered_counts(run, &line);

    for (size_t i = 0; ok && i < run->count_count; i++)
        ok = put_point(&line, &cap, run->counts[i].time_ns,
                       (double)run->counts[i].workers);
    if (!ok) {
        release_line(&line);
        return false;
    }
    return put_line(source, &line, NULL);
}

/* Once it is known which processes of this machine ran attempts, the others (the client
 * of a pool, helper processes) do not count as workers. Samples of other backends are
 * all of workers. */
static bool is_shown(const struct line_source *source, size_t worker)
{
    return source->running.is_worker[worker] || source->workers_known == 0 ||
           source->run->samples.workers[worker].pid == 0;
}

/* The lines of what is no worker. */
static bool other_lines(struct line_source *source, const struct roast_samples *samples)
{
    bool ok = true;

    for (size_t i = 0; i < samples->count; i++) {
        for (int k = 0; ok && k < ROAST_SERIES_COUNT; k++) {
            enum roast_series series = (enum roast_series)k;
            const struct roast_worker_samples *own = &samples->workers[i];
            bool wanted = source->only == ROAST_ALL_SERIES || source->only == k;
            if (wanted && roast__series_of(own, series)->changes.size_bytes > 0)
                ok = sampled_line(source, own, series, false);
        }
    }
    return ok;
}

/* ---- all ------------------------------------------------------------------------- */

bool roast__timelines_each(const struct roast_run *run, int only,
                           roast__line_visitor *take, void *context)
{
    struct line_source source = {
        .run = run, .only = only, .take = take, .context = context};
    bool ok = count_attempts(&source.running, run) &&
              (only != ROAST_ALL_SERIES || count_line(&source));

    for (size_t i = 0; ok && i < run->samples.count; i++)
        source.workers_known += source.running.is_worker[i];
    for (size_t i = 0; ok && i < run->samples.count; i++)
        ok = !is_shown(&source, i) || worker_lines(&source, i);
    ok = ok && other_lines(&source, &run->client_samples) &&
         other_lines(&source, &run->gpu_samples);
    concurrency_release(&source.running);
    return ok;
}

struct line_list {
    struct roast_tracking out;
    size_t cap;
};

static bool keep_line(void *context, struct roast_timeline *line, struct roast_str name)
{
    struct line_list *list = context;
    struct roast_tracking *out = &list->out;
    struct roast_timeline *lines =
        roast__array_room(out->lines, &list->cap, out->count, sizeof(*lines));

    if (lines)
        out->lines = lines;
    if (name.data)
        line->worker = roast__alloc(name.size_bytes + 1); /* zeroed */
    if (line->worker && name.size_bytes > 0)
        memcpy(line->worker, name.data, name.size_bytes);
    if (!lines || (name.data && !line->worker))
        return false;
    lines[out->count++] = *line;
    *line = (struct roast_timeline){.worker = NULL}; /* moved */
    return true;
}

int roast_run_tracking(roast_run *run, struct roast_tracking *out, roast_error *err)
{
    struct line_list list = {{NULL, 0}, 0};
    int status = ROAST_OK;

    roast__run_lock(run);
    roast__run_resolve_pending(run);
    bool ok = roast__timelines_each(run, ROAST_ALL_SERIES, keep_line, &list);
    roast__run_unlock(run);
    if (!ok) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "the series of a run");
        roast_tracking_release(&list.out);
    }
    *out = list.out;
    return status;
}

void roast_tracking_release(struct roast_tracking *tracking)
{
    for (size_t i = 0; i < tracking->count; i++)
        release_line(&tracking->lines[i]);
    roast__free(tracking->lines);
    *tracking = (struct roast_tracking){NULL, 0};
}
