/* SPDX-License-Identifier: BSD-3-Clause */
/* test_identity.c - identity and place in a fixed number of bytes; and the sizes of
 * begin and end frames. */
#include "frames.h"

static struct roast_identity largest_identity(void)
{
    struct roast_identity id = {.process_id = UINT64_MAX, .sequence = UINT32_MAX};

    memset(id.run_id, 0xff, sizeof(id.run_id));
    return id;
}

static void identity_has_the_documented_bytes(void **state)
{
    static const unsigned char expected[ROAST_IDENTITY_BYTES] = {
        1,  2,  3,    4,    5,    6,    7,    8,    9,    10,   11, 12, 13, 14,
        15, 16, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 4,  3,  2,  1};
    struct roast_identity id = {.process_id = UINT64_C(0x0123456789abcdef),
                                .sequence = 0x01020304};
    unsigned char out[ROAST_IDENTITY_BYTES];
    (void)state;

    for (unsigned i = 0; i < ROAST_RUN_ID_BYTES; i++)
        id.run_id[i] = (unsigned char)(i + 1);
    roast_identity_pack(out, &id);
    assert_memory_equal(out, expected, sizeof(expected));
}

static void identity_comes_back_at_its_extremes(void **state)
{
    struct roast_identity id = largest_identity();
    struct roast_identity back = {.sequence = 1};
    unsigned char out[ROAST_IDENTITY_BYTES];
    (void)state;

    roast_identity_pack(out, &id);
    assert_int_equal(roast_identity_unpack(&back, str_from(out, sizeof(out)), NULL),
                     ROAST_OK);
    assert_memory_equal(back.run_id, id.run_id, sizeof(id.run_id));
    assert_true(back.process_id == UINT64_MAX);
    assert_true(back.sequence == UINT32_MAX);
}

static void an_identity_of_another_size_is_refused(void **state)
{
    static const char bytes[64];
    (void)state;

    for (size_t size = 0; size <= sizeof(bytes); size++) {
        struct roast_identity id;
        roast_error err = {0};
        char *copy = tight_copy(bytes, size);
        int status = roast_identity_unpack(&id, str_from(copy, size), &err);
        assert_int_equal(status,
                         size == ROAST_IDENTITY_BYTES ? ROAST_OK : ROAST_BAD_DATA);
        assert_int_equal(err.code, status);
        free(copy);
    }
}

/* docs/format.md: FNV-1a of 64 bits, upper half xor lower half. */
static void a_name_has_the_documented_id(void **state)
{
    (void)state;
    assert_int_equal(roast_name_id(roast_str_of("foobar")),
                     UINT32_C(0x85944171) ^ UINT32_C(0xf73967e8));
    assert_int_not_equal(roast_name_id(roast_str_of("TTbar")),
                         roast_name_id(roast_str_of("TTBar")));
}

static void place_holds_ids_and_entries(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    unsigned char out[ROAST_PLACE_BYTES];
    (void)state;

    roast_record_set_str(&rec, ROAST_FIELD_file, roast_str_of("f.root"));
    roast_record_set_u64(&rec, ROAST_FIELD_entry_start, 1000);
    roast_record_set_u64(&rec, ROAST_FIELD_entry_stop, 3500);
    assert_true(roast_place_pack(out, &rec));
    struct roast_cursor cur = roast__cursor(out, sizeof(out));
    assert_int_equal(roast__cursor_fixed32(&cur), 0); /* no dataset is known */
    assert_int_equal(roast__cursor_fixed32(&cur),
                     roast_name_id(roast_str_of("f.root")));
    assert_int_equal(roast__cursor_fixed32(&cur), 1000);
    assert_int_equal(roast__cursor_fixed32(&cur), 2500);
}

static bool packs_entries(unsigned char *out, uint64_t start, uint64_t stop)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};

    roast_record_set_u64(&rec, ROAST_FIELD_entry_start, start);
    roast_record_set_u64(&rec, ROAST_FIELD_entry_stop, stop);
    return roast_place_pack(out, &rec);
}

static void entries_that_do_not_fit_leave_the_place_out(void **state)
{
    unsigned char out[ROAST_PLACE_BYTES];
    (void)state;

    memset(out, 0xa5, sizeof(out));
    assert_false(packs_entries(out, 0, UINT64_C(1) << 32));
    assert_false(packs_entries(out, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 1));
    assert_false(packs_entries(out, 2, 1));
    for (size_t i = 0; i < sizeof(out); i++)
        assert_int_equal(out[i], 0xa5); /* nothing was written */
    assert_true(packs_entries(out, 0, UINT32_MAX));
    assert_true(packs_entries(out, UINT32_MAX, UINT32_MAX));
}

static void entries_known_on_one_side_only_count_as_unknown(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    unsigned char out[ROAST_PLACE_BYTES];
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_entry_start, 5);
    rec.values[ROAST_FIELD_entry_stop].u64 = 9; /* left from an earlier chunk */
    assert_true(roast_place_pack(out, &rec));
    struct roast_cursor cur = roast__cursor(out + 8, 8);
    assert_int_equal(roast__cursor_fixed64(&cur), 0);
}

static void the_largest_begin_frame_has_64_bytes(void **state)
{
    struct roast_identity id = largest_identity();
    roast_record rec = {.kind = ROAST_FRAME_BEGIN};
    unsigned char identity[ROAST_IDENTITY_BYTES];
    unsigned char place[ROAST_PLACE_BYTES];
    unsigned char out[256];
    (void)state;

    roast_identity_pack(identity, &id);
    memset(place, 0xff, sizeof(place));
    roast_record_set_str(&rec, ROAST_FIELD_identity, str_from(identity, 28));
    roast_record_set_str(&rec, ROAST_FIELD_place, str_from(place, sizeof(place)));
    roast_record_set_i64(&rec, ROAST_FIELD_start_epoch_ns, INT64_MIN);
    assert_int_equal(roast_record_encode(out, sizeof(out), &rec, NULL),
                     ROAST_BEGIN_MAX_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_has_the_documented_bytes),
        cmocka_unit_test(identity_comes_back_at_its_extremes),
        cmocka_unit_test(an_identity_of_another_size_is_refused),
        cmocka_unit_test(a_name_has_the_documented_id),
        cmocka_unit_test(place_holds_ids_and_entries),
        cmocka_unit_test(entries_that_do_not_fit_leave_the_place_out),
        cmocka_unit_test(entries_known_on_one_side_only_count_as_unknown),
        cmocka_unit_test(the_largest_begin_frame_has_64_bytes),
    };
    return cmocka_run_group_tests_name("record/identity", tests, NULL, NULL);
}
