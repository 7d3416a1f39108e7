/* SPDX-License-Identifier: BSD-3-Clause */
/* test_forecast.c - what a larger run would take, from chunks whose cost is known. */
#include "draw.h"
#include "roast/compare.h"
#include "runs.h"

struct held {
    roast_run *run;
    roast_summary *summary;
    roast_columns *chunks;
};

/* Runs chunks one after the other, 10 s after the start of the run and 10 s before its
 * end, on one thread: a chunk takes 2 s and 1 ms per event, times noise. */
static struct held run_chunks(const uint64_t *sizes, size_t count, double noise)
{
    struct held held = {.run = run_new()};
    uint64_t seed = 4;
    double now = 10;

    offer(held.run, 0, 1, 1);
    for (size_t i = 0; i < count; i++) {
        double seconds =
            (2 + 1e-3 * (double)sizes[i]) * (1 + noise * (draw_share(&seed) - 0.5));
        add_frame(held.run, (struct frame){.first = 100000 * i,
                                           .stop = 100000 * i + sizes[i],
                                           .start = now,
                                           .duration = seconds,
                                           .events = sizes[i]});
        now += seconds;
    }
    roast_run_finish(held.run, NS(now + 10));
    held.summary = summary_of(held.run);
    assert_int_equal(roast_columns_make(&held.chunks, ROAST_COLUMNS_chunks, held.run,
                                        held.summary, NULL),
                     ROAST_OK);
    return held;
}

static struct roast_forecast foretell(struct held held, struct roast_plan plan)
{
    struct roast_side side = {held.summary, held.chunks};
    struct roast_forecast forecast;

    assert_int_equal(roast_make_forecast(&forecast, &side, &plan, NULL), ROAST_OK);
    roast_columns_free(held.chunks);
    roast_summary_free(held.summary);
    roast_run_free(held.run);
    return forecast;
}

static const uint64_t sizes[] = {1000, 2000, 3000, 4000, 1000, 2000, 3000, 4000};

static void test_costs_are_told_apart(void **state)
{
    (void)state;
    struct roast_forecast found =
        foretell(run_chunks(sizes, COUNT_OF(sizes), 0),
                 (struct roast_plan){.events = 1e6, .workers = 4, .chunksize = 10000});
    assert_null(found.why);
    assert_true(fabs(found.seconds_per_chunk - 2) < 1e-6);
    assert_true(fabs(found.seconds_per_event - 1e-3) < 1e-9);
    assert_true(fabs(found.busy_share - 1) < 1e-6);
    assert_true(fabs(found.fixed_s - 20) < 1e-5);
    assert_near(found.chunks, 100);
    assert_true(fabs(found.thread_seconds.value - 1200) < 1e-3);
    assert_true(fabs(found.wall_s.low - 320) < 1e-2);     /* 20 + 1200 / 4 */
    assert_true(fabs(found.wall_s.value - 324.5) < 1e-2); /* and 3/4 of half a chunk */
    assert_true(fabs(found.wall_s.high - 329) < 1e-2);    /* and 3/4 of a chunk */
}

static void test_a_size_as_it_was_needs_no_line(void **state)
{
    static const uint64_t same[] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    struct roast_plan plan = {.events = 1e6, .workers = 1};

    (void)state;
    struct roast_forecast found = foretell(run_chunks(same, 8, 0), plan);
    assert_null(found.why);
    assert_true(isnan(found.seconds_per_event));
    assert_true(fabs(found.thread_seconds.value - 3000) < 1e-2);
    plan.chunksize = 500;
    found = foretell(run_chunks(same, 8, 0), plan);
    assert_non_null(found.why);
}

static void test_noise_is_in_the_interval(void **state)
{
    static uint64_t many[100];
    struct roast_plan plan = {.events = 1e6, .workers = 10};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(many); i++)
        many[i] = 1000 + 10 * (i % 100);
    struct roast_forecast found = foretell(run_chunks(many, COUNT_OF(many), 0.4), plan);
    double truth = found.chunks * 2 + 1e3;
    assert_true(found.thread_seconds.low < truth && found.thread_seconds.high > truth);
    assert_true(found.thread_seconds.high / found.thread_seconds.low < 1.15);
    assert_true(found.wall_s.low < found.wall_s.value);
    assert_true(found.wall_s.high > found.wall_s.value);
}

static void test_more_threads_than_chunks_do_not_help(void **state)
{
    struct roast_plan plan = {.events = 10000, .workers = 1000, .chunksize = 5000};

    (void)state;
    struct roast_forecast found = foretell(run_chunks(sizes, COUNT_OF(sizes), 0), plan);
    assert_near(found.chunks, 2);
    assert_true(fabs(found.wall_s.low - 27) < 1e-2); /* 20 and one chunk of 7 s */
}

static void test_too_few_chunks_cannot_tell(void **state)
{
    struct roast_plan plan = {.events = 1e6, .workers = 1};

    (void)state;
    assert_non_null(foretell(run_chunks(sizes, 7, 0), plan).why);
    assert_non_null(foretell(run_chunks(sizes, 0, 0), plan).why);
}

static void test_a_plan_without_events_is_refused(void **state)
{
    struct held held = run_chunks(sizes, 8, 0);
    struct roast_side side = {held.summary, held.chunks};
    const struct roast_plan plan = {.events = 0, .workers = 1};
    struct roast_forecast forecast;

    (void)state;
    assert_int_equal(roast_make_forecast(&forecast, &side, &plan, NULL), ROAST_LIMIT);
    (void)foretell(held, (struct roast_plan){.events = 1, .workers = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_are_told_apart),
        cmocka_unit_test(test_a_size_as_it_was_needs_no_line),
        cmocka_unit_test(test_noise_is_in_the_interval),
        cmocka_unit_test(test_more_threads_than_chunks_do_not_help),
        cmocka_unit_test(test_too_few_chunks_cannot_tell),
        cmocka_unit_test(test_a_plan_without_events_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
