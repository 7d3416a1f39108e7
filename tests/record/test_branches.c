/* SPDX-License-Identifier: BSD-3-Clause */
/* test_branches.c - branches blobs: write and read, sums of accessed branches, and
 * invalid blobs. */
#include "frames.h"
#include "roast/ladder.h"

/* One of each: only a name, all values at their maximum, known sizes of zero, and an
 * empty name. */
static const struct roast_branch some[] = {
    {.name = {"nJet", 4}, .flags = ROAST_BRANCH_OFFSETS},
    {.name = {"Jet_pt", 6},
     .flags = ROAST_BRANCH_DATA | ROAST_BRANCH_OFFSETS | ROAST_BRANCH_PRELOADED,
     .reads = UINT64_MAX,
     .bytes = UINT64_MAX,
     .uncompressed_bytes = UINT64_MAX,
     .ns = UINT64_MAX,
     .sizes_known = true,
     .file_bytes = UINT64_MAX,
     .file_uncompressed_bytes = UINT64_MAX,
     .baskets = UINT64_MAX},
    {.name = {"empty", 5}, .flags = ROAST_BRANCH_DATA, .sizes_known = true},
    {.name = {"", 0}, .ns = 1, .bytes = 128},
};

static void assert_same_branch(const struct roast_branch *a,
                               const struct roast_branch *b)
{
    assert_true(str_equal(a->name, b->name));
    assert_int_equal(a->flags, b->flags);
    assert_true(a->reads == b->reads && a->bytes == b->bytes);
    assert_true(a->uncompressed_bytes == b->uncompressed_bytes && a->ns == b->ns);
    assert_int_equal(a->sizes_known, b->sizes_known);
    assert_true(a->file_bytes == b->file_bytes);
    assert_true(a->file_uncompressed_bytes == b->file_uncompressed_bytes);
    assert_true(a->baskets == b->baskets);
}

/* `some` as a blob in memory of exactly its size; for free(). */
static char *some_blob(size_t *size_bytes)
{
    unsigned char out[1024];
    int64_t size = roast_branches_write(out, sizeof(out), some, COUNT_OF(some), NULL);

    assert_true(size > 0);
    *size_bytes = (size_t)size;
    return tight_copy(out, *size_bytes);
}

static void one_branch_has_the_documented_bytes(void **state)
{
    static const char expected[] = "\x01\x02pt\x07\x01\x01\xac\x02";
    const struct roast_branch pt = {
        .name = {"pt", 2}, .flags = ROAST_BRANCH_DATA, .reads = 1, .bytes = 300};
    unsigned char out[16];
    (void)state;

    assert_int_equal(roast_branches_write(out, sizeof(out), &pt, 1, NULL),
                     sizeof(expected) - 1);
    assert_memory_equal(out, expected, sizeof(expected) - 1);
}

static void branches_come_back_and_borrow_the_blob(void **state)
{
    struct roast_branch back[COUNT_OF(some)];
    size_t size;
    char *blob = some_blob(&size);
    (void)state;

    assert_int_equal(
        roast_branches_read(back, COUNT_OF(some), str_from(blob, size), NULL),
        COUNT_OF(some));
    for (size_t i = 0; i < COUNT_OF(some); i++) {
        assert_same_branch(&back[i], &some[i]);
        assert_true(back[i].name.data > blob && back[i].name.data < blob + size);
    }
    free(blob);
}

static void no_branches_are_a_blob_too(void **state)
{
    unsigned char out[1];
    (void)state;

    assert_int_equal(roast_branches_write(out, sizeof(out), NULL, 0, NULL), 1);
    assert_int_equal(roast_branches_read(NULL, 0, str_from(out, 1), NULL), 0);
}

static void the_bound_is_enough_and_less_room_is_refused(void **state)
{
    size_t bound = ROAST_BRANCH_BOUND_BYTES;
    size_t size;
    char *blob = some_blob(&size);
    (void)state;

    for (size_t i = 0; i < COUNT_OF(some); i++)
        bound += ROAST_BRANCH_BOUND_BYTES + some[i].name.size_bytes;
    assert_true(size <= bound);
    /* the second is as large as a branch can be */
    unsigned char *one = malloc(ROAST_BRANCH_BOUND_BYTES + some[1].name.size_bytes);
    assert_true(
        roast_branches_write(one, ROAST_BRANCH_BOUND_BYTES + 6, &some[1], 1, NULL) > 0);
    free(one);
    for (size_t room = 0; room < size; room++) {
        unsigned char *tight = malloc(room + 1);
        roast_error err = {0};
        assert_int_equal(roast_branches_write(tight, room, some, COUNT_OF(some), &err),
                         ROAST_LIMIT);
        assert_int_equal(err.code, ROAST_LIMIT);
        free(tight);
    }
    free(blob);
}

static void more_branches_than_room_are_counted_and_not_written(void **state)
{
    struct roast_branch back[COUNT_OF(some)];
    size_t size;
    char *blob = some_blob(&size);
    (void)state;

    for (size_t max = 0; max < COUNT_OF(some); max++) {
        memset(back, 0xa5, sizeof(back));
        assert_int_equal(roast_branches_read(back, max, str_from(blob, size), NULL),
                         COUNT_OF(some));
        assert_true(back[max].bytes == UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
    free(blob);
}

static void branches_cut_anywhere_are_refused(void **state)
{
    struct roast_branch back[COUNT_OF(some)];
    struct roast_access access;
    size_t size;
    char *blob = some_blob(&size);
    (void)state;

    for (size_t cut = 0; cut < size; cut++) {
        roast_error err = {0};
        char *copy = tight_copy(blob, cut);
        struct roast_str shorter = str_from(copy, cut);
        assert_int_equal(roast_branches_read(back, COUNT_OF(some), shorter, &err),
                         ROAST_BAD_DATA);
        assert_int_equal(err.code, ROAST_BAD_DATA);
        assert_int_equal(roast_access_read(&access, shorter, NULL), ROAST_BAD_DATA);
        assert_int_equal(access.branches, 0);
        free(copy);
    }
    free(blob);
}

/* Unknown numbers, up to the last bit. */
static void numbers_of_a_later_time_are_skipped(void **state)
{
    static const uint64_t masks[] = {1 << 7, 1 << 8, UINT64_C(1) << 63,
                                     UINT64_MAX & ~UINT64_C(0x7f)};
    struct roast_branch back[2];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(masks); i++) {
        struct roast_buf blob = {0};
        roast__buf_put(&blob, "\x02\x01x", 3);
        roast__buf_put_varint(&blob, masks[i] | 1 << 2);
        roast__buf_put_varint(&blob, 300); /* bytes */
        for (int k = __builtin_popcountll(masks[i]); k > 0; k--)
            roast__buf_put_varint(&blob, UINT64_MAX);
        roast__buf_put(&blob, "\x01y\x02\x05", 4); /* y: 5 reads */
        assert_int_equal(roast_branches_read(back, 2, buf_str(&blob), NULL), 2);
        assert_str_is(back[0].name, "x");
        assert_int_equal(back[0].bytes, 300);
        assert_false(back[0].sizes_known);
        assert_str_is(back[1].name, "y");
        assert_int_equal(back[1].reads, 5);
        roast__buf_release(&blob);
    }
}

static void one_size_without_the_other_is_none(void **state)
{
    struct roast_branch back;
    (void)state;

    assert_int_equal(
        roast_branches_read(&back, 1, str_from("\x01\x01x\x20\x05", 5), NULL), 1);
    assert_false(back.sizes_known);
    assert_int_equal(back.file_bytes, 0);
}

static void counts_and_names_that_lie_are_refused(void **state)
{
    static const uint64_t numbers[] = {2, 1000000, UINT64_C(1) << 63, UINT64_MAX};
    struct roast_branch back[2];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct roast_buf blob = {0};
        roast__buf_put_varint(&blob, numbers[i]); /* branches */
        roast__buf_put(&blob, "\x01x\x00", 3);
        assert_int_equal(roast_branches_read(back, 2, buf_str(&blob), NULL),
                         ROAST_BAD_DATA);
        roast__buf_clear(&blob);
        roast__buf_put_varint(&blob, 1);
        roast__buf_put_varint(&blob, numbers[i]); /* bytes of a name */
        roast__buf_put(&blob, "x", 1);
        assert_int_equal(roast_branches_read(back, 2, buf_str(&blob), NULL),
                         ROAST_BAD_DATA);
        roast__buf_release(&blob);
    }
    assert_int_equal(roast_branches_read(back, 2, (struct roast_str){NULL, 0}, NULL),
                     ROAST_BAD_DATA);
}

static void access_counts_accessed_branches(void **state)
{
    static const struct roast_branch all[] = {
        {.name = {"a", 1},
         .flags = ROAST_BRANCH_DATA | ROAST_BRANCH_OFFSETS,
         .sizes_known = true,
         .file_bytes = 100,
         .file_uncompressed_bytes = 400},
        {.name = {"b", 1},
         .flags = ROAST_BRANCH_DATA | ROAST_BRANCH_PRELOADED,
         .sizes_known = true,
         .file_bytes = 20,
         .file_uncompressed_bytes = 50},
        {.name = {"c", 1}, .flags = ROAST_BRANCH_DATA},
        {.name = {"n", 1},
         .flags = ROAST_BRANCH_OFFSETS,
         .sizes_known = true,
         .file_bytes = 7},
        {.name = {"p", 1},
         .flags = ROAST_BRANCH_PRELOADED,
         .bytes = 5,
         .sizes_known = true,
         .file_bytes = 9},
    };
    struct roast_access access;
    unsigned char out[256];
    (void)state;

    int64_t size = roast_branches_write(out, sizeof(out), all, COUNT_OF(all), NULL);
    assert_int_equal(roast_access_read(&access, str_from(out, (size_t)size), NULL),
                     ROAST_OK);
    assert_int_equal(access.branches, 3);
    assert_int_equal(access.offset_branches, 1);
    assert_int_equal(access.sized_branches, 2);
    assert_int_equal(access.file_bytes, 120);
    assert_int_equal(access.file_uncompressed_bytes, 450);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_branch_has_the_documented_bytes),
        cmocka_unit_test(branches_come_back_and_borrow_the_blob),
        cmocka_unit_test(no_branches_are_a_blob_too),
        cmocka_unit_test(the_bound_is_enough_and_less_room_is_refused),
        cmocka_unit_test(more_branches_than_room_are_counted_and_not_written),
        cmocka_unit_test(branches_cut_anywhere_are_refused),
        cmocka_unit_test(numbers_of_a_later_time_are_skipped),
        cmocka_unit_test(one_size_without_the_other_is_none),
        cmocka_unit_test(counts_and_names_that_lie_are_refused),
        cmocka_unit_test(access_counts_accessed_branches),
    };
    return cmocka_run_group_tests_name("record/branches", tests, NULL, NULL);
}
