/* SPDX-License-Identifier: BSD-3-Clause */
/* test_merge.c - begin, chunk and end frames of an attempt become one row in any order;
 * and times on the timeline, by either clock. */
#include "runs.h"

static void make_begin(struct test_record *record, uint32_t sequence)
{
    init_record(record, ROAST_FRAME_BEGIN, 1, sequence);
    set_place(record, "ttbar", "a.root", 100, 200);
    roast_record_set_i64(&record->rec, ROAST_FIELD_start_epoch_ns,
                         EPOCH_0 + 9 * SECOND);
}

static void make_chunk(struct test_record *record, const char *host, uint32_t sequence)
{
    init_record(record, ROAST_FRAME_CHUNK, 1, sequence);
    set_file(record, "ttbar", "a.root", 100, 200);
    set_text(record, ROAST_FIELD_host, host);
    roast_record_set_u64(&record->rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    roast_record_set_u64(&record->rec, ROAST_FIELD_duration_ns, 3000);
    roast_record_set_i64(&record->rec, ROAST_FIELD_start_mono_ns, MONO_0 + 10 * SECOND);
    roast_record_set_i64(&record->rec, ROAST_FIELD_start_epoch_ns,
                         EPOCH_0 + 11 * SECOND);
}

static void make_end(struct test_record *record, uint32_t sequence)
{
    init_record(record, ROAST_FRAME_END, 1, sequence);
    roast_record_set_u64(&record->rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    roast_record_set_u64(&record->rec, ROAST_FIELD_duration_ns, 2999);
    roast_record_set_u64(&record->rec, ROAST_FIELD_pid, 77);
    roast_record_set_i64(&record->rec, ROAST_FIELD_task_start_mono_ns,
                         MONO_0 + 8 * SECOND);
    roast_record_set_u64(&record->rec, ROAST_FIELD_task_ns, (uint64_t)(4 * SECOND));
    roast_record_set_u64(&record->rec, ROAST_FIELD_task_cpu_ns, 55);
    roast_record_set_u64(&record->rec, ROAST_FIELD_process_cpu_ns, 1000 + sequence);
    roast_record_set_i64(&record->rec, ROAST_FIELD_end_epoch_ns, EPOCH_0 + 13 * SECOND);
}

/* ---- one row ----------------------------------------------------------------- */

static void add_part(roast_run *run, char part)
{
    struct test_record record;

    if (part == 'b')
        make_begin(&record, 1);
    else if (part == 'c')
        make_chunk(&record, "here", 1);
    else
        make_end(&record, 1);
    add(run, &record);
}

static void the_order_of_frames_does_not_matter(void **state)
{
    static const char *const orders[] = {"bce", "bec", "cbe", "ceb", "ebc", "ecb"};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        roast_run *run = new_run();
        for (const char *part = orders[i]; *part; part++)
            add_part(run, *part);
        roast__sources_resolve(&run->attempts, &run->names);
        assert_int_equal(run->attempts.count, 1);
        assert_int_equal(run->attempts.parts[0], 7);
        assert_int_equal(run->attempts.status[0], ROAST_CHUNK_OK);
        assert_cell(run, 0, start_ns, EPOCH_0 + 10 * SECOND);
        assert_cell(run, 0, duration_ns, 3000);
        assert_cell(run, 0, task_start_ns, EPOCH_0 + 8 * SECOND);
        assert_cell(run, 0, task_ns, 4 * SECOND);
        assert_cell(run, 0, task_cpu_ns, 55);
        assert_cell(run, 0, entry_start, 100);
        assert_cell(run, 0, entry_stop, 200);
        assert_int_equal(run->attempts.processes[0].pid, 77);
        assert_int_equal(run->attempts.processes[0].cpu_ns, 1001);
        const struct roast_source *source =
            &run->attempts.sources[run->attempts.source[0]];
        assert_str_is(roast__strings_get(&run->strings, source->file), "a.root");
        roast_run_free(run);
    }
}

static void an_attempt_failed_if_any_frame_failed(void **state)
{
    roast_run *run = new_run();
    struct roast_progress progress;
    struct test_record record;
    (void)state;

    for (uint32_t i = 1; i <= 2; i++) { /* process() succeeded, its result failed */
        struct test_record end;
        make_chunk(&record, "here", i);
        make_end(&end, i);
        roast_record_set_u64(&end.rec, ROAST_FIELD_status, ROAST_CHUNK_FAILED);
        set_text(&end, ROAST_FIELD_error_type, "PicklingError");
        add(run, i == 1 ? &record : &end);
        add(run, i == 1 ? &end : &record);
        assert_int_equal(run->attempts.status[i - 1], ROAST_CHUNK_FAILED);
        int64_t type =
            roast__column_get(column(run, ROAST_COLUMN_error_type), i - 1, -1);
        assert_str_is(roast__strings_get(&run->strings, (int32_t)type),
                      "PicklingError");
        unsigned char identity[ROAST_IDENTITY_BYTES];
        roast_record rec;
        assert_true(roast__attempt_record(run, i - 1, &rec, identity));
        rec.present &= ~(UINT64_C(1) << ROAST_FIELD_task_ns |
                         UINT64_C(1) << ROAST_FIELD_task_cpu_ns);
        assert_same_record(&rec, &record.rec); /* fields of the chunk frame are kept */
    }
    roast_run_progress(run, &progress);
    assert_int_equal(progress.failed, 2);
    assert_int_equal(progress.done, 0);
    roast_run_free(run);
}

static void a_failure_before_process_has_no_duration(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_CHUNK, 1, 1);
    set_file(&record, "ttbar", "gone.root", 0, 50);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_FAILED);
    set_text(&record, ROAST_FIELD_error_type, "OSError");
    set_text(&record, ROAST_FIELD_error_message, "no such file");
    add(run, &record);
    assert_int_equal(run->attempts.status[0], ROAST_CHUNK_FAILED);
    assert_no_cell(run, 0, duration_ns);
    assert_no_cell(run, 0, start_ns);
    roast_run_free(run);
}

static void an_unknown_status_is_ignored(void **state)
{
    static const uint64_t numbers[] = {0, 3, 258, UINT64_MAX};
    roast_run *run = new_run();
    (void)state;

    for (uint32_t i = 0; i < COUNT_OF(numbers); i++) {
        struct test_record record;
        init_record(&record, ROAST_FRAME_CHUNK, 1, i);
        roast_record_set_u64(&record.rec, ROAST_FIELD_status, numbers[i]);
        add(run, &record);
        assert_int_equal(run->attempts.status[i], 0);
    }
    roast_run_free(run);
}

static void numbers_too_large_for_a_column_are_not_in_it(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    make_chunk(&record, "here", 1);
    roast_record_set_u64(&record.rec, ROAST_FIELD_duration_ns, UINT64_C(1) << 63);
    add(run, &record);
    assert_no_cell(run, 0, duration_ns);
    make_end(&record, 1); /* a better clock decides */
    add(run, &record);
    assert_cell(run, 0, duration_ns, 2999);
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;
    assert_true(roast__attempt_record(run, 0, &rec, identity));
    assert_true(rec.values[ROAST_FIELD_duration_ns].u64 == UINT64_C(1) << 63);
    roast_run_free(run);
}

static void the_cpu_time_of_a_process_only_grows(void **state)
{
    roast_run *run = new_run();
    (void)state;

    for (uint32_t sequence = 3; sequence > 0; sequence--) { /* in reverse order */
        struct test_record record;
        make_end(&record, sequence);
        add(run, &record);
        assert_int_equal(run->attempts.processes[0].cpu_ns, 1003);
    }
    roast_run_free(run);
}

/* ---- the timeline ------------------------------------------------------------- */

static void other_hosts_go_by_the_realtime_clock(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    make_chunk(&record, "there", 1);
    add(run, &record);
    assert_cell(run, 0, start_ns, EPOCH_0 + 11 * SECOND);
    make_end(&record, 1); /* the host is known now */
    add(run, &record);
    assert_cell(run, 0, task_start_ns, EPOCH_0 + 9 * SECOND); /* 13 - 4 */
    roast_run_free(run);
}

static void without_a_host_both_clocks_must_agree(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    make_end(&record, 1); /* 8 + 4 is within 5 s of 13 */
    add(run, &record);
    assert_cell(run, 0, task_start_ns, EPOCH_0 + 8 * SECOND);
    make_end(&record, 2);
    roast_record_set_i64(&record.rec, ROAST_FIELD_end_epoch_ns, EPOCH_0 + 18 * SECOND);
    add(run, &record);
    assert_cell(run, 1, task_start_ns, EPOCH_0 + 14 * SECOND);
    make_end(&record, 3); /* no clock to compare with */
    record.rec.present &= ~(UINT64_C(1) << ROAST_FIELD_end_epoch_ns);
    add(run, &record);
    assert_no_cell(run, 2, task_start_ns);
    assert_cell(run, 2, task_ns, 4 * SECOND);
    roast_run_free(run);
}

static void a_monotonic_time_alone_is_no_time_elsewhere(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    make_chunk(&record, "there", 1);
    record.rec.present &= ~(UINT64_C(1) << ROAST_FIELD_start_epoch_ns);
    add(run, &record);
    assert_no_cell(run, 0, start_ns);
    roast_run_free(run);
}

static void impossible_times_do_not_overflow(void **state)
{
    static const int64_t times[] = {INT64_MIN, INT64_MAX, 0, -1};
    roast_run *run = new_run();
    uint32_t sequence = 0;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(times); i++) {
        for (size_t k = 0; k < COUNT_OF(times); k++) {
            struct test_record record;
            make_end(&record, ++sequence);
            roast_record_set_i64(&record.rec, ROAST_FIELD_task_start_mono_ns, times[i]);
            roast_record_set_i64(&record.rec, ROAST_FIELD_end_epoch_ns, times[k]);
            roast_record_set_u64(&record.rec, ROAST_FIELD_task_ns, INT64_MAX);
            add(run, &record);
            make_chunk(&record, k % 2 ? "here" : "there", sequence);
            roast_record_set_i64(&record.rec, ROAST_FIELD_start_mono_ns, times[i]);
            roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, times[k]);
            add(run, &record);
        }
    }
    roast_run_free(run);
}

/* ---- places ------------------------------------------------------------------ */

static const char *file_of(roast_run *run, size_t row, char out[64])
{
    roast__sources_resolve(&run->attempts, &run->names);
    int32_t source = run->attempts.source[row];
    struct roast_str text = roast__strings_get(
        &run->strings, source < 0 ? -1 : run->attempts.sources[source].file);

    memset(out, 0, 64);
    if (text.data)
        memcpy(out, text.data, text.size_bytes);
    return text.data ? out : NULL;
}

static void a_place_is_resolved_when_its_names_are_known(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    char text[64];
    (void)state;

    make_begin(&record, 1);
    add(run, &record);
    assert_null(file_of(run, 0, text));
    assert_int_equal(roast_run_add_name(run, roast_str_of("ttbar"), NULL), ROAST_OK);
    assert_int_equal(roast_run_add_name(run, roast_str_of("a.root"), NULL), ROAST_OK);
    assert_string_equal(file_of(run, 0, text), "a.root");
    roast_run_free(run);
}

static void a_place_becomes_the_source_of_its_records(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    char text[64];
    (void)state;

    make_begin(&record, 1); /* is lost */
    add(run, &record);
    make_chunk(&record, "here", 2); /* the same file, by name */
    set_text(&record, ROAST_FIELD_uuid, "some uuid");
    add(run, &record);
    assert_string_equal(file_of(run, 0, text), "a.root");
    assert_int_equal(run->attempts.source[0], run->attempts.source[1]);
    roast_run_free(run);
}

static void two_names_with_one_id_leave_a_place_unread(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    char text[64];
    (void)state;

    init_record(&record, ROAST_FRAME_BEGIN, 1, 1);
    set_place(&record, "ttbar", "file 51711", 0, 10);
    add(run, &record);
    (void)roast_run_add_name(run, roast_str_of("ttbar"), NULL);
    (void)roast_run_add_name(run, roast_str_of("file 51711"), NULL);
    assert_string_equal(file_of(run, 0, text), "file 51711");
    (void)roast_run_add_name(run, roast_str_of("file 202660"), NULL);
    assert_null(file_of(run, 0, text));
    roast_run_free(run);
}

static void names_are_learned_without_credentials(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    char text[64];
    (void)state;

    init_record(&record, ROAST_FRAME_BEGIN, 1, 1);
    set_place(&record, "ttbar", "root://***@host//a.root?***", 0, 10);
    add(run, &record);
    (void)roast_run_add_name(run, roast_str_of("root://me:pw@host//a.root?authz=x"),
                             NULL);
    assert_string_equal(file_of(run, 0, text), "root://***@host//a.root?***");
    roast_run_free(run);
}

static void a_place_without_names_or_entries_is_ignored(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_BEGIN, 1, 1);
    roast_record_set_str(&record.rec, ROAST_FIELD_place,
                         str_from(record.place, sizeof(record.place)));
    add(run, &record);
    assert_int_equal(run->attempts.source[0], -1);
    assert_no_cell(run, 0, entry_start);
    init_record(&record, ROAST_FRAME_BEGIN, 1, 2);
    set_text(&record, ROAST_FIELD_place, "too short");
    add(run, &record);
    assert_int_equal(run->attempts.source[1], -1);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_frames_does_not_matter),
        cmocka_unit_test(an_attempt_failed_if_any_frame_failed),
        cmocka_unit_test(a_failure_before_process_has_no_duration),
        cmocka_unit_test(an_unknown_status_is_ignored),
        cmocka_unit_test(numbers_too_large_for_a_column_are_not_in_it),
        cmocka_unit_test(the_cpu_time_of_a_process_only_grows),
        cmocka_unit_test(other_hosts_go_by_the_realtime_clock),
        cmocka_unit_test(without_a_host_both_clocks_must_agree),
        cmocka_unit_test(a_monotonic_time_alone_is_no_time_elsewhere),
        cmocka_unit_test(impossible_times_do_not_overflow),
        cmocka_unit_test(a_place_is_resolved_when_its_names_are_known),
        cmocka_unit_test(a_place_becomes_the_source_of_its_records),
        cmocka_unit_test(two_names_with_one_id_leave_a_place_unread),
        cmocka_unit_test(names_are_learned_without_credentials),
        cmocka_unit_test(a_place_without_names_or_entries_is_ignored),
    };
    return cmocka_run_group_tests_name("run/merge", tests, NULL, NULL);
}
