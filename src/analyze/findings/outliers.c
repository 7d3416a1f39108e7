/* SPDX-License-Identifier: BSD-3-Clause */
/* outliers.c - chunks that took far longer per event than the others, and why.
 *
 * An outlier is above the median by three robust standard deviations (1.4826 x the median
 * absolute deviation) and by half of the median, so that noise among equal chunks does
 * not count. */
#include "analyze/formulas.h"
#include "analyze/slow_chunk.h"

enum { FEWEST_CHUNKS = 8, MOST_OUTLIERS = 50 };

struct outlier {
    size_t row;
    double ns_per_event;
    double excess_ns;
};

struct search {
    const struct roast_summary_context *ctx;
    double median; /* ns per event */
    double limit;  /* values above it are outliers */
    struct roast_typical_chunk typical;
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

static bool counts(const void *search, size_t row)
{
    const struct roast_summary_context *ctx = ((const struct search *)search)->ctx;

    return ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS;
}

/* The median time per event, or of its distance to a centre that is not NaN. */
static double median_of(struct search *search, double centre)
{
    const struct roast_attempts *attempts = &search->ctx->run->attempts;
    struct roast_quantiles quantiles = {0};

    for (size_t row = 0; row < attempts->count; row++) {
        double value = time_per_event(attempts, row);
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

static void find_limit(struct search *search)
{
    search->median = median_of(search, NAN);
    search->limit = INFINITY; /* nothing to compare with */
    if (!(search->median > 0))
        return;
    double sigma = 1.4826 * median_of(search, search->median);
    search->limit = fmax(search->median + 3 * sigma, 1.5 * search->median);
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

static void put_outlier(struct search *search, roast_table *table,
                        const struct outlier *outlier)
{
    const struct roast_summary_context *ctx = search->ctx;
    const struct roast_attempts *attempts = &ctx->run->attempts;
    size_t row = outlier->row;
    char name[ROAST_PROCESS_NAME_BYTES];

    roast__table_row(table);
    roast__fill_chunk(table, ROAST_COL_outliers_dataset, ctx, row);
    roast__fill_text(table, ROAST_COL_outliers_worker,
                     roast__process_name(
                         ctx->run, &attempts->processes[attempts->process[row]], name));
    roast__fill_number(table, ROAST_COL_outliers_duration,
                       number(attempts, ROAST_COLUMN_duration_ns, row) / 1e9);
    roast__fill_number(table, ROAST_COL_outliers_time_per_event_us,
                       outlier->ns_per_event / 1e3);
    roast__fill_number(table, ROAST_COL_outliers_times_median,
                       outlier->ns_per_event / search->median);
    roast__fill_string(table, ROAST_COL_outliers_cause,
                       roast__slow_chunk_cause(&search->typical, ctx, row,
                                               outlier->excess_ns / 1e9,
                                               &search->hosts));
}

void roast__summarize_outliers(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_outliers);
    struct search search = {.ctx = ctx};

    if (ctx->totals->sums.ns_per_event.count < FEWEST_CHUNKS)
        return;
    find_limit(&search);
    const struct roast_attempts *attempts = &search.ctx->run->attempts;
    for (size_t row = 0; row < attempts->count; row++) {
        double value = time_per_event(attempts, row);
        if (!counts(&search, row) || !(value > search.limit))
            continue;
        double excess =
            (value - search.median) * number(attempts, ROAST_COLUMN_num_events, row);
        keep_largest(&search, (struct outlier){row, value, excess});
    }
    search.typical.inside_process = true;
    if (search.count > 0)
        search.failed |=
            !roast__typical_chunk_find(&search.typical, ctx, counts, &search);
    for (size_t i = 0; i < search.count; i++)
        put_outlier(&search, table, &search.found[i]);
    ctx->summary->failed |= search.failed;
}
