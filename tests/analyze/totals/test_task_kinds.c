/* SPDX-License-Identifier: BSD-3-Clause */
/* test_task_kinds.c - what tasks of a cluster were for, by attempts and names. */
#include "analyze/totals/task_kinds.h"
#include "base/mem.h"
#include "heap.h"
#include "run/scheduler_events.h"

/* Tasks with an odd key are ours (scheduled.h). */
static void add_attempt(roast_run *run, const char *worker, uint32_t key_hash)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, 1, key_hash + 1);
    assert_int_equal(add_with_task(run, &record, worker, key_hash, NULL), ROAST_OK);
}

static void assert_kinds(const roast_run *run, const enum roast_task_kind *expected)
{
    unsigned char *kinds = roast__task_kinds(run);

    assert_non_null(kinds);
    for (size_t i = 0; i < run->scheduler.tasks.count; i++) {
        if (kinds[i] != expected[i])
            fail_msg("task %zu is %s", i,
                     roast_task_kind_name((enum roast_task_kind)kinds[i]));
    }
    roast__free(kinds);
}

/* One that was lost before it began is the processor's too. */
static void test_a_prefix_with_an_attempt_is_the_processors(void **state)
{
    roast_run *run = new_run();

    (void)state;
    add_task(run, "MyProcessor", "w1", 11, ROAST_TASK_lost);
    add_task(run, "MyProcessor", "w2", 13, ROAST_TASK_ok);
    add_task(run, "MyProcessor", NULL, 15, ROAST_TASK_cancelled);
    add_task(run, "other", "w2", 17, ROAST_TASK_ok);
    add_task(run, "MyProcessor", "w2", 18, ROAST_TASK_ok);
    add_attempt(run, "w2", 13);
    assert_kinds(run, (enum roast_task_kind[]){ROAST_KIND_chunk, ROAST_KIND_chunk,
                                               ROAST_KIND_chunk, ROAST_KIND_other,
                                               ROAST_KIND_foreign});
    roast_run_free(run);
}

static void test_names_of_coffea_give_the_kind(void **state)
{
    static const char *const names[] = {
        "reduce", "lambda", "get_metadata", "automatic_retries", "reduced", "", NULL};
    roast_run *run = new_run();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        add_task(run, names[i], "w1", (uint32_t)(1 + 2 * i), ROAST_TASK_ok);
    add_task(run, "reduce", "w1", 2, ROAST_TASK_ok);
    assert_kinds(run, (enum roast_task_kind[]){
                          ROAST_KIND_reduce, ROAST_KIND_other, ROAST_KIND_preprocess,
                          ROAST_KIND_preprocess, ROAST_KIND_other, ROAST_KIND_other,
                          ROAST_KIND_other, ROAST_KIND_foreign});
    roast_run_free(run);
}

static void add_at(roast_run *run, const char *prefix, uint32_t key_hash,
                   int64_t assigned)
{
    const struct roast_task task = {
        .prefix = roast_str_of(prefix),
        .worker = roast_str_of("w1"),
        .key_hash = key_hash,
        .ours = true,
        .end = ROAST_TASK_ok,
        .assigned_ns = second(assigned),
        .start_ns = second(assigned),
        .stop_ns = second(assigned + 1),
    };
    assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
}

static void mark_call(roast_run *run, int64_t begin, int64_t end)
{
    assert_int_equal(
        roast_run_mark(run, ROAST_MARK_RUN_BEGIN, MONO_0 + begin * SECOND, NULL),
        ROAST_OK);
    assert_int_equal(
        roast_run_mark(run, ROAST_MARK_RUN_END, MONO_0 + end * SECOND, NULL), ROAST_OK);
}

/* coffea sends one lambda per call, just before its chunks. */
static void test_lambdas_of_the_user(void **state)
{
    static const int64_t lambdas[] = {1, 12, 13, 21, 40};
    static const enum roast_task_kind expected[] = {
        ROAST_KIND_chunk, ROAST_KIND_other, ROAST_KIND_other,     ROAST_KIND_broadcast,
        ROAST_KIND_other, ROAST_KIND_other, ROAST_KIND_broadcast,
    };
    roast_run *run = new_run();

    (void)state;
    add_at(run, "Processor", 3, 20);
    add_attempt(run, "w1", 3);
    for (uint32_t i = 0; i < COUNT_OF(lambdas); i++)
        add_at(run, "lambda", 5 + 2 * i, lambdas[i]);
    add_at(run, "lambda", 5 + 2 * 2, 25); /* again, as its worker died */
    mark_call(run, 10, 30);
    assert_kinds(run, expected);
    roast_run_free(run);
}

/* With compression off both have the name of the same wrapper. */
static void test_one_name_may_be_both(void **state)
{
    roast_run *run = new_run();

    (void)state;
    add_task(run, "automatic_retries", "w1", 1, ROAST_TASK_ok);
    add_task(run, "automatic_retries", "w1", 3, ROAST_TASK_ok);
    add_attempt(run, "w1", 3);
    assert_kinds(run,
                 (enum roast_task_kind[]){ROAST_KIND_preprocess, ROAST_KIND_chunk});
    roast_run_free(run);
}

static void test_an_equal_hash_elsewhere_is_another_key(void **state)
{
    roast_run *run = new_run();

    (void)state;
    add_task(run, "sum", "w1", 3, ROAST_TASK_ok);
    add_attempt(run, "w2", 3);
    assert_kinds(run, (enum roast_task_kind[]){ROAST_KIND_other});
    roast_run_free(run);
}

/* A task that calls a decorated function a hundred thousand times. */
static void test_many_attempts_of_one_task_are_quick(void **state)
{
    roast_run *run = new_run();
    struct test_record record;

    (void)state;
    add_task(run, "sum", "w1", 3, ROAST_TASK_ok);
    for (uint32_t i = 0; i < 100000; i++) {
        init_record(&record, ROAST_FRAME_BEGIN, 1, i + 1);
        assert_int_equal(add_with_task(run, &record, "w1", 3, NULL), ROAST_OK);
    }
    assert_kinds(run, (enum roast_task_kind[]){ROAST_KIND_chunk});
    roast_run_free(run);
}

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = new_run();
    unsigned char *kinds = NULL;

    (void)state;
    add_task(run, "sum", "w1", 3, ROAST_TASK_ok);
    add_task(run, "lambda", "w1", 5, ROAST_TASK_ok);
    mark_call(run, 0, 9);
    for (uint32_t i = 0; i < 40; i++)
        add_attempt(run, "w1", 1 + 2 * i);
    size_t before = test_heap.live_blocks;
    for (size_t n = 1; !kinds; n++) {
        test_heap_fail(n, false);
        kinds = roast__task_kinds(run);
        assert_int_equal(kinds == NULL, test_heap_failed());
        test_heap_fail(0, false);
        assert_int_equal(test_heap.live_blocks, before + (kinds != NULL));
    }
    roast__free(kinds);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_prefix_with_an_attempt_is_the_processors),
        cmocka_unit_test(test_names_of_coffea_give_the_kind),
        cmocka_unit_test(test_lambdas_of_the_user),
        cmocka_unit_test(test_one_name_may_be_both),
        cmocka_unit_test(test_an_equal_hash_elsewhere_is_another_key),
        cmocka_unit_test(test_many_attempts_of_one_task_are_quick),
        cmocka_unit_test(test_any_allocation_may_fail),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("task_kinds", tests, NULL, NULL);
}
