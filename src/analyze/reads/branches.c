/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.c - the table of the cost of each branch, over all chunks and files.
 *
 * Bytes are those requested from storage. A value that no chunk with the branch could
 * measure is absent, not 0. */
#include <stdlib.h>

#include "analyze/formulas.h"
#include "analyze/reads/branch_costs.h"
#include "base/str.h"

static int by_bytes(const void *a, const void *b)
{
    const struct roast_branch_cost *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    if (left->ns != right->ns)
        return left->ns > right->ns ? -1 : 1;
    return roast__str_compare(left->name, right->name);
}

static int by_name(const void *a, const void *b)
{
    return roast__str_compare(((const struct roast_branch_cost *)a)->name,
                              ((const struct roast_branch_cost *)b)->name);
}

/* The branches to preload: all that were used. */
static void put_preload(const struct roast_summary_context *ctx,
                        const struct roast_branch_costs *costs)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_preload);
    bool any = false;

    for (size_t i = 0; i < costs->count; i++) {
        if (!costs->all[i].preloadable)
            continue;
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_preload_branch, costs->all[i].name);
        any = true;
    }
    if (!any && costs->count > 0)
        roast__summary_unavailable(ctx->summary, "preload",
                                   "coffea cannot preload branches of parquet files");
}

void roast__summarize_branches(const struct roast_summary_context *ctx)
{
    struct roast_branch_costs costs = {0};

    roast__branch_costs_read(&costs, ctx, NULL);
    ctx->summary->failed |= costs.failed;
    size_t count = costs.count, accessed = 0;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_branch_costs);
    if (count > 0)
        qsort(costs.all, count, sizeof(costs.all[0]), by_bytes);
    for (size_t i = 0; i < count; i++) {
        const struct roast_branch_cost *cost = &costs.all[i];
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_branch_costs_branch, cost->name);
        if (cost->bytes_known)
            roast__fill_sum(table, ROAST_COL_branch_costs_bytes, cost->bytes);
        if (cost->uncompressed_known)
            roast__fill_sum(table, ROAST_COL_branch_costs_uncompressed_bytes,
                            cost->uncompressed_bytes);
        if (cost->known) {
            roast__fill_number(table, ROAST_COL_branch_costs_seconds, cost->ns / 1e9);
            roast__fill_sum(table, ROAST_COL_branch_costs_reads, cost->reads);
        }
        roast__fill_count(table, ROAST_COL_branch_costs_chunks, cost->chunks);
        roast__fill_bool(table, ROAST_COL_branch_costs_accessed,
                         roast_flags_accessed(cost->flags));
        roast__fill_bool(table, ROAST_COL_branch_costs_offsets_only,
                         roast_flags_offsets_only(cost->flags));
        roast__fill_bool(table, ROAST_COL_branch_costs_preloaded,
                         cost->flags & ROAST_BRANCH_PRELOADED);
        accessed += roast_flags_accessed(costs.all[i].flags);
    }
    if (count > 0)
        qsort(costs.all, count, sizeof(costs.all[0]), by_name);
    put_preload(ctx, &costs);
    if (costs.known)
        roast__context_set(ctx, ROAST_METRIC_total_branches_read, (double)accessed);
    roast__branch_costs_release(&costs);
}
