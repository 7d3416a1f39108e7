/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ladder.c - fields of end frames only: times of attempts and ladders, which are
 * added to the chunk record. */
#include "runs.h"

static void make_chunk(struct test_record *record, uint32_t sequence)
{
    init_record(record, ROAST_FRAME_CHUNK, 1, sequence);
    set_file(record, "ttbar", "a.root", 100, 200);
    set_text(record, ROAST_FIELD_host, "here");
    roast_record_set_u64(&record->rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
}

static void make_end(struct test_record *record, uint32_t sequence, uint64_t task_ns,
                     const char *ladder)
{
    init_record(record, ROAST_FRAME_END, 1, sequence);
    roast_record_set_u64(&record->rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    roast_record_set_u64(&record->rec, ROAST_FIELD_task_ns, task_ns);
    roast_record_set_u64(&record->rec, ROAST_FIELD_task_cpu_ns, task_ns / 2);
    roast_record_set_u64(&record->rec, ROAST_FIELD_duration_ns, task_ns / 10);
    set_text(record, ROAST_FIELD_ladder, ladder);
}

/* ---- the end ------------------------------------------------------------------- */

static struct roast_tally add_part(roast_run *run, char part)
{
    struct test_record record;

    if (part == 'b')
        init_record(&record, ROAST_FRAME_BEGIN, 1, 1);
    else if (part == 'c')
        make_chunk(&record, 1);
    else
        make_end(&record, 1, 300, "a ladder");
    if (part == 'e')
        roast_record_set_u64(&record.rec, ROAST_FIELD_monitor_errors, 2);
    return add_from(run, &record.rec, ROAST_FROM_WORKERS);
}

static void an_end_counts_once_whatever_comes_first(void **state)
{
    static const char *const orders[] = {"bce",  "bece", "cbe", "ecb",
                                         "eecb", "bec",  "ee",  "e"};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        roast_run *run = new_run();
        uint64_t kept = 0;
        for (const char *part = orders[i]; *part; part++)
            kept += add_part(run, *part).kept * (*part == 'e');
        assert_int_equal(kept, 1);
        assert_int_equal(run->attempts.count, 1);
        assert_cell(run, 0, task_ns, 300);
        assert_cell(run, 0, task_cpu_ns, 150);
        assert_cell(run, 0, duration_ns, 30);
        assert_str_is(roast__attempt_ladder(&run->attempts, 0), "a ladder");
        assert_true(run->facts[ROAST_FACT_monitor_errors] == 2);
        for (int loss = 0; loss < ROAST_RUN_LOSS_COUNT; loss++)
            assert_int_equal(roast_run_lost(run, (enum roast_run_loss)loss), 0);
        roast_run_free(run);
    }
}

static void fields_of_the_chunk_frame_are_kept(void **state)
{
    (void)state;

    for (int end_first = 0; end_first < 2; end_first++) {
        roast_run *run = new_run();
        struct test_record record;
        if (end_first)
            (void)add_part(run, 'e');
        make_chunk(&record, 1);
        roast_record_set_u64(&record.rec, ROAST_FIELD_duration_ns, 7);
        add(run, &record);
        if (!end_first)
            (void)add_part(run, 'e');
        assert_cell(run, 0, duration_ns, 7);
        roast_run_free(run);
    }
}

/* ---- the record ---------------------------------------------------------------- */

static void a_record_has_what_its_end_knew(void **state)
{
    roast_run *run = new_run();
    unsigned char identity[ROAST_IDENTITY_BYTES];
    struct test_record chunk, end;
    roast_record rec;
    (void)state;

    make_chunk(&chunk, 1);
    add(run, &chunk);
    make_end(&end, 1, 100, "steps");
    add(run, &end);
    assert_true(roast__attempt_record(run, 0, &rec, identity));
    assert_true(roast__attempt_present(run, 0) == rec.present);
    roast_record_set_u64(&chunk.rec, ROAST_FIELD_task_ns, 100);
    roast_record_set_u64(&chunk.rec, ROAST_FIELD_task_cpu_ns, 50);
    set_text(&chunk, ROAST_FIELD_ladder, "steps");
    assert_same_record(&rec, &chunk.rec);
    roast_run_free(run);
}

static void fields_of_the_record_are_restored_exactly(void **state)
{
    roast_run *run = new_run();
    unsigned char identity[ROAST_IDENTITY_BYTES];
    struct test_record chunk, end;
    roast_record rec;
    (void)state;

    make_chunk(&chunk, 1);
    set_text(&chunk, ROAST_FIELD_ladder, "its own");
    roast_record_set_u64(&chunk.rec, ROAST_FIELD_task_ns, 9);
    roast_record_set_u64(&chunk.rec, ROAST_FIELD_task_cpu_ns, 8);
    add(run, &chunk);
    make_end(&end, 1, 100, "steps");
    add(run, &end);
    assert_true(roast__attempt_record(run, 0, &rec, identity));
    assert_same_record(&rec, &chunk.rec);
    roast_run_free(run);
}

static void without_a_record_there_is_what_the_end_knew(void **state)
{
    roast_run *run = new_run();
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;
    (void)state;

    (void)add_part(run, 'e');
    assert_false(roast__attempt_record(run, 0, &rec, identity));
    assert_str_is(rec.values[ROAST_FIELD_ladder].str, "a ladder");
    assert_int_equal(rec.values[ROAST_FIELD_task_ns].u64, 300);
    assert_false(roast_record_has(&rec, ROAST_FIELD_identity));
    roast_run_free(run);
}

static void an_empty_ladder_is_one(void **state)
{
    roast_run *run = new_run();
    struct test_record end;
    (void)state;

    make_end(&end, 1, 100, "");
    add(run, &end);
    struct roast_str ladder = roast__attempt_ladder(&run->attempts, 0);
    assert_non_null(ladder.data);
    assert_int_equal(ladder.size_bytes, 0);
    init_record(&end, ROAST_FRAME_END, 1, 2);
    add(run, &end);
    assert_null(roast__attempt_ladder(&run->attempts, 1).data);
    roast_run_free(run);
}

static void frames_that_are_given_back_have_the_ladder(void **state)
{
    roast_run *run = new_run();
    struct roast_chunk_list list;
    unsigned char bytes[512];
    struct test_record chunk, end;
    roast_record rec;
    (void)state;

    make_chunk(&chunk, 1);
    add(run, &chunk);
    make_end(&end, 1, 100, "steps");
    add(run, &end);
    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(
        roast_record_decode(&rec, NULL, str_from(list.frames, list.items[0].size_bytes),
                            NULL),
        ROAST_OK);
    assert_str_is(rec.values[ROAST_FIELD_ladder].str, "steps");
    int64_t size = roast_run_frame(run, 0, bytes, sizeof(bytes), NULL);
    assert_int_equal(size, list.items[0].size_bytes);
    assert_memory_equal(bytes, list.frames, (size_t)size);
    roast_chunk_list_release(&list);
    roast_run_free(run);
}

/* ---- undecorated records -------------------------------------------------------- */

static void records_of_undecorated_chunks_are_kept_but_not_returned(void **state)
{
    roast_run *run = new_run();
    struct roast_chunk_list list;
    struct roast_rows rows;
    struct test_record chunk;
    (void)state;

    for (uint32_t i = 1; i <= 3; i++) {
        make_chunk(&chunk, i);
        if (i != 2)
            roast_record_set_u64(&chunk.rec, ROAST_FIELD_undecorated, 1);
        add(run, &chunk);
    }
    assert_int_equal(roast_run_rows(run, RUN_ID, &rows, NULL), ROAST_OK);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.rows[0], 1);
    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    assert_int_equal(list.count, 3);
    roast_rows_release(&rows);
    roast_chunk_list_release(&list);
    roast_run_free(run);
}

/* Every process sends the sizes of all branches of every file that it reads. */
static void facts_of_a_file_are_kept_once(void **state)
{
    enum { PROCESSES = 20, LARGE_BYTES = 5000 };
    roast_run *run = new_run();
    char large[LARGE_BYTES];
    (void)state;

    memset(large, 'x', sizeof(large));
    for (uint64_t process = 1; process <= PROCESSES; process++) {
        unsigned char identity[ROAST_IDENTITY_BYTES];
        struct test_record chunk;
        roast_record rec;
        make_chunk(&chunk, 1);
        identify(&chunk, RUN_ID, process, 1);
        roast_record_set_str(&chunk.rec, ROAST_FIELD_file_branches,
                             str_from(large, sizeof(large)));
        set_text(&chunk, ROAST_FIELD_file_facts, "facts");
        add(run, &chunk);
        assert_true(roast__attempt_record(run, process - 1, &rec, identity));
        assert_same_record(&rec, &chunk.rec);
    }
    assert_true(run->attempts.packed.size_bytes + run->strings.bytes_used <
                2 * LARGE_BYTES);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_counts_once_whatever_comes_first),
        cmocka_unit_test(fields_of_the_chunk_frame_are_kept),
        cmocka_unit_test(a_record_has_what_its_end_knew),
        cmocka_unit_test(fields_of_the_record_are_restored_exactly),
        cmocka_unit_test(without_a_record_there_is_what_the_end_knew),
        cmocka_unit_test(an_empty_ladder_is_one),
        cmocka_unit_test(frames_that_are_given_back_have_the_ladder),
        cmocka_unit_test(records_of_undecorated_chunks_are_kept_but_not_returned),
        cmocka_unit_test(facts_of_a_file_are_kept_once),
    };
    return cmocka_run_group_tests_name("run/ladder", tests, NULL, NULL);
}
