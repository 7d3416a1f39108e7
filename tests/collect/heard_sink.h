/* SPDX-License-Identifier: BSD-3-Clause */
/* heard_sink.h - a sink of a measurement that writes down what it is told. */
#ifndef ROAST_TESTS_COLLECT_HEARD_SINK_H
#define ROAST_TESTS_COLLECT_HEARD_SINK_H

#include <inttypes.h>

#include "collect/heard.h"
#include "collect/measurement.h"

#define SHOWN(str) (int)(str).size_bytes, (str).data

static int hear_frames(void *context, struct roast_str frames, roast_error *err)
{
    struct heard *heard = context;

    roast__buf_put(&heard->frames, frames.data, frames.size_bytes);
    return heard_call(heard, err);
}

static int hear_restart(void *context, roast_error *err)
{
    struct heard *heard = context;

    heard->restarts++;
    roast__buf_clear(&heard->frames);
    return heard_call(heard, err);
}

static int hear_span(void *context, int64_t start_ns, int64_t end_ns, roast_error *err)
{
    return heard_line(context, err, "span %" PRId64 " %" PRId64, start_ns, end_ns);
}

static int hear_host(void *context, struct roast_str host, roast_error *err)
{
    return heard_line(context, err, "host %.*s", SHOWN(host));
}

static int hear_fact(void *context, const char *name, double value, roast_error *err)
{
    return heard_line(context, err, "fact %s %.17g", name, value);
}

static int hear_sample(void *context, const roast_sample *sample, roast_error *err)
{
    char values[400];
    size_t size = 0;

    for (int i = 0; i < ROAST_SERIES_COUNT && size < sizeof(values); i++) {
        enum roast_series series = (enum roast_series)i;
        if (roast_sample_has(sample, series))
            size +=
                (size_t)snprintf(values + size, sizeof(values) - size, " %s=%g",
                                 roast_series_info(series)->name, sample->values[i]);
    }
    return heard_line(context, err, "sample %.*s %" PRId64 "%s", SHOWN(sample->worker),
                      sample->time_ns, values);
}

static int hear_count(void *context, int64_t time_ns, uint64_t workers,
                      roast_error *err)
{
    return heard_line(context, err, "count %" PRId64 " %" PRIu64, time_ns, workers);
}

static int hear_note(void *context, const char *group, struct roast_str name,
                     struct roast_str text, roast_error *err)
{
    return heard_line(context, err, "%s %.*s = %.*s", group, SHOWN(name), SHOWN(text));
}

static int hear_lost(void *context, uint64_t values, roast_error *err)
{
    ((struct heard *)context)->lost += values;
    return heard_call(context, err);
}

#endif
