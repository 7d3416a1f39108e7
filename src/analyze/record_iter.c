/* SPDX-License-Identifier: BSD-3-Clause */
/* record_iter.c - iterates over the chunk records of a run that have certain fields. */
#include "analyze/record_iter.h"

#include "base/mem.h"

#define HOOK_BIT(name) (UINT64_C(1) << ROAST_HOOK_##name)

bool roast__record_iter_next(struct roast_record_iter *iter)
{
    const struct roast_run *run = iter->ctx->run;
    const unsigned char *roles = iter->ctx->totals->roles.of_row;

    if (!(run->attempts.fields & iter->fields))
        return false;
    while (iter->next_row < run->attempts.count) {
        iter->row = iter->next_row++;
        if ((iter->roles >> roles[iter->row]) & 1 &&
            roast__attempt_present(run, iter->row) & iter->fields)
            return roast__attempt_record(run, iter->row, &iter->rec, iter->identity);
    }
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

bool roast__record_iter_has_ladder(const struct roast_record_iter *iter)
{
    struct roast_ladder ladder;

    return read_ladder(iter, &ladder);
}

/* The hooks that were missing in its attempt; all if it has no ladder. */
static uint64_t hooks_missing(const struct roast_record_iter *iter)
{
    struct roast_ladder ladder;

    return read_ladder(iter, &ladder) ? ladder.values[ROAST_ITEM_hooks_missing]
                                      : UINT64_MAX;
}

bool roast__record_iter_has_bytes(const struct roast_record_iter *iter)
{
    const uint64_t counters = HOOK_BIT(submit) | HOOK_BIT(source);
    struct roast_file_facts facts;

    if (roast__record_iter_facts(iter, &facts) && facts.kind == ROAST_FILE_PARQUET)
        return false;
    return !(hooks_missing(iter) & counters);
}

/* Whether the record has a reason for the absence of a field: it was lost then. */
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

/* A chunk without branches read none, unless hooks were missing or they were lost. */
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
    if (count > (int64_t)list->cap) {
        roast__free(list->all);
        list->all = roast__alloc((size_t)count * sizeof(list->all[0]));
        list->cap = list->all ? (size_t)count : 0;
        iter->ctx->summary->failed |= !list->all;
        count = roast_branches_read(list->all, list->cap, blob, NULL);
    }
    if (count < 0 || (size_t)count > list->cap)
        return false;
    list->count = (size_t)count;
    return true;
}

bool roast__record_sections(struct roast_section_list *list, const roast_record *rec)
{
    struct roast_str blob = rec->values[ROAST_FIELD_sections].str;
    int64_t count = 0;

    list->count = 0;
    if (roast_record_has(rec, ROAST_FIELD_sections))
        count = roast_sections_read(list->all, list->cap, blob, NULL);
    if (count > (int64_t)list->cap) {
        roast__section_list_release(list);
        list->all = roast__alloc((size_t)count * sizeof(list->all[0]));
        list->numbers = roast__alloc((size_t)count * sizeof(list->numbers[0]));
        if (!list->all || !list->numbers)
            return false;
        list->cap = (size_t)count;
        count = roast_sections_read(list->all, list->cap, blob, NULL);
    }
    list->count = count > 0 ? (size_t)count : 0;
    return true;
}

void roast__section_list_release(struct roast_section_list *list)
{
    roast__free(list->all);
    roast__free(list->numbers);
    *list = (struct roast_section_list){0};
}
