/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c - the table `timeline`: the run in equal steps of time.
 *
 * Positions on the timeline are numbers of steps, so an area is a mean. What lasts over
 * many steps is put into the two at its ends and, as a change, into those between: an
 * attempt costs the same however long it took. */
#include "analyze/timeline.h"
#include "analyze/budget/last_seen.h"
#include "analyze/budget/worker_match.h"
#include "analyze/calls.h"
#include "analyze/tables/job.h"
#include "base/mem.h"
#include "run/series.h"

#define AT(name) ROAST_COL_timeline_##name

enum { MOST_STEPS = 1000, SHORTEST_STEP_MS = 100 };

/* Something that lasts, summed up in every step. */
struct lasting {
    bool known;
    double area[MOST_STEPS];
    double
        change[MOST_STEPS + 1]; /* of what fills whole steps, against the step before */
};

/* A sampled quantity, and the covered time of every step. */
struct looked_at {
    double area[MOST_STEPS];
    double covered[MOST_STEPS];
    double points[MOST_STEPS]; /* sum of moments */
    double moments[MOST_STEPS];
};

struct steps {
    const struct roast_summary_context *ctx;
    int64_t start_ns;
    int64_t end_ns;
    double length_ns;
    size_t count;
    struct lasting workers;
    struct lasting threads;
    struct lasting running;
    struct looked_at one;      /* worker, or the number of workers */
    double memory[MOST_STEPS]; /* NaN: not sampled */
    double cpu[MOST_STEPS];
    uint64_t chunks[MOST_STEPS];
    uint64_t failures[MOST_STEPS];
    double events[MOST_STEPS]; /* NaN: one does not know */
    double bytes[MOST_STEPS];
};

static double position(const struct steps *steps, int64_t time_ns)
{
    int64_t clamped = roast__time_clamp(time_ns, steps->start_ns, steps->end_ns);
    double at =
        (double)roast__time_between(steps->start_ns, clamped) / steps->length_ns;

    return fmin(at, (double)steps->count);
}

/* The step of a position; the end of the run is in the last one. */
static size_t step_at(const struct steps *steps, double at)
{
    return at < (double)steps->count ? (size_t)at : steps->count - 1;
}

/* ---- what lasts ------------------------------------------------------------------ */

static void add_lasting(const struct steps *steps, struct lasting *sum, int64_t from_ns,
                        int64_t to_ns, double weight)
{
    double from = position(steps, from_ns), to = position(steps, to_ns);
    size_t first = step_at(steps, from), last = step_at(steps, to);

    if (to <= from)
        return;
    sum->known = true;
    if (first == last) {
        sum->area[first] += (to - from) * weight;
        return;
    }
    sum->area[first] += ((double)(first + 1) - from) * weight;
    sum->area[last] += (to - (double)last) * weight;
    sum->change[first + 1] += weight;
    sum->change[last] -= weight;
}

/* Turns areas and changes into means. */
static void settle(const struct steps *steps, struct lasting *sum)
{
    double whole = 0;

    for (size_t i = 0; i < steps->count; i++) {
        whole += sum->change[i];
        sum->area[i] += whole;
    }
}

/* One that has not ended runs on; one that was lost ran until nothing more was seen of
 * its process. */
static void add_running(struct steps *steps, size_t row, const int64_t *last_seen)
{
    const struct roast_attempts *attempts = &steps->ctx->run->attempts;
    unsigned role = steps->ctx->totals->roles.of_row[row];
    int64_t start, end;

    if (!roast__attempt_times(attempts, row, &start, &end))
        return;
    if (role == ROAST_ROLE_LOST)
        end = last_seen[attempts->process[row]];
    if (role == ROAST_ROLE_OPEN && steps->ctx->run->end_ns == 0)
        end = steps->end_ns;
    add_lasting(steps, &steps->running, start, end, 1);
}

/* ---- what ends ------------------------------------------------------------------- */

static double value_of(const struct roast_attempts *attempts,
                       enum roast_attempt_column column, size_t row)
{
    const struct roast_column *values = &attempts->columns[column];

    return roast__column_has(values, row) ? (double)values->values[row] : NAN;
}

/* Entries are the events of a chunk that left no record. */
static double events_of(const struct roast_attempts *attempts, size_t row, bool bare)
{
    if (!bare)
        return value_of(attempts, ROAST_COLUMN_num_events, row);
    return value_of(attempts, ROAST_COLUMN_entry_stop, row) -
           value_of(attempts, ROAST_COLUMN_entry_start, row);
}

static void add_end(struct steps *steps, size_t row)
{
    const struct roast_attempts *attempts = &steps->ctx->run->attempts;
    unsigned role = steps->ctx->totals->roles.of_row[row];
    int64_t start, end;

    if (!roast__attempt_times(attempts, row, &start, &end))
        return;
    size_t step = step_at(steps, position(steps, end));
    steps->failures[step] += role == ROAST_ROLE_FAILED;
    if (role != ROAST_ROLE_COUNTS && role != ROAST_ROLE_BARE)
        return;
    steps->chunks[step]++;
    steps->events[step] += events_of(attempts, row, role == ROAST_ROLE_BARE);
    steps->bytes[step] += value_of(attempts, ROAST_COLUMN_bytes_before, row) +
                          value_of(attempts, ROAST_COLUMN_bytes_read, row);
}

static bool add_attempts(struct steps *steps)
{
    int64_t *last_seen = roast__last_seen(steps->ctx->run);
    size_t rows = steps->ctx->run->attempts.count;

    for (size_t row = 0; last_seen && row < rows; row++) {
        add_running(steps, row, last_seen);
        add_end(steps, row);
    }
    roast__free(last_seen);
    return last_seen != NULL;
}

/* ---- what was sampled ------------------------------------------------------------ */

/* From one moment to another the value goes in a straight line. */
static void look_along(struct steps *steps, const struct roast_point *from,
                       const struct roast_point *to)
{
    double begin = position(steps, from->time_ns), end = position(steps, to->time_ns);
    double slope = (to->value - from->value) / (end - begin);

    if (!(end > begin))
        return;
    for (size_t i = step_at(steps, begin); i < steps->count && (double)i < end; i++) {
        double left = fmax(begin, (double)i), right = fmin(end, (double)(i + 1));
        double middle = from->value + slope * ((left + right) / 2 - begin);
        steps->one.area[i] += middle * (right - left);
        steps->one.covered[i] += right - left;
    }
}

static void look_at(struct steps *steps, const struct roast_point *point)
{
    size_t step = step_at(steps, position(steps, point->time_ns));

    steps->one.points[step] += point->value;
    steps->one.moments[step]++;
}

/* The mean of the samples of a step; NaN: none. */
static double mean_of(const struct looked_at *one, size_t step)
{
    if (one->covered[step] > 0)
        return one->area[step] / one->covered[step];
    return one->moments[step] > 0 ? one->points[step] / one->moments[step] : NAN;
}

/* A sample speaks for the time since the one before it, as in sweep.h. */
static void look_at_worker(struct steps *steps,
                           const struct roast_worker_samples *worker,
                           enum roast_series series)
{
    struct roast_series_cursor cursor;
    struct roast_point before, now;
    bool known, first = true;

    roast__series_open(&cursor, worker, series);
    while (roast__series_next(&cursor, &now.time_ns, &now.value, &known) == 1) {
        before.value = now.value;
        if (known && !first)
            look_along(steps, &before, &now);
        if (known)
            look_at(steps, &now);
        before.time_ns = now.time_ns;
        first = false;
    }
}

static void add_worker(struct steps *steps, const struct roast_worker_samples *worker,
                       enum roast_series series, double *sums)
{
    if (roast__series_of(worker, series)->changes.size_bytes == 0)
        return;
    steps->one = (struct looked_at){0};
    look_at_worker(steps, worker, series);
    for (size_t i = 0; i < steps->count; i++) {
        double mean = mean_of(&steps->one, i);
        if (!isnan(mean))
            sums[i] = (isnan(sums[i]) ? 0 : sums[i]) + mean;
    }
}

static bool add_samples(struct steps *steps)
{
    const struct roast_run *run = steps->ctx->run;
    struct roast_worker_match match = {0};
    bool found = roast__worker_match_find(&match, run);

    for (size_t i = 0; found && i < run->samples.count; i++) {
        if (!match.is_worker[i])
            continue;
        add_worker(steps, &run->samples.workers[i], ROAST_SERIES_memory, steps->memory);
        add_worker(steps, &run->samples.workers[i], ROAST_SERIES_cpu, steps->cpu);
    }
    roast__worker_match_release(&match);
    return found;
}

/* ---- all ------------------------------------------------------------------------- */

static double workers_in(const struct steps *steps, size_t step)
{
    return steps->workers.known ? steps->workers.area[step]
                                : mean_of(&steps->one, step);
}

static void put_step(roast_table *to, const struct steps *steps, size_t step)
{
    int64_t after_ns = (int64_t)(steps->length_ns * (double)step);

    roast__table_row(to);
    roast__fill_int(to, AT(start), roast__sat_add(steps->start_ns, after_ns));
    roast__fill_number(to, AT(length), steps->length_ns / 1e9);
    roast__fill_number(to, AT(workers), workers_in(steps, step));
    if (steps->threads.known)
        roast__fill_number(to, AT(threads), steps->threads.area[step]);
    roast__fill_number(to, AT(running), fmax(steps->running.area[step], 0));
    roast__fill_number(to, AT(memory_bytes), steps->memory[step]);
    roast__fill_number(to, AT(cpu_percent), steps->cpu[step]);
    roast__fill_count(to, AT(chunks), steps->chunks[step]);
    roast__fill_count(to, AT(failures), steps->failures[step]);
    roast__fill_sum(to, AT(events), steps->events[step]);
    roast__fill_sum(to, AT(bytes), steps->bytes[step]);
}

void roast__make_timeline(const struct roast_table_job *job)
{
    struct steps *steps = roast__alloc(sizeof(*steps));

    if (!steps) {
        roast__table_fail(job->to);
        return;
    }
    int64_t span_ns = roast__time_between(job->ctx->run->start_ns, job->ctx->end_ns);
    int64_t fit = span_ns / (SHORTEST_STEP_MS * INT64_C(1000000));
    steps->ctx = job->ctx;
    steps->start_ns = job->ctx->run->start_ns;
    steps->end_ns = job->ctx->end_ns;
    if (span_ns > 0)
        steps->count = (size_t)roast__time_clamp(fit, 1, MOST_STEPS);
    steps->length_ns = (double)span_ns / (double)(steps->count > 0 ? steps->count : 1);
    for (size_t i = 0; i < steps->count; i++)
        steps->memory[i] = steps->cpu[i] = NAN;
    if (steps->count > 0) {
        if (!add_attempts(steps) || !add_samples(steps))
            roast__table_fail(job->to);
        /* An offer holds until the next; the first one held before it too. */
        const struct roast_run *run = steps->ctx->run;
        for (size_t i = 0; i < run->offer_count; i++) {
            const struct roast_offer *offer = &run->offers[i];
            int64_t from = i == 0 ? steps->start_ns : offer->time_ns;
            int64_t to = i + 1 < run->offer_count ? offer[1].time_ns : steps->end_ns;
            add_lasting(steps, &steps->workers, from, to, (double)offer->workers);
            add_lasting(steps, &steps->threads, from, to, (double)offer->threads);
        }
        /* Counts of a backend are joined by straight lines, as in pool.c. */
        struct roast_point before = {0, 0};
        steps->one = (struct looked_at){0};
        for (size_t i = 0; i < run->count_count; i++) {
            struct roast_point now = {run->counts[i].time_ns,
                                      (double)run->counts[i].workers};
            if (i > 0)
                look_along(steps, &before, &now);
            look_at(steps, &now);
            before = now;
        }
        settle(steps, &steps->workers);
        settle(steps, &steps->threads);
        settle(steps, &steps->running);
    }
    for (size_t i = 0; i < steps->count && roast__table_ok(job->to); i++)
        put_step(job->to, steps, i);
    roast__free(steps);
}
