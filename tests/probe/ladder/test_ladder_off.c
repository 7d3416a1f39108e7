/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ladder_off.c - without a ladder: attempts that are not armed, other threads and
 * forked children. cmocka cannot fail there, so they return failures. */
#include <pthread.h>

#include "forks.h"
#include "probe/ladder_help.h"

/* Calls every function; returns the line of the first that had an effect. */
static int does_nothing(void *context)
{
    const struct roast_branch branch = {.bytes = 1};
    const struct roast_endpoint endpoint = {.name = {"h", 1}, .bytes = 1};
    const struct roast_file_facts facts = {.branches = 1};
    roast_thread *thread = context;
    struct roast_ladder ladder;

    MUST(!roast_ladder_active(thread));
    MUST(roast_ladder_enter(thread, ROAST_ITEM_open) == 0);
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    roast_ladder_become(thread, 129, ROAST_ITEM_open);
    roast_ladder_leave(thread, 129);
    roast_ladder_add(thread, ROAST_ITEM_gc_runs, 1);
    MUST(current_slice(thread) == ROAST_ITEM_unnamed);
    MUST(roast_ladder_phase_now(thread) == ROAST_ITEM_unnamed);
    MUST(roast_ladder_branch(thread, roast_str_of("pt")) < 0);
    roast_ladder_branch_add(thread, 0, &branch);
    MUST(!roast_ladder_branch_sized(thread, 0));
    roast_ladder_endpoint_add(thread, &endpoint);
    roast_ladder_file(thread, &facts, roast_str_of("blob"));
    roast_ladder_events(thread, 7);
    roast_ladder_snapshot(thread, &ladder);
    MUST(ladder.present == 0);
    return 0;
}

static void an_attempt_that_is_not_armed_has_no_ladder(void **state)
{
    roast_thread *thread = begin_attempt(&armed_item);
    (void)state;

    assert_int_equal(does_nothing(thread), 0);
    struct sent_frames sent = end_attempt(thread, ended_ok);
    assert_int_equal(sent.count, 1);
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_ladder));
    assert_int_equal(does_nothing(thread), 0); /* nor outside of one */
    roast_ladder_arm(thread, 0);
    assert_int_equal(does_nothing(thread), 0);
    assert_int_equal(does_nothing(NULL), 0);
}

static void an_attempt_may_be_disarmed(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_phase(thread, ROAST_ITEM_compute);
    roast_ladder_disarm(thread);
    assert_int_equal(does_nothing(thread), 0);
    roast_ladder_disarm(NULL);
    struct sent_frames sent = end_attempt(thread, ended_ok);
    assert_int_equal(sent.count, 1);
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_ladder));
}

static void an_attempt_after_an_armed_one_is_not_armed(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    (void)end_armed(thread);
    (void)begin_attempt(&armed_item);
    assert_int_equal(does_nothing(thread), 0);
    (void)end_attempt(thread, ended_ok);
}

static void an_attempt_inside_another_is_part_of_its_ladder(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_add(thread, ROAST_ITEM_gc_runs, 1);
    roast_ladder_phase(thread, ROAST_ITEM_form);
    assert_null(roast_attempt_begin(thread, NULL, &armed_item).data);
    roast_ladder_arm(thread, UINT64_MAX); /* is armed already */
    assert_int_equal(roast_ladder_phase_now(thread), ROAST_ITEM_form);
    struct roast_str frames;
    assert_int_equal(attempt_end(thread, &ended_ok, &frames, NULL), ROAST_OK);
    assert_true(roast_ladder_active(thread));
    struct roast_ladder ladder = end_armed(thread);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_gc_runs), 1);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_hooks_missing));
}

/* ---- threads and forks ------------------------------------------------------- */

static void *snapshot_from_another_thread(void *wrong)
{
    int line = does_nothing(roast_thread_current()); /* it has none yet */

    if (line == 0)
        line = does_nothing(roast_thread_get(NULL));
    *(int *)wrong = line;
    return NULL;
}

static void only_the_thread_of_the_attempt_has_its_ladder(void **state)
{
    roast_thread *thread = begin_armed(0);
    pthread_t other;
    int wrong = -1;
    (void)state;

    assert_int_equal(pthread_create(&other, NULL, snapshot_from_another_thread, &wrong),
                     0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(wrong, 0);
    struct roast_ladder ladder = end_armed(thread);
    assert_int_equal(value_of(&ladder, ROAST_ITEM_open), 0);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_gc_runs));
}

static int arms_its_own(void *thread)
{
    struct roast_str frames;
    struct sent_frames sent;
    int line = does_nothing(thread);

    MUST(!roast_attempt_packed(thread, 0).data);
    MUST(roast_attempt_begin(thread, NULL, &armed_item).data);
    MUST(!roast_ladder_active(thread)); /* the parent's was */
    roast_ladder_arm(thread, 0);
    MUST(current_slice(thread) == ROAST_ITEM_import);
    MUST(attempt_end(thread, &ended_ok, &frames, NULL) == ROAST_OK);
    MUST(read_sent(&sent, frames) && sent.count == 1);
    MUST(roast_record_has(&sent.records[0], ROAST_FIELD_ladder));
    return line;
}

static void a_forked_child_does_not_go_on_with_the_ladder(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    unsigned token = roast_ladder_enter(thread, ROAST_ITEM_fetch);
    assert_holds_in_child(does_nothing, thread);
    assert_holds_in_child(arms_its_own, thread);
    roast_ladder_leave(thread, token);
    assert_int_equal(current_slice(thread), ROAST_ITEM_import);
    (void)end_armed(thread);
    assert_holds_in_child(arms_its_own, thread); /* packing is the parent's too */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_that_is_not_armed_has_no_ladder),
        cmocka_unit_test(an_attempt_may_be_disarmed),
        cmocka_unit_test(an_attempt_after_an_armed_one_is_not_armed),
        cmocka_unit_test(an_attempt_inside_another_is_part_of_its_ladder),
        cmocka_unit_test(only_the_thread_of_the_attempt_has_its_ladder),
        cmocka_unit_test(a_forked_child_does_not_go_on_with_the_ladder),
    };
    return cmocka_run_group_tests_name("probe/ladder_off", tests, NULL, NULL);
}
