/* SPDX-License-Identifier: BSD-3-Clause */
/* branch_costs.c - what each branch cost, summed over the chunks that count. */
#include "analyze/reads/branch_costs.h"

#include "base/array.h"
#include "base/mem.h"

/* The number of a name, added when it is new; -1: out of memory. */
static int64_t number_of(struct roast_branch_costs *costs, struct roast_name_key key,
                         int64_t guess)
{
    size_t known = costs->names.count;
    struct roast_branch_cost *all =
        roast__array_room(costs->all, &costs->cap, known, sizeof(all[0]));

    if (!all)
        return -1;
    costs->all = all;
    int64_t number = roast__name_number(&costs->names, key, guess);
    if (number == (int64_t)known)
        all[number] = (struct roast_branch_cost){.name = key.name, .group = key.group};
    return number;
}

void roast__branch_cost_add(struct roast_branch_cost *cost,
                            const struct roast_branch *branch,
                            struct roast_branch_coverage coverage)
{
    bool not_read = coverage.all && branch->reads == 0; /* a cache had it */
    bool has_bytes = coverage.bytes || not_read;

    cost->flags |= branch->flags;
    cost->preloadable |=
        coverage.preloadable && (roast_flags_accessed(branch->flags) ||
                                 roast_flags_offsets_only(branch->flags));
    cost->known |= coverage.all || branch->reads > 0 || branch->ns > 0;
    cost->bytes_known |= has_bytes || branch->bytes > 0;
    cost->unpacked_known |= has_bytes || branch->uncompressed_bytes > 0;
    cost->chunks++;
    cost->bytes += (double)branch->bytes;
    cost->uncompressed_bytes += (double)branch->uncompressed_bytes;
    cost->ns += (double)branch->ns;
    cost->reads += (double)branch->reads;
}

static bool is_preloadable(const struct roast_record_iter *iter)
{
    struct roast_file_facts facts;

    return !roast__record_iter_facts(iter, &facts) || facts.kind != ROAST_FILE_PARQUET;
}

struct roast_branch_coverage roast__branch_coverage(
    const struct roast_record_iter *iter)
{
    return (struct roast_branch_coverage){roast__record_iter_looked_into(iter),
                                          roast__record_iter_knows_bytes(iter),
                                          is_preloadable(iter)};
}

void roast__branch_costs_read(struct roast_branch_costs *costs,
                              const struct roast_summary_context *ctx,
                              const int32_t *group_of)
{
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELDS_OF_READS, .roles = ROAST_ROLES_COUNT};
    struct roast_branch_list list = {0};

    while (!costs->failed && roast__record_iter_next(&iter)) {
        int32_t source = ctx->run->attempts.source[iter.row];
        if (!roast__record_iter_branches(&iter, &list))
            continue;
        costs->known = true;
        struct roast_branch_coverage coverage = roast__branch_coverage(&iter);
        int64_t number = ROAST_NO_GUESS;
        for (size_t i = 0; i < list.count && !costs->failed; i++) {
            struct roast_name_key key = {list.all[i].name,
                                         group_of ? (uint32_t)group_of[source + 1] : 0};
            number = number_of(costs, key, number + 1);
            if (number < 0)
                costs->failed = true;
            else
                roast__branch_cost_add(&costs->all[number], &list.all[i], coverage);
        }
    }
    roast__free(list.all);
}

void roast__branch_costs_release(struct roast_branch_costs *costs)
{
    roast__name_table_release(&costs->names);
    roast__free(costs->all);
    *costs = (struct roast_branch_costs){0};
}
