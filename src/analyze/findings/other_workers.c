/* SPDX-License-Identifier: BSD-3-Clause */
/* other_workers.c - how long the run would take with half or twice as many workers.
 *
 * The schedule is replayed with that part of its threads, and merging on a cluster takes
 * as much longer or shorter. Chunks share storage, network and cores: with fewer workers
 * the real time is at most this, with more of them it is at least this. More workers are
 * replayed only where chunks waited neither for data nor for cores, and on a cluster: a
 * machine has no more cores. */
#include "analyze/findings/findings.h"
#include "analyze/findings/rule_limits.h"
#include "run/notes.h"

/* Of the measured time, by which a replay without a change may be off. */
static const double close_enough = 0.1;

static const char *why_not(const struct roast_rule_input *input, double workers)
{
    const struct roast_schedule_change none = {0};
    double average = roast__input_metric(input, ROAST_METRIC_time_avg_workers);

    if (roast__run_state(input->ctx->run) != ROAST_IS_finished)
        return "the run did not finish";
    if (isnan(workers) || isnan(average))
        return "the number of workers is not known";
    if (average < ROAST_NEAR_PEAK * workers)
        return "the number of workers changed during the run";
    if (isnan(roast__saves(input, &none))) /* makes the model */
        return "out of memory";
    double measured_s = roast__schedule_model_wall(*input->schedule);
    double replayed_s = roast__schedule_model_replayed(*input->schedule);
    if (!(measured_s > 0))
        return "no chunk was measured";
    return fabs(replayed_s / measured_s - 1) > close_enough
               ? "the replay of its schedule takes another time than the run"
               : NULL;
}

/* Whether more workers may be as fast as these. */
static bool can_grow(const struct roast_rule_input *input)
{
    const roast_table *ladder = input->ctx->summary->tables[ROAST_TABLE_ladder];
    double opening_s = roast__input_metric(input, ROAST_METRIC_storage_wait_seconds);
    double waits_s = input->slices[ROAST_SLICE_fetch], all;
    bool are_known =
        !isnan(roast_table_number(ladder, 0, ROAST_COL_ladder_fetch)) &&
        !isnan(roast__split_part(input, ROAST_COL_chunk_split_runqueue, &all));

    waits_s += opening_s > 0 ? opening_s : 0;
    return input->on_cluster && are_known && !roast__is_overloaded(input) &&
           roast__percent_of_chunk_time(input, waits_s) < LIMIT_WAIT_PERCENT;
}

static void put_row(const struct roast_rule_input *input, roast_table *table,
                    double workers, double times)
{
    const struct roast_schedule_change change = {.threads = times};
    const roast_table *account = input->ctx->summary->tables[ROAST_TABLE_wall_account];
    double merge_s = roast_table_number(account, 0, ROAST_COL_wall_account_merge);
    double wall_s = input->wall_s - roast__saves(input, &change);

    if (input->on_cluster && merge_s > 0)
        wall_s += merge_s * (1 / times - 1);
    double longer = wall_s / input->wall_s;
    roast__table_row(table);
    roast__fill_sum(table, ROAST_COL_other_workers_workers, workers);
    roast__fill_number(table, ROAST_COL_other_workers_wall_seconds, wall_s);
    roast__fill_number(table, ROAST_COL_other_workers_thread_seconds,
                       input->offered_s * times * longer);
    roast__fill_number(table, ROAST_COL_other_workers_longer_percent,
                       100 * (longer - 1));
    roast__fill_number(table, ROAST_COL_other_workers_more_percent,
                       100 * (times * longer - 1));
}

void roast__write_other_workers(const struct roast_rule_input *input)
{
    struct roast_summary *summary = input->ctx->summary;
    roast_table *table = roast__summary_open(summary, ROAST_TABLE_other_workers);
    double workers = roast__input_metric(input, ROAST_METRIC_peak_workers);

    if (input->ctx->run->attempts.count == 0 || (workers < 2 && !input->on_cluster))
        return;
    const char *why = why_not(input, workers);
    if (why) {
        roast__summary_unavailable(summary, "other_workers", why);
        return;
    }
    if (workers >= 2)
        put_row(input, table, floor(workers / 2), floor(workers / 2) / workers);
    if (can_grow(input))
        put_row(input, table, 2 * workers, 2);
}
