/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cluster.c - workers that were lost and what went with them, tasks by kind, hot
 * lines, and which samples are of workers. */
#include <stdio.h>

#include "cluster.h"
#include "summary_oom.h"

#define W1 "tcp://10.0.0.1:1"
#define W2 "tcp://10.0.0.1:2"
#define W3 "tcp://10.0.0.2:1"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

static void sample(roast_run *run, const char *worker, double seconds,
                   enum roast_series series, double value)
{
    roast_sample sample = {.worker = roast_str_of(worker), .time_ns = at(seconds)};

    roast_sample_set(&sample, series, value);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

/* Of attempts that one process makes one after the other. */
static uint32_t sequence_of(double start)
{
    return (uint32_t)(start * 10) + 1;
}

static void begin_chunk(roast_run *run, uint64_t process, uint64_t first, double start,
                        const char *worker)
{
    struct frame begin = {.kind = ROAST_FRAME_BEGIN,
                          .process = process,
                          .sequence = sequence_of(start),
                          .first = first,
                          .stop = first + 100,
                          .start = start};

    add_frame_of_task(run, begin, worker, (uint32_t)first + 1);
}

/* A chunk that ends well; its record comes only where the result did. */
static void end_chunk(roast_run *run, uint64_t process, uint64_t first, double start,
                      double task, const char *worker, bool record)
{
    struct frame end = {.kind = ROAST_FRAME_END,
                        .process = process,
                        .sequence = sequence_of(start),
                        .task_start = start,
                        .task = task,
                        .task_cpu = task};
    struct frame chunk = {.process = process,
                          .sequence = sequence_of(start),
                          .first = first,
                          .stop = first + 100,
                          .start = start,
                          .duration = task};

    add_frame_of_task(run, end, worker, (uint32_t)first + 1);
    if (record)
        add_frame_of_task(run, chunk, worker, (uint32_t)first + 1);
}

/* W1 dies at 5 s with one chunk half done and the result of another; both are done again
 * on W2, in another process or in the same. W3 retires. */
static roast_run *run_with_a_death(uint64_t other_process)
{
    roast_run *run = run_new();

    join_on(run, W1, "10.0.0.1", 0);
    join_on(run, W2, "10.0.0.1", 0);
    join_on(run, W3, "10.0.0.2", 1);
    sample(run, W1, 1, ROAST_SERIES_memory, 300);
    sample(run, W1, 4, ROAST_SERIES_memory, 900);
    begin_chunk(run, 11, 0, 1, W1);
    end_chunk(run, 11, 0, 1, 1.5, W1, false);
    begin_chunk(run, 11, 100, 3, W1);
    leave_for(run, W1, 5, "its nanny ended it for its memory: 950 MB resident");
    leave_for(run, W3, 6, NULL);
    for (uint64_t first = 0; first <= 100; first += 100) {
        begin_chunk(run, other_process, first, 6 + (double)first / 50, W2);
        end_chunk(run, other_process, first, 6 + (double)first / 50, 1, W2, true);
    }
    roast_run_finish(run, NS(10));
    return run;
}

static void assert_lost_worker(roast_run *run)
{
    roast_summary *summary = summary_of(run);

    assert_metric(summary, num_lost_workers, 1);
    assert_metric(summary, num_lost_attempts, 1);
    assert_metric(summary, num_retried_chunks, 2);
    assert_metric(summary, num_successful_chunks, 2);
    assert_metric(summary, wasted_thread_seconds, 3.5); /* 3 s to 5 s, and 1.5 s */
    assert_metric(summary, time_avg_workers, (10 + 5 + 5) / 10.0);
    assert_metric(summary, offered_thread_seconds, 40);
    assert_int_equal(rows_of(summary, "lost_workers"), 1);
    assert_str_is(text_at(summary, "lost_workers", 0, "worker"), W1);
    assert_str_is(text_at(summary, "lost_workers", 0, "name"), "7");
    assert_str_is(text_at(summary, "lost_workers", 0, "host"), "10.0.0.1");
    assert_str_is(text_at(summary, "lost_workers", 0, "ended"), "killed for memory");
    assert_near(number_at(summary, "lost_workers", 0, "pid"), 4321);
    assert_near(number_at(summary, "lost_workers", 0, "left"), 1700000005.0);
    assert_near(number_at(summary, "lost_workers", 0, "memory_bytes"), 900);
    assert_near(number_at(summary, "lost_workers", 0, "memory_limit_bytes"), 1000);
    assert_near(number_at(summary, "lost_workers", 0, "attempts"), 2);
    assert_near(number_at(summary, "lost_workers", 0, "seconds_lost"), 3.5);
    assert_int_equal(items_at(summary, "lost_workers", 0, "chunks"), 1);
    assert_str_is(item_at(summary, "lost_workers", 0, "chunks", 0),
                  "ttbar a.root 100-200");
    assert_int_equal(rows_of(summary, "failures"), 1);
    assert_near(number_at(summary, "failures", 0, "seconds"), 2);
    assert_str_is(text_at(summary, "failures", 0, "worker"), W1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_lost_worker_and_what_it_held(void **state)
{
    (void)state;
    assert_lost_worker(run_with_a_death(12));
}

static void test_a_lost_worker_of_a_process_of_two(void **state)
{
    (void)state;
    assert_lost_worker(run_with_a_death(11));
}

static void test_how_workers_end(void **state)
{
    static const struct {
        const char *reason;
        const char *ended;
    } ends[] = {
        {"the connection to it was lost", "unknown"},
        {"it closed: worker-close", "closed"},
        {"no heartbeat for 300 s (ttl)", "no heartbeat"},
        {"its nanny ended it for its memory: 1 MB resident", "killed for memory"},
        {"somebody said that it closed", "unknown"},
    };
    roast_run *run = run_new();
    char worker[32];

    (void)state;
    for (int i = 0; i < 5; i++) {
        (void)snprintf(worker, sizeof(worker), "tcp://h:%d", i);
        join_on(run, worker, "h", 0);
        leave_for(run, worker, 2 + i, ends[i].reason);
    }
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "lost_workers"), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_str_is(text_at(summary, "lost_workers", i, "ended"), ends[i].ended);
        assert_str_is(text_at(summary, "lost_workers", i, "reason"), ends[i].reason);
        assert_near(number_at(summary, "lost_workers", i, "seconds_lost"), 0);
        assert_int_equal(cell_at(summary, "lost_workers", i, "memory_bytes").type,
                         ROAST_CELL_ABSENT);
    }
    roast_summary_free(summary);
    roast_run_free(run);
}

/* It left on request: its attempt is lost, but it did not die. */
static void test_a_stopped_worker_with_an_unfinished_attempt(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, W1, "10.0.0.1", 0);
    begin_chunk(run, 11, 0, 1, W1);
    leave_for(run, W1, 3, NULL);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, num_lost_workers, 0);
    assert_metric(summary, num_lost_attempts, 1);
    assert_int_equal(rows_of(summary, "lost_workers"), 0);
    assert_near(number_at(summary, "budget", 0, "lost"), 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The address of the dead is used again. */
static void test_the_session_is_the_current_one(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, W1, "10.0.0.1", 0);
    begin_chunk(run, 11, 0, 1, W1);
    leave_for(run, W1, 3, "first");
    join_on(run, W1, "10.0.0.1", 4);
    begin_chunk(run, 12, 100, 5, W1);
    leave_for(run, W1, 9, "second");
    join_on(run, W1, "10.0.0.1", 9.5);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "lost_workers"), 2);
    assert_near(number_at(summary, "lost_workers", 0, "seconds_lost"), 2);
    assert_near(number_at(summary, "lost_workers", 1, "seconds_lost"), 4);
    assert_metric(summary, wasted_thread_seconds, 6);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_a_scheduler_lost_workers_are_unknown(void **state)
{
    roast_run *run = run_new();

    (void)state;
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_string_equal(assert_absent(summary, num_lost_workers),
                        "only available on Dask");
    assert_int_equal(rows_of(summary, "lost_workers"), 0);
    assert_int_equal(rows_of(summary, "tasks_by_kind"), 0);
    assert_int_equal(rows_of(summary, "hot_lines"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- samples --------------------------------------------------------------------- */

static void add_use(roast_run *run, uint64_t pid, double seconds, uint64_t rss)
{
    const struct roast_process_use use = {
        .pid = pid, .started_ticks = pid, .time_ns = at(seconds), .rss_bytes = rss};

    assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
}

/* Only a worker that an attempt belongs to is a process that was seen. */
static void test_frames_of_an_attempt_from_two_workers_are_one_process(void **state)
{
    roast_run *run = run_new();
    struct frame frame = {
        .kind = ROAST_FRAME_BEGIN, .process = 11, .sequence = 5, .start = 1};

    (void)state;
    add_frame_of_task(run, frame, W1, 1);
    frame.kind = ROAST_FRAME_CHUNK;
    add_frame_of_task(run, frame, W2, 2);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, processes_seen, 1);
    assert_metric(summary, processes_unsampled, 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_only_workers_of_the_scheduler_count(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, W1, "10.0.0.1", 0);
    sample(run, W1, 1, ROAST_SERIES_memory, 100);
    sample(run, W1, 2, ROAST_SERIES_memory, 300);
    sample(run, W1, 2, ROAST_SERIES_memory_limit, 1000);
    add_use(run, 50, 1, 9000);  /* the client */
    add_use(run, 111, 1, 7000); /* W1 as a process of this machine */
    begin_chunk(run, 11, 0, 1, W1);
    end_chunk(run, 11, 0, 1, 1, W1, true); /* pid 111 */
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, peak_memory_bytes, 300);
    assert_metric(summary, avg_memory_per_worker_bytes, 200);
    assert_metric(summary, processes_seen, 1);
    roast_summary_free(summary);
    add_frame(run, (struct frame){.process = 5, .first = 900, .stop = 1000});
    add_use(run, 105, 1, 5000); /* of another executor in the same block */
    summary = summary_of(run);
    assert_metric(summary, peak_memory_bytes, 5000);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_traffic_of_a_host_counts_once(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, W1, "10.0.0.1", 0);
    join_on(run, W2, "10.0.0.1", 0);
    join_on(run, W3, "10.0.0.2", 0);
    begin_chunk(run, 11, 0, 1, W1);
    end_chunk(run, 11, 0, 1, 1, W1, true); /* it calls its host "here" */
    for (int i = 1; i <= 2; i++) {
        sample(run, W1, i, ROAST_SERIES_disk_read, 1000);
        sample(run, W2, i, ROAST_SERIES_disk_read, 1000);
        sample(run, W3, i, ROAST_SERIES_disk_read, 10);
        sample(run, W1, i, ROAST_SERIES_spilled_disk, 5);
        sample(run, W2, i, ROAST_SERIES_spilled_disk, 5);
    }
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, disk_read_bps_avg, 1010);
    assert_metric(summary, disk_read_bps_peak, 1010);
    assert_metric(summary, spilled_bytes_peak, 10);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A worker that joins may lower the mean of its host: the peak was before it. */
static void test_a_mean_is_never_above_the_peak(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, W1, "10.0.0.1", 0);
    join_on(run, W2, "10.0.0.1", 0);
    sample(run, W1, 1, ROAST_SERIES_net_read, 10);
    sample(run, W1, 9, ROAST_SERIES_net_read, 800);
    sample(run, W2, 9, ROAST_SERIES_net_read, 0);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, net_read_bps_avg, 800);
    assert_metric(summary, net_read_bps_peak, 800);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- tasks and lines ------------------------------------------------------------- */

static void test_tasks_by_kind(void **state)
{
    roast_run *run = run_with_a_death(12);

    (void)state;
    add_task(run, "Processor", W1, 1, ROAST_TASK_ok, 1, 2.5);
    add_task(run, "Processor", W1, 101, ROAST_TASK_lost, 3, 0);
    add_task(run, "Processor", W2, 1, ROAST_TASK_ok, 6, 7);
    add_task(run, "Processor", W2, 101, ROAST_TASK_ok, 8, 9);
    add_task(run, "Processor", W2, 101, ROAST_TASK_moved, 8, 0);
    add_task(run, "reduce", W2, 7, ROAST_TASK_retried, 9, 9.25);
    add_task(run, "reduce", W2, 7, ROAST_TASK_sent_back, 9, 0);
    add_task(run, "inc", W2, 0, ROAST_TASK_ok, 9, 9.5);
    roast_summary *summary = summary_of(run);
    size_t chunk = row_of(summary, "tasks_by_kind", "chunk");
    assert_near(number_at(summary, "tasks_by_kind", chunk, "count"), 4);
    assert_near(number_at(summary, "tasks_by_kind", chunk, "ok"), 3);
    assert_near(number_at(summary, "tasks_by_kind", chunk, "lost"), 1);
    assert_near(number_at(summary, "tasks_by_kind", chunk, "seconds"), 3.5);
    assert_int_equal(items_at(summary, "tasks_by_kind", chunk, "prefixes"), 1);
    assert_str_is(item_at(summary, "tasks_by_kind", chunk, "prefixes", 0), "Processor");
    size_t reduce = row_of(summary, "tasks_by_kind", "reduce");
    assert_near(number_at(summary, "tasks_by_kind", reduce, "retried"), 1);
    assert_near(number_at(summary, "tasks_by_kind", reduce, "sent_back"), 1);
    assert_near(number_at(summary, "tasks_by_kind", reduce, "count"), 2);
    size_t foreign = row_of(summary, "tasks_by_kind", "foreign");
    assert_near(number_at(summary, "tasks_by_kind", foreign, "seconds"), 0.5);
    assert_int_equal(rows_of(summary, "tasks_by_kind"), 3);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void add_hot_line(roast_run *run, uint64_t number, double seconds)
{
    struct roast_hot_line line = {.file = roast_str_of("/home/me/analysis.py"),
                                  .function = roast_str_of("process"),
                                  .text = roast_str_of("x = y"),
                                  .line = number,
                                  .seconds = seconds,
                                  .self_seconds = seconds / 2};

    assert_int_equal(roast_run_add_hot_line(run, &line, NULL), ROAST_OK);
}

static void test_hottest_lines_come_first(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < 30; i++)
        add_hot_line(run, i, (double)(i % 15));
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "hot_lines"), 20);
    assert_near(number_at(summary, "hot_lines", 0, "line"), 14);
    assert_near(number_at(summary, "hot_lines", 1, "line"), 29); /* equal: as told */
    assert_near(number_at(summary, "hot_lines", 2, "line"), 13);
    assert_near(number_at(summary, "hot_lines", 0, "seconds"), 14);
    assert_near(number_at(summary, "hot_lines", 0, "self_seconds"), 7);
    assert_str_is(text_at(summary, "hot_lines", 0, "text"), "x = y");
    assert_str_is(text_at(summary, "hot_lines", 0, "function"), "process");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = run_with_a_death(12);

    (void)state;
    add_task(run, "Processor", W1, 1, ROAST_TASK_ok, 1, 2.5);
    add_task(run, "reduce", W2, 7, ROAST_TASK_ok, 9, 9.25);
    add_hot_line(run, 3, 1);
    check_summary_sweep(run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_lost_worker_and_what_it_held, setup),
        cmocka_unit_test_setup(test_a_lost_worker_of_a_process_of_two, setup),
        cmocka_unit_test_setup(test_how_workers_end, setup),
        cmocka_unit_test_setup(test_a_stopped_worker_with_an_unfinished_attempt, setup),
        cmocka_unit_test_setup(test_the_session_is_the_current_one, setup),
        cmocka_unit_test_setup(test_without_a_scheduler_lost_workers_are_unknown,
                               setup),
        cmocka_unit_test_setup(
            test_frames_of_an_attempt_from_two_workers_are_one_process, setup),
        cmocka_unit_test_setup(test_only_workers_of_the_scheduler_count, setup),
        cmocka_unit_test_setup(test_traffic_of_a_host_counts_once, setup),
        cmocka_unit_test_setup(test_a_mean_is_never_above_the_peak, setup),
        cmocka_unit_test_setup(test_tasks_by_kind, setup),
        cmocka_unit_test_setup(test_hottest_lines_come_first, setup),
        cmocka_unit_test_setup(test_any_allocation_may_fail, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
