/* SPDX-License-Identifier: BSD-3-Clause */
/* test_attempt_item.c - fields of the executor's item in the record of its chunk:
 * always the worker, other fields where the events lack them; and an attempt that began
 * before the call. */
#include "probe/ladder_help.h"
#include "stored_name.h"

enum { AGO_NS = 50000000 };

static const struct roast_attempt_item on_worker = {
    .dataset = {"TTbar", 5},
    .file = {"root://u:pass@host//f.root?authz=token", 38},
    .treename = {"Events", 6},
    .uuid = {"0a1b", 4},
    .worker = {"tcp://10.0.0.1:4567", 19},
    .has_entries = true,
    .entry_start = 100,
    .entry_stop = 350,
    .begun_ago_ns = AGO_NS,
};

/* The record of a chunk whose event fields are set by `describe`. */
static roast_record chunk_that(void (*describe)(roast_thread *thread))
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = begin_attempt(&on_worker);
    struct roast_str frame;

    roast_chunk_begin(thread, &options);
    describe(thread);
    roast_chunk_start(thread);
    roast_chunk_stop(thread);
    assert_int_equal(roast_chunk_finish(thread, &ended_ok, &frame, NULL), ROAST_OK);
    roast_record rec = decoded(frame);
    (void)end_attempt(thread, ended_ok);
    return rec;
}

static void set_no_fields(roast_thread *thread)
{
    roast_chunk_absent(thread, ROAST_FIELD_num_events, ROAST_WHY_NOT_GIVEN);
    roast_chunk_absent(thread, ROAST_FIELD_dataset, ROAST_WHY_NOT_GIVEN);
}

static void set_other_fields(roast_thread *thread)
{
    roast_record *rec = roast_chunk_record(thread);

    roast_record_set_str(rec, ROAST_FIELD_dataset, roast_str_of("other"));
    roast_record_set_u64(rec, ROAST_FIELD_entry_start, 7);
    roast_record_set_u64(rec, ROAST_FIELD_num_events, 3);
}

static void set_raised_fields(roast_thread *thread)
{
    roast_chunk_absent(thread, ROAST_FIELD_num_events, ROAST_WHY_RAISED);
}

static void a_chunk_takes_missing_fields_from_its_item(void **state)
{
    roast_record rec = chunk_that(set_no_fields);
    (void)state;

    assert_str_is(text(&rec, ROAST_FIELD_dataset), "TTbar");
    assert_str_is(text(&rec, ROAST_FIELD_file),
                  stored_name("root://u:pass@host//f.root?authz=token"));
    assert_str_is(text(&rec, ROAST_FIELD_treename), "Events");
    assert_str_is(text(&rec, ROAST_FIELD_uuid), "0a1b");
    assert_int_equal(number(&rec, ROAST_FIELD_entry_start), 100);
    assert_int_equal(number(&rec, ROAST_FIELD_entry_stop), 350);
    assert_int_equal(number(&rec, ROAST_FIELD_num_events), 250);
}

static void fields_of_the_events_are_kept(void **state)
{
    roast_record rec = chunk_that(set_other_fields);
    (void)state;

    assert_str_is(text(&rec, ROAST_FIELD_dataset), "other");
    assert_int_equal(number(&rec, ROAST_FIELD_entry_start), 7);
    assert_int_equal(number(&rec, ROAST_FIELD_num_events), 3);
}

static void events_without_a_length_are_not_counted(void **state)
{
    roast_record rec = chunk_that(set_raised_fields);
    (void)state;

    assert_false(roast_record_has(&rec, ROAST_FIELD_num_events));
}

static void every_chunk_and_a_failure_have_the_worker(void **state)
{
    roast_thread *thread = begin_attempt(&on_worker);
    (void)state;

    assert_true(add_attempt_chunk(thread, NULL));
    assert_true(add_attempt_chunk(thread, NULL));
    struct sent_frames sent = end_attempt(thread, ended_ok);
    for (int i = 0; i < 2; i++)
        assert_str_is(text(&sent.records[i], ROAST_FIELD_worker),
                      "tcp://10.0.0.1:4567");
    assert_false(roast_record_has(&sent.records[1], ROAST_FIELD_dataset));
    assert_false(roast_record_has(&sent.records[2], ROAST_FIELD_worker)); /* small */
    sent = end_attempt(begin_attempt(&on_worker), ended_failed);
    assert_str_is(text(&sent.records[0], ROAST_FIELD_worker), "tcp://10.0.0.1:4567");
    roast_record rec = end_chunk(begin_chunk()); /* of no attempt */
    assert_false(roast_record_has(&rec, ROAST_FIELD_worker));
}

static void what_was_before_the_call_is_part_of_the_attempt(void **state)
{
    roast_thread *thread = roast_thread_get(NULL);
    int64_t before_ns = roast__clock_epoch_ns();
    (void)state;

    roast_record begin = decoded(roast_attempt_begin(thread, NULL, &on_worker));
    int64_t begun_ns = begin.values[ROAST_FIELD_start_epoch_ns].i64;
    assert_true(begun_ns <= roast__clock_epoch_ns() - AGO_NS);
    assert_true(begun_ns >= before_ns - AGO_NS);
    roast_ladder_arm(thread, 0);
    struct sent_frames sent = end_attempt(thread, ended_ok);
    const roast_record *end = &sent.records[0];
    assert_true(number(end, ROAST_FIELD_task_ns) >= AGO_NS);
    struct roast_ladder ladder = whole_ladder(end);
    assert_true(value_of(&ladder, ROAST_ITEM_import) >= AGO_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_takes_missing_fields_from_its_item),
        cmocka_unit_test(fields_of_the_events_are_kept),
        cmocka_unit_test(events_without_a_length_are_not_counted),
        cmocka_unit_test(every_chunk_and_a_failure_have_the_worker),
        cmocka_unit_test(what_was_before_the_call_is_part_of_the_attempt),
    };
    return cmocka_run_group_tests_name("probe/attempt_item", tests, NULL, NULL);
}
