/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.c - drives all formulas over one run.
 *
 * The run is locked from the first to the last of them, so that all see the same one.
 * What is made of other metrics comes last and takes over their reasons. */
#include "analyze/summary.h"

#include "analyze/budget/budget.h"
#include "analyze/calls.h"
#include "analyze/derived.h"
#include "analyze/formulas.h"
#include "analyze/totals/task_kinds.h"
#include "base/mem.h"

/* Those that read the columns alone are quick; the others unpack every record. */
static const struct {
    void (*apply)(const struct roast_study *study);
    bool quick;
} formulas[] = {
    {roast__study_workflow, true},
    {roast__study_best_rates, false},
    {roast__study_pool, true},
    {roast__study_worker_samples, false},
    {roast__study_chunks, true},
    {roast__study_fine, true},
    {roast__study_groups, true},
    {roast__study_process_groups, false},
    {roast__study_records, false},
    {roast__study_sections, false},
    {roast__study_branches, false},
    {roast__study_endpoints, false},
    {roast__study_files, false},
    {roast__study_ladder, false}, /* says why tables of the others are empty */
    {roast__study_failures, false},
    {roast__study_lost_workers, false},
    {roast__study_budget, false},
    {roast__study_wall, false},
    {roast__study_tail, false},
    {roast__study_ramp_up, false},
    {roast__study_checks, false},
    {roast__study_task_kinds, true},
    {roast__study_hot_lines, true},
    {roast__study_outliers, false},
    {roast__study_verdict, false},
    {roast__reasons_fill, true},
};

/* The budget takes much memory: it is found when the first formula needs it. False when
 * out of memory. */
static bool prepare(struct roast_study *study, size_t formula)
{
    if (formulas[formula].apply != roast__study_budget)
        return true;
    study->budget = roast__budget_find(study);
    study->summary->failed |= !study->budget;
    return study->budget != NULL;
}

static void apply_formulas(struct roast_study *study, bool quick)
{
    for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
        if (quick && !formulas[i].quick)
            continue;
        if (!prepare(study, i))
            return;
        formulas[i].apply(study);
    }
    roast_derive_rates(&study->summary->values);
    roast_derive_efficiency(&study->summary->values);
}

static int study_run(struct roast_summary *summary, struct roast_run *run,
                     struct roast_totals *totals, bool quick, roast_error *err)
{
    struct roast_study study = {.run = run, .totals = totals, .summary = summary};
    bool has_tasks = run->scheduler.tasks.count > 0;

    roast__run_resolve_pending(run);
    study.end_ns = roast__run_end(run);
    int status = roast__aggregate_chunks(totals, run, err);
    if (status < 0)
        return status;
    unsigned char *kinds = has_tasks ? roast__task_kinds(run) : NULL;
    study.task_kinds = kinds;
    summary->failed = has_tasks && !kinds;
    if (!summary->failed)
        apply_formulas(&study, quick);
    roast__budget_free(study.budget);
    roast__free(kinds);
    if (summary->failed)
        return roast_error_set(err, ROAST_NO_MEMORY, "summary of %zu attempts",
                               run->attempts.count);
    return ROAST_OK;
}

static int summarize(roast_summary **out, roast_run *run, bool quick, roast_error *err)
{
    struct roast_totals totals = {0};
    struct roast_summary *summary = roast__alloc(sizeof(*summary));
    int status = ROAST_OK;

    *out = NULL;
    if (!summary)
        return roast_error_set(err, ROAST_NO_MEMORY, "a summary of %zu bytes",
                               sizeof(*summary));
    roast__run_lock(run);
    status = study_run(summary, run, &totals, quick, err);
    roast__run_unlock(run);
    roast__totals_release(&totals);
    if (status == ROAST_OK) {
        *out = summary;
        summary = NULL; /* moved to the caller */
    }
    roast_summary_free(summary);
    return status;
}

int roast_summarize(roast_summary **out, roast_run *run, roast_error *err)
{
    return summarize(out, run, false, err);
}

int roast_summarize_quick(roast_summary **out, roast_run *run, roast_error *err)
{
    return summarize(out, run, true, err);
}
