/* SPDX-License-Identifier: BSD-3-Clause */
/* test_openmetrics.c - numbers in base units under regular names, and labels that no name
 * from data can break. */
#include <math.h>

#include "exported.h"

/* The value of the line that begins with a name and its labels, followed by a blank; NaN:
 * there is none. */
static double value_of(const char *text, const char *series)
{
    size_t size = strlen(series);

    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, series, size) == 0 && line[size] == ' ')
            return strtod(line + size, NULL);
    }
    return NAN;
}

static size_t lines_with(const char *text, const char *words)
{
    size_t count = 0;

    for (; (text = strstr(text, words)) != NULL; text++)
        count++;
    return count;
}

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", value, wanted);
}

/* Other units than the base unit are converted, and their words in names replaced. */
static void metrics_are_in_base_units(void **state)
{
    static const struct {
        enum roast_metric metric;
        const char *name;
        double times;
    } wanted[] = {
        {ROAST_METRIC_wall_time, "roast_wall_time_seconds", 1},
        {ROAST_METRIC_total_events, "roast_total_events", 1},
        {ROAST_METRIC_total_bytes_read, "roast_total_read_bytes", 1},
        {ROAST_METRIC_data_rate_gbps, "roast_data_rate_bytes_per_second", 1e9 / 8},
        {ROAST_METRIC_data_rate_mbps, "roast_data_rate_bytes_per_second", 1e6},
        {ROAST_METRIC_event_rate_wall_khz, "roast_event_rate_wall_hertz", 1e3},
        {ROAST_METRIC_event_rate_core_hz, "roast_event_rate_core_hertz", 1},
        {ROAST_METRIC_event_rate_khz_best_10s, "roast_event_rate_best_10s_hertz", 1e3},
        {ROAST_METRIC_chunk_mem_delta_mean_mb, "roast_chunk_mem_delta_mean_bytes",
         1048576},
        {ROAST_METRIC_time_per_event_mean_us, "roast_time_per_event_mean_seconds",
         1e-6},
        {ROAST_METRIC_processor_cpu_percentage, "roast_processor_cpu_ratio", 0.01},
        {ROAST_METRIC_efficiency_ratio_percent, "roast_efficiency_ratio", 0.01},
        {ROAST_METRIC_speedup, "roast_speedup_ratio", 1},
        {ROAST_METRIC_disk_read_bps_avg, "roast_disk_read_avg_bytes_per_second", 1},
    };
    struct roast_metric_values values = {.known = {false}};
    struct roast_page page = {NULL, 0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        memset(values.known, 0, sizeof(values.known));
        values.known[wanted[i].metric] = true;
        values.value[wanted[i].metric] = 12.5;
        assert_int_equal(roast_export_metrics(&page, &values, NULL), ROAST_OK);
        assert_near(value_of(page.text, wanted[i].name), 12.5 * wanted[i].times);
        assert_int_equal(lines_with(page.text, "# TYPE "), 1);
        assert_non_null(strstr(page.text, "\n# EOF\n"));
        roast_page_release(&page);
    }
}

/* One quantity in two units is one metric; each of the others has a name of its own. */
static void every_metric_is_there_once(void **state)
{
    struct roast_metric_values values = {.known = {false}};
    struct roast_page page = {NULL, 0};

    (void)state;
    assert_int_equal(roast_export_metrics(&page, &values, NULL), ROAST_OK);
    assert_string_equal(page.text, "# EOF\n");
    roast_page_release(&page);
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        values.known[i] = true;
        values.value[i] = i;
    }
    assert_int_equal(roast_export_metrics(&page, &values, NULL), ROAST_OK);
    assert_int_equal(lines_with(page.text, "# TYPE "), ROAST_METRIC_COUNT - 1);
    assert_int_equal(lines_with(page.text, "# HELP "), ROAST_METRIC_COUNT - 1);
    assert_int_equal(lines_with(page.text, "\nroast_"), ROAST_METRIC_COUNT - 1);
    roast_page_release(&page);
}

static void a_run_has_metrics_and_tables(void **state)
{
    roast_run *run = plain_run(10);
    roast_summary *summary = NULL;

    (void)state;
    roast_run_set_fact(run, ROAST_FACT_planned_chunks, 12);
    struct roast_buf bytes =
        exported(run, ROAST_EXPORT_OPENMETRICS, (struct roast_export_options){0});
    const char *text = (const char *)bytes.data;
    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    const struct roast_metric_values *values = roast_summary_metrics(summary);
    const roast_table *datasets = roast_summary_table(summary, ROAST_TABLE_datasets);
    const roast_table *budget = roast_summary_table(summary, ROAST_TABLE_budget);
    assert_near(value_of(text, "roast_wall_time_seconds"),
                values->value[ROAST_METRIC_wall_time]);
    assert_near(value_of(text, "roast_run_start_time_seconds"), (double)EPOCH_0 / 1e9);
    assert_near(value_of(text, "roast_run_planned_chunks"), 12);
    assert_near(
        value_of(text, "roast_dataset_total_duration_seconds{dataset=\"ttbar\"}"),
        roast_table_number(datasets, 0, ROAST_COL_datasets_total_duration));
    assert_near(value_of(text, "roast_budget_seconds{slice=\"compute\"}"),
                roast_table_number(budget, 0, ROAST_COL_budget_compute));
    assert_near(value_of(text, "roast_run_label{name=\"site\",value=\"T2\"}"), 1);
    assert_non_null(strstr(text, ",processor=\"MyProcessor\","));
    assert_non_null(strstr(text, ",executor=\"Futures, 4 workers\","));
    roast_summary_free(summary);
    roast__buf_release(&bytes);
    roast_run_free(run);
}

/* Their number is bounded by none of our limits. */
static void workers_and_files_are_there_on_request(void **state)
{
    roast_run *run = plain_run(10);

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct roast_export_options options = {.by_worker = i & 1, .by_file = i & 2};
        struct roast_buf bytes = exported(run, ROAST_EXPORT_OPENMETRICS, options);
        const char *text = (const char *)bytes.data;
        assert_int_equal(lines_with(text, "roast_worker_num_chunks{worker=") > 0,
                         options.by_worker);
        assert_int_equal(lines_with(text, "roast_file_num_chunks{file=") > 0,
                         options.by_file);
        roast__buf_release(&bytes);
    }
    roast_run_free(run);
}

/* A chunk of a dataset. */
static void add_dataset(roast_run *run, struct roast_str name, uint32_t sequence)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, 7, sequence);
    set_file(&record, "", "a.root", sequence, sequence + 1);
    roast_record_set_str(&record.rec, ROAST_FIELD_dataset, name);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    roast_record_set_u64(&record.rec, ROAST_FIELD_duration_ns, sequence);
    add(run, &record);
}

static void rows_can_be_limited(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    roast_run *run = new_run();

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        add_dataset(run, roast_str_of(names[i]), i + 1);
    for (size_t most = 0; most < 5; most++) {
        struct roast_buf out =
            exported(run, ROAST_EXPORT_OPENMETRICS,
                     (struct roast_export_options){.most_rows = most});
        const char *text = (const char *)out.data;
        size_t wanted = most == 0 || most > 3 ? 3 : most;
        assert_int_equal(lines_with(text, "\nroast_dataset_num_chunks{"), wanted);
        assert_near(value_of(text, "roast_num_chunks_processed"), 3);
        roast__buf_release(&out);
    }
    roast_run_free(run);
}

/* Names that differ only in what is replaced or cut stay different. */
static void hostile_names_are_harmless(void **state)
{
    enum { LONG = 100000 };
    static char bytes[2][LONG];
    static const char *const names[] = {"a\"b\\c",     "=cmd",        "new\nline",
                                        "new\rline",   "\x1b[31mred", "\xff\xfe",
                                        "{le=\"1\"} 2"};
    roast_run *run = new_run();
    uint32_t sequence = 0;

    (void)state;
    memset(bytes, 'x', sizeof(bytes));
    bytes[1][LONG - 1] = 'y';
    for (size_t i = 0; i < COUNT_OF(names); i++)
        add_dataset(run, roast_str_of(names[i]), ++sequence);
    add_dataset(run, str_from(bytes[0], LONG), ++sequence);
    add_dataset(run, str_from(bytes[1], LONG), ++sequence);
    struct roast_buf out =
        exported(run, ROAST_EXPORT_OPENMETRICS, (struct roast_export_options){0});
    const char *text = (const char *)out.data;
    assert_near(value_of(text, "roast_dataset_num_chunks{dataset=\"a\\\"b\\\\c\"}"), 1);
    assert_near(value_of(text, "roast_dataset_num_chunks{dataset=\"=cmd\"}"), 1);
    assert_int_equal(lines_with(text, "\nroast_dataset_num_chunks{dataset=\"new?line~"),
                     2);
    assert_int_equal(lines_with(text, "\nroast_dataset_num_chunks{dataset=\"xxx"), 2);
    assert_int_equal(lines_with(text, "\nroast_dataset_num_chunks{"), sequence);
    for (size_t i = 0; i < out.size_bytes - 1; i++)
        assert_true(text[i] == '\n' || (unsigned char)text[i] >= 0x20);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") < 700);
    roast__buf_release(&out);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_are_in_base_units),
        cmocka_unit_test(every_metric_is_there_once),
        cmocka_unit_test(a_run_has_metrics_and_tables),
        cmocka_unit_test(workers_and_files_are_there_on_request),
        cmocka_unit_test(rows_can_be_limited),
        cmocka_unit_test(hostile_names_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
