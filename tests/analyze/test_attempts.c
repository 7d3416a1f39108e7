/* SPDX-License-Identifier: BSD-3-Clause */
/* test_attempts.c - chunks that took several attempts: each counts once, what was done
 * in vain is counted, and every failure is told. */
#include "analyze/roles.h"
#include "runs.h"

enum { FAILED = ROAST_CHUNK_FAILED };

static void test_a_retry_counts_once(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 10,
                                  .status = FAILED,
                                  .start = 1,
                                  .duration = 2,
                                  .error_type = "OSError",
                                  .error_message = "no route",
                                  .process = 2});
    add_frame(run, (struct frame){.stop = 10, .start = 4, .duration = 3, .events = 10});
    add_frame(run,
              (struct frame){
                  .first = 10, .stop = 20, .start = 4, .duration = 1, .events = 10});
    roast_run_finish(run, NS(8));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_attempts, 3);
    assert_metric(summary, num_chunks, 2);
    assert_metric(summary, num_successful_chunks, 2);
    assert_metric(summary, num_failed_chunks, 0);
    assert_metric(summary, num_retried_chunks, 1);
    assert_metric(summary, num_failed_attempts, 1);
    assert_metric(summary, wasted_thread_seconds, 2);
    assert_metric(summary, total_events, 20);
    assert_metric(summary, total_cpu_time, 4);
    assert_int_equal(rows_of(summary, "failures"), 1);
    assert_str_is(text_at(summary, "failures", 0, "error_type"), "OSError");
    assert_str_is(text_at(summary, "failures", 0, "error_message"), "no route");
    assert_str_is(text_at(summary, "failures", 0, "status"), "failed");
    assert_str_is(text_at(summary, "failures", 0, "worker"), "pid-102");
    assert_near(number_at(summary, "failures", 0, "attempt"), 1);
    assert_near(number_at(summary, "failures", 0, "resolved"), 1);
    assert_near(number_at(summary, "failures", 0, "seconds"), 2);
    assert_near(number_at(summary, "failures", 0, "entry_stop"), 10);
    assert_int_equal(cell_at(summary, "failures", 0, "error_section").type,
                     ROAST_CELL_ABSENT);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_the_first_success_counts_and_the_other_is_waste(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 10, .start = 5, .duration = 2, .events = 11});
    add_frame(run, (struct frame){.stop = 10, .start = 1, .duration = 3, .events = 10});
    roast_run_finish(run, NS(8));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, total_events, 10);
    assert_metric(summary, total_cpu_time, 3);
    assert_metric(summary, num_chunks, 1);
    assert_metric(summary, num_successful_chunks, 1);
    assert_metric(summary, num_retried_chunks, 1);
    assert_metric(summary, wasted_thread_seconds, 2);
    assert_int_equal(rows_of(summary, "failures"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_chunk_that_never_ended_well(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (int i = 0; i < 3; i++)
        add_frame(run,
                  (struct frame){
                      .stop = 10, .status = FAILED, .start = 3 - i, .error_type = "E"});
    roast_run_finish(run, NS(8));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_failed_chunks, 1);
    assert_metric(summary, num_failed_attempts, 3);
    assert_metric(summary, num_successful_chunks, 0);
    assert_metric(summary, num_retried_chunks, 1);
    assert_metric(summary, wasted_thread_seconds, 0);
    assert_string_equal(assert_absent(summary, chunk_duration_mean),
                        "no chunk was successful");
    for (size_t i = 0; i < 3; i++) {
        assert_near(number_at(summary, "failures", i, "attempt"), 3.0 - (double)i);
        assert_near(number_at(summary, "failures", i, "resolved"), 0);
    }
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The process began another attempt and ended it later: until then it lived. */
static void test_lost_attempts_last_to_the_last_sign_of_life(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run,
              (struct frame){
                  .kind = ROAST_FRAME_BEGIN, .process = 7, .stop = 10, .start = 2});
    add_frame(run,
              (struct frame){
                  .process = 7, .first = 10, .stop = 20, .start = 1, .duration = 4});
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN,
                                  .process = 8,
                                  .first = 20,
                                  .stop = 30,
                                  .start = 3});
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_lost_attempts, 0); /* they may still run */
    roast_summary_free(summary);
    roast_run_finish(run, NS(20));
    summary = summary_of(run);
    assert_metric(summary, num_attempts, 3);
    assert_metric(summary, num_lost_attempts, 2);
    assert_metric(summary, num_lost_chunks, 2);
    assert_metric(summary, num_failed_chunks, 0);
    assert_metric(summary, num_failed_or_lost, 2);
    assert_metric(summary, wasted_thread_seconds, 3);
    assert_int_equal(rows_of(summary, "failures"), 2);
    assert_str_is(text_at(summary, "failures", 0, "status"), "lost");
    assert_str_is(text_at(summary, "failures", 0, "file"), "a.root");
    assert_near(number_at(summary, "failures", 0, "seconds"), 3);
    assert_int_equal(cell_at(summary, "failures", 1, "seconds").type,
                     ROAST_CELL_ABSENT); /* nobody can know */
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A begin frame knows the file by an id, and not the tree. */
static void test_a_lost_attempt_meets_its_retry(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run,
              (struct frame){
                  .kind = ROAST_FRAME_BEGIN, .process = 7, .stop = 10, .start = 2});
    add_frame(run, (struct frame){.stop = 10, .start = 5, .duration = 1, .events = 5});
    add_frame(run, (struct frame){.first = 10,
                                  .stop = 20,
                                  .status = FAILED,
                                  .tree = "",
                                  .error_type = "OSError",
                                  .start = 1});
    add_frame(run, (struct frame){.first = 10, .stop = 20, .start = 5, .duration = 1});
    roast_run_finish(run, NS(20));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_chunks, 2);
    assert_metric(summary, num_retried_chunks, 2);
    assert_metric(summary, num_failed_chunks, 0);
    assert_near(number_at(summary, "failures", 0, "resolved"), 1);
    assert_near(number_at(summary, "failures", 1, "resolved"), 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_an_end_without_a_record_is_a_chunk_all_the_same(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END, .task_start = 1, .task = 2});
    roast_run_finish(run, NS(20));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_chunks_processed, 1);
    assert_metric(summary, num_chunks, 1);
    assert_metric(summary, task_seconds, 2);
    assert_absent(summary, total_events);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_nameless_chunks_are_each_their_own(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (int i = 0; i < 3; i++)
        add_frame(run,
                  (struct frame){
                      .file = "", .stop = 10, .start = i, .events = 1, .duration = 1});
    roast_run_finish(run, NS(20));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_chunks, 3);
    assert_metric(summary, num_retried_chunks, 0);
    assert_metric(summary, total_events, 3);
    assert_near(number_at(summary, "per_file", row_of(summary, "per_file", "(unknown)"),
                          "num_chunks"),
                3);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_trees_and_calls_are_passes_of_their_own(void **state)
{
    roast_run *run = run_new();

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    add_frame(run, (struct frame){.stop = 10, .start = 1, .events = 10, .duration = 1});
    add_frame(run,
              (struct frame){
                  .stop = 10, .start = 1, .events = 10, .duration = 1, .tree = "Runs"});
    mark(run, ROAST_MARK_RUN_END, 4);
    mark(run, ROAST_MARK_RUN_BEGIN, 5);
    add_frame(run, (struct frame){.stop = 10, .start = 6, .events = 10, .duration = 1});
    mark(run, ROAST_MARK_RUN_END, 8);
    roast_run_finish(run, NS(9));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_chunks, 3);
    assert_metric(summary, num_retried_chunks, 0);
    assert_metric(summary, total_events, 30);
    assert_metric(summary, runner_calls, 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- every chunk is one of four ---------------------------------------------------- */

static void assert_adds_up(const roast_summary *summary, double chunks)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    assert_metric(summary, num_chunks, chunks);
    assert_near(values->value[ROAST_METRIC_num_successful_chunks] +
                    values->value[ROAST_METRIC_num_failed_chunks] +
                    values->value[ROAST_METRIC_num_lost_chunks] +
                    values->value[ROAST_METRIC_num_running_chunks],
                chunks);
}

/* A failure whose retry still runs has not failed yet; one that was lost then has. */
static void test_chunks_add_up_while_a_run_goes_on_and_after(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 10, .start = 1, .duration = 1, .events = 10});
    add_frame(run,
              (struct frame){.first = 10, .stop = 20, .start = 1, .status = FAILED});
    add_frame(run, (struct frame){
                       .kind = ROAST_FRAME_BEGIN, .first = 10, .stop = 20, .start = 3});
    add_frame(run, (struct frame){
                       .kind = ROAST_FRAME_BEGIN, .first = 20, .stop = 30, .start = 3});
    for (const char *const *name = (const char *const[]){"ttbar", "a.root", NULL};
         *name; name++)
        assert_int_equal(roast_run_add_name(run, roast_str_of(*name), NULL), 0);
    roast_summary *summary = summary_of(run);
    assert_adds_up(summary, 3);
    assert_metric(summary, num_running_chunks, 2);
    assert_metric(summary, num_failed_chunks, 0);
    roast_summary_free(summary);
    roast_run_finish(run, NS(8));
    summary = summary_of(run);
    assert_adds_up(summary, 3);
    assert_metric(summary, num_running_chunks, 0);
    assert_metric(summary, num_failed_chunks, 1);
    assert_metric(summary, num_lost_chunks, 1);
    assert_metric(summary, num_retried_chunks, 1);
    assert_metric(summary, num_failed_or_lost, 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Seconds of chunks that ended are shared by those, not by all that were tried. */
static void test_mean_time_is_of_chunks_that_have_one(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 10, .start = 1, .duration = 3});
    add_frame(run,
              (struct frame){.first = 10, .stop = 20, .start = 1, .status = FAILED});
    roast_run_finish(run, NS(8));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_chunks, 2);
    assert_metric(summary, avg_cpu_time_per_chunk, 3);
    roast_summary_free(summary);
    roast_run_set_fact(run, ROAST_FACT_report_chunks,
                       4); /* as coffea's users know it */
    roast_run_set_fact(run, ROAST_FACT_report_process_seconds, 3);
    summary = summary_of(run);
    assert_metric(summary, avg_cpu_time_per_chunk, 0.75);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- files that cannot be asked for their entries ------------------------------------ */

static void add_file_try(roast_run *run, const char *file, const char *uuid)
{
    add_frame(run, (struct frame){.file = file,
                                  .uuid = uuid,
                                  .start = 1,
                                  .status = FAILED,
                                  .error_type = "OSError"});
}

static void test_a_file_that_failed_in_preprocessing_is_no_chunk(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_file_try(run, "gone.root", NULL);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_failed_files, 1);
    (void)assert_absent(summary, num_chunks);
    roast_summary_free(summary);
    add_file_try(run, "gone.root", NULL);
    add_file_try(run, "late.root", NULL); /* once: then it could be asked */
    add_file_try(run, "empty.root", "u"); /* a chunk of a file without entries */
    add_frame(run, (struct frame){.file = "late.root", .uuid = "v", .stop = 9});
    roast_run_finish(run, NS(8));
    summary = summary_of(run);
    assert_adds_up(summary, 2);
    assert_metric(summary, num_failed_files, 1);
    assert_metric(summary, num_failed_chunks, 1);
    assert_metric(summary, num_retried_chunks, 0);
    assert_metric(summary, num_failed_or_lost, 2);
    assert_metric(summary, num_failed_attempts, 4);
    assert_near(number_at(summary, "failures", 0, "resolved"), 0);
    assert_near(number_at(summary, "failures", 2, "resolved"), 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- many at random, against counting by hand ------------------------------------ */

enum { MANY = 600, FILES = 3, RANGES = 60 };

static void test_many_attempts_at_random(void **state)
{
    uint32_t tries[FILES][RANGES] = {{0}}, well[FILES][RANGES] = {{0}};
    double chunks = 0, successful = 0, failed = 0, retried = 0;
    uint64_t seed = 5;
    roast_run *run = run_new();

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        static const char *const files[FILES] = {"a", "b", "c"};
        seed = seed * UINT64_C(6364136223846793005) + 1;
        size_t file = (seed >> 40) % FILES, range = (seed >> 45) % RANGES;
        bool ok = (seed >> 60) % 3 > 0;
        tries[file][range]++;
        well[file][range] += ok;
        add_frame(run, (struct frame){.file = files[file],
                                      .first = range * 10,
                                      .stop = range * 10 + 10,
                                      .start = i,
                                      .status = ok ? 1 : FAILED,
                                      .events = 1,
                                      .duration = 1});
    }
    for (size_t i = 0; i < FILES * RANGES; i++) {
        uint32_t of = tries[i / RANGES][i % RANGES], ok = well[i / RANGES][i % RANGES];
        chunks += of > 0;
        successful += ok > 0;
        failed += of > 0 && ok == 0;
        retried += of > 1;
    }
    roast_run_finish(run, NS(1000));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_chunks, chunks);
    assert_metric(summary, num_successful_chunks, successful);
    assert_metric(summary, num_failed_chunks, failed);
    assert_metric(summary, num_retried_chunks, retried);
    assert_metric(summary, total_events, successful);
    assert_metric(summary, wasted_thread_seconds, MANY - successful);
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_retry_counts_once),
        cmocka_unit_test(test_the_first_success_counts_and_the_other_is_waste),
        cmocka_unit_test(test_a_chunk_that_never_ended_well),
        cmocka_unit_test(test_lost_attempts_last_to_the_last_sign_of_life),
        cmocka_unit_test(test_a_lost_attempt_meets_its_retry),
        cmocka_unit_test(test_an_end_without_a_record_is_a_chunk_all_the_same),
        cmocka_unit_test(test_nameless_chunks_are_each_their_own),
        cmocka_unit_test(test_trees_and_calls_are_passes_of_their_own),
        cmocka_unit_test(test_chunks_add_up_while_a_run_goes_on_and_after),
        cmocka_unit_test(test_mean_time_is_of_chunks_that_have_one),
        cmocka_unit_test(test_a_file_that_failed_in_preprocessing_is_no_chunk),
        cmocka_unit_test(test_many_attempts_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
