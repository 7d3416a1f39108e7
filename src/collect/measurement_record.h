/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_record.h - chunk records of metrics.json as frames.
 *
 * What a key means is in record_views.def. A record of ours says who made it: it comes
 * back as it was, as far as its dict told. All others are read as hand-made records are
 * in Python: the sums of sections, without a tree. Keys that nobody knows become keys of
 * the user. One record is in memory at a time. */
#ifndef ROAST_COLLECT_MEASUREMENT_RECORD_H
#define ROAST_COLLECT_MEASUREMENT_RECORD_H

#include "collect/measurement_inside.h"
#include "collect/measurement_sections.h"

enum { ROAST_DRAFT_MAX_VIEWS = 128 };

/* Where the frames of a record go; a negative status ends the reading. */
struct roast_record_sink {
    int (*frames)(void *context, struct roast_str frames, roast_error *err);
    void *context;
};

/* The value under a key of record_views.def. */
struct roast_draft_value {
    struct roast_json_token token; /* without its text */
    struct roast_kept text;
};

/* When the records say that something ran, ns since 1970; INT64_MAX and INT64_MIN where
 * they say nothing. */
struct roast_record_times {
    int64_t first_start_ns;
    int64_t last_end_ns;
};

/* Zeroed = empty and valid. Large: for the heap. */
struct roast_record_draft {
    struct roast_texts texts;
    struct roast_draft_value views[ROAST_DRAFT_MAX_VIEWS];
    size_t next_view; /* keys mostly come in the order of the list */
    struct roast_kept errors[4];
    bool has_process, has_sequence;
    uint64_t process_id;
    uint64_t sequence;
    unsigned char run_id[ROAST_RUN_ID_BYTES];
    struct roast_section_draft sections;
    struct roast_branch_draft branches;
    struct roast_inside_draft inside;
    struct roast_values user_keys, custom, process;
    struct roast_value_losses value_losses;

    /* of all records */
    struct roast_size_memory sizes;
    struct roast_buf frame;
    uint64_t records; /* read so far */
    uint64_t no_records;
    double monitor_errors;
    struct roast_buf host; /* of all records that say one */
    bool many_hosts;
    struct roast_record_times times;
};

void roast__record_draft_init(struct roast_record_draft *draft);
void roast__record_draft_release(struct roast_record_draft *draft);

/* Reads a list of records. Items that are none are counted. */
int roast__records_read(struct roast_record_draft *draft, struct roast_json_reader *in,
                        const struct roast_json_token *value,
                        const struct roast_record_sink *sink, roast_error *err);

#endif
