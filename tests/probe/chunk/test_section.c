/* SPDX-License-Identifier: BSD-3-Clause */
/* test_section.c - sections that are ended late, twice, out of order, on another thread
 * or not at all change only their own sum and are counted; and a failed chunk has the
 * section that the exception left. */
#include <pthread.h>
#include <time.h>

#include "probe/chunk/thread.h"
#include "probe/section_help.h"

static struct sections sections; /* large, so not on the stack */

static struct roast_section_token open_section(roast_thread *thread, const char *name)
{
    return roast_section_begin(thread, roast_str_of(name), ROAST_SECTION_TIME);
}

static roast_record fail_chunk(roast_thread *thread, const void *error_token)
{
    roast_chunk_stop(thread);
    return finish_chunk(thread, (struct roast_chunk_end){
                                    .status = ROAST_CHUNK_FAILED,
                                    .error_type = roast_str_of("ValueError"),
                                    .error_message = roast_str_of("no jets"),
                                    .error_token = error_token,
                                });
}

/* ---- what a section measures ------------------------------------------------- */

static void time_lies_between_the_clocks_around_it(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    int64_t outer_ns = roast_mono_ns();
    struct roast_section_token token = open_section(thread, "busy");
    int64_t inner_ns = roast_mono_ns();
    while (roast_mono_ns() - inner_ns < 2000000)
        ;
    inner_ns = roast_mono_ns() - inner_ns;
    roast_section_end(thread, token, 0);
    outer_ns = roast_mono_ns() - outer_ns;
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    uint64_t total_ns = SECTION(&sections, "busy")->total_ns;
    assert_true(total_ns >= (uint64_t)inner_ns && total_ns <= (uint64_t)outer_ns);
}

static void intervals_lie_inside_the_chunk_in_order_of_their_end(void **state)
{
    struct roast_interval all[ROAST_SECTION_MAX_INTERVALS];
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token outer = open_section(thread, "outer");
    pass(thread, "inner");
    roast_section_end(thread, outer, 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(roast_intervals_read(all, COUNT_OF(all),
                                          rec.values[ROAST_FIELD_intervals].str, NULL),
                     2);
    assert_int_equal(all[0].section, section_index(&sections, 0, "inner"));
    assert_int_equal(all[1].section, section_index(&sections, -1, "outer"));
    assert_true(all[0].start_ns >= all[1].start_ns);
    assert_true(all[0].start_ns + all[0].duration_ns <=
                all[1].start_ns + all[1].duration_ns);
    assert_true(all[1].start_ns + all[1].duration_ns <=
                rec.values[ROAST_FIELD_duration_ns].u64);
    assert_int_equal(all[1].duration_ns, SECTION(&sections, "outer")->total_ns);
}

/* track_time("read") and track_bytes("read") are two sections. */
static void each_kind_of_one_name_adds_up_for_itself(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    pass(thread, "read");
    for (uint64_t i = 1; i <= 2; i++) {
        struct roast_section_token token =
            roast_section_begin(thread, roast_str_of("read"), ROAST_SECTION_BYTES);
        roast_section_end(thread, token, i * 1000);
    }
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 2);
    assert_int_equal(sections.all[0].kinds, ROAST_SECTION_TIME);
    assert_int_equal(sections.all[0].count, 1);
    assert_int_equal(sections.all[0].bytes, 0);
    assert_int_equal(sections.all[1].kinds, ROAST_SECTION_BYTES);
    assert_int_equal(sections.all[1].count, 2);
    assert_int_equal(sections.all[1].bytes, 3000);
    assert_str_is(sections.all[1].name, "read");
}

static void unknown_bytes_are_absent(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token outer = open_section(thread, "outer");
    struct roast_section_token token =
        roast_section_begin(thread, roast_str_of("read"), ROAST_SECTION_BYTES);
    roast_section_end(thread, token, ROAST_UNKNOWN_BYTES);
    (void)roast_section_begin(thread, roast_str_of("open"), ROAST_SECTION_BYTES);
    roast_section_end(thread, outer, 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(SECTION(&sections, "outer")->bytes, 0);
    assert_int_equal(SECTION(&sections, "outer", "read")->count, 1);
    assert_int_equal(SECTION(&sections, "outer", "read")->kinds, 0);
    assert_int_equal(SECTION(&sections, "outer", "open")->count, 1);
    assert_int_equal(SECTION(&sections, "outer", "open")->kinds, 0);
}

/* ---- misuse ------------------------------------------------------------------ */

static void ending_the_outer_first_ends_the_inner_with_it(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token outer = open_section(thread, "outer");
    struct roast_section_token inner = open_section(thread, "inner");
    roast_section_end(thread, outer, 0);
    pass(thread, "next"); /* is not inside either of them */
    roast_section_end(thread, inner, 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 3);
    assert_int_equal(SECTION(&sections, "outer")->count, 1);
    assert_int_equal(SECTION(&sections, "outer", "inner")->count, 1);
    assert_int_equal(SECTION(&sections, "next")->count, 1);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_misuse), 2);
}

static void ending_twice_counts_one_pass(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token token = open_section(thread, "jets");
    roast_section_end(thread, token, 0);
    struct roast_section_token again = open_section(thread, "jets");
    roast_section_end(thread, token, 0); /* the same node, another pass */
    roast_section_end(thread, again, 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(SECTION(&sections, "jets")->count, 2);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_misuse), 1);
}

struct elsewhere {
    struct roast_section_token token;
    uint64_t misuses;
    size_t depth;
};

/* Ends a token of the test's thread while an own section is open. */
static void *end_elsewhere(void *context)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    const struct roast_chunk_end end = {.status = ROAST_CHUNK_OK};
    struct elsewhere *elsewhere = context;
    struct roast_str frame;
    roast_thread *thread = roast_thread_get(NULL);

    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    (void)open_section(thread, "its own");
    elsewhere->token.serial = thread->sections.serial; /* the serials are even equal */
    roast_section_end(thread, elsewhere->token, 0);
    elsewhere->misuses = thread->sections.losses[ROAST_LOSS_section_misuse];
    elsewhere->depth = thread->sections.depth;
    roast_chunk_stop(thread);
    (void)roast_chunk_finish(thread, &end, &frame, NULL);
    return NULL;
}

static void a_token_of_another_thread_ends_nothing(void **state)
{
    struct elsewhere elsewhere = {.depth = 0};
    roast_thread *thread = begin_chunk();
    pthread_t other;
    (void)state;

    struct roast_section_token token = open_section(thread, "jets");
    elsewhere.token = token;
    assert_int_equal(pthread_create(&other, NULL, end_elsewhere, &elsewhere), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(elsewhere.misuses, 1);
    assert_int_equal(elsewhere.depth, 1); /* its own is still open */
    roast_section_end(thread, token, 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(SECTION(&sections, "jets")->count, 1);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_misuse), 0);
}

static void a_section_ended_after_its_chunk_ends_nothing_in_the_next(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token old = open_section(thread, "jets");
    roast_record rec = end_chunk(thread);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_misuse), 1); /* left open */
    roast_section_end(thread, old, 0);
    thread = begin_chunk();
    struct roast_section_token young = open_section(thread, "jets");
    roast_section_end(thread, old, 0);
    roast_section_end(thread, young, 0);
    rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 1);
    assert_int_equal(SECTION(&sections, "jets")->count, 1);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_misuse), 1);
}

static void sections_left_open_end_with_the_work(void **state)
{
    const struct timespec moment = {0, 5000000};
    roast_thread *thread = begin_chunk();
    (void)state;

    (void)open_section(thread, "a");
    (void)open_section(thread, "b");
    (void)open_section(thread, "c");
    roast_chunk_stop(thread);
    (void)nanosleep(&moment, NULL); /* whatever the caller does before finish */
    roast_record rec =
        finish_chunk(thread, (struct roast_chunk_end){.status = ROAST_CHUNK_OK});
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 3);
    assert_int_equal(SECTION(&sections, "a", "b", "c")->count, 1);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_misuse), 3);
    assert_true(SECTION(&sections, "a")->total_ns <=
                rec.values[ROAST_FIELD_duration_ns].u64);
}

/* ---- failed chunks ----------------------------------------------------------- */

static void a_failed_chunk_names_the_innermost_section(void **state)
{
    static const int error;
    roast_thread *thread = begin_chunk();
    (void)state;

    pass(thread, "read");
    struct roast_section_token outer = open_section(thread, "jets");
    struct roast_section_token inner = open_section(thread, "clean");
    roast_section_failed(thread, &error);
    roast_section_end(thread, inner, 0);
    roast_section_failed(thread, &error); /* the same exception, propagating */
    roast_section_end(thread, outer, 0);
    roast_record rec = fail_chunk(thread, &error);
    assert_int_equal(rec.values[ROAST_FIELD_status].u64, ROAST_CHUNK_FAILED);
    assert_str_is(rec.values[ROAST_FIELD_error_type].str, "ValueError");
    assert_str_is(rec.values[ROAST_FIELD_error_message].str, "no jets");
    assert_str_is(rec.values[ROAST_FIELD_error_section].str, "jets/clean");
    assert_false(roast_record_has(&rec, ROAST_FIELD_losses));
}

static void an_exception_outside_of_sections_names_none(void **state)
{
    static const int handled, raised;
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token token = open_section(thread, "jets");
    roast_section_failed(thread, &handled);
    roast_section_end(thread, token, 0);
    roast_record rec = fail_chunk(thread, &raised);
    assert_false(roast_record_has(&rec, ROAST_FIELD_error_section));
    assert_str_is(rec.values[ROAST_FIELD_error_type].str, "ValueError");
}

/* Sections of a `finally:` run while the exception propagates. */
static void a_section_that_cleans_up_does_not_hide_where_it_failed(void **state)
{
    static const int error;
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token outer = open_section(thread, "jets");
    struct roast_section_token inner = open_section(thread, "clean");
    roast_section_failed(thread, &error);
    roast_section_end(thread, inner, 0);
    pass(thread, "close files");
    roast_section_failed(thread, &error);
    roast_section_end(thread, outer, 0);
    roast_record rec = fail_chunk(thread, &error);
    assert_str_is(rec.values[ROAST_FIELD_error_section].str, "jets/clean");
}

static void a_chunk_that_is_ok_has_no_error(void **state)
{
    static const int error;
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token token = open_section(thread, "jets");
    roast_section_failed(thread, &error); /* and was handled */
    roast_section_end(thread, token, 0);
    roast_record rec = end_chunk(thread);
    assert_int_equal(rec.values[ROAST_FIELD_status].u64, ROAST_CHUNK_OK);
    assert_false(roast_record_has(&rec, ROAST_FIELD_error_type));
    assert_false(roast_record_has(&rec, ROAST_FIELD_error_section));
}

static void a_long_path_is_cut_between_characters(void **state)
{
    static const int error;
    char name[ROAST_SECTION_MAX_NAME_BYTES];
    roast_thread *thread = begin_chunk();
    (void)state;

    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = i % 2 ? '\xa9' : '\xc3'; /* é, é, é ... */
    for (int i = 0; i < 4; i++)
        (void)roast_section_begin(thread, str_from(name, sizeof(name)),
                                  ROAST_SECTION_TIME);
    roast_section_failed(thread, &error);
    roast_record rec = fail_chunk(thread, &error);
    struct roast_str path = rec.values[ROAST_FIELD_error_section].str;
    assert_true(path.size_bytes > 500 &&
                path.size_bytes < ROAST_SECTION_TREE_ERROR_BYTES);
    assert_int_equal(path.size_bytes % 2, 0); /* two slashes, and whole characters */
    assert_int_equal(path.data[path.size_bytes - 1], '\xa9');
    assert_int_equal(loss_of(&rec, ROAST_LOSS_text_cut), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_lies_between_the_clocks_around_it),
        cmocka_unit_test(intervals_lie_inside_the_chunk_in_order_of_their_end),
        cmocka_unit_test(each_kind_of_one_name_adds_up_for_itself),
        cmocka_unit_test(unknown_bytes_are_absent),
        cmocka_unit_test(ending_the_outer_first_ends_the_inner_with_it),
        cmocka_unit_test(ending_twice_counts_one_pass),
        cmocka_unit_test(a_token_of_another_thread_ends_nothing),
        cmocka_unit_test(a_section_ended_after_its_chunk_ends_nothing_in_the_next),
        cmocka_unit_test(sections_left_open_end_with_the_work),
        cmocka_unit_test(a_failed_chunk_names_the_innermost_section),
        cmocka_unit_test(an_exception_outside_of_sections_names_none),
        cmocka_unit_test(a_section_that_cleans_up_does_not_hide_where_it_failed),
        cmocka_unit_test(a_chunk_that_is_ok_has_no_error),
        cmocka_unit_test(a_long_path_is_cut_between_characters),
    };
    return cmocka_run_group_tests_name("probe/section", tests, NULL, NULL);
}
