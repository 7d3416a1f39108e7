/* SPDX-License-Identifier: BSD-3-Clause */
/* test_saved_tasks.c - scheduler data in run files: restored in any size; in a damaged
 * file the remaining data is right and the damage is reported. */
#include "file/runfile.h"
#include "file/sqlite/schema.h"
#include "saved_file.h"
#include "saved_print.h"
#include "saved_runs.h"

static roast_run *load(const char *path, uint64_t *damaged)
{
    roast_runfile *file = open_saved(path);
    struct roast_runfile_info info;
    roast_run *run = NULL;

    assert_int_equal(roast_runfile_run(file, true, &run, NULL), ROAST_OK);
    roast_runfile_info(file, &info);
    *damaged = info.damaged;
    int64_t problems = roast_runfile_check(file, NULL, NULL, NULL);
    assert_int_equal(problems > 0, info.damaged > 0);
    file->whole = NULL; /* moved to the caller */
    roast_runfile_close(file);
    return run;
}

static void assert_comes_back(const char *path, roast_run *run)
{
    uint64_t damaged = 1;

    save(run, path);
    roast_run *loaded = load(path, &damaged);
    assert_int_equal(damaged, 0);
    assert_same_whole(run, loaded);
    roast_run_free(loaded);
}

/* ---- sizes ----------------------------------------------------------------------- */

/* Large journals, with texts that change with every task. */
static void many_tasks_come_back(void **state)
{
    enum { TASKS = 150000 };
    const struct saved_test *test = *state;
    roast_run *run = new_run();
    char worker[32];

    for (uint32_t i = 0; i < TASKS; i++) {
        (void)snprintf(worker, sizeof(worker), "tcp://host:%u", i * 7919 % 1000);
        struct roast_task task = {.prefix = roast_str_of(i % 20 ? "process" : "reduce"),
                                  .worker = roast_str_of(worker),
                                  .key_hash = i * 2654435761u,
                                  .ours = i % 3,
                                  .end = (enum roast_task_end)(1 + i % 7),
                                  .assigned_ns = second(i / 100) + i * 12345,
                                  .start_ns = i % 11 ? second(i / 50) + i : 0,
                                  .stop_ns = second(i / 40) + i * 3};
        assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
        if (i < 1000)
            assert_int_equal(join_as(run, worker, i, i, i), ROAST_OK);
    }
    assert_comes_back(test->path, run);
    roast_run_free(run);
}

static void extremes_come_back(void **state)
{
    static const int64_t times[] = {INT64_MIN, INT64_MAX, 0, -1, 1};
    const struct saved_test *test = *state;
    roast_run *run = new_run();

    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct roast_task task = {.prefix = roast_str_of("\xff\0x"),
                                  .end = ROAST_TASK_failed,
                                  .key_hash = UINT32_MAX,
                                  .assigned_ns = times[i],
                                  .start_ns = times[(i + 1) % 5],
                                  .stop_ns = times[(i + 3) % 5]};
        struct roast_member member = {.worker = roast_str_of(i % 2 ? "a" : "b"),
                                      .joined_ns = times[i],
                                      .pid = UINT64_MAX - i,
                                      .threads = i % 2 ? UINT64_MAX : 1,
                                      .memory_limit_bytes = UINT64_MAX};
        assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
        assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
        assert_int_equal(set_offset(run, i % 2 ? "x" : "y", times[i]), ROAST_OK);
    }
    assert_int_equal(set_activity(run, "p", "least", -1.7976931348623157e308),
                     ROAST_OK);
    assert_int_equal(set_activity(run, "p", "small", 5e-324), ROAST_OK);
    assert_int_equal(add_hot_line(run, INT64_MAX, "", 1.0 / 3), ROAST_OK);
    assert_comes_back(test->path, run);
    roast_run_free(run);
}

/* Two workers in one process, on a host whose clock is off. */
static void add_of_one_process(roast_run *run)
{
    struct test_record record;

    for (uint32_t i = 0; i < 6; i++) {
        init_record(&record, ROAST_FRAME_CHUNK, 7, i);
        set_text(&record, ROAST_FIELD_host, "there");
        roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, second(2 + i));
        roast_record_set_i64(&record.rec, ROAST_FIELD_start_mono_ns, second(i));
        assert_int_equal(
            add_with_task(run, &record, i % 2 ? "tcp://b:1" : "tcp://a:1", i, NULL),
            ROAST_OK);
    }
}

static void workers_of_one_process_come_back(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = new_run();
    uint64_t damaged = 1;

    assert_int_equal(join_as(run, "tcp://a:1", 0, 1, 1), ROAST_OK);
    assert_int_equal(join_as(run, "tcp://b:1", 0, 1, 1), ROAST_OK);
    assert_int_equal(set_offset(run, "there", 12345), ROAST_OK);
    add_of_one_process(run);
    assert_int_equal(run->attempts.process_count, 2);
    assert_comes_back(test->path, run);
    roast_run_free(run);
    run = load(test->path, &damaged);
    add_of_one_process(run); /* nothing new */
    assert_int_equal(run->attempts.count, 6);
    assert_int_equal(run->attempts.process_count, 2);
    roast_run_free(run);
}

/* ---- damage ---------------------------------------------------------------------- */

/* Two attempts on a host whose clock is off, one on another such host. */
static roast_run *far_run(void)
{
    roast_run *run = new_run();
    struct test_record record;

    make_task_changes(run);
    assert_int_equal(join_as(run, "w1", 0, 1, 1), ROAST_OK);
    assert_int_equal(set_offset(run, "10.0.0.7", 5 * SECOND), ROAST_OK);
    assert_int_equal(set_offset(run, "far", 7 * SECOND), ROAST_OK);
    for (uint32_t i = 0; i < 3; i++) {
        init_record(&record, ROAST_FRAME_CHUNK, 80 + i / 2, i + 1);
        set_text(&record, ROAST_FIELD_host, i / 2 ? "far" : "node7");
        roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, second(4 + i));
        roast_record_set_i64(&record.rec, ROAST_FIELD_start_mono_ns, 1000 * (4 + i));
        assert_int_equal(add_with_task(run, &record, i / 2 ? "w2" : "w1", i + 1, NULL),
                         ROAST_OK);
    }
    return run;
}

static struct roast_buf print_attempts(roast_run *run)
{
    struct roast_buf out = {NULL, 0, 0, false};

    print_chunks(&out, run); /* resolves pending */
    print_links(&out, run);
    return out;
}

/* Clock offsets are applied to data that was read without them. */
static void clocks_of_hosts_come_back(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = far_run();
    struct roast_buf attempts = print_attempts(run);
    uint64_t damaged = 1;

    save(run, test->path);
    roast_run *again = load(test->path, &damaged);
    struct roast_buf found = print_attempts(again);
    assert_int_equal(damaged, 0);
    assert_true(str_equal(buf_str(&found), buf_str(&attempts)));
    roast__buf_release(&found);
    roast__buf_release(&attempts);
    roast_run_free(again);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(many_tasks_come_back),
        saved_test_of(workers_of_one_process_come_back),
        saved_test_of(extremes_come_back),
        saved_test_of(clocks_of_hosts_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
