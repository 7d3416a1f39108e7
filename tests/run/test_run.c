/* SPDX-License-Identifier: BSD-3-Clause */
/* test_run.c - the life of a run: clock, facts, losses, moments, offers, progress; and
 * several threads at once. */
#include <math.h>
#include <pthread.h>

#include "runs.h"

static void the_timeline_is_the_realtime_clock(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_true(run->start_ns == EPOCH_0);
    assert_true(run->end_ns == 0); /* open */
    roast_run_finish(run, MONO_0 + 7 * SECOND);
    assert_true(run->end_ns == EPOCH_0 + 7 * SECOND);
    roast_run_finish(run, MONO_0 + 9 * SECOND);
    assert_true(run->end_ns == EPOCH_0 + 9 * SECOND);
    roast_run_finish(run, INT64_MAX);
    assert_true(run->end_ns == INT64_MAX);
    roast_run_free(run);
}

static void facts_are_unknown_until_set(void **state)
{
    roast_run *run = new_run();
    double value = -1;
    (void)state;

    assert_false(roast_run_fact(run, ROAST_FACT_report_events, &value));
    roast_run_add_fact(run, ROAST_FACT_report_events, 2);
    roast_run_add_fact(run, ROAST_FACT_report_events, 3);
    assert_true(roast_run_fact(run, ROAST_FACT_report_events, &value) && value == 5);
    roast_run_set_fact(run, ROAST_FACT_report_events, 1);
    roast_run_set_fact(run, ROAST_FACT_report_events, (double)NAN); /* no number */
    roast_run_add_fact(run, ROAST_FACT_report_events, (double)INFINITY);
    assert_true(roast_run_fact(run, ROAST_FACT_report_events, &value) && value == 1);
    assert_false(roast_run_fact(run, ROAST_FACT_report_bytes, &value));
    roast_run_free(run);
}

static void losses_add_up_and_stop_at_the_end(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_frames_dropped), 0);
    roast_run_lose(run, ROAST_RUN_LOSS_frames_dropped, 3);
    roast_run_lose(run, ROAST_RUN_LOSS_frames_dropped, 4);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_frames_dropped), 7);
    roast_run_lose(run, ROAST_RUN_LOSS_frames_dropped, UINT64_MAX);
    assert_true(roast_run_lost(run, ROAST_RUN_LOSS_frames_dropped) == UINT64_MAX);
    roast_run_free(run);
}

static void every_fact_loss_and_series_has_a_name(void **state)
{
    (void)state;

    for (int i = 0; i < ROAST_FACT_COUNT; i++)
        assert_true(strlen(roast_fact_name((enum roast_fact)i)) > 0);
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++) {
        assert_true(strlen(roast_run_loss_name((enum roast_run_loss)i)) > 0);
        assert_true(strlen(roast_run_loss_text((enum roast_run_loss)i)) > 0);
    }
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        const struct roast_series_info *info = roast_series_info((enum roast_series)i);
        assert_true(info->steps >= 1);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(info->key,
                                    roast_series_info((enum roast_series)k)->key);
    }
    assert_string_equal(roast_series_info(ROAST_SERIES_memory)->key, "worker_memory");
}

static void moments_are_in_order_of_time(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(roast_run_mark(run, ROAST_MARK_RUN_END, MONO_0 + 9, NULL), 0);
    assert_int_equal(roast_run_mark(run, ROAST_MARK_RUN_BEGIN, MONO_0 + 1, NULL), 0);
    assert_int_equal(roast_run_mark(run, ROAST_MARK_PREPROCESS_BEGIN, MONO_0 + 1, NULL),
                     0);
    assert_int_equal(run->moment_count, 3);
    assert_int_equal(run->moments[0].mark, ROAST_MARK_RUN_BEGIN);
    assert_int_equal(run->moments[1].mark, ROAST_MARK_PREPROCESS_BEGIN);
    assert_true(run->moments[2].time_ns == EPOCH_0 + 9);
    roast_run_free(run);
}

static void an_offer_holds_until_the_next(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_null(roast__run_offer_at(run, EPOCH_0));
    assert_int_equal(roast_run_offer(run, 100, 4, 8, NULL), ROAST_OK);
    assert_int_equal(roast_run_offer(run, 50, 2, 4, NULL), ROAST_OK);
    assert_int_equal(roast_run_offer(run, 100, 5, 10, NULL), ROAST_OK);
    assert_int_equal(roast__run_offer_at(run, 49)->workers, 2); /* it was there */
    assert_int_equal(roast__run_offer_at(run, 50)->workers, 2);
    assert_int_equal(roast__run_offer_at(run, 99)->workers, 2);
    assert_int_equal(roast__run_offer_at(run, 100)->workers, 5); /* said last */
    assert_int_equal(roast__run_offer_at(run, INT64_MAX)->threads, 10);
    roast_run_free(run);
}

static void progress_counts_attempts(void **state)
{
    roast_run *run = new_run();
    struct roast_progress progress;
    struct test_record record;
    (void)state;

    for (uint32_t i = 1; i <= 5; i++) {
        init_record(&record, i == 1 ? ROAST_FRAME_BEGIN : ROAST_FRAME_CHUNK, 1, i);
        roast_record_set_u64(&record.rec, ROAST_FIELD_status,
                             i == 2 ? ROAST_CHUNK_FAILED : ROAST_CHUNK_OK);
        roast_record_set_u64(&record.rec, ROAST_FIELD_num_events, 10);
        roast_record_set_u64(&record.rec, ROAST_FIELD_bytes_read, 100);
        roast_record_set_u64(&record.rec, ROAST_FIELD_bytes_before, 1);
        add(run, &record);
    }
    roast_run_progress(run, &progress);
    assert_int_equal(progress.begun, 5);
    assert_int_equal(progress.done, 3);
    assert_int_equal(progress.failed, 1);
    assert_int_equal(progress.events, 30);
    assert_int_equal(progress.bytes, 303);
    roast_run_free(run);
}

/* ---- threads ------------------------------------------------------------------ */

enum { THREADS = 4, EACH = 300 };

struct writer {
    roast_run *run;
    uint64_t process;
};

/* No assertions here: cmocka's jump out of the thread that failed. */
static void *write_all(void *context)
{
    struct writer *writer = context;
    struct test_record record;

    for (uint32_t i = 1; i <= EACH; i++) {
        unsigned char frame[256];
        roast_sample sample = {.worker = roast_str_of("w"), .time_ns = i};
        init_record(&record, ROAST_FRAME_CHUNK, writer->process, i);
        int64_t size = roast_record_encode(frame, sizeof(frame), &record.rec, NULL);
        (void)roast_run_add_frames(writer->run, str_from(frame, (size_t)size),
                                   ROAST_FROM_WORKERS, NULL, NULL);
        (void)roast_run_add_sample(writer->run, &sample, NULL);
        roast_run_add_fact(writer->run, ROAST_FACT_runner_calls, 1);
    }
    return NULL;
}

static void several_threads_write_while_one_reads(void **state)
{
    roast_run *run = new_run();
    struct writer writers[THREADS];
    pthread_t threads[THREADS];
    double calls = 0;
    (void)state;

    for (size_t i = 0; i < THREADS; i++) {
        writers[i] = (struct writer){run, i / 2}; /* pairs write the same records */
        assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        struct roast_chunk_list list;
        struct roast_tracking tracking;
        assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
        assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
        roast_chunk_list_release(&list);
        roast_tracking_release(&tracking);
    }
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    assert_int_equal(run->attempts.count, THREADS / 2 * EACH);
    assert_int_equal(run->samples.workers[0].ticks, THREADS * EACH);
    assert_true(roast_run_fact(run, ROAST_FACT_runner_calls, &calls));
    assert_true(calls == THREADS * EACH);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_timeline_is_the_realtime_clock),
        cmocka_unit_test(facts_are_unknown_until_set),
        cmocka_unit_test(losses_add_up_and_stop_at_the_end),
        cmocka_unit_test(every_fact_loss_and_series_has_a_name),
        cmocka_unit_test(moments_are_in_order_of_time),
        cmocka_unit_test(an_offer_holds_until_the_next),
        cmocka_unit_test(progress_counts_attempts),
        cmocka_unit_test(several_threads_write_while_one_reads),
    };
    return cmocka_run_group_tests_name("run/run", tests, NULL, NULL);
}
