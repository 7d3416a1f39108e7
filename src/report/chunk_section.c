/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_section.c - where the seconds inside chunks went.
 *
 * Slices do not overlap and add up, so their shares are of their own sum. All other
 * numbers overlap with them and are labelled so: the same seconds split by what the
 * thread did, those of the garbage collector, and what missing hooks did not measure. */
#include <math.h>
#include <stdio.h>

#include "report/slice_bars.h"
#include "roast/ladder.h"

enum { INDENT = 2, BRIEF_HOOKS = 5, NAME_BYTES = 64, LINE_BYTES = 256 };

/* Shares below round to 0.0 %. */
static const double smallest_share = 0.0005;

static const char *slice_label(int slice)
{
    return roast_ladder_info((enum roast_ladder_item)slice)->shown;
}

/* The same seconds by what the thread did in them. */
static void put_split(struct roast_buf *buf, const roast_table *split)
{
    static const struct {
        int col;
        enum roast_term label;
    } parts[] = {
        {ROAST_COL_chunk_split_on_cpu, ROAST_TERM_on_cpu},
        {ROAST_COL_chunk_split_runqueue, ROAST_TERM_no_core},
        {ROAST_COL_chunk_split_fetch_wait, ROAST_TERM_storage},
        {ROAST_COL_chunk_split_blocked, ROAST_TERM_blocked},
        {ROAST_COL_chunk_split_waiting, ROAST_TERM_waiting},
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
        roast__line_format(
            &line, "%s %s", roast__term(parts[i].label),
            roast_number(100 * roast__positive(seconds) / total, "%").text);
    }
    roast__line_end(&line);
}

/* "of it garbage collection 1.2 s (3.0 %)"; nothing below smallest_share. */
static void put_overlay(struct roast_buf *buf, const struct roast_page_input *input,
                        enum roast_metric metric, enum roast_term label, double total)
{
    double seconds;

    if (!roast__metric(&seconds, input, metric) || seconds > total ||
        !(seconds / total >= smallest_share))
        return;
    roast__put_sentence(buf, INDENT, "of it %s %s (%s)", roast__term(label),
                        roast_number(seconds, "s").text,
                        roast_number(100 * seconds / total, "%").text);
}

/* "INSIDE A CHUNK   10.1 s in 8 chunks", or "in 6 of 8 chunks" where the others have no
 * ladder. */
static void put_time_title(struct roast_buf *buf, const struct roast_page_input *input,
                           double total)
{
    char title[LINE_BYTES];
    double chunks, others;
    size_t size =
        (size_t)snprintf(title, sizeof(title), "%s", roast__term(ROAST_TERM_inside));

    if (total > 0) {
        size += (size_t)snprintf(title + size, sizeof(title) - size, "   %s",
                                 roast_number(total, "s").text);
        if (!roast__metric(&others, input, ROAST_METRIC_num_chunks_without_ladder))
            others = 0;
        if (roast__metric(&chunks, input, ROAST_METRIC_ladder_chunks))
            (void)snprintf(title + size, sizeof(title) - size, " in %s%s%s %s",
                           roast_number(chunks, "").text, others > 0 ? " of " : "",
                           others > 0 ? roast_number(chunks + others, "").text : "",
                           chunks + others == 1 ? "chunk" : "chunks");
    }
    roast__put_title(buf, title);
}

void roast__put_chunk_section(struct roast_buf *buf,
                              const struct roast_page_input *input)
{
    const roast_table *ladder = input->tables[ROAST_TABLE_ladder];
    double total = roast__row_sum(ladder);
    size_t start = buf->size_bytes;

    put_time_title(buf, input, total);
    size_t title_end = buf->size_bytes;
    if (total > 0) {
        if (!input->tables[ROAST_TABLE_budget]) { /* which shows the same slices */
            struct roast_slices slices = {
                .table = ladder,
                .first = ROAST_COL_ladder_import,
                .count = ROAST_SLICE_COUNT,
                .total = total,
                .smallest_share = smallest_share,
                .max_bars = ROAST_SLICE_COUNT,
                .bar_columns = 40,
                .others_label = roast__term(ROAST_TERM_inside_small),
                .label = slice_label,
            };
            roast__put_slices(buf, &slices);
        }
        put_split(buf, input->tables[ROAST_TABLE_chunk_split]);
        put_overlay(buf, input, ROAST_METRIC_storage_wait_seconds,
                    ROAST_TERM_storage_wait, total);
        put_overlay(buf, input, ROAST_METRIC_gc_seconds, ROAST_TERM_gc, total);
    }
    const roast_table *hooks = input->tables[ROAST_TABLE_hooks_missing];
    size_t count = roast_table_rows(hooks);
    size_t most = roast__most_rows(input, BRIEF_HOOKS);
    for (size_t row = 0; row < count && row < most; row++) {
        struct roast_str hook =
            roast__cell_text(hooks, row, ROAST_COL_hooks_missing_hook);
        struct roast_str lost =
            roast__cell_text(hooks, row, ROAST_COL_hooks_missing_lost);
        hook = roast_str_cut(hook, NAME_BYTES);
        lost = roast_str_cut(lost, LINE_BYTES - 2 * NAME_BYTES);
        roast__put_sentence(buf, INDENT, "hook %.*s missing: %.*s",
                            (int)hook.size_bytes, hook.data, (int)lost.size_bytes,
                            lost.data);
    }
    roast__put_more(buf, input, count, most);
    if (buf->size_bytes == title_end)
        buf->size_bytes = start; /* no title without lines */
}
