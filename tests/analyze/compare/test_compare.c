/* SPDX-License-Identifier: BSD-3-Clause */
/* test_compare.c - two runs compared: a real one drawn again and again, slower or not;
 * chunks against themselves, datasets apart, neighbours alike, too few of them. */
#include "analyze/runs.h"
#include "draw.h"
#include "heap.h"
#include "roast/compare.h"

enum { DRAWS = 100 };

/* Chunks of a real analysis: events, CPU time in us. */
static const struct {
    uint64_t events;
    double cpu_us;
} measured[] = {
#define R(events, cpu_us) {events, cpu_us},
#include "analyze/chunks_measured.def"
#undef R
};

/* ---- runs ------------------------------------------------------------------------ */

struct held {
    roast_run *run;
    roast_summary *summary;
    roast_table *chunks;
};

static void release(struct held *held)
{
    roast_table_free(held->chunks);
    roast_summary_free(held->summary);
    roast_run_free(held->run);
}

static struct roast_side side_of(struct held *held)
{
    roast_run_finish(held->run, NS(1000));
    held->summary = summary_of(held->run);
    assert_int_equal(roast_run_table(&held->chunks, ROAST_TABLE_chunks, held->run,
                                     held->summary, NULL),
                     ROAST_OK);
    return (struct roast_side){held->summary, held->chunks, held->run};
}

/* Chunk `number` of its file; they begin one after the other. */
static void add_chunk(struct held *held, const char *dataset, const char *file,
                      uint64_t number, double us_per_event)
{
    add_frame(held->run, (struct frame){.dataset = dataset,
                                        .file = file,
                                        .first = 1000 * number,
                                        .stop = 1000 * number + 1000,
                                        .start = 1 + 0.5 * (double)number,
                                        .duration = 0.4,
                                        .cpu = us_per_event * 1e-3,
                                        .events = 1000});
}

static struct roast_comparison compare(struct held *a, struct held *b)
{
    struct roast_comparison comparison;
    struct roast_side sides[2] = {side_of(a), side_of(b)};

    assert_int_equal(roast_compare(&comparison, &sides[0], &sides[1], NULL), ROAST_OK);
    release(a);
    release(b);
    return comparison;
}

/* By which runs are judged. */
static const struct roast_contrast *main_of(const struct roast_comparison *found)
{
    return &found->measures[roast_compare_main(found)];
}

/* As many chunks as the real run had, each drawn from all of them. */
static struct held draw_again(uint64_t *seed, const char *file, double factor)
{
    struct held held = {.run = run_new()};

    for (uint64_t i = 0; i < COUNT_OF(measured); i++) {
        size_t drawn = (size_t)(draw_share(seed) * (double)COUNT_OF(measured));
        add_chunk(&held, "ttbar", file, i,
                  factor * measured[drawn].cpu_us / (double)measured[drawn].events);
    }
    return held;
}

/* How often the second of two draws is found more than 5 % slower, or slower at all. */
static int count_alarms(double factor, int *slower)
{
    uint64_t seed = 20251115;
    int alarms = 0;

    *slower = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct held a = draw_again(&seed, "a.root", 1);
        struct held b = draw_again(&seed, "b.root", factor);
        struct roast_comparison found = compare(&a, &b);
        const struct roast_contrast *cpu = &found.measures[ROAST_MEASURE_cpu_per_event];
        assert_int_equal(cpu->pairs, 0);
        alarms += roast_contrast_exceeds(cpu, 5);
        *slower += cpu->change == ROAST_CHANGE_MORE;
    }
    return alarms;
}

/* Files with a signed address: each run marks them in its own way. */
static void test_redacted_names_of_two_runs_match(void **state)
{
    struct held a = {.run = run_new()}, b = {.run = run_new()};
    (void)state;

    for (uint64_t i = 0; i < 20; i++) {
        add_chunk(&a, "ttbar", i > 0 ? "x.root?***~1f3a90c2" : "y.root", i, 10);
        add_chunk(&b, "ttbar", i > 0 ? "x.root?***~00000000" : "z.root", i, 10);
    }
    struct roast_comparison found = compare(&a, &b);
    assert_int_equal(main_of(&found)->pairs, 19);
}

static void test_a_tenth_more_is_caught(void **state)
{
    int slower;

    (void)state;
    assert_in_range(count_alarms(1.10, &slower), 95, DRAWS);
    assert_in_range(slower, 99, DRAWS);
}

static void test_no_change_is_no_alarm(void **state)
{
    int slower;

    (void)state;
    assert_in_range(count_alarms(1, &slower), 0, 5);
    assert_in_range(slower, 0,
                    5); /* half of 5 % of them, by the meaning of 95 % sure */
}

/* ---- how they are compared ------------------------------------------------------- */

/* Chunks differ by a factor of 20, and by 3 % from run to run. */
static void test_a_chunk_is_compared_with_itself(void **state)
{
    struct held a = {.run = run_new()};
    struct held b = {.run = run_new()};
    uint64_t seed = 1;

    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        double us = 1 + 19 * draw_share(&seed);
        add_chunk(&a, "ttbar", "a.root", i, us * (1 + 0.03 * draw_share(&seed)));
        add_chunk(&b, "ttbar", "a.root", 39 - i,
                  us * 1.1 * (1 + 0.03 * draw_share(&seed)));
    }
    struct roast_comparison other = compare(&a, &b); /* not the same chunks */
    assert_int_equal(main_of(&other)->pairs, 40);
    assert_int_equal(main_of(&other)->change, ROAST_CHANGE_NONE);
    a.run = run_new();
    b.run = run_new();
    for (uint64_t i = 0; i < 40; i++) {
        double us = 1 + 19 * draw_share(&seed);
        add_chunk(&a, "ttbar", "a.root", i, us * (1 + 0.03 * draw_share(&seed)));
        add_chunk(&b, "ttbar", "a.root", i, us * 1.1 * (1 + 0.03 * draw_share(&seed)));
    }
    struct roast_comparison same = compare(&a, &b);
    assert_int_equal(main_of(&same)->pairs, 40);
    assert_true(roast_contrast_exceeds(main_of(&same), 5));
    assert_true(main_of(&same)->low < 1.1 && main_of(&same)->high > 1.1);
    assert_false(roast_contrast_exceeds(main_of(&same), 15));
}

static void test_the_shift_of_exact_numbers_is_exact(void **state)
{
    struct held a = {.run = run_new()};
    struct held b = {.run = run_new()};

    (void)state;
    for (uint64_t i = 0; i < 8; i++) {
        add_chunk(&a, "ttbar", "a.root", i, 2 + (double)i);
        add_chunk(&b, "ttbar", "b.root", i, 2 * (2 + (double)i));
    }
    struct roast_comparison found = compare(&a, &b);
    const struct roast_contrast *cpu = &found.measures[ROAST_MEASURE_cpu_per_event];
    assert_near(cpu->a_median, 5.5e-6);
    assert_near(cpu->b_median, 11e-6);
    assert_true(fabs(cpu->ratio - 2) < 0.02); /* median of 64 ratios */
    assert_int_equal(cpu->a_chunks, 8);
    assert_int_equal(cpu->b_chunks, 8);
    /* time inside process() is the same everywhere */
    assert_near(found.measures[ROAST_MEASURE_time_per_event].ratio, 1);
    assert_int_equal(found.measures[ROAST_MEASURE_time_per_event].change,
                     ROAST_CHANGE_NONE);
    assert_near(found.metrics[ROAST_METRIC_cpu_seconds].ratio, 2);
    assert_near(found.metrics[ROAST_METRIC_num_chunks_processed].a, 8);
}

/* B has more of the dataset that takes longer; neither dataset changed. */
static void test_another_mix_of_datasets_is_no_change(void **state)
{
    struct held a = {.run = run_new()};
    struct held b = {.run = run_new()};
    uint64_t seed = 2;

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        double noise = 1 + 0.1 * draw_share(&seed);
        double other = 1 + 0.1 * draw_share(&seed);
        bool slow_a = i % 10 == 0;
        bool slow_b = i % 10 != 0;
        add_chunk(&a, slow_a ? "slow" : "quick", "a.root", i,
                  (slow_a ? 50 : 1) * noise);
        add_chunk(&b, slow_b ? "slow" : "quick", "b.root", i,
                  (slow_b ? 50 : 1) * other);
    }
    struct roast_comparison found = compare(&a, &b);
    assert_true(main_of(&found)->b_median > 10 * main_of(&found)->a_median);
    assert_int_equal(main_of(&found)->change, ROAST_CHANGE_NONE);
    assert_true(main_of(&found)->high < 1.05);
}

static void test_a_dataset_that_one_run_lacks_is_left_out(void **state)
{
    struct held a = {.run = run_new()};
    struct held b = {.run = run_new()};

    (void)state;
    for (uint64_t i = 0; i < 20; i++) {
        add_chunk(&a, "both", "a.root", i, 5 + (double)(i % 3));
        add_chunk(&b, "both", "b.root", i, 5 + (double)(i % 3));
        add_chunk(&b, "new", "c.root", i, 5000);
    }
    struct roast_comparison found = compare(&a, &b);
    assert_int_equal(main_of(&found)->b_chunks, 20);
    assert_near(main_of(&found)->ratio, 1);
}

static void test_runs_of_other_datasets_cannot_be_compared(void **state)
{
    struct held a = {.run = run_new()};
    struct held b = {.run = run_new()};

    (void)state;
    for (uint64_t i = 0; i < 20; i++) {
        add_chunk(&a, "ttbar", "a.root", i, 5 + (double)(i % 3));
        add_chunk(&b, "wjets", "b.root", i, 5 + (double)(i % 3));
    }
    struct roast_comparison found = compare(&a, &b);
    assert_int_equal(main_of(&found)->change, ROAST_CHANGE_UNKNOWN);
    assert_non_null(strstr(main_of(&found)->why, "no dataset in common"));
    assert_int_equal(main_of(&found)->a_chunks, 0);
    assert_true(isnan(main_of(&found)->a_median) && isnan(main_of(&found)->b_median));
}

/* Slow for a while: ten blocks of twenty, each 20 % slower or not as a whole. */
static void test_neighbours_that_are_alike_are_less_sure(void **state)
{
    double widths[2];

    (void)state;
    for (int in_blocks = 0; in_blocks < 2; in_blocks++) {
        struct held a = {.run = run_new()};
        struct held b = {.run = run_new()};
        uint64_t seed = 3;
        for (uint64_t i = 0; i < 200; i++) {
            bool slow = in_blocks ? i / 20 % 2 == 0 : i % 2 == 0;
            add_chunk(&a, "ttbar", "a.root", i, slow ? 12 : 10 + draw_share(&seed));
            add_chunk(&b, "ttbar", "b.root", i, slow ? 12 : 10 + draw_share(&seed));
        }
        struct roast_comparison found = compare(&a, &b);
        assert_int_equal(main_of(&found)->change, ROAST_CHANGE_NONE);
        widths[in_blocks] = main_of(&found)->high - main_of(&found)->low;
    }
    assert_true(widths[1] > 1.5 * widths[0]);
}

static void test_too_few_chunks_give_no_result(void **state)
{
    struct held a = {.run = run_new()};
    struct held b = {.run = run_new()};

    (void)state;
    for (uint64_t i = 0; i < 20; i++)
        add_chunk(&a, "ttbar", "a.root", i, 5);
    for (uint64_t i = 0; i < 7; i++)
        add_chunk(&b, "ttbar", "b.root", i, 500);
    struct roast_comparison found = compare(&a, &b);
    assert_int_equal(main_of(&found)->change, ROAST_CHANGE_UNKNOWN);
    assert_non_null(main_of(&found)->why);
    assert_true(isnan(main_of(&found)->low));
    assert_false(roast_contrast_exceeds(main_of(&found), 0));
    assert_near(main_of(&found)->b_median, 500e-6);
}

static void test_runs_without_chunks(void **state)
{
    struct held a = {.run = run_new()};
    struct held b = {.run = run_new()};

    (void)state;
    struct roast_comparison found = compare(&a, &b);
    for (int i = 0; i < ROAST_MEASURE_COUNT; i++) {
        assert_int_equal(found.measures[i].change, ROAST_CHANGE_UNKNOWN);
        assert_non_null(found.measures[i].why);
        assert_true(isnan(found.measures[i].a_median));
    }
    assert_non_null(strstr(found.first, "not known for any chunk"));
}

/* ---- what to look at first ------------------------------------------------------- */

static void test_failures_come_first(void **state)
{
    struct held a = {.run = run_new()};
    struct held b = {.run = run_new()};

    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        add_chunk(&a, "ttbar", "a.root", i, 5);
        add_chunk(&b, "ttbar", "a.root", i, 50);
    }
    add_frame(b.run, (struct frame){.file = "c.root",
                                    .stop = 10,
                                    .status = ROAST_CHUNK_FAILED,
                                    .start = 3,
                                    .duration = 1,
                                    .error_type = "OSError"});
    struct roast_comparison found = compare(&a, &b);
    assert_string_equal(found.first, "First look at chunks and files that failed or "
                                     "were lost: 1 in B, 0 in A.");
}

/* Two runs with times of whole chunks, the second slower inside and outside process(). */
static struct roast_comparison compare_slower(double inside, double outside)
{
    struct held held[2] = {{.run = run_new()}, {.run = run_new()}};
    uint64_t seed = 6;

    for (int side = 0; side < 2; side++)
        for (uint64_t i = 0; i < 20; i++) {
            double cpu = (1 + 0.1 * draw_share(&seed)) * (side ? inside : 1);
            double more = (2 + 0.2 * draw_share(&seed)) * (side ? outside : 1);
            uint32_t sequence = (uint32_t)i + 1;
            add_frame(held[side].run, (struct frame){.sequence = sequence,
                                                     .first = i,
                                                     .stop = i + 1,
                                                     .start = 3 + 10 * (double)i,
                                                     .duration = 5,
                                                     .cpu = cpu,
                                                     .events = 100});
            add_frame(held[side].run, (struct frame){.kind = ROAST_FRAME_END,
                                                     .sequence = sequence,
                                                     .task_start = 1 + 10 * (double)i,
                                                     .task = 9,
                                                     .task_cpu = cpu + more});
        }
    return compare(&held[0], &held[1]);
}

/* Building NanoEvents takes twice as long: no line of process() has changed. */
static void test_whole_chunks_are_the_default_measure(void **state)
{
    struct roast_comparison found = compare_slower(1, 2);

    (void)state;
    assert_int_equal(roast_compare_main(&found), ROAST_MEASURE_task_cpu_per_event);
    assert_true(roast_contrast_exceeds(main_of(&found), 50));
    assert_int_equal(found.measures[ROAST_MEASURE_cpu_per_event].change,
                     ROAST_CHANGE_NONE);
}

static void test_improvements_are_reported(void **state)
{
    struct roast_comparison found = compare_slower(0.5, 1);

    (void)state;
    assert_non_null(strstr(found.first, "B is better: CPU per event: chunks take 1"));
    found = compare_slower(1.004, 1.004);
    assert_null(strstr(found.first, "First look")); /* too little for a word */
}

static void test_process_is_the_measure_without_task_times(void **state)
{
    struct held a = draw_again(&(uint64_t){7}, "a.root", 1);
    struct held b = draw_again(&(uint64_t){7}, "a.root", 1.2);

    (void)state;
    struct roast_comparison found = compare(&a, &b);
    assert_int_equal(roast_compare_main(&found), ROAST_MEASURE_cpu_per_event);
    assert_true(roast_contrast_exceeds(main_of(&found), 5));
}

/* All that a chunk does takes 30 % more, not only the code of the user. */
static void test_a_slower_machine_is_suspected(void **state)
{
    struct roast_comparison found = compare_slower(1.3, 1.3);

    (void)state;
    assert_true(roast_compare_machine_slower(&found));
    assert_non_null(strstr(found.first, "First look at the machine"));
    found.measures[ROAST_MEASURE_outside_cpu_per_event].high = 1.1;
    assert_false(roast_compare_machine_slower(&found)); /* only process() did */
}

static void test_the_slice_that_grew_most_is_named(void **state)
{
    struct held held[2] = {{.run = run_new()}, {.run = run_new()}};

    (void)state;
    for (int side = 0; side < 2; side++) {
        offer(held[side].run, 0, 1, 1);
        for (uint64_t i = 0; i < 10; i++)
            add_chunk(&held[side], "ttbar", "a.root", i, 5);
        if (side == 0)
            roast_run_finish(held[side].run, NS(7));
    }
    struct roast_side a = {summary_of(held[0].run), NULL, held[0].run};
    assert_int_equal(roast_run_table(&held[0].chunks, ROAST_TABLE_chunks, held[0].run,
                                     a.summary, NULL),
                     ROAST_OK);
    a.chunks = held[0].chunks;
    struct roast_side b = side_of(&held[1]); /* 1000 s, of which 994 are idle */
    struct roast_comparison found;
    assert_int_equal(roast_compare(&found, &a, &b, NULL), ROAST_OK);
    assert_non_null(strstr(found.first, "First look at \"idle: "));
    assert_true(found.slices[ROAST_COMPARED_idle_client_after].b > 900);
    assert_int_equal(roast_compare(&found, &b, &a, NULL), ROAST_OK);
    assert_non_null(strstr(found.first, "B is better: "));
    assert_non_null(strstr(found.first, "gained in \"idle: "));
    roast_summary_free((roast_summary *)a.summary);
    release(&held[0]);
    release(&held[1]);
}

/* Ten chunks in 1000 s of one thread. */
static struct held run_of_chunks(uint64_t events)
{
    struct held held = {.run = run_new()};

    offer(held.run, 0, 1, 1);
    for (uint64_t i = 0; i < 10; i++)
        add_frame(held.run, (struct frame){.dataset = "ttbar",
                                           .file = "a.root",
                                           .first = events * i,
                                           .stop = events * (i + 1),
                                           .start = 1 + 0.5 * (double)i,
                                           .duration = 0.4,
                                           .cpu = 0.3,
                                           .events = events});
    return held;
}

static void test_chunks_of_another_size_are_no_slower_machine(void **state)
{
    struct held a = run_of_chunks(5000);
    struct held b = run_of_chunks(700);

    (void)state;
    struct roast_comparison found = compare(&a, &b);
    assert_false(roast_compare_machine_slower(&found));
    assert_non_null(strstr(found.first, "First look at the chunksize: 700 events per "
                                        "chunk in B, 5000 in A; 20"));
}

static void test_larger_chunks_are_not_called_better(void **state)
{
    struct held a = run_of_chunks(700);
    struct held b = run_of_chunks(5000);

    (void)state;
    struct roast_comparison found = compare(&a, &b);
    assert_string_equal(found.differs[ROAST_DIFFERS_chunksize],
                        "700 events per chunk in A, 5000 in B");
    assert_non_null(strstr(found.first, "First look at the chunksize: 5000 events per "
                                        "chunk in B, 700 in A; "));
    assert_null(strstr(found.first, "better"));
}

static void test_other_files_are_not_called_better(void **state)
{
    struct held a = draw_again(&(uint64_t){7}, "a.root", 2);
    struct held b = draw_again(&(uint64_t){7}, "b.root", 1);

    (void)state;
    struct roast_comparison found = compare(&a, &b);
    assert_string_equal(found.differs[ROAST_DIFFERS_fileset],
                        "1 in A, 1 in B, 0 of them the same");
    assert_non_null(strstr(found.first, "different files. In chunks of the same "
                                        "datasets, the CPU"));
    assert_null(strstr(found.first, "better"));
    assert_int_equal(main_of(&found)->change, ROAST_CHANGE_LESS);
}

static void set_note(struct held *held, enum roast_note_group group, const char *name,
                     const char *text)
{
    assert_int_equal(roast_run_set_note(held->run, group, roast_str_of(name),
                                        roast_str_of(text), NULL),
                     ROAST_OK);
}

/* Some of its files may not have been reached. */
static void test_the_same_fileset_is_no_difference(void **state)
{
    struct held a = draw_again(&(uint64_t){7}, "a.root", 1);
    struct held b = draw_again(&(uint64_t){7}, "b.root", 1);

    (void)state;
    set_note(&a, ROAST_NOTES_provenance, "fileset_sha256", "12ab");
    set_note(&b, ROAST_NOTES_provenance, "fileset_sha256", "12ab");
    struct roast_comparison found = compare(&a, &b);
    assert_string_equal(found.differs[ROAST_DIFFERS_fileset], "");
}

static void test_other_processors_cannot_be_better(void **state)
{
    struct held a = draw_again(&(uint64_t){7}, "a.root", 2);
    struct held b = draw_again(&(uint64_t){7}, "a.root", 1);

    (void)state;
    set_note(&a, ROAST_NOTES_run, "processor", "Ttbar");
    set_note(&b, ROAST_NOTES_run, "processor", "Wjets");
    struct roast_comparison found = compare(&a, &b);
    assert_string_equal(found.first,
                        "The runs are of different processors (Ttbar in A, "
                        "Wjets in B): neither is better.");
    assert_string_equal(found.processors[1], "Wjets");
    for (int i = 0; i < ROAST_MEASURE_COUNT; i++)
        if (i != ROAST_MEASURE_outside_cpu_per_event) {
            assert_non_null(strstr(found.measures[i].why, "different processors"));
            assert_int_equal(found.measures[i].change, ROAST_CHANGE_UNKNOWN);
        }
    assert_true(found.measures[ROAST_MEASURE_cpu_per_event].a_median > 0);
}

static void test_a_run_does_not_differ_from_itself(void **state)
{
    struct held a = draw_again(&(uint64_t){7}, "a.root", 1);
    struct held b = draw_again(&(uint64_t){7}, "a.root", 1);

    (void)state;
    struct roast_comparison found = compare(&a, &b);
    assert_string_equal(found.first, "Nothing got worse beyond the noise of the runs.");
    assert_near(main_of(&found)->low, 1);
    assert_near(main_of(&found)->high, 1);
    for (int i = 0; i < ROAST_METRIC_COUNT; i++)
        if (found.metrics[i].a != 0 && !isnan(found.metrics[i].a))
            assert_near(found.metrics[i].ratio, 1);
}

/* ---- memory ---------------------------------------------------------------------- */

static void test_no_memory_is_reported(void **state)
{
    struct held a = draw_again(&(uint64_t){7}, "a.root", 1);
    struct held b = draw_again(&(uint64_t){8}, "b.root", 1);
    struct roast_side sides[2] = {side_of(&a), side_of(&b)};
    struct roast_comparison found;
    size_t failures = 0;

    (void)state;
    size_t before = test_heap.live_blocks;
    for (size_t at = 1; failures == at - 1; at++) {
        test_heap_fail(at, false);
        failures +=
            roast_compare(&found, &sides[0], &sides[1], NULL) == ROAST_NO_MEMORY;
        assert_int_equal(test_heap.live_blocks, before);
    }
    test_heap_fail(0, false);
    assert_true(failures > 10);
    release(&a);
    release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_redacted_names_of_two_runs_match),
        cmocka_unit_test(test_a_tenth_more_is_caught),
        cmocka_unit_test(test_no_change_is_no_alarm),
        cmocka_unit_test(test_a_chunk_is_compared_with_itself),
        cmocka_unit_test(test_the_shift_of_exact_numbers_is_exact),
        cmocka_unit_test(test_another_mix_of_datasets_is_no_change),
        cmocka_unit_test(test_a_dataset_that_one_run_lacks_is_left_out),
        cmocka_unit_test(test_runs_of_other_datasets_cannot_be_compared),
        cmocka_unit_test(test_neighbours_that_are_alike_are_less_sure),
        cmocka_unit_test(test_too_few_chunks_give_no_result),
        cmocka_unit_test(test_runs_without_chunks),
        cmocka_unit_test(test_failures_come_first),
        cmocka_unit_test(test_whole_chunks_are_the_default_measure),
        cmocka_unit_test(test_improvements_are_reported),
        cmocka_unit_test(test_process_is_the_measure_without_task_times),
        cmocka_unit_test(test_a_slower_machine_is_suspected),
        cmocka_unit_test(test_the_slice_that_grew_most_is_named),
        cmocka_unit_test(test_chunks_of_another_size_are_no_slower_machine),
        cmocka_unit_test(test_larger_chunks_are_not_called_better),
        cmocka_unit_test(test_other_files_are_not_called_better),
        cmocka_unit_test(test_the_same_fileset_is_no_difference),
        cmocka_unit_test(test_other_processors_cannot_be_better),
        cmocka_unit_test(test_a_run_does_not_differ_from_itself),
        cmocka_unit_test(test_no_memory_is_reported),
    };

    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
