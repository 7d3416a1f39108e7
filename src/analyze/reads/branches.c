/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.c - the table of what each branch cost, over all chunks and files.
 *
 * Bytes are those requested from storage. What no chunk that read a branch could count
 * is absent, not 0. */
#include <stdlib.h>

#include "analyze/formulas.h"
#include "analyze/reads/branch_costs.h"

static const char *const columns[] = {
    "branch", "bytes",    "uncompressed_bytes", "seconds",   "reads",
    "chunks", "accessed", "offsets_only",       "preloaded",
};

static int by_bytes(const void *a, const void *b)
{
    const struct roast_branch_cost *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    if (left->ns != right->ns)
        return left->ns > right->ns ? -1 : 1;
    return roast__compare_names(left->name, right->name);
}

static int by_name(const void *a, const void *b)
{
    return roast__compare_names(((const struct roast_branch_cost *)a)->name,
                                ((const struct roast_branch_cost *)b)->name);
}

static void put_cost(const struct roast_study *study, size_t table,
                     const struct roast_branch_cost *cost)
{
    struct roast_cell *row = roast__table_row(study->summary, table);

    row[0] = roast__cell_text(study->summary, cost->name);
    if (cost->bytes_known)
        row[1] = roast__cell_sum(cost->bytes);
    if (cost->unpacked_known)
        row[2] = roast__cell_sum(cost->uncompressed_bytes);
    if (cost->known) {
        row[3] = roast__cell_number(cost->ns / 1e9);
        row[4] = roast__cell_sum(cost->reads);
    }
    row[5] = roast__cell_count(cost->chunks);
    row[6] = roast__cell_bool(roast_flags_say_accessed(cost->flags));
    row[7] = roast__cell_bool(roast_flags_say_offsets_only(cost->flags));
    row[8] = roast__cell_bool(cost->flags & ROAST_BRANCH_PRELOADED);
}

/* Everything that somebody looked at: read in bulk it would cover the run. */
static void put_preload(const struct roast_study *study,
                        const struct roast_branch_costs *costs)
{
    static const char *const names[] = {"branch"};
    size_t table =
        roast__table_open(study->summary, "preload", ROAST_TABLE_VALUES, names, 1);
    bool any = false;

    for (size_t i = 0; i < costs->names.count; i++) {
        if (!costs->all[i].preloadable)
            continue;
        *roast__table_row(study->summary, table) =
            roast__cell_text(study->summary, costs->all[i].name);
        any = true;
    }
    if (!any && costs->names.count > 0)
        roast__summary_miss(study->summary, "preload",
                            "coffea reads nothing in bulk from parquet files");
}

static void put_all(const struct roast_study *study, struct roast_branch_costs *costs)
{
    size_t count = costs->names.count, accessed = 0;
    size_t table = roast__table_open(study->summary, "branch_costs", ROAST_TABLE_KEYED,
                                     columns, sizeof(columns) / sizeof(columns[0]));

    if (count > 0)
        qsort(costs->all, count, sizeof(costs->all[0]), by_bytes);
    for (size_t i = 0; i < count; i++) {
        put_cost(study, table, &costs->all[i]);
        accessed += roast_flags_say_accessed(costs->all[i].flags);
    }
    if (count > 0)
        qsort(costs->all, count, sizeof(costs->all[0]), by_name);
    put_preload(study, costs);
    if (costs->known)
        roast__study_set(study, ROAST_METRIC_total_branches_read, (double)accessed);
}

void roast__study_branches(const struct roast_study *study)
{
    struct roast_branch_costs costs = {0};

    roast__branch_costs_read(&costs, study, NULL);
    study->summary->failed |= costs.failed;
    put_all(study, &costs);
    roast__branch_costs_release(&costs);
}
