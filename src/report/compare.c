/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.c - two runs side by side, as text and as JSON.
 *
 * The text only counts metrics that are equal in both; JSON has everything. */
#include <math.h>
#include <stdio.h>

#include "report/json_fields.h"

enum { NUMBER = 11, CHANGE = 9 };

/* A ratio in percent, for one digit: no -0.0. */
static double percent_more(double ratio)
{
    double percent = 100 * (ratio - 1);

    return fabs(percent) < 0.05 ? 0 : percent;
}

/* "+9.3 %", "x 12"; "-" where it is not known. */
static void put_change(struct roast_grid *grid, double ratio)
{
    char text[ROAST_NUMBER_BYTES] = "-";

    if (ratio >= 10)
        (void)snprintf(text, sizeof(text), "x %.3g", ratio);
    else if (isfinite(ratio))
        (void)snprintf(text, sizeof(text), "%+.1f %%", percent_more(ratio));
    roast__grid_put(grid, roast_str_of(text));
}

/* ---- the runs -------------------------------------------------------------------- */

static void put_run(struct roast_buf *buf, const struct roast_comparison *comparison,
                    bool is_b, struct roast_str name)
{
    static const struct {
        enum roast_metric metric;
        const char *unit;
        const char *noun;
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
    if (*comparison->processors[is_b])
        roast__line_part(&line, roast_str_of(comparison->processors[is_b]));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct roast_compared *row = &comparison->metrics[parts[i].metric];
        double value = is_b ? row->b : row->a;
        if (isnan(value))
            continue;
        roast__line_format(&line, "%s%s%s", roast_number(value, parts[i].unit).text,
                           parts[i].noun, *parts[i].noun && value != 1 ? "s" : "");
    }
    roast__line_end(&line);
}

/* What differs, and what can be compared in spite of it. */
static void put_differences(struct roast_buf *buf,
                            const struct roast_comparison *comparison)
{
    for (int i = 0; i < ROAST_DIFFERENCE_COUNT; i++) {
        const struct roast_difference_info *info =
            roast_difference_info((enum roast_difference)i);
        if (!*comparison->differs[i])
            continue;
        roast__put_sentence(buf, 0, "Different %s: %s.", info->shown,
                            comparison->differs[i]);
        roast__put_sentence(buf, 2, "%s.", info->text);
    }
}

/* ---- chunks ---------------------------------------------------------------------- */

static void put_measures(struct roast_buf *buf,
                         const struct roast_comparison *comparison)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "median", .max_columns = 20},
        {.heading = "A", .max_columns = NUMBER, .right = true},
        {.heading = "B", .max_columns = NUMBER, .right = true},
        {.heading = "change", .max_columns = CHANGE, .right = true},
        {.heading = "95 % interval"},
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
        put_change(&grid, contrast->ratio);
        char text[80] = "-";
        if (!contrast->why)
            (void)snprintf(text, sizeof(text), "%+.1f ... %+.1f %%",
                           percent_more(contrast->low), percent_more(contrast->high));
        roast__grid_put(&grid, roast_str_of(text));
    }
    roast__put_title(buf, "THE TYPICAL CHUNK");
    if (first->pairs > 0)
        roast__put_line(buf, "  %zu chunks, each compared with itself in the other run",
                        first->pairs);
    else
        roast__put_line(buf, "  %zu chunks of A compared with %zu of B",
                        first->a_chunks, first->b_chunks);
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
    if (first->why)
        roast__put_sentence(buf, 2, "%s", first->why);
}

/* ---- the budget ------------------------------------------------------------------ */

static void put_slices(struct roast_buf *buf, const struct roast_comparison *comparison)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "worker time", .max_columns = 28},
        {.heading = "A", .max_columns = 8, .right = true},
        {.heading = "B", .max_columns = 8, .right = true},
        {.heading = "A/event", .max_columns = 8, .right = true},
        {.heading = "B/event", .max_columns = 8, .right = true},
        {.heading = "change"},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 6};
    const struct roast_compared *events =
        &comparison->metrics[ROAST_METRIC_total_events];

    for (int i = 0; i < ROAST_COMPARED_SLICES; i++) {
        const struct roast_compared *row = &comparison->slices[i];
        static const double rounding_s = 1e-9;
        if (!(row->a > rounding_s || row->b > rounding_s))
            continue;
        double a = row->a / events->a;
        double b = row->b / events->b;
        roast__grid_put(&grid,
                        roast_str_of(roast_slice_shown((enum roast_compared_slice)i)));
        roast__grid_put_number(&grid, row->a, "s");
        roast__grid_put_number(&grid, row->b, "s");
        roast__grid_put_number(&grid, a, "s");
        roast__grid_put_number(&grid, b, "s");
        put_change(&grid, isfinite(b / a) ? b / a : row->ratio);
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
        {.heading = "A", .max_columns = NUMBER, .right = true},
        {.heading = "B", .max_columns = NUMBER, .right = true},
        {.heading = "change"},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 4};
    size_t same = 0;

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
        put_change(&grid, row->ratio);
    }
    roast__put_title(buf, "METRICS");
    if (grid.cells.size_bytes > 0)
        roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
    roast__put_line(buf, "  %zu are the same in both", same);
}

int roast_report_compare(struct roast_page *out,
                         const struct roast_comparison *comparison,
                         const struct roast_str names[2], roast_error *err)
{
    struct roast_buf buf = {0};

    put_run(&buf, comparison, false, names[0]);
    put_run(&buf, comparison, true, names[1]);
    put_differences(&buf, comparison);
    roast__put_sentence(&buf, 0, "%s", comparison->first);
    put_measures(&buf, comparison);
    put_slices(&buf, comparison);
    put_metrics(&buf, comparison);
    return roast__page_finish(out, &buf, err);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void json_values(struct roast_json *json, const struct roast_compared *row)
{
    roast__json_named_number(json, "a", row->a);
    roast__json_named_number(json, "b", row->b);
    roast__json_named_number(json, "ratio", row->ratio);
}

int roast_report_compare_json(struct roast_page *out,
                              const struct roast_comparison *comparison,
                              const struct roast_str names[2], roast_error *err)
{
    struct roast_buf buf = {0};
    struct roast_json json = roast__json_begin(&buf, "roast_compare_v1");

    roast__json_named_text(&json, "a", names[0]);
    roast__json_named_text(&json, "b", names[1]);
    roast__json_named_object(&json, "processors");
    for (int i = 0; i < 2; i++)
        if (*comparison->processors[i])
            roast__json_named_text(&json, i ? "b" : "a",
                                   roast_str_of(comparison->processors[i]));
    roast_json_close(&json, '}');
    roast__json_named_object(&json, "differs");
    for (int i = 0; i < ROAST_DIFFERENCE_COUNT; i++) {
        const struct roast_difference_info *info =
            roast_difference_info((enum roast_difference)i);
        if (!*comparison->differs[i])
            continue;
        roast__json_named_object(&json, info->name);
        roast__json_named_text(&json, "how", roast_str_of(comparison->differs[i]));
        roast__json_named_text(&json, "comparable", roast_str_of(info->text));
        roast_json_close(&json, '}');
    }
    roast_json_close(&json, '}');
    roast__json_named_text(&json, "first", roast_str_of(comparison->first));
    roast__json_named_count(&json, "sure_percent", ROAST_SURE_PERCENT);
    roast__json_named_text(
        &json, "judged",
        roast_str_of(roast_measure_info(roast_compare_main(comparison))->name));
    roast__json_named_object(&json, "measures");
    for (int i = 0; i < ROAST_MEASURE_COUNT; i++) {
        const struct roast_contrast *contrast = &comparison->measures[i];
        const struct roast_measure_info *info =
            roast_measure_info(((enum roast_measure)i));
        roast__json_named_object(&json, info->name);
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
    roast__json_named_object(&json, "budget");
    for (int i = 0; i < ROAST_COMPARED_SLICES; i++) {
        roast__json_named_object(&json, roast_slice_name((enum roast_compared_slice)i));
        json_values(&json, &comparison->slices[i]);
        roast_json_close(&json, '}');
    }
    roast_json_close(&json, '}');
    roast__json_named_object(&json, "metrics");
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        const struct roast_metric_info *info = roast_metric_info((enum roast_metric)i);
        roast__json_named_object(&json, info->name);
        json_values(&json, &comparison->metrics[i]);
        roast__json_named_text(&json, "unit", roast_str_of(info->unit));
        roast_json_close(&json, '}');
    }
    roast_json_close(&json, '}');
    return roast__json_finish(out, &json, &buf, err);
}
