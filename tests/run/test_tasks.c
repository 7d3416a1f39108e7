/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tasks.c - tasks of a cluster, and attempts that are joined to them. */
#include "heap.h"
#include "scheduler_events.h"

static void a_task_keeps_its_fields(void **state)
{
    roast_run *run = new_run();
    const struct roast_tasks *tasks = &run->scheduler.tasks;
    (void)state;

    assert_int_equal(add_task(run, "process", "tcp://a:1", 7, ROAST_TASK_ok), ROAST_OK);
    assert_int_equal(add_task(run, "process", NULL, 8, ROAST_TASK_lost), ROAST_OK);
    assert_int_equal(add_task(run, NULL, "tcp://a:1", 9, ROAST_TASK_moved), ROAST_OK);
    assert_int_equal(tasks->count, 3);
    assert_text(run, tasks->prefix[0], "process");
    assert_text(run, tasks->worker[0], "tcp://a:1");
    assert_int_equal(tasks->prefix[1], tasks->prefix[0]);
    assert_int_equal(tasks->worker[1], ROAST_NO_STRING);
    assert_int_equal(tasks->prefix[2], ROAST_NO_STRING);
    assert_int_equal(tasks->worker[2], tasks->worker[0]);
    assert_int_equal(tasks->key_hash[1], 8);
    assert_int_equal(tasks->end[0], ROAST_TASK_ok | ROAST_TASK_OURS);
    assert_int_equal(tasks->end[1], ROAST_TASK_lost);
    assert_int_equal(tasks->assigned_ns[0], second(1));
    assert_int_equal(tasks->start_ns[0], second(2));
    assert_int_equal(tasks->start_ns[1], 0);
    assert_int_equal(tasks->stop_ns[1], second(3));
    roast_run_free(run);
}

static void tasks_are_counted_by_their_end(void **state)
{
    roast_run *run = new_run();
    struct roast_task_counts counts;
    (void)state;

    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(
            add_task(run, "p", "w", i, i < 4 ? ROAST_TASK_ok : ROAST_TASK_failed),
            ROAST_OK);
    joins(run, "a", 0, 1);
    joins(run, "b", 0, 1);
    leaves(run, "a", 1);
    roast_run_task_counts(run, &counts);
    assert_int_equal(counts.ours[ROAST_TASK_ok], 2);
    assert_int_equal(counts.foreign[ROAST_TASK_ok], 2);
    assert_int_equal(counts.ours[ROAST_TASK_failed], 3);
    assert_int_equal(counts.foreign[ROAST_TASK_failed], 3);
    assert_int_equal(counts.ours[ROAST_TASK_lost] + counts.foreign[ROAST_TASK_lost], 0);
    assert_int_equal(counts.joined, 2);
    assert_int_equal(counts.present, 1);
    roast_run_free(run);
}

static void an_unknown_task_end_is_counted(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(add_task(run, "p", "w", 1, 0), ROAST_OK);
    assert_int_equal(add_task(run, "p", "w", 1, ROAST_TASK_END_LAST), ROAST_OK);
    assert_int_equal(run->scheduler.tasks.count, 0);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_unread), 2);
    roast_run_free(run);
}

static void names_are_those_of_the_lists(void **state)
{
    (void)state;

    assert_string_equal(roast_task_end_name(ROAST_TASK_ok), "ok");
    assert_string_equal(roast_task_end_name(ROAST_TASK_moved), "moved");
    assert_string_equal(roast_task_end_name(ROAST_TASK_sent_back), "sent_back");
    assert_null(roast_task_end_name(0));
    assert_null(roast_task_end_name(ROAST_TASK_END_LAST));
    assert_string_equal(roast_task_kind_name(ROAST_KIND_chunk), "chunk");
    assert_string_equal(roast_task_kind_name(ROAST_KIND_foreign), "foreign");
}

static void past_the_limit_tasks_are_counted(void **state)
{
    roast_run *run = new_run();
    struct roast_tasks *tasks = &run->scheduler.tasks;
    (void)state;

    assert_int_equal(add_task(run, "p", "w", 1, ROAST_TASK_ok), ROAST_OK);
    assert_true(roast__tasks_reserve(tasks, ROAST_MOST_TASKS));
    assert_false(roast__tasks_reserve(tasks, ROAST_MOST_TASKS + 1));
    tasks->count = ROAST_MOST_TASKS - 1;
    tasks->prefix[tasks->count - 1] = tasks->worker[tasks->count - 1] = ROAST_NO_STRING;
    assert_int_equal(add_task(run, "p", "w", 2, ROAST_TASK_ok), ROAST_OK);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_over_limit), 0);
    assert_int_equal(add_task(run, "p", "w", 3, ROAST_TASK_ok), ROAST_OK);
    assert_int_equal(tasks->count, ROAST_MOST_TASKS);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_over_limit), 1);
    roast_run_free(run);
}

/* ---- attempts -------------------------------------------------------------------- */

static struct roast_worker_process *process_of(const roast_run *run, size_t row)
{
    return &run->attempts.processes[run->attempts.process[row]];
}

static void a_killed_attempt_is_known_by_its_task(void **state)
{
    roast_run *run = new_run();
    struct roast_tally tally;
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_BEGIN, 7, 1);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, second(1));
    assert_int_equal(add_with_task(run, &record, "tcp://a:1", 0xffffffff, &tally),
                     ROAST_OK);
    assert_int_equal(tally.kept, 1);
    assert_cell(run, 0, key_hash, 0xffffffff);
    assert_text(run, process_of(run, 0)->worker, "tcp://a:1");
    roast_run_free(run);
}

/* The chunk frame came with the output, the end frame as an event. */
static void any_frame_of_an_attempt_joins_it(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_CHUNK, 7, 1);
    set_text(&record, ROAST_FIELD_worker, "named by itself");
    add(run, &record);
    assert_no_cell(run, 0, key_hash);
    init_record(&record, ROAST_FRAME_END, 7, 1);
    assert_int_equal(add_with_task(run, &record, "tcp://a:1", 5, NULL), ROAST_OK);
    assert_int_equal(run->attempts.count, 1);
    assert_cell(run, 0, key_hash, 5);
    assert_text(run, process_of(run, 0)->worker, "named by itself");
    roast_run_free(run);
}

static void a_repeated_frame_joins_too(void **state)
{
    roast_run *run = new_run();
    struct roast_tally tally;
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_CHUNK, 7, 1);
    add(run, &record);
    for (uint32_t hash = 5; hash < 7; hash++) {
        assert_int_equal(add_with_task(run, &record, "tcp://a:1", hash, &tally),
                         ROAST_OK);
        assert_int_equal(tally.repeated, 1);
        assert_int_equal(tally.kept, 0);
        assert_cell(run, 0, key_hash, 5);
    }
    assert_text(run, process_of(run, 0)->worker, "tcp://a:1");
    roast_run_free(run);
}

static void a_record_comes_back_as_it_was(void **state)
{
    roast_run *run = new_run();
    struct roast_chunk_list list;
    struct test_record record;
    roast_record rec;
    (void)state;

    init_record(&record, ROAST_FRAME_BEGIN, 7, 1);
    assert_int_equal(add_with_task(run, &record, "tcp://a:1", 5, NULL), ROAST_OK);
    init_record(&record, ROAST_FRAME_CHUNK, 7, 1); /* has no worker */
    assert_int_equal(add_with_task(run, &record, "tcp://a:1", 5, NULL), ROAST_OK);
    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(
        roast_record_decode(&rec, NULL, str_from(list.frames, list.items[0].size_bytes),
                            NULL),
        ROAST_OK);
    assert_same_record(&rec, &record.rec);
    roast_chunk_list_release(&list);
    roast_run_free(run);
}

/* Workers that are threads of one process have their own attempts. */
static void a_process_may_be_several_workers(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    for (uint32_t i = 0; i < 6; i++) {
        init_record(&record, ROAST_FRAME_BEGIN, 7, i);
        assert_int_equal(
            add_with_task(run, &record, i % 2 ? "tcp://b:1" : "tcp://a:1", i, NULL),
            ROAST_OK);
        init_record(&record, ROAST_FRAME_CHUNK, 7, i); /* with the output */
        set_text(&record, ROAST_FIELD_host, "here");
        roast_record_set_u64(&record.rec, ROAST_FIELD_pid, 4321);
        add(run, &record);
    }
    assert_int_equal(run->attempts.count, 6);
    assert_int_equal(run->attempts.process_count, 2);
    roast__run_resolve_pending(run);
    for (size_t row = 0; row < 6; row++) {
        assert_text(run, process_of(run, row)->worker,
                    row % 2 ? "tcp://b:1" : "tcp://a:1");
        assert_text(run, process_of(run, row)->host, "here");
        assert_int_equal(process_of(run, row)->pid, 4321);
    }
    roast_run_free(run);
}

/* Chunk frames arrived before their worker was known; records are restored exactly. */
static void workers_of_a_process_may_be_reported_late(void **state)
{
    roast_run *run = new_run();
    struct roast_chunk_list list;
    struct test_record record[2];
    (void)state;

    for (uint32_t i = 0; i < 2; i++) {
        init_record(&record[i], ROAST_FRAME_CHUNK, 7, i);
        roast_record_set_i64(&record[i].rec, ROAST_FIELD_start_epoch_ns, second(2 + i));
        roast_record_set_i64(&record[i].rec, ROAST_FIELD_start_mono_ns, second(i));
        add(run, &record[i]);
    }
    assert_int_equal(add_with_task(run, &record[1], "tcp://b:1", 1, NULL), ROAST_OK);
    assert_int_equal(add_with_task(run, &record[0], "tcp://a:1", 0, NULL), ROAST_OK);
    assert_text(run, process_of(run, 0)->worker, "tcp://a:1");
    assert_text(run, process_of(run, 1)->worker, "tcp://b:1");
    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    assert_int_equal(list.count, 2);
    for (size_t i = 0, at = 0; i < 2; at += list.items[i++].size_bytes) {
        roast_record rec;
        struct roast_str frame =
            str_from((const char *)list.frames + at, list.items[i].size_bytes);
        assert_int_equal(roast_record_decode(&rec, NULL, frame, NULL), ROAST_OK);
        assert_same_record(&rec, &record[i].rec);
    }
    roast_chunk_list_release(&list);
    roast_run_free(run);
}

static void frames_of_other_runs_are_not_joined(void **state)
{
    roast_run *run = new_run();
    struct roast_tally tally;
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_CHUNK, 7, 1);
    identify(&record, (const unsigned char *)"another run id!!", 7, 1);
    assert_int_equal(add_with_task(run, &record, "w", 5, &tally), ROAST_OK);
    assert_int_equal(tally.foreign, 1);
    assert_int_equal(run->attempts.count, 0);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_frames_foreign), 1);
    roast_run_free(run);
}

/* ---- without memory -------------------------------------------------------------- */

static int change(roast_run *run, uint32_t i)
{
    struct test_record record;
    char name[32];

    (void)snprintf(name, sizeof(name), "tcp://w:%u", i);
    switch (i % 3) {
    case 0:
        return add_task(run, name, name, i, ROAST_TASK_ok);
    case 1:
        init_record(&record, ROAST_FRAME_CHUNK, 7, i);
        return add_with_task(run, &record, name, i, NULL);
    default:
        init_record(&record, ROAST_FRAME_CHUNK, 7, i - 1); /* repeated */
        return add_with_task(run, &record, name, i, NULL);
    }
}

static void fail_once(roast_run *run, uint32_t i, size_t n)
{
    test_heap_fail(n, false);
    int status = change(run, i);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
    if (failed)
        assert_int_equal(change(run, i), ROAST_OK);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;

    test_heap_install();
    for (size_t n = 1; n < 20; n++) {
        roast_run *run = new_run();
        for (uint32_t i = 0; i < 300; i++)
            fail_once(run, i, n);
        assert_int_equal(run->scheduler.tasks.count, 100);
        assert_int_equal(run->attempts.count, 100);
        assert_cell(run, 99, key_hash, 298);
        roast_run_free(run);
    }
    assert_int_equal(test_heap.live_blocks, 0);
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_keeps_its_fields),
        cmocka_unit_test(tasks_are_counted_by_their_end),
        cmocka_unit_test(an_unknown_task_end_is_counted),
        cmocka_unit_test(names_are_those_of_the_lists),
        cmocka_unit_test(past_the_limit_tasks_are_counted),
        cmocka_unit_test(a_killed_attempt_is_known_by_its_task),
        cmocka_unit_test(any_frame_of_an_attempt_joins_it),
        cmocka_unit_test(a_repeated_frame_joins_too),
        cmocka_unit_test(a_record_comes_back_as_it_was),
        cmocka_unit_test(a_process_may_be_several_workers),
        cmocka_unit_test(workers_of_a_process_may_be_reported_late),
        cmocka_unit_test(frames_of_other_runs_are_not_joined),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
