/* SPDX-License-Identifier: BSD-3-Clause */
/* test_frame.c - records to frames and back: every field of the list, at its extremes,
 * alone and with all others; exact bytes; and never a byte past the caller's memory. */
#include "frames.h"

enum { EXTREMES = 6, LONG_BYTES = 300 };

static char long_text[LONG_BYTES];

/* Sets a field to the n-th of its extreme values. */
static void set_extreme(roast_record *rec, enum roast_field field, size_t n)
{
    static const uint64_t numbers[EXTREMES] = {0,   1,          127,
                                               128, UINT64_MAX, UINT64_C(1) << 63};
    static const int64_t times[EXTREMES] = {
        0, 1, -1, 1760000000000000000, INT64_MIN, INT64_MAX};
    static const size_t sizes[EXTREMES] = {0, 1, 2, 127, 128, LONG_BYTES};

    switch (roast_field_info(field)->type) {
    case ROAST_TYPE_U64:
        roast_record_set_u64(rec, field, numbers[n]);
        break;
    case ROAST_TYPE_I64:
    case ROAST_TYPE_TIME:
        roast_record_set_i64(rec, field, times[n]);
        break;
    case ROAST_TYPE_TEXT:
    case ROAST_TYPE_BLOB:
        roast_record_set_str(rec, field, str_from(long_text, sizes[n]));
        break;
    }
}

static roast_record full_record(size_t extreme)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};

    for (int i = 0; i < ROAST_FIELD_COUNT; i++)
        set_extreme(&rec, (enum roast_field)i, (extreme + (size_t)i) % EXTREMES);
    return rec;
}

/* Encodes within the bound, in memory that ends there, and decodes into a record that
 * is not clean. */
static void check_round_trip(const roast_record *rec)
{
    size_t bound = roast_record_bound(rec);
    unsigned char *frame = malloc(bound);
    roast_error err = {0};
    roast_record back;
    size_t used = 0;

    memset(&back, 0xff, sizeof(back));
    int64_t size = roast_record_encode(frame, bound, rec, &err);
    if (size < 0)
        fail_msg("bound %zu: %s", bound, err.message);
    assert_true((size_t)size <= bound);
    assert_int_equal(
        roast_record_decode(&back, &used, str_from(frame, (size_t)size), &err),
        ROAST_OK);
    assert_int_equal(used, size);
    assert_same_record(rec, &back);
    free(frame);
}

static int make_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(long_text); i++)
        long_text[i] = (char)(i * 7); /* contains NUL and bytes that are not UTF-8 */
    return 0;
}

static void the_empty_frame_has_the_documented_bytes(void **state)
{
    static const unsigned char expected[] = {0xcf, 0x13, 0x00, 0x54, 0x57, 0xa5, 0x6b};
    roast_record rec = {.kind = ROAST_FRAME_END};
    unsigned char out[64];
    (void)state;

    assert_int_equal(roast_record_encode(out, sizeof(out), &rec, NULL),
                     sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
    check_round_trip(&rec);
}

static void a_small_chunk_has_the_documented_bytes(void **state)
{
    static const unsigned char expected[] = {0xcf, 0x12, 0x05, 0x14, 0xac, 0x02,
                                             0x18, 0x01, 0xaf, 0xa2, 0x82, 0x73};
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    unsigned char out[64];
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_status, ROAST_CHUNK_OK); /* in any order */
    roast_record_set_u64(&rec, ROAST_FIELD_duration_ns, 300);
    assert_int_equal(roast_record_encode(out, sizeof(out), &rec, NULL),
                     sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
}

static void every_field_comes_back_alone(void **state)
{
    (void)state;

    for (int i = 0; i < ROAST_FIELD_COUNT; i++) {
        for (size_t n = 0; n < EXTREMES; n++) {
            roast_record rec = {.kind = ROAST_FRAME_CHUNK};
            set_extreme(&rec, (enum roast_field)i, n);
            check_round_trip(&rec);
        }
    }
}

static void all_fields_come_back_together(void **state)
{
    (void)state;

    for (size_t n = 0; n < EXTREMES; n++) {
        roast_record rec = full_record(n);
        check_round_trip(&rec);
    }
}

static void every_kind_comes_back(void **state)
{
    static const enum roast_frame_kind kinds[] = {ROAST_FRAME_BEGIN, ROAST_FRAME_CHUNK,
                                                  ROAST_FRAME_END};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        roast_record rec = {.kind = kinds[i]};
        check_round_trip(&rec);
    }
}

static void an_absent_text_leaves_its_field_absent(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_str(&rec, ROAST_FIELD_dataset, (struct roast_str){NULL, 0});
    assert_false(roast_record_has(&rec, ROAST_FIELD_dataset));
    roast_record_set_str(&rec, ROAST_FIELD_dataset, roast_str_of(""));
    assert_true(roast_record_has(&rec, ROAST_FIELD_dataset));
    check_round_trip(&rec);
}

/* Two guards: the block ends where the memory given to encode ends, for ASan, and a
 * second pass checks a pattern after it, in every build. */
static void memory_too_small_is_refused_and_never_overrun(void **state)
{
    roast_record rec = full_record(4);
    size_t bound = roast_record_bound(&rec);
    unsigned char *out = malloc(bound + 64);
    size_t needed = bound;
    (void)state;

    for (size_t room = bound; room-- > 0;) {
        roast_error err = {0};
        memset(out, 0xa5, bound + 64);
        int64_t size = roast_record_encode(out, room, &rec, &err);
        assert_int_equal(err.code, size < 0 ? ROAST_LIMIT : ROAST_OK);
        assert_true(size == ROAST_LIMIT || (size_t)size <= room);
        if (size > 0)
            needed = room;
        for (size_t i = room; i < bound + 64; i++)
            assert_int_equal(out[i], 0xa5);
    }
    unsigned char *tight = malloc(needed);
    assert_true(roast_record_encode(tight, needed, &rec, NULL) > 0);
    free(tight);
    free(out);
}

static void frames_follow_one_another(void **state)
{
    struct roast_buf out = {0};
    uint64_t number = 0;
    (void)state;

    for (uint64_t i = 0; i < 50; i++) {
        roast_record rec = {.kind = ROAST_FRAME_END};
        unsigned char frame[64];
        roast_record_set_u64(&rec, ROAST_FIELD_num_events, i << i);
        int64_t size = roast_record_encode(frame, sizeof(frame), &rec, NULL);
        roast__buf_put(&out, frame, (size_t)size);
    }
    struct roast_str left = buf_str(&out);
    while (left.size_bytes > 0) {
        roast_record rec;
        size_t used = 0;
        assert_int_equal(roast_record_decode(&rec, &used, left, NULL), ROAST_OK);
        assert_true(rec.values[ROAST_FIELD_num_events].u64 == number << number);
        left = str_from(left.data + used, left.size_bytes - used);
        number++;
    }
    assert_int_equal(number, 50);
    roast__buf_release(&out);
}

static void texts_borrow_the_frame(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    unsigned char frame[64];
    roast_record back;
    (void)state;

    roast_record_set_str(&rec, ROAST_FIELD_dataset, roast_str_of("TTbar"));
    int64_t size = roast_record_encode(frame, sizeof(frame), &rec, NULL);
    struct roast_str data = str_from(frame, (size_t)size);
    assert_int_equal(roast_record_decode(&back, NULL, data, NULL), ROAST_OK);
    struct roast_str dataset = back.values[ROAST_FIELD_dataset].str;
    assert_str_is(dataset, "TTbar");
    assert_true(dataset.data >= data.data &&
                dataset.data + dataset.size_bytes <= data.data + data.size_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_empty_frame_has_the_documented_bytes),
        cmocka_unit_test(a_small_chunk_has_the_documented_bytes),
        cmocka_unit_test(every_field_comes_back_alone),
        cmocka_unit_test(all_fields_come_back_together),
        cmocka_unit_test(every_kind_comes_back),
        cmocka_unit_test(an_absent_text_leaves_its_field_absent),
        cmocka_unit_test(memory_too_small_is_refused_and_never_overrun),
        cmocka_unit_test(frames_follow_one_another),
        cmocka_unit_test(texts_borrow_the_frame),
    };
    return cmocka_run_group_tests_name("record/frame", tests, make_text, NULL);
}
