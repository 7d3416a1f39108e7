/* SPDX-License-Identifier: BSD-3-Clause */
/* test_attempt_record.c - the record of an attempt whose process() is not decorated,
 * and its end frame: its size limit, and the second one after packing. */
#include <unistd.h>

#include "probe/chunk/thread.h"
#include "probe/ladder_help.h"

/* ---- process() that is not decorated ----------------------------------------- */

static roast_record undecorated(const struct sent_frames *sent)
{
    assert_int_equal(sent->count, 2);
    assert_int_equal(sent->records[0].kind, ROAST_FRAME_CHUNK);
    assert_true(same_identity(&sent->records[0], &sent->records[1]));
    assert_int_equal(number(&sent->records[0], ROAST_FIELD_undecorated), 1);
    return sent->records[0];
}

static void its_times_are_those_from_compute_to_the_end(void **state)
{
    int64_t mono_ns[4], cpu_ns[4];
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_form);
    burn();
    int64_t epoch_ns = roast__clock_epoch_ns();
    mono_ns[0] = roast__clock_mono_ns();
    cpu_ns[0] = roast__clock_thread_ns();
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    mono_ns[1] = roast__clock_mono_ns();
    cpu_ns[1] = roast__clock_thread_ns();
    burn();
    roast_ladder_phase(thread, ROAST_ITEM_compute); /* already entered */
    cpu_ns[2] = roast__clock_thread_ns();
    mono_ns[2] = roast__clock_mono_ns();
    struct sent_frames sent = end_attempt(thread, ended_ok);
    mono_ns[3] = roast__clock_mono_ns();
    cpu_ns[3] = roast__clock_thread_ns();
    roast_record rec = undecorated(&sent);
    struct roast_ladder ladder = whole_ladder(&sent.records[1]);
    assert_between(number(&rec, ROAST_FIELD_duration_ns), mono_ns[2] - mono_ns[1],
                   mono_ns[3] - mono_ns[0]);
    assert_between(number(&rec, ROAST_FIELD_cpu_ns), cpu_ns[2] - cpu_ns[1],
                   cpu_ns[3] - cpu_ns[0]);
    assert_between(number(&rec, ROAST_FIELD_start_mono_ns), mono_ns[0], mono_ns[1]);
    assert_between(number(&rec, ROAST_FIELD_start_epoch_ns), epoch_ns,
                   roast__clock_epoch_ns());
    assert_true(value_of(&ladder, ROAST_ITEM_compute) ==
                number(&rec, ROAST_FIELD_duration_ns)); /* no slice was entered in it */
}

static void it_has_item_and_process(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_events(thread, 250);
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    struct sent_frames sent = end_attempt(thread, ended_ok);
    roast_record rec = undecorated(&sent);
    assert_int_equal(number(&rec, ROAST_FIELD_status), ROAST_CHUNK_OK);
    assert_str_is(text(&rec, ROAST_FIELD_dataset), "TTbar");
    assert_str_is(text(&rec, ROAST_FIELD_file), "f.root");
    assert_int_equal(number(&rec, ROAST_FIELD_entry_start), 100);
    assert_int_equal(number(&rec, ROAST_FIELD_entry_stop), 350);
    assert_int_equal(number(&rec, ROAST_FIELD_num_events), 250);
    assert_int_equal(number(&rec, ROAST_FIELD_pid), getpid());
    assert_int_equal(number(&rec, ROAST_FIELD_concurrency), 1);
    assert_false(roast_record_has(&rec, ROAST_FIELD_error_type));
    assert_false(roast_record_has(&rec, ROAST_FIELD_losses));
    assert_false(roast_record_has(&rec, ROAST_FIELD_sections));
    thread = begin_armed(0);
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    sent = end_attempt(thread, ended_ok);
    rec = undecorated(&sent);
    assert_false(roast_record_has(&rec, ROAST_FIELD_num_events)); /* not set */
}

static void memory_is_known_where_the_system_provides_it(void **state)
{
    static const enum roast_field fields[] = {ROAST_FIELD_rss_before_bytes,
                                              ROAST_FIELD_rss_after_bytes};
    roast_thread *thread = begin_armed(0);
    uint64_t rss_bytes;
    (void)state;

    bool reports_whole = roast_rss_now(thread, &rss_bytes);
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    struct sent_frames sent = end_attempt(thread, ended_ok);
    roast_record rec = undecorated(&sent);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        assert_int_equal(roast_record_has(&rec, fields[i]), reports_whole);
        if (reports_whole)
            assert_true(number(&rec, fields[i]) > 0);
        else
            assert_int_equal(why_absent(&rec, fields[i]), ROAST_WHY_NO_OS_SUPPORT);
    }
}

static void bytes_before_and_inside_process_are_separate(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_add(thread, ROAST_ITEM_open_bytes, 1);
    roast_ladder_add(thread, ROAST_ITEM_metadata_bytes, 10);
    roast_ladder_add(thread, ROAST_ITEM_column_bytes, 100);
    roast_ladder_add(thread, ROAST_ITEM_other_bytes, 1000);
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    roast_ladder_add(thread, ROAST_ITEM_column_bytes, 20000);
    roast_ladder_add(thread, ROAST_ITEM_other_bytes, 30000);
    struct sent_frames sent = end_attempt(thread, ended_ok);
    roast_record rec = undecorated(&sent);
    assert_int_equal(number(&rec, ROAST_FIELD_bytes_before), 1111);
    assert_int_equal(number(&rec, ROAST_FIELD_bytes_read), 50000);
    thread = begin_armed(hook_bit(ROAST_HOOK_source));
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    sent = end_attempt(thread, ended_ok);
    rec = undecorated(&sent);
    assert_false(roast_record_has(&rec, ROAST_FIELD_bytes_before)); /* not known */
    assert_false(roast_record_has(&rec, ROAST_FIELD_bytes_read));
}

static void a_process_that_raised_has_times_and_error(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_compute);
    struct sent_frames sent = end_attempt(thread, ended_failed);
    roast_record rec = undecorated(&sent);
    assert_int_equal(number(&rec, ROAST_FIELD_status), ROAST_CHUNK_FAILED);
    assert_str_is(text(&rec, ROAST_FIELD_error_type), "OSError");
    assert_str_is(text(&rec, ROAST_FIELD_error_message), "no such file");
    assert_true(number(&rec, ROAST_FIELD_duration_ns) <
                number(&sent.records[1], ROAST_FIELD_task_ns));
}

static void a_failure_before_process_has_no_times(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_form);
    struct sent_frames sent = end_attempt(thread, ended_failed);
    assert_int_equal(sent.count, 2);
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_undecorated));
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_duration_ns));
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_first_chunk));
    assert_int_equal(number(&sent.records[0], ROAST_FIELD_start_mono_ns),
                     number(&sent.records[1], ROAST_FIELD_task_start_mono_ns));
}

static void a_process_that_was_never_seen_has_no_record(void **state)
{
    struct sent_frames sent = end_attempt(begin_armed(0), ended_ok);
    (void)state;

    assert_int_equal(sent.count, 1);
    assert_true(roast_record_has(&sent.records[0], ROAST_FIELD_ladder));
}

static void a_decorated_process_has_one_record(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_compute);
    assert_true(add_attempt_chunk(thread, NULL));
    struct sent_frames sent = end_attempt(thread, ended_ok);
    assert_int_equal(sent.count, 2);
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_undecorated));
}

/* Must run first: only the first record of a process has its facts. */
static void the_first_record_of_a_process_describes_it(void **state)
{
    (void)state;

    for (int i = 0; i < 2; i++) {
        roast_thread *thread = begin_armed(0);
        roast_ladder_phase(thread, ROAST_ITEM_compute);
        struct sent_frames sent = end_attempt(thread, ended_ok);
        roast_record rec = undecorated(&sent);
        assert_int_equal(roast_record_has(&rec, ROAST_FIELD_first_chunk), i == 0);
        assert_int_equal(roast_record_has(&rec, ROAST_FIELD_process), i == 0);
    }
}

/* ---- end frames that are small enough ---------------------------------------- */

static struct roast_chunk_end longest_end(enum roast_chunk_status status)
{
    return (struct roast_chunk_end){
        .status = status,
        .error_type = long_text(),
        .error_message = long_text(),
        .monitor_errors = UINT64_MAX,
        .monitor_first_error = long_text(),
    };
}

static size_t size_of_last(struct roast_str frames)
{
    roast_record rec;
    size_t used = 0;

    for (size_t at = 0; at < frames.size_bytes; at += used)
        assert_int_equal(
            roast_record_decode(
                &rec, &used, str_from(frames.data + at, frames.size_bytes - at), NULL),
            ROAST_OK);
    return used;
}

/* Every item except slices at its maximum: they do not all fit. */
static void add_largest(roast_thread *thread, uint64_t value)
{
    for (int i = ROAST_SLICE_COUNT; i < ROAST_ITEM_COUNT; i++) {
        enum roast_ladder_item item = (enum roast_ladder_item)i;
        if (item != ROAST_ITEM_runqueue && item != ROAST_ITEM_fetch_cpu &&
            item != ROAST_ITEM_hooks_missing)
            roast_ladder_add(thread, item, value);
    }
}

static struct sent_frames end_small(roast_thread *thread, struct roast_chunk_end end)
{
    struct roast_str frames;
    struct sent_frames sent;

    assert_int_equal(attempt_end(thread, &end, &frames, NULL), ROAST_OK);
    assert_in_range(size_of_last(frames), 1, ROAST_END_MAX_BYTES);
    assert_true(read_sent(&sent, frames));
    return sent;
}

static roast_record packed(roast_thread *thread)
{
    struct roast_str end = roast_attempt_packed(thread, 123456789);

    assert_in_range(end.size_bytes, 1, ROAST_END_MAX_BYTES);
    roast_record rec = decoded(end);
    assert_int_equal(number(&rec, ROAST_FIELD_output_bytes), 123456789);
    return rec;
}

/* This many slices get nine years each: the times of a test are too short. */
static void lengthen(roast_thread *thread, int slices)
{
    const int64_t years_ns = INT64_C(1) << 58;

    for (int i = 0; i < slices; i++) {
        thread->attempt.ladder.sums.values[i] += (uint64_t)years_ns;
        thread->attempt.start_mono_ns -= years_ns;
        thread->attempt.start_cpu_ns -= years_ns;
    }
}

static void assert_has_all_slices(const struct roast_ladder *ladder)
{
    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        assert_true(roast_ladder_has(ladder, (enum roast_ladder_item)i));
}

static void texts_give_way_to_the_ladder(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    lengthen(thread, 2);
    struct sent_frames sent = end_small(thread, longest_end(ROAST_CHUNK_FAILED));
    const roast_record *end = &sent.records[sent.count - 1];
    (void)whole_ladder(end);
    struct roast_str first = text(end, ROAST_FIELD_monitor_first_error);
    assert_in_range(first.size_bytes, 3, 45);
    assert_int_equal(first.size_bytes % 3, 0); /* whole characters */
    assert_int_equal(text(end, ROAST_FIELD_error_type).size_bytes, 63);
    lengthen(begin_armed(0), ROAST_SLICE_COUNT);
    sent = end_small(thread, longest_end(ROAST_CHUNK_FAILED));
    end = &sent.records[sent.count - 1];
    struct roast_ladder ladder = whole_ladder(end);
    assert_has_all_slices(&ladder);
    assert_false(roast_record_has(end, ROAST_FIELD_monitor_first_error));
    assert_true(number(end, ROAST_FIELD_monitor_errors) == UINT64_MAX);
    assert_int_equal(text(&sent.records[0], ROAST_FIELD_error_type).size_bytes, 126);
}

static void items_give_way_to_the_slices(void **state)
{
    roast_thread *thread = begin_armed(hook_bit(ROAST_HOOK_gc));
    (void)state;

    add_largest(thread, UINT64_MAX);
    lengthen(thread, 4);
    struct sent_frames sent = end_small(thread, longest_end(ROAST_CHUNK_OK));
    struct roast_ladder ladder = whole_ladder(&sent.records[0]);
    assert_has_all_slices(&ladder);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_hook_calls));
    assert_true(roast_ladder_has(&ladder, ROAST_ITEM_column_bytes));
    assert_true(roast_ladder_has(&ladder, ROAST_ITEM_hooks_missing));
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_monitor_first_error));
}

static void the_slices_fit_whatever_they_are(void **state)
{
    roast_thread *thread = begin_armed(hook_bit(ROAST_HOOK_gc));
    (void)state;

    add_largest(thread, UINT64_MAX);
    lengthen(thread, ROAST_SLICE_COUNT);
    struct sent_frames sent = end_small(thread, longest_end(ROAST_CHUNK_OK));
    struct roast_ladder ladder = whole_ladder(&sent.records[0]);
    assert_has_all_slices(&ladder);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_open_bytes));
    roast_record again = packed(thread);
    ladder = whole_ladder(&again);
    assert_has_all_slices(&ladder);
}

/* More than the largest time. */
static void an_end_frame_has_all_slices_or_no_ladder(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        thread->attempt.ladder.sums.values[i] = UINT64_MAX;
    lengthen(thread, ROAST_SLICE_COUNT);
    struct sent_frames sent = end_small(thread, longest_end(ROAST_CHUNK_OK));
    assert_int_equal(sent.records[0].kind, ROAST_FRAME_END);
    if (roast_record_has(&sent.records[0], ROAST_FIELD_ladder)) {
        struct roast_ladder ladder = ladder_in(&sent.records[0]);
        assert_has_all_slices(&ladder);
    }
}

static void an_attempt_as_they_are_loses_nothing(void **state)
{
    roast_thread *thread = begin_armed(hook_bit(ROAST_HOOK_gc));
    struct roast_chunk_end end = ended_ok;
    (void)state;

    add_largest(thread, 10000000);
    end.monitor_errors = 1;
    end.monitor_first_error = roast_str_of("spool: no");
    struct sent_frames sent = end_small(thread, end);
    struct roast_ladder ladder = whole_ladder(&sent.records[0]);
    assert_str_is(text(&sent.records[0], ROAST_FIELD_monitor_first_error), "spool: no");
    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        enum roast_ladder_item item = (enum roast_ladder_item)i;
        if (item != ROAST_ITEM_runqueue) /* not on every system */
            assert_true(roast_ladder_has(&ladder, item));
    }
}

/* ---- packing ----------------------------------------------------------------- */

static void assert_not_packed(roast_thread *thread)
{
    assert_null(roast_attempt_packed(thread, 0).data);
}

static void packing_is_part_of_the_result(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    (void)roast_ladder_enter(thread, ROAST_ITEM_open); /* left open */
    roast_ladder_add(thread, ROAST_ITEM_gc_runs, 3);
    struct sent_frames sent = end_attempt(thread, ended_ok);
    roast_record end = sent.records[0];
    int64_t burnt_ns = roast__clock_mono_ns();
    int64_t burnt_cpu_ns = roast__clock_thread_ns();
    burn();
    burnt_cpu_ns = roast__clock_thread_ns() - burnt_cpu_ns;
    burnt_ns = roast__clock_mono_ns() - burnt_ns;
    struct roast_ladder before = whole_ladder(&end);
    uint64_t task_ns = number(&end, ROAST_FIELD_task_ns);
    uint64_t task_cpu_ns = number(&end, ROAST_FIELD_task_cpu_ns);
    roast_record again = packed(thread);
    struct roast_ladder after = whole_ladder(&again);
    assert_int_equal(again.kind, ROAST_FRAME_END);
    assert_true(same_identity(&end, &again));
    assert_int_equal(number(&again, ROAST_FIELD_status), ROAST_CHUNK_OK);
    assert_true(
        str_equal(text(&again, ROAST_FIELD_place), text(&end, ROAST_FIELD_place)));
    uint64_t packing_ns = number(&again, ROAST_FIELD_task_ns) - task_ns;
    assert_true(packing_ns >= (uint64_t)burnt_ns);
    assert_true(number(&again, ROAST_FIELD_task_cpu_ns) - task_cpu_ns >=
                (uint64_t)burnt_cpu_ns);
    assert_true(number(&again, ROAST_FIELD_process_cpu_ns) >
                number(&end, ROAST_FIELD_process_cpu_ns));
    assert_true(number(&again, ROAST_FIELD_task_process_cpu_ns) >=
                number(&end, ROAST_FIELD_task_process_cpu_ns) + (uint64_t)burnt_cpu_ns);
    assert_false(roast_record_has(&end, ROAST_FIELD_output_bytes));
    assert_true(again.values[ROAST_FIELD_end_epoch_ns].i64 >=
                end.values[ROAST_FIELD_end_epoch_ns].i64);
    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        assert_true(after.values[i] ==
                    before.values[i] + (i == ROAST_ITEM_result ? packing_ns : 0));
    assert_int_equal(value_of(&after, ROAST_ITEM_gc_runs), 3);
}

static void what_is_packed_keeps_the_errors_of_the_monitor(void **state)
{
    roast_thread *thread = begin_armed(0);
    struct roast_chunk_end end = ended_ok;
    (void)state;

    end.monitor_errors = 2;
    end.monitor_first_error = roast_str_of("spool");
    (void)end_attempt(thread, end);
    roast_record again = packed(thread);
    assert_int_equal(number(&again, ROAST_FIELD_monitor_errors), 2);
    assert_str_is(text(&again, ROAST_FIELD_monitor_first_error), "spool");
}

static void packing_is_sent_once(void **state)
{
    roast_thread *thread = roast_thread_get(NULL);
    (void)state;

    assert_not_packed(begin_armed(0)); /* it runs */
    (void)end_armed(thread);
    (void)packed(thread);
    assert_not_packed(thread);
}

static void nothing_is_packed_of_other_attempts(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    (void)end_attempt(thread, ended_failed);
    assert_not_packed(thread);
    (void)end_attempt(begin_attempt(&armed_item), ended_ok); /* not armed */
    assert_not_packed(thread);
    (void)end_armed(begin_armed(0));
    (void)begin_attempt(&armed_item); /* the one before it was replaced */
    assert_not_packed(thread);
    (void)end_attempt(thread, ended_ok);
    assert_not_packed(thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_record_of_a_process_describes_it),
        cmocka_unit_test(its_times_are_those_from_compute_to_the_end),
        cmocka_unit_test(it_has_item_and_process),
        cmocka_unit_test(memory_is_known_where_the_system_provides_it),
        cmocka_unit_test(bytes_before_and_inside_process_are_separate),
        cmocka_unit_test(a_process_that_raised_has_times_and_error),
        cmocka_unit_test(a_failure_before_process_has_no_times),
        cmocka_unit_test(a_process_that_was_never_seen_has_no_record),
        cmocka_unit_test(a_decorated_process_has_one_record),
        cmocka_unit_test(texts_give_way_to_the_ladder),
        cmocka_unit_test(items_give_way_to_the_slices),
        cmocka_unit_test(the_slices_fit_whatever_they_are),
        cmocka_unit_test(an_end_frame_has_all_slices_or_no_ladder),
        cmocka_unit_test(an_attempt_as_they_are_loses_nothing),
        cmocka_unit_test(packing_is_part_of_the_result),
        cmocka_unit_test(what_is_packed_keeps_the_errors_of_the_monitor),
        cmocka_unit_test(packing_is_sent_once),
        cmocka_unit_test(nothing_is_packed_of_other_attempts),
    };
    return cmocka_run_group_tests_name("probe/attempt_record", tests, NULL, NULL);
}
