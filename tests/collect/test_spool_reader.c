/* SPDX-License-Identifier: BSD-3-Clause */
/* test_spool_reader.c - growing files: every whole frame is passed once, whatever was
 * damaged before it; only files of the spool are read or removed. */
#include "collect/spool_help.h"

static const char one[] = "0123456789abcdef.frames";
static const char two[] = "fedcba9876543210.frames";

static int set_up(void **state)
{
    struct spool_test *test = calloc(1, sizeof(*test));

    assert_non_null(test);
    test_heap_install();
    (void)snprintf(test->dir, sizeof(test->dir), "/tmp/roast-test-XXXXXX");
    assert_non_null(mkdtemp(test->dir));
    assert_int_equal(roast_spool_open(&test->spool, test->dir, NULL), ROAST_OK);
    *state = test;
    return 0;
}

/* Other files are removed by the test itself. */
static int tear_down(void **state)
{
    struct spool_test *test = *state;

    roast_spool_close(test->spool, true);
    int status = access(test->dir, F_OK) == 0 ? -1 : 0;
    free(test->got.data);
    free(test);
    return test_heap.live_blocks == 0 ? status : -1;
}

static void assert_got(const struct spool_test *test, struct roast_str expected)
{
    assert_int_equal(test->got.size_bytes, expected.size_bytes);
    if (expected.size_bytes > 0)
        assert_memory_equal(test->got.data, expected.data, expected.size_bytes);
}

/* ---- growing files ----------------------------------------------------------- */

static void an_empty_spool_gives_nothing(void **state)
{
    struct spool_test *test = *state;

    assert_int_equal(read_spool(test), ROAST_OK);
    append(test, one, str_from("", 0));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->calls, 0);
    assert_int_equal(roast_spool_state(test->spool).files, 1);
}

static void what_was_appended_comes_once(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    for (uint64_t i = 0; i < 20; i++) {
        size_t before = all.size_bytes;
        put_frame(&all, i, i);
        put_frame(&all, i, 100 * i);
        append(test, one, part(&all, before, all.size_bytes));
        assert_int_equal(read_spool(test), ROAST_OK);
        assert_int_equal(read_spool(test), ROAST_OK);
        assert_got(test, buf_str(&all));
        assert_int_equal(test->calls, i + 1);
    }
    assert_int_equal(test->frames, 40);
    assert_int_equal(test->damaged, 0);
    assert_int_equal(roast_spool_state(test->spool).bytes, all.size_bytes);
    assert_int_equal(roast_spool_state(test->spool).waiting_bytes, 0);
    roast__buf_release(&all);
}

static void a_frame_cut_at_every_byte_waits_for_its_end(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    put_frame(&all, 1, 3);
    size_t first = all.size_bytes;
    put_frame(&all, 2, 200);
    for (size_t cut = first; cut < all.size_bytes; cut++) {
        assert_int_equal(truncate(path_of(test, one), 0), cut == first ? -1 : 0);
        assert_int_equal(read_spool(test), ROAST_OK);
        append(test, one, part(&all, 0, cut));
        test->got.size_bytes = test->frames = 0;
        assert_int_equal(read_spool(test), ROAST_OK);
        assert_got(test, part(&all, 0, first));
        assert_int_equal(roast_spool_state(test->spool).waiting_bytes, cut - first);
        append(test, one, part(&all, cut, all.size_bytes));
        assert_int_equal(read_spool(test), ROAST_OK);
        assert_got(test, buf_str(&all));
        assert_int_equal(test->frames, 2);
    }
    assert_int_equal(test->damaged, 0);
    roast__buf_release(&all);
}

static void a_frame_may_come_byte_by_byte(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    put_frame(&all, 1, 20);
    put_frame(&all, 2, 0);
    for (size_t i = 0; i < all.size_bytes; i++) {
        append(test, one, part(&all, i, i + 1));
        assert_int_equal(read_spool(test), ROAST_OK);
    }
    assert_got(test, buf_str(&all));
    assert_int_equal(test->calls, 2);
    assert_int_equal(test->damaged, 0);
    roast__buf_release(&all);
}

static void files_are_read_apart(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    put_frame(&all, 1, 50);
    append(test, one, part(&all, 0, 30)); /* both wait */
    append(test, two, part(&all, 0, 40));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->calls, 0);
    assert_int_equal(roast_spool_state(test->spool).waiting_bytes, 70);
    assert_int_equal(roast_spool_state(test->spool).waiting_files, 2);
    append(test, two, part(&all, 40, all.size_bytes));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->frames, 1);
    append(test, one, part(&all, 30, all.size_bytes));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->frames, 2);
    assert_int_equal(roast_spool_state(test->spool).files, 2);
    roast__buf_release(&all);
}

static void many_files_are_all_known(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf frame = {0};
    char name[40];

    put_frame(&frame, 1, 5);
    for (unsigned i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof(name), "%016llx.frames",
                       i * 0x9e3779b97f4a7c15ULL); /* in no order */
        append(test, name, buf_str(&frame));
        if (i % 20 == 19)
            assert_int_equal(read_spool(test), ROAST_OK);
    }
    assert_int_equal(test->frames, 200);
    assert_int_equal(roast_spool_state(test->spool).files, 200);
    roast__buf_release(&frame);
}

static void frames_larger_than_a_piece_are_whole(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    for (uint64_t i = 0; i < 4; i++) /* some end at the end of a piece, nearly */
        put_frame(&all, i, ROAST_SPOOL_PIECE_BYTES - 26 + i);
    put_frame(&all, 5, 5 * ROAST_SPOOL_PIECE_BYTES / 2);
    put_frame(&all, 6, 7);
    append(test, one, buf_str(&all));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_got(test, buf_str(&all));
    assert_int_equal(test->frames, 6);
    assert_int_equal(test->damaged, 0);
    roast__buf_release(&all);
}

static void the_largest_frame_is_whole_and_a_larger_one_damaged(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    put_frame(&all, 1, ROAST_FRAME_MAX_BYTES - 100);
    assert_true(all.size_bytes <= ROAST_FRAME_MAX_BYTES);
    append(test, one, buf_str(&all));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->frames, 1);
    assert_int_equal(test->damaged, 0);
    roast__buf_clear(&all);
    put_frame(&all, 2, ROAST_FRAME_MAX_BYTES);
    size_t larger = all.size_bytes;
    put_frame(&all, 3, 10);
    append(test, two, buf_str(&all));
    test->got.size_bytes = 0;
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_got(test, buf_str(&all)); /* passed on anyway */
    assert_true(all.size_bytes > larger);
    assert_int_equal(test->frames, 2);
    assert_true(test->damaged > 0);
    roast__buf_release(&all);
}

static void a_file_that_became_shorter_is_read_again(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    put_frame(&all, 1, 10);
    size_t first = all.size_bytes;
    put_frame(&all, 2, 10);
    append(test, one, buf_str(&all));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(truncate(path_of(test, one), (off_t)first), 0);
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->frames, 3); /* a run keeps each record once */
    roast__buf_release(&all);
}

/* ---- damage ------------------------------------------------------------------ */

/* All bytes are passed in order, and every frame but one as a frame. */
static void a_damaged_byte_costs_one_frame(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    put_frame(&all, 1, 10);
    size_t begin = all.size_bytes;
    put_frame(&all, 2, 30);
    size_t end = all.size_bytes;
    put_frame(&all, 3, 10);
    put_frame(&all, 4, 10);
    for (size_t at = begin; at < end; at++) {
        all.data[at] ^= 0x55;
        (void)unlink(path_of(test, one));
        append(test, one, part(&all, 0, 0));
        assert_int_equal(read_spool(test), ROAST_OK);
        append(test, one, buf_str(&all));
        test->got.size_bytes = test->frames = test->damaged = 0;
        assert_int_equal(read_spool(test), ROAST_OK);
        assert_got(test, buf_str(&all));
        assert_int_equal(test->frames, 3);
        assert_true(test->damaged > 0);
        all.data[at] ^= 0x55;
    }
    roast__buf_release(&all);
}

static void a_frame_cut_for_good_costs_one_frame(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    put_frame(&all, 1, 10);
    size_t first = all.size_bytes;
    put_frame(&all, 2, 5000);
    all.size_bytes -= 100; /* the disk was full for a moment */
    size_t cut = all.size_bytes;
    append(test, one, buf_str(&all));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_got(test, part(&all, 0, first));
    put_frame(&all, 3, 10);
    put_frame(&all, 4, 1);
    append(test, two, buf_str(&all)); /* at once */
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->frames, 4);
    assert_int_equal(test->damaged, 1);
    append(test, one, part(&all, cut, all.size_bytes)); /* and later */
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->frames, 6);
    assert_int_equal(test->damaged, 2);
    roast__buf_release(&all);
}

static void bytes_without_a_frame_are_passed_on(void **state)
{
    struct spool_test *test = *state;
    char *dirt = malloc(3 * ROAST_SPOOL_PIECE_BYTES);

    assert_non_null(dirt);
    memset(dirt, 'x', 3 * ROAST_SPOOL_PIECE_BYTES);
    append(test, one, str_from(dirt, 3 * ROAST_SPOOL_PIECE_BYTES));
    append(test, two, str_from("x", 1));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->got.size_bytes, 3 * ROAST_SPOOL_PIECE_BYTES + 1);
    assert_int_equal(test->frames, 0);
    free(dirt);
}

static void sizes_that_cannot_be_do_not_wait(void **state)
{
    static const struct {
        const char *bytes;
        size_t size_bytes;
    } lies[] = {
        {"\xcf\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12}, /* 2^64 - 1 */
        {"\xcf\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12}, /* no end */
        {"\xcf\x12\x80\x80\x80\x08", 6},                          /* 16 MiB of fields */
    };
    struct spool_test *test = *state;

    for (size_t i = 0; i < COUNT_OF(lies); i++) {
        struct roast_str lie = str_from(lies[i].bytes, lies[i].size_bytes);
        append(test, one, lie);
        test->got.size_bytes = 0;
        assert_int_equal(read_spool(test), ROAST_OK);
        assert_got(test, lie);
    }
    assert_int_equal(roast_spool_state(test->spool).waiting_bytes, 0);
}

/* Each pair costs a checksum over all following bytes: hours without a limit. */
static void a_hostile_file_is_given_up_and_lost_are_only_its_own(void **state)
{
    enum { PAIRS = 40000 };
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    for (int i = 0; i < PAIRS; i++) {
        roast__buf_put(&all, "\xcf\x12\x80\x80\x20", 5); /* a frame of 512 KiB */
        put_frame(&all, 1, 0);
    }
    append(test, one, buf_str(&all));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_got(test, buf_str(&all));
    roast__buf_release(&all);
}

/* ---- the sink, memory -------------------------------------------------------- */

static void what_a_sink_refuses_comes_again(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};
    roast_error err = {0};
    const struct roast_frames_sink sink = {take, test};

    put_frame(&all, 1, 10);
    roast__buf_put(&all, "dirt", 4);
    put_frame(&all, 2, 10);
    append(test, one, buf_str(&all));
    for (size_t call = 1; call <= 5; call += 2) { /* frame, dirt, frame */
        test->refuse_at = call;
        assert_int_equal(roast_spool_read(test->spool, &sink, &err), ROAST_LIMIT);
        assert_int_equal(err.code, ROAST_LIMIT);
    }
    test->refuse_at = 0;
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_got(test, buf_str(&all));
    assert_int_equal(test->frames, 2);
    roast__buf_release(&all);
}

/* Each time all allocations from the n-th on fail, for n = 1, 2 ...; nothing is lost. */
static void nothing_is_lost_without_memory(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};
    char name[40];

    put_frame(&all, 1, 3 * ROAST_SPOOL_PIECE_BYTES);
    size_t failures = 0;
    for (unsigned i = 0; i < 40; i++) {
        (void)snprintf(name, sizeof(name), "%016x.frames", i);
        append(test, name, i < 2 ? buf_str(&all) : part(&all, 0, 100));
    }
    for (size_t n = 1; n < 200; n++) {
        test_heap_fail(n, true);
        int status = read_spool(test);
        bool failed = test_heap_failed();
        test_heap_fail(0, false);
        assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
        if (!failed)
            break;
        failures++;
    }
    assert_true(failures > 4);
    assert_int_equal(test->frames, 2);
    assert_int_equal(test->damaged, 0);
    roast_spool_close(test->spool, false);
    for (size_t n = 1; n <= 2; n++) {
        test_heap_fail(n, false);
        assert_int_equal(roast_spool_open(&test->spool, test->dir, NULL),
                         ROAST_NO_MEMORY);
    }
    test_heap_fail(0, false);
    assert_int_equal(roast_spool_open(&test->spool, test->dir, NULL), ROAST_OK);
    roast__buf_release(&all);
}

/* Also those of files after the one that failed, and of files that are not in the list
 * for lack of memory. */
static void frames_that_were_not_read_wait(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf all = {0};

    put_frame(&all, 1, 10);
    append(test, one, buf_str(&all));
    append(test, two, buf_str(&all));
    test_heap_fail(1, true);
    assert_int_equal(read_spool(test), ROAST_NO_MEMORY);
    assert_int_equal(roast_spool_state(test->spool).files, 0);
    assert_int_equal(roast_spool_state(test->spool).waiting_files, 2);
    test_heap_fail(2, true); /* the first one is for the list of files */
    assert_int_equal(read_spool(test), ROAST_NO_MEMORY);
    test_heap_fail(0, false);
    assert_int_equal(roast_spool_state(test->spool).waiting_files, 2);
    assert_int_equal(roast_spool_state(test->spool).waiting_bytes, 2 * all.size_bytes);
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(roast_spool_state(test->spool).waiting_files, 0);
    assert_int_equal(test->frames, 2);
    roast__buf_release(&all);
}

/* ---- other files ------------------------------------------------------------- */

static void foreign_files_are_not_read(void **state)
{
    static const char *const names[] = {
        "0123456789abcde.frames",
        "0123456789abcdef0.frames",
        "0123456789ABCDEF.frames",
        "0123456789abcdef.frame",
        "0123456789abcdef.frames~",
        "0123456789abcdef",
        "0123456789abcdeg.frames",
        "frames",
        "x",
    };
    struct spool_test *test = *state;
    struct roast_buf frame = {0};

    put_frame(&frame, 1, 1);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        append(test, names[i], buf_str(&frame));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->calls, 0);
    assert_int_equal(roast_spool_state(test->spool).files, 0);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_int_equal(roast_spool_remove(test->dir), ROAST_IO);
        assert_int_equal(unlink(path_of(test, names[i])), 0);
    }
    roast__buf_release(&frame);
}

static void links_pipes_and_folders_are_unreadable_and_kept(void **state)
{
    static const char pipe_name[] = "00000000000000ff.frames";
    struct spool_test *test = *state;
    struct roast_buf frame = {0};

    put_frame(&frame, 1, 1);
    append(test, "outside", buf_str(&frame));
    assert_int_equal(symlink("outside", path_of(test, one)), 0);
    assert_int_equal(mkdir(path_of(test, two), 0700), 0);
    assert_int_equal(mkfifo(path_of(test, pipe_name), 0600), 0);
    append(test, "0000000000000001.frames", buf_str(&frame));
    for (int i = 0; i < 3; i++)
        assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->frames, 1); /* that of the file beside them */
    assert_int_equal(roast_spool_state(test->spool).files, 4);
    assert_int_equal(roast_spool_state(test->spool).unreadable, 3);
    assert_int_equal(roast_spool_remove(test->dir), ROAST_IO);
    assert_int_equal(access(path_of(test, "0000000000000001.frames"), F_OK), -1);
    assert_int_equal(unlink(path_of(test, one)), 0);
    assert_int_equal(rmdir(path_of(test, two)), 0);
    assert_int_equal(unlink(path_of(test, pipe_name)), 0);
    assert_int_equal(unlink(path_of(test, "outside")), 0);
    roast__buf_release(&frame);
}

static void what_becomes_readable_is_read(void **state)
{
    struct spool_test *test = *state;
    struct roast_buf frame = {0};

    put_frame(&frame, 1, 1);
    assert_int_equal(mkdir(path_of(test, one), 0700), 0);
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(rmdir(path_of(test, one)), 0);
    append(test, one, buf_str(&frame));
    assert_int_equal(read_spool(test), ROAST_OK);
    assert_int_equal(test->frames, 1);
    assert_int_equal(roast_spool_state(test->spool).unreadable, 1);
    roast__buf_release(&frame);
}

/* ---- opening and removing ---------------------------------------------------- */

static void only_a_directory_is_a_spool(void **state)
{
    struct spool_test *test = *state;
    roast_spool *spool = NULL;
    roast_error err = {0};
    char other[80];

    assert_int_equal(roast_spool_open(&spool, path_of(test, "none"), &err), ROAST_IO);
    assert_non_null(strstr(err.message, "none"));
    append(test, one, str_from("", 0));
    assert_int_equal(roast_spool_open(&spool, path_of(test, one), &err), ROAST_IO);
    (void)snprintf(other, sizeof(other), "%s-link", test->dir);
    assert_int_equal(symlink(test->dir, other), 0);
    assert_int_equal(roast_spool_open(&spool, other, &err), ROAST_IO);
    assert_int_equal(roast_spool_remove(other), ROAST_IO);
    assert_int_equal(access(path_of(test, one), F_OK), 0);
    assert_int_equal(unlink(other), 0);
    assert_null(spool);
}

static void removal_takes_files_and_directory_and_may_repeat(void **state)
{
    struct spool_test *test = *state;
    roast_error err = {0};
    const struct roast_frames_sink sink = {take, test};

    append(test, one, str_from("left by a crash", 15));
    append(test, two, str_from("", 0));
    assert_int_equal(roast_spool_remove(test->dir), ROAST_OK);
    assert_int_equal(access(test->dir, F_OK), -1);
    assert_int_equal(roast_spool_remove(test->dir), ROAST_OK);
    assert_int_equal(roast_spool_read(test->spool, &sink, &err), ROAST_IO);
    roast_spool_close(NULL, true);
}

static void closing_keeps_the_files_by_default(void **state)
{
    struct spool_test *test = *state;

    append(test, one, str_from("x", 1));
    roast_spool_close(test->spool, false);
    assert_int_equal(access(path_of(test, one), F_OK), 0);
    assert_int_equal(roast_spool_open(&test->spool, test->dir, NULL), ROAST_OK);
}

#define SPOOL_TEST(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPOOL_TEST(an_empty_spool_gives_nothing),
        SPOOL_TEST(what_was_appended_comes_once),
        SPOOL_TEST(a_frame_cut_at_every_byte_waits_for_its_end),
        SPOOL_TEST(a_frame_may_come_byte_by_byte),
        SPOOL_TEST(files_are_read_apart),
        SPOOL_TEST(many_files_are_all_known),
        SPOOL_TEST(frames_larger_than_a_piece_are_whole),
        SPOOL_TEST(the_largest_frame_is_whole_and_a_larger_one_damaged),
        SPOOL_TEST(a_file_that_became_shorter_is_read_again),
        SPOOL_TEST(a_damaged_byte_costs_one_frame),
        SPOOL_TEST(a_frame_cut_for_good_costs_one_frame),
        SPOOL_TEST(bytes_without_a_frame_are_passed_on),
        SPOOL_TEST(sizes_that_cannot_be_do_not_wait),
        SPOOL_TEST(a_hostile_file_is_given_up_and_lost_are_only_its_own),
        SPOOL_TEST(what_a_sink_refuses_comes_again),
        SPOOL_TEST(nothing_is_lost_without_memory),
        SPOOL_TEST(frames_that_were_not_read_wait),
        SPOOL_TEST(foreign_files_are_not_read),
        SPOOL_TEST(links_pipes_and_folders_are_unreadable_and_kept),
        SPOOL_TEST(what_becomes_readable_is_read),
        SPOOL_TEST(only_a_directory_is_a_spool),
        SPOOL_TEST(removal_takes_files_and_directory_and_may_repeat),
        SPOOL_TEST(closing_keeps_the_files_by_default),
    };
    return cmocka_run_group_tests_name("collect/spool", tests, NULL, NULL);
}
