/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_help.h - reads a metrics.json and writes down what it says. */
#ifndef ROAST_TESTS_COLLECT_MEASUREMENT_HELP_H
#define ROAST_TESTS_COLLECT_MEASUREMENT_HELP_H

#include "collect/heard_sink.h"
#include "collect/json_help.h"
#include "fuzz/read_told.h"

static inline int read_metrics(struct heard *heard, struct document *document,
                               const struct roast_measurement_timing *timing,
                               roast_error *err)
{
    const struct roast_measurement_sink sink = {
        .context = heard,
        .frames = hear_frames,
        .restart = hear_restart,
        .span = hear_span,
        .host = hear_host,
        .fact = hear_fact,
        .sample = hear_sample,
        .count = hear_count,
        .note = hear_note,
        .lost = hear_lost,
    };

    return read_told(&sink, source_of(document), timing, err);
}

#endif
