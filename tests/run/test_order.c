/* SPDX-License-Identifier: BSD-3-Clause */
/* test_order.c - chunk_id by start, attempt within the tries at the same chunk; both
 * independent of the order of arrival. */
#include "run/order.h"
#include "runs.h"

struct try_at {
    uint64_t process;
    uint32_t sequence;
    int64_t start_s; /* < 0: not known */
    const char *file;
    uint64_t entry;
};

static void add_try(roast_run *run, const struct try_at *at, enum roast_frame_kind kind)
{
    struct test_record record;

    init_record(&record, kind, at->process, at->sequence);
    if (kind == ROAST_FRAME_CHUNK && at->file)
        set_file(&record, "ttbar", at->file, at->entry, at->entry + 10);
    else if (at->file)
        set_place(&record, "ttbar", at->file, at->entry, at->entry + 10);
    if (at->start_s >= 0)
        roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns,
                             EPOCH_0 + at->start_s * SECOND);
    add(run, &record);
}

/* The sequence numbers and the attempts of the list, as digits. */
static void read_list(roast_run *run, char *sequences, char *attempts)
{
    struct roast_chunk_list list;
    size_t i = 0;

    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    for (; i < list.count; i++) {
        const struct roast_chunk_item *item = &list.items[i];
        struct roast_identity id;
        roast_record rec;
        size_t used;
        assert_int_equal(item->chunk_id, i);
        assert_int_equal(
            roast_record_decode(&rec, &used,
                                str_from(list.frames + item->offset, item->size_bytes),
                                NULL),
            ROAST_OK);
        assert_int_equal(used, item->size_bytes);
        (void)roast_identity_unpack(&id, rec.values[ROAST_FIELD_identity].str, NULL);
        sequences[i] = (char)('0' + id.sequence);
        attempts[i] = (char)('0' + item->attempt);
    }
    sequences[i] = attempts[i] = 0;
    roast_chunk_list_release(&list);
}

static void chunks_are_in_order_of_their_start(void **state)
{
    static const struct try_at tries[] = {
        {1, 1, 50, "a", 0},  {2, 2, 10, "a", 10}, {1, 3, -1, "a", 20},
        {9, 4, 30, "a", 30}, {2, 5, 30, "a", 40}, {2, 6, 30, "a", 50},
    };
    char sequences[16], attempts[16];
    (void)state;

    for (int backwards = 0; backwards < 2; backwards++) {
        roast_run *run = new_run();
        for (size_t i = 0; i < COUNT_OF(tries); i++)
            add_try(run, &tries[backwards ? COUNT_OF(tries) - 1 - i : i],
                    ROAST_FRAME_CHUNK);
        read_list(run, sequences, attempts);
        assert_string_equal(sequences, "256413"); /* no start: last */
        assert_string_equal(attempts, "111111");
        roast_run_free(run);
    }
}

static void attempts_count_the_tries_at_a_chunk(void **state)
{
    static const struct try_at tries[] = {
        {1, 1, 30, "a", 0}, {2, 2, 10, "a", 0},  {3, 3, 20, "a", 0},
        {1, 4, 40, "b", 0}, {1, 5, 50, "a", 10}, {1, 6, 60, "b", 0},
    };
    char sequences[16], attempts[16];
    roast_run *run = new_run();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(tries); i++)
        add_try(run, &tries[i], ROAST_FRAME_CHUNK);
    read_list(run, sequences, attempts);
    assert_string_equal(sequences, "231456");
    assert_string_equal(attempts, "123112");
    roast_run_free(run);
}

static void a_lost_attempt_counts_as_a_try(void **state)
{
    static const struct try_at lost = {1, 1, 10, "a", 0};
    static const struct try_at done = {2, 2, 20, "a", 0};
    char sequences[16], attempts[16];
    roast_run *run = new_run();
    (void)state;

    add_try(run, &lost, ROAST_FRAME_BEGIN);
    add_try(run, &done, ROAST_FRAME_CHUNK);
    read_list(run, sequences, attempts);
    assert_string_equal(sequences, "2");
    assert_string_equal(attempts, "2");
    roast_run_free(run);
}

static void a_record_without_file_or_entries_is_its_own_chunk(void **state)
{
    static const struct try_at tries[] = {{1, 1, 10, NULL, 0}, {1, 2, 20, NULL, 0}};
    char sequences[16], attempts[16];
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(tries); i++)
        add_try(run, &tries[i], ROAST_FRAME_CHUNK);
    for (uint32_t i = 3; i < 5; i++) { /* a file without entries */
        init_record(&record, ROAST_FRAME_CHUNK, 1, i);
        set_text(&record, ROAST_FIELD_file, "a");
        add(run, &record);
    }
    for (uint32_t i = 5; i < 7; i++) { /* entries without a file */
        init_record(&record, ROAST_FRAME_CHUNK, 1, i);
        set_text(&record, ROAST_FIELD_dataset, "ttbar");
        roast_record_set_u64(&record.rec, ROAST_FIELD_entry_start, 1);
        roast_record_set_u64(&record.rec, ROAST_FIELD_entry_stop, 2);
        add(run, &record);
    }
    read_list(run, sequences, attempts);
    assert_string_equal(sequences, "123456");
    assert_string_equal(attempts, "111111");
    roast_run_free(run);
}

static const unsigned char OTHER_ID[ROAST_RUN_ID_BYTES] = "another run of..";

static void another_run_id_is_another_pass(void **state)
{
    const struct try_at at = {1, 1, 5, "a", 0};
    char sequences[16], attempts[16];
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    add_try(run, &at, ROAST_FRAME_CHUNK);
    init_record(&record, ROAST_FRAME_CHUNK, 1, 2);
    identify(&record, OTHER_ID, 1, 2);
    set_file(&record, "ttbar", "a", 0, 10);
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_USER).kept, 1);
    read_list(run, sequences, attempts);
    assert_string_equal(attempts, "11");
    roast_run_free(run);
}

/* The id of a file in a begin frame must not be used for a record without a file. */
static void the_file_of_another_attempt_is_not_taken_over(void **state)
{
    const struct try_at begun = {1, 1, 5, "a", 0};
    char sequences[16], attempts[16];
    roast_run *run = new_run();
    (void)state;

    add_try(run, &begun, ROAST_FRAME_BEGIN);
    for (uint32_t i = 2; i < 4; i++) {
        struct test_record record;
        init_record(&record, ROAST_FRAME_CHUNK, 1, i);
        set_file(&record, "ttbar", NULL, 0, 10);
        add(run, &record);
    }
    read_list(run, sequences, attempts);
    assert_string_equal(attempts, "11");
    roast_run_free(run);
}

static void add_ended(roast_run *run, const unsigned char *run_id, uint32_t sequence,
                      enum roast_chunk_status status)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, 1, sequence);
    identify(&record, run_id, 1, sequence);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns,
                         EPOCH_0 - sequence * SECOND);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, status);
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_USER).kept, 1);
}

static void rows_are_those_of_one_run_id_that_ended_well(void **state)
{
    static const unsigned char never_seen[ROAST_RUN_ID_BYTES] = {7};
    roast_run *run = new_run();
    struct test_record by_hand = {.rec = {.kind = ROAST_FRAME_CHUNK}};
    struct roast_rows rows;
    (void)state;

    add_ended(run, RUN_ID, 1, ROAST_CHUNK_OK); /* the latest start */
    add_ended(run, OTHER_ID, 2, ROAST_CHUNK_OK);
    add_ended(run, RUN_ID, 3, ROAST_CHUNK_FAILED);
    add_ended(run, RUN_ID, 4, ROAST_CHUNK_OK);
    roast_record_set_u64(&by_hand.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    assert_int_equal(add_from(run, &by_hand.rec, ROAST_FROM_USER).kept, 1);
    assert_int_equal(roast_run_rows(run, RUN_ID, &rows, NULL), ROAST_OK);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[0], 3);
    assert_int_equal(rows.rows[1], 0);
    roast_rows_release(&rows);
    assert_int_equal(roast_run_rows(run, never_seen, &rows, NULL), ROAST_OK);
    assert_int_equal(rows.count, 0); /* records made by users have no run id */
    roast_rows_release(&rows);
    roast_run_free(run);
}

static void many_chunks_are_distinct(void **state)
{
    enum { CHUNKS = 3000 };
    roast_run *run = new_run();
    struct roast_order order;
    (void)state;

    for (uint32_t i = 0; i < 2 * CHUNKS; i++) {
        struct try_at at = {1, i, (int64_t)i, "a", i % CHUNKS};
        add_try(run, &at, ROAST_FRAME_CHUNK);
    }
    assert_int_equal(roast__order_make(&order, run, NULL), ROAST_OK);
    for (uint32_t i = 0; i < 2 * CHUNKS; i++) {
        assert_int_equal(order.rows[i], i);
        assert_int_equal(order.attempt[i], i < CHUNKS ? 1 : 2);
    }
    roast__order_release(&order);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_in_order_of_their_start),
        cmocka_unit_test(attempts_count_the_tries_at_a_chunk),
        cmocka_unit_test(a_lost_attempt_counts_as_a_try),
        cmocka_unit_test(a_record_without_file_or_entries_is_its_own_chunk),
        cmocka_unit_test(another_run_id_is_another_pass),
        cmocka_unit_test(the_file_of_another_attempt_is_not_taken_over),
        cmocka_unit_test(rows_are_those_of_one_run_id_that_ended_well),
        cmocka_unit_test(many_chunks_are_distinct),
    };
    return cmocka_run_group_tests_name("run/order", tests, NULL, NULL);
}
