/* SPDX-License-Identifier: BSD-3-Clause */
/* test_run_state.c - how runs end: what their results lack, interruptions, processes of
 * a pool that died. */
#include "analyze/findings.h"
#include "analyze/runs.h"
#include "analyze/summary_oom.h"
#include "analyze/tables_named.h"
#include "roast/scheduler.h"

static void note(roast_run *run, enum roast_note_group group, const char *name,
                 const char *text)
{
    assert_int_equal(
        roast_run_set_note(run, group, roast_str_of(name), roast_str_of(text), NULL),
        ROAST_OK);
}

static void add_attempt(roast_run *run, uint64_t process, uint64_t first, double start,
                        const char *error)
{
    add_frame(run, (struct frame){.process = process,
                                  .uuid = "0123456789abcdef",
                                  .first = first,
                                  .stop = first + 100,
                                  .start = start,
                                  .duration = 1,
                                  .status = error ? ROAST_CHUNK_FAILED : ROAST_CHUNK_OK,
                                  .error_type = error});
}

static void begin_attempt(roast_run *run, uint64_t process, uint64_t first,
                          double start)
{
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN,
                                  .process = process,
                                  .uuid = "0123456789abcdef",
                                  .first = first,
                                  .stop = first + 100,
                                  .start = start});
}

static void assert_state(const roast_summary *summary, const char *state,
                         const char *reason, double chunks, double files)
{
    assert_int_equal(
        roast_table_rows(roast_summary_table(summary, ROAST_TABLE_run_state)), 1);
    assert_str_is(text_at(summary, "state", 0, "state"), state);
    if (reason)
        assert_str_is(text_at(summary, "state", 0, "reason"), reason);
    assert_near(number_at(summary, "state", 0, "missing_chunks"), chunks);
    assert_near(number_at(summary, "state", 0, "missing_files"), files);
}

static roast_run *run_of_two_chunks(void)
{
    roast_run *run = run_new();

    offer(run, 0, 2, 2);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    add_attempt(run, 1, 0, 1, NULL);
    return run;
}

static void test_a_skipped_chunk_is_missing(void **state)
{
    roast_run *run = run_of_two_chunks();

    (void)state;
    add_attempt(run, 2, 100, 1, "OSError");
    add_attempt(run, 2, 100, 2, "OSError");
    mark(run, ROAST_MARK_RUN_END, 4);
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    assert_state(summary, "incomplete",
                 "1 chunk is not in the result: ttbar a.root 100-200", 1, 0);
    assert_str_is(item_at(summary, "state", 0, "missing", 0), "ttbar a.root 100-200");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_chunk_of_a_later_call_is_not_missing(void **state)
{
    roast_run *run = run_of_two_chunks();

    (void)state;
    add_attempt(run, 2, 100, 1, "OSError");
    mark(run, ROAST_MARK_RUN_END, 3);
    mark(run, ROAST_MARK_RUN_BEGIN, 4);
    add_attempt(run, 2, 100, 5, NULL);
    mark(run, ROAST_MARK_RUN_END, 7);
    roast_run_finish(run, NS(8));
    roast_summary *summary = summary_of(run);
    assert_state(summary, "finished", NULL, 0, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Two results of the same files: the second one does not complete the first. */
static void test_a_chunk_that_one_of_two_results_lacks(void **state)
{
    static const char items[] = "dataset\tttbar\nfile\ta.root\t01\nitems\t0 100 2";
    roast_run *run = run_of_two_chunks();

    (void)state;
    add_attempt(run, 2, 100, 1, "OSError");
    mark(run, ROAST_MARK_RUN_END, 3);
    mark(run, ROAST_MARK_RUN_BEGIN, 4);
    add_attempt(run, 1, 0, 5, NULL);
    add_attempt(run, 2, 100, 5, NULL);
    mark(run, ROAST_MARK_RUN_END, 7);
    roast_run_finish(run, NS(8));
    note(run, ROAST_NOTES_call, "1 call", "processor\tA");
    note(run, ROAST_NOTES_call, "1 items", items);
    note(run, ROAST_NOTES_call, "1 result", "in\t0\t0 100 1");
    note(run, ROAST_NOTES_call, "2 call", "processor\tB");
    note(run, ROAST_NOTES_call, "2 items", items);
    note(run, ROAST_NOTES_call, "2 result", "in\t0\t0 100 2");
    roast_summary *summary = summary_of(run);
    assert_state(summary, "incomplete",
                 "1 chunk is not in the result: ttbar a.root 100-200", 1, 0);
    assert_str_is(item_at(summary, "state", 0, "missing", 0), "ttbar a.root 100-200");
    roast_summary_free(summary);
    note(run, ROAST_NOTES_call, "1 moved", "in\t0\t100 100 1");
    note(run, ROAST_NOTES_call, "2 given", "dataset\tttbar\nfile\tgone.root");
    summary = summary_of(run);
    assert_state(summary, "incomplete", "1 file is not in the result: ttbar gone.root",
                 0, 1);
    roast_summary_free(summary);
    note(run, ROAST_NOTES_call, "2 given", "dataset\tttbar\nfile\ta.root");
    summary = summary_of(run);
    assert_state(summary, "finished", NULL, 0, 0);
    roast_summary_free(summary);
    check_summary_sweep(run);
    roast_run_free(run);
}

/* A long name is cut between two characters. */
static void test_a_long_name_stays_utf8(void **state)
{
    char file[240 + 1] = "";
    char wanted[300] = "1 chunk is not in the result: ttbar ";
    roast_run *run = run_of_two_chunks();

    (void)state;
    for (int i = 0; i < 120; i++)
        strcat(file, "\xc3\xa9");
    add_frame(run, (struct frame){.process = 2,
                                  .file = file,
                                  .first = 0,
                                  .stop = 100,
                                  .start = 1,
                                  .duration = 1,
                                  .status = ROAST_CHUNK_FAILED,
                                  .error_type = "OSError"});
    roast_run_finish(run, NS(5));
    roast_summary *summary = summary_of(run);
    strncat(wanted, file, 192);
    assert_state(summary, "incomplete", wanted, 1, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The attempt of process 2 has no end, the one of process 3 was ended by Ctrl-C, and
 * process 4 had died before. */
static void test_an_interrupted_run(void **state)
{
    roast_run *run = run_of_two_chunks();

    (void)state;
    offer(run, 0, 4, 4);
    begin_attempt(run, 2, 100, 1);
    add_attempt(run, 3, 200, 1, "KeyboardInterrupt");
    add_attempt(run, 4, 400, 0, NULL);
    begin_attempt(run, 4, 300, 1);
    note(run, ROAST_NOTES_death, "104", "-9 1700000002000000000");
    mark(run, ROAST_MARK_RUN_END, 3);
    note(run, ROAST_NOTES_run, "failure", "KeyboardInterrupt");
    roast_run_finish(run, NS(3));
    roast_run_set_fact(run, ROAST_FACT_runner_calls, 1);
    roast_run_set_fact(run, ROAST_FACT_runner_outputs, 0);
    roast_summary *summary = summary_of(run);
    assert_state(
        summary, "interrupted",
        "Ctrl-C (KeyboardInterrupt), a call gave no result, 2 attempts were cancelled",
        3, 0);
    assert_metric(summary, num_cancelled_chunks, 2);
    assert_metric(summary, num_lost_chunks, 1);
    assert_metric(summary, num_failed_chunks, 0);
    assert_int_equal(rows_of(summary, "failures"), 1);
    assert_near(number_at(summary, "budget", 0, "cancelled"), 3);
    assert_near(number_at(summary, "budget", 0, "lost"), 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_process_of_a_pool_that_died(void **state)
{
    struct roast_process_use use = {
        .time_ns = RUN_EPOCH_NS + NS(1.5), .pid = 102, .rss_bytes = 5000000};
    roast_run *run = run_of_two_chunks();

    (void)state;
    add_attempt(run, 2, 200, 0, NULL);
    begin_attempt(run, 2, 100, 1);
    assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
    note(run, ROAST_NOTES_death, "102", "-9 1700000002000000000");
    note(run, ROAST_NOTES_death, "x", "1 1");
    note(run, ROAST_NOTES_death, "7", "nonsense");
    mark(run, ROAST_MARK_RUN_END, 3);
    note(run, ROAST_NOTES_run, "failure", "BrokenProcessPool: terminated");
    roast_run_finish(run, NS(3));
    roast_summary *summary = summary_of(run);
    assert_state(summary, "failed", "BrokenProcessPool: terminated", 1, 0);
    assert_metric(summary, num_lost_workers, 1);
    assert_int_equal(rows_of(summary, "lost_workers"), 1);
    assert_near(number_at(summary, "lost_workers", 0, "pid"), 102);
    assert_near(number_at(summary, "lost_workers", 0, "exit_code"), -9);
    assert_near(number_at(summary, "lost_workers", 0, "memory_bytes"), 5000000);
    assert_near(number_at(summary, "lost_workers", 0, "memory_age"), 0.5);
    assert_near(number_at(summary, "lost_workers", 0, "seconds_lost"), 1);
    assert_near(number_at(summary, "budget", 0, "lost"), 1);
    assert_says(summary, "workers_died", "evidence",
                "process 102: killed by signal 9 (SIGKILL), with 1 attempt; memory "
                "5.00 MB at its last sample, 500 ms before");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_death_is_not_of_another_host(void **state)
{
    roast_run *run = run_of_two_chunks();

    (void)state;
    add_frame(run, (struct frame){.process = 2,
                                  .host = "there",
                                  .first = 200,
                                  .stop = 300,
                                  .start = 0,
                                  .duration = 1});
    begin_attempt(run, 2, 100, 1);
    note(run, ROAST_NOTES_death, "102", "-9 1700000002000000000");
    roast_run_finish(run, NS(3));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "lost_workers", 0, "attempts"), 0);
    assert_near(number_at(summary, "lost_workers", 0, "seconds_lost"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_an_exit_code_that_is_not_known(void **state)
{
    roast_run *run = run_of_two_chunks();

    (void)state;
    note(run, ROAST_NOTES_death, "102", "? 1700000002000000000");
    roast_run_finish(run, NS(3));
    roast_summary *summary = summary_of(run);
    assert_says(summary, "workers_died", "evidence",
                "process 102: died, exit code not known, with 0 attempts");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- pools and postprocess() ----------------------------------------------------- */

/* One pool for preprocessing, which reads no file, and one for two chunks: the second
 * process starts later. */
static roast_run *run_with_pools(void)
{
    roast_run *run = run_new();

    offer(run, 0, 2, 2);
    mark(run, ROAST_MARK_OWN_BEGIN, 0.5);
    mark(run, ROAST_MARK_OWN_END, 1);
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    mark(run, ROAST_MARK_PREPROCESS_BEGIN, 1);
    mark(run, ROAST_MARK_POOL_START, 1);
    mark(run, ROAST_MARK_POOL_STOP_BEGIN, 2);
    mark(run, ROAST_MARK_POOL_STOP_END, 3);
    mark(run, ROAST_MARK_PREPROCESS_END, 3);
    mark(run, ROAST_MARK_POOL_START, 3);
    add_attempt(run, 1, 0, 5, NULL);
    add_attempt(run, 2, 100, 5.5, NULL);
    mark(run, ROAST_MARK_POOL_STOP_BEGIN, 7);
    mark(run, ROAST_MARK_POOL_STOP_END, 9);
    mark(run, ROAST_MARK_POSTPROCESS_BEGIN, 9);
    mark(run, ROAST_MARK_POSTPROCESS_END, 12);
    mark(run, ROAST_MARK_RUN_END, 12);
    roast_run_finish(run, NS(13));
    return run;
}

static void test_pools_and_postprocess(void **state)
{
    roast_run *run = run_with_pools();
    roast_summary *summary = summary_of(run);
    double sum = 0;

    (void)state;
    assert_near(number_at(summary, "wall_account", 0, "pool_start"), 1 + 2);
    assert_near(number_at(summary, "wall_account", 0, "pool_stop"), 1 + 2);
    assert_near(number_at(summary, "wall_account", 0, "postprocess"), 3);
    assert_near(number_at(summary, "wall_account", 0, "monitor"), 0.5);
    assert_near(number_at(summary, "wall_account", 0, "merge"), 0.5);
    assert_near(number_at(summary, "wall_account", 0, "preprocess"), 0);
    assert_near(number_at(summary, "wall_account", 0, "client"), 1.5);
    const roast_table *wall = roast_summary_table(summary, ROAST_TABLE_wall_account);
    for (size_t i = 0; i < roast_table_width(wall); i++)
        sum += roast_table_number(wall, 0, roast_table_col(wall, i));
    assert_near(sum, 13);
    /* the second process starts 0.5 s after the first one */
    assert_near(number_at(summary, "budget", 0, "pool_start"), 2 * 3 + 0.5);
    assert_near(number_at(summary, "budget", 0, "pool_stop"), 2 * 3);
    assert_near(number_at(summary, "budget", 0, "postprocess"), 2 * 3);
    assert_near(number_at(summary, "budget", 0, "monitor"), 2 * 0.5);
    assert_near(number_at(summary, "budget", 0, "idle_preprocess"), 0);
    sum = 0;
    const roast_table *budget = roast_summary_table(summary, ROAST_TABLE_budget);
    for (size_t i = 0; i < roast_table_width(budget); i++)
        sum += roast_table_number(budget, 0, roast_table_col(budget, i));
    assert_near(sum, 26);
    assert_str_is(text_at(summary, "findings",
                          (size_t)finding_row(summary, "postprocess"), "evidence"),
                  "3.00 s of wall time in your postprocess()");
    assert_says(summary, "postprocess", "advice", "make postprocess() faster");
    assert_says(summary, "pools", "evidence",
                "3.00 s of wall time to start and 3.00 s to stop 2 pools");
    assert_says(summary, "pools", "advice", "get_reusable_executor(max_workers=2)");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_memory(void **state)
{
    roast_run *run = run_with_pools();

    (void)state;
    check_summary_sweep(run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_skipped_chunk_is_missing),
        cmocka_unit_test(test_a_chunk_of_a_later_call_is_not_missing),
        cmocka_unit_test(test_a_chunk_that_one_of_two_results_lacks),
        cmocka_unit_test(test_a_long_name_stays_utf8),
        cmocka_unit_test(test_an_interrupted_run),
        cmocka_unit_test(test_a_process_of_a_pool_that_died),
        cmocka_unit_test(test_a_death_is_not_of_another_host),
        cmocka_unit_test(test_an_exit_code_that_is_not_known),
        cmocka_unit_test(test_pools_and_postprocess),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
