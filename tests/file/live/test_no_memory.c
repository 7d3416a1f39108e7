/* SPDX-License-Identifier: BSD-3-Clause */
/* test_no_memory.c - fails the n-th allocation of opening, writing and reading a live
 * file, n = 1, 2, 3 ...; once, and from then on. No crash, no leak; a file that could
 * not be opened is removed, and dropped changes are counted. */
#include "file/runfile.h"
#include "heap.h"
#include "live_test.h"

static int install(void **state)
{
    test_heap_install();
    return make_folder(state);
}

static int uninstall(void **state)
{
    int status = remove_folder(state);

    roast__heap_set(NULL);
    return status;
}

/* True when an allocation failed. */
static bool open_once(struct live_test *test, size_t n, bool from_then_on)
{
    roast_live *live = NULL;
    roast_error err = {0};

    roast_run *run = bare_run();
    test_heap_fail(n, from_then_on);
    int status = roast_live_open(&live, run, test->path, &MANUAL_SYNC, &err);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
    assert_int_equal(access(test->path, F_OK) == 0, !failed);
    assert_int_equal(roast_live_close(live, true, NULL), ROAST_OK);
    assert_null(run->journal);
    roast_run_free(run);
    assert_int_equal(test_heap.live_blocks, 0);
    return failed;
}

static void opening_survives(void **state)
{
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        size_t n = 1;
        while (open_once(*state, n, from_then_on))
            n++;
        assert_true(n > 2);
    }
}

/* These need no memory of the run itself. */
static void change_without_memory(roast_run *run, size_t n)
{
    test_heap_fail(n, true);
    roast_run_set_fact(run, ROAST_FACT_report_events, (double)n);
    roast_run_lose(run, ROAST_RUN_LOSS_spool_unreadable, n);
    test_heap_fail(0, false);
}

static void what_found_no_memory_is_counted_in_the_file(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, &MANUAL_SYNC);
    for (size_t n = 1; n < 5; n++) {
        change_without_memory(test->run, n);
        assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    }
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_true(seen.dropped > 0);
    assert_int_equal(seen.entries + seen.dropped, 8);
    assert_int_equal(roast_run_lost(again, ROAST_RUN_LOSS_live_dropped), seen.dropped);
    roast_run_free(again);
}

static bool read_once(const char *path, size_t n, bool from_then_on)
{
    size_t blocks_before = test_heap.live_blocks;
    struct roast_journal_reading seen;
    roast_run *run = NULL;
    roast_error err = {0};

    test_heap_fail(n, from_then_on);
    int status = roast__live_read(&run, path, &seen, &err);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
    assert_int_equal(err.code, status);
    assert_true((run == NULL) == failed);
    roast_run_free(run);
    assert_int_equal(test_heap.live_blocks, blocks_before);
    return failed;
}

static bool read_info_once(const char *path, size_t n)
{
    size_t blocks_before = test_heap.live_blocks;
    struct roast_run_info info;

    test_heap_fail(n, false);
    int status = roast__run_info(&info, path, false, NULL);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
    assert_int_equal(test_heap.live_blocks, blocks_before);
    return failed;
}

static void reading_survives(void **state)
{
    struct live_test *test = *state;
    static char text[600000];

    memset(text, 'x', sizeof(text) - 1);
    open_live(test, &MANUAL_SYNC);
    make_changes(test->run);
    set_note(test->run, ROAST_NOTES_document, "in parts", text);
    for (int64_t i = 0; i < 50; i++) {
        char worker[] = {(char)('0' + i), '\0'};
        add_sample(test->run, worker, i, 1);
    }
    close_live(test);
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        size_t n = 1;
        while (read_once(test->path, n, from_then_on))
            n++;
        assert_true(n > 30);
    }
    for (size_t n = 1; read_info_once(test->path, n);)
        n++;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(opening_survives, install, uninstall),
        cmocka_unit_test_setup_teardown(what_found_no_memory_is_counted_in_the_file,
                                        install, uninstall),
        cmocka_unit_test_setup_teardown(reading_survives, install, uninstall),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
