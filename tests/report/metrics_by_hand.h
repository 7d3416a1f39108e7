/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics_by_hand.h - metrics filled by hand.
 *
 * Pages are pure functions of values and tables, so no run is needed to test them. */
#ifndef ROAST_TESTS_REPORT_METRICS_BY_HAND_H
#define ROAST_TESTS_REPORT_METRICS_BY_HAND_H

#include "support.h"

#include "report/page.h"

#define SET(values, id, number) set_metric((values), ROAST_METRIC_##id, (number))

static inline void set_metric(struct roast_metric_values *values,
                              enum roast_metric metric, double value)
{
    values->known[metric] = true;
    values->value[metric] = value;
    values->why[metric] = NULL;
}

static inline void set_nothing(struct roast_metric_values *values)
{
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        values->known[i] = false;
        values->value[i] = 0;
        values->why[i] = "process() is not decorated with @track_metrics";
    }
    values->why[ROAST_METRIC_total_events] = "no report of coffea and no records";
    values->why[ROAST_METRIC_time_avg_workers] = "no executor was seen";
    values->why[ROAST_METRIC_peak_memory_bytes] = "no worker was sampled";
    values->why[ROAST_METRIC_total_bytes_read] =
        "neither savemetrics=True nor @track_metrics: coffea did not say how many "
        "bytes "
        "it read";
    values->why[ROAST_METRIC_data_rate_gbps] = "savemetrics is off";
}

enum typical_group { WORKFLOW = 1, WORKERS = 2, CHUNKS = 4, OWN_CLOCKS = 8 };

/* The values of a successful run; groups can be combined. */
static inline void set_typical(struct roast_metric_values *values, unsigned groups)
{
#define V(group, id, number) \
    if (groups & (group)) \
        SET(values, id, number);
#include "typical_run.def"
#undef V
}

#endif
