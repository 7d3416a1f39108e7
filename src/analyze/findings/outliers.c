/* SPDX-License-Identifier: BSD-3-Clause */
/* outliers.c - chunks that took far longer per event than the others, and why.
 *
 * An outlier is above the median by three robust standard deviations (1.4826 x the median
 * absolute deviation) and by half of the median, so that noise among equal chunks does
 * not count. The cause is the first one that the numbers support. */
#include "analyze/formulas.h"
#include "analyze/record_iter.h"
#include "analyze/recorded.h"

enum { FEWEST_CHUNKS = 8, MOST_OUTLIERS = 50 };

/* A measure of a chunk; NaN: not known. */
typedef double measure(const struct roast_attempts *attempts, size_t row);

struct typical {
    double median;
    double limit; /* values above it are outliers */
};

struct outlier {
    size_t row;
    double ns_per_event;
    double excess_ns;
};

struct search {
    const struct roast_summary_context *ctx;
    struct typical time;                     /* ns per event */
    struct typical wait;                     /* ns without CPU, per event */
    struct typical peak;                     /* bytes */
    struct typical delta;                    /* bytes */
    struct outlier found[MOST_OUTLIERS + 1]; /* largest excess first */
    size_t count;
    struct roast_hosts_seen hosts;
    bool failed;
};

/* ---- measures -------------------------------------------------------------------- */

static double number(const struct roast_attempts *attempts,
                     enum roast_attempt_column column, size_t row)
{
    return roast__column_number(&attempts->columns[column], row);
}

static double time_per_event(const struct roast_attempts *attempts, size_t row)
{
    double events = number(attempts, ROAST_COLUMN_num_events, row);

    return events > 0 ? number(attempts, ROAST_COLUMN_duration_ns, row) / events : NAN;
}

static double wait_of(const struct roast_attempts *attempts, size_t row)
{
    double wait = number(attempts, ROAST_COLUMN_duration_ns, row) -
                  number(attempts, ROAST_COLUMN_cpu_ns, row);

    return wait < 0 ? 0 : wait;
}

static double wait_per_event(const struct roast_attempts *attempts, size_t row)
{
    double events = number(attempts, ROAST_COLUMN_num_events, row);

    return events > 0 ? wait_of(attempts, row) / events : NAN;
}

static double memory_peak(const struct roast_attempts *attempts, size_t row)
{
    return number(attempts, ROAST_COLUMN_rss_peak_bytes, row);
}

static double memory_delta(const struct roast_attempts *attempts, size_t row)
{
    double delta = number(attempts, ROAST_COLUMN_rss_after_bytes, row) -
                   number(attempts, ROAST_COLUMN_rss_before_bytes, row);

    return delta < 0 ? 0 : delta;
}

static bool counts(const struct search *search, size_t row)
{
    return search->ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS;
}

/* The median of a measure, or of its distance to a centre that is not NaN. */
static double median_of(struct search *search, measure *of, double centre)
{
    const struct roast_attempts *attempts = &search->ctx->run->attempts;
    struct roast_quantiles quantiles = {0};

    for (size_t row = 0; row < attempts->count; row++) {
        double value = of(attempts, row);
        if (!counts(search, row) || isnan(value))
            continue;
        value = isnan(centre) ? value : fabs(value - centre);
        roast__quantiles_add(&quantiles, value);
    }
    double median = roast__quantiles_get(&quantiles, 0.5);
    search->failed |= quantiles.failed;
    roast__quantiles_release(&quantiles);
    return median;
}

static struct typical typical_of(struct search *search, measure *of)
{
    double median = median_of(search, of, NAN);

    if (!(median > 0))
        return (struct typical){median, INFINITY}; /* nothing to compare with */
    double sigma = 1.4826 * median_of(search, of, median);
    return (struct typical){median, fmax(median + 3 * sigma, 1.5 * median)};
}

/* ---- hosts ----------------------------------------------------------------------- */

static int32_t host_of(const struct roast_attempts *attempts, size_t row)
{
    return attempts->processes[attempts->process[row]].host;
}

bool roast__is_slow_host(struct roast_hosts_seen *seen,
                         const struct roast_summary_context *ctx, int32_t host)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    struct roast_quantiles quantiles[2] = {{0}, {0}}; /* this host, all others */
    double medians[2];

    for (size_t i = 0; i < seen->count; i++) {
        if (seen->items[i].name == host)
            return seen->items[i].slow;
    }
    for (size_t row = 0; row < attempts->count; row++) {
        double value = time_per_event(attempts, row);
        if (ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS)
            roast__quantiles_add(&quantiles[host_of(attempts, row) != host], value);
    }
    for (int i = 0; i < 2; i++) {
        medians[i] = roast__quantiles_get(&quantiles[i], 0.5);
        ctx->summary->failed |= quantiles[i].failed;
        roast__quantiles_release(&quantiles[i]);
    }
    bool slow = medians[0] > 1.5 * medians[1]; /* false without another host */
    if (seen->count < ROAST_HOSTS_SEEN) {
        seen->items[seen->count].name = host;
        seen->items[seen->count++].slow = slow;
    }
    return slow;
}

/* ---- the table ------------------------------------------------------------------- */

/* Keeps the outliers with the largest excess, sorted. */
static void keep_largest(struct search *search, struct outlier outlier)
{
    size_t i = search->count;

    for (; i > 0 && search->found[i - 1].excess_ns < outlier.excess_ns; i--)
        search->found[i] = search->found[i - 1];
    search->found[i] = outlier;
    if (search->count < MOST_OUTLIERS)
        search->count++;
}

/* Whether the memory of the process was the memory of this chunk. */
static bool ran_alone(const struct roast_run *run, size_t row)
{
    roast_record rec;

    return roast__attempt_fields(run, row, ROAST_FIELD_BIT(concurrency), &rec) &&
           roast_record_has(&rec, ROAST_FIELD_concurrency) &&
           rec.values[ROAST_FIELD_concurrency].u64 <= 1;
}

static const char *cause_of(struct search *search, const struct outlier *outlier)
{
    const struct roast_attempts *attempts = &search->ctx->run->attempts;
    double events = number(attempts, ROAST_COLUMN_num_events, outlier->row);
    double waited = wait_of(attempts, outlier->row) - search->wait.median * events;

    if (waited > 0.5 * outlier->excess_ns)
        return "slow read";
    bool is_large = memory_peak(attempts, outlier->row) > search->peak.limit ||
                    memory_delta(attempts, outlier->row) > search->delta.limit;
    if (is_large && ran_alone(search->ctx->run, outlier->row))
        return "big memory";
    if (roast__is_slow_host(&search->hosts, search->ctx,
                            host_of(attempts, outlier->row)))
        return "slow host";
    return "more work per event";
}

static void put_outlier(struct search *search, roast_table *table,
                        const struct outlier *outlier)
{
    const struct roast_summary_context *ctx = search->ctx;
    const struct roast_attempts *attempts = &ctx->run->attempts;
    const struct roast_column *start = &attempts->columns[ROAST_COLUMN_entry_start];
    const struct roast_column *stop = &attempts->columns[ROAST_COLUMN_entry_stop];
    size_t row = outlier->row;
    int32_t source = attempts->source[row];
    char name[ROAST_PROCESS_NAME_BYTES];

    roast__table_row(table);
    if (source >= 0) {
        roast__fill_text(table, ROAST_COL_outliers_dataset,
                         roast__context_text(ctx, attempts->sources[source].dataset));
        roast__fill_text(table, ROAST_COL_outliers_file,
                         roast__context_text(ctx, attempts->sources[source].file));
    }
    if (roast__column_has(start, row))
        roast__fill_count(table, ROAST_COL_outliers_entry_start,
                          (uint64_t)start->values[row]);
    if (roast__column_has(stop, row))
        roast__fill_count(table, ROAST_COL_outliers_entry_stop,
                          (uint64_t)stop->values[row]);
    roast__fill_text(table, ROAST_COL_outliers_worker,
                     roast__process_name(
                         ctx->run, &attempts->processes[attempts->process[row]], name));
    roast__fill_number(table, ROAST_COL_outliers_duration,
                       number(attempts, ROAST_COLUMN_duration_ns, row) / 1e9);
    roast__fill_number(table, ROAST_COL_outliers_time_per_event_us,
                       outlier->ns_per_event / 1e3);
    roast__fill_number(table, ROAST_COL_outliers_times_median,
                       outlier->ns_per_event / search->time.median);
    roast__fill_string(table, ROAST_COL_outliers_cause, cause_of(search, outlier));
}

void roast__summarize_outliers(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_outliers);
    struct search search = {.ctx = ctx};

    if (ctx->totals->sums.ns_per_event.count < FEWEST_CHUNKS)
        return;
    search.time = typical_of(&search, time_per_event);
    const struct roast_attempts *attempts = &search.ctx->run->attempts;
    for (size_t row = 0; row < attempts->count; row++) {
        double value = time_per_event(attempts, row);
        if (!counts(&search, row) || !(value > search.time.limit))
            continue;
        double excess = (value - search.time.median) *
                        number(attempts, ROAST_COLUMN_num_events, row);
        keep_largest(&search, (struct outlier){row, value, excess});
    }
    if (search.count > 0) {
        search.wait = typical_of(&search, wait_per_event);
        search.peak = typical_of(&search, memory_peak);
        search.delta = typical_of(&search, memory_delta);
    }
    for (size_t i = 0; i < search.count; i++)
        put_outlier(&search, table, &search.found[i]);
    ctx->summary->failed |= search.failed;
}
