/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_names.c - which chunk an attempt was at: as columns of a row, or as a text. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/formulas.h"
#include "analyze/recorded.h"

void roast__fill_chunk(roast_table *table, int first_col,
                       const struct roast_summary_context *ctx, size_t row)
{
    static const enum roast_attempt_column entries[] = {ROAST_COLUMN_entry_start,
                                                        ROAST_COLUMN_entry_stop};
    const struct roast_attempts *attempts = &ctx->run->attempts;
    int32_t number = attempts->source[row];

    if (number >= 0) {
        const struct roast_source *source = &attempts->sources[number];
        roast__fill_text(table, first_col, roast__context_text(ctx, source->dataset));
        roast__fill_text(table, first_col + 1, roast__context_text(ctx, source->file));
    }
    for (int i = 0; i < 2; i++) {
        const struct roast_column *column = &attempts->columns[entries[i]];
        if (roast__column_has(column, row))
            roast__fill_count(table, first_col + 2 + i, (uint64_t)column->values[row]);
    }
}

static void put_text(struct roast_buf *out, struct roast_str text)
{
    roast__buf_put(out, text.data ? text.data : "?", text.data ? text.size_bytes : 1);
}

void roast__list_add_chunk(struct roast_buf *list, struct roast_str dataset,
                           struct roast_str file, const int64_t *entries)
{
    struct roast_buf text = {0};
    char range[64];

    if (dataset.data || file.data) {
        put_text(&text, dataset);
        put_text(&text, roast_str_of(" "));
    }
    put_text(&text, file);
    if (entries) {
        int size = snprintf(range, sizeof(range), " %" PRId64 "-%" PRId64, entries[0],
                            entries[1]);
        roast__buf_put(&text, range, (size_t)size);
    }
    list->failed |= !roast__buf_ok(&text);
    roast__list_add(list, (struct roast_str){(const char *)text.data, text.size_bytes});
    roast__buf_release(&text);
}
