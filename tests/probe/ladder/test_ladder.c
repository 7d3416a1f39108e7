/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ladder.c - every nanosecond of an attempt belongs to one slice: the innermost
 * one that is entered, or the phase. Reads are tested in test_reads.c, attempts without
 * a ladder in test_ladder_off.c. */
#include "probe/ladder_help.h"
#include "probe/linux/usage.h"

/* ---- phases ------------------------------------------------------------------ */

static void an_attempt_goes_through_its_phases_once(void **state)
{
    static const enum roast_ladder_item phases[] = {
        ROAST_ITEM_import, ROAST_ITEM_form, ROAST_ITEM_compute, ROAST_ITEM_result};
    roast_thread *thread = begin_armed(0);
    (void)state;

    for (size_t i = 0; i < COUNT_OF(phases); i++) {
        roast_ladder_phase(thread, phases[i]);
        for (size_t earlier = 0; earlier <= i; earlier++) {
            roast_ladder_phase(thread, phases[earlier]);
            assert_int_equal(roast_ladder_phase_now(thread), phases[i]);
            assert_int_equal(current_slice(thread), phases[i]);
        }
    }
    (void)end_armed(thread);
}

static void only_a_phase_can_be_one(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_fetch);
    roast_ladder_phase(thread, ROAST_ITEM_unnamed);
    roast_ladder_phase(thread, ROAST_ITEM_gc_runs);
    assert_int_equal(roast_ladder_phase_now(thread), ROAST_ITEM_import);
    (void)end_armed(thread);
}

static void a_phase_may_be_left_out(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_compute);
    roast_ladder_phase(thread, ROAST_ITEM_form);
    assert_int_equal(roast_ladder_phase_now(thread), ROAST_ITEM_compute);
    struct roast_ladder ladder = end_armed(thread);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_form), 0);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_result), 0);
    assert_true(value_of(&ladder, ROAST_ITEM_compute) > 0);
}

/* Time before the hooks were in place is included. */
static void the_time_before_arming_belongs_to_the_first_phase(void **state)
{
    roast_thread *thread = begin_attempt(&armed_item);
    int64_t from_ns = roast__clock_mono_ns();
    (void)state;

    burn();
    int64_t burnt_ns = roast__clock_mono_ns() - from_ns;
    roast_ladder_arm(thread, 0);
    roast_ladder_phase(thread, ROAST_ITEM_form);
    struct roast_ladder ladder = end_armed(thread);
    assert_true(value_of(&ladder, ROAST_ITEM_import) >= (uint64_t)burnt_ns);
}

static void a_phase_that_begins_inside_a_slice_waits_for_its_end(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    unsigned token = roast_ladder_enter(thread, ROAST_ITEM_open);
    roast_ladder_phase(thread, ROAST_ITEM_form);
    assert_int_equal(roast_ladder_phase_now(thread), ROAST_ITEM_form);
    assert_int_equal(current_slice(thread), ROAST_ITEM_open);
    roast_ladder_leave(thread, token);
    assert_int_equal(current_slice(thread), ROAST_ITEM_form);
    (void)end_armed(thread);
}

/* ---- slices ------------------------------------------------------------------ */

/* Uses CPU in a slice; reads the clock directly inside and around it. */
struct interval {
    int64_t inner_ns;
    int64_t outer_ns;
};

static struct interval burn_in(roast_thread *thread, enum roast_ladder_item slice)
{
    int64_t outer_ns = roast__clock_mono_ns();
    unsigned token = roast_ladder_enter(thread, slice);
    int64_t inner_ns = roast__clock_mono_ns();

    burn();
    struct interval took = {roast__clock_mono_ns() - inner_ns, 0};
    roast_ladder_leave(thread, token);
    took.outer_ns = roast__clock_mono_ns() - outer_ns;
    return took;
}

static void each_slice_has_the_time_inside_it(void **state)
{
    struct interval took[ROAST_SLICE_COUNT];
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_form);
    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        took[i] = burn_in(thread, (enum roast_ladder_item)i);
    struct roast_ladder ladder = end_armed(thread);
    for (int i = 0; i < ROAST_SLICE_COUNT; i++) {
        if (i != ROAST_ITEM_import && i != ROAST_ITEM_form) /* may be longer */
            assert_between(ladder.values[i], took[i].inner_ns, took[i].outer_ns);
    }
}

static void the_innermost_slice_has_the_time(void **state)
{
    roast_thread *thread = begin_armed(0);
    int64_t from_ns = roast__clock_mono_ns();
    (void)state;

    unsigned outer = roast_ladder_enter(thread, ROAST_ITEM_open);
    assert_int_equal(current_slice(thread), ROAST_ITEM_open);
    struct interval inner = burn_in(thread, ROAST_ITEM_decompress);
    assert_int_equal(current_slice(thread), ROAST_ITEM_open);
    roast_ladder_leave(thread, outer);
    assert_int_equal(current_slice(thread), ROAST_ITEM_import);
    int64_t took_ns = roast__clock_mono_ns() - from_ns;
    struct roast_ladder ladder = end_armed(thread);
    assert_between(value_of(&ladder, ROAST_ITEM_decompress), inner.inner_ns,
                   inner.outer_ns);
    assert_true(value_of(&ladder, ROAST_ITEM_open) <=
                (uint64_t)(took_ns - inner.inner_ns)); /* not counted twice */
}

static void a_slice_inside_itself_is_one(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    unsigned outer = roast_ladder_enter(thread, ROAST_ITEM_import);
    unsigned inner = roast_ladder_enter(thread, ROAST_ITEM_import);
    assert_int_not_equal(outer, inner);
    roast_ladder_leave(thread, inner);
    assert_int_equal(current_slice(thread), ROAST_ITEM_import);
    roast_ladder_phase(thread, ROAST_ITEM_form);
    assert_int_equal(current_slice(thread), ROAST_ITEM_import);
    roast_ladder_leave(thread, outer);
    assert_int_equal(current_slice(thread), ROAST_ITEM_form);
    (void)end_armed(thread);
}

static void leaving_a_slice_leaves_all_inside_it(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    unsigned outer = roast_ladder_enter(thread, ROAST_ITEM_read_other);
    unsigned inner = roast_ladder_enter(thread, ROAST_ITEM_interpret);
    (void)roast_ladder_enter(thread, ROAST_ITEM_import);
    roast_ladder_leave(thread, outer);
    assert_int_equal(current_slice(thread), ROAST_ITEM_import); /* the phase */
    roast_ladder_phase(thread, ROAST_ITEM_form);
    assert_int_equal(current_slice(thread), ROAST_ITEM_form);
    roast_ladder_leave(thread, inner); /* too late */
    roast_ladder_leave(thread, outer); /* twice */
    assert_int_equal(current_slice(thread), ROAST_ITEM_form);
    (void)end_armed(thread);
}

/* A token identifies one entered slice. */
static void an_old_token_ends_nothing(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    unsigned old = roast_ladder_enter(thread, ROAST_ITEM_open);
    roast_ladder_leave(thread, old);
    unsigned own = roast_ladder_enter(thread, ROAST_ITEM_fetch);
    roast_ladder_leave(thread, old);
    roast_ladder_become(thread, old, ROAST_ITEM_write);
    assert_int_equal(current_slice(thread), ROAST_ITEM_fetch);
    (void)end_armed(thread);
    thread = begin_armed(0); /* and none of another attempt */
    (void)roast_ladder_enter(thread, ROAST_ITEM_form);
    roast_ladder_leave(thread, own);
    roast_ladder_leave(thread, 0);
    roast_ladder_leave(thread, UINT32_MAX);
    assert_int_equal(current_slice(thread), ROAST_ITEM_form);
    (void)end_armed(thread);
}

static void a_slice_may_become_another(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    unsigned outer = roast_ladder_enter(thread, ROAST_ITEM_fetch);
    unsigned inner = roast_ladder_enter(thread, ROAST_ITEM_read_other);
    roast_ladder_become(thread, inner, ROAST_ITEM_interpret);
    assert_int_equal(current_slice(thread), ROAST_ITEM_interpret);
    roast_ladder_become(thread, outer, ROAST_ITEM_form); /* the inner slice continues */
    assert_int_equal(current_slice(thread), ROAST_ITEM_interpret);
    roast_ladder_become(thread, inner, ROAST_ITEM_gc_runs); /* not a slice */
    assert_int_equal(current_slice(thread), ROAST_ITEM_interpret);
    roast_ladder_leave(thread, inner);
    assert_int_equal(current_slice(thread), ROAST_ITEM_form);
    struct roast_ladder ladder = end_armed(thread);
    assert_true(value_of(&ladder, ROAST_ITEM_fetch) > 0);
    assert_true(value_of(&ladder, ROAST_ITEM_interpret) > 0);
}

static void what_is_no_slice_is_not_entered(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    assert_int_equal(roast_ladder_enter(thread, ROAST_ITEM_runqueue), 0);
    assert_int_equal(current_slice(thread), ROAST_ITEM_import);
    (void)end_armed(thread);
}

static void too_deep_the_time_counts_for_the_enclosing_slice(void **state)
{
    enum { DEEPEST = 64 };
    unsigned tokens[DEEPEST];
    roast_thread *thread = begin_armed(0);
    (void)state;

    for (int i = 0; i < DEEPEST; i++) {
        tokens[i] =
            roast_ladder_enter(thread, i % 2 ? ROAST_ITEM_open : ROAST_ITEM_write);
        assert_int_not_equal(tokens[i], 0);
    }
    unsigned beyond = roast_ladder_enter(thread, ROAST_ITEM_compute);
    assert_int_equal(beyond, 0);
    assert_int_equal(current_slice(thread), ROAST_ITEM_open);
    roast_ladder_become(thread, beyond, ROAST_ITEM_compute);
    roast_ladder_leave(thread, beyond);
    assert_int_equal(current_slice(thread), ROAST_ITEM_open);
    for (int i = DEEPEST - 1; i > 0; i--) {
        roast_ladder_leave(thread, tokens[i]);
        assert_int_equal(current_slice(thread),
                         i % 2 ? ROAST_ITEM_write : ROAST_ITEM_open);
    }
    roast_ladder_leave(thread, tokens[0]);
    assert_int_equal(current_slice(thread), ROAST_ITEM_import);
    struct roast_ladder ladder = end_armed(thread);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_compute), 0);
}

/* An exception may leave any of them open. */
static void slices_that_are_open_at_the_end_end_there(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    (void)roast_ladder_enter(thread, ROAST_ITEM_open);
    (void)roast_ladder_enter(thread, ROAST_ITEM_fetch);
    struct sent_frames sent = end_attempt(thread, ended_failed);
    struct roast_ladder ladder = whole_ladder(&sent.records[sent.count - 1]);
    assert_true(value_of(&ladder, ROAST_ITEM_fetch) > 0);
    assert_true(roast_ladder_has(&ladder, ROAST_ITEM_fetch_cpu));
    assert_int_equal(current_slice(begin_armed(0)), ROAST_ITEM_import);
    (void)end_armed(thread);
}

/* ---- other items ------------------------------------------------------------- */

static void fetching_has_its_cpu_time(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    int64_t outer_ns = roast__clock_thread_ns();
    unsigned fetch = roast_ladder_enter(thread, ROAST_ITEM_fetch);
    int64_t inner_ns = roast__clock_thread_ns();
    burn();
    inner_ns = roast__clock_thread_ns() - inner_ns;
    unsigned again = roast_ladder_enter(thread, ROAST_ITEM_fetch);
    roast_ladder_leave(thread, again);
    unsigned unpack = roast_ladder_enter(thread, ROAST_ITEM_decompress);
    outer_ns = roast__clock_thread_ns() - outer_ns;
    burn(); /* not in fetch */
    int64_t last_ns = roast__clock_thread_ns();
    roast_ladder_leave(thread, unpack);
    roast_ladder_leave(thread, fetch);
    last_ns = roast__clock_thread_ns() - last_ns;
    struct roast_ladder ladder = end_armed(thread);
    assert_between(value_of(&ladder, ROAST_ITEM_fetch_cpu), inner_ns,
                   outer_ns + last_ns);
}

static void an_attempt_without_fetch_has_zero(void **state)
{
    struct roast_ladder ladder = end_armed(begin_armed(0));
    (void)state;

    assert_int_equal(value_of(&ladder, ROAST_ITEM_fetch), 0);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_fetch_cpu), 0);
}

static void the_run_queue_is_known_where_the_system_provides_it(void **state)
{
    struct roast_procfile file = {.root = NULL};
    struct roast_sched before = {0}, after = {0};
    (void)state;

    bool provided = roast__sched_read(&file, &before);
    roast_thread *thread = begin_armed(0);
    burn();
    struct roast_ladder ladder = end_armed(thread);
    assert_int_equal(roast_ladder_has(&ladder, ROAST_ITEM_runqueue), provided);
    if (provided) {
        assert_true(roast__sched_read(&file, &after));
        assert_true(value_of(&ladder, ROAST_ITEM_runqueue) <=
                    after.runqueue_ns - before.runqueue_ns);
    }
    roast__procfile_close(&file);
}

static void items_are_added_up(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_add(thread, ROAST_ITEM_gc_runs, 2);
    roast_ladder_add(thread, ROAST_ITEM_gc_runs, 3);
    roast_ladder_add(thread, ROAST_ITEM_open_bytes, 0);
    roast_ladder_add(thread, ROAST_ITEM_compute, 1000); /* the clock alone adds there */
    roast_ladder_add(thread, ROAST_ITEM_COUNT, 1000);
    struct roast_ladder ladder = end_armed(thread);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_gc_runs), 5);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_open_bytes), 0);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_compute), 0);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_column_bytes)); /* not known */
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_hooks_missing));
    ladder = end_armed(begin_armed(0));
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_gc_runs)); /* of the one before */
}

static void a_snapshot_changes_nothing(void **state)
{
    struct roast_ladder first, second;
    roast_thread *thread = begin_armed(0);
    (void)state;

    (void)roast_ladder_enter(thread, ROAST_ITEM_fetch);
    roast_ladder_snapshot(thread, &first);
    burn();
    roast_ladder_snapshot(thread, &second);
    assert_int_equal(current_slice(thread), ROAST_ITEM_fetch);
    struct roast_ladder last = end_armed(thread);
    assert_true(first.values[ROAST_ITEM_import] == last.values[ROAST_ITEM_import]);
    assert_true(sum_of_slices(&first) < sum_of_slices(&second));
    assert_true(sum_of_slices(&second) <= sum_of_slices(&last));
    roast_ladder_snapshot(thread, &first); /* it is over */
    assert_int_equal(first.present, 0);
}

/* ---- decorated chunks -------------------------------------------------------- */

static void a_chunk_is_the_phase_compute(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_form);
    roast_chunk_begin(thread, &(struct roast_chunk_options)ROAST_CHUNK_OPTIONS_INIT);
    assert_int_equal(roast_ladder_phase_now(thread), ROAST_ITEM_form);
    roast_chunk_start(thread);
    assert_int_equal(roast_ladder_phase_now(thread), ROAST_ITEM_compute);
    struct interval fetch = burn_in(thread, ROAST_ITEM_fetch);
    roast_chunk_stop(thread);
    assert_int_equal(roast_ladder_phase_now(thread), ROAST_ITEM_result);
    roast_record chunk = finish_chunk(thread, ended_ok);
    assert_true(add_attempt_chunk(thread, NULL)); /* a second one: changes nothing */
    assert_int_equal(roast_ladder_phase_now(thread), ROAST_ITEM_result);
    struct roast_ladder ladder = end_armed(thread);
    assert_between(value_of(&ladder, ROAST_ITEM_fetch), fetch.inner_ns, fetch.outer_ns);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_compute) +
                         value_of(&ladder, ROAST_ITEM_fetch),
                     number(&chunk, ROAST_FIELD_duration_ns)); /* one clock */
}

static void a_chunk_of_no_attempt_has_no_ladder(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    assert_false(roast_ladder_active(thread));
    (void)roast_attempt_begin(thread, NULL, &armed_item); /* is part of the chunk */
    roast_ladder_arm(thread, 0);
    assert_false(roast_ladder_active(thread));
    struct roast_str frames;
    assert_int_equal(attempt_end(thread, &ended_ok, &frames, NULL), ROAST_OK);
    roast_record rec = end_chunk(thread);
    assert_false(roast_record_has(&rec, ROAST_FIELD_ladder));
}

/* ---- missing hooks ----------------------------------------------------------- */

static void unknown_slices_are_absent(void **state)
{
    uint64_t missing = hook_bit(ROAST_HOOK_events) | hook_bit(ROAST_HOOK_gc);
    roast_thread *thread = begin_armed(missing);
    struct roast_ladder before;
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_form);
    burn();
    roast_ladder_snapshot(thread, &before);
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    roast_ladder_phase(thread, ROAST_ITEM_result);
    struct roast_ladder ladder = end_armed(thread);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_form));
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_compute));
    assert_true(value_of(&before, ROAST_ITEM_unnamed) > 0);
    assert_true(value_of(&ladder, ROAST_ITEM_unnamed) >
                before.values[ROAST_ITEM_unnamed]);
    assert_true(value_of(&ladder, ROAST_ITEM_import) > 0);
    assert_true(value_of(&ladder, ROAST_ITEM_result) > 0);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_hooks_missing), missing);
}

/* Hooks that cost too much are removed during an attempt. */
static void a_hook_may_be_taken_away_meanwhile(void **state)
{
    roast_thread *thread = begin_armed(hook_bit(ROAST_HOOK_gc));
    (void)state;

    (void)burn_in(thread, ROAST_ITEM_interpret);
    roast_ladder_add(thread, ROAST_ITEM_hooks_missing, hook_bit(ROAST_HOOK_submit));
    roast_ladder_add(thread, ROAST_ITEM_hooks_missing, hook_bit(ROAST_HOOK_submit));
    struct roast_ladder ladder = end_armed(thread);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_interpret));
    assert_int_equal(value_of(&ladder, ROAST_ITEM_hooks_missing),
                     hook_bit(ROAST_HOOK_gc) | hook_bit(ROAST_HOOK_submit));
}

static void without_fetch_there_is_no_cpu_time_of_it(void **state)
{
    roast_thread *thread = begin_armed(hook_bit(ROAST_HOOK_source));
    (void)state;

    (void)burn_in(thread, ROAST_ITEM_fetch);
    struct roast_ladder ladder = end_armed(thread);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_fetch));
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_fetch_cpu));
    assert_true(value_of(&ladder, ROAST_ITEM_unnamed) > 0);
}

static void all_hooks_may_be_missing_and_more(void **state)
{
    roast_thread *thread = begin_armed(UINT64_MAX);
    (void)state;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        (void)roast_ladder_enter(thread, (enum roast_ladder_item)i);
    struct roast_ladder ladder = end_armed(thread);
    for (int i = 0; i < ROAST_ITEM_unnamed; i++)
        assert_false(roast_ladder_has(&ladder, (enum roast_ladder_item)i));
    assert_true(value_of(&ladder, ROAST_ITEM_unnamed) > 0);
    assert_true(value_of(&ladder, ROAST_ITEM_hooks_missing) == UINT64_MAX);
}

static void all_slices_are_there_when_none_is_missing(void **state)
{
    struct roast_ladder ladder = end_armed(begin_armed(hook_bit(ROAST_HOOK_gc)));
    (void)state;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        assert_true(roast_ladder_has(&ladder, (enum roast_ladder_item)i));
    assert_int_equal(value_of(&ladder, ROAST_ITEM_unnamed), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_goes_through_its_phases_once),
        cmocka_unit_test(only_a_phase_can_be_one),
        cmocka_unit_test(a_phase_may_be_left_out),
        cmocka_unit_test(the_time_before_arming_belongs_to_the_first_phase),
        cmocka_unit_test(a_phase_that_begins_inside_a_slice_waits_for_its_end),
        cmocka_unit_test(each_slice_has_the_time_inside_it),
        cmocka_unit_test(the_innermost_slice_has_the_time),
        cmocka_unit_test(a_slice_inside_itself_is_one),
        cmocka_unit_test(leaving_a_slice_leaves_all_inside_it),
        cmocka_unit_test(an_old_token_ends_nothing),
        cmocka_unit_test(a_slice_may_become_another),
        cmocka_unit_test(what_is_no_slice_is_not_entered),
        cmocka_unit_test(too_deep_the_time_counts_for_the_enclosing_slice),
        cmocka_unit_test(slices_that_are_open_at_the_end_end_there),
        cmocka_unit_test(fetching_has_its_cpu_time),
        cmocka_unit_test(an_attempt_without_fetch_has_zero),
        cmocka_unit_test(the_run_queue_is_known_where_the_system_provides_it),
        cmocka_unit_test(items_are_added_up),
        cmocka_unit_test(a_snapshot_changes_nothing),
        cmocka_unit_test(a_chunk_is_the_phase_compute),
        cmocka_unit_test(a_chunk_of_no_attempt_has_no_ladder),
        cmocka_unit_test(unknown_slices_are_absent),
        cmocka_unit_test(a_hook_may_be_taken_away_meanwhile),
        cmocka_unit_test(without_fetch_there_is_no_cpu_time_of_it),
        cmocka_unit_test(all_hooks_may_be_missing_and_more),
        cmocka_unit_test(all_slices_are_there_when_none_is_missing),
    };
    return cmocka_run_group_tests_name("probe/ladder", tests, NULL, NULL);
}
