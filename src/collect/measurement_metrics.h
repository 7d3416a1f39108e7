/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_metrics.h - metrics.json: what it says, and what that makes a run.
 *
 * Records go to the sink as they are read. Numbers that stand for coffea's report become
 * facts, samples wait for their zone, and everything else is copied into one document,
 * so that nothing is lost. */
#ifndef ROAST_COLLECT_MEASUREMENT_METRICS_H
#define ROAST_COLLECT_MEASUREMENT_METRICS_H

#include "collect/measurement_record.h"
#include "collect/measurement_tracking.h"

enum { ROAST_IMPORT_DOCUMENT_BYTES = 16 << 20 };

/* Numbers of metrics.json that facts, or the span of the run, are made of. */
enum roast_told_number {
#define T(name) ROAST_TOLD_##name,
#include "collect/measurement_told.def"
#undef T
    ROAST_TOLD_COUNT
};

struct roast_label {
    struct roast_kept name;
    struct roast_kept text;
};

/* Zeroed = empty and valid. Large: for the heap. */
struct roast_metrics_draft {
    struct roast_record_draft records;
    bool has_records;
    struct roast_tracking_draft tracking;
    struct roast_json_copy rest;          /* keys that have no place elsewhere */
    struct roast_json_copy tracking_rest; /* series that nobody knows */
    struct roast_json_copy chunk_info;    /* kept where there are no records */
    struct roast_json_copy custom;        /* custom_metrics */
    struct roast_json_copy sections;      /* raw_section_metrics */
    bool known[ROAST_TOLD_COUNT];
    double numbers[ROAST_TOLD_COUNT];
    bool is_ours; /* 0.1.2 did not say who wrote it */
    bool has_spans;
    struct roast_texts texts;
    struct roast_buf labels; /* of struct roast_label */
    struct roast_kept first_error;
    uint64_t replaced; /* texts that were none */
};

/* When the block began and ended, as the timing file says: in seconds since 1970, or of
 * a clock that nobody knows. `saved_ns` is 0 where it is not known. */
struct roast_measurement_timing {
    double start_s;
    double end_s;
    int64_t saved_ns;
};

void roast__metrics_init(struct roast_metrics_draft *draft);
void roast__metrics_release(struct roast_metrics_draft *draft);

/* Reads the document. `name` is for messages. */
int roast__metrics_read(struct roast_metrics_draft *draft,
                        struct roast_json_source source, const char *name,
                        const struct roast_measurement_sink *sink, roast_error *err);

/* Tells the sink all but the records. */
int roast__metrics_tell(struct roast_metrics_draft *draft,
                        const struct roast_measurement_timing *timing,
                        const struct roast_measurement_sink *sink, roast_error *err);

#endif
