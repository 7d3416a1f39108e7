/* SPDX-License-Identifier: BSD-3-Clause */
/* test_no_memory.c - fails the n-th allocation of everything a run does, n = 1, 2, 3
 * ... until there is none left to fail; once, and from then on. No crash, no leak;
 * refused data can be added again and counts once. */
#include "heap.h"
#include "runs.h"

enum { ATTEMPTS = 70, PROCESSES = 20, SAMPLES = 300, MOST_ALLOCATIONS = 2000 };

/* All frames of all attempts; made before anything fails. */
static struct roast_buf frames;

static void set_any(roast_record *rec, enum roast_field field, const char *text)
{
    enum roast_field_type type = roast_field_info(field)->type;

    if (type == ROAST_TYPE_TEXT || type == ROAST_TYPE_BLOB)
        roast_record_set_str(rec, field, roast_str_of(text));
    else
        roast_record_set_u64(rec, field, strlen(text));
}

static int make_frames(void **state)
{
    char text[] = "file 0";
    struct test_record record;
    (void)state;

    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        text[5] = (char)('0' + i); /* so many files that their tables grow */
        init_record(&record, ROAST_FRAME_BEGIN, i % PROCESSES, i);
        set_place(&record, "ttbar", text, i, i + 1);
        append_frame(&frames, &record.rec);
        init_record(&record, ROAST_FRAME_CHUNK, i % PROCESSES, i);
        for (int field = 0; field < ROAST_FIELD_COUNT; field++) {
            if (field != ROAST_FIELD_identity)
                set_any(&record.rec, (enum roast_field)field, text);
        }
        append_frame(&frames, &record.rec);
        init_record(&record, ROAST_FRAME_END, i % PROCESSES, i);
        set_text(&record, ROAST_FIELD_error_type, "Error");
        roast_record_set_u64(&record.rec, ROAST_FIELD_task_ns, 5);
        set_text(&record, ROAST_FIELD_ladder, "its ladder");
        append_frame(&frames, &record.rec);
    }
    test_heap_install();
    return 0;
}

static int free_frames(void **state)
{
    (void)state;
    roast__heap_set(NULL);
    roast__buf_release(&frames);
    return 0;
}

/* ---- what is tried ------------------------------------------------------------ */

/* Changes a run; a failure must be NO_MEMORY. */
typedef int doing(roast_run *run);

static int add_frames(roast_run *run)
{
    return roast_run_add_frames(run, buf_str(&frames), ROAST_FROM_WORKERS, NULL, NULL);
}

/* The same, without their tables. */
static int add_trimmed(roast_run *run)
{
    run->budget_bytes = 0;
    return add_frames(run);
}

static int add_samples(roast_run *run)
{
    char name[] = "worker 0";
    int status = ROAST_OK;

    for (int i = 0; status == ROAST_OK && i < SAMPLES; i++) {
        name[7] = (char)('0' + i % 40);
        roast_sample sample = {.worker = roast_str_of(name), .time_ns = i * i};
        struct roast_process_use use = {
            .pid = 5, .started_ticks = (uint64_t)i % 2, .cpu_ns = (uint64_t)i};
        roast_sample_set(&sample, ROAST_SERIES_memory, i * 1e6);
        roast_sample_set(&sample, ROAST_SERIES_cpu, i);
        status = roast_run_add_sample(run, &sample, NULL);
        if (status == ROAST_OK)
            status = roast_run_add_use(run, &use, NULL);
    }
    return status;
}

static int add_times(roast_run *run)
{
    int status = ROAST_OK;

    for (int i = 0; status == ROAST_OK && i < 40; i++) {
        unsigned char run_id[ROAST_RUN_ID_BYTES] = {(unsigned char)i};
        char name[] = "dataset 0";
        name[8] = (char)('0' + i);
        status = roast_run_offer(run, i, 1, 1, NULL);
        status = status ? status : roast_run_add_count(run, i, 1, NULL);
        status = status ? status : roast_run_mark(run, ROAST_MARK_RUN_BEGIN, i, NULL);
        status = status ? status : roast_run_accept(run, run_id, NULL);
        status = status ? status : roast_run_add_name(run, roast_str_of(name), NULL);
        status = status ? status : roast_run_set_host(run, roast_str_of(name), NULL);
    }
    return status;
}

static int read_chunks(roast_run *run)
{
    struct roast_chunk_list list;
    int status = roast_run_chunks(run, &list, NULL);

    assert_int_equal(list.count, status == ROAST_OK ? ATTEMPTS : 0);
    roast_chunk_list_release(&list);
    return status;
}

static int read_tracking(roast_run *run)
{
    struct roast_tracking tracking;
    int status = roast_run_tracking(run, &tracking, NULL);

    assert_int_equal(tracking.count > 0, status == ROAST_OK);
    roast_tracking_release(&tracking);
    return status;
}

/* ---- the sweep ---------------------------------------------------------------- */

static void check_whole(roast_run *run)
{
    assert_int_equal(add_frames(run), ROAST_OK); /* what was refused, and repeats */
    assert_int_equal(run->attempts.count, ATTEMPTS);
    for (size_t row = 0; row < ATTEMPTS; row++) {
        assert_int_equal(run->attempts.parts[row], 7);
        assert_cell(run, row, entry_start, 6);
        assert_cell(run, row, task_ns, 5);
        assert_str_is(roast__attempt_ladder(&run->attempts, row), "its ladder");
    }
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_branch_tables_dropped),
                     run->budget_bytes == 0 ? ATTEMPTS : 0);
    assert_int_equal(read_chunks(run), ROAST_OK);
}

/* True when the n-th allocation failed. */
static bool try_once(doing *thing, bool needs_data, size_t n, bool from_then_on)
{
    roast_run *run = new_run();

    if (needs_data) {
        assert_int_equal(add_frames(run), ROAST_OK);
        assert_int_equal(add_samples(run), ROAST_OK);
        assert_int_equal(roast_run_offer(run, 0, 1, 1, NULL), ROAST_OK);
    }
    test_heap_fail(n, from_then_on);
    int status = thing(run);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
    if (thing != add_times) /* which changes the host */
        check_whole(run);
    roast_run_free(run);
    assert_int_equal(test_heap.live_blocks, 0);
    return failed;
}

static void sweep(doing *thing, bool needs_data)
{
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        size_t n = 1;
        while (try_once(thing, needs_data, n, from_then_on))
            assert_true(++n < MOST_ALLOCATIONS);
        assert_true(n > 3); /* something did fail */
    }
}

static void frames_survive(void **state)
{
    (void)state;
    sweep(add_frames, false);
}

static void trimming_survives(void **state)
{
    (void)state;
    sweep(add_trimmed, false);
}

static void samples_survive(void **state)
{
    (void)state;
    sweep(add_samples, false);
}

static void offers_marks_and_names_survive(void **state)
{
    (void)state;
    sweep(add_times, false);
}

static void the_list_of_chunks_survives(void **state)
{
    (void)state;
    sweep(read_chunks, true);
}

static void tracking_survives(void **state)
{
    (void)state;
    sweep(read_tracking, true);
}

static void a_failed_new_run_is_null(void **state)
{
    roast_run *run = (roast_run *)&frames;
    roast_error err = {0};
    (void)state;

    test_heap_fail(1, false);
    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, &err), ROAST_NO_MEMORY);
    test_heap_fail(0, false);
    assert_null(run);
    assert_int_equal(err.code, ROAST_NO_MEMORY);
}

/* Thinning packs a worker again; without memory for it, no sample is lost. */
static void thinning_survives(void **state)
{
    struct roast_samples samples = {0};
    struct roast_worker_samples *worker = roast__samples_worker(&samples, 0);
    struct roast_tick tick = {.time_us = 1, .present = 1U << ROAST_SERIES_memory};
    uint64_t thinned;
    (void)state;

    for (int i = 0; i < ROAST_MOST_TICKS; i++) {
        tick.steps[ROAST_SERIES_memory] = i;
        assert_true(roast__samples_put(worker, &tick, &thinned));
    }
    for (size_t n = 1; n < 4; n++) {
        test_heap_fail(n, false);
        assert_false(roast__samples_put(worker, &tick, &thinned));
        assert_int_equal(thinned, 0);
        assert_int_equal(worker->ticks, ROAST_MOST_TICKS);
    }
    test_heap_fail(0, false);
    assert_true(roast__samples_put(worker, &tick, &thinned));
    assert_int_equal(thinned, ROAST_MOST_TICKS / 2);
    roast__samples_release(&samples);
    assert_int_equal(test_heap.live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_survive),
        cmocka_unit_test(trimming_survives),
        cmocka_unit_test(samples_survive),
        cmocka_unit_test(offers_marks_and_names_survive),
        cmocka_unit_test(the_list_of_chunks_survives),
        cmocka_unit_test(tracking_survives),
        cmocka_unit_test(a_failed_new_run_is_null),
        cmocka_unit_test(thinning_survives),
    };
    return cmocka_run_group_tests_name("run/no_memory", tests, make_frames,
                                       free_frames);
}
