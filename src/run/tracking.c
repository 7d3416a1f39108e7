/* SPDX-License-Identifier: BSD-3-Clause */
/* run_tracking.c - the series of a run as they were sampled, one behind the other.
 *
 * What a sampler of this machine cannot see of a worker, the run itself knows: how many
 * threads its executor offers, and which attempts ran when. Where nobody else gave
 * these series they are made here, at the moments of the samples. */
#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "run/concurrency.h"
#include "run/tracking.h"

/* What is being made, and from what. */
struct making {
    const struct roast_run *run;
    int only; /* series, or ROAST_ALL_SERIES */
    struct roast_concurrency running;
    roast__take_line *take;
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

/* Gives the line away; one without points is dropped. worker is NULL for the count. */
static bool put_line(struct making *making, struct roast_timeline *line,
                     const struct roast_worker_samples *worker)
{
    struct roast_str name = {NULL, 0};
    bool taken = true;

    if (worker)
        name = roast__strings_get(&making->run->strings, worker->name);
    if (line->count > 0)
        taken = making->take(making->context, line, name);
    release_line(line);
    return taken;
}

/* ---- series of a worker ------------------------------------------------------ */

static bool sampled_line(struct making *making,
                         const struct roast_worker_samples *worker,
                         enum roast_series series)
{
    struct roast_timeline line = {.series = series};
    struct roast_series_cursor cursor;
    size_t cap = 0;
    int64_t time_ns;
    double value = 0;
    bool known;

    roast__series_open(&cursor, worker, series);
    while (roast__series_next(&cursor, &time_ns, &value, &known) > 0) {
        if (known && !put_point(&line, &cap, time_ns, value)) {
            release_line(&line);
            return false;
        }
    }
    return put_line(making, &line, worker);
}

/* The share of a worker in the threads that are offered; false where none are. */
static bool cores_at(const struct making *making, int64_t time_ns, double *value)
{
    const struct roast_offer *offer = roast__run_offer_at(making->run, time_ns);

    if (!offer || offer->workers == 0)
        return false;
    uint64_t known = making->workers_known; /* workers may be threads of one process */
    uint64_t shares = known > 0 && known < offer->workers ? known : offer->workers;
    uint64_t cores = offer->threads / shares;
    *value = cores > 0 ? (double)cores : 1;
    return true;
}

static bool derived_at(const struct making *making, size_t worker,
                       enum roast_series series, int64_t time_ns, double *value)
{
    if (series == ROAST_SERIES_cores)
        return cores_at(making, time_ns, value);
    *value = (double)roast__concurrency_at(&making->running, worker, time_ns);
    return true;
}

static bool is_derived(enum roast_series series)
{
    return series == ROAST_SERIES_cores || series == ROAST_SERIES_active_tasks ||
           series == ROAST_SERIES_executing;
}

static bool derived_line(struct making *making, size_t worker, enum roast_series series)
{
    const struct roast_worker_samples *samples = &making->run->samples.workers[worker];
    struct roast_timeline line = {.series = series};
    struct roast_series_cursor cursor;
    size_t cap = 0;
    int64_t time_ns;
    double value = 0;
    bool known;

    roast__series_open(&cursor, samples, series);
    while (roast__series_next(&cursor, &time_ns, &value, &known) > 0) {
        if (derived_at(making, worker, series, time_ns, &value) &&
            !put_point(&line, &cap, time_ns, value)) {
            release_line(&line);
            return false;
        }
    }
    return put_line(making, &line, samples);
}

static bool worker_lines(struct making *making, size_t worker)
{
    const struct roast_worker_samples *samples = &making->run->samples.workers[worker];

    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        enum roast_series series = (enum roast_series)i;
        bool ok = true;
        if (making->only != ROAST_ALL_SERIES && making->only != i)
            continue;
        if (roast__series_of(samples, series)->changes.size_bytes > 0)
            ok = sampled_line(making, samples, series);
        else if (is_derived(series) && making->running.is_worker[worker])
            ok = derived_line(making, worker, series);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- the number of workers --------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

/* The moments of all workers in order, some more than once; NULL when out of memory. */
static int64_t *all_moments(const struct roast_samples *samples, size_t *count)
{
    size_t total = 0;

    *count = 0;
    for (size_t i = 0; i < samples->count; i++)
        total += samples->workers[i].ticks;
    int64_t *times = roast__alloc(total * sizeof(*times));
    for (size_t i = 0; times && i < samples->count; i++) {
        struct roast_series_cursor cursor;
        roast__series_open(&cursor, &samples->workers[i], ROAST_SERIES_memory);
        while (roast__series_step(&cursor))
            times[(*count)++] = cursor.time_us * 1000;
    }
    if (*count > 1)
        qsort(times, *count, sizeof(*times), by_time);
    return times;
}

static bool offered_counts(const struct roast_run *run, struct roast_timeline *line)
{
    size_t count;
    size_t cap = 0;
    int64_t *times = all_moments(&run->samples, &count);
    bool ok = times != NULL;

    for (size_t i = 0; ok && i < count; i++) {
        const struct roast_offer *offer = roast__run_offer_at(run, times[i]);
        if (offer && (i == 0 || times[i] != times[i - 1]))
            ok = put_point(line, &cap, times[i], (double)offer->workers);
    }
    roast__free(times);
    return ok;
}

static bool sampled_counts(const struct roast_run *run, struct roast_timeline *line)
{
    size_t cap = 0;

    for (size_t i = 0; i < run->count_count; i++) {
        if (!put_point(line, &cap, run->counts[i].time_ns,
                       (double)run->counts[i].workers))
            return false;
    }
    return true;
}

static bool count_line(struct making *making)
{
    const struct roast_run *run = making->run;
    struct roast_timeline line = {.worker = NULL};

    if (!(run->count_count > 0 ? sampled_counts(run, &line)
                               : offered_counts(run, &line))) {
        release_line(&line);
        return false;
    }
    return put_line(making, &line, NULL);
}

/* Once it is known which processes of this machine ran attempts, the others (the client
 * of a pool, helpers) are no workers. Samples of other backends are all of workers. */
static bool is_shown(const struct making *making, size_t worker)
{
    return making->running.is_worker[worker] || making->workers_known == 0 ||
           making->run->samples.workers[worker].pid == 0;
}

static void count_workers(struct making *making)
{
    for (size_t i = 0; i < making->run->samples.count; i++)
        making->workers_known += making->running.is_worker[i];
}

/* ---- all --------------------------------------------------------------------- */

bool roast__tracking_each(const struct roast_run *run, int only, roast__take_line *take,
                          void *context)
{
    struct making making = {.run = run, .only = only, .take = take, .context = context};
    bool ok = roast__concurrency_make(&making.running, run) &&
              (only != ROAST_ALL_SERIES || count_line(&making));

    if (ok)
        count_workers(&making);
    for (size_t i = 0; ok && i < run->samples.count; i++)
        ok = !is_shown(&making, i) || worker_lines(&making, i);
    roast__concurrency_release(&making.running);
    return ok;
}

struct keeping {
    struct roast_tracking out;
    size_t cap;
};

static char *copy_name(struct roast_str name)
{
    char *copy = roast__alloc(name.size_bytes + 1);

    if (copy && name.size_bytes > 0)
        memcpy(copy, name.data, name.size_bytes);
    return copy;
}

static bool keep_line(void *context, struct roast_timeline *line, struct roast_str name)
{
    struct keeping *keeping = context;
    struct roast_tracking *out = &keeping->out;
    struct roast_timeline *lines =
        roast__array_room(out->lines, &keeping->cap, out->count, sizeof(*lines));

    if (lines)
        out->lines = lines;
    if (name.data)
        line->worker = copy_name(name);
    if (!lines || (name.data && !line->worker))
        return false;
    lines[out->count++] = *line;
    *line = (struct roast_timeline){.worker = NULL}; /* moved */
    return true;
}

int roast_run_tracking(roast_run *run, struct roast_tracking *out, roast_error *err)
{
    struct keeping keeping = {{NULL, 0}, 0};
    int status = ROAST_OK;

    roast__run_lock(run);
    roast__run_resolve_pending(run);
    bool ok = roast__tracking_each(run, ROAST_ALL_SERIES, keep_line, &keeping);
    roast__run_unlock(run);
    if (!ok) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "the series of a run");
        roast_tracking_release(&keeping.out);
    }
    *out = keeping.out;
    return status;
}

void roast_tracking_release(struct roast_tracking *tracking)
{
    for (size_t i = 0; i < tracking->count; i++)
        release_line(&tracking->lines[i]);
    roast__free(tracking->lines);
    *tracking = (struct roast_tracking){NULL, 0};
}
