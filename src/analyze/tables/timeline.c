/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c - the table `timeline`: the run in time bins of equal length.
 *
 * Times are expressed in bins, so the integral over a bin is its mean. An interval is
 * added to the bins at its two ends and, as a change of level, to those between: the cost
 * does not depend on its length. */
#include "analyze/timeline.h"
#include "analyze/budget/last_seen.h"
#include "analyze/budget/worker_match.h"
#include "analyze/calls.h"
#include "analyze/tables/job.h"
#include "base/mem.h"
#include "run/series.h"

#define AT(name) ROAST_COL_timeline_##name

enum { MAX_BINS = 1000, SHORTEST_BIN_MS = 100 };

/* Something with intervals, integrated over every bin. */
struct level {
    bool known;
    double area[MAX_BINS];
    double change[MAX_BINS +
                  1]; /* of the level in full bins, relative to the previous bin */
};

/* What chunks worked through, spread evenly over the time of each. */
struct amount {
    double total;
    struct level known;
    struct level unknown; /* running chunks without a value */
};

/* A sampled quantity, integrated over every bin. */
struct sampled {
    double area[MAX_BINS];
    double covered[MAX_BINS];
    double sum[MAX_BINS]; /* of the samples in the bin, and their number */
    double samples[MAX_BINS];
};

struct time_bins {
    const struct roast_summary_context *ctx;
    int64_t start_ns;
    int64_t end_ns;
    double length_ns;
    size_t count;
    struct level workers;
    struct level threads;
    struct level running;
    struct sampled one;      /* worker, or the number of workers */
    double memory[MAX_BINS]; /* NaN: not sampled */
    double cpu[MAX_BINS];
    uint64_t chunks[MAX_BINS];
    uint64_t failures[MAX_BINS];
    struct amount events;
    struct amount bytes;
};

static double position(const struct time_bins *bins, int64_t time_ns)
{
    int64_t clamped = roast__time_clamp(time_ns, bins->start_ns, bins->end_ns);
    double at = (double)roast__time_between(bins->start_ns, clamped) / bins->length_ns;

    return fmin(at, (double)bins->count);
}

/* The bin of a position; the end of the run is in the last one. */
static size_t bin_at(const struct time_bins *bins, double at)
{
    return at < (double)bins->count ? (size_t)at : bins->count - 1;
}

/* ---- intervals ------------------------------------------------------------------- */

static void add_interval(const struct time_bins *bins, struct level *sum,
                         int64_t from_ns, int64_t to_ns, double weight)
{
    double from = position(bins, from_ns), to = position(bins, to_ns);
    size_t first = bin_at(bins, from), last = bin_at(bins, to);

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

/* Turns integrals and changes into means. */
static void finish_level(const struct time_bins *bins, struct level *sum)
{
    double level = 0;

    for (size_t i = 0; i < bins->count; i++) {
        level += sum->change[i];
        sum->area[i] += level;
    }
}

static void add_amount(const struct time_bins *bins, struct amount *sum, double value,
                       int64_t from_ns, int64_t to_ns)
{
    struct level *level = isnan(value) ? &sum->unknown : &sum->known;
    double weight = isnan(value) ? 1 : value, end = position(bins, to_ns);
    double length = end - position(bins, from_ns);

    sum->total += isnan(value) ? 0 : value;
    if (length > 0)
        add_interval(bins, level, from_ns, to_ns, weight / length);
    else
        level->area[bin_at(bins, end)] += weight;
}

/* Rounds to whole numbers that add up to the total; NaN where a value is not known. */
static void finish_amount(const struct time_bins *bins, struct amount *sum)
{
    static const double rounding = 1e-6;
    double up_to = 0, rounded = 0;

    finish_level(bins, &sum->known);
    finish_level(bins, &sum->unknown);
    for (size_t i = 0; i < bins->count; i++) {
        double before = rounded;
        up_to += sum->known.area[i];
        rounded = fmin(fmax(nearbyint(up_to), before), sum->total);
        if (i + 1 == bins->count)
            rounded = sum->total;
        sum->known.area[i] = sum->unknown.area[i] > rounding ? NAN : rounded - before;
    }
}

/* A running attempt lasts to the end, a lost one until its process was last seen. */
static void add_running(struct time_bins *bins, size_t row, const int64_t *last_seen)
{
    const struct roast_attempts *attempts = &bins->ctx->run->attempts;
    unsigned role = bins->ctx->totals->roles.of_row[row];
    int64_t start, end;

    if (!roast__attempt_times(attempts, row, &start, &end))
        return;
    if (role == ROAST_ROLE_LOST)
        end = last_seen[attempts->process[row]];
    if (role == ROAST_ROLE_OPEN && bins->ctx->run->end_ns == 0)
        end = bins->end_ns;
    add_interval(bins, &bins->running, start, end, 1);
}

/* ---- ends ------------------------------------------------------------------------ */

static double value_of(const struct roast_attempts *attempts,
                       enum roast_attempt_column column, size_t row)
{
    return roast__column_number(&attempts->columns[column], row);
}

/* The events of a chunk without a record are its entries. */
static double events_of(const struct roast_attempts *attempts, size_t row, bool bare)
{
    if (!bare)
        return value_of(attempts, ROAST_COLUMN_num_events, row);
    return value_of(attempts, ROAST_COLUMN_entry_stop, row) -
           value_of(attempts, ROAST_COLUMN_entry_start, row);
}

static void add_end(struct time_bins *bins, size_t row)
{
    const struct roast_attempts *attempts = &bins->ctx->run->attempts;
    unsigned role = bins->ctx->totals->roles.of_row[row];
    int64_t start, end;

    if (!roast__attempt_times(attempts, row, &start, &end))
        return;
    size_t bin = bin_at(bins, position(bins, end));
    bins->failures[bin] += role == ROAST_ROLE_FAILED;
    if (role != ROAST_ROLE_COUNTS && role != ROAST_ROLE_BARE)
        return;
    bins->chunks[bin]++;
    add_amount(bins, &bins->events, events_of(attempts, row, role == ROAST_ROLE_BARE),
               start, end);
    add_amount(bins, &bins->bytes,
               value_of(attempts, ROAST_COLUMN_bytes_before, row) +
                   value_of(attempts, ROAST_COLUMN_bytes_read, row),
               start, end);
}

static bool add_attempts(struct time_bins *bins)
{
    int64_t *last_seen = roast__last_seen(bins->ctx->run);
    size_t rows = bins->ctx->run->attempts.count;

    for (size_t row = 0; last_seen && row < rows; row++) {
        add_running(bins, row, last_seen);
        add_end(bins, row);
    }
    roast__free(last_seen);
    return last_seen != NULL;
}

/* ---- samples --------------------------------------------------------------------- */

/* The value between two samples is interpolated linearly. */
static void add_segment(struct time_bins *bins, const struct roast_point *from,
                        const struct roast_point *to)
{
    double begin = position(bins, from->time_ns), end = position(bins, to->time_ns);
    double slope = (to->value - from->value) / (end - begin);

    if (!(end > begin))
        return;
    for (size_t i = bin_at(bins, begin); i < bins->count && (double)i < end; i++) {
        double left = fmax(begin, (double)i), right = fmin(end, (double)(i + 1));
        double middle = from->value + slope * ((left + right) / 2 - begin);
        bins->one.area[i] += middle * (right - left);
        bins->one.covered[i] += right - left;
    }
}

static void add_sample(struct time_bins *bins, const struct roast_point *point)
{
    size_t bin = bin_at(bins, position(bins, point->time_ns));

    bins->one.sum[bin] += point->value;
    bins->one.samples[bin]++;
}

/* The mean in a bin; NaN: no samples. */
static double mean_of(const struct sampled *one, size_t bin)
{
    if (one->covered[bin] > 0)
        return one->area[bin] / one->covered[bin];
    return one->samples[bin] > 0 ? one->sum[bin] / one->samples[bin] : NAN;
}

/* A sample holds for the time since the previous one, as in sweep.h. */
static void add_series(struct time_bins *bins,
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
            add_segment(bins, &before, &now);
        if (known)
            add_sample(bins, &now);
        before.time_ns = now.time_ns;
        first = false;
    }
}

static void add_worker(struct time_bins *bins,
                       const struct roast_worker_samples *worker,
                       enum roast_series series, double *sums)
{
    if (roast__series_of(worker, series)->changes.size_bytes == 0)
        return;
    bins->one = (struct sampled){0};
    add_series(bins, worker, series);
    for (size_t i = 0; i < bins->count; i++) {
        double mean = mean_of(&bins->one, i);
        if (!isnan(mean))
            sums[i] = (isnan(sums[i]) ? 0 : sums[i]) + mean;
    }
}

static bool add_samples(struct time_bins *bins)
{
    const struct roast_run *run = bins->ctx->run;
    struct roast_worker_match match = {0};
    bool found = roast__worker_match_find(&match, run);

    for (size_t i = 0; found && i < run->samples.count; i++) {
        if (!match.is_worker[i])
            continue;
        add_worker(bins, &run->samples.workers[i], ROAST_SERIES_memory, bins->memory);
        add_worker(bins, &run->samples.workers[i], ROAST_SERIES_cpu, bins->cpu);
    }
    roast__worker_match_release(&match);
    return found;
}

/* ---- all ------------------------------------------------------------------------- */

static double workers_in(const struct time_bins *bins, size_t bin)
{
    return bins->workers.known ? bins->workers.area[bin] : mean_of(&bins->one, bin);
}

static void put_bin(roast_table *to, const struct time_bins *bins, size_t bin)
{
    int64_t after_ns = (int64_t)(bins->length_ns * (double)bin);

    roast__table_row(to);
    roast__fill_int(to, AT(start), roast__sat_add(bins->start_ns, after_ns));
    roast__fill_number(to, AT(length), bins->length_ns / 1e9);
    roast__fill_number(to, AT(workers), workers_in(bins, bin));
    if (bins->threads.known)
        roast__fill_number(to, AT(threads), bins->threads.area[bin]);
    roast__fill_number(to, AT(running), fmax(bins->running.area[bin], 0));
    roast__fill_number(to, AT(memory_bytes), bins->memory[bin]);
    roast__fill_number(to, AT(cpu_percent), bins->cpu[bin]);
    roast__fill_count(to, AT(chunks), bins->chunks[bin]);
    roast__fill_count(to, AT(failures), bins->failures[bin]);
    roast__fill_sum(to, AT(events), bins->events.known.area[bin]);
    roast__fill_sum(to, AT(bytes), bins->bytes.known.area[bin]);
}

void roast__make_timeline(const struct roast_table_job *job)
{
    struct time_bins *bins = roast__alloc(sizeof(*bins));

    if (!bins) {
        roast__table_fail(job->to);
        return;
    }
    int64_t span_ns = roast__time_between(job->ctx->run->start_ns, job->ctx->end_ns);
    int64_t most = span_ns / (SHORTEST_BIN_MS * INT64_C(1000000));
    bins->ctx = job->ctx;
    bins->start_ns = job->ctx->run->start_ns;
    bins->end_ns = job->ctx->end_ns;
    if (span_ns > 0)
        bins->count = (size_t)roast__time_clamp(most, 1, MAX_BINS);
    bins->length_ns = (double)span_ns / (double)(bins->count > 0 ? bins->count : 1);
    for (size_t i = 0; i < bins->count; i++)
        bins->memory[i] = bins->cpu[i] = NAN;
    if (bins->count > 0) {
        if (!add_attempts(bins) || !add_samples(bins))
            roast__table_fail(job->to);
        /* An offer is valid until the next one, the first one also before it. */
        const struct roast_run *run = bins->ctx->run;
        for (size_t i = 0; i < run->offer_count; i++) {
            const struct roast_offer *offer = &run->offers[i];
            int64_t from = i == 0 ? bins->start_ns : offer->time_ns;
            int64_t to = i + 1 < run->offer_count ? offer[1].time_ns : bins->end_ns;
            add_interval(bins, &bins->workers, from, to, (double)offer->workers);
            add_interval(bins, &bins->threads, from, to, (double)offer->threads);
        }
        /* Counts of a backend are interpolated linearly, as in pool.c. */
        struct roast_point before = {0, 0};
        bins->one = (struct sampled){0};
        for (size_t i = 0; i < run->count_count; i++) {
            struct roast_point now = {run->counts[i].time_ns,
                                      (double)run->counts[i].workers};
            if (i > 0)
                add_segment(bins, &before, &now);
            add_sample(bins, &now);
            before = now;
        }
        finish_level(bins, &bins->workers);
        finish_level(bins, &bins->threads);
        finish_level(bins, &bins->running);
        finish_amount(bins, &bins->events);
        finish_amount(bins, &bins->bytes);
    }
    for (size_t i = 0; i < bins->count && roast__table_ok(job->to); i++)
        put_bin(job->to, bins, i);
    roast__free(bins);
}
