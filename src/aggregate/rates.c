/* SPDX-License-Identifier: BSD-3-Clause */
/* rates.c - the best rates of events and bytes over 10, 60 and 300 seconds.
 *
 * The run must be as long as the window: a short run that did much at once would
 * otherwise show a rate that nobody saw. */
#include "aggregate/formulas.h"
#include "aggregate/timeline.h"
#include "aggregate/window.h"
#include "base/mem.h"

enum { WINDOWS = 3 };

static const int64_t window_s[WINDOWS] = {10, 60, 300};
static const enum roast_metric event_rates[WINDOWS] = {
    ROAST_METRIC_event_rate_khz_best_10s,
    ROAST_METRIC_event_rate_khz_best_60s,
    ROAST_METRIC_event_rate_khz_best_300s,
};
static const enum roast_metric data_rates[WINDOWS] = {
    ROAST_METRIC_data_rate_gbps_best_10s,
    ROAST_METRIC_data_rate_gbps_best_60s,
    ROAST_METRIC_data_rate_gbps_best_300s,
};

/* What an attempt did; negative: not known. */
typedef double amount_of(const struct roast_attempts *attempts, size_t row);

static double events_of(const struct roast_attempts *attempts, size_t row)
{
    return (double)roast__column_get(&attempts->columns[ROAST_COLUMN_num_events], row,
                                     -1);
}

static double bytes_of(const struct roast_attempts *attempts, size_t row)
{
    const struct roast_column *columns = attempts->columns;

    if (!roast__column_has(&columns[ROAST_COLUMN_bytes_before], row))
        return -1;
    return (double)roast__column_get(&columns[ROAST_COLUMN_bytes_read], row, -1) +
           (double)columns[ROAST_COLUMN_bytes_before].values[row];
}

static size_t put_knots(struct roast_knot *knots, const struct roast_study *study,
                        amount_of *amount)
{
    const struct roast_attempts *attempts = &study->run->attempts;
    const struct roast_column *starts = &attempts->columns[ROAST_COLUMN_start_ns];
    const struct roast_column *lengths = &attempts->columns[ROAST_COLUMN_duration_ns];
    size_t count = 0;

    for (size_t row = 0; row < attempts->count; row++) {
        double did = amount(attempts, row);
        if (study->totals->roles.of_row[row] != ROAST_ROLE_COUNTS || !(did > 0) ||
            !roast__column_has(starts, row) || !roast__column_has(lengths, row))
            continue;
        roast__knots_put(knots + count, starts->values[row], lengths->values[row], did);
        count += 2;
    }
    return count;
}

static void set_rates(const struct roast_study *study, amount_of *amount, double scale,
                      const enum roast_metric *metrics)
{
    size_t chunks = study->totals->all.chunks;
    double run_s = roast__seconds_between(study->run->start_ns, study->end_ns);

    if (chunks == 0 || run_s < (double)window_s[0])
        return;
    struct roast_knot *knots = roast__realloc(NULL, 2 * chunks * sizeof(knots[0]));
    if (!knots) {
        study->summary->failed = true;
        return;
    }
    size_t count = put_knots(knots, study, amount);
    roast__knots_sum(knots, count);
    for (size_t i = 0; count > 0 && i < WINDOWS; i++) {
        double seconds = (double)window_s[i];
        if (run_s >= seconds)
            roast__study_set(
                study, metrics[i],
                roast__best_window(knots, count, window_s[i] * 1000000000) / seconds *
                    scale);
    }
    roast__free(knots);
}

/* A rate is that of the run only if every chunk knows its part. */
void roast__study_best_rates(const struct roast_study *study)
{
    const struct roast_group *all = &study->totals->all;

    if (all->without[ROAST_EVENTS] == 0)
        set_rates(study, events_of, 1e-3, event_rates);
    if (all->without[ROAST_BYTES] == 0)
        set_rates(study, bytes_of, 8e-9, data_rates);
}
