/* SPDX-License-Identifier: BSD-3-Clause */
/* ramp_up.c - how long the run waited for its workers.
 *
 * From its start until nine of ten threads were there that it ever had; what the others
 * would have done meanwhile is missing. Executors of this machine are there at once. */
#include "aggregate/formulas.h"
#include "aggregate/steps.h"
#include "aggregate/timeline.h"

enum ramp { FIRST_WORKER, SECONDS_TO_90_PERCENT, THREAD_SECONDS_MISSING, RAMP_PARTS };

static const char *const columns[RAMP_PARTS] = {
    [FIRST_WORKER] = "first_worker",
    [SECONDS_TO_90_PERCENT] = "seconds_to_90_percent",
    [THREAD_SECONDS_MISSING] = "thread_seconds_missing",
};

/* When an offer begins to hold; the first one did before the run. */
static int64_t from_of(const struct roast_study *study, size_t offer)
{
    const struct roast_run *run = study->run;

    if (offer >= run->offer_count)
        return study->end_ns;
    return offer == 0 ? run->start_ns
                      : roast__time_clamp(run->offers[offer].time_ns, run->start_ns,
                                          study->end_ns);
}

/* The most threads that were there for any time at all. */
static double peak_threads(const struct roast_study *study)
{
    double peak = 0;

    for (size_t i = 0; i < study->run->offer_count; i++) {
        if (from_of(study, i + 1) > from_of(study, i))
            peak = fmax(peak, (double)study->run->offers[i].threads);
    }
    return peak;
}

static void put(const struct roast_study *study, size_t table, double peak)
{
    const struct roast_run *run = study->run;
    struct roast_cell *row = roast__table_row(study->summary, table);
    double missing = 0;
    bool any = false;

    for (size_t i = 0; i < run->offer_count; i++) {
        int64_t from_ns = from_of(study, i), to_ns = from_of(study, i + 1);
        double since_start_s = roast__seconds_between(run->start_ns, from_ns);
        double threads = (double)run->offers[i].threads;
        if (to_ns <= from_ns)
            continue; /* another one of the same moment holds */
        if (threads > 0 && !any)
            row[FIRST_WORKER] = roast__cell_number(since_start_s);
        any |= threads > 0;
        if (threads >= ROAST_NEAR_PEAK * peak) {
            row[SECONDS_TO_90_PERCENT] = roast__cell_number(since_start_s);
            break;
        }
        missing += (peak - threads) * roast__seconds_between(from_ns, to_ns);
    }
    row[THREAD_SECONDS_MISSING] = roast__cell_number(missing);
}

void roast__study_ramp_up(const struct roast_study *study)
{
    size_t table = roast__table_open(study->summary, "ramp_up", ROAST_TABLE_SINGLE,
                                     columns, RAMP_PARTS);
    double peak = peak_threads(study);

    if (peak > 0)
        put(study, table, peak);
    else
        roast__summary_miss(study->summary, "ramp_up",
                            "nobody told when how many threads were there");
}
