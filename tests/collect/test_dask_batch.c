/* SPDX-License-Identifier: BSD-3-Clause */
/* test_dask_batch.c - every item is decoded; names are kept between batches; times are
 * converted to the client's clock. */
#include <math.h>

#include "dask_batch_help.h"

static void items_are_those_of_the_list(void **state)
{
    (void)state;
    assert_string_equal(roast_dask_batch_item(0)->name, "tick");
    assert_string_equal(roast_dask_batch_item(6)->format, "IHIBddd");
    assert_int_equal(roast_dask_batch_item(3)->texts, 2);
    assert_int_equal(roast_dask_batch_item(9)->number, 10);
    assert_null(roast_dask_batch_item(10));
}

static void every_item_is_reported(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};
    (void)state;

    put_everything(&batch);
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    assert_string_equal(notes.lines, "joined tcp://a:1 alice@a 0 4 2000000000 1234\n"
                                     "sample tcp://a:1 2 0=1 2=2\n"
                                     "sample tcp://b:2 2\n"
                                     "task Processor tcp://b:2 feed ours 1 1 2.25 3.5\n"
                                     "frames tcp://a:1 beef frame\n"
                                     "left tcp://a:1 9 expected retired\n"
                                     "offset a 0.5\n");
    struct roast_dask_reader_state seen = roast__dask_reader_state(reader);
    assert_int_equal(seen.dropped_samples, 3);
    assert_int_equal(seen.dropped_tasks, 2);
    assert_int_equal(seen.dropped_frames, 1);
    assert_int_equal(seen.workers, 2);
    roast__dask_reader_free(reader);
}

static void an_empty_batch_is_none(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct notes notes = {0};
    struct roast_dask_sink sink = sink_of(&notes);
    (void)state;

    assert_int_equal(roast__dask_reader_read(reader, str_from(NULL, 0), &sink, NULL),
                     ROAST_OK);
    assert_int_equal(notes.facts, 0);
    roast__dask_reader_free(reader);
    roast__dask_reader_free(NULL);
}

static void names_last_from_batch_to_batch(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};
    (void)state;

    put_everything(&batch);
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    notes = (struct notes){0};
    put_prefix(&batch, 1, "reduce");
    put_worker(&batch, 1, "tcp://b:2"); /* repeated: no change */
    put_task(&batch, 1, ROAST_TASK_lost, (double)NAN);
    put_task(&batch, UINT32_MAX, ROAST_TASK_cancelled, (double)NAN);
    put_left(&batch, 1, 0, "");
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    assert_string_equal(notes.lines,
                        "task Processor tcp://b:2 feed foreign 4 1 -9 3.5\n"
                        "task Processor - feed foreign 5 1 -9 3.5\n"
                        "left tcp://b:2 9 lost -\n");
    roast__dask_reader_free(reader);
}

static void the_clock_is_the_clients(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};
    (void)state;

    roast__dask_reader_set_offset(reader, -1500000000);
    put_worker(&batch, 0, "w");
    put_joined(&batch, 0, 0, "h");
    put_tick(&batch, T0 + 2);
    put_sample(&batch, 0, 1u << ROAST_SERIES_last_seen);
    put_left(&batch, 0, 0, "x");
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    assert_string_equal(notes.lines, "joined w alice@h -1.5 4 0 1234\n"
                                     "sample w 0.5 7=-0.5\n"
                                     "left w 7.5 lost x\n");
    roast__dask_reader_free(reader);
}

static void values_that_are_no_numbers_are_not_known(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};
    (void)state;

    put_worker(&batch, 0, "w");
    put_joined(&batch, 0, (double)NAN, "");
    put_joined(&batch, 0, 1e300, "");
    put_tick(&batch, T0);
    put(&batch, SAMPLE, 0u, 7u);
    put_real(&batch, (double)NAN);
    put_real(&batch, 5);
    put_real(&batch, -(double)INFINITY);
    put_prefix(&batch, 0, "p");
    put_task(&batch, 0, ROAST_TASK_ok, 1e300);
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    assert_string_equal(notes.lines, "joined w alice@- 0 4 0 1234\n"
                                     "joined w alice@- 0 4 0 1234\n"
                                     "sample w 0 1=5\n"
                                     "task p w feed foreign 1 1 -9 3.5\n");
    roast__dask_reader_free(reader);
}

/* ---- clocks of hosts --------------------------------------------------------- */

static void put_host(struct roast_buf *batch, unsigned worker, const char *host)
{
    put_worker(batch, worker, "w");
    put_joined(batch, worker, 0, host);
}

/* The facts of a batch, without the workers that join. */
static void assert_offsets(struct roast_dask_reader *reader, struct roast_buf *batch,
                           const char *lines)
{
    struct notes notes = {0};

    assert_int_equal(read_and_clear(reader, batch, &notes), ROAST_OK);
    const char *first = strstr(notes.lines, "offset");
    assert_string_equal(first ? first : "", lines);
}

/* The smallest delay is closest to the clock offset. */
static void the_least_delay_of_a_host_counts(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    (void)state;

    put_worker(&batch, 0, "w0");
    put_delay(&batch, 0, 77); /* of no known host */
    put_joined(&batch, 0, 0, "h");
    put_host(&batch, 1, "h");
    put_host(&batch, 2, "other");
    put_delay(&batch, 0, 0.5);
    put_delay(&batch, 1, 0.25);
    put_delay(&batch, 0, 9);
    put_delay(&batch, 0, (double)NAN);
    put_delay(&batch, 0, (double)INFINITY);
    assert_offsets(reader, &batch, "offset h 0.25\n");
    roast__dask_reader_free(reader);
}

static void an_offset_is_reported_when_it_moves(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    (void)state;

    put_host(&batch, 0, "h");
    put_host(&batch, 1, "other");
    put_delay(&batch, 0, 0.5);
    put_delay(&batch, 1, 4);
    assert_offsets(reader, &batch, "offset other 4\noffset h 0.5\n");
    put_delay(&batch, 0, 0.4995); /* noise */
    assert_offsets(reader, &batch, "");
    put_delay(&batch, 0, 0.25);
    assert_offsets(reader, &batch, "offset h 0.25\n");
    roast__dask_reader_set_offset(reader, 999999);
    assert_offsets(reader, &batch, "");
    roast__dask_reader_set_offset(reader, 1000000000); /* it moves them all */
    assert_offsets(reader, &batch, "offset other 5\noffset h 1.25\n");
    roast__dask_reader_free(reader);
}

static void clocks_may_be_as_far_apart_as_numbers_go(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    (void)state;

    roast__dask_reader_set_offset(reader, INT64_MIN);
    put_host(&batch, 0, "h");
    put_delay(&batch, 0, 3.9e9);
    assert_offsets(reader, &batch, "offset h -1e+08\n");
    roast__dask_reader_set_offset(reader, INT64_MAX);
    assert_offsets(reader, &batch, "offset h 7.9e+09\n");
    put_delay(&batch, 0, -3.9e9);
    assert_offsets(reader, &batch, "offset h 1e+08\n");
    roast__dask_reader_set_offset(reader, INT64_MIN);
    assert_offsets(reader, &batch, "offset h -7.9e+09\n");
    roast__dask_reader_free(reader);
}

static void a_clock_that_drifts_is_followed(void **state)
{
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    (void)state;

    put_host(&batch, 0, "h");
    for (int i = 0; i < 10000; i++)
        put_delay(&batch, 0, i < 9000 ? -1 : 2);
    assert_offsets(reader, &batch, "offset h 2\n");
    roast__dask_reader_free(reader);
}

static void many_hosts_are_known_again(void **state)
{
    enum { HOSTS = 3000 };
    struct roast_dask_reader *reader = new_reader();
    struct roast_buf batch = {0};
    struct notes notes = {0};
    (void)state;

    for (uint32_t i = 0; i < 2 * HOSTS; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "host-%u", i % HOSTS);
        put_host(&batch, i, name);
        put_delay(&batch, i, i % HOSTS);
    }
    assert_int_equal(read_and_clear(reader, &batch, &notes), ROAST_OK);
    assert_int_equal(notes.facts, 2 * HOSTS + HOSTS); /* joins, and one for each host */
    assert_int_equal(roast__dask_reader_state(reader).workers, 2 * HOSTS);
    roast__dask_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_those_of_the_list),
        cmocka_unit_test(every_item_is_reported),
        cmocka_unit_test(an_empty_batch_is_none),
        cmocka_unit_test(names_last_from_batch_to_batch),
        cmocka_unit_test(the_clock_is_the_clients),
        cmocka_unit_test(values_that_are_no_numbers_are_not_known),
        cmocka_unit_test(the_least_delay_of_a_host_counts),
        cmocka_unit_test(an_offset_is_reported_when_it_moves),
        cmocka_unit_test(clocks_may_be_as_far_apart_as_numbers_go),
        cmocka_unit_test(a_clock_that_drifts_is_followed),
        cmocka_unit_test(many_hosts_are_known_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
