/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tasks.c - scheduler data in a live file: reading restores the same run. */
#include "file/run_print.h"
#include "file/scheduler_changes.h"
#include "heap.h"
#include "live_entries.h"

static struct roast_buf print_all(roast_run *run)
{
    struct roast_buf out = print_run(run); /* resolves pending */

    print_scheduler(&out, run);
    assert_true(roast__buf_ok(&out));
    return out;
}

static void assert_same(roast_run *a, roast_run *b)
{
    struct roast_buf first = print_all(a);
    struct roast_buf second_one = print_all(b);

    assert_true(str_equal(buf_str(&first), buf_str(&second_one)));
    roast__buf_release(&first);
    roast__buf_release(&second_one);
}

static void all_that_a_scheduler_saw_comes_back(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    uint64_t entries = 1; /* accept */

    for (size_t i = 0; i < TASK_CHANGE_COUNT; i++)
        entries += TASK_CHANGES[i].entries;
    open_live(test, &MANUAL_SYNC);
    make_task_changes(test->run);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(seen.entries, entries);
    assert_int_equal(seen.unread + seen.dropped, 0);
    assert_same(test->run, again);
    assert_int_equal(again->scheduler.tasks.count, 3);
    assert_int_equal(again->scheduler.sessions.count, 2);
    assert_cell(again, 0, task_start_ns, second(4) - 12345);
    assert_cell(again, 1, key_hash, 9);
    roast_run_free(again);
}

static void workers_of_one_process_come_back(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    struct test_record record;

    open_live(test, &MANUAL_SYNC);
    assert_int_equal(roast_run_accept(test->run, RUN_ID, NULL), ROAST_OK);
    for (uint32_t i = 0; i < 4; i++) {
        init_record(&record, ROAST_FRAME_CHUNK, 7, i);
        assert_int_equal(add_with_task(test->run, &record,
                                       i % 2 ? "tcp://b:1" : "tcp://a:1", i, NULL),
                         ROAST_OK);
    }
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_same(test->run, again); /* with the worker of each attempt */
    assert_int_equal(again->attempts.process_count, 2);
    roast_run_free(again);
}

static void losses_come_back(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, &MANUAL_SYNC);
    leaves(test->run, "nobody", 1);
    assert_int_equal(add_task(test->run, "p", "w", 1, 99), ROAST_OK);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(roast_run_lost(again, ROAST_RUN_LOSS_scheduler_unread), 2);
    assert_same(test->run, again);
    roast_run_free(again);
}

static void nothing_secret_is_in_the_file(void **state)
{
    struct live_test *test = *state;

    open_live(test, &MANUAL_SYNC);
    make_task_changes(test->run);
    close_live(test);
    struct roast_buf bytes = read_bytes(test->path);
    assert_null(memmem(bytes.data, bytes.size_bytes, "secret", 6));
    assert_non_null(memmem(bytes.data, bytes.size_bytes, "tcp://w:1", 9));
    roast__buf_release(&bytes);
}

static void a_run_with_scheduler_data_is_refused(void **state)
{
    struct live_test *test = *state;
    roast_live *live = NULL;

    for (size_t i = 0; i < TASK_CHANGE_COUNT; i++) {
        roast_run *run = bare_run();
        TASK_CHANGES[i].make(run);
        assert_int_equal(roast_live_open(&live, run, test->path, NULL, NULL),
                         ROAST_LIMIT);
        roast_run_free(run);
    }
}

/* Texts are announced once per dictionary epoch. */
static void tasks_are_small(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, &MANUAL_SYNC);
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(
            add_task(test->run, "a prefix", "tcp://a-worker:1", i, ROAST_TASK_ok),
            ROAST_OK);
        if (i % 30 == 0)
            assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    }
    close_live(test);
    struct roast_buf bytes = read_bytes(test->path);
    assert_true(bytes.size_bytes < 10000 * 28 + 10000);
    const char *at = memmem(bytes.data, bytes.size_bytes, "tcp://a-worker:1", 16);
    size_t left = bytes.size_bytes - (size_t)((unsigned char *)at - bytes.data);
    assert_non_null(memmem(at + 16, left - 16, "tcp://a-worker:1", 16));
    roast__buf_release(&bytes);
    roast_run *again = read_live(test->path, &seen);
    assert_same(test->run, again);
    roast_run_free(again);
}

/* ---- untrusted entries ----------------------------------------------------------- */

static void what_makes_no_sense_is_left_out(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    const struct test_entry entries[] = {
        {ROAST_ENTRY_member, 6, {2, 1, 1, 1, 0, 0}, "\1"}, /* no worker */
        {ROAST_ENTRY_member, 6, {2, 1, 1, 1, 99, 0}, "a"}, /* cut */
        {ROAST_ENTRY_departure, 4, {2, 0, 200, 0}, "a"},   /* cut */
        {ROAST_ENTRY_task, 6, {4, 0, 1, 2, 0, 0}, NULL}, /* text 2 was not announced */
        {ROAST_ENTRY_task, 6, {0, 0, 1, 2, 0, 0}, NULL}, /* cut */
        {ROAST_ENTRY_task, 6, {0, 0, 1, 200, 0, 0}, "\1"},    /* an end of no kind */
        {ROAST_ENTRY_task, 6, {5, 0, 1, 2, 0, 0}, "\1\x7fx"}, /* its text is cut */
        {ROAST_ENTRY_task, 6, {5, 0, 1, 2, 0, 0}, "\1"},      /* no size */
        {ROAST_ENTRY_record, 3, {2 | 8, 1, 4}, NULL}, /* its worker is unknown */
        {ROAST_ENTRY_session, 6, {1, 2, 2, 1, 1, 1}, "\x7f"},         /* cut */
        {ROAST_ENTRY_offset, 0, {0}, NULL},                           /* empty */
        {ROAST_ENTRY_activity, 5, {UINT64_MAX, 1, 1, 1, 1}, NULL},    /* no number */
        {ROAST_ENTRY_activity, 4, {0, 1, 1, 1}, NULL},                /* cut */
        {ROAST_ENTRY_hot_line, 6, {1, 0, UINT64_MAX, 1, 1, 1}, NULL}, /* no number */
        {ROAST_ENTRY_hot_line, 5, {1, 0, 0, 1, 1}, NULL},             /* cut */
    };

    roast_run *run = read_entries(test, entries, COUNT_OF(entries), &seen);
    assert_int_equal(seen.unread, COUNT_OF(entries));
    assert_int_equal(seen.entries, 0);
    assert_int_equal(run->scheduler.tasks.count + run->scheduler.sessions.count, 0);
    assert_int_equal(run->scheduler.activity_count + run->scheduler.hot_count, 0);
    roast_run_free(run);
}

/* Every prefix and every changed byte of the entries of a real file. */
static void any_bytes_do_no_harm(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, &MANUAL_SYNC);
    make_task_changes(test->run);
    close_live(test);
    struct roast_buf file = read_bytes(test->path);
    size_t head = ROAST_LIVE_HEAD_BYTES + ROAST_BLOCK_HEAD_BYTES;
    assert_true(file.size_bytes > head);
    for (size_t i = 0; i < file.size_bytes - head; i++) {
        for (unsigned bit = 0; bit < 8; bit += 3) {
            unsigned char *at = &file.data[head + i];
            *at ^= (unsigned char)(1u << bit);
            write_entries(test, str_from(file.data + head, file.size_bytes - head));
            *at ^= (unsigned char)(1u << bit);
            roast_run_free(read_live(test->path, &seen));
        }
        write_entries(test, str_from(file.data + head, i));
        roast_run_free(read_live(test->path, &seen));
    }
    roast__buf_release(&file);
}

/* ---- without memory -------------------------------------------------------------- */

static bool read_once(const char *path, size_t n, bool from_then_on)
{
    struct roast_journal_reading seen;
    roast_run *run = NULL;
    size_t before = test_heap.live_blocks;

    test_heap_fail(n, from_then_on);
    int status = roast__live_read(&run, path, &seen, NULL);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
    assert_true((run == NULL) == failed);
    roast_run_free(run);
    assert_int_equal(test_heap.live_blocks, before);
    return failed;
}

static void reading_survives_without_memory(void **state)
{
    struct live_test *test = *state;

    test_heap_install();
    open_live(test, &MANUAL_SYNC);
    make_task_changes(test->run);
    close_live(test);
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        size_t n = 1;
        while (read_once(test->path, n, from_then_on))
            n++;
        assert_true(n > 20);
    }
    roast_run_free(test->run);
    test->run = NULL;
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        live_test_of(all_that_a_scheduler_saw_comes_back),
        live_test_of(workers_of_one_process_come_back),
        live_test_of(losses_come_back),
        live_test_of(nothing_secret_is_in_the_file),
        live_test_of(a_run_with_scheduler_data_is_refused),
        live_test_of(tasks_are_small),
        live_test_of(what_makes_no_sense_is_left_out),
        live_test_of(any_bytes_do_no_harm),
        live_test_of(reading_survives_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
