/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_section.c - the inside of the chunks: where their seconds went.
 *
 * Slices do not overlap and add up, so their shares are of their own sum. Everything
 * else beside them is an overlay and labelled as such: the same seconds in another split, those
 * of the garbage collector, and what was not measured for want of a hook. */
#include <math.h>
#include <stdio.h>

#include "report/slices.h"
#include "roast/ladder.h"

enum {
    INDENT = 2,
    MAX_HOOKS = 10,
    NAME_BYTES = 64,
    CHUNKS_BYTES = 3 * ROAST_NUMBER_BYTES,
    LINE_BYTES = 256
};

/* Shares below round to 0.0 %. */
static const double smallest_share = 0.0005;

/* ---- slices ------------------------------------------------------------------- */

static const char *shown_slice(int slice)
{
    return roast_ladder_info((enum roast_ladder_item)slice)->shown;
}

/* ---- overlays ----------------------------------------------------------------- */

/* The same seconds by what the thread did in them. */
static void put_split(struct roast_buf *buf, const roast_table *split)
{
    static const struct {
        int col;
        const char *words;
    } parts[] = {
        {ROAST_COL_chunk_split_on_cpu, "on CPU"},
        {ROAST_COL_chunk_split_runqueue, "no core free"},
        {ROAST_COL_chunk_split_fetch_wait, "storage"},
        {ROAST_COL_chunk_split_blocked, "blocked (GIL, sleep)"},
        {ROAST_COL_chunk_split_waiting, "storage or blocked"},
    };
    struct roast_wrapped_line line = {.buf = buf, .indent = INDENT, .columns = INDENT};
    double total = roast__row_sum(split);

    if (!(total > 0))
        return;
    roast__put_blanks(buf, INDENT);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        double seconds = roast_table_number(split, 0, parts[i].col);
        if (isnan(seconds))
            continue;
        roast__line_format(&line, "%s %.0f %%", parts[i].words,
                           100 * roast__amount(seconds) / total);
    }
    roast__line_end(&line);
}

/* "of it garbage collection 1.2 s (3.0 %)"; nothing below smallest_share. */
static void put_overlay(struct roast_buf *buf, const struct roast_shown *shown,
                        enum roast_metric metric, const char *words, double total)
{
    char line[LINE_BYTES];
    char percent[ROAST_NUMBER_BYTES];
    double seconds;

    if (!roast__metric(&seconds, shown, metric) || seconds > total ||
        !(seconds / total >= smallest_share))
        return;
    roast__format_share(percent, seconds / total);
    (void)snprintf(line, sizeof(line), "of it %s %s (%s)", words,
                   roast__number(seconds, "s").text, percent);
    roast__put_sentence(buf, INDENT, line);
}

/* ---- where the time went ------------------------------------------------------ */

/* " in 8 chunks", or " in 6 of 8 chunks" where the others were not looked into. */
static void format_chunks(char out[CHUNKS_BYTES], const struct roast_shown *shown)
{
    double chunks;
    double others;

    out[0] = '\0';
    if (!roast__metric(&chunks, shown, ROAST_METRIC_ladder_chunks))
        return;
    if (!roast__metric(&others, shown, ROAST_METRIC_num_chunks_without_ladder))
        others = 0;
    (void)snprintf(out, CHUNKS_BYTES, " in %s%s%s %s", roast__number(chunks, "").text,
                   others > 0 ? " of " : "",
                   others > 0 ? roast__number(chunks + others, "").text : "",
                   chunks + others == 1 ? "chunk" : "chunks");
}

/* "INSIDE A CHUNK   10.1 s in 8 chunks" */
static void put_time_title(struct roast_buf *buf, const struct roast_shown *shown,
                           double total)
{
    char line[LINE_BYTES] = "INSIDE A CHUNK";
    char chunks[CHUNKS_BYTES];

    if (total > 0) {
        format_chunks(chunks, shown);
        (void)snprintf(line, sizeof(line), "INSIDE A CHUNK   %s%s",
                       roast__number(total, "s").text, chunks);
    }
    roast__put_title(buf, line);
}

void roast__put_chunk_section(struct roast_buf *buf, const struct roast_shown *shown)
{
    const roast_table *ladder = shown->tables[ROAST_TABLE_ladder];
    double total = roast__row_sum(ladder);
    size_t start = buf->size_bytes;

    put_time_title(buf, shown, total);
    size_t title_end = buf->size_bytes;
    if (total > 0) {
        if (!shown->tables[ROAST_TABLE_budget]) /* which shows the same slices */
        {
            struct roast_slices slices = {
                .table = ladder,
                .first = ROAST_COL_ladder_import,
                .count = ROAST_SLICE_COUNT,
                .total = total,
                .smallest_share = smallest_share,
                .most = ROAST_SLICE_COUNT,
                .bar_columns = 40,
                .rest_words = "below 0.05 %",
                .shown = shown_slice,
            };
            roast__put_slices(buf, &slices);
        }
        put_split(buf, shown->tables[ROAST_TABLE_chunk_split]);
        put_overlay(buf, shown, ROAST_METRIC_storage_wait_seconds,
                    "waiting for storage while opening and building", total);
        put_overlay(buf, shown, ROAST_METRIC_gc_seconds, "garbage collection (CPU)",
                    total);
    }
    const roast_table *hooks = shown->tables[ROAST_TABLE_hooks_missing];
    size_t count = roast_table_rows(hooks);
    for (size_t row = 0; row < count && row < MAX_HOOKS; row++) {
        struct roast_str hook =
            roast__cell_text(hooks, row, ROAST_COL_hooks_missing_hook);
        struct roast_str lost =
            roast__cell_text(hooks, row, ROAST_COL_hooks_missing_lost);
        char line[LINE_BYTES];
        hook = roast_str_cut(hook, NAME_BYTES);
        lost = roast_str_cut(lost, LINE_BYTES - 2 * NAME_BYTES);
        (void)snprintf(line, sizeof(line), "hook %.*s missing: %.*s",
                       (int)hook.size_bytes, hook.data, (int)lost.size_bytes,
                       lost.data);
        roast__put_sentence(buf, INDENT, line);
    }
    if (count > MAX_HOOKS)
        roast__put_count_line(buf, count - MAX_HOOKS, "more");
    if (buf->size_bytes == title_end)
        buf->size_bytes = start; /* a title over nothing */
}
