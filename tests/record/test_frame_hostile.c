/* SPDX-License-Identifier: BSD-3-Clause */
/* test_frame_hostile.c - frames that are cut, damaged, of a later version or crafted:
 * an error with an empty record, or exactly what was written. */
#include "frames.h"

enum { CHUNK_1 = 0x12 }; /* version 1, kind chunk */

/* A frame with every wire type, a varint of two bytes and a text, in tight memory. */
static char *sample(size_t *size_bytes)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    char frame[256];

    roast_record_set_i64(&rec, ROAST_FIELD_start_epoch_ns, 1760000000123456789);
    roast_record_set_u64(&rec, ROAST_FIELD_duration_ns, 300);
    roast_record_set_str(&rec, ROAST_FIELD_dataset, roast_str_of("TTbar"));
    roast_record_set_u64(&rec, ROAST_FIELD_monitor_errors, 1);
    roast_record_set_str(&rec, ROAST_FIELD_sections,
                         roast_str_of("0123456789012345678901234567890123456789"
                                      "0123456789012345678901234567890123456789"));
    int64_t size = roast_record_encode(frame, sizeof(frame), &rec, NULL);
    assert_true(size > 0);
    *size_bytes = (size_t)size;
    return tight_copy(frame, *size_bytes);
}

static void assert_refused(const void *data, size_t size_bytes, int status)
{
    char *copy = tight_copy(data, size_bytes);
    roast_record rec = {.present = UINT64_MAX};
    roast_error err = {0};
    size_t used = 12345;

    assert_int_equal(roast_record_decode(&rec, &used, str_from(copy, size_bytes), &err),
                     status);
    assert_int_equal(err.code, status);
    assert_true(strlen(err.message) > 0);
    assert_true(rec.present == 0);
    assert_int_equal(used, 12345); /* nothing was used */
    free(copy);
}

/* Decodes fields in a frame with a right CRC. */
static int decode_fields(roast_record *rec, struct roast_str fields)
{
    struct roast_buf frame = {0};

    raw_frame(&frame, CHUNK_1, fields);
    char *copy = tight_copy(frame.data, frame.size_bytes);
    int status = roast_record_decode(rec, NULL, str_from(copy, frame.size_bytes), NULL);
    free(copy); /* the tests below check numbers and sizes only */
    roast__buf_release(&frame);
    return status;
}

static void a_frame_cut_anywhere_is_truncated(void **state)
{
    size_t size;
    char *frame = sample(&size);
    (void)state;

    for (size_t cut = 0; cut < size; cut++)
        assert_refused(frame, cut, ROAST_TRUNCATED);
    free(frame);
}

static void an_absent_frame_is_truncated(void **state)
{
    roast_record rec;
    (void)state;
    assert_int_equal(roast_record_decode(&rec, NULL, (struct roast_str){NULL, 0}, NULL),
                     ROAST_TRUNCATED);
}

static void a_flipped_bit_is_never_taken_for_data(void **state)
{
    size_t size;
    char *frame = sample(&size);
    (void)state;

    for (size_t bit = 0; bit < 8 * size; bit++) {
        roast_record rec = {.present = UINT64_MAX};
        frame[bit / 8] = (char)(frame[bit / 8] ^ (1 << bit % 8));
        int status = roast_record_decode(&rec, NULL, str_from(frame, size), NULL);
        if (status >= 0)
            fail_msg("bit %zu", bit);
        assert_true(rec.present == 0);
        frame[bit / 8] = (char)(frame[bit / 8] ^ (1 << bit % 8));
    }
    free(frame);
}

static void what_follows_a_frame_is_not_read(void **state)
{
    size_t size;
    char *frame = sample(&size);
    char more[300];
    roast_record rec;
    size_t used = 0;
    (void)state;

    memset(more, 0xcf, sizeof(more));
    memcpy(more, frame, size);
    assert_int_equal(
        roast_record_decode(&rec, &used, str_from(more, sizeof(more)), NULL), ROAST_OK);
    assert_int_equal(used, size);
    free(frame);
}

static void another_first_byte_is_no_frame(void **state)
{
    (void)state;
    assert_refused("{\"not\": \"a frame\"}", 18, ROAST_BAD_DATA);
}

static void another_version_is_refused_before_anything_else(void **state)
{
    static const unsigned versions[] = {0, 2, 15};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct roast_buf frame = {0};
        raw_frame(&frame, versions[i] << 4 | ROAST_FRAME_CHUNK, roast_str_of("\xff"));
        assert_refused(frame.data, frame.size_bytes, ROAST_NEWER_FORMAT);
        roast__buf_release(&frame);
    }
}

static void a_size_that_lies_is_refused(void **state)
{
    static const char *const heads[] = {
        "\xcf\x12\x7f----",                                     /* 127 bytes of 4 */
        "\xcf\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01----", /* 2^64 - 1 */
        "\xcf\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f----", /* more than 64 bits */
        "\xcf\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff----",
        "\xcf\x12\xfc\xff\xff\xff\xff\xff\xff\xff\xff\x01----", /* wraps with the CRC */
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(heads); i++)
        assert_refused(heads[i], strlen(heads[i]), ROAST_TRUNCATED);
}

static void unknown_fields_are_skipped(void **state)
{
    static const uint64_t numbers[] = {0, 63, 64, 1000, UINT32_MAX, UINT64_MAX >> 2};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(numbers) * 3; i++) {
        struct roast_buf fields = {0};
        roast_record rec;
        raw_field(&fields, numbers[i / 3], (unsigned)(i % 3));
        roast__buf_put(&fields, "\x18\x01", 2); /* status: 1 */
        assert_int_equal(decode_fields(&rec, buf_str(&fields)), ROAST_OK);
        assert_true(rec.present == UINT64_C(1) << ROAST_FIELD_status);
        assert_int_equal(rec.values[ROAST_FIELD_status].u64, 1);
        roast__buf_release(&fields);
    }
}

static unsigned wire_of(enum roast_field field)
{
    switch (roast_field_info(field)->type) {
    case ROAST_TYPE_TIME:
        return 1;
    case ROAST_TYPE_TEXT:
    case ROAST_TYPE_BLOB:
        return 2;
    default:
        return 0;
    }
}

static void a_known_field_of_another_wire_type_is_skipped(void **state)
{
    (void)state;

    for (int i = 0; i < ROAST_FIELD_COUNT * 3; i++) {
        enum roast_field field = (enum roast_field)(i / 3);
        unsigned wire = (unsigned)(i % 3);
        struct roast_buf fields = {0};
        roast_record rec;
        raw_field(&fields, roast_field_info(field)->number, wire);
        assert_int_equal(decode_fields(&rec, buf_str(&fields)), ROAST_OK);
        assert_int_equal(roast_record_has(&rec, field), wire == wire_of(field));
        assert_true(rec.present == 0 || rec.present == UINT64_C(1) << field);
        roast__buf_release(&fields);
    }
}

static void wire_type_3_is_refused(void **state)
{
    static const uint64_t numbers[] = {0, 6, 7, 1000};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct roast_buf fields = {0};
        struct roast_buf frame = {0};
        roast__buf_put(&fields, "\x18\x01", 2);
        raw_field(&fields, numbers[i], 3);
        raw_frame(&frame, CHUNK_1, buf_str(&fields));
        assert_refused(frame.data, frame.size_bytes, ROAST_BAD_DATA);
        roast__buf_release(&fields);
        roast__buf_release(&frame);
    }
}

/* Invalid lengths with a valid CRC. */
static void fields_cut_anywhere_are_whole_or_refused(void **state)
{
    static const size_t ends[] = {0, 2, 11, 15, 26}; /* where one ends */
    static const char fields[] = "\x18\x01"
                                 "\x0d\x01\x02\x03\x04\x05\x06\x07\x08"
                                 "\x1e\x02hi"
                                 "\x14\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    size_t whole = 0;
    (void)state;

    for (size_t cut = 0; cut < sizeof(fields); cut++) {
        roast_record rec;
        int status = decode_fields(&rec, str_from(fields, cut));
        bool ends_here = whole < COUNT_OF(ends) && ends[whole] == cut;
        assert_int_equal(status, ends_here ? ROAST_OK : ROAST_BAD_DATA);
        assert_int_equal(__builtin_popcountll(rec.present), ends_here ? whole : 0);
        whole += ends_here;
    }
    assert_int_equal(whole, COUNT_OF(ends));
}

static void of_a_repeated_field_the_last_counts(void **state)
{
    roast_record rec;
    (void)state;

    assert_int_equal(decode_fields(&rec, roast_str_of("\x18\x01\x18\x02")), ROAST_OK);
    assert_int_equal(rec.values[ROAST_FIELD_status].u64, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_cut_anywhere_is_truncated),
        cmocka_unit_test(an_absent_frame_is_truncated),
        cmocka_unit_test(a_flipped_bit_is_never_taken_for_data),
        cmocka_unit_test(what_follows_a_frame_is_not_read),
        cmocka_unit_test(another_first_byte_is_no_frame),
        cmocka_unit_test(another_version_is_refused_before_anything_else),
        cmocka_unit_test(a_size_that_lies_is_refused),
        cmocka_unit_test(unknown_fields_are_skipped),
        cmocka_unit_test(a_known_field_of_another_wire_type_is_skipped),
        cmocka_unit_test(wire_type_3_is_refused),
        cmocka_unit_test(fields_cut_anywhere_are_whole_or_refused),
        cmocka_unit_test(of_a_repeated_field_the_last_counts),
    };
    return cmocka_run_group_tests_name("record/frame_hostile", tests, NULL, NULL);
}
