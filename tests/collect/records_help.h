/* SPDX-License-Identifier: BSD-3-Clause */
/* records_help.h - the chunk records of a metrics.json, decoded. */
#ifndef ROAST_TESTS_COLLECT_RECORDS_HELP_H
#define ROAST_TESTS_COLLECT_RECORDS_HELP_H

#include "collect/measurement_help.h"

static const struct roast_measurement_timing some_time = {.start_s = 1700000000,
                                                          .end_s = 1700000010};

/* A document that was read. */
struct read {
    struct heard heard;
    roast_record records[8]; /* borrow heard */
    size_t count;
};

static inline struct read read_text(const char *text)
{
    struct document document = document_of(text);
    struct read read = {.count = 0};
    roast_error err = {0};
    int status = read_metrics(&read.heard, &document, &some_time, &err);
    struct roast_str left = {(const char *)read.heard.frames.data,
                             read.heard.frames.size_bytes};

    assert_string_equal(err.message, "");
    assert_int_equal(status, ROAST_OK);
    while (left.size_bytes > 0) {
        size_t used = 0;
        assert_true(read.count < COUNT_OF(read.records));
        assert_int_equal(
            roast_record_decode(&read.records[read.count++], &used, left, NULL),
            ROAST_OK);
        left.data += used;
        left.size_bytes -= used;
    }
    return read;
}

/* One record, from what stands between its brackets. */
static inline struct read read_one(const char *inside)
{
    char text[8000];
    int size = snprintf(text, sizeof(text), "{\"raw_chunk_metrics\": [{%s}]}", inside);

    assert_true(size > 0 && (size_t)size < sizeof(text));
    return read_text(text);
}

static inline void done(struct read *read)
{
    heard_release(&read->heard);
}

#define OURS "\"process_id\": 18446744073709551615, \"sequence\": 7, "

static inline struct roast_str blob_of(const roast_record *rec, enum roast_field field)
{
    assert_true(roast_record_has(rec, field));
    return rec->values[field].str;
}

#endif
