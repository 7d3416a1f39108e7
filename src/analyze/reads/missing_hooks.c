/* SPDX-License-Identifier: BSD-3-Clause */
/* missing_hooks.c - hooks that were missing, and the values that are absent without them.
 *
 * The reason of an absent slice names the hook that would measure it. Where only some
 * workers lack a hook, the slice is present and the table of hooks counts them. */
#include <stdio.h>

#include "analyze/reads/ladder.h"

enum { NAME_BYTES = 64 };

static const char *const why_missing[ROAST_HOOK_END] = {
#define H(number, name, where, slices, text) [number] = where " does not exist: " text,
#include "roast/hooks.def"
#undef H
};

static const char *const no_ladder = "the time inside the chunks was not measured";

/* Tables that are empty without one of these hooks (0: unused), else `otherwise`. */
static const struct {
    enum roast_table_id table;
    unsigned hooks[3];
    const char *otherwise;
} tables[] = {
    {ROAST_TABLE_branch_costs,
     {ROAST_HOOK_buffer, ROAST_HOOK_extract_root, ROAST_HOOK_extract_parquet},
     "the chunks read nothing"},
    {ROAST_TABLE_endpoints, {ROAST_HOOK_source, 0, 0}, "no request was recorded"},
    {ROAST_TABLE_file_metadata,
     {ROAST_HOOK_from_root, ROAST_HOOK_from_parquet, 0},
     "the chunks read no file"},
};

bool roast__reads_parquet(const roast_summary *summary)
{
    return roast__table_count(summary->tables[ROAST_TABLE_file_metadata],
                              ROAST_COL_file_metadata_kind, "parquet") > 0;
}

/* The first missing hook that would measure a slice; NULL: none. */
static const char *why_no_slice(const struct roast_ladder_sums *sums,
                                enum roast_ladder_item slice)
{
    for (unsigned hook = 0; hook < ROAST_HOOK_END; hook++) {
        const struct roast_hook_info *info = roast_hook_info(hook);
        if (info && sums->without_hook[hook] > 0 && (info->slices >> slice) & 1)
            return why_missing[hook];
    }
    return NULL;
}

static const char *why_no_table(const struct roast_ladder_sums *sums, size_t table,
                                bool reads_parquet)
{
    for (size_t i = 0; i < sizeof(tables[0].hooks) / sizeof(tables[0].hooks[0]); i++) {
        unsigned hook = tables[table].hooks[i];
        if (hook != 0 && sums->without_hook[hook] > 0)
            return why_missing[hook];
    }
    if (sums->ladders == 0)
        return no_ladder;
    return tables[table].table == ROAST_TABLE_endpoints && reads_parquet
               ? "no request was recorded: parquet reads are not counted"
               : tables[table].otherwise;
}

static void note_empty_tables(const struct roast_summary_context *ctx,
                              const struct roast_ladder_sums *sums)
{
    bool parquet = roast__reads_parquet(ctx->summary);

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const roast_table *table = ctx->summary->tables[tables[i].table];
        if (table && roast_table_rows(table) == 0)
            roast__summary_unavailable(ctx->summary, roast_table_key(tables[i].table),
                                       why_no_table(sums, i, parquet));
    }
}

void roast__put_missing_hooks(const struct roast_summary_context *ctx,
                              const struct roast_ladder_sums *sums)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_hooks_missing);
    for (unsigned hook = 0; hook < ROAST_HOOK_END; hook++) {
        const struct roast_hook_info *info = roast_hook_info(hook);
        if (!info || sums->without_hook[hook] == 0)
            continue;
        roast__table_row(table);
        roast__fill_string(table, ROAST_COL_hooks_missing_hook, info->name);
        roast__fill_string(table, ROAST_COL_hooks_missing_where, info->where);
        roast__fill_string(table, ROAST_COL_hooks_missing_lost, info->text);
        roast__fill_count(table, ROAST_COL_hooks_missing_chunks,
                          sums->without_hook[hook]);
    }
    if (sums->chunks == 0)
        return; /* the reasons of the metrics are enough */
    if (sums->ladders == 0)
        roast__summary_unavailable(ctx->summary, "ladder", no_ladder);
    else {
        /* The unexplained part is not a slice that could be missing. */
        for (int i = 0; i < ROAST_ITEM_unnamed; i++) {
            enum roast_ladder_item slice = (enum roast_ladder_item)i;
            char name[NAME_BYTES];
            if ((sums->known >> i) & 1)
                continue;
            const char *why = why_no_slice(sums, slice);
            (void)snprintf(name, sizeof(name), "ladder.%s",
                           roast_ladder_info(slice)->name);
            roast__summary_unavailable(
                ctx->summary, name, why ? why : "no chunk could measure it separately");
        }
    }
    note_empty_tables(ctx, sums);
}
