/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict_cluster.c - rules about what workers do beside chunks: come late, merge, wait
 * for the client, import, work for others. */
#include "aggregate/calls.h"
#include "aggregate/verdict_limits.h"
#include "aggregate/verdict_text.h"

static double phase_seconds(const struct roast_case *at, enum roast_phase phase)
{
    const struct roast_budget *budget = at->study->budget;
    const struct roast_phases *phases = &budget->phases;
    double seconds = 0;

    for (size_t i = 0; i < phases->count; i++) {
        int64_t to_ns =
            i + 1 < phases->count ? phases->steps[i + 1].from_ns : budget->end_ns;
        if (phases->steps[i].phase == phase)
            seconds += roast__seconds_between(phases->steps[i].from_ns, to_ns);
    }
    return seconds;
}

/* ---- late workers ---------------------------------------------------------------- */

/* Threads that were missing between a first moment and the first one with almost all. */
struct missing {
    double peak_threads;
    double peak_workers;
    double first_threads;
    double thread_s;
    double seconds; /* until almost all were there */
};

/* When workers were wanted first. */
static int64_t wanted_from(const struct roast_case *at)
{
    const struct roast_study *study = at->study;
    struct roast_calls calls = {0};
    int64_t from_ns = study->run->start_ns;

    if (!roast__calls_find(&calls, study->run))
        study->summary->failed = true;
    else if (calls.count > 0)
        from_ns = calls.calls[0].begin_ns;
    roast__calls_release(&calls);
    return from_ns;
}

static struct missing find_missing(const struct roast_case *at)
{
    const struct roast_run *run = at->study->run;
    int64_t from_ns = wanted_from(at);
    struct missing missing = {0};
    double threads = 0;
    bool begun = false;

    for (size_t i = 0; i < run->offer_count; i++) {
        missing.peak_threads =
            fmax(missing.peak_threads, (double)run->offers[i].threads);
        missing.peak_workers =
            fmax(missing.peak_workers, (double)run->offers[i].workers);
    }
    for (size_t i = 0; i <= run->offer_count; i++) {
        int64_t to_ns =
            i < run->offer_count ? run->offers[i].time_ns : at->study->end_ns;
        double seconds = roast__seconds_between(from_ns, to_ns);
        if (seconds > 0 && !begun)
            missing.first_threads = threads;
        if (seconds > 0 && threads >= 0.9 * missing.peak_threads)
            break;
        begun |= seconds > 0;
        missing.thread_s += (missing.peak_threads - threads) * seconds;
        missing.seconds += seconds;
        from_ns = to_ns > from_ns ? to_ns : from_ns;
        threads = i < run->offer_count ? (double)run->offers[i].threads : threads;
    }
    return missing;
}

void roast__rule_waiting_for_workers(const struct roast_case *at,
                                     struct roast_finding *finding)
{
    if (!at->on_cluster)
        return;
    struct missing missing = find_missing(at);
    finding->cost_s = missing.thread_s;
    finding->saves_s = missing.thread_s / missing.peak_threads;
    finding->found = roast__is_worth(at, missing.thread_s);
    if (!finding->found)
        return;
    roast__say(finding, "missing", missing.thread_s, "s");
    roast__say(finding, "seconds", missing.seconds, "s");
    roast__say(finding, "first", missing.first_threads, "");
    roast__say(finding, "threads", missing.peak_threads, "");
    roast__say_size(finding, "workers", missing.peak_workers);
}

/* ---- merging --------------------------------------------------------------------- */

void roast__rule_merging(const struct roast_case *at, struct roast_finding *finding)
{
    roast__claim(at, finding, ROAST_SLICE_reduce);
    roast__claim(at, finding, ROAST_SLICE_idle_reduce);
    finding->found = roast__is_worth(at, finding->cost_s);
    if (!finding->found)
        return;
    double reduce_s = at->slices[ROAST_SLICE_reduce];
    roast__say(finding, "reduce",
               reduce_s > 0 ? reduce_s : phase_seconds(at, ROAST_PHASE_REDUCE), "s");
    roast__say(finding, "idle", at->slices[ROAST_SLICE_idle_reduce], "s");
}

/* ---- the client ------------------------------------------------------------------ */

void roast__rule_notebook_imports(const struct roast_case *at,
                                  struct roast_finding *finding)
{
    if (at->study->budget->schedule.job_count == 0)
        return; /* before the first of none */
    roast__claim(at, finding, ROAST_SLICE_idle_client_before);
    finding->found = roast__is_worth(at, finding->cost_s);
    if (!finding->found)
        return;
    roast__say(finding, "seconds", phase_seconds(at, ROAST_PHASE_BEFORE), "s");
    roast__say(finding, "threads", at->threads, "");
}

/* A block may do more than its run: only much of it is worth a word. */
static bool is_much(const struct roast_case *at, double seconds)
{
    return roast__is_worth(at, seconds) &&
           seconds * 100 >= LIMIT_CLIENT_PERCENT * at->offered_s;
}

void roast__rule_notebook_busy(const struct roast_case *at,
                               struct roast_finding *finding)
{
    roast__claim(at, finding, ROAST_SLICE_idle_client_between);
    roast__claim(at, finding, ROAST_SLICE_idle_client_after);
    finding->found = is_much(at, finding->cost_s);
    roast__say(finding, "seconds",
               phase_seconds(at, ROAST_PHASE_BETWEEN) +
                   phase_seconds(at, ROAST_PHASE_AFTER),
               "s");
}

void roast__rule_preprocessing(const struct roast_case *at,
                               struct roast_finding *finding)
{
    roast__claim(at, finding, ROAST_SLICE_preprocess);
    roast__claim(at, finding, ROAST_SLICE_idle_preprocess);
    finding->found = is_much(at, finding->cost_s);
    roast__say(finding, "seconds", phase_seconds(at, ROAST_PHASE_PREPROCESS), "s");
    roast__say(finding, "idle", at->slices[ROAST_SLICE_idle_preprocess], "s");
}

/* ---- workers --------------------------------------------------------------------- */

void roast__rule_worker_imports(const struct roast_case *at,
                                struct roast_finding *finding)
{
    roast__claim(at, finding, ROAST_SLICE_import);
    roast__claim(at, finding, ROAST_SLICE_dispatch_first);
    finding->found = is_much(at, finding->cost_s);
    roast__say(finding, "seconds", finding->cost_s, "s");
    roast__say_count(finding, "workers",
                     roast__case_metric(at, ROAST_METRIC_peak_workers), "worker");
    if (!at->on_cluster)
        finding->advice = "import what process() needs before the Runner starts its "
                          "processes, or keep them for more chunks";
}

void roast__rule_foreign_tasks(const struct roast_case *at,
                               struct roast_finding *finding)
{
    roast__claim(at, finding, ROAST_SLICE_foreign);
    finding->found = roast__is_worth(at, finding->cost_s);
    roast__say(finding, "seconds", finding->cost_s, "s");
    roast__say(finding, "percent", finding->cost_s / at->offered_s * 100, "%");
}

void roast__rule_own_cost(const struct roast_case *at, struct roast_finding *finding)
{
    roast__claim(at, finding, ROAST_SLICE_monitor);
    finding->found = finding->cost_s >= LIMIT_COST_S &&
                     finding->cost_s * 100 >= LIMIT_OWN_PERCENT * at->offered_s;
    roast__say(finding, "seconds", finding->cost_s, "s");
    roast__say(finding, "percent", finding->cost_s / at->offered_s * 100, "%");
}
