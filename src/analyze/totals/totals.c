/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.c - the chunk records of a run, summed up: over all, per file, per process.
 *
 * Block by block, in the order of rows: sums are exact while they are below 2^53 (104
 * days of threads in ns). Beyond, the last digits depend on the order of adding. */
#include "analyze/totals/totals.h"

#include "base/mem.h"

enum { BLOCK_ROWS = 4096 };

static struct roast_group *new_groups(size_t count)
{
    struct roast_group *groups = roast__alloc(count * sizeof(groups[0]));

    for (size_t i = 0; groups && i < count; i++)
        roast__group_init(&groups[i]);
    return groups;
}

static struct roast_row_block rows_at(const struct roast_roles *roles,
                                      const struct roast_attempts *attempts,
                                      size_t from)
{
    size_t left = attempts->count - from;

    return (struct roast_row_block){
        attempts, from, left < BLOCK_ROWS ? left : BLOCK_ROWS, roles->of_row + from};
}

struct roast_group *roast__aggregate_processes(const struct roast_totals *totals,
                                               const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;
    struct roast_group *groups = new_groups(attempts->process_count + 1);

    for (size_t from = 0; groups && from < attempts->count; from += BLOCK_ROWS) {
        const struct roast_row_block rows = rows_at(&totals->roles, attempts, from);
        const struct roast_adding to = {.groups = groups,
                                        .of = attempts->process + from};
        roast__rows_add(&rows, &to);
    }
    if (groups)
        roast__groups_finish(groups, attempts->process_count + 1, attempts);
    return groups;
}

int roast__aggregate_chunks(struct roast_totals *totals, const struct roast_run *run,
                            roast_error *err)
{
    int status = roast__roles_find(&totals->roles, run, err);

    if (status < 0)
        return status;
    roast__group_init(&totals->all);
    totals->of_source = new_groups(run->attempts.source_count + 1);
    if (totals->of_source) {
        size_t sources = run->attempts.source_count + 1;
        roast__row_sums_init(&totals->sums);
        for (size_t from = 0; from < run->attempts.count; from += BLOCK_ROWS) {
            const struct roast_row_block rows =
                rows_at(&totals->roles, &run->attempts, from);
            struct roast_row_sums sums;
            const struct roast_adding to = {.groups = totals->of_source,
                                            .of = run->attempts.source + from,
                                            .sums = &sums,
                                            .durations_ns = &totals->durations_ns,
                                            .ns_per_event = &totals->ns_per_event};
            roast__row_sums_init(&sums);
            roast__rows_add(&rows, &to);
            roast__row_sums_merge(&totals->sums, &sums);
        }
        roast__groups_finish(totals->of_source, sources, &run->attempts);
        for (size_t i = 0; i < sources; i++)
            roast__group_add(&totals->all, &totals->of_source[i]);
    }
    if (!totals->of_source || totals->durations_ns.failed ||
        totals->ns_per_event.failed)
        return roast_error_set(err, ROAST_NO_MEMORY, "sums of %zu attempts",
                               run->attempts.count);
    return ROAST_OK;
}

void roast__totals_release(struct roast_totals *totals)
{
    roast__roles_release(&totals->roles);
    roast__free(totals->of_source);
    roast__free(totals->sampled_peaks);
    roast__quantiles_release(&totals->durations_ns);
    roast__quantiles_release(&totals->ns_per_event);
    *totals = (struct roast_totals){0};
}
