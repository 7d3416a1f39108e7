/* SPDX-License-Identifier: BSD-3-Clause */
/* test_command.c - metrics of a command from facts and samples, and the reasons of what
 * is not known of it. */
#include "analyze/cluster.h"
#include "analyze/table_cells.h"

static void add_sample(roast_run *run, double seconds, double rss, double pss)
{
    roast_sample sample = {.worker = roast_str_of("command"),
                           .time_ns = RUN_EPOCH_NS + NS(seconds)};

    roast_sample_set(&sample, ROAST_SERIES_memory, rss);
    roast_sample_set(&sample, ROAST_SERIES_threads, 7);
    roast_sample_set(&sample, ROAST_SERIES_processes, seconds);
    roast_sample_set(&sample, ROAST_SERIES_cores, 2);
    roast_sample_set(&sample, ROAST_SERIES_cpu, 150);
    if (pss > 0) {
        roast_sample_set(&sample, ROAST_SERIES_pss, pss);
        roast_sample_set(&sample, ROAST_SERIES_uss, pss / 2);
    }
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

static roast_run *command_run(void)
{
    roast_run *run = run_new();

    roast_run_set_fact(run, ROAST_FACT_command_processes, 5);
    roast_run_set_fact(run, ROAST_FACT_children_cpu_seconds, 6);
    roast_run_set_fact(run, ROAST_FACT_own_cpu_seconds, 0.01);
    roast_run_finish(run, NS(4));
    return run;
}

static void facts_are_metrics(void **state)
{
    static const struct {
        enum roast_fact fact;
        enum roast_metric metric;
    } same[] = {
#define SAME(name) {ROAST_FACT_##name, ROAST_METRIC_##name}
        SAME(command_system_seconds),
        SAME(command_read_bytes),
        SAME(command_written_bytes),
        SAME(command_storage_read_bytes),
        SAME(command_storage_written_bytes),
        SAME(command_exit_code),
        SAME(cgroup_cpu_seconds),
        SAME(throttled_seconds),
        SAME(oom_kills),
        SAME(cpu_pressure_seconds),
        SAME(memory_pressure_seconds),
        SAME(io_pressure_seconds),
        SAME(network_received_bytes),
        SAME(network_sent_bytes),
#undef SAME
    };
    roast_run *run = command_run();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(same); i++)
        roast_run_set_fact(run, same[i].fact, (double)i);
    roast_summary *summary = summary_of(run);
    for (size_t i = 0; i < COUNT_OF(same); i++)
        check_metric(summary, same[i].metric, (double)i, __FILE__, __LINE__);
    assert_metric(summary, command_cpu_seconds, 6);
    assert_metric(summary, command_monitor_seconds, 0.01);
    assert_metric(summary, tree_cpu_seconds, 6.01);
    assert_metric(summary, command_cores_busy, 1.5);
    assert_metric(summary, processes_seen, 5);
    assert_int_equal(rows_of(summary, "wall_account"), 0);
    assert_int_equal(rows_of(summary, "findings"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The second sample has no PSS; the whole was larger than one process in the first. */
static void peaks_are_those_of_samples(void **state)
{
    roast_run *run = command_run();
    (void)state;

    add_sample(run, 1, 1000, 600);
    add_sample(run, 2, 3000, 0);
    add_sample(run, 3, 500, 400);
    roast_run_set_fact(run, ROAST_FACT_command_peak_process_bytes, 2500);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, peak_memory_bytes, 3000);
    assert_metric(summary, command_peak_process_bytes, 2500);
    assert_metric(summary, command_peak_pss_bytes, 600);
    assert_metric(summary, command_peak_uss_bytes, 300);
    assert_metric(summary, command_peak_processes, 3);
    assert_metric(summary, command_peak_threads, 7);
    assert_metric(summary, cpu_utilization_avg_percent, 75);
    roast_summary_free(summary);
    roast_run_set_fact(run, ROAST_FACT_command_peak_process_bytes, 4000);
    summary = summary_of(run);
    assert_metric(summary, peak_memory_bytes, 4000);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void what_a_command_cannot_have_has_its_reason(void **state)
{
    static const char *const reason = "a command was run, no coffea analysis";
    roast_run *run = command_run();
    roast_summary *summary = summary_of(run);
    (void)state;

    assert_string_equal(assert_absent(summary, total_events), reason);
    assert_string_equal(assert_absent(summary, num_chunks), reason);
    assert_string_equal(assert_absent(summary, command_peak_processes),
                        "it ended before a sample");
    assert_string_equal(assert_absent(summary, oom_kills),
                        "the control group and the network were not read");
    roast_summary_free(summary);
    roast_run_set_fact(run, ROAST_FACT_network_sent_bytes, 1);
    summary = summary_of(run);
    assert_string_equal(assert_absent(summary, oom_kills),
                        "no control group counts them");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void other_runs_have_none_of_it(void **state)
{
    static const char *const reason = "only of commands: roast run -- COMMAND";
    roast_run *run = run_new();
    (void)state;

    roast_run_set_fact(run, ROAST_FACT_children_cpu_seconds, 6);
    roast_run_finish(run, NS(4));
    roast_summary *summary = summary_of(run);
    assert_string_equal(assert_absent(summary, command_cpu_seconds), reason);
    assert_string_equal(assert_absent(summary, command_cores_busy), reason);
    roast_summary_free(summary);
    roast_run_set_fact(run, ROAST_FACT_oom_kills, 2); /* of any run */
    summary = summary_of(run);
    assert_metric(summary, oom_kills, 2);
    assert_string_equal(assert_absent(summary, command_exit_code), reason);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* They were counted until a cluster was connected. */
static void counters_of_the_client_are_not_those_of_a_cluster(void **state)
{
    roast_sample gpu = {.worker = roast_str_of("gpu-0"), .time_ns = at(1)};
    roast_run *run = run_new();
    (void)state;

    roast_run_set_fact(run, ROAST_FACT_oom_kills, 0);
    roast_sample_set(&gpu, ROAST_SERIES_gpu_power, 250);
    assert_int_equal(roast_run_add_sample(run, &gpu, NULL), ROAST_OK);
    join_on(run, "tcp://10.0.0.1:1", "node", 1);
    roast_run_finish(run, NS(4));
    roast_summary *summary = summary_of(run);
    assert_string_equal(assert_absent(summary, oom_kills), "not counted on a cluster");
    assert_string_equal(assert_absent(summary, num_gpus), "no GPU was sampled");
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_metrics),
        cmocka_unit_test(peaks_are_those_of_samples),
        cmocka_unit_test(what_a_command_cannot_have_has_its_reason),
        cmocka_unit_test(other_runs_have_none_of_it),
        cmocka_unit_test(counters_of_the_client_are_not_those_of_a_cluster),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
