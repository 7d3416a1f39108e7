/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sections.c - reads section trees, intervals and pairs: valid blobs, and blobs
 * with invalid parents, counts and lengths. */
#include "frames.h"

/* One section as bytes; memory and bytes depend on its kinds. */
static void put_section(struct roast_buf *out, uint64_t parent_plus_1, unsigned kinds,
                        const char *name, uint64_t total_ns)
{
    roast__buf_put_varint(out, parent_plus_1);
    roast__buf_put_varint(out, kinds);
    roast__buf_put_varint(out, strlen(name));
    roast__buf_put(out, name, strlen(name));
    roast__buf_put_varint(out, 3); /* passes */
    roast__buf_put_varint(out, total_ns);
    if (kinds & ROAST_SECTION_MEMORY) {
        roast__buf_put_varint(out, 1000);
        roast__buf_put_varint(out, UINT64_MAX);
        roast__buf_put_signed(out, INT64_MIN);
    }
    if (kinds & ROAST_SECTION_BYTES)
        roast__buf_put_varint(out, UINT64_MAX);
}

/* read > jets > (clean, btag > tagger) */
static void put_tree(struct roast_buf *out)
{
    roast__buf_put_varint(out, 5);
    put_section(out, 0, ROAST_SECTION_TIME, "read", 5);
    put_section(out, 0, ROAST_SECTION_TIME, "jets", 100);
    put_section(out, 2, ROAST_SECTION_MEMORY | ROAST_SECTION_BYTES, "clean", 30);
    put_section(out, 2, ROAST_SECTION_TIME, "btag", 50);
    put_section(out, 4, ROAST_SECTION_CALL, "tagger", 60);
}

static void one_section_has_the_documented_bytes(void **state)
{
    static const char blob[] = "\x01\x00\x01\x04jets\x02\xac\x02";
    struct roast_section section;
    (void)state;

    assert_int_equal(
        roast_sections_read(&section, 1, str_from(blob, sizeof(blob) - 1), NULL), 1);
    assert_str_is(section.name, "jets");
    assert_int_equal(section.parent, -1);
    assert_int_equal(section.depth, 0);
    assert_int_equal(section.kinds, ROAST_SECTION_TIME);
    assert_int_equal(section.count, 2);
    assert_int_equal(section.total_ns, 300);
}

static void a_tree_has_parents_and_depths(void **state)
{
    static const int32_t parents[] = {-1, -1, 1, 1, 3};
    static const unsigned depths[] = {0, 0, 1, 1, 2};
    struct roast_section all[8];
    struct roast_buf blob = {0};
    (void)state;

    put_tree(&blob);
    assert_int_equal(roast_sections_read(all, 8, buf_str(&blob), NULL), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(all[i].parent, parents[i]);
        assert_int_equal(all[i].depth, depths[i]);
        assert_int_equal(all[i].count, 3);
    }
    assert_int_equal(all[2].memory_start_bytes, 1000);
    assert_true(all[2].memory_end_bytes == UINT64_MAX);
    assert_true(all[2].memory_delta_bytes == INT64_MIN);
    assert_true(all[2].bytes == UINT64_MAX);
    assert_int_equal(all[3].memory_end_bytes, 0);
    roast__buf_release(&blob);
}

static void self_time_is_total_without_direct_children(void **state)
{
    static const uint64_t selves[] = {5, 20, 30, 0,
                                      60}; /* tagger took more than btag */
    struct roast_section all[5];
    struct roast_buf blob = {0};
    (void)state;

    put_tree(&blob);
    for (size_t max = 1; max <= 5; max++) { /* sections beyond the array count too */
        assert_int_equal(roast_sections_read(all, max, buf_str(&blob), NULL), 5);
        for (size_t i = 0; i < max; i++)
            assert_int_equal(all[i].self_ns, selves[i]);
    }
    roast__buf_release(&blob);
}

static void more_sections_than_room_are_counted_and_not_written(void **state)
{
    struct roast_buf blob = {0};
    struct roast_section all[3];
    (void)state;

    put_tree(&blob);
    for (size_t max = 0; max <= 2; max++) {
        memset(all, 0xa5, sizeof(all));
        assert_int_equal(roast_sections_read(all, max, buf_str(&blob), NULL), 5);
        assert_int_equal(all[max].count, UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
    assert_str_is(all[1].name, "jets");
    roast__buf_release(&blob);
}

static void sections_cut_anywhere_are_refused(void **state)
{
    struct roast_section all[8];
    struct roast_buf blob = {0};
    (void)state;

    put_tree(&blob);
    for (size_t cut = 0; cut < blob.size_bytes; cut++) {
        roast_error err = {0};
        char *copy = tight_copy(blob.data, cut);
        assert_int_equal(roast_sections_read(all, 8, str_from(copy, cut), &err),
                         ROAST_BAD_DATA);
        assert_int_equal(err.code, ROAST_BAD_DATA);
        free(copy);
    }
    roast__buf_release(&blob);
}

static void a_parent_must_come_before_its_child(void **state)
{
    static const uint64_t parents[] = {
        1, /* itself */
        2,         200, UINT64_C(1) << 31, (UINT64_C(1) << 31) + 1, UINT64_C(1) << 32,
        UINT64_MAX};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(parents); i++) {
        struct roast_section all[4];
        struct roast_buf blob = {0};
        roast__buf_put_varint(&blob, 3);
        put_section(&blob, parents[i], ROAST_SECTION_TIME, "a", 1);
        put_section(&blob, 0, ROAST_SECTION_TIME, "b", 1);
        put_section(&blob, 0, ROAST_SECTION_TIME, "c", 1);
        assert_int_equal(roast_sections_read(all, 4, buf_str(&blob), NULL),
                         ROAST_BAD_DATA);
        roast__buf_release(&blob);
    }
}

static void a_count_that_lies_is_refused(void **state)
{
    static const uint64_t counts[] = {2, 1000000, UINT64_C(1) << 63, UINT64_MAX};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct roast_section all[2];
        struct roast_interval intervals[2];
        struct roast_buf blob = {0};
        roast__buf_put_varint(&blob, counts[i]);
        put_section(&blob, 0, ROAST_SECTION_TIME, "", 1);
        assert_int_equal(roast_sections_read(all, 2, buf_str(&blob), NULL),
                         ROAST_BAD_DATA);
        assert_int_equal(roast_intervals_read(intervals, 2, buf_str(&blob), NULL),
                         ROAST_BAD_DATA);
        roast__buf_release(&blob);
    }
}

static void a_name_longer_than_the_blob_is_refused(void **state)
{
    static const char *const blobs[] = {
        "\x01\x00\x01\x05jets\x02",
        "\x01\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01jets",
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(blobs); i++) {
        struct roast_section section;
        struct roast_str blob = {blobs[i], 9 + 9 * i};
        assert_int_equal(roast_sections_read(&section, 1, blob, NULL), ROAST_BAD_DATA);
    }
}

static void intervals_come_back_up_to_the_room(void **state)
{
    struct roast_interval all[3] = {{0}};
    struct roast_buf blob = {0};
    (void)state;

    roast__buf_put_varint(&blob, 3);
    for (uint64_t i = 0; i < 3; i++) {
        roast__buf_put_varint(&blob, i);
        roast__buf_put_varint(&blob, UINT64_MAX - i);
        roast__buf_put_varint(&blob, 1000 * i);
    }
    assert_int_equal(roast_intervals_read(all, 2, buf_str(&blob), NULL), 3);
    assert_int_equal(all[1].section, 1);
    assert_true(all[1].start_ns == UINT64_MAX - 1);
    assert_int_equal(all[1].duration_ns, 1000);
    assert_int_equal(all[2].section, 0); /* no room, not written */
    for (size_t cut = 0; cut < blob.size_bytes; cut++)
        assert_int_equal(roast_intervals_read(all, 3, str_from(blob.data, cut), NULL),
                         ROAST_BAD_DATA);
    roast__buf_release(&blob);
}

static void pairs_come_one_by_one_until_the_end(void **state)
{
    struct roast_str blob = roast_str_of("\x01\xac\x02\x05\x06");
    struct roast_pair pair;
    (void)state;

    assert_int_equal(roast_pair_next(&pair, &blob, NULL), 1);
    assert_int_equal(pair.key, 1);
    assert_int_equal(pair.value, 300);
    assert_int_equal(roast_pair_next(&pair, &blob, NULL), 1);
    assert_int_equal(pair.key, 5);
    assert_int_equal(pair.value, 6);
    assert_int_equal(roast_pair_next(&pair, &blob, NULL), 0);
    blob = (struct roast_str){NULL, 0};
    assert_int_equal(roast_pair_next(&pair, &blob, NULL), 0);
}

static void half_a_pair_is_refused_again_and_again(void **state)
{
    struct roast_str blob = roast_str_of("\x01\xac");
    struct roast_pair pair;
    (void)state;

    for (int i = 0; i < 3; i++)
        assert_int_equal(roast_pair_next(&pair, &blob, NULL), ROAST_BAD_DATA);
    assert_int_equal(blob.size_bytes, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_section_has_the_documented_bytes),
        cmocka_unit_test(a_tree_has_parents_and_depths),
        cmocka_unit_test(self_time_is_total_without_direct_children),
        cmocka_unit_test(more_sections_than_room_are_counted_and_not_written),
        cmocka_unit_test(sections_cut_anywhere_are_refused),
        cmocka_unit_test(a_parent_must_come_before_its_child),
        cmocka_unit_test(a_count_that_lies_is_refused),
        cmocka_unit_test(a_name_longer_than_the_blob_is_refused),
        cmocka_unit_test(intervals_come_back_up_to_the_room),
        cmocka_unit_test(pairs_come_one_by_one_until_the_end),
        cmocka_unit_test(half_a_pair_is_refused_again_and_again),
    };
    return cmocka_run_group_tests_name("record/sections", tests, NULL, NULL);
}
