/* SPDX-License-Identifier: BSD-3-Clause */
/* test_endpoints.c - endpoints: write and read, invalid blobs, and the endpoint of a
 * file name. */
#include "frames.h"
#include "roast/ladder.h"

static const struct roast_endpoint some[] = {
    {.name = {"root://eospublic.cern.ch:1094", 29},
     .requests = UINT64_MAX,
     .ranges = UINT64_MAX,
     .bytes = UINT64_MAX,
     .wait_ns = UINT64_MAX,
     .errors = UINT64_MAX,
     .seeks = UINT64_MAX,
     .sizes = {UINT32_MAX, 1, [ROAST_SIZE_BINS - 1] = 7},
     .waits = {[ROAST_WAIT_BINS - 1] = UINT32_MAX}},
    {.name = {"/data/cms", 9}, .requests = 3, .bytes = 300},
    {.name = {"", 0}, .errors = 1},
};

static char *some_blob(size_t *size_bytes)
{
    unsigned char out[512];
    int64_t size = roast_endpoints_write(out, sizeof(out), some, COUNT_OF(some), NULL);

    assert_true(size > 0);
    *size_bytes = (size_t)size;
    return tight_copy(out, *size_bytes);
}

/* ---- the blob ----------------------------------------------------------------- */

static void one_endpoint_has_the_documented_bytes(void **state)
{
    static const char expected[] = "\x01\x02/d\x07\x02\x02\xac\x02";
    const struct roast_endpoint disk = {
        .name = {"/d", 2}, .requests = 2, .ranges = 2, .bytes = 300};
    unsigned char out[16];
    (void)state;

    assert_int_equal(roast_endpoints_write(out, sizeof(out), &disk, 1, NULL),
                     sizeof(expected) - 1);
    assert_memory_equal(out, expected, sizeof(expected) - 1);
}

static void endpoints_come_back(void **state)
{
    struct roast_endpoint back[COUNT_OF(some)];
    size_t size;
    char *blob = some_blob(&size);
    (void)state;

    assert_int_equal(
        roast_endpoints_read(back, COUNT_OF(some), str_from(blob, size), NULL),
        COUNT_OF(some));
    for (size_t i = 0; i < COUNT_OF(some); i++) {
        assert_true(str_equal(back[i].name, some[i].name));
        assert_true(back[i].requests == some[i].requests);
        assert_true(back[i].ranges == some[i].ranges);
        assert_true(back[i].bytes == some[i].bytes);
        assert_true(back[i].wait_ns == some[i].wait_ns);
        assert_true(back[i].errors == some[i].errors);
        assert_true(back[i].seeks == some[i].seeks);
        assert_memory_equal(back[i].sizes, some[i].sizes, sizeof(back[i].sizes));
        assert_memory_equal(back[i].waits, some[i].waits, sizeof(back[i].waits));
    }
    free(blob);
}

static void the_bound_is_enough_and_less_room_is_refused(void **state)
{
    size_t room = ROAST_ENDPOINT_BOUND_BYTES + some[0].name.size_bytes;
    unsigned char *one = malloc(room);
    struct roast_endpoint largest = some[0];
    size_t size;
    char *blob = some_blob(&size);
    (void)state;

    memset(largest.sizes, 0xff, sizeof(largest.sizes));
    memset(largest.waits, 0xff, sizeof(largest.waits));
    assert_true(roast_endpoints_write(one, room, &largest, 1, NULL) > 0);
    free(one);
    for (room = 0; room < size; room++) {
        unsigned char *tight = malloc(room + 1);
        assert_int_equal(roast_endpoints_write(tight, room, some, COUNT_OF(some), NULL),
                         ROAST_LIMIT);
        free(tight);
    }
    free(blob);
}

static void endpoints_cut_anywhere_are_refused(void **state)
{
    struct roast_endpoint back[COUNT_OF(some)];
    size_t size;
    char *blob = some_blob(&size);
    (void)state;

    for (size_t cut = 0; cut < size; cut++) {
        roast_error err = {0};
        char *copy = tight_copy(blob, cut);
        assert_int_equal(
            roast_endpoints_read(back, COUNT_OF(some), str_from(copy, cut), &err),
            ROAST_BAD_DATA);
        assert_int_equal(err.code, ROAST_BAD_DATA);
        free(copy);
    }
    free(blob);
}

static void more_endpoints_than_room_are_counted_and_not_written(void **state)
{
    struct roast_endpoint back[COUNT_OF(some)];
    size_t size;
    char *blob = some_blob(&size);
    (void)state;

    memset(back, 0xa5, sizeof(back));
    assert_int_equal(roast_endpoints_read(back, 1, str_from(blob, size), NULL),
                     COUNT_OF(some));
    assert_true(back[1].bytes == UINT64_C(0xa5a5a5a5a5a5a5a5));
    free(blob);
}

static void numbers_of_a_later_time_are_skipped(void **state)
{
    struct roast_endpoint back[2];
    (void)state;

    /* bytes and bit 63; then an endpoint with one request */
    struct roast_str blob = str_from(
        "\x02\x01x\x84\x80\x80\x80\x80\x80\x80\x80\x80\x01\x05\x06\x01y\x01\x07", 19);
    assert_int_equal(roast_endpoints_read(back, 2, blob, NULL), 2);
    assert_int_equal(back[0].bytes, 5);
    assert_int_equal(back[0].requests, 0);
    assert_str_is(back[1].name, "y");
    assert_int_equal(back[1].requests, 7);
}

static void a_count_of_a_bin_stops_at_its_largest(void **state)
{
    struct roast_endpoint back;
    struct roast_buf blob = {0};
    (void)state;

    roast__buf_put(&blob, "\x01\x01x\x40", 4); /* bit 6: the first bin of sizes */
    roast__buf_put_varint(&blob, UINT64_MAX);
    assert_int_equal(roast_endpoints_read(&back, 1, buf_str(&blob), NULL), 1);
    assert_int_equal(back.sizes[0], UINT32_MAX);
    roast__buf_release(&blob);
}

static void a_bin_begins_at_a_power_of_two(void **state)
{
    static const struct {
        uint64_t value;
        unsigned bin;
    } rows[] = {{0, 0},        {1, 0},        {63, 0},       {64, 0},
                {127, 0},      {128, 1},      {255, 1},      {256, 2},
                {1 << 28, 22}, {1 << 29, 23}, {1 << 30, 23}, {UINT64_MAX, 23}};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(
            roast_bin(rows[i].value, ROAST_SIZE_BINS_FIRST, ROAST_SIZE_BINS),
            rows[i].bin);
}

static void a_count_that_lies_is_refused(void **state)
{
    struct roast_endpoint back;
    struct roast_buf blob = {0};
    (void)state;

    roast__buf_put_varint(&blob, UINT64_MAX);
    roast__buf_put(&blob, "\x01x\x00", 3);
    assert_int_equal(roast_endpoints_read(&back, 1, buf_str(&blob), NULL),
                     ROAST_BAD_DATA);
    roast__buf_release(&blob);
}

/* ---- names -------------------------------------------------------------------- */

static void assert_endpoint(const char *file, const char *expected)
{
    size_t size = strlen(file);
    char *copy = tight_copy(file, size);

    assert_str_is(roast_endpoint_of(str_from(copy, size)), expected);
    free(copy);
}

static void a_url_goes_by_scheme_and_host(void **state)
{
    (void)state;

    assert_endpoint("root://eos.cern.ch//store/f.root", "root://eos.cern.ch");
    assert_endpoint("root://eos.cern.ch:1094//f.root", "root://eos.cern.ch:1094");
    assert_endpoint("https://host/f.root?a=b", "https://host");
    assert_endpoint("https://host?a=b", "https://host");
    assert_endpoint("https://host#part", "https://host");
    assert_endpoint("https://host", "https://host");
    assert_endpoint("davs://[::1]:443/f.root", "davs://[::1]:443");
    assert_endpoint("s3://bucket/f.root", "s3://bucket");
    assert_endpoint("simplecache::root://host//f.root", "root://host");
    assert_endpoint("root://cache//root://origin//f.root", "root://cache");
    assert_endpoint("a:b://host/f", "b://host");
}

static void credentials_are_never_part_of_it(void **state)
{
    (void)state;

    assert_endpoint("https://me:secret@host:443/f.root", "host:443");
    assert_endpoint("https://me@home:secret@host/f.root", "host");
    assert_endpoint("https://me:secret@", "unknown");
    assert_endpoint("root://host//store/me@home/f.root", "root://host");
}

static void a_path_goes_by_its_first_two_folders(void **state)
{
    (void)state;

    assert_endpoint("/data/cms/run/f.root", "/data/cms");
    assert_endpoint("/data/cms/f.root", "/data/cms");
    assert_endpoint("/data/f.root", "/data");
    assert_endpoint("/f.root", "/");
    assert_endpoint("/", "/");
    assert_endpoint("//data//cms//f.root", "//data//cms");
    assert_endpoint("/data/cms/root://host/f.root", "/data/cms");
    assert_endpoint("file:///data/cms/run/f.root", "/data/cms");
    assert_endpoint("file:///f.root", "/");
}

static void other_names_have_an_endpoint_too(void **state)
{
    (void)state;

    assert_endpoint("f.root", ".");
    assert_endpoint("run/2024/f.root", ".");
    assert_endpoint("f.root:Events", ".");
    assert_endpoint(":", ".");
    assert_endpoint(":/", ".");
    assert_endpoint("://", "unknown");
    assert_endpoint("root://", "unknown");
    assert_endpoint("root://?x", "unknown");
    assert_endpoint("", "unknown");
    assert_str_is(roast_endpoint_of((struct roast_str){NULL, 0}), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_endpoint_has_the_documented_bytes),
        cmocka_unit_test(endpoints_come_back),
        cmocka_unit_test(the_bound_is_enough_and_less_room_is_refused),
        cmocka_unit_test(endpoints_cut_anywhere_are_refused),
        cmocka_unit_test(more_endpoints_than_room_are_counted_and_not_written),
        cmocka_unit_test(numbers_of_a_later_time_are_skipped),
        cmocka_unit_test(a_count_of_a_bin_stops_at_its_largest),
        cmocka_unit_test(a_bin_begins_at_a_power_of_two),
        cmocka_unit_test(a_count_that_lies_is_refused),
        cmocka_unit_test(a_url_goes_by_scheme_and_host),
        cmocka_unit_test(credentials_are_never_part_of_it),
        cmocka_unit_test(a_path_goes_by_its_first_two_folders),
        cmocka_unit_test(other_names_have_an_endpoint_too),
    };
    return cmocka_run_group_tests_name("record/endpoints", tests, NULL, NULL);
}
