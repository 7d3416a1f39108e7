/* SPDX-License-Identifier: BSD-3-Clause */
/* test_timelines.c - all series of a run as points: sampled series, the number of
 * workers, and series derived for local worker processes. */
#include <math.h>
#include <stdio.h>

#include "runs.h"

static struct roast_tracking read_tracking(roast_run *run)
{
    struct roast_tracking tracking;

    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    return tracking;
}

static const struct roast_timeline *find_line(const struct roast_tracking *tracking,
                                              const char *worker,
                                              enum roast_series series)
{
    for (size_t i = 0; i < tracking->count; i++) {
        const struct roast_timeline *line = &tracking->lines[i];
        if ((worker && line->worker && strcmp(worker, line->worker) == 0 &&
             line->series == series) ||
            (!worker && !line->worker))
            return line;
    }
    return NULL;
}

/* The points as "second:value ", "" without a line. */
static const char *shown(const struct roast_tracking *tracking, const char *worker,
                         enum roast_series series, char out[200])
{
    const struct roast_timeline *line = find_line(tracking, worker, series);
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; line && i < line->count; i++)
        used += (size_t)snprintf(out + used, 200 - used, "%d:%.0f ",
                                 (int)((line->points[i].time_ns - EPOCH_0) / SECOND),
                                 line->points[i].value);
    return out;
}

static void add_memory(roast_run *run, const char *worker, int64_t seconds,
                       double value)
{
    roast_sample sample = {.worker = roast_str_of(worker),
                           .time_ns = EPOCH_0 + seconds * SECOND};

    if (value >= 0)
        roast_sample_set(&sample, ROAST_SERIES_memory, value);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

static void add_use(roast_run *run, uint64_t pid, int64_t seconds)
{
    struct roast_process_use use = {
        .pid = pid, .started_ticks = 1, .time_ns = EPOCH_0 + seconds * SECOND};

    assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
}

static void a_run_without_samples_has_no_lines(void **state)
{
    roast_run *run = new_run();
    struct roast_tracking tracking = read_tracking(run);
    (void)state;

    assert_int_equal(tracking.count, 0);
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

static void only_known_values_are_points(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    add_memory(run, "a", 1, 10);
    add_memory(run, "a", 2, -1);
    add_memory(run, "a", 3, 10);
    add_memory(run, "b", 2, 7);
    struct roast_tracking tracking = read_tracking(run);
    assert_int_equal(tracking.count, 2);
    assert_string_equal(shown(&tracking, "a", ROAST_SERIES_memory, text), "1:10 3:10 ");
    assert_string_equal(shown(&tracking, "b", ROAST_SERIES_memory, text), "2:7 ");
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

/* ---- the number of workers ---------------------------------------------------- */

static void workers_are_counted_by_what_is_offered(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    assert_int_equal(roast_run_offer(run, EPOCH_0 + 2 * SECOND, 4, 4, NULL), 0);
    assert_int_equal(roast_run_offer(run, EPOCH_0 + 4 * SECOND, 6, 6, NULL), 0);
    for (int64_t i = 1; i <= 5; i++) {
        add_memory(run, "a", i, 1); /* moments of both count once */
        add_memory(run, "b", i, 1);
    }
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, NULL, ROAST_SERIES_memory, text),
                        "0:4 1:4 2:4 3:4 3:4 4:6 5:6 "); /* with the step at 4 */
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

/* As the documents compute it: over the values, by trapezoids. */
static double trapezoid(const struct roast_timeline *line)
{
    double area = 0, seconds = 0;

    for (size_t i = 1; i < line->count; i++) {
        const struct roast_point *to = &line->points[i], *from = to - 1;
        double step_s = (double)(to->time_ns - from->time_ns) / 1e9;
        assert_true(step_s > 0);
        area += (from->value + to->value) / 2 * step_s;
        seconds += step_s;
    }
    return area / seconds;
}

static void no_workers_are_samples_of_0_at_the_interval(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    roast_run_set_fact(run, ROAST_FACT_sampling_seconds, 2);
    assert_int_equal(roast_run_offer(run, EPOCH_0, 0, 0, NULL), 0);
    assert_int_equal(roast_run_offer(run, EPOCH_0 + 7 * SECOND, 3, 3, NULL), 0);
    add_memory(run, "a", 8, 1);
    roast_run_finish(run, MONO_0 + 10 * SECOND);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, NULL, ROAST_SERIES_memory, text),
                        "0:0 2:0 4:0 6:0 7:3 8:3 10:3 ");
    assert_true(fabs(trapezoid(find_line(&tracking, NULL, ROAST_SERIES_memory)) - 0.9) <
                1e-6);
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

/* Times of a damaged file. */
static void offers_long_before_the_run_are_no_points(void **state)
{
    roast_run *run = new_run();
    char out[200];

    (void)state;
    assert_int_equal(roast_run_offer(run, INT64_MIN, 2, 2, NULL), 0);
    assert_int_equal(roast_run_offer(run, INT64_MIN + 1, 3, 3, NULL), 0);
    add_memory(run, "w", 1, 5);
    struct roast_tracking tracking = read_tracking(run);
    const struct roast_timeline *line = find_line(&tracking, NULL, ROAST_SERIES_memory);
    assert_non_null(line);
    for (size_t i = 0; i < line->count; i++)
        assert_true(line->points[i].time_ns >= EPOCH_0);
    assert_string_not_equal(shown(&tracking, NULL, ROAST_SERIES_memory, out), "");
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

static void memory_is_in_percent_of_its_limit(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    for (int64_t i = 1; i <= 3; i++) {
        roast_sample sample = {.worker = roast_str_of("a"),
                               .time_ns = EPOCH_0 + i * SECOND};
        roast_sample_set(&sample, ROAST_SERIES_memory, 100 * (double)i);
        if (i != 2) /* then it is not known */
            roast_sample_set(&sample, ROAST_SERIES_memory_limit, 1000);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    add_memory(run, "without a limit", 1, 10);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, "a", ROAST_SERIES_memory_percent, text),
                        "1:10 3:30 ");
    assert_null(find_line(&tracking, "without a limit", ROAST_SERIES_memory_percent));
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

/* As Dask has it: what is spilled takes no memory, and results may be counted too large. */
static void memory_without_results_is_unmanaged(void **state)
{
    static const double nbytes[] = {300, 500, 700, 2000};
    roast_run *run = new_run();
    char text[200];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(nbytes); i++) {
        roast_sample sample = {.worker = roast_str_of("a"),
                               .time_ns = EPOCH_0 + ((int64_t)i + 1) * SECOND};
        roast_sample_set(&sample, ROAST_SERIES_memory, 1000);
        roast_sample_set(&sample, ROAST_SERIES_nbytes, nbytes[i]);
        if (i != 1) /* then it is not known */
            roast_sample_set(&sample, ROAST_SERIES_spilled_memory, i == 2 ? 600 : 0);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    add_memory(run, "of this machine", 1, 10);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, "a", ROAST_SERIES_unmanaged, text),
                        "1:700 3:900 4:0 ");
    assert_null(find_line(&tracking, "of this machine", ROAST_SERIES_unmanaged));
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

static void counts_of_a_backend_go_before_offers(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    assert_int_equal(roast_run_offer(run, EPOCH_0, 4, 4, NULL), 0);
    add_memory(run, "a", 1, 1);
    assert_int_equal(roast_run_add_count(run, EPOCH_0 + 3 * SECOND, 9, NULL), 0);
    assert_int_equal(roast_run_add_count(run, EPOCH_0 + 2 * SECOND, 8, NULL), 0);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, NULL, ROAST_SERIES_memory, text), "2:8 3:9 ");
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

/* ---- derived series ----------------------------------------------------------- */

static uint32_t last_sequence;

static void add_chunk(roast_run *run, uint64_t pid, const char *host, int64_t start_s,
                      int64_t seconds)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, pid, ++last_sequence);
    set_text(&record, ROAST_FIELD_host, host);
    roast_record_set_u64(&record.rec, ROAST_FIELD_pid, pid);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns,
                         EPOCH_0 + start_s * SECOND);
    roast_record_set_u64(&record.rec, ROAST_FIELD_duration_ns,
                         (uint64_t)(seconds * SECOND));
    add(run, &record);
}

static void running_attempts_are_counted_at_every_moment(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    for (int64_t i = 0; i < 6; i++) {
        add_use(run, 11, i);
        add_use(run, 12, i);
    }
    add_chunk(run, 11, "here", 1, 3); /* 1 2 3 */
    add_chunk(run, 11, "here", 3, 2); /* 3 4 */
    assert_int_equal(roast_run_offer(run, EPOCH_0 + 2 * SECOND, 2, 5, NULL), 0);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_executing, text),
                        "0:0 1:1 2:1 3:2 4:1 5:0 ");
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_active_tasks, text),
                        "0:0 1:1 2:1 3:2 4:1 5:0 ");
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_cores, text),
                        "0:5 1:5 2:5 3:5 4:5 5:5 "); /* all in one process */
    assert_string_equal(shown(&tracking, "pid-12", ROAST_SERIES_memory, text),
                        ""); /* is no worker of the run */
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

static void an_attempt_without_an_end_runs_while_the_run_is_open(void **state)
{
    roast_run *run = new_run();
    char text[200];
    struct test_record record;
    (void)state;

    for (int64_t i = 0; i < 4; i++)
        add_use(run, 11, i);
    add_chunk(run, 11, "here", 0, 1);
    init_record(&record, ROAST_FRAME_BEGIN, 11, last_sequence + 1);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, EPOCH_0 + 2 * SECOND);
    add(run, &record);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_executing, text),
                        "0:1 1:0 2:1 3:1 ");
    roast_tracking_release(&tracking);
    roast_run_finish(run, MONO_0 + 5 * SECOND); /* it is lost */
    tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_executing, text),
                        "0:1 1:0 2:0 3:0 ");
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

static void the_whole_attempt_counts_where_it_is_known(void **state)
{
    roast_run *run = new_run();
    char text[200];
    struct test_record record;
    (void)state;

    for (int64_t i = 0; i < 6; i++)
        add_use(run, 11, i);
    add_chunk(run, 11, "here", 2, 1);
    init_record(&record, ROAST_FRAME_END, 11, last_sequence);
    roast_record_set_i64(&record.rec, ROAST_FIELD_task_start_mono_ns, MONO_0 + SECOND);
    roast_record_set_u64(&record.rec, ROAST_FIELD_task_ns, (uint64_t)(3 * SECOND));
    add(run, &record);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_executing, text),
                        "0:0 1:1 2:1 3:1 4:0 5:0 ");
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

static void pids_of_other_hosts_are_not_ours(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    add_use(run, 11, 1);
    add_chunk(run, 11, "there", 0, 5);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_executing, text), "");
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

static void what_a_backend_gave_is_not_made_up(void **state)
{
    roast_run *run = new_run();
    roast_sample sample = {.worker = roast_str_of("pid-11"), .time_ns = EPOCH_0};
    char text[200];
    (void)state;

    roast_sample_set(&sample, ROAST_SERIES_executing, 9);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    add_use(run, 11, 1);
    add_chunk(run, 11, "here", 0, 5);
    struct roast_tracking tracking = read_tracking(run);
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_executing, text),
                        "0:9 ");
    assert_string_equal(shown(&tracking, "pid-11", ROAST_SERIES_active_tasks, text),
                        "0:1 1:1 ");
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_samples_has_no_lines),
        cmocka_unit_test(only_known_values_are_points),
        cmocka_unit_test(workers_are_counted_by_what_is_offered),
        cmocka_unit_test(no_workers_are_samples_of_0_at_the_interval),
        cmocka_unit_test(offers_long_before_the_run_are_no_points),
        cmocka_unit_test(memory_is_in_percent_of_its_limit),
        cmocka_unit_test(memory_without_results_is_unmanaged),
        cmocka_unit_test(counts_of_a_backend_go_before_offers),
        cmocka_unit_test(running_attempts_are_counted_at_every_moment),
        cmocka_unit_test(an_attempt_without_an_end_runs_while_the_run_is_open),
        cmocka_unit_test(the_whole_attempt_counts_where_it_is_known),
        cmocka_unit_test(pids_of_other_hosts_are_not_ours),
        cmocka_unit_test(what_a_backend_gave_is_not_made_up),
    };
    return cmocka_run_group_tests_name("run/tracking", tests, NULL, NULL);
}
