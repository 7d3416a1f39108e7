/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fine.c - what Dask's activities mean, and when they mean nothing. */
#include "analyze/activities.h"
#include "analyze/summary_oom.h"

#define W1 "tcp://10.0.0.1:1"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

/* Two chunks that are tasks of 2 s, of which 1.5 s are CPU, and a task that merges. */
static roast_run *run_on_dask(void)
{
    roast_run *run = run_new();

    join_on(run, W1, "10.0.0.1", 0);
    for (uint32_t i = 1; i <= 2; i++) {
        struct frame chunk = {.sequence = i,
                              .first = 100 * i,
                              .stop = 100 * i + 100,
                              .start = 2.0 * i,
                              .duration = 1,
                              .cpu = 0.25};
        struct frame end = {.kind = ROAST_FRAME_END,
                            .sequence = i,
                            .task_start = 2.0 * i - 0.5,
                            .task = 2,
                            .task_cpu = 1.5};
        add_frame_of_task(run, chunk, W1, i);
        add_frame_of_task(run, end, W1, i);
        add_task(run, "Processor", W1, i, ROAST_TASK_ok, 2.0 * i - 0.5, 2.0 * i + 1.5);
    }
    add_task(run, "reduce", W1, 9, ROAST_TASK_ok, 6, 6.25);
    add_task(run, "Processor", W1, 0, ROAST_TASK_ok, 7, 17); /* somebody else's */
    roast_run_finish(run, NS(20));
    return run;
}

static void add_spans(roast_run *run)
{
    count_seconds(run, "Processor", "thread-cpu", 3);
    count_seconds(run, "Processor", "thread-noncpu", 1);
    count_seconds(run, "reduce", "thread-cpu", 0.125);
    count_seconds(run, "reduce", "thread-noncpu", 0.0625);
}

static void test_the_processor_is_separate_from_other_tasks(void **state)
{
    roast_run *run = run_on_dask();

    (void)state;
    add_spans(run);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, cpu_time_seconds, 3.125);
    assert_metric(summary, io_time_seconds, 1.0625);
    assert_metric(summary, processor_cpu_time_seconds, 3);
    assert_metric(summary, processor_noncpu_time_seconds, 1);
    assert_metric(summary, processor_cpu_percentage, 75);
    assert_metric(summary, processor_noncpu_percentage, 25);
    assert_metric(summary, overhead_cpu_time_seconds, 0.125);
    assert_metric(summary, overhead_noncpu_time_seconds, 0.0625);
    assert_metric(summary, dask_cpu_ratio, 1);
    assert_metric(summary, failed_time_seconds, 0); /* Dask counts what happens */
    assert_metric(summary, compression_time_seconds, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_everything_that_dask_counts(void **state)
{
    roast_run *run = run_on_dask();

    (void)state;
    add_spans(run);
    count_seconds(run, "Processor", "failed", 4);
    count_seconds(run, "reduce", "cancelled", 5);
    count_seconds(run, "Processor", "executor", 0.5);
    count_seconds(run, "reduce", "executor", 0.25);
    count_seconds(run, "Processor", "offload", 0.75);
    count_seconds(run, "Processor", "compress", 1);
    count_activity(run, "get-data", NULL, "compress", "seconds", 2);
    count_activity(run, "gather-dep", NULL, "decompress", "seconds", 8);
    count_seconds(run, "Processor", "serialize", 16);
    count_activity(run, "memory-monitor", NULL, "serialize", "seconds", 32);
    count_activity(run, "gather-dep", NULL, "deserialize", "seconds", 64);
    count_activity(run, "execute", "reduce", "memory-read", "bytes", 100);
    count_activity(run, "execute", "reduce", "memory-read", "count", 7);
    count_activity(run, "get-data", NULL, "memory-read", "bytes", 1000);
    count_activity(run, "execute", "reduce", "disk-read", "bytes", 11);
    count_activity(run, "get-data", NULL, "disk-read", "bytes", 22);
    count_activity(run, "memory-monitor", NULL, "disk-write", "bytes", 44);
    count_activity(run, "memory-monitor", NULL, "disk-write", "seconds", 1e6);
    count_seconds(run, "Processor", "my own", 1e6);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, failed_time_seconds, 4);
    assert_metric(summary, overhead_noncpu_time_seconds, 4.0625);
    assert_metric(summary, io_time_seconds, 1.0625);
    assert_metric(summary, cancelled_time_seconds, 5);
    assert_metric(summary, executor_time_seconds, 0.75);
    assert_metric(summary, offload_time_seconds, 0.75);
    assert_metric(summary, compression_time_seconds, 3);
    assert_metric(summary, decompression_time_seconds, 8);
    assert_metric(summary, total_compression_overhead_seconds, 11);
    assert_metric(summary, serialization_time_seconds, 48);
    assert_metric(summary, deserialization_time_seconds, 64);
    assert_metric(summary, total_serialization_overhead_seconds, 112);
    assert_metric(summary, total_bytes_memory_read_dask, 100);
    assert_metric(summary, disk_read_bytes, 33);
    assert_metric(summary, disk_write_bytes, 44);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void check_own_clocks(roast_run *run)
{
    roast_summary *summary = summary_of(run);

    assert_metric(summary, cpu_time_seconds, 3); /* of the whole tasks */
    assert_metric(summary, io_time_seconds, 1);
    assert_metric(summary, processor_cpu_time_seconds, 3);
    assert_metric(summary, processor_noncpu_time_seconds, 1);
    assert_metric(summary, processor_cpu_percentage, 75);
    assert_string_equal(
        assert_absent(summary, overhead_cpu_time_seconds),
        "Dask added these tasks to an earlier span whose tasks have the same names");
    assert_absent(summary, serialization_time_seconds);
    assert_absent(summary, dask_cpu_ratio);
    roast_summary_free(summary);
}

static void test_tasks_under_another_span(void **state)
{
    roast_run *run = run_on_dask();

    (void)state;
    count_seconds(run, "reduce", "thread-cpu", 0.125);
    check_own_clocks(run);                              /* nothing of the processor */
    count_seconds(run, "Processor", "thread-cpu", 1.9); /* of 4 s */
    check_own_clocks(run);
    count_seconds(run, "Processor", "thread-cpu", 2.1);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, processor_cpu_time_seconds, 2.1);
    roast_summary_free(summary);
    count_seconds(run, "Processor", "thread-noncpu", 4.1); /* those of another too */
    check_own_clocks(run);
    roast_run_free(run);
}

static void test_tasks_that_are_no_chunks(void **state)
{
    roast_run *run = run_new();

    (void)state;
    join_on(run, W1, "10.0.0.1", 0);
    add_task(run, "inc", W1, 5, ROAST_TASK_ok, 1, 3);
    count_seconds(run, "inc", "thread-cpu", 2);
    roast_run_finish(run, NS(4));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, cpu_time_seconds, 2);
    assert_metric(summary, executor_time_seconds, 0);
    assert_absent(summary, processor_cpu_time_seconds);
    assert_string_equal(assert_absent(summary, overhead_cpu_time_seconds),
                        "no task of the processor was recorded");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A user's backend has spans and no scheduler: the name of the class is all there is. */
static void test_spans_without_tasks(void **state)
{
    roast_run *run = run_new();

    (void)state;
    count_seconds(run, "Processor", "thread-cpu", 2);
    count_seconds(run, "reduce", "thread-cpu", 1);
    roast_run_finish(run, NS(4));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, processor_cpu_time_seconds, 3); /* nobody knows the name */
    assert_metric(summary, overhead_cpu_time_seconds, 0);
    roast_summary_free(summary);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("processor"),
                                        roast_str_of("Processor"), NULL),
                     ROAST_OK);
    summary = summary_of(run);
    assert_metric(summary, processor_cpu_time_seconds, 2);
    assert_metric(summary, overhead_cpu_time_seconds, 1);
    roast_summary_free(summary);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("processor"),
                                        roast_str_of("Another"), NULL),
                     ROAST_OK);
    summary = summary_of(run);
    assert_metric(summary, cpu_time_seconds, 3);
    assert_absent(summary, processor_cpu_time_seconds);
    assert_absent(summary, overhead_cpu_time_seconds);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_dask(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 10, .duration = 2, .cpu = 0.5});
    roast_run_finish(run, NS(4));
    roast_summary *summary = summary_of(run);
    assert_metric(summary, cpu_time_seconds, 0.5);
    assert_metric(summary, io_time_seconds, 1.5);
    assert_string_equal(assert_absent(summary, overhead_cpu_time_seconds),
                        "there are no Dask spans");
    assert_absent(summary, disk_read_bytes);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_names_of_sums(void **state)
{
    struct roast_str seconds = roast_str_of("seconds"), bytes = roast_str_of("bytes");
    struct roast_str nothing = {NULL, 0};

    (void)state;
    assert_int_equal(roast_fine_sum_of(roast_str_of("thread-cpu"), seconds),
                     ROAST_FINE_CPU_S);
    assert_int_equal(roast_fine_sum_of(roast_str_of("offload"), seconds),
                     ROAST_FINE_OFFLOAD_S);
    assert_int_equal(roast_fine_sum_of(roast_str_of("disk-write"), bytes),
                     ROAST_FINE_DISK_WRITE_BYTES);
    assert_int_equal(roast_fine_sum_of(roast_str_of("disk-write"), seconds),
                     ROAST_FINE_SUMS);
    assert_int_equal(roast_fine_sum_of(roast_str_of("thread-cpu"), bytes),
                     ROAST_FINE_SUMS);
    assert_int_equal(
        roast_fine_sum_of(roast_str_of("thread-cpu"), roast_str_of("count")),
        ROAST_FINE_SUMS);
    assert_int_equal(roast_fine_sum_of(nothing, nothing), ROAST_FINE_SUMS);
}

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = run_on_dask();

    (void)state;
    add_spans(run);
    check_summary_sweep(run);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_processor_is_separate_from_other_tasks, setup),
        cmocka_unit_test_setup(test_everything_that_dask_counts, setup),
        cmocka_unit_test_setup(test_tasks_under_another_span, setup),
        cmocka_unit_test_setup(test_tasks_that_are_no_chunks, setup),
        cmocka_unit_test_setup(test_spans_without_tasks, setup),
        cmocka_unit_test_setup(test_without_dask, setup),
        cmocka_unit_test_setup(test_names_of_sums, setup),
        cmocka_unit_test_setup(test_any_allocation_may_fail, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
