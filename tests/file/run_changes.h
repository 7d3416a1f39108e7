/* SPDX-License-Identifier: BSD-3-Clause */
/* run_changes.h - lists of changes of a run that cover every kind of journal entry. */
#ifndef ROAST_TESTS_FILE_RUN_CHANGES_H
#define ROAST_TESTS_FILE_RUN_CHANGES_H

#include <math.h>

#include "run/runs.h"
#include "run/scheduler_events.h"

static const unsigned char OTHER_ID[ROAST_RUN_ID_BYTES] = "another";

static inline void change_begin(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, 7, 1);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, EPOCH_0 + SECOND);
    set_place(&record, "ttbar", "f.root", 5, 10);
    (void)add_from(run, &record.rec, ROAST_FROM_WORKERS);
}

static inline void change_chunk(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, 7, 1);
    set_file(&record, "ttbar", "f.root", 5, 10);
    set_text(&record, ROAST_FIELD_host, "here");
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_mono_ns, MONO_0 + 2 * SECOND);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, EPOCH_0 + 3 * SECOND);
    roast_record_set_u64(&record.rec, ROAST_FIELD_duration_ns, 9);
    roast_record_set_u64(&record.rec, ROAST_FIELD_monitor_errors, 1);
    set_text(&record, ROAST_FIELD_monitor_first_error, "no such thing");
    (void)add_from(run, &record.rec, ROAST_FROM_WORKERS);
}

static inline void change_end(roast_run *run, uint64_t task_ns)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_END, 7, 1);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    roast_record_set_u64(&record.rec, ROAST_FIELD_task_ns, task_ns);
    roast_record_set_u64(&record.rec, ROAST_FIELD_monitor_errors, 2);
    (void)add_from(run, &record.rec, ROAST_FROM_WORKERS);
}

/* Of another run, by the user. */
static inline void change_by_user(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, 8, 2);
    identify(&record, OTHER_ID, 8, 2);
    (void)add_from(run, &record.rec, ROAST_FROM_USER);
}

/* Both are losses: something broken, and a frame of another run. */
static inline void change_broken(roast_run *run)
{
    struct roast_buf frames = {NULL, 0, 0, false};
    struct test_record record;

    roast__buf_put(&frames, "dirt", 4);
    init_record(&record, ROAST_FRAME_CHUNK, 8, 3);
    identify(&record, OTHER_ID, 8, 3);
    append_frame(&frames, &record.rec);
    assert_int_equal(
        roast_run_add_frames(run, buf_str(&frames), ROAST_FROM_WORKERS, NULL, NULL),
        ROAST_OK);
    roast__buf_release(&frames);
}

static inline void add_sample(roast_run *run, const char *worker, int64_t seconds,
                              double value)
{
    roast_sample sample = {.worker = roast_str_of(worker),
                           .time_ns = EPOCH_0 + seconds * SECOND + 123456};

    roast_sample_set(&sample, ROAST_SERIES_memory, value);
    roast_sample_set(&sample, ROAST_SERIES_last_seen, (double)seconds + 1.76e9);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

/* What no reader of /proc would say. */
static inline void change_extreme_sample(roast_run *run)
{
    roast_sample sample = {.worker = {NULL, 0}, .time_ns = INT64_MIN};

    for (int i = 0; i < ROAST_SERIES_COUNT; i++)
        roast_sample_set(&sample, (enum roast_series)i, 1.0e15 + i / 7.0);
    roast_sample_set(&sample, ROAST_SERIES_cpu, (double)NAN);
    roast_sample_set(&sample, ROAST_SERIES_nbytes, 1e300);
    roast_sample_set(&sample, ROAST_SERIES_occupancy, -1e300);
    roast_sample_set(&sample, ROAST_SERIES_gil, 4503599627.370497);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
}

static inline void add_use(roast_run *run, uint64_t parent, uint64_t started,
                           int64_t seconds)
{
    uint64_t io_known = seconds != 4;
    struct roast_process_use use = {
        .pid = 5,
        .parent_pid = parent,
        .started_ticks = started,
        .time_ns = EPOCH_0 + seconds * SECOND + 1,
        .cpu_ns = (uint64_t)seconds * 700000001,
        .reaped_cpu_ns = 5,
        .rss_bytes = 1 << 30,
        .threads = 3,
        .io_known = io_known,
        .read_bytes = io_known * (uint64_t)seconds * 12345,
        .write_bytes = io_known * (uint64_t)seconds * 4096,
    };

    assert_int_equal(roast_run_add_use(run, &use, NULL), ROAST_OK);
}

static inline void change_process_use(roast_run *run)
{
    add_use(run, 1, 77, 2);
}

static inline void change_process_use_again(roast_run *run)
{
    add_use(run, 1, 77, 3);
}

static inline void change_parent(roast_run *run)
{
    add_use(run, 4, 77, 4);
}

static inline void change_process(roast_run *run)
{
    add_use(run, 4, 99, 5); /* another process with the same pid */
}

static inline void change_host(roast_run *run)
{
    assert_int_equal(roast_run_set_host(run, roast_str_of("here"), NULL), ROAST_OK);
}

static inline void change_accept(roast_run *run)
{
    assert_int_equal(roast_run_accept(run, RUN_ID, NULL), ROAST_OK);
}

static inline void change_name(roast_run *run)
{
    struct roast_str file = roast_str_of("root://me:secret@host//f.root?authz=token");

    assert_int_equal(roast_run_add_name(run, file, NULL), ROAST_OK);
}

static inline void set_note(roast_run *run, enum roast_note_group group,
                            const char *name, const char *text)
{
    assert_int_equal(
        roast_run_set_note(run, group, roast_str_of(name), roast_str_of(text), NULL),
        ROAST_OK);
}

static inline void change_id(roast_run *run)
{
    set_note(run, ROAST_NOTES_run, "id", "0123456789abcdef0123456789abcdef");
}

static inline void change_label(roast_run *run)
{
    set_note(run, ROAST_NOTES_label, "login", "Authorization: Bearer one two");
}

static inline void change_document(roast_run *run)
{
    set_note(run, ROAST_NOTES_document, "report", "{\"token\": \"it is JSON\"}");
}

static inline void change_no_note(roast_run *run)
{
    set_note(run, ROAST_NOTES_document, "report", NULL);
}

static inline void change_fact(roast_run *run)
{
    roast_run_set_fact(run, ROAST_FACT_report_events, 1.0 / 3);
}

static inline void change_sum(roast_run *run)
{
    roast_run_add_fact(run, ROAST_FACT_own_cpu_seconds, -0.1);
}

static inline void change_offer(roast_run *run)
{
    assert_int_equal(roast_run_offer(run, EPOCH_0 - SECOND, 4, 8, NULL), ROAST_OK);
}

static inline void change_count(roast_run *run)
{
    assert_int_equal(roast_run_add_count(run, EPOCH_0 + SECOND, 3, NULL), ROAST_OK);
}

static inline void change_mark(roast_run *run)
{
    assert_int_equal(roast_run_mark(run, ROAST_MARK_RUN_BEGIN, MONO_0 + 5, NULL),
                     ROAST_OK);
}

static inline void change_loss(roast_run *run)
{
    roast_run_lose(run, ROAST_RUN_LOSS_spool_unreadable, 300);
}

static inline void change_finish(roast_run *run)
{
    roast_run_finish(run, MONO_0 + 100 * SECOND);
}

static inline void change_first_end(roast_run *run)
{
    change_end(run, 10);
}

static inline void change_sample(roast_run *run)
{
    add_sample(run, "tcp://host:1", 2, 1e9);
}

static inline void change_sample_again(roast_run *run)
{
    add_sample(run, "tcp://host:1", 3, 2e9);
}

typedef void change(roast_run *run);

/* Every change is some entries of the file. `needs`: the change that tells who is
 * 0: none does. */
static const struct {
    change *make;
    size_t needs;
} CHANGES[] = {
    {change_host, 0},
    {change_accept, 0},
    {change_name, 0},
    {change_id, 0},
    {change_label, 0},
    {change_document, 0},
    {change_no_note, 0},
    {change_fact, 0},
    {change_sum, 0},
    {change_offer, 0},
    {change_mark, 0},
    {change_begin, 0},
    {change_sample, 0},
    {change_sample_again, 12},
    {change_extreme_sample, 0},
    {change_process_use, 0},
    {change_process_use_again, 0},
    {change_parent, 0},
    {change_process, 0},
    {change_chunk, 0},
    {change_first_end, 0},
    {change_by_user, 0},
    {change_broken, 0},
    {change_count, 0},
    {change_loss, 0},
    {change_finish, 0},
};

enum { CHANGE_COUNT = COUNT_OF(CHANGES), ACCEPT_CHANGE = 1 };

static inline void make_changes(roast_run *run)
{
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        CHANGES[i].make(run);
}

static inline void change_member(roast_run *run)
{
    assert_int_equal(join_as(run, "tcp://u:secret@w:1", -3, 4, 99), ROAST_OK);
}

static inline void change_departure(roast_run *run)
{
    assert_int_equal(leave_as(run, "tcp://u:secret@w:1", 8, "token=secret went"),
                     ROAST_OK);
}

/* One without a name, a host and a reason. */
static inline void change_bare_session(roast_run *run)
{
    struct roast_member member = {.worker = roast_str_of(""), .joined_ns = second(2)};

    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
    leaves(run, "", 3);
}

static inline void change_task(roast_run *run)
{
    assert_int_equal(add_task(run, "process", "tcp://w:1", 7, ROAST_TASK_ok), ROAST_OK);
}

static inline void change_task_again(roast_run *run)
{
    assert_int_equal(add_task(run, "process", "tcp://w:1", 8, ROAST_TASK_lost),
                     ROAST_OK);
}

static inline void change_bare_task(roast_run *run)
{
    struct roast_task task = {.end = ROAST_TASK_running, .key_hash = UINT32_MAX};

    assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
}

static inline void change_task_frame(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, 70, 1);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, second(4));
    assert_int_equal(add_with_task(run, &record, "tcp://w:1", 8, NULL), ROAST_OK);
}

/* It came without its task before. */
static inline void change_link(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_END, 71, 1);
    (void)add_from(run, &record.rec, ROAST_FROM_WORKERS);
    assert_int_equal(add_with_task(run, &record, "tcp://w:1", 9, NULL), ROAST_OK);
    assert_int_equal(add_with_task(run, &record, "tcp://w:1", 9, NULL), ROAST_OK);
}

static inline void change_offset(roast_run *run)
{
    assert_int_equal(set_offset(run, "10.0.0.7", -12345), ROAST_OK);
    assert_int_equal(set_offset(run, "10.0.0.7", -12345), ROAST_OK);
}

static inline void change_activity(roast_run *run)
{
    assert_int_equal(set_activity(run, "process", "thread-cpu", 1.25), ROAST_OK);
}

static inline void change_bare_activity(roast_run *run)
{
    assert_int_equal(set_activity(run, NULL, "", -2), ROAST_OK);
}

static inline void change_hot_line(roast_run *run)
{
    assert_int_equal(add_hot_line(run, 12, "x = 'password: secret'", 2), ROAST_OK);
}

/* How many entries of the file each is. */
static const struct {
    void (*make)(roast_run *run);
    uint64_t entries;
} TASK_CHANGES[] = {
    {change_member, 1},     {change_departure, 1},  {change_bare_session, 2},
    {change_task, 1},       {change_task_again, 1}, {change_bare_task, 1},
    {change_task_frame, 1}, {change_link, 2},       {change_offset, 1},
    {change_activity, 1},   {change_activity, 1},   {change_bare_activity, 1},
    {change_hot_line, 1},   {change_hot_line, 1},
};

enum { TASK_CHANGE_COUNT = COUNT_OF(TASK_CHANGES) };

static inline void make_task_changes(roast_run *run)
{
    assert_int_equal(roast_run_accept(run, RUN_ID, NULL), ROAST_OK);
    for (size_t i = 0; i < TASK_CHANGE_COUNT; i++)
        TASK_CHANGES[i].make(run);
}

#endif
