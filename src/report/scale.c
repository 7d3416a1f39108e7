/* SPDX-License-Identifier: BSD-3-Clause */
/* scale.c - runs with more and more workers, as text and as JSON. */
#include <math.h>
#include <stdio.h>

#include "report/json_fields.h"

static void put_points(struct roast_buf *buf, const struct roast_scaling *scaling,
                       const struct roast_str *names)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "run", .max_columns = 26, .cut = ROAST_CUT_MIDDLE},
        {.heading = "workers", .max_columns = 8, .right = true},
        {.heading = "threads", .max_columns = 8, .right = true},
        {.heading = "events/s", .max_columns = 9, .right = true},
        {.heading = "efficiency", .max_columns = 10, .right = true},
        {.heading = "by the fit"},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 6};

    for (size_t i = 0; i < scaling->count; i++) {
        const struct roast_scale_point *point = &scaling->points[i];
        roast__grid_put(&grid, names[i]);
        roast__grid_put_number(&grid, point->workers, "");
        roast__grid_put_number(&grid, point->threads, "");
        roast__grid_put_number(&grid, point->event_rate, "");
        roast__grid_put_number(&grid, 100 * point->efficiency, "%");
        roast__grid_put_number(&grid, point->fitted, "");
    }
    roast__put(buf, "SCALING\n");
    roast__grid_write(buf, &grid);
    roast__grid_release(&grid);
}

static void put_estimate(struct roast_buf *buf, const char *name,
                         const struct roast_estimate *estimate, const char *words)
{
    if (isnan(estimate->low))
        roast__put_line(buf, "  %s %.3g   %s", name, estimate->value, words);
    else
        roast__put_line(buf, "  %s %.3g (%.3g ... %.3g)   %s", name, estimate->value,
                        estimate->low, estimate->high, words);
}

/* How the rate changed in the runs themselves. */
static void put_trend(struct roast_buf *buf, const struct roast_scaling *scaling)
{
    const struct roast_scale_point *from =
        scaling->trend == ROAST_TREND_FALLS ? &scaling->best : &scaling->few;
    const struct roast_scale_point *to = &scaling->many;
    static const char *const texts[] = {
        [ROAST_TREND_GROWS] = "The rate grows",
        [ROAST_TREND_FLAT] = "The rate does not grow",
        [ROAST_TREND_FALLS] = "The rate falls",
    };

    if (scaling->trend == ROAST_TREND_UNKNOWN)
        return;
    roast__put_sentence(buf, 0, "%s: %s with %.3g thread%s, %s with %.3g.",
                        texts[scaling->trend],
                        roast_number(from->event_rate, "events/s").text, from->threads,
                        from->threads == 1 ? "" : "s",
                        roast_number(to->event_rate, "events/s").text, to->threads);
}

/* By the fit; a maximum beyond the runs is an extrapolation. */
static void put_best(struct roast_buf *buf, const struct roast_scaling *scaling)
{
    if (scaling->best_threads == 1)
        roast__put_line(buf, "  the rate falls with every thread after the first");
    else if (scaling->best_threads > scaling->many.threads)
        roast__put_line(buf,
                        "  the rate is highest with %.3g threads, more than any run",
                        scaling->best_threads);
    else if (!isnan(scaling->best_threads))
        roast__put_line(buf, "  the rate is highest with %.3g threads, then it falls",
                        scaling->best_threads);
    else if (scaling->trend == ROAST_TREND_GROWS)
        roast__put_line(buf, "  the rate only grows with threads");
}

int roast_report_scale(struct roast_page *out, const struct roast_scaling *scaling,
                       const struct roast_str *names, roast_error *err)
{
    struct roast_buf buf = {0};

    put_points(&buf, scaling, names);
    put_trend(&buf, scaling);
    roast__put_title(&buf, "UNIVERSAL SCALABILITY LAW");
    if (scaling->fits) {
        put_estimate(&buf, "rate 1", &scaling->rate_1, "events/s of one thread");
        put_estimate(&buf, "sigma ", &scaling->sigma,
                     "contention: share of serial work");
        put_estimate(&buf, "kappa ", &scaling->kappa, "cost of coordination");
        put_best(&buf, scaling);
    }
    if (scaling->why)
        roast__put_sentence(&buf, 2, "%s", scaling->why);
    if (scaling->remark)
        roast__put_sentence(&buf, 2, "%s", scaling->remark);
    return roast__page_finish(out, &buf, err);
}

int roast_report_scale_json(struct roast_page *out, const struct roast_scaling *scaling,
                            const struct roast_str *names, roast_error *err)
{
    struct roast_buf buf = {0};
    struct roast_json json = roast__json_begin(&buf, "roast_scale_v1");

    roast_json_key(&json, roast_str_of("runs"));
    roast_json_open(&json, '[');
    for (size_t i = 0; i < scaling->count; i++) {
        const struct roast_scale_point *point = &scaling->points[i];
        roast_json_open(&json, '{');
        roast__json_named_text(&json, "run", names[i]);
        roast__json_named_number(&json, "workers", point->workers);
        roast__json_named_number(&json, "threads", point->threads);
        roast__json_named_number(&json, "event_rate", point->event_rate);
        roast__json_named_number(&json, "efficiency", point->efficiency);
        roast__json_named_number(&json, "fitted", point->fitted);
        roast__json_named_number(&json, "chunk_events", point->chunk_events);
        roast_json_close(&json, '}');
    }
    roast_json_close(&json, ']');
    roast__json_named_text(&json, "trend",
                           roast_str_of(roast_trend_name(scaling->trend)));
    if (scaling->fits) {
        roast__json_named_estimate(&json, "rate_1", &scaling->rate_1);
        roast__json_named_estimate(&json, "sigma", &scaling->sigma);
        roast__json_named_estimate(&json, "kappa", &scaling->kappa);
        roast__json_named_number(&json, "best_threads", scaling->best_threads);
    }
    roast__json_named_count(&json, "sure_percent", ROAST_SURE_PERCENT);
    if (scaling->why)
        roast__json_named_text(&json, "why", roast_str_of(scaling->why));
    if (scaling->remark)
        roast__json_named_text(&json, "remark", roast_str_of(scaling->remark));
    return roast__json_finish(out, &json, &buf, err);
}
