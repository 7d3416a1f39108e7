/* SPDX-License-Identifier: BSD-3-Clause */
/* test_dask_batch_bad.c - invalid bytes and lack of memory are harmless: invalid items
 * are skipped and counted, refused items are passed again. */
#include <math.h>

#include "dask_batch_help.h"
#include "heap.h"

/* ---- invalid items ----------------------------------------------------------- */

typedef void bad_item(struct roast_buf *batch);

static void sample_without_tick(struct roast_buf *batch)
{
    put_sample(batch, 0, 1);
}

static void sample_of_unknown_worker(struct roast_buf *batch)
{
    put_tick(batch, T0);
    put_sample(batch, 1, 1);
}

static void sample_of_later_series(struct roast_buf *batch)
{
    put_tick(batch, T0);
    put_sample(batch, 0, UINT32_C(1) << 31);
}

static void tick_of_no_time(struct roast_buf *batch)
{
    put_tick(batch, (double)NAN);
}

/* The number is larger than the bytes read so far allow. */
static void worker_far_out_of_turn(struct roast_buf *batch)
{
    put_worker(batch, 99, "x");
}

static void worker_renamed(struct roast_buf *batch)
{
    put_worker(batch, 0, "x");
}

static void worker_without_name(struct roast_buf *batch)
{
    put_worker(batch, 1, "");
}

static void name_too_long(struct roast_buf *batch)
{
    char name[1026] = {0};

    memset(name, 'x', sizeof(name) - 1);
    put_worker(batch, 1, name);
}

static void prefix_far_out_of_turn(struct roast_buf *batch)
{
    put_prefix(batch, 99, "x");
}

static void joined_by_unknown_worker(struct roast_buf *batch)
{
    put_joined(batch, 1, 0, "h");
}

static void left_by_unknown_worker(struct roast_buf *batch)
{
    put_left(batch, 1, 0, "");
}

static void left_in_two_ways(struct roast_buf *batch)
{
    put_left(batch, 0, 2, "");
}

static void task_of_no_prefix(struct roast_buf *batch)
{
    put_task(batch, 0, ROAST_TASK_ok, T0);
}

static void task_without_end(struct roast_buf *batch)
{
    put_prefix(batch, 0, "p");
    put_task(batch, 0, 128, T0);
}

static void task_with_later_end(struct roast_buf *batch)
{
    put_prefix(batch, 0, "p");
    put_task(batch, 0, ROAST_TASK_END_LAST, T0);
}

static void task_of_unknown_worker(struct roast_buf *batch)
{
    put_prefix(batch, 0, "p");
    put_task(batch, 1, ROAST_TASK_ok, T0);
}

static void frames_of_unknown_worker(struct roast_buf *batch)
{
    put_frames(batch, 9, "x");
}

static void frames_without_end(struct roast_buf *batch)
{
    put(batch, FRAMES, 0u, 0u, UINT32_MAX);
    put_uint(batch, 0, 8);
}

static void delay_of_unknown_worker(struct roast_buf *batch)
{
    put_delay(batch, UINT32_MAX, 0);
}

static void no_kind(struct roast_buf *batch)
{
    put_uint(batch, 0, 1);
}

static void later_kind(struct roast_buf *batch)
{
    put_uint(batch, 11, 8);
}

static struct roast_dask_reader_state read_around(bad_item *bad, size_t facts)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};

    put_worker(&batch, 0, "w");
    put_joined(&batch, 0, 0, "h");
    bad(&batch);
    put_left(&batch, 0, 1, "behind it");
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_BAD_DATA);
    assert_int_equal(notes.facts, facts);
    put_left(&batch, 0, 1, "still reads");
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    assert_int_equal(notes.facts, facts + 1);
    struct roast_dask_reader_state seen = roast__dask_reader_state(reader);
    roast__dask_reader_free(reader);
    return seen;
}

static void what_makes_no_sense_is_passed_over(void **state)
{
    static bad_item *const bad[] = {
        sample_without_tick,      sample_of_unknown_worker,
        sample_of_later_series,   tick_of_no_time,
        worker_far_out_of_turn,   worker_renamed,
        worker_without_name,      name_too_long,
        prefix_far_out_of_turn,   joined_by_unknown_worker,
        left_by_unknown_worker,   left_in_two_ways,
        task_of_no_prefix,        task_without_end,
        task_with_later_end,      task_of_unknown_worker,
        frames_of_unknown_worker, delay_of_unknown_worker,
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(read_around(bad[i], 2).unread, 1);
}

static void what_has_no_length_ends_a_batch(void **state)
{
    static bad_item *const bad[] = {frames_without_end, no_kind, later_kind};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(read_around(bad[i], 1).unread, 1);
}

/* Their batch could not be read; later workers have higher numbers. */
static void names_that_were_lost_leave_a_gap(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};
    (void)state;

    no_kind(&batch);
    for (unsigned i = 0; i < 4; i++) {
        put_worker(&batch, i, "lost");
        put_prefix(&batch, i, "lost");
    }
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_BAD_DATA);
    put_worker(&batch, 4, "w4");
    put_prefix(&batch, 4, "p4");
    put_left(&batch, 4, 1, "");
    put_left(&batch, 2, 1, "");
    put(&batch, TASK, 1u, 4u, 4u, (unsigned)ROAST_TASK_ok, T0, T0, T0);
    put(&batch, TASK, 2u, 3u, 1u, (unsigned)ROAST_TASK_ok, T0, T0, T0);
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    assert_string_equal(notes.lines, "left w4 9 expected -\n"
                                     "left ? 9 expected -\n"
                                     "task p4 w4 1 foreign 1 0 0 0\n"
                                     "task ? ? 2 foreign 1 0 0 0\n");
    assert_int_equal(roast__dask_reader_state(reader).workers, 5);
    assert_int_equal(roast__dask_reader_state(reader).unread, 1);
    roast__dask_reader_free(reader);
}

static void an_error_names_its_place(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};
    struct roast_dask_sink sink = sink_of(&notes);
    roast_error err = {0};
    (void)state;

    put_worker(&batch, 0, "w");
    put_left(&batch, 5, 0, "");
    struct roast_str bytes = str_from(batch.data, batch.size_bytes);
    assert_int_equal(roast__dask_reader_read(reader, bytes, &sink, &err),
                     ROAST_BAD_DATA);
    assert_string_equal(err.message, "item left of a batch, at byte 8 of 24");
    roast__buf_release(&batch);
    roast__dask_reader_free(reader);
}

/* Every fact is written once, whenever and however often the sink refuses it. */
static void a_batch_goes_on_where_the_sink_ended_it(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};
    struct roast_dask_sink sink = sink_of(&notes);
    char lines[sizeof(notes.lines)] = "";
    (void)state;

    put_everything(&batch);
    put_left(&batch, 99, 0, "unknown");
    struct roast_str bytes = str_from(batch.data, batch.size_bytes);
    for (size_t end = 0; end < 7; end++) {
        notes = (struct notes){.refuses = ROAST_NO_MEMORY};
        assert_int_equal(roast__dask_reader_read(reader, bytes, &sink, NULL),
                         ROAST_NO_MEMORY);
        assert_int_equal(notes.facts, 1);
        notes = (struct notes){.refuses = ROAST_NO_MEMORY, .takes = 1};
        int status = roast__dask_reader_read(reader, bytes, &sink, NULL);
        assert_int_equal(status, end < 6 ? ROAST_NO_MEMORY : ROAST_OK);
        strncat(lines, notes.lines, strcspn(notes.lines, "\n") + 1);
    }
    assert_int_equal(roast__dask_reader_state(reader).unread, 1);
    roast__dask_reader_free(reader);
    reader = new_reader();
    notes = (struct notes){0};
    assert_int_equal(roast__dask_reader_read(reader, bytes, &sink, NULL),
                     ROAST_BAD_DATA);
    assert_string_equal(lines, notes.lines);
    roast__buf_release(&batch);
    roast__dask_reader_free(reader);
}

static void another_batch_begins_at_its_front(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {.refuses = ROAST_LIMIT};
    (void)state;

    put_everything(&batch);
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_LIMIT);
    assert_int_equal(notes.facts, 1);
    notes = (struct notes){0};
    put_left(&batch, 0, 1, "another");
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    assert_string_equal(notes.lines, "left tcp://a:1 9 expected another\n");
    roast__dask_reader_free(reader);
}

static void a_batch_may_be_cut_at_every_byte(void **state)
{
    struct roast_buf batch = {0};
    size_t whole = 0;
    (void)state;

    put_everything(&batch);
    for (size_t size = 0; size <= batch.size_bytes; size++) {
        struct roast_dask_reader *reader = new_reader();
        struct notes notes = {0};
        struct roast_dask_sink sink = sink_of(&notes);
        char *tight = tight_copy(batch.data, size);
        int status =
            roast__dask_reader_read(reader, str_from(tight, size), &sink, NULL);
        assert_true(status == ROAST_OK || status == ROAST_BAD_DATA);
        whole += status == ROAST_OK;
        free(tight);
        roast__dask_reader_free(reader);
    }
    assert_int_equal(whole, 13); /* before, between and after twelve items */
    roast__buf_release(&batch);
}

static void any_bit_may_be_flipped(void **state)
{
    struct roast_buf batch = {0};
    (void)state;

    put_everything(&batch);
    put_everything(&batch);
    for (size_t bit = 0; bit < 8 * batch.size_bytes; bit++) {
        struct roast_dask_reader *reader = new_reader();
        struct notes notes = {0};
        struct roast_dask_sink sink = sink_of(&notes);
        char *tight = tight_copy(batch.data, batch.size_bytes);
        tight[bit / 8] = (char)(tight[bit / 8] ^ 1 << bit % 8);
        int status = roast__dask_reader_read(reader, str_from(tight, batch.size_bytes),
                                             &sink, NULL);
        assert_true(status == ROAST_OK || status == ROAST_BAD_DATA);
        assert_in_range(roast__dask_reader_state(reader).workers, 0, 60);
        free(tight);
        roast__dask_reader_free(reader);
    }
    roast__buf_release(&batch);
}

/* ---- without memory ---------------------------------------------------------- */

/* Enough to make everything grow. */
static void put_many(struct roast_buf *batch)
{
    for (uint32_t i = 0; i < 40; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "worker-%u", i);
        put_worker(batch, i, name);
        put_joined(batch, i, 0, name);
        put_prefix(batch, i, name);
        for (uint32_t n = 0; n < 3 * (i % 3); n++)
            put_delay(batch, i, 1);
    }
}

/* Whether there was an n-th allocation to fail. */
static bool fail_and_try_again(const struct roast_buf *batch, size_t n, bool on)
{
    struct roast_dask_reader *reader = NULL;
    struct notes notes = {0};
    struct roast_dask_sink sink = sink_of(&notes);
    struct roast_str bytes = str_from(batch->data, batch->size_bytes);

    test_heap_fail(n, on);
    int status = roast__dask_reader_new(&reader, NULL);
    if (status == ROAST_OK)
        status = roast__dask_reader_read(reader, bytes, &sink, NULL);
    bool failed = test_heap_failed();
    assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
    test_heap_fail(0, false);
    if (reader) { /* known names are kept */
        assert_int_equal(roast__dask_reader_read(reader, bytes, &sink, NULL), ROAST_OK);
        assert_int_equal(roast__dask_reader_state(reader).workers, 40);
    }
    roast__dask_reader_free(reader);
    assert_int_equal(test_heap.live_blocks, 0);
    return failed;
}

static void survives_no_memory(void **state)
{
    struct roast_buf batch = {0};
    size_t n = 1;
    (void)state;

    put_many(&batch);
    test_heap_install();
    while (fail_and_try_again(&batch, n, true))
        assert_true(fail_and_try_again(&batch, n++, false));
    assert_in_range(n, 20, 200);
    roast__heap_set(NULL);
    roast__buf_release(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_makes_no_sense_is_passed_over),
        cmocka_unit_test(what_has_no_length_ends_a_batch),
        cmocka_unit_test(names_that_were_lost_leave_a_gap),
        cmocka_unit_test(an_error_names_its_place),
        cmocka_unit_test(a_batch_goes_on_where_the_sink_ended_it),
        cmocka_unit_test(another_batch_begins_at_its_front),
        cmocka_unit_test(a_batch_may_be_cut_at_every_byte),
        cmocka_unit_test(any_bit_may_be_flipped),
        cmocka_unit_test(survives_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
