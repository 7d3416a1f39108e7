/* SPDX-License-Identifier: BSD-3-Clause */
/* forecast.c - what a larger run would take, as text and as JSON. */
#include <math.h>
#include <stdio.h>

#include "report/json_fields.h"

static const char range_text[] =
    "Ranges contain the spread of chunk times, and of the wall time the best and the "
    "worst end of the last chunks; everything else is assumed to stay the same.";

static void put_range(struct roast_buf *buf, const char *name,
                      const struct roast_estimate *estimate)
{
    roast__put_line(
        buf, "  %s  %s   (%s ... %s)", name, roast_number(estimate->value, "s").text,
        roast_number(estimate->low, "s").text, roast_number(estimate->high, "s").text);
}

static void put_number(struct roast_buf *buf, const char *name, double value,
                       const char *unit)
{
    if (!isnan(value))
        roast__put_line(buf, "  %s  %s", name, roast_number(value, unit).text);
}

/* The planned chunksize / the largest measured chunk. */
static double beyond_seen(const struct roast_forecast *forecast,
                          const struct roast_plan *plan)
{
    return plan->chunksize / forecast->largest_seen;
}

int roast_report_forecast(struct roast_page *out, const struct roast_forecast *forecast,
                          const struct roast_plan *plan, roast_error *err)
{
    struct roast_buf buf = {0};

    roast__put_line(&buf, "FORECAST   %s events on %s %s",
                    roast_number(plan->events, "").text,
                    roast_number(plan->workers, "").text,
                    plan->workers == 1 ? "worker" : "workers");
    if (forecast->why) {
        roast__put_sentence(&buf, 2, "%s", forecast->why);
        return roast__page_finish(out, &buf, err);
    }
    put_range(&buf, "wall time     ", &forecast->wall_s);
    put_range(&buf, "thread-seconds", &forecast->thread_seconds);
    put_number(&buf, "chunks        ", forecast->chunks, "");
    if (forecast->preprocess_s > 0)
        put_number(&buf, "preprocessing ", forecast->preprocess_s, "s");
    roast__put_title(&buf, "FROM WHAT WAS MEASURED");
    put_number(&buf, "chunks            ", (double)forecast->chunks_seen, "");
    put_number(&buf, "largest, events   ", forecast->largest_seen, "");
    put_number(&buf, "seconds per chunk ", forecast->seconds_per_chunk, "s");
    put_number(&buf, "seconds per event ", forecast->seconds_per_event, "s");
    put_number(&buf, "threads per worker", forecast->threads_per_worker, "");
    put_number(&buf, "threads busy      ", 100 * forecast->busy_share, "%");
    put_number(&buf, "other time        ", forecast->fixed_s, "s");
    double beyond = beyond_seen(forecast, plan);
    if (beyond > 1.5)
        roast__put_sentence(
            &buf, 2,
            "Chunks are %s times larger than any measured one: the forecast is an "
            "extrapolation; check that their memory suffices.",
            roast_number(beyond, "").text);
    roast__put_sentence(&buf, 2, "%s", range_text);
    roast__put_sentence(&buf, 2,
                        "Storage and scheduler are assumed to be as fast with more "
                        "workers; roast scale shows whether they are.");
    return roast__page_finish(out, &buf, err);
}

int roast_report_forecast_json(struct roast_page *out,
                               const struct roast_forecast *forecast,
                               const struct roast_plan *plan, roast_error *err)
{
    struct roast_buf buf = {0};
    struct roast_json json = roast__json_begin(&buf, "roast_forecast_v1");

    roast__json_named_number(&json, "events", plan->events);
    roast__json_named_number(&json, "workers", plan->workers);
    roast__json_named_count(&json, "chunks_seen", forecast->chunks_seen);
    roast__json_named_number(&json, "largest_seen", forecast->largest_seen);
    if (forecast->why) {
        roast__json_named_text(&json, "why", roast_str_of(forecast->why));
    } else {
        roast__json_named_estimate(&json, "wall_seconds", &forecast->wall_s);
        roast__json_named_estimate(&json, "thread_seconds", &forecast->thread_seconds);
        roast__json_named_number(&json, "chunks", forecast->chunks);
        roast__json_named_number(&json, "seconds_per_chunk",
                                 forecast->seconds_per_chunk);
        roast__json_named_number(&json, "seconds_per_event",
                                 forecast->seconds_per_event);
        roast__json_named_number(&json, "threads_per_worker",
                                 forecast->threads_per_worker);
        roast__json_named_number(&json, "busy_share", forecast->busy_share);
        roast__json_named_number(&json, "fixed_seconds", forecast->fixed_s);
        roast__json_named_number(&json, "preprocess_seconds", forecast->preprocess_s);
        if (plan->chunksize > 0)
            roast__json_named_number(&json, "beyond_seen", beyond_seen(forecast, plan));
        roast__json_named_text(&json, "ranges", roast_str_of(range_text));
    }
    return roast__json_finish(out, &json, &buf, err);
}
