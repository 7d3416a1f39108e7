/* SPDX-License-Identifier: BSD-3-Clause */
/* quiet_sink.h - a sink for measurements that forgets everything. */
#ifndef ROAST_TESTS_FUZZ_QUIET_SINK_H
#define ROAST_TESTS_FUZZ_QUIET_SINK_H

#include "collect/measurement_metrics.h"

static int forget_text(void *context, struct roast_str text, roast_error *err)
{
    (void)context;
    (void)text;
    (void)err;
    return ROAST_OK;
}

static int forget(void *context, roast_error *err)
{
    return forget_text(context, (struct roast_str){NULL, 0}, err);
}

static int forget_span(void *context, int64_t start_ns, int64_t end_ns,
                       roast_error *err)
{
    (void)start_ns;
    (void)end_ns;
    return forget(context, err);
}

static int forget_fact(void *context, const char *name, double value, roast_error *err)
{
    (void)name;
    (void)value;
    return forget(context, err);
}

static int forget_sample(void *context, const roast_sample *sample, roast_error *err)
{
    (void)sample;
    return forget(context, err);
}

static int forget_count(void *context, int64_t time_ns, uint64_t workers,
                        roast_error *err)
{
    (void)time_ns;
    (void)workers;
    return forget(context, err);
}

static int forget_note(void *context, const char *group, struct roast_str name,
                       struct roast_str text, roast_error *err)
{
    (void)group;
    (void)name;
    return forget_text(context, text, err);
}

static int forget_number(void *context, uint64_t number, roast_error *err)
{
    (void)number;
    return forget(context, err);
}

static const struct roast_measurement_sink quiet_sink = {
    .frames = forget_text,
    .restart = forget,
    .span = forget_span,
    .host = forget_text,
    .fact = forget_fact,
    .sample = forget_sample,
    .count = forget_count,
    .note = forget_note,
    .lost = forget_number,
};

#endif
