/* SPDX-License-Identifier: BSD-3-Clause */
/* test_metric_rows.c - the tables of metrics: values, and which rows there are. */
#include <math.h>
#include <stdio.h>

#include "metrics_by_hand.h"

static struct roast_row rows[ROAST_REPORT_MAX_ROWS];
static struct roast_metric_values values;

static int setup(void **state)
{
    (void)state;
    set_nothing(&values);
    return 0;
}

/* The value of a row; NULL when there is no such row. */
static const char *value_of(enum roast_report_table table, const char *label)
{
    size_t count = roast_report_rows(rows, table, &values);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].label, label) == 0)
            return rows[i].value;
    return NULL;
}

static void test_titles_are_those_that_users_know(void **state)
{
    (void)state;
    assert_string_equal(roast_report_title(ROAST_REPORT_THROUGHPUT),
                        "Throughput Metrics");
    assert_string_equal(roast_report_title(ROAST_REPORT_FINE),
                        "Fine Metrics (from Dask Spans)");
    assert_string_equal(roast_report_title(ROAST_REPORT_CHUNKS), "Chunk Metrics");
}

static void test_values_have_their_unit(void **state)
{
    (void)state;
    set_typical(&values, WORKFLOW | WORKERS);
    assert_string_equal(value_of(ROAST_REPORT_THROUGHPUT, "Data Rate"),
                        "0.511 Gbit/s (63.9 MB/s)");
    assert_string_equal(value_of(ROAST_REPORT_EVENTS, "Event Rate (Elapsed Time)"),
                        "200 kHz");
    assert_string_equal(value_of(ROAST_REPORT_EVENTS, "Event Rate (Core-Averaged)"),
                        "100 kHz/core");
    assert_string_equal(value_of(ROAST_REPORT_RESOURCES, "Core Efficiency"), "89.3 %");
    assert_string_equal(value_of(ROAST_REPORT_RESOURCES, "Speedup Factor"), "1.76x");
    assert_string_equal(value_of(ROAST_REPORT_TIMING, "Number of Chunks"), "1240");
}

static void test_a_short_time_is_not_zero(void **state)
{
    (void)state;
    SET(&values, wall_time, 0.004);
    assert_string_equal(value_of(ROAST_REPORT_TIMING, "Elapsed Time"), "4.00 ms");
}

static void test_the_absent_is_a_dash_with_its_reason_where_it_matters(void **state)
{
    (void)state;
    assert_string_equal(value_of(ROAST_REPORT_THROUGHPUT, "Data Rate"),
                        "- (savemetrics is off)");
    assert_string_equal(value_of(ROAST_REPORT_THROUGHPUT, "Total Bytes Read"), "-");
    assert_null(value_of(ROAST_REPORT_RESOURCES, "Spilled to Disk"));
    values.why[ROAST_METRIC_data_rate_gbps] = NULL;
    assert_string_equal(value_of(ROAST_REPORT_THROUGHPUT, "Data Rate"), "-");
}

static void test_known_but_no_number_is_absent(void **state)
{
    (void)state;
    SET(&values, wall_time, NAN);
    SET(&values, spilled_bytes_avg, INFINITY);
    SET(&values, data_rate_gbps, 1);
    SET(&values, data_rate_mbps, NAN);
    assert_string_equal(value_of(ROAST_REPORT_TIMING, "Elapsed Time"), "-");
    assert_null(value_of(ROAST_REPORT_RESOURCES, "Spilled to Disk"));
    assert_string_equal(value_of(ROAST_REPORT_THROUGHPUT, "Data Rate"), "1.00 Gbit/s");
}

static void test_a_command_has_its_own_table_alone(void **state)
{
    (void)state;
    set_typical(&values, WORKFLOW | WORKERS);
    assert_int_equal(roast_report_rows(rows, ROAST_REPORT_COMMAND, &values), 0);
    SET(&values, command_cpu_seconds, 3);
    SET(&values, command_system_seconds, 0.5);
    SET(&values, command_exit_code, 137);
    values.why[ROAST_METRIC_command_read_bytes] = "not counted";
    assert_string_equal(value_of(ROAST_REPORT_COMMAND, "CPU Time"),
                        "3.00 s (in the kernel 500 ms)");
    assert_string_equal(value_of(ROAST_REPORT_COMMAND, "Exit Code"), "137");
    assert_string_equal(value_of(ROAST_REPORT_COMMAND, "Read"), "- (not counted)");
    assert_null(value_of(ROAST_REPORT_COMMAND, "Throttled"));
    SET(&values, throttled_seconds, 0);
    assert_string_equal(value_of(ROAST_REPORT_COMMAND, "Throttled"), "0 s");
    for (int i = 0; i < ROAST_REPORT_COMMAND; i++)
        assert_int_equal(roast_report_rows(rows, (enum roast_report_table)i, &values),
                         0);
}

static void test_what_a_machine_counted_is_shown_of_any_run(void **state)
{
    (void)state;
    set_typical(&values, WORKFLOW | WORKERS);
    SET(&values, oom_kills, 0);
    SET(&values, cpu_pressure_seconds, 2);
    SET(&values, network_received_bytes, 3e6);
    SET(&values, network_sent_bytes, 1000);
    assert_null(value_of(ROAST_REPORT_RESOURCES, "Killed for Memory"));
    assert_null(value_of(ROAST_REPORT_RESOURCES, "Throttled"));
    SET(&values, oom_kills, 2);
    assert_string_equal(value_of(ROAST_REPORT_RESOURCES, "Killed for Memory"), "2");
    assert_string_equal(value_of(ROAST_REPORT_RESOURCES, "A Task Waited for a Core"),
                        "2.00 s");
    assert_string_equal(value_of(ROAST_REPORT_RESOURCES, "Network Received"),
                        "3.00 MB (sent 1.00 kB)");
}

static void test_a_long_reason_is_cut(void **state)
{
    static char reason[500];

    (void)state;
    memset(reason, 'r', sizeof(reason) - 1);
    values.why[ROAST_METRIC_total_events] = reason;
    const char *value = value_of(ROAST_REPORT_EVENTS, "Total Events");
    assert_int_equal(strlen(value), sizeof(rows[0].value) - 1);
    assert_int_equal(value[strlen(value) - 1], ')');
}

static void test_rows_of_problems_are_hidden_if_zero(void **state)
{
    (void)state;
    set_typical(&values, CHUNKS);
    assert_string_equal(value_of(ROAST_REPORT_CHUNKS, "  Retried"), "3");
    assert_string_equal(value_of(ROAST_REPORT_CHUNKS, "  Time Wasted"), "300 ms");
    assert_null(value_of(ROAST_REPORT_CHUNKS, "  Lost"));
    SET(&values, num_lost_attempts, 2);
    assert_string_equal(value_of(ROAST_REPORT_CHUNKS, "  Lost"), "2");
}

static void test_no_chunk_no_chunk_table(void **state)
{
    (void)state;
    SET(&values, num_chunks, 12); /* a dict of 0.1.2 may have no more */
    assert_true(roast_report_rows(rows, ROAST_REPORT_CHUNKS, &values) > 0);
    SET(&values, num_attempts, 0); /* in coffea's report, not recorded */
    assert_int_equal(roast_report_rows(rows, ROAST_REPORT_CHUNKS, &values), 0);
    SET(&values, num_failed_chunks, 1);
    assert_true(roast_report_rows(rows, ROAST_REPORT_CHUNKS, &values) > 0);
}

static void test_fine_metrics_from_own_clocks_say_so(void **state)
{
    (void)state;
    assert_int_equal(roast_report_rows(rows, ROAST_REPORT_FINE, &values), 0);
    set_typical(&values, WORKFLOW | OWN_CLOCKS);
    assert_string_equal(roast_report_title_of(ROAST_REPORT_FINE, &values),
                        "Fine Metrics (own clocks)");
    assert_string_equal(value_of(ROAST_REPORT_FINE, "Processor CPU Time"), "88.4 s");
    assert_null(value_of(ROAST_REPORT_FINE, "All Tasks CPU Time"));
}

/* Those of whole chunks are no parts of the time in process(). */
static void test_clocks_of_whole_chunks_have_their_own_rows(void **state)
{
    (void)state;
    set_typical(&values, WORKFLOW | OWN_CLOCKS);
    SET(&values, cpu_efficiency_fine, 0.5);
    SET(&values, cpu_time_seconds, 88.4);
    SET(&values, cpu_seconds, 88.4);
    assert_non_null(value_of(ROAST_REPORT_RESOURCES, "  On CPU"));
    assert_null(value_of(ROAST_REPORT_RESOURCES, "All Tasks on CPU"));
    SET(&values, cpu_seconds, 8);
    assert_null(value_of(ROAST_REPORT_RESOURCES, "  On CPU"));
    assert_non_null(value_of(ROAST_REPORT_RESOURCES, "All Tasks on CPU"));
}

static void test_fine_metrics_from_spans_have_all_tasks(void **state)
{
    (void)state;
    set_typical(&values, WORKFLOW | OWN_CLOCKS);
    SET(&values, cpu_time_seconds, 91.2);
    assert_string_equal(roast_report_title_of(ROAST_REPORT_FINE, &values),
                        "Fine Metrics (from Dask Spans)");
    assert_string_equal(value_of(ROAST_REPORT_FINE, "All Tasks CPU Time"), "91.2 s");
}

static void test_spans_alone_are_a_table(void **state)
{
    (void)state;
    SET(&values, cpu_time_seconds, 91.2);
    SET(&values, processor_cpu_time_seconds, NAN);
    assert_string_equal(roast_report_title_of(ROAST_REPORT_FINE, &values),
                        "Fine Metrics (from Dask Spans)");
    assert_string_equal(value_of(ROAST_REPORT_FINE, "All Tasks CPU Time"), "91.2 s");
    assert_null(value_of(ROAST_REPORT_FINE, "Processor CPU Time"));
}

/* With all values known every row is shown, and all fit. */
static void test_every_row_has_room(void **state)
{
    (void)state;
    for (int i = 0; i < ROAST_METRIC_COUNT; i++)
        set_metric(&values, (enum roast_metric)i, -1.2345e-300);
    SET(&values, num_attempts, 1);
    SET(&values, processor_cpu_time_seconds, 1);
    SET(&values, cpu_seconds, 2);
    for (int table = 0; table < ROAST_REPORT_TABLE_COUNT; table++) {
        values.known[ROAST_METRIC_command_cpu_seconds] = table == ROAST_REPORT_COMMAND;
        size_t count = roast_report_rows(rows, (enum roast_report_table)table, &values);
        assert_in_range(count, 1, ROAST_REPORT_MAX_ROWS - 1);
        for (size_t i = 0; i < count; i++) {
            assert_in_range(strlen(rows[i].label), 1, 36);
            assert_in_range(strlen(rows[i].value), 1, 60);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_titles_are_those_that_users_know, setup),
        cmocka_unit_test_setup(test_values_have_their_unit, setup),
        cmocka_unit_test_setup(test_a_short_time_is_not_zero, setup),
        cmocka_unit_test_setup(
            test_the_absent_is_a_dash_with_its_reason_where_it_matters, setup),
        cmocka_unit_test_setup(test_known_but_no_number_is_absent, setup),
        cmocka_unit_test_setup(test_a_command_has_its_own_table_alone, setup),
        cmocka_unit_test_setup(test_what_a_machine_counted_is_shown_of_any_run, setup),
        cmocka_unit_test_setup(test_a_long_reason_is_cut, setup),
        cmocka_unit_test_setup(test_rows_of_problems_are_hidden_if_zero, setup),
        cmocka_unit_test_setup(test_no_chunk_no_chunk_table, setup),
        cmocka_unit_test_setup(test_fine_metrics_from_own_clocks_say_so, setup),
        cmocka_unit_test_setup(test_clocks_of_whole_chunks_have_their_own_rows, setup),
        cmocka_unit_test_setup(test_fine_metrics_from_spans_have_all_tasks, setup),
        cmocka_unit_test_setup(test_spans_alone_are_a_table, setup),
        cmocka_unit_test_setup(test_every_row_has_room, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
