/* SPDX-License-Identifier: BSD-3-Clause */
/* test_dask_batch_run.c - batches of several schedulers enter one run: each scheduler
 * numbers its own workers, losses are counted once, and no allocation is fatal. */
#include "dask_batch_help.h"
#include "heap.h"
#include "roast/dask_batch.h"
#include "roast/scheduler.h"

static roast_dask_batches *new_batches(roast_run **run)
{
    roast_dask_batches *batches = NULL;

    assert_int_equal(roast_run_new(run, 0, 0, NULL), ROAST_OK);
    assert_int_equal(roast_dask_batches_new(&batches, *run, NULL), ROAST_OK);
    return batches;
}

static void free_batches(roast_dask_batches *batches, roast_run *run)
{
    roast_dask_batches_free(batches);
    roast_run_free(run);
}

static int add(roast_dask_batches *batches, const char *scheduler,
               const struct roast_buf *bytes, roast_error *err)
{
    const struct roast_dask_batch batch = {scheduler,
                                           str_from(bytes->data, bytes->size_bytes), 0};

    return roast_dask_batches_add(batches, &batch, err);
}

static uint64_t joined(roast_run *run)
{
    struct roast_task_counts counts;

    roast_run_task_counts(run, &counts);
    return counts.joined;
}

static void schedulers_number_their_own_workers(void **state)
{
    struct roast_buf one = {0}, other = {0};
    roast_run *run = NULL;
    roast_dask_batches *batches = new_batches(&run);

    (void)state;
    put_worker(&one, 0, "tcp://a:1");
    put_joined(&one, 0, 0, "a");
    put_worker(&other, 0, "tcp://b:1");
    put_joined(&other, 0, 0, "b");
    assert_int_equal(add(batches, "s1", &one, NULL), ROAST_OK);
    assert_int_equal(add(batches, "s2", &other, NULL), ROAST_OK);
    assert_int_equal(joined(run), 2);
    roast_error err = {0}; /* number 0 of s1 has another name */
    assert_int_equal(add(batches, "s1", &other, &err), ROAST_BAD_DATA);
    assert_int_equal(err.code, ROAST_BAD_DATA);
    roast__buf_release(&one);
    roast__buf_release(&other);
    free_batches(batches, run);
}

static void losses_are_counted_once(void **state)
{
    struct roast_buf batch = {0};
    roast_run *run = NULL;
    roast_dask_batches *batches = new_batches(&run);

    (void)state;
    put(&batch, DROPPED, (uint64_t)3, (uint64_t)2, (uint64_t)1);
    put_joined(&batch, 9, 0, "a");
    for (int i = 0; i < 2; i++)
        assert_int_equal(add(batches, "", &batch, NULL), ROAST_BAD_DATA);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_dropped), 6);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_unread), 2);
    roast__buf_release(&batch);
    free_batches(batches, run);
}

static void a_batch_can_be_added_again_after_no_memory(void **state)
{
    struct roast_buf batch = {0};
    size_t before = test_heap.live_blocks;
    bool failed = true;

    (void)state;
    put_worker(&batch, 0, "tcp://a:1");
    put_joined(&batch, 0, 0, "a");
    for (size_t n = 1; failed; n++) {
        roast_run *run = NULL;
        roast_error err = {0};
        roast_dask_batches *batches = new_batches(&run);
        test_heap_fail(n, false);
        int status = add(batches, "s", &batch, &err);
        failed = test_heap_failed();
        test_heap_fail(0, false);
        assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
        assert_int_equal(err.code, status);
        if (failed)
            assert_int_equal(add(batches, "s", &batch, NULL), ROAST_OK);
        assert_int_equal(joined(run), 1);
        free_batches(batches, run);
    }
    roast__buf_release(&batch);
    assert_int_equal(test_heap.live_blocks, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedulers_number_their_own_workers),
        cmocka_unit_test(losses_are_counted_once),
        cmocka_unit_test(a_batch_can_be_added_again_after_no_memory),
    };

    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
