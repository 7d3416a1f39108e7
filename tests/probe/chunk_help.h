/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_help.h - a chunk from its begin to the decoded record. */
#ifndef ROAST_TESTS_PROBE_CHUNK_HELP_H
#define ROAST_TESTS_PROBE_CHUNK_HELP_H

#include "record_help.h"

/* 3000 bytes of 3-byte characters: no limit is a multiple of 3. */
static inline struct roast_str long_text(void)
{
    static char euros[3000];

    for (size_t i = 0; i < sizeof(euros); i++)
        euros[i] = "\xe2\x82\xac"[i % 3];
    return str_from(euros, sizeof(euros));
}

/* Takes CPU time, so that there is something to measure. */
static inline void burn(void)
{
    int64_t until_ns = roast__clock_thread_ns() + 5 * 1000 * 1000;

    while (roast__clock_thread_ns() < until_ns)
        ;
}

/* The value lies between a reading directly inside and one directly outside. */
static inline void assert_between(uint64_t value_ns, int64_t inner_ns, int64_t outer_ns)
{
    assert_true(inner_ns >= 0 && value_ns >= (uint64_t)inner_ns);
    assert_true(value_ns <= (uint64_t)outer_ns);
}

static inline roast_thread *begin_chunk(void)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);

    assert_non_null(thread);
    assert_false(roast_chunk_active(thread));
    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    return thread;
}

/* The record borrows the thread until its next chunk. */
static inline roast_record finish_chunk(roast_thread *thread,
                                        struct roast_chunk_end end)
{
    struct roast_str frame = {NULL, 0};
    roast_error err = {0};
    roast_record rec = {.present = 0};

    assert_int_equal(roast_chunk_finish(thread, &end, &frame, &err), ROAST_OK);
    assert_int_equal(roast_record_decode(&rec, NULL, frame, &err), ROAST_OK);
    assert_int_equal(rec.kind, ROAST_FRAME_CHUNK);
    return rec;
}

static inline roast_record end_chunk(roast_thread *thread)
{
    roast_chunk_stop(thread);
    return finish_chunk(thread, (struct roast_chunk_end){.status = ROAST_CHUNK_OK});
}

/* One pass through a section. */
static inline void pass(roast_thread *thread, const char *name)
{
    struct roast_section_token token =
        roast_section_begin(thread, roast_str_of(name), ROAST_SECTION_TIME);
    roast_section_end(thread, token, 0);
}

/* The value of a key in a field of pairs; 0: none. */
static inline uint64_t pair_of(const roast_record *rec, enum roast_field field,
                               uint64_t key)
{
    struct roast_str blob = rec->values[field].str;
    struct roast_pair pair;

    while (roast_record_has(rec, field) && roast_pair_next(&pair, &blob, NULL) == 1) {
        if (pair.key == key)
            return pair.value;
    }
    return 0;
}

static inline uint64_t loss_of(const roast_record *rec, enum roast_loss loss)
{
    return pair_of(rec, ROAST_FIELD_losses, loss);
}

static inline uint64_t why_absent(const roast_record *rec, enum roast_field field)
{
    return pair_of(rec, ROAST_FIELD_absences, roast_field_info(field)->number);
}

#endif
