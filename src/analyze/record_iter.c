/* SPDX-License-Identifier: BSD-3-Clause */
/* record_iter.c - the chunk records of a run that hold certain fields, one after the other. */
#include "analyze/record_iter.h"

#include "base/mem.h"

#define HOOK_BIT(name) (UINT64_C(1) << ROAST_HOOK_##name)

static bool is_wanted(const struct roast_record_iter *iter, size_t row)
{
    const struct roast_summary_context *ctx = iter->ctx;
    unsigned role = ctx->totals->roles.of_row[row];

    return (iter->roles >> role) & 1 &&
           roast__attempt_present(ctx->run, row) & iter->fields;
}

bool roast__record_iter_next(struct roast_record_iter *iter)
{
    const struct roast_run *run = iter->ctx->run;

    if (!(run->attempts.fields & iter->fields))
        return false;
    for (size_t row = iter->next_row; row < run->attempts.count; row++) {
        if (!is_wanted(iter, row))
            continue;
        iter->row = row;
        iter->next_row = row + 1;
        return roast__attempt_record(run, row, &iter->rec, iter->identity);
    }
    iter->next_row = run->attempts.count;
    return false;
}

bool roast__record_iter_facts(const struct roast_record_iter *iter,
                              struct roast_file_facts *facts)
{
    struct roast_str blob = iter->rec.values[ROAST_FIELD_file_facts].str;

    return roast_record_has(&iter->rec, ROAST_FIELD_file_facts) &&
           roast_file_facts_read(facts, blob, NULL) == ROAST_OK;
}

static bool read_ladder(const struct roast_record_iter *iter,
                        struct roast_ladder *ladder)
{
    struct roast_str blob = iter->rec.values[ROAST_FIELD_ladder].str;

    return roast_record_has(&iter->rec, ROAST_FIELD_ladder) &&
           roast_ladder_read(ladder, blob, NULL) == ROAST_OK;
}

bool roast__record_iter_looked_into(const struct roast_record_iter *iter)
{
    struct roast_ladder ladder;

    return read_ladder(iter, &ladder);
}

/* The hooks that were missing in its attempt; all of them without a ladder. */
static uint64_t hooks_missing(const struct roast_record_iter *iter)
{
    struct roast_ladder ladder;

    return read_ladder(iter, &ladder) ? ladder.values[ROAST_ITEM_hooks_missing]
                                      : UINT64_MAX;
}

bool roast__record_iter_knows_bytes(const struct roast_record_iter *iter)
{
    const uint64_t counters = HOOK_BIT(submit) | HOOK_BIT(source);
    struct roast_file_facts facts;

    if (roast__record_iter_facts(iter, &facts) && facts.kind == ROAST_FILE_PARQUET)
        return false;
    return !(hooks_missing(iter) & counters);
}

void *roast__scratch(void *items, size_t *cap, size_t count, size_t item_bytes)
{
    if (count <= *cap && items)
        return items;
    roast__free(items);
    items = roast__alloc(count * item_bytes);
    *cap = items ? count : 0;
    return items;
}

/* Whether the record has a reason for a missing field: then the field was lost. */
static bool was_lost(const struct roast_record_iter *iter, enum roast_field field)
{
    struct roast_str blob = iter->rec.values[ROAST_FIELD_absences].str;
    struct roast_pair pair;

    if (!roast_record_has(&iter->rec, ROAST_FIELD_absences))
        return false;
    while (roast_pair_next(&pair, &blob, NULL) == 1) {
        if (pair.key == roast_field_info(field)->number)
            return true;
    }
    return false;
}

/* Without branches a chunk read none, unless hooks were missing or they were lost. */
static bool read_none(const struct roast_record_iter *iter)
{
    const uint64_t readers =
        HOOK_BIT(buffer) | HOOK_BIT(extract_root) | HOOK_BIT(extract_parquet);

    return !(hooks_missing(iter) & readers) && !was_lost(iter, ROAST_FIELD_branches);
}

bool roast__record_iter_branches(const struct roast_record_iter *iter,
                                 struct roast_branch_list *list)
{
    struct roast_str blob = iter->rec.values[ROAST_FIELD_branches].str;

    list->count = 0;
    if (!roast_record_has(&iter->rec, ROAST_FIELD_branches))
        return read_none(iter);
    int64_t count = roast_branches_read(list->all, list->cap, blob, NULL);
    if (count > (int64_t)list->cap) { /* the next records will fit */
        list->all =
            roast__scratch(list->all, &list->cap, (size_t)count, sizeof(list->all[0]));
        count = roast_branches_read(list->all, list->cap, blob, NULL);
        iter->ctx->summary->failed |= !list->all;
    }
    if (count < 0 || (size_t)count > list->cap)
        return false;
    list->count = (size_t)count;
    return true;
}
