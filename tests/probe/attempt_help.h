/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_help.h - chunks, attempts and ladders from begin to the decoded frames. Only
 * decoded() fails a test; other functions return failures, for use in a forked child. */
#ifndef ROAST_TESTS_PROBE_ATTEMPT_HELP_H
#define ROAST_TESTS_PROBE_ATTEMPT_HELP_H

#include "attempt_frames.h"
#include "base/clock.h"
#include "roast/probe.h"
#include "roast/probe_ladder.h"
#include "roast/record.h"
#include "support.h"

enum { MAX_SENT = 8 };

/* The decoded frames of an attempt; borrows them. */
struct sent_frames {
    size_t count;
    roast_record records[MAX_SENT];
};

/* False when there is anything but whole frames. */
static inline bool read_sent(struct sent_frames *sent, struct roast_str frames)
{
    size_t used;

    for (sent->count = 0; frames.size_bytes > 0; sent->count++) {
        if (sent->count == MAX_SENT ||
            roast_record_decode(&sent->records[sent->count], &used, frames, NULL) < 0)
            return false;
        frames = str_from(frames.data + used, frames.size_bytes - used);
    }
    return true;
}

/* How many frames; UINT64_MAX when there is anything but whole ones. */
static inline uint64_t count_frames(struct roast_str frames)
{
    roast_record rec;
    uint64_t count = 0;
    size_t used;

    for (; frames.size_bytes > 0; frames.size_bytes -= used, frames.data += used) {
        if (roast_record_decode(&rec, &used, frames, NULL) < 0)
            return UINT64_MAX; /* not whole */
        count++;
    }
    return count;
}

static inline roast_record decoded(struct roast_str frame)
{
    roast_record rec = {.present = 0};

    assert_int_equal(roast_record_decode(&rec, NULL, frame, NULL), ROAST_OK);
    return rec;
}

static inline struct roast_identity identity_of(const roast_record *rec)
{
    struct roast_identity id = {.sequence = 0};

    (void)roast_identity_unpack(&id, rec->values[ROAST_FIELD_identity].str, NULL);
    return id;
}

static inline bool same_identity(const roast_record *a, const roast_record *b)
{
    return roast_record_has(a, ROAST_FIELD_identity) &&
           str_equal(a->values[ROAST_FIELD_identity].str,
                     b->values[ROAST_FIELD_identity].str);
}

static inline uint64_t number(const roast_record *rec, enum roast_field field)
{
    if (!roast_record_has(rec, field))
        fail_msg("no %s", roast_field_info(field)->name);
    return rec->values[field].u64;
}

static inline struct roast_str text(const roast_record *rec, enum roast_field field)
{
    if (!roast_record_has(rec, field))
        fail_msg("no %s", roast_field_info(field)->name);
    return rec->values[field].str;
}

/* 3000 bytes of characters of three: no limit is a multiple of it. */
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

/* One clock around something and the same directly inside of it. */
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

/* What a field of pairs says about a key; 0: nothing. */
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

static const struct roast_chunk_end ended_ok = {.status = ROAST_CHUNK_OK};
static const struct roast_chunk_end ended_failed = {
    .status = ROAST_CHUNK_FAILED,
    .error_type = {"OSError", 7},
    .error_message = {"no such file", 12},
};

static inline roast_thread *begin_attempt(const struct roast_attempt_item *item)
{
    roast_thread *thread = roast_thread_get(NULL);

    assert_non_null(thread);
    assert_false(roast_attempt_active(thread));
    assert_non_null(roast_attempt_begin(thread, NULL, item).data);
    assert_true(roast_attempt_active(thread));
    return thread;
}

static inline struct sent_frames end_attempt(roast_thread *thread,
                                             struct roast_chunk_end end)
{
    struct roast_str frames = {NULL, 0};
    struct sent_frames sent;

    assert_int_equal(attempt_end(thread, &end, &frames, NULL), ROAST_OK);
    assert_false(roast_attempt_active(thread));
    assert_true(read_sent(&sent, frames));
    assert_true(sent.count > 0);
    assert_int_equal(sent.records[sent.count - 1].kind, ROAST_FRAME_END);
    return sent;
}

/* One chunk, kept by the attempt. False when anything failed. */
static inline bool add_attempt_chunk(roast_thread *thread, const unsigned char *run_id)
{
    const struct roast_chunk_options options = {.run_id = run_id};
    struct roast_str frame = {NULL, 0};

    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    roast_chunk_stop(thread);
    return roast_chunk_finish(thread, &ended_ok, &frame, NULL) == ROAST_OK &&
           roast_attempt_add_frame(thread, frame, NULL) == ROAST_OK;
}

static const struct roast_attempt_item armed_item = {
    .dataset = {"TTbar", 5},
    .file = {"f.root", 6},
    .has_entries = true,
    .entry_start = 100,
    .entry_stop = 350,
};

static inline uint64_t hook_bit(enum roast_hook hook)
{
    return UINT64_C(1) << hook;
}

static inline roast_thread *begin_armed(uint64_t hooks_missing)
{
    roast_thread *thread = begin_attempt(&armed_item);

    assert_false(roast_ladder_active(thread));
    roast_ladder_arm(thread, hooks_missing);
    assert_true(roast_ladder_active(thread));
    return thread;
}

static inline struct roast_ladder ladder_in(const roast_record *end)
{
    struct roast_ladder ladder;

    assert_int_equal(roast_ladder_read(&ladder, text(end, ROAST_FIELD_ladder), NULL),
                     ROAST_OK);
    return ladder;
}

static inline uint64_t value_of(const struct roast_ladder *ladder,
                                enum roast_ladder_item item)
{
    if (!roast_ladder_has(ladder, item))
        fail_msg("no %s", roast_ladder_info(item)->name);
    return ladder->values[item];
}

static inline uint64_t sum_of_slices(const struct roast_ladder *ladder)
{
    uint64_t sum = 0;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        sum += ladder->values[i];
    return sum;
}

/* The ladder of an end frame, which adds up to the attempt. */
static inline struct roast_ladder whole_ladder(const roast_record *end)
{
    struct roast_ladder ladder = ladder_in(end);

    assert_true(sum_of_slices(&ladder) == number(end, ROAST_FIELD_task_ns));
    return ladder;
}

static inline struct roast_ladder end_armed(roast_thread *thread)
{
    struct sent_frames sent = end_attempt(thread, ended_ok);

    assert_false(roast_ladder_active(thread));
    return whole_ladder(&sent.records[sent.count - 1]);
}

#endif
