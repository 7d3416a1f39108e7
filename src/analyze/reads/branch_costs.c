/* SPDX-License-Identifier: BSD-3-Clause */
/* branch_costs.c - the cost of each branch, summed over the chunks that count. */
#include "analyze/reads/branch_costs.h"

#include "base/mem.h"

void roast__branch_cost_add(struct roast_branch_cost *cost,
                            const struct roast_branch *branch,
                            struct roast_branch_coverage coverage)
{
    bool not_read = coverage.all && branch->reads == 0; /* it came from a cache */
    bool has_bytes = coverage.bytes || not_read;

    cost->flags |= branch->flags;
    cost->preloadable |=
        coverage.preloadable && (roast_flags_accessed(branch->flags) ||
                                 roast_flags_offsets_only(branch->flags));
    cost->known |= coverage.all || branch->reads > 0 || branch->ns > 0;
    cost->bytes_known |= has_bytes || branch->bytes > 0;
    cost->uncompressed_known |= has_bytes || branch->uncompressed_bytes > 0;
    cost->chunks++;
    cost->bytes += (double)branch->bytes;
    cost->uncompressed_bytes += (double)branch->uncompressed_bytes;
    cost->ns += (double)branch->ns;
    cost->reads += (double)branch->reads;
}

struct roast_branch_coverage roast__branch_coverage(
    const struct roast_record_iter *iter)
{
    struct roast_file_facts facts;

    return (struct roast_branch_coverage){.all = roast__record_iter_has_ladder(iter),
                                          .bytes = roast__record_iter_has_bytes(iter),
                                          .preloadable =
                                              !roast__record_iter_facts(iter, &facts) ||
                                              facts.kind != ROAST_FILE_PARQUET};
}

void roast__branch_costs_read(struct roast_branch_costs *costs,
                              const struct roast_summary_context *ctx,
                              const int32_t *file_of)
{
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELDS_OF_READS, .roles = ROAST_ROLES_COUNT};
    struct roast_branch_list list = {0};

    costs->names.value_bytes = sizeof(costs->all[0]);
    while (!costs->failed && roast__record_iter_next(&iter)) {
        int32_t source = ctx->run->attempts.source[iter.row];
        uint32_t file = file_of ? (uint32_t)file_of[source + 1] : 0;
        if (!roast__record_iter_branches(&iter, &list))
            continue;
        costs->known = true;
        struct roast_branch_coverage coverage = roast__branch_coverage(&iter);
        int64_t number = ROAST_NO_HINT;
        for (size_t i = 0; i < list.count && !costs->failed; i++) {
            struct roast_key key = {.name = list.all[i].name, .a = file};
            number = roast__key_number(&costs->names, key, number + 1);
            costs->failed = number < 0;
            if (costs->failed)
                break;
            costs->all = costs->names.values;
            costs->all[number].name = key.name;
            costs->all[number].file = file;
            roast__branch_cost_add(&costs->all[number], &list.all[i], coverage);
        }
    }
    costs->count = costs->names.count;
    roast__free(list.all);
}

void roast__branch_costs_release(struct roast_branch_costs *costs)
{
    roast__key_table_release(&costs->names);
    *costs = (struct roast_branch_costs){0};
}
