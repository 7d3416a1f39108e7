/* SPDX-License-Identifier: BSD-3-Clause */
/* What tables of the whole run say: of the summary, notes, the timeline, samples. */
#include "analyze/reads.h"
#include "analyze/runs.h"
#include "analyze/summary.h"
#include "analyze/table_cells.h"

static void sample(roast_run *run, const char *worker, double seconds,
                   enum roast_series series, double value)
{
    roast_sample sample = {.worker = roast_str_of(worker),
                           .time_ns = RUN_EPOCH_NS + NS(seconds)};

    roast_sample_set(&sample, series, value);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

/* ---- from the summary ------------------------------------------------------------ */

static void test_files_are_put_together(void **state)
{
    roast_run *run = reading_run();
    roast_table *files = table_of(run, ROAST_TABLE_files);
    size_t row = row_with(files, "file", "a.root");

    (void)state;
    assert_int_equal(roast_table_rows(files), 2);
    assert_str_is(text_in(files, "dataset", row), "ttbar");
    assert_near(number_in(files, "num_chunks", row), 2);
    assert_near(number_in(files, "total_duration", row), 2);
    assert_str_is(text_in(files, "kind", row), "ttree");
    assert_str_is(text_in(files, "codec", row), "zstd");
    assert_near(number_in(files, "total_branches", row), 8);
    assert_near(number_in(files, "compressed_bytes", row), 1000);
    assert_near(number_in(files, "compression_ratio", row), 0.4);
    assert_near(number_in(files, "branches_read", row), 2);
    assert_near(number_in(files, "branches_read_percent", row), 25);
    assert_near(number_in(files, "bytes_read", row), 380);
    assert_near(number_in(files, "bytes_requested", row), 207);
    assert_str_is(text_in(files, "accessed_branches", row), "Jet_pt, MET_pt");
    assert_str_is(text_in(files, "offset_branches", row), "nJet");
    assert_true(is_unknown(files, "total_bytes", row));
    roast_table_free(files);
    roast_run_free(run);
}

static void test_a_file_with_several_trees_has_no_one_kind(void **state)
{
    struct roast_str facts = facts_blob(&ttree);
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < 2; i++)
        add_frame(run, (struct frame){.tree = i ? "Runs" : "Events",
                                      .first = i,
                                      .stop = i + 1,
                                      .file_facts = facts});
    roast_table *files = table_of(run, ROAST_TABLE_files);
    assert_int_equal(roast_table_rows(files), 1);
    assert_near(number_in(files, "num_chunks", 0), 2);
    assert_true(is_unknown(files, "kind", 0));
    roast_table_free(files);
    roast_run_free(run);
}

static void test_a_summary_that_is_given_is_used(void **state)
{
    roast_run *run = reading_run();
    roast_summary *summary = summary_of(run);

    (void)state;
    add_chunk(run, "z.root", 0, (struct roast_str){NULL, 0},
              (struct roast_str){NULL, 0});
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id table = (enum roast_table_id)i;
        roast_table *columns = NULL;
        if (!roast_table_from_summary(table))
            continue;
        assert_int_equal(roast_run_table(&columns, table, run, summary, NULL),
                         ROAST_OK);
        if (table == ROAST_TABLE_files)
            assert_int_equal(roast_table_rows(columns), 2);
        roast_table_free(columns);
    }
    assert_false(roast_table_from_summary(ROAST_TABLE_chunks));
    assert_true(roast_table_from_summary(ROAST_TABLE_labels));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_failures_have_times(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.first = 3,
                                  .stop = 4,
                                  .start = 2.5,
                                  .duration = 0.5,
                                  .status = ROAST_CHUNK_FAILED,
                                  .error_type = "OSError",
                                  .error_message = "gone"});
    roast_table *failures = table_of(run, ROAST_TABLE_failures);
    assert_int_equal(roast_table_rows(failures), 1);
    struct roast_cell start = value_at(failures, "start", 0);
    assert_true(start.count == (uint64_t)(RUN_EPOCH_NS + NS(2.5)));
    assert_str_is(text_in(failures, "error", 0), "OSError: gone");
    assert_near(number_in(failures, "seconds", 0), 0.5);
    assert_int_equal(value_at(failures, "resolved", 0).type, ROAST_CELL_BOOL);
    roast_table_free(failures);
    roast_run_free(run);
}

static void test_metrics_have_a_value_or_a_reason(void **state)
{
    roast_run *run = reading_run();
    roast_table *metrics = table_of(run, ROAST_TABLE_metrics);

    (void)state;
    assert_int_equal(roast_table_rows(metrics), ROAST_METRIC_COUNT);
    for (size_t i = 0; i < roast_table_rows(metrics); i++) {
        assert_int_not_equal(is_unknown(metrics, "value", i),
                             is_unknown(metrics, "reason", i));
        assert_int_equal(is_unknown(metrics, "value", i),
                         is_unknown(metrics, "kind", i));
    }
    size_t row = row_with(metrics, "name", "num_failed_attempts");
    assert_near(number_in(metrics, "value", row), 1);
    assert_str_is(text_in(metrics, "level", row), "chunks");
    assert_str_is(text_in(metrics, "kind", row), "exact");
    roast_table_free(metrics);
    roast_run_free(run);
}

static void test_losses_are_all_listed(void **state)
{
    roast_run *run = reading_run();

    (void)state;
    roast_run_lose(run, ROAST_RUN_LOSS_samples_thinned, 3);
    roast_table *losses = table_of(run, ROAST_TABLE_losses);
    for (size_t i = 0; i < roast_table_rows(losses); i++) {
        bool lost = str_is(text_in(losses, "name", i), "samples_thinned");
        assert_near(number_in(losses, "count", i), lost ? 3 : 0);
        assert_true(text_in(losses, "meaning", i).size_bytes > 0);
    }
    (void)row_with(losses, "name", "frames_damaged");
    (void)row_with(losses, "name", "section_names");
    roast_table_free(losses);
    roast_run_free(run);
}

/* A quick summary has not counted them. */
static void test_losses_of_a_quick_summary_are_not_known(void **state)
{
    roast_run *run = reading_run();
    roast_summary *summary = NULL;
    roast_table *losses = NULL;

    (void)state;
    assert_int_equal(roast_summarize_quick(&summary, run, NULL), ROAST_OK);
    assert_int_equal(roast_run_table(&losses, ROAST_TABLE_losses, run, summary, NULL),
                     ROAST_OK);
    assert_true(roast_table_rows(losses) > 0);
    assert_int_equal(column_named(losses, "count")->unknown, roast_table_rows(losses));
    roast_table_free(losses);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_notes_are_labels_and_provenance(void **state)
{
    static const struct {
        enum roast_note_group group;
        const char *name, *text;
    } notes[] = {{ROAST_NOTES_label, "site", "T2"},
                 {ROAST_NOTES_provenance, "host", "here"},
                 {ROAST_NOTES_label, "empty", ""},
                 {ROAST_NOTES_run, "id", "0"}};
    roast_run *run = run_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(notes); i++)
        assert_int_equal(roast_run_set_note(run, notes[i].group,
                                            roast_str_of(notes[i].name),
                                            roast_str_of(notes[i].text), NULL),
                         ROAST_OK);
    roast_table *labels = table_of(run, ROAST_TABLE_labels);
    roast_table *provenance = table_of(run, ROAST_TABLE_provenance);
    assert_int_equal(roast_table_rows(labels), 2);
    assert_str_is(text_in(labels, "value", 0), "T2");
    assert_str_is(text_in(labels, "value", 1), "");
    assert_int_equal(roast_table_rows(provenance), 1);
    assert_str_is(text_in(provenance, "name", 0), "host");
    roast_table_free(labels);
    roast_table_free(provenance);
    roast_run_free(run);
}

/* ---- the timeline ---------------------------------------------------------------- */

static double sum_of(const roast_table *columns, const char *column)
{
    double sum = 0;

    for (size_t i = 0; i < roast_table_rows(columns); i++)
        sum += number_in(columns, column, i);
    return sum;
}

static void test_steps_hold_what_ran_and_ended(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0.25, 2, 4);
    offer(run, 0.55, 4, 8);
    add_frame(run, (struct frame){.first = 0,
                                  .stop = 1,
                                  .start = 0.05,
                                  .duration = 0.5,
                                  .events = 100,
                                  .bytes_known = true,
                                  .bytes = 7,
                                  .bytes_before = 3});
    add_frame(run,
              (struct frame){
                  .first = 1, .stop = 2, .start = 0.5, .duration = 0.5, .events = 5});
    add_frame(run, (struct frame){.first = 2,
                                  .stop = 3,
                                  .start = 0.9,
                                  .duration = 0.2, /* beyond the end */
                                  .status = ROAST_CHUNK_FAILED});
    roast_run_finish(run, NS(1));
    roast_table *steps = table_of(run, ROAST_TABLE_timeline);
    assert_int_equal(roast_table_rows(steps), 10);
    assert_near(number_in(steps, "length", 3), 0.1);
    assert_true(value_at(steps, "start", 3).count ==
                (uint64_t)(RUN_EPOCH_NS + NS(0.3)));
    assert_near(number_in(steps, "workers", 0), 2);
    assert_near(number_in(steps, "workers", 5), 3);
    assert_near(number_in(steps, "threads", 9), 8);
    assert_near(number_in(steps, "running", 0), 0.5);
    assert_near(number_in(steps, "running", 3), 1);
    assert_near(number_in(steps, "running", 5), 1.5);
    assert_near(number_in(steps, "running", 9), 2);
    /* 100 events in 5 steps, half a step late; then 5 events in 5 steps */
    static const double events[] = {10, 20, 20, 20, 20, 11, 1, 1, 1, 1};
    for (size_t i = 0; i < 10; i++)
        assert_near(number_in(steps, "events", i), events[i]);
    assert_near(number_in(steps, "bytes", 0), 1);
    assert_near(number_in(steps, "bytes", 4), 2);
    assert_true(is_unknown(steps, "bytes", 5)); /* the second chunk does not know */
    assert_true(is_unknown(steps, "bytes", 9));
    assert_near(sum_of(steps, "chunks"), 2);
    assert_near(sum_of(steps, "events"), 105);
    assert_near(number_in(steps, "failures", 9), 1);
    assert_true(is_unknown(steps, "memory_bytes", 5)); /* nobody looked */
    roast_table_free(steps);
    roast_run_free(run);
}

/* Whole numbers that add up, however events are spread. */
static void test_events_of_steps_add_up(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < 7; i++)
        add_frame(run, (struct frame){.first = i,
                                      .stop = i + 1,
                                      .start = 0.013 + 0.1 * (double)i,
                                      .duration = i == 3 ? 1e-9 : 0.317,
                                      .events = 1 + i});
    roast_run_finish(run, NS(1));
    roast_table *steps = table_of(run, ROAST_TABLE_timeline);
    assert_near(sum_of(steps, "events"), 28);
    assert_true(number_in(steps, "events", 3) >= 4); /* at once */
    for (size_t i = 0; i < roast_table_rows(steps); i++)
        assert_true(number_in(steps, "events", i) >= 0);
    roast_table_free(steps);
    roast_run_free(run);
}

static void test_steps_hold_the_samples_of_workers(void **state)
{
    roast_run *run = run_new();

    (void)state;
    sample(run, "w1", 0.2, ROAST_SERIES_memory, 100);
    sample(run, "w1", 0.6, ROAST_SERIES_memory, 300); /* since 0.2 */
    sample(run, "w2", 0.35, ROAST_SERIES_memory, 7);  /* one moment */
    sample(run, "w2", 0.45, ROAST_SERIES_cpu, 150);
    roast_run_finish(run, NS(1));
    roast_table *steps = table_of(run, ROAST_TABLE_timeline);
    assert_true(is_unknown(steps, "memory_bytes", 1));
    assert_near(number_in(steps, "memory_bytes", 2), 300);
    assert_near(number_in(steps, "memory_bytes", 3), 307);
    assert_near(number_in(steps, "memory_bytes", 5), 300);
    assert_true(is_unknown(steps, "memory_bytes", 8));
    assert_near(number_in(steps, "cpu_percent", 4), 150);
    assert_true(is_unknown(steps, "workers", 4)); /* no offer, no count */
    assert_true(is_unknown(steps, "threads", 4));
    roast_table_free(steps);
    roast_run_free(run);
}

static void test_steps_hold_counts_of_a_backend(void **state)
{
    roast_run *run = run_new();

    (void)state;
    assert_int_equal(roast_run_add_count(run, RUN_EPOCH_NS, 2, NULL), ROAST_OK);
    assert_int_equal(roast_run_add_count(run, RUN_EPOCH_NS + NS(0.8), 10, NULL),
                     ROAST_OK);
    roast_run_finish(run, NS(1));
    roast_table *steps = table_of(run, ROAST_TABLE_timeline);
    assert_near(number_in(steps, "workers", 0), 2.5); /* from 2 to 3 */
    assert_near(number_in(steps, "workers", 7), 9.5);
    assert_true(is_unknown(steps, "workers", 9));
    roast_table_free(steps);
    roast_run_free(run);
}

static void test_there_are_at_most_a_thousand_steps(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < 500; i++)
        add_frame(run, (struct frame){.first = i,
                                      .stop = i + 1,
                                      .start = (double)i * 100,
                                      .duration = 4000,
                                      .events = 2});
    roast_table *steps = table_of(run, ROAST_TABLE_timeline);
    assert_int_equal(roast_table_rows(steps), 1000);
    assert_near(sum_of(steps, "events"), 1000);
    assert_near(sum_of(steps, "running") * number_in(steps, "length", 0), 500 * 4000);
    roast_table_free(steps);
    roast_run_free(run);
}

static void test_times_of_hostile_frames_stay_in_the_run(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.first = 0, .stop = 1, .start = -9e9, .duration = 1});
    add_frame(run,
              (struct frame){.first = 1, .stop = 2, .start = 7e9, .duration = 9e9});
    sample(run, "w", -9e9, ROAST_SERIES_memory, 1);
    sample(run, "w", 7e9, ROAST_SERIES_memory, 1);
    sample(run, "w", 1, ROAST_SERIES_memory, 1);
    roast_run_finish(run, NS(1));
    roast_table *steps = table_of(run, ROAST_TABLE_timeline);
    assert_int_equal(roast_table_rows(steps), 10);
    assert_near(sum_of(steps, "chunks"), 2);
    roast_table_free(steps);
    roast_run_free(run);
}

/* ---- samples --------------------------------------------------------------------- */

static void test_samples_are_those_of_tracking(void **state)
{
    struct roast_tracking tracking;
    roast_run *run = run_new();
    size_t row = 0;

    (void)state;
    offer(run, 0, 2, 4);
    sample(run, "w1", 1, ROAST_SERIES_memory, 100);
    sample(run, "w2", 1.5, ROAST_SERIES_cpu, 50.5);
    sample(run, "w1", 2, ROAST_SERIES_memory, 200);
    roast_table *samples = table_of(run, ROAST_TABLE_samples);
    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    for (size_t i = 0; i < tracking.count; i++) {
        const struct roast_timeline *line = &tracking.lines[i];
        for (size_t k = 0; k < line->count; k++, row++) {
            const char *series =
                line->worker ? roast_series_info(line->series)->name : "workers";
            assert_str_is(text_in(samples, "series", row), series);
            assert_int_equal(is_unknown(samples, "worker", row), !line->worker);
            assert_true(value_at(samples, "time", row).count ==
                        (uint64_t)line->points[k].time_ns);
            assert_near(number_in(samples, "value", row), line->points[k].value);
        }
    }
    assert_int_equal(roast_table_rows(samples), row);
    assert_int_equal(row, 7); /* three moments and the start, three values */
    roast_tracking_release(&tracking);
    roast_table_free(samples);
    roast_run_free(run);
}

static void test_one_series_alone(void **state)
{
    roast_run *run = run_new();
    roast_table *memory = NULL;

    (void)state;
    sample(run, "w1", 1, ROAST_SERIES_memory, 100);
    sample(run, "w2", 1.5, ROAST_SERIES_cpu, 50.5);
    sample(run, "w1", 2, ROAST_SERIES_memory, 200);
    assert_int_equal(roast_series_table(&memory, run, ROAST_SERIES_memory, NULL),
                     ROAST_OK);
    assert_int_equal(roast_table_rows(memory), 2);
    assert_int_equal(roast_table_width(memory), 3);
    assert_null(column_named(memory, "series"));
    assert_str_is(text_in(memory, "worker", 1), "w1");
    assert_near(number_in(memory, "value", 1), 200);
    roast_table_free(memory);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_put_together),
        cmocka_unit_test(test_a_file_with_several_trees_has_no_one_kind),
        cmocka_unit_test(test_a_summary_that_is_given_is_used),
        cmocka_unit_test(test_failures_have_times),
        cmocka_unit_test(test_metrics_have_a_value_or_a_reason),
        cmocka_unit_test(test_losses_are_all_listed),
        cmocka_unit_test(test_losses_of_a_quick_summary_are_not_known),
        cmocka_unit_test(test_notes_are_labels_and_provenance),
        cmocka_unit_test(test_steps_hold_what_ran_and_ended),
        cmocka_unit_test(test_events_of_steps_add_up),
        cmocka_unit_test(test_steps_hold_the_samples_of_workers),
        cmocka_unit_test(test_steps_hold_counts_of_a_backend),
        cmocka_unit_test(test_there_are_at_most_a_thousand_steps),
        cmocka_unit_test(test_times_of_hostile_frames_stay_in_the_run),
        cmocka_unit_test(test_samples_are_those_of_tracking),
        cmocka_unit_test(test_one_series_alone),
    };

    return cmocka_run_group_tests_name("columns_run", tests, NULL, NULL);
}
