/* SPDX-License-Identifier: BSD-3-Clause */
/* test_forecast.c - what a larger run would take, from chunks whose cost is known. */
#include "analyze/patients.h"
#include "draw.h"
#include "roast/compare.h"

struct held {
    roast_run *run;
    roast_summary *summary;
    roast_table *chunks;
};

static void hold_finished(struct held *held)
{
    held->summary = summary_of(held->run);
    assert_int_equal(roast_run_table(&held->chunks, ROAST_TABLE_chunks, held->run,
                                     held->summary, NULL),
                     ROAST_OK);
}

static void hold(struct held *held, double end)
{
    roast_run_finish(held->run, NS(end));
    hold_finished(held);
}

/* Chunks one after the other from 10 s on: each takes 2 s and 1 ms per event, times
 * noise. Returns when the last one ends. */
static double add_chunks(roast_run *run, const uint64_t *sizes, size_t count,
                         double noise)
{
    uint64_t seed = 4;
    double now = 10;

    for (size_t i = 0; i < count; i++) {
        double seconds =
            (2 + 1e-3 * (double)sizes[i]) * (1 + noise * (draw_share(&seed) - 0.5));
        add_frame(run, (struct frame){.first = 100000 * i,
                                      .stop = 100000 * i + sizes[i],
                                      .start = now,
                                      .duration = seconds,
                                      .events = sizes[i]});
        now += seconds;
    }
    return now;
}

static struct held chunks_without_offers(const uint64_t *sizes, size_t count)
{
    struct held held = {.run = run_new()};

    hold(&held, add_chunks(held.run, sizes, count, 0) + 10);
    return held;
}

/* On one thread, in a run that goes on for 10 s. */
static struct held run_chunks(const uint64_t *sizes, size_t count, double noise)
{
    struct held held = {.run = run_new()};

    offer(held.run, 0, 1, 1);
    hold(&held, add_chunks(held.run, sizes, count, noise) + 10);
    return held;
}

static struct roast_forecast foretell(struct held held, struct roast_plan plan)
{
    struct roast_side side = {.summary = held.summary, .chunks = held.chunks};
    struct roast_forecast forecast;

    assert_int_equal(roast_make_forecast(&forecast, &side, &plan, NULL), ROAST_OK);
    roast_table_free(held.chunks);
    roast_summary_free(held.summary);
    roast_run_free(held.run);
    return forecast;
}

static const uint64_t sizes[] = {1000, 2000, 3000, 4000, 1000, 2000, 3000, 4000};

/* The same in a call of the Runner that preprocesses for 6 s. */
static struct held preprocessed_chunks(void)
{
    struct held held = {.run = run_new()};

    offer(held.run, 0, 1, 1);
    double end = add_chunks(held.run, sizes, COUNT_OF(sizes), 0);
    mark(held.run, ROAST_MARK_RUN_BEGIN, 1);
    mark(held.run, ROAST_MARK_PREPROCESS_BEGIN, 2);
    mark(held.run, ROAST_MARK_PREPROCESS_END, 8);
    mark(held.run, ROAST_MARK_RUN_END, end);
    hold(&held, end + 10);
    return held;
}

static void test_costs_per_chunk_and_event_are_separated(void **state)
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

/* Of 3 s, 1 s is outside process(): opening, building events. */
static void test_what_is_done_once_per_chunk_needs_no_line(void **state)
{
    struct roast_plan plan = {.events = 1e6, .workers = 1, .chunksize = 2000};
    struct held held = {.run = run_new()};

    (void)state;
    offer(held.run, 0, 1, 1);
    for (uint32_t i = 0; i < 8; i++) {
        struct frame frame = {.kind = ROAST_FRAME_END,
                              .sequence = i + 1,
                              .first = 1000 * i,
                              .stop = 1000 * i + 1000,
                              .start = 1 + 3 * i,
                              .duration = 2,
                              .task_start = 3 * i,
                              .task = 3,
                              .events = 1000};
        add_frame(held.run, frame);
        frame.kind = ROAST_FRAME_CHUNK;
        add_frame(held.run, frame);
    }
    hold(&held, 24);
    struct roast_forecast found = foretell(held, plan);
    assert_null(found.why);
    assert_true(fabs(found.seconds_per_chunk - 1) < 1e-6);
    assert_true(fabs(found.seconds_per_event - 2e-3) < 1e-9);
    assert_true(fabs(found.thread_seconds.value - 500 * 5) < 1e-2);
}

/* All chunks are alike, and what they did once is on their ladders. */
static void test_the_advice_on_chunksizes_agrees(void **state)
{
    struct patient patient = {.chunks = 200,
                              .per_file = 100,
                              .events = 1000,
                              .import = 0.3,
                              .form = 0.7,
                              .compute = 0.4,
                              .fetch = 0.15};
    struct held held = {.run = patient_new(patient, NULL)};

    (void)state;
    hold_finished(&held);
    size_t row = row_of(held.summary, "findings", "chunks_too_small");
    struct roast_str says = text_at(held.summary, "findings", row, "evidence");
    assert_memory_equal(says.data, "700 ms per chunk", strlen("700 ms per chunk"));
    struct roast_forecast found = foretell(
        held, (struct roast_plan){.events = 1e6, .workers = 1, .chunksize = 4000});
    assert_null(found.why);
    assert_true(fabs(found.seconds_per_chunk - 0.7) < 1e-6);
    assert_true(fabs(found.seconds_per_event - 0.55e-3) < 1e-9);
}

/* Sizes differ, but what chunks take does not follow them. */
static void test_an_unclear_fit_is_not_used(void **state)
{
    static uint64_t many[100];
    struct roast_plan plan = {.events = 1e6, .workers = 1, .chunksize = 5000};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(many); i++)
        many[i] = 100 + 2 * (i % 100);
    assert_non_null(foretell(run_chunks(many, COUNT_OF(many), 1), plan).why);
}

static void test_threads_are_not_known(void **state)
{
    struct held held = chunks_without_offers(sizes, COUNT_OF(sizes));
    struct roast_plan plan = {.events = 1e6, .workers = 1};

    (void)state;
    struct roast_forecast found = foretell(held, plan);
    assert_non_null(found.why);
    assert_non_null(strstr(found.why, "threads"));
    assert_int_equal(found.chunks_seen, 8);
}

/* 6 s for the one file of 20_000 events: each of more threads takes one in turn. */
static void test_more_files_are_preprocessed_longer(void **state)
{
    struct roast_plan plan = {.events = 200000, .workers = 1};

    (void)state;
    struct roast_forecast found = foretell(preprocessed_chunks(), plan);
    assert_null(found.why);
    assert_true(fabs(found.fixed_s - 14) < 1e-5);
    assert_true(fabs(found.preprocess_s - 60) < 1e-5);
    plan.workers = 5;
    found = foretell(preprocessed_chunks(), plan);
    assert_true(fabs(found.preprocess_s - 12) < 1e-5);
    assert_true(found.wall_s.low > 14 + 12);
    plan.events = 2000;
    found = foretell(preprocessed_chunks(), plan);
    assert_true(fabs(found.preprocess_s - 6) < 1e-5);
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
    assert_true(fabs(found.wall_s.value - 27) < 1e-2);
}

/* Of chunks that vary one is late, and all wait for it. */
static void test_one_wave_ends_with_its_longest_chunk(void **state)
{
    static const uint64_t same[] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    struct roast_plan plan = {.events = 8000, .workers = 8};

    (void)state;
    struct roast_forecast found = foretell(run_chunks(same, 8, 0.4), plan);
    double mean_s = found.thread_seconds.value / 8;
    assert_near(found.chunks, 8);
    assert_true(found.wall_s.value - found.fixed_s > 1.1 * mean_s);
    assert_true(found.wall_s.value - found.fixed_s < 1.5 * mean_s);
    assert_true(found.wall_s.high > found.wall_s.value);
}

/* A second thread comes with the first chunk, after 10 s. One of the two works for 36 s,
 * and the other waits for the last chunk of 6 s. */
static void test_threads_that_came_late_were_not_busy_before(void **state)
{
    struct roast_plan plan = {.events = 1e6, .workers = 1};
    struct held held = {.run = run_new()};

    (void)state;
    offer(held.run, 0, 1, 1);
    offer(held.run, 10, 2, 2);
    hold(&held, add_chunks(held.run, sizes, COUNT_OF(sizes), 0) + 10);
    struct roast_forecast found = foretell(held, plan);
    assert_null(found.why);
    assert_true(fabs(found.busy_share - 36.0 / (2 * 36 - 6)) < 1e-3);
}

static void test_too_few_chunks_give_no_result(void **state)
{
    struct roast_plan plan = {.events = 1e6, .workers = 1};

    (void)state;
    assert_non_null(foretell(run_chunks(sizes, 7, 0), plan).why);
    assert_non_null(foretell(run_chunks(sizes, 0, 0), plan).why);
}

static void test_a_plan_without_events_is_refused(void **state)
{
    struct held held = run_chunks(sizes, 8, 0);
    struct roast_side side = {.summary = held.summary, .chunks = held.chunks};
    const struct roast_plan plan = {.events = 0, .workers = 1};
    struct roast_forecast forecast;

    (void)state;
    assert_int_equal(roast_make_forecast(&forecast, &side, &plan, NULL), ROAST_LIMIT);
    (void)foretell(held, (struct roast_plan){.events = 1, .workers = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_per_chunk_and_event_are_separated),
        cmocka_unit_test(test_a_size_as_it_was_needs_no_line),
        cmocka_unit_test(test_what_is_done_once_per_chunk_needs_no_line),
        cmocka_unit_test(test_the_advice_on_chunksizes_agrees),
        cmocka_unit_test(test_an_unclear_fit_is_not_used),
        cmocka_unit_test(test_threads_are_not_known),
        cmocka_unit_test(test_more_files_are_preprocessed_longer),
        cmocka_unit_test(test_noise_is_in_the_interval),
        cmocka_unit_test(test_more_threads_than_chunks_do_not_help),
        cmocka_unit_test(test_one_wave_ends_with_its_longest_chunk),
        cmocka_unit_test(test_threads_that_came_late_were_not_busy_before),
        cmocka_unit_test(test_too_few_chunks_give_no_result),
        cmocka_unit_test(test_a_plan_without_events_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
