/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.c - the tables `branches` and `chunk_branches`.
 *
 * The sums are those of the summary (branch_costs.h), but per file. */
#include "analyze/reads/branch_costs.h"
#include "analyze/tables/job.h"
#include "analyze/totals/groups.h"
#include "base/mem.h"

/* ---- by file --------------------------------------------------------------------- */

#define AT(name) ROAST_COL_branches_##name

/* The columns that both tables have, in the same order. */
static void put_cost(roast_table *to, int at_reads,
                     const struct roast_branch_cost *cost)
{
    enum { READS, BYTES, UNCOMPRESSED, SECONDS, ACCESSED, OFFSETS_ONLY, PRELOADED };

    if (cost->known) {
        roast__fill_sum(to, at_reads + READS, cost->reads);
        roast__fill_number(to, at_reads + SECONDS, cost->ns / 1e9);
    }
    if (cost->bytes_known)
        roast__fill_sum(to, at_reads + BYTES, cost->bytes);
    if (cost->uncompressed_known)
        roast__fill_sum(to, at_reads + UNCOMPRESSED, cost->uncompressed_bytes);
    roast__fill_bool(to, at_reads + ACCESSED, roast_flags_accessed(cost->flags));
    roast__fill_bool(to, at_reads + OFFSETS_ONLY,
                     roast_flags_offsets_only(cost->flags));
    roast__fill_bool(to, at_reads + PRELOADED, cost->flags & ROAST_BRANCH_PRELOADED);
}

_Static_assert(AT(preloaded) - AT(reads) == ROAST_COL_chunk_branches_preloaded -
                                                ROAST_COL_chunk_branches_reads &&
                   AT(preloaded) - AT(reads) == 6,
               "both tables have these columns");

void roast__make_branches(const struct roast_table_job *job)
{
    struct roast_branch_costs costs = {0};
    struct roast_keys files = {0};
    bool joined = roast__join_sources(&files, job->ctx, roast__key_of_dataset_file);

    if (joined)
        roast__branch_costs_read(&costs, job->ctx, files.key_of);
    if (!joined || costs.failed)
        roast__table_fail(job->to);
    for (size_t i = 0; i < costs.count && roast__table_ok(job->to); i++) {
        const struct roast_branch_cost *cost = &costs.all[i];
        roast__table_row(job->to);
        roast__put_dataset_file(job, AT(dataset), AT(file),
                                files.first_item[cost->file] - 1);
        roast__fill_text(job->to, AT(branch), cost->name);
        roast__fill_count(job->to, AT(chunks), cost->chunks);
        put_cost(job->to, AT(reads), cost);
    }
    roast__branch_costs_release(&costs);
    roast__keys_release(&files);
}

/* ---- by chunk -------------------------------------------------------------------- */

#undef AT
#define AT(name) ROAST_COL_chunk_branches_##name

void roast__make_chunk_branches(const struct roast_table_job *job)
{
    struct roast_chunk_iter chunks = {.job = job};
    struct roast_record_iter iter = {.ctx = job->ctx};
    struct roast_branch_list list = {0};

    if (!(job->run->attempts.fields & ROAST_FIELD_BIT(branches)))
        return;
    while (roast__table_ok(job->to) && roast__chunk_iter_next(&chunks)) {
        iter.row = chunks.row;
        (void)roast__attempt_record(job->run, iter.row, &iter.rec, iter.identity);
        if (roast__record_iter_branches(&iter, &list)) {
            struct roast_branch_coverage coverage = roast__branch_coverage(&iter);
            for (size_t i = 0; i < list.count && roast__table_ok(job->to); i++) {
                struct roast_branch_cost cost = {.name = list.all[i].name};
                roast__branch_cost_add(&cost, &list.all[i], coverage);
                roast__table_row(job->to);
                roast__fill_count(job->to, AT(chunk_id), chunks.chunk_id);
                roast__fill_text(job->to, AT(branch), cost.name);
                put_cost(job->to, AT(reads), &cost);
            }
        }
    }
    roast__free(list.all);
}
