/* SPDX-License-Identifier: BSD-3-Clause */
/* read_told.h - a metrics.json from its first byte to the last thing that is told. */
#ifndef ROAST_TESTS_FUZZ_READ_TOLD_H
#define ROAST_TESTS_FUZZ_READ_TOLD_H

#include "base/mem.h"
#include "collect/measurement_metrics.h"

/* Reads a metrics.json and tells a sink what is in it. */
static inline int read_told(const struct roast_measurement_sink *sink,
                            struct roast_json_source source,
                            const struct roast_measurement_timing *timing,
                            roast_error *err)
{
    struct roast_metrics_draft *draft = roast__alloc(sizeof(*draft));

    if (!draft)
        return roast_error_set(err, ROAST_NO_MEMORY, "a draft");
    roast__metrics_init(draft);
    int status = roast__metrics_read(draft, source, "metrics.json", sink, err);
    if (status >= 0)
        status = roast__metrics_tell(draft, timing, sink, err);
    roast__metrics_release(draft);
    roast__free(draft);
    return status;
}

#endif
