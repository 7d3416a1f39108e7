/* SPDX-License-Identifier: BSD-3-Clause */
/* efficiency.c - metrics that are ratios of other metrics.
 *
 * Multiplications come before divisions, so that integers stay exact as long as possible.
 * A ratio of an unknown metric takes over its reason. */
#include <math.h>
#include <stddef.h>

#include "analyze/summary.h"

enum { NONE = -1 };

/* value = times x above / (below x below2) / per; NONE stands for 1. */
struct ratio {
    double times;
    double per;
    enum roast_metric metric;
    enum roast_metric above;
    int below;
    int below2;
};

#define RATIO(metric, times, per, above, below, below2) \
    { \
        (times), (per), ROAST_METRIC_##metric, ROAST_METRIC_##above, (below), (below2) \
    }
#define BY(metric) ((int)ROAST_METRIC_##metric)

static const struct ratio rates[] = {
    RATIO(data_rate_gbps, 8, 1e9, total_bytes_read, BY(wall_time), NONE),
    RATIO(data_rate_mbps, 1, 1e6, total_bytes_read, BY(wall_time), NONE),
    RATIO(event_rate_wall_khz, 1, 1e3, total_events, BY(wall_time), NONE),
    RATIO(event_rate_agg_khz, 1, 1e3, total_events, BY(total_cpu_time), NONE),
    RATIO(event_rate_core_hz, 1, 1, total_events, BY(wall_time), BY(total_cores)),
    RATIO(avg_cpu_time_per_chunk, 1, 1, total_cpu_time, BY(num_chunks), NONE),
};

static const struct ratio efficiencies[] = {
    RATIO(cpu_efficiency, 1, 1, total_cpu_time, BY(wall_time), BY(total_cores)),
    RATIO(cpu_efficiency_fine, 1, 1, cpu_time_seconds, BY(wall_time), BY(total_cores)),
    RATIO(speedup, 1, 1, total_cpu_time, BY(wall_time), NONE),
    RATIO(io_overhead_pct, 100, 1, io_time_seconds, BY(wall_time), NONE),
    RATIO(io_wait_share, 1, 1, io_time_seconds, BY(offered_thread_seconds), NONE),
    RATIO(efficiency_ratio_percent, 100, 1, total_cpu_time, BY(wall_time), NONE),
    RATIO(command_cores_busy, 1, 1, command_cpu_seconds, BY(wall_time), NONE),
    RATIO(parallel_efficiency, 1, 1, total_cpu_time, BY(wall_time), BY(total_cores)),
};

/* Whether a factor can be used; if not, *why is the reason. */
static bool usable(const struct roast_metric_values *values, int metric, bool divides,
                   const char **why)
{
    if (metric == NONE)
        return true;
    if (!values->known[metric]) {
        *why = values->why[metric] ? values->why[metric]
                                   : "a value of its formula is not known";
        return false;
    }
    if (divides && !(values->value[metric] > 0)) {
        *why = "its divisor is zero";
        return false;
    }
    return true;
}

/* A derived metric is at most as exact as its sources. */
static void mark_kind(struct roast_metric_values *values, enum roast_metric metric,
                      int source)
{
    if (source != NONE)
        roast__metric_mark(values, metric,
                           roast_metric_kind(values, (enum roast_metric)source));
}

/* A measured value is kept. */
static void derive(struct roast_metric_values *values, const struct ratio *ratio)
{
    const char *why = "a value of its formula is not known";
    double below = 1;

    if (values->known[ratio->metric])
        return;
    if (usable(values, (int)ratio->above, false, &why) &&
        usable(values, ratio->below, true, &why) &&
        usable(values, ratio->below2, true, &why)) {
        below *= ratio->below == NONE ? 1 : values->value[ratio->below];
        below *= ratio->below2 == NONE ? 1 : values->value[ratio->below2];
        roast__metric_set(values, ratio->metric,
                          ratio->times * values->value[ratio->above] / below /
                              ratio->per);
        mark_kind(values, ratio->metric, (int)ratio->above);
        mark_kind(values, ratio->metric, ratio->below);
        mark_kind(values, ratio->metric, ratio->below2);
    }
    if (!values->known[ratio->metric])
        values->why[ratio->metric] = why;
}

void roast_derive_rates(struct roast_metric_values *values)
{
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        derive(values, &rates[i]);
}

void roast_derive_efficiency(struct roast_metric_values *values)
{
    for (size_t i = 0; i < sizeof(efficiencies) / sizeof(efficiencies[0]); i++)
        derive(values, &efficiencies[i]);
}
