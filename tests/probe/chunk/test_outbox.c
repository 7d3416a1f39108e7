/* SPDX-License-Identifier: BSD-3-Clause */
/* test_outbox.c - frames queued in the process: in order, whole, at most 16 MiB;
 * dropped frames are counted. */
#include "support.h"

#include "roast/probe.h"

enum { CAP_BYTES = 16 * 1024 * 1024 };

/* An end frame that carries a number. */
static struct roast_str numbered(unsigned char *out, uint64_t number)
{
    roast_record rec = {.kind = ROAST_FRAME_END};

    roast_record_set_u64(&rec, ROAST_FIELD_num_events, number);
    int64_t size = roast_record_encode(out, 64, &rec, NULL);
    assert_true(size > 0);
    return str_from(out, (size_t)size);
}

static uint64_t take_all(struct roast_str *frames)
{
    uint64_t dropped;
    roast_outbox_take(frames, &dropped);
    return dropped;
}

static void frames_come_out_whole_and_in_order(void **state)
{
    unsigned char bytes[64];
    struct roast_str frames;
    size_t at = 0;
    (void)state;

    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(roast_outbox_put(numbered(bytes, i), NULL), ROAST_OK);
    assert_int_equal(take_all(&frames), 0);
    for (uint64_t i = 0; i < 1000; i++) {
        roast_record rec;
        size_t used = 0;
        struct roast_str left = {frames.data + at, frames.size_bytes - at};
        assert_int_equal(roast_record_decode(&rec, &used, left, NULL), ROAST_OK);
        assert_int_equal(rec.values[ROAST_FIELD_num_events].u64, i);
        at += used;
    }
    assert_int_equal(at, frames.size_bytes);
    roast_outbox_release(&frames);
    assert_null(frames.data);
}

static void taking_empties(void **state)
{
    unsigned char bytes[64];
    struct roast_str frames;
    (void)state;

    assert_int_equal(roast_outbox_put(numbered(bytes, 7), NULL), ROAST_OK);
    (void)take_all(&frames);
    assert_true(frames.size_bytes > 0);
    struct roast_str taken = frames; /* valid while others are put */
    assert_int_equal(roast_outbox_put(numbered(bytes, 8), NULL), ROAST_OK);
    (void)take_all(&frames);
    assert_int_equal(frames.size_bytes, taken.size_bytes);
    assert_true(memcmp(frames.data, taken.data, taken.size_bytes) != 0);
    roast_outbox_release(&taken);
    roast_outbox_release(&frames);
    (void)take_all(&frames);
    assert_int_equal(frames.size_bytes, 0);
    roast_outbox_release(&frames); /* nothing to put back */
}

static void what_finds_no_room_is_refused_and_counted(void **state)
{
    char *large = calloc(1, CAP_BYTES + 1);
    struct roast_str frames;
    roast_error err = {0};
    (void)state;

    assert_int_equal(roast_outbox_put(str_from(large, CAP_BYTES + 1), &err),
                     ROAST_LIMIT);
    assert_int_equal(err.code, ROAST_LIMIT);
    assert_int_equal(roast_outbox_put(str_from(large, CAP_BYTES - 3), NULL), ROAST_OK);
    assert_int_equal(roast_outbox_put(str_from("abcd", 4), NULL), ROAST_LIMIT);
    assert_int_equal(roast_outbox_put(str_from("abc", 3), NULL), ROAST_OK);
    assert_int_equal(roast_outbox_put(str_from("d", 1), NULL), ROAST_LIMIT);
    assert_int_equal(take_all(&frames), 3);
    assert_int_equal(frames.size_bytes, CAP_BYTES); /* queued frames are complete */
    assert_memory_equal(frames.data + CAP_BYTES - 3, "abc", 3);
    roast_outbox_release(&frames);
    assert_int_equal(take_all(&frames), 0); /* counted once */
    free(large);
}

static void there_is_room_again_after_taking(void **state)
{
    char *large = calloc(1, CAP_BYTES);
    struct roast_str frames;
    (void)state;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(roast_outbox_put(str_from(large, CAP_BYTES), NULL), ROAST_OK);
        (void)take_all(&frames);
        assert_int_equal(frames.size_bytes, CAP_BYTES);
        roast_outbox_release(&frames);
    }
    free(large);
}

static void what_is_given_back_comes_out_first_again(void **state)
{
    struct roast_str frames;
    (void)state;

    assert_int_equal(roast_outbox_put(str_from("old,", 4), NULL), ROAST_OK);
    assert_int_equal(take_all(&frames), 0);
    assert_int_equal(roast_outbox_put(str_from("new", 3), NULL), ROAST_OK);
    roast_outbox_put_back(&frames, 2);
    assert_null(frames.data); /* it was taken */
    assert_int_equal(take_all(&frames), 2);
    assert_str_is(frames, "old,new");
    roast_outbox_put_back(&frames, 0);
    (void)take_all(&frames);
    assert_str_is(frames, "old,new");
    roast_outbox_release(&frames);
    roast_outbox_put_back(&frames, 0); /* nothing */
    (void)take_all(&frames);
    assert_int_equal(frames.size_bytes, 0);
    roast_outbox_release(&frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_out_whole_and_in_order),
        cmocka_unit_test(taking_empties),
        cmocka_unit_test(what_finds_no_room_is_refused_and_counted),
        cmocka_unit_test(there_is_room_again_after_taking),
        cmocka_unit_test(what_is_given_back_comes_out_first_again),
    };
    return cmocka_run_group_tests_name("probe/outbox", tests, NULL, NULL);
}
