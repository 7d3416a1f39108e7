/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.c - two runs beside each other, as text and as JSON.
 *
 * The text leaves out what is the same in both, and counts it; JSON has everything. */
#include <math.h>
#include <stdio.h>

#include "report/values.h"

enum { NUMBER = 11, CHANGE = 9 };

/* ---- what was compared ----------------------------------------------------------- */

static void put_side(struct roast_buf *buf, const struct roast_comparison *comparison,
                     bool is_b, struct roast_str name)
{
    static const struct {
        enum roast_metric metric;
        const char *unit;
        const char *words;
    } parts[] = {
        {ROAST_METRIC_wall_time, "s", ""},
        {ROAST_METRIC_total_events, "", " event"},
        {ROAST_METRIC_num_chunks_processed, "", " chunk"},
        {ROAST_METRIC_total_cores, "", " thread"},
    };
    struct roast_wrapped_line line = {.buf = buf, .indent = 2};

    roast__put(buf, is_b ? "B " : "A ");
    line.columns = 2;
    roast__line_part(&line, name);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct roast_compared *row = &comparison->metrics[parts[i].metric];
        double value = is_b ? row->b : row->a;
        if (isnan(value))
            continue;
        roast__line_format(&line, "%s%s%s", roast__number(value, parts[i].unit).text,
                           parts[i].words, *parts[i].words && value != 1 ? "s" : "");
    }
    roast__line_end(&line);
}

/* ---- chunks ---------------------------------------------------------------------- */

static void put_measures(struct roast_buf *buf,
                         const struct roast_comparison *comparison)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "median", .max_columns = 20, .cut = ROAST_CUT_END},
        {.heading = "A", .max_columns = NUMBER, .right = true, .cut = ROAST_CUT_END},
        {.heading = "B", .max_columns = NUMBER, .right = true, .cut = ROAST_CUT_END},
        {.heading = "change",
         .max_columns = CHANGE,
         .right = true,
         .cut = ROAST_CUT_END},
        {.heading = "95 % sure", .cut = ROAST_CUT_END},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 5};
    const struct roast_contrast *first =
        &comparison->measures[roast_compare_main(comparison)];

    for (int i = 0; i < ROAST_MEASURE_COUNT; i++) {
        const struct roast_contrast *contrast = &comparison->measures[i];
        const struct roast_measure_info *info =
            roast_measure_info((enum roast_measure)i);
        if (isnan(contrast->a_median) && isnan(contrast->b_median))
            continue;
        roast__grid_put(&grid, roast_str_of(info->shown));
        roast__grid_put_number(&grid, contrast->a_median, info->unit);
        roast__grid_put_number(&grid, contrast->b_median, info->unit);
        roast__grid_put_change(&grid, contrast->ratio);
        char text[80] = "-";
        if (!contrast->why)
            (void)snprintf(text, sizeof(text), "%+.1f ... %+.1f %%",
                           roast__percent_more(contrast->low),
                           roast__percent_more(contrast->high));
        roast__grid_put(&grid, roast_str_of(text));
    }
    roast__put_title(buf, "THE TYPICAL CHUNK");
    if (first->pairs > 0)
        roast__put_line(buf, "  %zu chunks, each against itself in the other run",
                        first->pairs);
    else
        roast__put_line(buf, "  %zu chunks of A against %zu of B", first->a_chunks,
                        first->b_chunks);
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
    if (first->why)
        roast__put_sentence(buf, 2, first->why);
}

/* ---- the budget ------------------------------------------------------------------ */

static void put_slices(struct roast_buf *buf, const struct roast_comparison *comparison)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "worker time", .max_columns = 28, .cut = ROAST_CUT_END},
        {.heading = "A", .max_columns = 8, .right = true, .cut = ROAST_CUT_END},
        {.heading = "B", .max_columns = 8, .right = true, .cut = ROAST_CUT_END},
        {.heading = "A/event", .max_columns = 8, .right = true, .cut = ROAST_CUT_END},
        {.heading = "B/event", .max_columns = 8, .right = true, .cut = ROAST_CUT_END},
        {.heading = "change", .cut = ROAST_CUT_END},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 6};
    const struct roast_compared *events =
        &comparison->metrics[ROAST_METRIC_total_events];

    for (int i = 0; i < ROAST_COMPARED_SLICES; i++) {
        const struct roast_compared *row = &comparison->slices[i];
        const char *shown = roast_slice_shown((enum roast_compared_slice)i);
        static const double rounding_s = 1e-9;
        if (!(row->a > rounding_s || row->b > rounding_s))
            continue;
        double a = row->a / events->a;
        double b = row->b / events->b;
        roast__grid_put(&grid, roast_str_of(shown));
        roast__grid_put_number(&grid, row->a, "s");
        roast__grid_put_number(&grid, row->b, "s");
        roast__grid_put_number(&grid, a, "s");
        roast__grid_put_number(&grid, b, "s");
        roast__grid_put_change(&grid, isfinite(b / a) ? b / a : row->ratio);
    }
    if (grid.cells.size_bytes > 0) {
        roast__put_title(buf, "WHERE THE WORKER TIME WENT");
        roast__grid_write(buf, &grid);
    }
    roast__grid_release(&grid);
}

/* ---- metrics --------------------------------------------------------------------- */

static void put_metric(struct roast_grid *grid, enum roast_metric metric, double value)
{
    char text[ROAST_NUMBER_BYTES];

    (void)roast__format_metric(text, metric, value);
    roast__grid_put(grid, roast_str_of(text));
}

static void put_metrics(struct roast_buf *buf,
                        const struct roast_comparison *comparison)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "metric", .max_columns = 38, .cut = ROAST_CUT_MIDDLE},
        {.heading = "A", .max_columns = NUMBER, .right = true, .cut = ROAST_CUT_END},
        {.heading = "B", .max_columns = NUMBER, .right = true, .cut = ROAST_CUT_END},
        {.heading = "change", .cut = ROAST_CUT_END},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 4};
    uint64_t same = 0;

    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        const struct roast_compared *row = &comparison->metrics[i];
        const char *name = roast_metric_info((enum roast_metric)i)->name;
        if (row->a == row->b || (isnan(row->a) && isnan(row->b))) {
            same += isnan(row->a) ? 0 : 1;
            continue;
        }
        roast__grid_put(&grid, roast_str_of(name));
        put_metric(&grid, (enum roast_metric)i, row->a);
        put_metric(&grid, (enum roast_metric)i, row->b);
        roast__grid_put_change(&grid, row->ratio);
    }
    roast__put_title(buf, "METRICS");
    if (grid.cells.size_bytes > 0)
        roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
    roast__put_count_line(buf, same, "are the same in both");
}

int roast_report_compare(struct roast_page *out,
                         const struct roast_comparison *comparison,
                         const struct roast_str names[2], roast_error *err)
{
    struct roast_buf buf = {0};

    put_side(&buf, comparison, false, names[0]);
    put_side(&buf, comparison, true, names[1]);
    roast__put_sentence(&buf, 0, comparison->first);
    put_measures(&buf, comparison);
    put_slices(&buf, comparison);
    put_metrics(&buf, comparison);
    return roast__page_finish(out, &buf, err);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void json_pair(struct roast_json *json, const struct roast_compared *row)
{
    roast__json_named_number(json, "a", row->a);
    roast__json_named_number(json, "b", row->b);
    roast__json_named_number(json, "ratio", row->ratio);
}

static void json_open(struct roast_json *json, const char *key)
{
    roast_json_key(json, roast_str_of(key));
    roast_json_open(json, '{');
}

static void json_numbers(struct roast_json *json,
                         const struct roast_comparison *comparison)
{
    json_open(json, "budget");
    for (int i = 0; i < ROAST_COMPARED_SLICES; i++) {
        json_open(json, roast_slice_name((enum roast_compared_slice)i));
        json_pair(json, &comparison->slices[i]);
        roast_json_close(json, '}');
    }
    roast_json_close(json, '}');
    json_open(json, "metrics");
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        const struct roast_metric_info *info = roast_metric_info((enum roast_metric)i);
        json_open(json, info->name);
        json_pair(json, &comparison->metrics[i]);
        roast__json_named_text(json, "unit", roast_str_of(info->unit));
        roast_json_close(json, '}');
    }
    roast_json_close(json, '}');
}

int roast_report_compare_json(struct roast_page *out,
                              const struct roast_comparison *comparison,
                              const struct roast_str names[2], roast_error *err)
{
    struct roast_buf buf = {0};
    struct roast_json json = roast__json_to(&buf);

    roast_json_open(&json, '{');
    roast__json_format(&json, "roast_compare_v1");
    roast__json_named_text(&json, "a", names[0]);
    roast__json_named_text(&json, "b", names[1]);
    roast__json_named_text(&json, "first", roast_str_of(comparison->first));
    roast__json_named_count(&json, "sure_percent", ROAST_SURE_PERCENT);
    roast__json_named_text(
        &json, "judged",
        roast_str_of(roast_measure_info(roast_compare_main(comparison))->name));
    json_open(&json, "measures");
    for (int i = 0; i < ROAST_MEASURE_COUNT; i++) {
        const struct roast_contrast *contrast = &comparison->measures[i];
        const struct roast_measure_info *info =
            roast_measure_info(((enum roast_measure)i));
        roast_json_key(&json, roast_str_of(info->name));
        roast_json_open(&json, '{');
        roast__json_named_text(&json, "unit", roast_str_of(info->unit));
        roast__json_named_text(&json, "meaning", roast_str_of(info->text));
        roast__json_named_count(&json, "a_chunks", contrast->a_chunks);
        roast__json_named_count(&json, "b_chunks", contrast->b_chunks);
        roast__json_named_count(&json, "pairs", contrast->pairs);
        roast__json_named_number(&json, "a", contrast->a_median);
        roast__json_named_number(&json, "b", contrast->b_median);
        roast__json_named_number(&json, "ratio", contrast->ratio);
        roast__json_named_number(&json, "low", contrast->low);
        roast__json_named_number(&json, "high", contrast->high);
        roast__json_named_text(&json, "change",
                               roast_str_of(roast_change_name(contrast->change)));
        if (contrast->why)
            roast__json_named_text(&json, "why", roast_str_of(contrast->why));
        roast_json_close(&json, '}');
    }
    roast_json_close(&json, '}');
    json_numbers(&json, comparison);
    roast_json_close(&json, '}');
    roast__put(&buf, "\n");
    return roast__page_finish(out, &buf, err);
}
