/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.c - drives all formulas over one run.
 *
 * The run is locked from the first to the last of them, so that all see the same one.
 * What is made of other metrics comes last and takes over their reasons. */
#include "aggregate/summary.h"

#include "aggregate/calls.h"
#include "aggregate/derived.h"
#include "aggregate/formulas.h"
#include "base/mem.h"

typedef void formula(const struct roast_study *study);

static formula *const formulas[] = {
    roast__study_workflow, roast__study_best_rates,     roast__study_wall,
    roast__study_pool,     roast__study_worker_samples, roast__study_chunks,
    roast__study_fine,     roast__study_groups,         roast__study_process_groups,
    roast__study_records,  roast__study_sections,       roast__study_failures,
    roast__study_outliers, roast__reasons_fill,
};

static int study_run(struct roast_summary *summary, struct roast_run *run,
                     struct roast_totals *totals, roast_error *err)
{
    struct roast_study study = {.run = run, .totals = totals, .summary = summary};

    roast__sources_resolve(&run->attempts, &run->names);
    study.end_ns = roast__run_end(run);
    int status = roast__aggregate_chunks(totals, run, err);
    if (status < 0)
        return status;
    for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++)
        formulas[i](&study);
    roast__derive_rates(&summary->values);
    roast_derive_efficiency(&summary->values);
    if (summary->failed)
        return roast_error_set(err, ROAST_NO_MEMORY, "summary of %zu attempts",
                               run->attempts.count);
    return ROAST_OK;
}

int roast_summarize(roast_summary **out, roast_run *run, roast_error *err)
{
    struct roast_totals totals = {0};
    struct roast_summary *summary = roast__alloc(sizeof(*summary));
    int status = ROAST_OK;

    *out = NULL;
    if (!summary)
        return roast_error_set(err, ROAST_NO_MEMORY, "a summary of %zu bytes",
                               sizeof(*summary));
    roast__run_lock(run);
    status = study_run(summary, run, &totals, err);
    roast__run_unlock(run);
    roast__totals_release(&totals);
    if (status == ROAST_OK) {
        *out = summary;
        summary = NULL; /* moved to the caller */
    }
    roast_summary_free(summary);
    return status;
}
