/* SPDX-License-Identifier: BSD-3-Clause */
/* test_live.c - a run that is written while it grows, and read back: the same run. */
#include <pthread.h>

#include "base/clock.h"
#include "file/runfile.h"
#include "forks.h"
#include "live_test.h"

static void every_kind_of_change_comes_back(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    struct roast_live_state now;

    open_live(test, &MANUAL_SYNC);
    make_changes(test->run);
    assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    roast_live_state(test->live, &now);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_same_run(test->run, again);
    assert_int_equal(now.queued, CHANGE_COUNT + 1); /* one change is two losses */
    assert_int_equal(now.acknowledged, now.queued);
    assert_int_equal(now.written, now.queued);
    assert_int_equal(now.dropped + now.errors, 0);
    assert_string_equal(now.first_error, "");
    assert_int_equal(seen.entries, now.queued);
    assert_int_equal(seen.blocks, 1);
    assert_int_equal(seen.damaged + seen.lost_blocks + seen.cut_bytes + seen.unread, 0);
    assert_int_equal(seen.format, 1);
    assert_true(strncmp(seen.writer, "roastcoffea ", 12) == 0);
    roast_run_free(again);
}

static void nothing_secret_is_in_the_file(void **state)
{
    struct live_test *test = *state;

    open_live(test, &MANUAL_SYNC);
    change_name(test->run);
    change_label(test->run);
    close_live(test);
    struct roast_buf bytes = read_bytes(test->path);
    assert_null(memmem(bytes.data, bytes.size_bytes, "secret", 6));
    assert_null(memmem(bytes.data, bytes.size_bytes, "authz", 5));
    assert_null(memmem(bytes.data, bytes.size_bytes, "one", 3));
    assert_non_null(memmem(bytes.data, bytes.size_bytes, "//f.root", 8));
    roast__buf_release(&bytes);
}

static void a_run_without_an_end_is_open(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, &MANUAL_SYNC);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(roast_run_span(again).start_ns, EPOCH_0);
    assert_int_equal(roast_run_span(again).end_ns, 0);
    assert_int_equal(seen.entries, 0);
    roast_run_free(again);
}

/* A repeated frame is not written again. */
static void repeated_frames_are_written_once(void **state)
{
    struct live_test *test = *state;
    struct roast_live_state now;

    open_live(test, &MANUAL_SYNC);
    change_accept(test->run);
    change_accept(test->run);
    change_name(test->run);
    change_name(test->run);
    for (int i = 0; i < 3; i++) {
        change_chunk(test->run);
        change_first_end(test->run);
    }
    roast_live_state(test->live, &now);
    assert_int_equal(now.queued, 4);
    assert_int_equal(now.written, 0);
}

/* Facts are written with their new value. */
static void sums_come_back_bit_by_bit(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, &MANUAL_SYNC);
    change_accept(test->run);
    for (int i = 0; i < 10; i++)
        roast_run_add_fact(test->run, ROAST_FACT_monitor_errors, 0.1);
    change_first_end(test->run); /* adds two of its own */
    roast_run_add_fact(test->run, ROAST_FACT_monitor_errors, 0.1);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_same_run(test->run, again);
    roast_run_free(again);
}

/* What was flushed is in the file of a process that is killed now. */
static void a_flush_writes_without_a_sync(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    struct roast_live_state now;

    open_live(test, &MANUAL_SYNC);
    change_accept(test->run);
    change_first_end(test->run);
    roast_live_flush(test->live);
    roast_live_state(test->live, &now);
    assert_int_equal(now.written, now.queued);
    assert_int_equal(now.acknowledged, 0);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(seen.entries, now.queued);
    assert_same_run(test->run, again);
    roast_run_free(again);
    roast_run_add_fact(test->run, ROAST_FACT_monitor_errors, 1); /* it goes on */
    close_live(test);
    again = read_live(test->path, &seen);
    assert_same_run(test->run, again);
    roast_run_free(again);
}

/* By itself, after a quarter of a second: the best of some, as the machine may be busy. */
static void what_is_queued_is_written_soon(void **state)
{
    enum { TIMES = 10 };
    const int64_t soon_ns = INT64_C(400000000);
    struct live_test *test = *state;
    int64_t least_ns = INT64_MAX;

    open_live(test, NULL);
    for (int i = 0; i < TIMES && least_ns > soon_ns; i++) {
        struct roast_live_state now = {0};
        int64_t start_ns = roast__clock_mono_ns();
        roast_run_add_fact(test->run, ROAST_FACT_monitor_errors, 1);
        do {
            (void)usleep(1000);
            roast_live_state(test->live, &now);
        } while (now.written < now.queued);
        int64_t took_ns = roast__clock_mono_ns() - start_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    assert_true(least_ns <= soon_ns);
    close_live(test);
}

/* Derived data is derived again, not counted twice. */
static void thinned_samples_come_back(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, NULL);
    for (int64_t i = 0; i < ROAST_MOST_TICKS + 100; i++) {
        add_sample(test->run, "w", i, (double)(i % 7));
        if (i % 100000 == 0)
            assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    }
    close_live(test);
    assert_true(roast_run_lost(test->run, ROAST_RUN_LOSS_samples_thinned) > 0);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(seen.dropped, 0);
    assert_same_run(test->run, again);
    roast_run_free(again);
}

static void texts_larger_than_a_block_come_back(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    static char text[3 << 20];

    for (size_t i = 0; i < sizeof(text) - 1; i++)
        text[i] = (char)('a' + i % 23);
    open_live(test, &MANUAL_SYNC);
    set_note(test->run, ROAST_NOTES_document, "large", text);
    set_note(test->run, ROAST_NOTES_document, "small", "x");
    text[ROAST_ENTRY_MAX_BYTES] = '\0';
    set_note(test->run, ROAST_NOTES_document, "middle", text);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_same_run(test->run, again);
    assert_int_equal(seen.entries, 3);
    assert_true(seen.blocks > 10);
    roast_run_free(again);
}

/* ---- the file ------------------------------------------------------------ */

static void a_file_that_is_there_is_left_alone(void **state)
{
    struct live_test *test = *state;
    roast_error err = {0};
    roast_live *live = NULL;

    write_bytes(test->path, "mine", 4);
    test->run = bare_run();
    assert_int_equal(roast_live_open(&live, test->run, test->path, NULL, &err),
                     ROAST_IO);
    assert_null(live);
    assert_non_null(strstr(err.message, test->path));
    assert_non_null(strstr(err.message, "File exists"));
    struct roast_buf bytes = read_bytes(test->path);
    assert_str_is(buf_str(&bytes), "mine");
    roast__buf_release(&bytes);
}

static void links_are_not_followed(void **state)
{
    struct live_test *test = *state;
    char target[100];
    roast_live *live = NULL;

    (void)snprintf(target, sizeof(target), "%s/target", test->dir);
    assert_int_equal(symlink(target, test->path), 0);
    test->run = bare_run();
    assert_int_equal(roast_live_open(&live, test->run, test->path, NULL, NULL),
                     ROAST_IO);
    assert_int_not_equal(access(target, F_OK), 0);
}

static void a_missing_folder_is_reported(void **state)
{
    struct live_test *test = *state;
    roast_error err = {0};
    roast_live *live = NULL;

    test->run = bare_run();
    assert_int_equal(roast_live_open(&live, test->run, "/no/such/folder/x", NULL, &err),
                     ROAST_IO);
    assert_string_equal(err.message,
                        "live file /no/such/folder/x: No such file or directory");
    change_fact(test->run); /* no journal */
}

static void a_run_with_data_is_refused(void **state)
{
    struct live_test *test = *state;
    roast_error err = {0};
    roast_live *live = NULL;

    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        if (CHANGES[i].make == change_host || CHANGES[i].make == change_no_note)
            continue;
        roast_run *run = bare_run();
        CHANGES[i].make(run);
        assert_int_equal(roast_live_open(&live, run, test->path, NULL, &err),
                         ROAST_LIMIT);
        assert_null(live);
        assert_int_not_equal(access(test->path, F_OK), 0);
        roast_run_free(run);
    }
    open_live(test, &MANUAL_SYNC);
    char second[120];
    (void)snprintf(second, sizeof(second), "%s2", test->path);
    assert_int_equal(roast_live_open(&live, test->run, second, NULL, &err),
                     ROAST_LIMIT);
}

static void a_file_is_removed_in_any_working_directory(void **state)
{
    struct live_test *test = *state;
    int old_dir = open(".", O_RDONLY | O_DIRECTORY);

    assert_int_equal(chdir(test->dir), 0);
    test->run = bare_run();
    assert_int_equal(
        roast_live_open(&test->live, test->run, "a" ROAST_LIVE_SUFFIX, NULL, NULL),
        ROAST_OK);
    assert_int_equal(access(test->path, F_OK), 0);
    assert_int_equal(fchdir(old_dir), 0);
    (void)close(old_dir);
    assert_int_equal(roast_live_close(test->live, true, NULL), ROAST_OK);
    test->live = NULL;
    assert_int_not_equal(access(test->path, F_OK), 0);
    change_fact(test->run); /* the run continues without it */
}

static void a_replaced_file_is_not_removed(void **state)
{
    struct live_test *test = *state;

    open_live(test, &MANUAL_SYNC);
    assert_int_equal(unlink(test->path), 0);
    write_bytes(test->path, "theirs", 6);
    assert_int_equal(roast_live_close(test->live, true, NULL), ROAST_OK);
    test->live = NULL;
    assert_int_equal(access(test->path, F_OK), 0);
}

static void the_mask_of_the_user_holds(void **state)
{
    struct live_test *test = *state;
    struct stat about;
    mode_t before = umask(027);

    open_live(test, &MANUAL_SYNC);
    (void)umask(before);
    assert_int_equal(stat(test->path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

/* ---- the queue ----------------------------------------------------------- */

/* A buffer of frames is added at once: the writer cannot make room meanwhile. */
static void add_many(roast_run *run, uint32_t first)
{
    struct roast_buf frames = {NULL, 0, 0, false};
    struct test_record record;

    for (uint32_t i = 0; i < 100; i++) {
        init_record(&record, ROAST_FRAME_CHUNK, 1, first + i);
        append_frame(&frames, &record.rec);
    }
    assert_int_equal(
        roast_run_add_frames(run, buf_str(&frames), ROAST_FROM_USER, NULL, NULL),
        ROAST_OK);
    roast__buf_release(&frames);
}

static void what_finds_no_room_is_counted_in_the_file(void **state)
{
    struct live_test *test = *state;
    struct roast_live_options options = MANUAL_SYNC;
    struct roast_journal_reading seen;
    struct roast_live_state now;

    options.queue_bytes = 600;
    open_live(test, &options);
    for (uint32_t i = 0; i < 5; i++) {
        add_many(test->run, 100 * i);
        if (i < 4) /* the last ones are left to closing */
            assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    }
    roast_live_state(test->live, &now);
    assert_true(now.dropped > 100);
    assert_int_equal(now.queued + now.dropped, 500);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(seen.entries, now.queued);
    assert_int_equal(seen.dropped, now.dropped);
    assert_int_equal(again->attempts.count, now.queued);
    assert_int_equal(roast_run_lost(again, ROAST_RUN_LOSS_live_dropped), now.dropped);
    assert_int_equal(roast_run_lost(test->run, ROAST_RUN_LOSS_live_dropped), 0);
    assert_int_equal(test->run->attempts.count, 500);
    roast_run_free(again);
}

static void what_is_larger_than_the_queue_is_dropped_alone(void **state)
{
    struct live_test *test = *state;
    struct roast_live_options options = MANUAL_SYNC;
    struct roast_journal_reading seen;
    static char text[600000];

    memset(text, 'x', sizeof(text) - 1);
    options.queue_bytes = 500000;
    open_live(test, &options);
    set_note(test->run, ROAST_NOTES_document, "large", text);
    change_fact(test->run);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(seen.dropped, 1);
    assert_int_equal(seen.entries, 1);
    roast_run_free(again);
}

/* A half full queue is written at once. */
static void a_full_queue_wakes_the_writer(void **state)
{
    struct live_test *test = *state;
    struct roast_live_options options = MANUAL_SYNC;
    struct roast_live_state now = {0};

    options.queue_bytes = 2000;
    open_live(test, &options);
    for (int64_t i = 0; i < 60; i++)
        add_sample(test->run, "a worker", i, 1e9);
    while (now.acknowledged == 0) {
        (void)usleep(1000);
        roast_live_state(test->live, &now);
    }
    assert_int_equal(now.dropped, 0);
}

/* ---- threads and forks --------------------------------------------------- */

enum { THREAD_CHANGES = 3000 };

struct adder {
    roast_run *run;
    uint32_t process;
};

static void *add_on(void *context)
{
    const struct adder *adder = context;
    char worker[] = "worker 0";
    struct test_record record;

    worker[7] = (char)('0' + adder->process);
    for (uint32_t i = 0; i < THREAD_CHANGES; i++) {
        init_record(&record, ROAST_FRAME_CHUNK, adder->process, i);
        roast_record_set_u64(&record.rec, ROAST_FIELD_duration_ns, i);
        (void)add_from(adder->run, &record.rec, ROAST_FROM_WORKERS);
        add_sample(adder->run, worker, i, i);
        roast_run_add_fact(adder->run, ROAST_FACT_runner_calls, 1);
    }
    return NULL;
}

static void two_threads_may_add_while_a_third_writes(void **state)
{
    struct live_test *test = *state;
    struct roast_live_options options = {.write_every_ns = 1000000,
                                         .sync_every_ns = 3000000};
    struct roast_journal_reading seen;
    struct roast_live_state now;
    pthread_t threads[2];

    open_live(test, &options);
    change_accept(test->run);
    struct adder adders[2] = {{test->run, 1}, {test->run, 2}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_on, &adders[i]), 0);
    roast_live_state(test->live, &now);
    assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_int_equal(seen.entries + seen.dropped, 1 + 2 * 3 * THREAD_CHANGES);
    assert_int_equal(seen.dropped, 0);
    assert_same_run(test->run, again);
    roast_run_free(again);
}

static int use_in_child(void *context)
{
    struct live_test *test = context;
    struct roast_live_state now;
    roast_error err = {0};

    change_fact(test->run);
    roast_live_state(test->live, &now);
    MUST(now.queued == 0);
    MUST(roast_live_sync(test->live, &err) == ROAST_UNAVAILABLE);
    MUST(strstr(err.message, "parent process"));
    MUST(roast_live_close(test->live, true, NULL) == ROAST_OK);
    roast_run_free(test->run);
    return 0;
}

static void a_forked_child_writes_nothing(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, &MANUAL_SYNC);
    change_id(test->run);
    assert_holds_in_child(use_in_child, test);
    change_count(test->run);
    close_live(test);
    roast_run *again = read_live(test->path, &seen);
    assert_same_run(test->run, again);
    assert_int_equal(seen.entries, 2);
    roast_run_free(again);
}

/* ---- run_info ------------------------------------------------------------ */

static void run_info_has_the_notes(void **state)
{
    struct live_test *test = *state;
    struct roast_run_info info;

    open_live(test, &MANUAL_SYNC);
    change_id(test->run);
    set_note(test->run, ROAST_NOTES_run, "processor", "MyProcessor");
    set_note(test->run, ROAST_NOTES_run, "executor", "Dask, 4 workers");
    set_note(test->run, ROAST_NOTES_label, "site", "T2");
    set_note(test->run, ROAST_NOTES_label, "user", "me");
    make_changes(test->run);
    close_live(test);
    assert_int_equal(roast__run_info(&info, test->path, false, NULL), ROAST_OK);
    assert_true(info.live);
    assert_int_equal(info.start_ns, EPOCH_0);
    assert_string_equal(info.id, "0123456789abcdef0123456789abcdef");
    assert_string_equal(info.state, "finished");
    assert_string_equal(info.processor, "MyProcessor");
    assert_string_equal(info.executor, "Dask, 4 workers");
    assert_string_equal(info.labels, "site=T2, user=me, login=Authorization: ***");
    assert_true(info.labels_whole);
    assert_true(info.wall_s < 0 && info.events < 0 && info.chunks < 0);
    assert_true(info.failed < 0 && info.event_rate < 0);
}

static void run_info_leaves_out_a_label_too_long(void **state)
{
    struct live_test *test = *state;
    struct roast_run_info info;
    char text[200];

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    open_live(test, &MANUAL_SYNC);
    set_note(test->run, ROAST_NOTES_label, "a", text);
    set_note(test->run, ROAST_NOTES_label, "b", "short");
    close_live(test);
    assert_int_equal(roast__run_info(&info, test->path, false, NULL), ROAST_OK);
    assert_string_equal(info.labels, "b=short");
    assert_false(info.labels_whole);
    assert_int_equal(roast__run_info(&info, "/no/such", false, NULL), ROAST_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        live_test_of(every_kind_of_change_comes_back),
        live_test_of(nothing_secret_is_in_the_file),
        live_test_of(a_run_without_an_end_is_open),
        live_test_of(repeated_frames_are_written_once),
        live_test_of(a_flush_writes_without_a_sync),
        live_test_of(what_is_queued_is_written_soon),
        live_test_of(sums_come_back_bit_by_bit),
        live_test_of(thinned_samples_come_back),
        live_test_of(texts_larger_than_a_block_come_back),
        live_test_of(a_file_that_is_there_is_left_alone),
        live_test_of(links_are_not_followed),
        live_test_of(a_missing_folder_is_reported),
        live_test_of(a_run_with_data_is_refused),
        live_test_of(a_file_is_removed_in_any_working_directory),
        live_test_of(a_replaced_file_is_not_removed),
        live_test_of(the_mask_of_the_user_holds),
        live_test_of(what_finds_no_room_is_counted_in_the_file),
        live_test_of(what_is_larger_than_the_queue_is_dropped_alone),
        live_test_of(a_full_queue_wakes_the_writer),
        live_test_of(two_threads_may_add_while_a_third_writes),
        live_test_of(a_forked_child_writes_nothing),
        live_test_of(run_info_has_the_notes),
        live_test_of(run_info_leaves_out_a_label_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
