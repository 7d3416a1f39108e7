/* SPDX-License-Identifier: BSD-3-Clause */
/* inside.c - the inside of the chunks: where their seconds went.
 *
 * Slices do not overlap and add up, so their shares are of their own sum. Everything
 * else beside them is an overlay, and says so: the same seconds in another split, those
 * of the garbage collector, and what could not be told for want of a hook. */
#include <math.h>
#include <stdio.h>

#include "report/grid.h"
#include "roast/ladder.h"

enum {
    INDENT = 2,
    BAR_COLUMNS = 40, /* of a slice that is all there is */
    MAX_HOOKS = 10,
    NAME_BYTES = 64,
    CHUNKS_BYTES = 3 * ROAST_NUMBER_BYTES,
    LINE_BYTES = 256
};

/* Shares below round to 0.0 %. */
static const double smallest_share = 0.0005;

/* 0 for what is no amount. */
static double amount_of(struct roast_cell cell)
{
    double value = roast__shown_number(cell);

    return isfinite(value) && value > 0 ? value : 0;
}

static double row_sum(const struct roast_table *table)
{
    double sum = 0;

    for (size_t i = 0; table && table->row_count > 0 && i < table->column_count; i++)
        sum += amount_of(table->cells[i]);
    return isfinite(sum) ? sum : 0;
}

/* "12.3 %"; the point is not that of a locale. */
static void format_share(char out[ROAST_NUMBER_BYTES], double share)
{
    int tenths = (int)lround(share * 1000);

    (void)snprintf(out, ROAST_NUMBER_BYTES, "%d.%d %%", tenths / 10, tenths % 10);
}

/* ---- slices ------------------------------------------------------------------- */

/* The words for a slice; its name where it is one that we do not know. */
static const char *shown_name(const char *name)
{
    for (int i = 0; i < ROAST_SLICE_COUNT; i++) {
        const struct roast_ladder_info *info =
            roast_ladder_info((enum roast_ladder_item)i);
        if (strcmp(info->name, name) == 0)
            return info->shown;
    }
    return name;
}

static void put_slice(struct roast_grid *grid, const char *name, double seconds,
                      double share)
{
    char bar[BAR_COLUMNS + 1];
    char percent[ROAST_NUMBER_BYTES];
    size_t columns = (size_t)lround(share * BAR_COLUMNS);

    format_share(percent, share);
    memset(bar, '#', columns);
    bar[columns] = '\0';
    roast__grid_put(grid, roast_str_of(shown_name(name)));
    roast__grid_put_number(grid, seconds, "s");
    roast__grid_put(grid, roast_str_of(percent));
    roast__grid_put(grid, roast_str_of(bar));
}

/* "2 below 0.05 %", so that nothing is missing from the sum. */
static void put_small_slices(struct roast_grid *grid, size_t count, double seconds)
{
    char label[NAME_BYTES];

    if (count == 0)
        return;
    (void)snprintf(label, sizeof(label), "%zu below 0.05 %%", count);
    roast__grid_put(grid, roast_str_of(label));
    roast__grid_put_number(grid, seconds, "s");
    roast__grid_put(grid, roast_str_of(""));
    roast__grid_put(grid, roast_str_of(""));
}

static void put_slices(struct roast_buf *buf, const struct roast_table *ladder,
                       double total)
{
    static const struct roast_column columns[] = {
        {.max_columns = 16, .cut = ROAST_CUT_MIDDLE},
        {.max_columns = 9, .right = true, .cut = ROAST_CUT_END},
        {.max_columns = 7, .right = true, .cut = ROAST_CUT_END},
        {.max_columns = BAR_COLUMNS, .cut = ROAST_CUT_END},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 4};
    struct roast_ranked ranks = {ladder->cells, ladder->column_count, 1};
    size_t slice = ROAST_NO_RANK;
    size_t small_count = 0;
    double small = 0;

    while ((slice = roast__next_in_rank(&ranks, slice)) != ROAST_NO_RANK) {
        double seconds = amount_of(ladder->cells[slice]);
        if (seconds / total >= smallest_share)
            put_slice(&grid, ladder->columns[slice], seconds, seconds / total);
        else if (seconds > 0) {
            small_count++;
            small += seconds;
        }
    }
    put_small_slices(&grid, small_count, small);
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

/* ---- overlays ----------------------------------------------------------------- */

/* The same seconds by what the thread did in them. */
static void put_split(struct roast_buf *buf, const struct roast_table *split)
{
    static const struct {
        const char *column;
        const char *words;
    } parts[] = {
        {"on_cpu", "on CPU"},
        {"runqueue", "no core free"},
        {"fetch_wait", "storage"},
        {"blocked", "blocked (GIL, locks)"},
    };
    struct roast_line line = {.buf = buf, .indent = INDENT, .columns = INDENT};
    double total = row_sum(split);

    if (!(total > 0))
        return;
    roast__put_blanks(buf, INDENT);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct roast_cell cell = roast__cell(split, 0, parts[i].column);
        char part[LINE_BYTES];
        if (isnan(roast__shown_number(cell)))
            continue;
        (void)snprintf(part, sizeof(part), "%s %.0f %%", parts[i].words,
                       100 * amount_of(cell) / total);
        roast__line_part(&line, roast_str_of(part));
    }
    roast__line_end(&line);
}

/* "of it garbage collection 1.2 s (3.0 %)"; nothing below smallest_share. */
static void put_overlay(struct roast_buf *buf, const struct roast_shown *shown,
                        enum roast_metric metric, const char *words, double total)
{
    char line[LINE_BYTES];
    char number[ROAST_NUMBER_BYTES];
    char percent[ROAST_NUMBER_BYTES];
    double seconds;

    if (!roast__metric(&seconds, shown, metric) || seconds > total ||
        !(seconds / total >= smallest_share))
        return;
    (void)roast_format_number(number, seconds, "s");
    format_share(percent, seconds / total);
    (void)snprintf(line, sizeof(line), "of it %s %s (%s)", words, number, percent);
    roast__put_sentence(buf, INDENT, line);
}

static void put_hook(struct roast_buf *buf, const struct roast_table *hooks, size_t row)
{
    struct roast_str hook = roast__text_or(roast__cell(hooks, row, "hook"), "-");
    struct roast_str lost = roast__text_or(roast__cell(hooks, row, "lost"), "-");
    char line[LINE_BYTES];

    hook = roast_str_cut(hook, NAME_BYTES);
    lost = roast_str_cut(lost, LINE_BYTES - 2 * NAME_BYTES);
    (void)snprintf(line, sizeof(line), "hook %.*s missing: %.*s", (int)hook.size_bytes,
                   hook.data, (int)lost.size_bytes, lost.data);
    roast__put_sentence(buf, INDENT, line);
}

static void put_hooks(struct roast_buf *buf, const struct roast_shown *shown)
{
    const struct roast_table *hooks = roast__find_table(shown, "hooks_missing");
    size_t count = hooks && hooks->column_count > 0 ? hooks->row_count : 0;

    for (size_t row = 0; row < count && row < MAX_HOOKS; row++)
        put_hook(buf, hooks, row);
    if (count > MAX_HOOKS)
        roast__put_count_line(buf, count - MAX_HOOKS, "more");
}

/* ---- where the time went ------------------------------------------------------ */

/* " in 8 chunks", or " in 6 of 8 chunks" where the others were not looked into. */
static void format_chunks(char out[CHUNKS_BYTES], const struct roast_shown *shown)
{
    char chunks_text[ROAST_NUMBER_BYTES];
    char all_text[ROAST_NUMBER_BYTES];
    double chunks;
    double others;

    out[0] = '\0';
    if (!roast__metric(&chunks, shown, ROAST_METRIC_ladder_chunks))
        return;
    if (!roast__metric(&others, shown, ROAST_METRIC_num_chunks_without_ladder))
        others = 0;
    (void)roast_format_number(chunks_text, chunks, "");
    (void)roast_format_number(all_text, chunks + others, "");
    (void)snprintf(out, CHUNKS_BYTES, " in %s%s%s %s", chunks_text,
                   others > 0 ? " of " : "", others > 0 ? all_text : "",
                   chunks + others == 1 ? "chunk" : "chunks");
}

/* "INSIDE A CHUNK   10.1 s in 8 chunks" */
static void put_time_title(struct roast_buf *buf, const struct roast_shown *shown,
                           double total)
{
    char line[LINE_BYTES] = "INSIDE A CHUNK";
    char time[ROAST_NUMBER_BYTES];
    char chunks[CHUNKS_BYTES];

    if (total > 0) {
        (void)roast_format_number(time, total, "s");
        format_chunks(chunks, shown);
        (void)snprintf(line, sizeof(line), "INSIDE A CHUNK   %s%s", time, chunks);
    }
    roast__put_title(buf, line);
}

void roast__put_inside(struct roast_buf *buf, const struct roast_shown *shown)
{
    const struct roast_table *ladder = roast__find_table(shown, "ladder");
    double total = row_sum(ladder);
    size_t start = buf->size_bytes;

    put_time_title(buf, shown, total);
    size_t title_end = buf->size_bytes;
    if (total > 0) {
        put_slices(buf, ladder, total);
        put_split(buf, roast__find_table(shown, "chunk_split"));
        put_overlay(buf, shown, ROAST_METRIC_storage_wait_seconds,
                    "waiting for storage while opening and building", total);
        put_overlay(buf, shown, ROAST_METRIC_gc_seconds, "garbage collection (CPU)",
                    total);
    }
    put_hooks(buf, shown);
    if (buf->size_bytes == title_end)
        buf->size_bytes = start; /* a title over nothing */
}
