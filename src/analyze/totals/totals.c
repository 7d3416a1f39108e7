/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.c - the attempts of a run, summed over all, per file and per process. */
#include "analyze/totals/totals.h"

#include "base/mem.h"

static struct roast_group *new_groups(size_t count)
{
    struct roast_group *groups = roast__alloc(count * sizeof(groups[0]));

    for (size_t i = 0; groups && i < count; i++)
        roast__group_init(&groups[i]);
    return groups;
}

struct roast_group *roast__totals_by_process(const struct roast_totals *totals,
                                             const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;
    struct roast_group *groups = new_groups(attempts->process_count + 1);

    if (groups)
        roast__rows_add(groups, attempts->process, NULL, attempts, &totals->roles);
    return groups;
}

int roast__compute_totals(struct roast_totals *totals, const struct roast_run *run,
                          roast_error *err)
{
    const struct roast_attempts *attempts = &run->attempts;
    struct roast_row_sums *sums = &totals->sums;
    int status = roast__roles_find(&totals->roles, run, err);

    if (status < 0)
        return status;
    sums->memory_peak_bytes = -1;
    roast__group_init(&totals->all);
    totals->of_source = new_groups(attempts->source_count + 1);
    if (totals->of_source)
        roast__rows_add(totals->of_source, attempts->source, sums, attempts,
                        &totals->roles);
    if (!totals->of_source || sums->durations_ns.failed || sums->ns_per_event.failed)
        return roast_error_set(err, ROAST_NO_MEMORY, "sums of %zu attempts",
                               attempts->count);
    for (size_t i = 0; i <= attempts->source_count; i++)
        roast__group_add(&totals->all, &totals->of_source[i]);
    return ROAST_OK;
}

void roast__totals_release(struct roast_totals *totals)
{
    roast__roles_release(&totals->roles);
    roast__free(totals->of_source);
    roast__free(totals->sampled_peaks);
    roast__quantiles_release(&totals->sums.durations_ns);
    roast__quantiles_release(&totals->sums.ns_per_event);
    *totals = (struct roast_totals){0};
}
