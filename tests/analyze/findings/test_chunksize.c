/* SPDX-License-Identifier: BSD-3-Clause */
/* test_chunksize.c - the wall-time model: its fit, its results for other sizes,
 * and the suggested size. */
#include "analyze/findings/chunksize.h"

#include "analyze/findings/wall_time_model.h"
#include "analyze/patients.h"

static struct roast_file_sizes sizes[] = {{2, 100000}, {1, 50000}};
static struct roast_file_sizes merged_sizes[] = {{1, 150000}, {1, 100000}};

/* 1 s per chunk, 100 us per event, 10 threads. */
static struct roast_chunk_model plain_model(void)
{
    return (struct roast_chunk_model){
        .chunks = 250,
        .events = 250000,
        .per_chunk_s = 1,
        .per_event_s = 1e-4,
        .threads = 10,
        .current_size = 1000,
        .sizes = sizes,
        .size_count = 2,
        .merged_sizes = merged_sizes,
        .merged_count = 2,
        .files = 3,
        .file_passes = 3,
        .datasets = 2,
        .base_bytes = NAN,
        .per_event_bytes = NAN,
        .limit_bytes = NAN,
        .threads_per_worker = 1,
    };
}

/* ---- other sizes ----------------------------------------------------------------- */

static void test_files_are_split_as_in_coffea(void **state)
{
    struct roast_chunk_model model = plain_model();

    (void)state;
    assert_near(roast__chunk_model_chunks(&model, 1000), 250);
    assert_near(roast__chunk_model_chunks(&model, 40000), 2 + 2 + 1);
    assert_near(roast__chunk_model_chunks(&model, 1e9), 3);
}

static void test_one_round_is_as_long_as_its_longest_chunk(void **state)
{
    struct roast_chunk_model model = plain_model();

    (void)state;
    assert_near(roast__chunk_model_wall(&model, 50000), 1 + 50000 * 1e-4);
    assert_near(roast__chunk_model_wall(&model, 1e9), 1 + 100000 * 1e-4);
}

static void test_few_rounds_are_whole(void **state)
{
    struct roast_chunk_model model = plain_model();

    (void)state; /* 5 + 5 + 2 chunks on 10 threads: two rounds */
    assert_near(roast__chunk_model_chunks(&model, 20000), 12);
    assert_near(roast__chunk_model_wall(&model, 20000), 2 * (1 + 250000 / 12.0 * 1e-4));
}

static void test_many_rounds_share_the_work(void **state)
{
    struct roast_chunk_model model = plain_model();
    double work = 250 * 1 + 250000 * 1e-4;

    (void)state;
    assert_near(roast__chunk_model_wall(&model, 1000), work / 10 + 1.1 * 0.9 / 2);
}

/* 247 borders inside of 3 files, of 0.5 s each. */
static void test_borders_inside_of_files_cost_time(void **state)
{
    struct roast_chunk_model model = plain_model();
    double now_s = 250 * 1 + 247 * 0.5 + 250000 * 1e-4;
    double longest_s = 1 + 247 * 0.5 / 250 + 1000 * 1e-4;

    (void)state;
    model.per_border_s = 0.5;
    assert_near(roast__chunk_model_wall(&model, 1000),
                now_s / 10 + longest_s * 0.9 / 2);
    assert_near(roast__chunk_model_wall(&model, 1e9), 1 + 100000 * 1e-4);
    struct roast_chunk_model merged = roast__chunk_model_merged(&model);
    assert_near(roast__chunk_model_fixed(&merged, 5), 5 * 1 + 3 * 0.5);
}

/* A large file among many small ones. */
static void test_one_chunk_that_is_much_longer_is_waited_for(void **state)
{
    struct roast_file_sizes uneven[] = {{99, 1e4}, {1, 1e6}};
    struct roast_chunk_model model = plain_model();

    (void)state;
    model.sizes = uneven;
    model.events = 1.99e6;
    model.threads = 16;
    model.current_size = 1e6;
    assert_near(roast__chunk_model_chunks(&model, 1e6), 100);
    assert_near(roast__chunk_model_wall(&model, 1e6), 1 + 1e6 * 1e-4);
    assert_true(roast__chunk_model_best(&model) < 2e5);
}

static void test_one_chunk_more_is_never_quicker(void **state)
{
    double longest_s = roast__longest_chunk_s(1, 0.8, 16);
    struct roast_wall_time_model all_at_once = {16, 16, 1, longest_s};
    struct roast_wall_time_model one_more = {17, 16, 1, longest_s};

    (void)state;
    assert_near(roast__wall_time_s(&all_at_once), longest_s);
    assert_true(roast__wall_time_s(&one_more) >= longest_s);
}

/* ---- the best size --------------------------------------------------------------- */

static void test_round_sizes(void **state)
{
    (void)state;
    assert_near(roast__round_size(0.3), 1);
    assert_near(roast__round_size(7), 6);
    assert_near(roast__round_size(10), 10);
    assert_near(roast__round_size(19), 15);
    assert_near(roast__round_size(48123), 40000);
    assert_near(roast__round_size(250000), 250000);
}

/* No round size is much better than the suggested one. */
static void test_the_suggested_size_is_almost_the_best(void **state)
{
    struct roast_chunk_model model = plain_model();
    double best = roast__chunk_model_best(&model);
    double wall = roast__chunk_model_wall(&model, best);

    (void)state;
    for (double size = 100; size <= 200000; size *= 1.01)
        assert_true(wall <=
                    1.05 * roast__chunk_model_wall(&model, roast__round_size(size)));
    assert_true(wall < roast__chunk_model_wall(&model, model.current_size) / 3);
}

/* From a chunksize of 6667 on coffea makes one chunk of a file with 10 000 events. */
static void test_chunks_will_be_of_the_size_that_is_suggested(void **state)
{
    struct roast_file_sizes four[] = {{4, 10000}};
    struct roast_chunk_model model = plain_model();

    (void)state;
    model.sizes = four;
    model.size_count = 1;
    model.events = 40000;
    model.chunks = 8;
    model.threads = 2;
    model.current_size = 5000;
    assert_near(roast__chunk_model_best(&model), 10000);
    four[0].events = 9999;
    assert_near(roast__chunk_model_best(&model), 10000);
    four[0].events = 14900;
    assert_near(roast__chunk_model_best(&model), 15000);
    model.current_size = 20000;
    assert_near(roast__chunk_model_best(&model), 20000);
}

/* Without a fixed cost larger chunks save nothing. */
static void test_a_good_size_is_kept(void **state)
{
    struct roast_chunk_model model = plain_model();

    (void)state;
    model.per_chunk_s = 1e-4;
    assert_near(roast__chunk_model_best(&model), 1000);
}

static void test_memory_limits_the_size(void **state)
{
    struct roast_chunk_model model = plain_model();

    (void)state;
    model.base_bytes = 5e8;
    model.per_event_bytes = 1e5;
    model.limit_bytes = 2e9; /* 70 % of it: 9000 events more */
    assert_true(roast__chunk_model_best(&model) <= 9000);
    assert_true(roast__chunk_model_best(&model) > 1000);
    assert_true(roast__chunk_model_bytes(&model, roast__chunk_model_best(&model)) <=
                0.7 * model.limit_bytes);
    double best = roast__chunk_model_best(&model);
    model.threads_per_worker = 4; /* whose memory is in that of the process already */
    assert_true(roast__chunk_model_best(&model) == best);
    assert_false(roast__chunk_model_fits(&model, 10000));
}

static void test_no_larger_size_where_memory_is_short(void **state)
{
    struct roast_chunk_model model = plain_model();

    (void)state;
    assert_true(roast__chunk_model_best(&model) > 1000);
    model.is_memory_short = true;
    assert_near(roast__chunk_model_best(&model), 1000);
    assert_true(roast__chunk_model_fits(&model, 500));
}

/* A dataset has at least one chunk. */
static void test_merged_files_end_with_their_dataset(void **state)
{
    struct roast_chunk_model model = plain_model();
    struct roast_chunk_model merged = roast__chunk_model_merged(&model);

    (void)state;
    assert_near(roast__chunk_model_chunks(&merged, 50000), 3 + 2);
    assert_near(roast__chunk_model_chunks(&merged, 1e9), 2);
}

/* The chunksize of the Runner may be larger than any file. */
static void test_chunks_of_merged_files_must_fit_too(void **state)
{
    struct roast_chunk_model model = plain_model();

    (void)state;
    model.current_size = 1e6;
    model.base_bytes = 5e8;
    model.per_event_bytes = 8e3;
    model.limit_bytes = 2e9; /* 70 % of it: 112500 events */
    struct roast_chunk_model merged = roast__chunk_model_merged(&model);
    assert_near(merged.current_size, 100000);
    assert_false(roast__chunk_model_fits(&merged, 150000));
}

/* ---- the fit --------------------------------------------------------------------- */

static void add_sized(roast_run *run, uint32_t number, uint64_t events, double seconds)
{
    struct frame chunk = {.sequence = number,
                          .first = number * 1000000u,
                          .stop = number * 1000000u + events,
                          .events = events,
                          .start = number,
                          .duration = seconds};
    struct frame end = {.kind = ROAST_FRAME_END,
                        .sequence = number,
                        .task_start = number,
                        .task = seconds + 0.25};

    add_frame(run, chunk);
    add_frame(run, end);
}

/* Chunks of two sizes show their fixed cost, 750 ms, and the pool needs 220 ms more from
 * one to the next. */
static void test_different_sizes_show_the_fixed_cost(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    for (uint32_t i = 1; i <= 20; i++) {
        uint64_t events = i % 2 ? 1000 : 3000;
        add_sized(run, i, events, 0.5 + (double)events * 1e-5);
    }
    roast_run_finish(run, NS(21));
    roast_summary *summary = summary_of(run);
    assert_str_is(text_at(summary, "findings", 0, "id"), "chunks_too_small");
    struct roast_str evidence = text_at(summary, "findings", 0, "evidence");
    assert_non_null(memmem(evidence.data, evidence.size_bytes, "969 ms per chunk", 16));
    assert_non_null(
        memmem(evidence.data, evidence.size_bytes, "20.0 ms for its 2_000", 21));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_the_chunksize_of_the_runner_is_the_present_one(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 1, 1);
    for (uint32_t i = 1; i <= 20; i++)
        add_sized(run, i, 900, 0.01);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_provenance,
                                        roast_str_of("runner.chunksize"),
                                        roast_str_of("1000"), NULL),
                     ROAST_OK);
    roast_run_finish(run, NS(21));
    roast_summary *summary = summary_of(run);
    struct roast_str advice = text_at(summary, "findings", 0, "advice");
    assert_non_null(memmem(advice.data, advice.size_bytes, "(now 1_000)", 11));
    roast_summary_free(summary);
    roast_run_free(run);
}

/* 40 chunks on 8 threads, the last one long, with only one end frame: threads wait for
 * it, not for more chunks. */
static void test_chunks_without_times_count_as_chunks(void **state)
{
    roast_run *run = run_new();

    (void)state;
    offer(run, 0, 8, 8);
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t round = i / 8;
        struct frame frame = {.process = i % 8 + 1,
                              .sequence = i + 1,
                              .first = i * 1000,
                              .stop = i * 1000 + 1000,
                              .events = 1000,
                              .start = round * 1.01,
                              .duration = i < 39 ? 1 : 10};
        add_frame(run, frame);
        frame.kind = ROAST_FRAME_END;
        frame.task_start = frame.start;
        frame.task = 1.01;
        if (i == 0)
            add_frame(run, frame);
    }
    roast_run_finish(run, NS(15));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "findings"), 1);
    assert_str_is(text_at(summary, "findings", 0, "id"), "last_chunks");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* All but the first records of two files were lost: their begin frames show that there
 * were ten chunks each. */
static void test_chunks_without_a_record_are_of_files_too(void **state)
{
    roast_run *run = run_new();
    struct roast_ladder ladder = {0};

    (void)state;
    offer(run, 0, 1, 1);
    set_part(&ladder, ROAST_ITEM_form, 0.9);
    set_part(&ladder, ROAST_ITEM_compute, 0.05);
    for (uint32_t i = 0; i < 20; i++) {
        struct frame frame = {.kind = ROAST_FRAME_BEGIN,
                              .sequence = i + 1,
                              .file = i < 10 ? "a.root" : "b.root",
                              .first = i % 10 * 1000,
                              .stop = i % 10 * 1000 + 1000,
                              .start = i,
                              .task_start = i,
                              .task = 0.95,
                              .ladder = ladder_blob(&ladder)};
        add_frame(run, frame);
        if (i % 10 == 0) {
            frame.kind = ROAST_FRAME_CHUNK;
            frame.events = 1000;
            frame.duration = 0.05;
            add_frame(run, frame);
        }
        frame.kind = ROAST_FRAME_END;
        add_frame(run, frame);
    }
    roast_run_finish(run, NS(21));
    roast_summary *summary = summary_of(run);
    assert_str_is(text_at(summary, "findings", 0, "id"), "chunks_too_small");
    struct roast_str advice = text_at(summary, "findings", 0, "advice");
    assert_non_null(
        memmem(advice.data, advice.size_bytes, "chunksize=10_000 (now", 21));
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_split_as_in_coffea),
        cmocka_unit_test(test_one_round_is_as_long_as_its_longest_chunk),
        cmocka_unit_test(test_few_rounds_are_whole),
        cmocka_unit_test(test_many_rounds_share_the_work),
        cmocka_unit_test(test_borders_inside_of_files_cost_time),
        cmocka_unit_test(test_one_chunk_that_is_much_longer_is_waited_for),
        cmocka_unit_test(test_one_chunk_more_is_never_quicker),
        cmocka_unit_test(test_round_sizes),
        cmocka_unit_test(test_the_suggested_size_is_almost_the_best),
        cmocka_unit_test(test_chunks_will_be_of_the_size_that_is_suggested),
        cmocka_unit_test(test_a_good_size_is_kept),
        cmocka_unit_test(test_memory_limits_the_size),
        cmocka_unit_test(test_no_larger_size_where_memory_is_short),
        cmocka_unit_test(test_merged_files_end_with_their_dataset),
        cmocka_unit_test(test_chunks_of_merged_files_must_fit_too),
        cmocka_unit_test(test_different_sizes_show_the_fixed_cost),
        cmocka_unit_test(test_the_chunksize_of_the_runner_is_the_present_one),
        cmocka_unit_test(test_chunks_without_times_count_as_chunks),
        cmocka_unit_test(test_chunks_without_a_record_are_of_files_too),
    };

    return cmocka_run_group_tests_name("chunksize", tests, NULL, NULL);
}
