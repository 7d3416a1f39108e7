/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_cluster.c - rules about what workers do beside chunks: come late, merge, wait
 * for the client, import, work for others. */
#include "analyze/findings/rule_limits.h"
#include "analyze/findings/text.h"

static double phase_seconds(const struct roast_rule_input *at, enum roast_phase phase)
{
    const struct roast_budget *budget = at->ctx->budget;
    const struct roast_phases *phases = &budget->phases;
    double seconds = 0;

    for (size_t i = 0; i < phases->count; i++) {
        int64_t to_ns =
            i + 1 < phases->count ? phases->intervals[i + 1].from_ns : budget->end_ns;
        if (phases->intervals[i].phase == phase)
            seconds += roast__seconds_between(phases->intervals[i].from_ns, to_ns);
    }
    return seconds;
}

/* ---- late workers ---------------------------------------------------------------- */

void roast__rule_waiting_for_workers(const struct roast_rule_input *at,
                                     struct roast_finding *finding)
{
    const roast_table *ramp_up = at->ctx->summary->tables[ROAST_TABLE_ramp_up];
    double missing_s =
        roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_thread_seconds_missing);
    double threads = roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_threads);

    finding->found = at->on_cluster && roast__is_worth(at, missing_s);
    if (!finding->found)
        return;
    finding->cost_s = missing_s;
    finding->saves_s = missing_s / threads;
    roast__blank_number(finding, "missing", missing_s, "s");
    roast__blank_number(
        finding, "seconds",
        roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_seconds_to_90_percent), "s");
    roast__blank_number(finding, "first",
                        roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_first_threads),
                        "");
    roast__blank_number(finding, "threads", threads, "");
    roast__blank_size(finding, "workers",
                      roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_workers));
}

/* Whether the client can have worked for so long: where it has used far less of its CPU,
 * it waited for the processes of a pool to end. */
static bool client_worked(const struct roast_rule_input *at, double seconds)
{
    double cpu_s = roast__context_fact(at->ctx, ROAST_FACT_own_cpu_seconds);

    return at->on_cluster || isnan(cpu_s) ||
           cpu_s * 100 >= LIMIT_CLIENT_CPU_PERCENT * seconds;
}

/* ---- merging --------------------------------------------------------------------- */

void roast__rule_merging(const struct roast_rule_input *at,
                         struct roast_finding *finding)
{
    roast__add_cost(at, finding, ROAST_SLICE_reduce);
    roast__add_cost(at, finding, ROAST_SLICE_idle_reduce);
    /* workers merge side by side, the client alone */
    bool by_workers = at->slices[ROAST_SLICE_reduce] > 0;
    finding->found =
        roast__is_worth(at, finding->cost_s) &&
        (by_workers || client_worked(at, phase_seconds(at, ROAST_PHASE_REDUCE)));
    if (!finding->found)
        return;
    roast__blank_number(finding, "reduce",
                        by_workers ? at->slices[ROAST_SLICE_reduce]
                                   : phase_seconds(at, ROAST_PHASE_REDUCE),
                        "s");
    roast__blank_text(finding, "whose",
                      roast_str_of(by_workers ? "worker time" : "wall time"));
    roast__blank_number(finding, "idle", at->slices[ROAST_SLICE_idle_reduce], "s");
}

/* ---- the client ------------------------------------------------------------------ */

/* "notebook" where the client runs in a kernel; otherwise the titles take "script". */
static void blank_client(const struct roast_rule_input *at,
                         struct roast_finding *finding)
{
    roast__blank_text(finding, "client",
                      roast__notes_get(&at->ctx->run->notes, ROAST_NOTES_provenance,
                                       roast_str_of("client")));
}

void roast__rule_client_imports(const struct roast_rule_input *at,
                                struct roast_finding *finding)
{
    if (at->ctx->budget->schedule.job_count == 0)
        return; /* before the first of none */
    roast__add_cost(at, finding, ROAST_SLICE_idle_client_before);
    finding->found = roast__is_worth(at, finding->cost_s);
    if (!finding->found)
        return;
    roast__blank_number(finding, "seconds", phase_seconds(at, ROAST_PHASE_BEFORE), "s");
    roast__blank_number(finding, "threads", at->threads, "");
    blank_client(at, finding);
}

/* A block may do more than its run, so the limit is higher. */
static bool is_much(const struct roast_rule_input *at, double seconds)
{
    return roast__is_worth(at, seconds) &&
           seconds * 100 >= LIMIT_CLIENT_PERCENT * at->offered_s;
}

void roast__rule_client_busy(const struct roast_rule_input *at,
                             struct roast_finding *finding)
{
    roast__add_cost(at, finding, ROAST_SLICE_idle_client_between);
    roast__add_cost(at, finding, ROAST_SLICE_idle_client_after);
    finding->found = is_much(at, finding->cost_s);
    roast__blank_number(finding, "seconds",
                        phase_seconds(at, ROAST_PHASE_BETWEEN) +
                            phase_seconds(at, ROAST_PHASE_AFTER),
                        "s");
    blank_client(at, finding);
}

void roast__rule_preprocessing(const struct roast_rule_input *at,
                               struct roast_finding *finding)
{
    roast__add_cost(at, finding, ROAST_SLICE_preprocess);
    roast__add_cost(at, finding, ROAST_SLICE_idle_preprocess);
    finding->found = is_much(at, finding->cost_s);
    roast__blank_number(finding, "seconds", phase_seconds(at, ROAST_PHASE_PREPROCESS),
                        "s");
    roast__blank_number(finding, "idle", at->slices[ROAST_SLICE_idle_preprocess], "s");
}

/* ---- workers --------------------------------------------------------------------- */

void roast__rule_worker_imports(const struct roast_rule_input *at,
                                struct roast_finding *finding)
{
    roast__add_cost(at, finding, ROAST_SLICE_import);
    roast__add_cost(at, finding, ROAST_SLICE_dispatch_first);
    finding->found = is_much(at, finding->cost_s);
    roast__blank_number(finding, "seconds", finding->cost_s, "s");
    roast__blank_count(finding, "workers",
                       roast__input_metric(at, ROAST_METRIC_peak_workers), "worker");
    if (!at->on_cluster)
        finding->advice =
            "FuturesExecutor(pool=concurrent.futures.ProcessPoolExecutor) "
            "starts processes that have the imports of this one; or keep "
            "them for more chunks";
}

void roast__rule_foreign_tasks(const struct roast_rule_input *at,
                               struct roast_finding *finding)
{
    roast__add_cost(at, finding, ROAST_SLICE_foreign);
    finding->found = roast__is_worth(at, finding->cost_s);
    roast__blank_number(finding, "seconds", finding->cost_s, "s");
    roast__blank_number(finding, "percent", finding->cost_s / at->offered_s * 100, "%");
}

void roast__rule_own_cost(const struct roast_rule_input *at,
                          struct roast_finding *finding)
{
    roast__add_cost(at, finding, ROAST_SLICE_monitor);
    finding->found = finding->cost_s >= LIMIT_COST_S &&
                     finding->cost_s * 100 >= LIMIT_OWN_PERCENT * at->offered_s;
    roast__blank_number(finding, "seconds", finding->cost_s, "s");
    roast__blank_number(finding, "percent", finding->cost_s / at->offered_s * 100, "%");
    if (at->model.is_memory_short) /* larger chunks would need more of it */
        finding->advice = "fewer sections inside loops; or more memory per worker, and "
                          "then larger chunks";
}
