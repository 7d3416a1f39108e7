/* SPDX-License-Identifier: BSD-3-Clause */
/* test_samples.c - samples are restored at their resolution, unknown values remain
 * unknown, and memory is bounded. */
#include <math.h>
#include <stdio.h>

#include "runs.h"

static roast_sample at(const char *worker, int64_t time_ns)
{
    return (roast_sample){.worker = roast_str_of(worker), .time_ns = time_ns};
}

static const struct roast_worker_samples *worker_named(const roast_run *run,
                                                       const char *name)
{
    return roast__samples_find(&run->samples,
                               roast__strings_find(&run->strings, roast_str_of(name)));
}

/* The series of a worker as text: integer parts of the values, '-' where unknown. */
static const char *shown(const struct roast_worker_samples *worker,
                         enum roast_series series, char out[200])
{
    struct roast_series_cursor cursor;
    int64_t time_ns;
    double value = 0;
    bool known;
    size_t used = 0;

    out[0] = 0;
    roast__series_open(&cursor, worker, series);
    while (roast__series_next(&cursor, &time_ns, &value, &known) > 0)
        used += (size_t)(known ? snprintf(out + used, 200 - used, "%.0f ", value)
                               : snprintf(out + used, 200 - used, "- "));
    return out;
}

static void values_come_back_with_their_gaps(void **state)
{
    static const double memory[] = {5, 5, -1, -1, 7, 7, 3, -1}; /* -1: not known */
    roast_run *run = new_run();
    char text[200];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(memory); i++) {
        roast_sample sample = at("w", EPOCH_0 + (int64_t)i * SECOND);
        if (memory[i] >= 0)
            roast_sample_set(&sample, ROAST_SERIES_memory, memory[i]);
        roast_sample_set(&sample, ROAST_SERIES_cores, 4);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    const struct roast_worker_samples *worker = worker_named(run, "w");
    assert_string_equal(shown(worker, ROAST_SERIES_memory, text), "5 5 - - 7 7 3 - ");
    assert_string_equal(shown(worker, ROAST_SERIES_cores, text), "4 4 4 4 4 4 4 4 ");
    assert_string_equal(shown(worker, ROAST_SERIES_cpu, text), "- - - - - - - - ");
    assert_int_equal(roast__series_of(worker, ROAST_SERIES_cores)->changes.size_bytes,
                     2);
    roast_run_free(run);
}

/* Series are stored in their order, in any order of arrival. */
static void series_come_in_any_order(void **state)
{
    static const enum roast_series order[] = {ROAST_SERIES_cpu_seconds,
                                              ROAST_SERIES_memory, ROAST_SERIES_cpu,
                                              ROAST_SERIES_cores, ROAST_SERIES_threads};
    static const char *const expected[] = {"1 2 3 4 5 ", "- 2 3 4 5 ", "- - 3 4 5 ",
                                           "- - - 4 5 ", "- - - - 5 "};
    roast_run *run = new_run();
    char text[200];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(order); i++) {
        roast_sample sample = at("w", EPOCH_0 + (int64_t)i * SECOND);
        for (size_t k = 0; k <= i; k++)
            roast_sample_set(&sample, order[k], (double)i + 1);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    const struct roast_worker_samples *worker = worker_named(run, "w");
    assert_int_equal(__builtin_popcount(worker->has), COUNT_OF(order));
    for (size_t i = 0; i < COUNT_OF(order); i++)
        assert_string_equal(shown(worker, order[i], text), expected[i]);
    assert_int_equal(roast__series_of(worker, ROAST_SERIES_gil)->changes.size_bytes, 0);
    roast_run_free(run);
}

static void times_and_values_have_their_resolution(void **state)
{
    static const int64_t steps_ns[] = {0, 1000000, 1000000, -5000000, 0, 123456000};
    roast_run *run = new_run();
    struct roast_series_cursor cursor;
    int64_t time_ns = EPOCH_0, seen_ns;
    double value;
    bool known;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(steps_ns); i++) {
        roast_sample sample = at("w", time_ns += steps_ns[i]);
        roast_sample_set(&sample, ROAST_SERIES_cpu, 12.3456 * (double)i);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    roast__series_open(&cursor, worker_named(run, "w"), ROAST_SERIES_cpu);
    time_ns = EPOCH_0;
    for (size_t i = 0; i < COUNT_OF(steps_ns); i++) {
        assert_int_equal(roast__series_next(&cursor, &seen_ns, &value, &known), 1);
        assert_true(seen_ns == (time_ns += steps_ns[i]));
        assert_true(known && fabs(value - 12.3456 * (double)i) <= 0.0005);
    }
    assert_int_equal(roast__series_next(&cursor, &seen_ns, &value, &known), 0);
    roast_run_free(run);
}

static void impossible_samples_do_no_harm(void **state)
{
    static const int64_t times[] = {INT64_MIN, INT64_MAX, 0, INT64_MAX, INT64_MIN};
    static const double values[] = {1e300, -1e300, 0, 1e300, 5};
    roast_run *run = new_run();
    struct roast_series_cursor cursor;
    int64_t time_ns;
    double value;
    bool known;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(times); i++) {
        roast_sample sample = at("w", times[i]);
        roast_sample_set(&sample, ROAST_SERIES_memory, values[i]);
        roast_sample_set(&sample, ROAST_SERIES_cpu, (double)NAN);
        roast_sample_set(&sample, ROAST_SERIES_gil, i % 2 ? (double)INFINITY : -1);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    roast__series_open(&cursor, worker_named(run, "w"), ROAST_SERIES_memory);
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        assert_int_equal(roast__series_next(&cursor, &time_ns, &value, &known), 1);
        assert_true(known && time_ns / 1000 == times[i] / 1000);
        assert_true((value < 0) == (values[i] < 0) && fabs(value) < 5e18);
    }
    assert_int_equal(
        roast__series_of(worker_named(run, "w"), ROAST_SERIES_cpu)->changes.size_bytes,
        0); /* NaN is not known */
    roast_run_free(run);
}

static void many_workers_are_kept_apart(void **state)
{
    roast_run *run = new_run();
    char name[32], text[200];
    (void)state;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 200; i++) {
            (void)snprintf(name, sizeof(name), "worker %d", i);
            roast_sample sample = at(name, EPOCH_0 + round);
            roast_sample_set(&sample, ROAST_SERIES_memory, i * 10 + round);
            assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
        }
    }
    assert_int_equal(run->samples.count, 200);
    assert_string_equal(
        shown(worker_named(run, "worker 17"), ROAST_SERIES_memory, text), "170 171 ");
    roast_run_free(run);
}

/* ---- bounded ----------------------------------------------------------------- */

static void past_the_cap_the_resolution_is_halved(void **state)
{
    enum { MORE = 1000 };
    struct roast_worker_samples *worker;
    struct roast_samples samples = {0};
    struct roast_series_cursor cursor;
    uint64_t thinned, lost = 0;
    int64_t time_ns;
    double value = 0;
    bool known;
    (void)state;

    worker = roast__samples_worker(&samples, 3);
    assert_non_null(worker);
    for (int64_t i = 0; i < ROAST_MOST_TICKS + MORE; i++) {
        roast_sample sample = {.time_ns = i * SECOND};
        if (i % 8 < 4)
            roast_sample_set(&sample, ROAST_SERIES_memory, (double)i);
        struct roast_tick tick = roast__tick_of(&sample);
        assert_true(roast__samples_put(worker, &tick, &thinned));
        lost += thinned;
    }
    assert_int_equal(worker->ticks + lost, ROAST_MOST_TICKS + MORE);
    assert_int_equal(lost, (ROAST_MOST_TICKS + MORE) / 2);
    roast__series_open(&cursor, worker, ROAST_SERIES_memory);
    while (roast__series_next(&cursor, &time_ns, &value, &known) > 0) {
        int64_t i = time_ns / SECOND;
        assert_int_equal(i % 2, 0);
        assert_int_equal(known, i % 8 < 4);
        if (known)
            assert_true(value == (double)i);
    }
    roast__samples_release(&samples);
}

/* ---- processes of this machine ------------------------------------------------ */

static struct roast_process_use use_at(int64_t seconds)
{
    return (struct roast_process_use){
        .pid = 42,
        .parent_pid = 1,
        .started_ticks = 900,
        .time_ns = EPOCH_0 + seconds * SECOND,
        .cpu_ns = (uint64_t)(seconds * SECOND / 2),
        .rss_bytes = 1000,
        .threads = 3,
        .io_known = true,
        .read_bytes = (uint64_t)seconds * 100,
        .write_bytes = (uint64_t)seconds * 7,
    };
}

static void a_use_becomes_a_sample_with_rates(void **state)
{
    static const int64_t seconds[] = {10, 12, 13, 13, 12};
    roast_run *run = new_run();
    char text[200];
    (void)state;

    for (size_t i = 0; i < COUNT_OF(seconds); i++) {
        struct roast_process_use use = use_at(seconds[i]);
        assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
    }
    const struct roast_worker_samples *worker = worker_named(run, "pid-42");
    assert_string_equal(shown(worker, ROAST_SERIES_memory, text),
                        "1000 1000 1000 1000 1000 ");
    assert_string_equal(shown(worker, ROAST_SERIES_threads, text), "3 3 3 3 3 ");
    /* none at first, and none if time or the counter did not advance */
    assert_string_equal(shown(worker, ROAST_SERIES_cpu, text), "- 50 50 - - ");
    assert_string_equal(shown(worker, ROAST_SERIES_disk_read, text), "- 100 100 - - ");
    assert_string_equal(shown(worker, ROAST_SERIES_disk_write, text), "- 7 7 - - ");
    assert_string_equal(shown(worker, ROAST_SERIES_cpu_seconds, text), "5 6 6 6 6 ");
    assert_int_equal(worker->pid, 42);
    assert_int_equal(worker->parent_pid, 1);
    roast_run_free(run);
}

static void without_io_there_are_no_disk_rates(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    for (int64_t i = 0; i < 4; i++) {
        struct roast_process_use use = use_at(i);
        use.io_known = i != 1;
        assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
    }
    assert_string_equal(
        shown(worker_named(run, "pid-42"), ROAST_SERIES_disk_read, text), "- - - 100 ");
    roast_run_free(run);
}

static void a_pid_that_is_used_again_is_another_worker(void **state)
{
    roast_run *run = new_run();
    char text[200];
    (void)state;

    for (int64_t i = 0; i < 6; i++) {
        struct roast_process_use use = use_at(i);
        use.started_ticks = i < 3 ? 900 : 1700;
        use.rss_bytes = use.started_ticks;
        assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
    }
    assert_string_equal(shown(worker_named(run, "pid-42"), ROAST_SERIES_memory, text),
                        "900 900 900 ");
    const struct roast_worker_samples *second = worker_named(run, "pid-42-1700");
    assert_string_equal(shown(second, ROAST_SERIES_memory, text), "1700 1700 1700 ");
    assert_string_equal(shown(second, ROAST_SERIES_cpu, text), "- 50 50 ");
    roast_run_free(run);
}

/* Reproducible pseudo-random numbers. */
static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 11;
}

/* Steps of every size, equal moments, and unknown values. */
static void add_wild(roast_run *run, size_t count)
{
    int64_t time_ns = EPOCH_0;
    uint64_t seed = 7;
    double memory = 0;

    for (size_t i = 0; i < count; i++) {
        roast_sample sample = at("w", time_ns);
        uint64_t kind = draw(&seed) % 8;
        if (kind > 1)
            memory = (double)(draw(&seed) >> (draw(&seed) % 53));
        if (kind > 0)
            roast_sample_set(&sample, ROAST_SERIES_memory, memory);
        roast_sample_set(&sample, ROAST_SERIES_cpu, (double)(draw(&seed) % 100000) / 7);
        if (i / 100 % 2 == 0)
            roast_sample_set(&sample, ROAST_SERIES_cores, 1 + (double)(i / 300));
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
        time_ns += (int64_t)(draw(&seed) >> (20 + draw(&seed) % 33)) * 1000;
    }
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* With and without times, which use different code. */
static void blocks_equal_single_reads(void **state)
{
    roast_run *run = new_run();
    (void)state;

    add_wild(run, 3 * ROAST_SERIES_BLOCK + 5);
    const struct roast_worker_samples *worker = worker_named(run, "w");
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        struct roast_series_cursor one, timed, bare;
        double values[2][ROAST_SERIES_BLOCK];
        int64_t times_ns[ROAST_SERIES_BLOCK];
        size_t count, all = 0;
        roast__series_open(&one, worker, (enum roast_series)i);
        timed = bare = one;
        while ((count = roast__series_block(&timed, times_ns, values[0])) > 0) {
            assert_int_equal(roast__series_block(&bare, NULL, values[1]), count);
            for (size_t k = 0; k < count; k++, all++) {
                int64_t time_ns = 0;
                double value = 0;
                bool known = false;
                assert_int_equal(roast__series_next(&one, &time_ns, &value, &known), 1);
                value = known ? value : NAN;
                assert_true(times_ns[k] == time_ns);
                assert_true(same_number(values[0][k], value));
                assert_true(same_number(values[1][k], value));
            }
        }
        assert_int_equal(all, worker->ticks);
    }
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_with_their_gaps),
        cmocka_unit_test(series_come_in_any_order),
        cmocka_unit_test(times_and_values_have_their_resolution),
        cmocka_unit_test(impossible_samples_do_no_harm),
        cmocka_unit_test(many_workers_are_kept_apart),
        cmocka_unit_test(past_the_cap_the_resolution_is_halved),
        cmocka_unit_test(a_use_becomes_a_sample_with_rates),
        cmocka_unit_test(without_io_there_are_no_disk_rates),
        cmocka_unit_test(a_pid_that_is_used_again_is_another_worker),
        cmocka_unit_test(blocks_equal_single_reads),
    };
    return cmocka_run_group_tests_name("run/samples", tests, NULL, NULL);
}
