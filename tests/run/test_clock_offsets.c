/* SPDX-License-Identifier: BSD-3-Clause */
/* test_clock_offsets.c - clocks of other hosts: times of their attempts are converted
 * when they are read, and records are restored exactly. */
#include "scheduler_events.h"

static const int64_t AHEAD = 250000000; /* ns that the client is */

/* A chunk of a process with this host; NULL: none. */
static void add_chunk(roast_run *run, uint64_t process, const char *host,
                      const char *worker)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, process, 1);
    if (host)
        set_text(&record, ROAST_FIELD_host, host);
    if (worker)
        set_text(&record, ROAST_FIELD_worker, worker);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_mono_ns, MONO_0 + SECOND);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, second(2));
    add(run, &record);
}

static void add_begin(roast_run *run, uint64_t process, uint32_t sequence,
                      const char *worker)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, process, sequence);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, second(3));
    assert_int_equal(add_with_task(run, &record, worker, 1, NULL), ROAST_OK);
}

/* Applies pending offsets, as reading does. */
static void resolve_pending(roast_run *run)
{
    struct roast_chunk_list list;

    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    roast_chunk_list_release(&list);
}

static void offsets_are_for_attempts_before_and_after(void **state)
{
    roast_run *run = new_run();
    (void)state;

    add_chunk(run, 1, "there", NULL);
    assert_int_equal(set_offset(run, "there", AHEAD), ROAST_OK);
    resolve_pending(run);
    assert_cell(run, 0, start_ns, second(2) + AHEAD);
    struct test_record record;
    init_record(&record, ROAST_FRAME_CHUNK, 1, 2);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, second(9));
    add(run, &record);
    resolve_pending(run);
    assert_cell(run, 1, start_ns, second(9) + AHEAD);
    assert_int_equal(set_offset(run, "there", -AHEAD), ROAST_OK);
    resolve_pending(run);
    resolve_pending(run);
    assert_cell(run, 0, start_ns, second(2) - AHEAD);
    assert_cell(run, 1, start_ns, second(9) - AHEAD);
    roast_run_free(run);
}

/* Schedulers know hosts by address. */
static void a_host_is_found_by_its_worker(void **state)
{
    roast_run *run = new_run();
    (void)state;

    joins(run, "tcp://10.0.0.7:1", 0, 1); /* at 10.0.0.7 */
    add_chunk(run, 1, "there", "tcp://10.0.0.7:1");
    add_begin(run, 2, 1, "tcp://10.0.0.7:1"); /* killed: its host is not known */
    add_chunk(run, 3, "elsewhere", "tcp://10.0.0.8:1");
    assert_int_equal(set_offset(run, "10.0.0.7", AHEAD), ROAST_OK);
    resolve_pending(run);
    assert_cell(run, 0, start_ns, second(2) + AHEAD);
    assert_cell(run, 1, task_start_ns, second(3) + AHEAD);
    assert_cell(run, 2, start_ns, second(2));
    roast_run_free(run);
}

/* Its worker is not known: no event of it arrived. */
static void a_host_is_found_by_a_neighbour(void **state)
{
    roast_run *run = new_run();
    (void)state;

    joins(run, "tcp://10.0.0.7:1", 0, 1);
    add_chunk(run, 1, "there", NULL);
    add_chunk(run, 2, "elsewhere", NULL);
    assert_int_equal(set_offset(run, "10.0.0.7", AHEAD), ROAST_OK);
    resolve_pending(run);
    assert_cell(run, 0, start_ns, second(2));
    add_chunk(run, 3, "there", "tcp://10.0.0.7:1");
    resolve_pending(run);
    assert_cell(run, 0, start_ns, second(2) + AHEAD);
    assert_cell(run, 1, start_ns, second(2));
    assert_cell(run, 2, start_ns, second(2) + AHEAD);
    roast_run_free(run);
}

static void the_clients_host_has_none(void **state)
{
    roast_run *run = new_run(); /* on "here" */
    (void)state;

    joins(run, "tcp://10.0.0.7:1", 0, 1);
    joins(run, "tcp://10.0.0.7:2", 0, 1);
    add_begin(run, 2, 1, "tcp://10.0.0.7:2");
    assert_int_equal(set_offset(run, "10.0.0.7", AHEAD), ROAST_OK);
    assert_int_equal(set_offset(run, "here", AHEAD), ROAST_OK);
    resolve_pending(run);
    assert_cell(run, 0, task_start_ns, second(3) + AHEAD); /* not known yet */
    add_chunk(run, 1, "here", "tcp://10.0.0.7:1");         /* shares the clock */
    resolve_pending(run);
    assert_cell(run, 0, task_start_ns, second(3));
    assert_cell(run, 1, start_ns, second(1)); /* by the monotonic clock */
    roast_run_free(run);
}

static void records_are_kept_as_they_were(void **state)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_run *run = new_run();
    roast_record rec;
    (void)state;

    assert_int_equal(set_offset(run, "there", INT64_MIN), ROAST_OK);
    add_chunk(run, 1, "there", NULL);
    for (int i = 0; i < 2; i++) {
        resolve_pending(run);
        assert_true(roast__attempt_record(run, 0, &rec, identity));
        assert_int_equal(rec.values[ROAST_FIELD_start_epoch_ns].i64, second(2));
        assert_int_equal(rec.values[ROAST_FIELD_start_mono_ns].i64, MONO_0 + SECOND);
        assert_int_equal(set_offset(run, "there", AHEAD), ROAST_OK);
    }
    roast_run_free(run);
}

static void assert_shown_start(struct roast_str frame, int64_t start_ns)
{
    roast_record rec;

    assert_int_equal(roast_record_decode(&rec, NULL, frame, NULL), ROAST_OK);
    assert_int_equal(rec.values[ROAST_FIELD_start_epoch_ns].i64, start_ns);
}

/* As tables do: chunk_metrics and roast dump are made from these frames. */
static void records_are_shown_on_the_timeline(void **state)
{
    roast_run *run = new_run(); /* on "here" */
    const int64_t starts[] = {second(1), second(2) + AHEAD};
    struct roast_chunk_list list;
    unsigned char one[512];
    (void)state;

    add_chunk(run, 1, "here", NULL); /* by the monotonic clock, which it shares */
    add_chunk(run, 2, "there", NULL);
    assert_int_equal(set_offset(run, "there", AHEAD), ROAST_OK);
    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    assert_int_equal(list.count, 2);
    for (uint32_t row = 0; row < 2; row++) {
        const struct roast_chunk_item *item = &list.items[row];
        assert_shown_start(str_from(list.frames + item->offset, item->size_bytes),
                           starts[row]);
        int64_t size = roast_run_frame(run, row, one, sizeof(one), NULL);
        assert_true(size > 0);
        assert_shown_start(str_from(one, (size_t)size), starts[row]);
    }
    roast_chunk_list_release(&list);
    roast_run_free(run);
}

static void offsets_move_rows_in_their_order(void **state)
{
    roast_run *run = new_run();
    struct roast_rows rows;
    (void)state;

    for (uint64_t process = 1; process < 3; process++) {
        struct test_record record;
        init_record(&record, ROAST_FRAME_CHUNK, process, 1);
        set_text(&record, ROAST_FIELD_host, process == 1 ? "one" : "two");
        roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
        roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns,
                             second((int64_t)process));
        add(run, &record);
    }
    assert_int_equal(set_offset(run, "one", 5 * SECOND), ROAST_OK);
    assert_int_equal(roast_run_rows(run, RUN_ID, &rows, NULL), ROAST_OK);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[0], 1);
    roast_rows_release(&rows);
    roast_run_free(run);
}

static void hosts_have_a_limit(void **state)
{
    roast_run *run = new_run();
    char name[16];
    (void)state;

    for (int i = 0; i <= ROAST_MOST_HOSTS; i++) {
        (void)snprintf(name, sizeof(name), "h%d", i);
        assert_int_equal(set_offset(run, name, i), ROAST_OK);
    }
    assert_int_equal(set_offset(run, "h0", 7), ROAST_OK); /* known */
    assert_int_equal(set_offset(run, NULL, 7), ROAST_OK);
    assert_int_equal(run->scheduler.clock_offsets.count, ROAST_MOST_HOSTS);
    assert_int_equal(run->scheduler.clock_offsets.items[0].offset_ns, 7);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_scheduler_over_limit), 1);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_for_attempts_before_and_after),
        cmocka_unit_test(a_host_is_found_by_its_worker),
        cmocka_unit_test(a_host_is_found_by_a_neighbour),
        cmocka_unit_test(the_clients_host_has_none),
        cmocka_unit_test(records_are_kept_as_they_were),
        cmocka_unit_test(records_are_shown_on_the_timeline),
        cmocka_unit_test(offsets_move_rows_in_their_order),
        cmocka_unit_test(hosts_have_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
