/* SPDX-License-Identifier: BSD-3-Clause */
/* test_drop_branch_tables.c - tables of branches above the budget: left out with a
 * reason, and counted once. */
#include "runs.h"

enum { TABLE_BYTES = 3000 };

static const enum roast_field tables[] = {ROAST_FIELD_branches,
                                          ROAST_FIELD_file_branches};

/* A chunk with both tables, different for every chunk. */
static void make_chunk(struct test_record *record, uint32_t sequence,
                       char table[TABLE_BYTES])
{
    init_record(record, ROAST_FRAME_CHUNK, 1, sequence);
    set_file(record, "ttbar", "a.root", sequence, sequence + 1);
    set_text(record, ROAST_FIELD_host, "here");
    roast_record_set_u64(&record->rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    memset(table, (int)('a' + sequence), TABLE_BYTES);
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        roast_record_set_str(&record->rec, tables[i], str_from(table, TABLE_BYTES));
}

static uint64_t trimmed(roast_run *run)
{
    return roast_run_lost(run, ROAST_RUN_LOSS_branch_tables_dropped);
}

static size_t held_bytes(const roast_run *run)
{
    return run->attempts.packed.size_bytes + run->strings.bytes_used;
}

/* The expected record: absences end with these (field, reason) pairs. */
static void take_tables_out(struct test_record *record, const char *absences)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        record->rec.present &= ~(UINT64_C(1) << tables[i]);
    set_text(record, ROAST_FIELD_absences, absences);
}

static void assert_row(const roast_run *run, size_t row, const roast_record *expected)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;

    assert_true(roast__attempt_record(run, row, &rec, identity));
    assert_same_record(&rec, expected);
}

/* The budget after what every record of the run needs. */
static void leave_room(roast_run *run, size_t bytes)
{
    run->budget_bytes = held_bytes(run) + ROAST_RUN_ID_BYTES + bytes;
}

static void a_run_has_a_budget(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(run->budget_bytes, ROAST_BUDGET_BYTES);
    roast_run_free(run);
}

static void what_fits_is_kept_as_it_was(void **state)
{
    roast_run *run = new_run();
    char table[TABLE_BYTES];
    struct test_record chunk;
    (void)state;

    make_chunk(&chunk, 1, table);
    leave_room(run, 2 * TABLE_BYTES);
    add(run, &chunk);
    assert_row(run, 0, &chunk.rec);
    assert_int_equal(trimmed(run), 0);
    roast_run_free(run);
}

static void what_does_not_fit_has_a_reason_and_is_counted(void **state)
{
    roast_run *run = new_run();
    char table[TABLE_BYTES];
    struct test_record chunk;
    (void)state;

    leave_room(run, 2 * TABLE_BYTES - 1);
    make_chunk(&chunk, 1, table);
    add(run, &chunk);
    take_tables_out(&chunk, "\x35\x09\x38\x09"); /* fields 53 and 56, reason 9 */
    assert_row(run, 0, &chunk.rec);
    assert_int_equal(trimmed(run), 1);
    make_chunk(&chunk, 2, table);
    set_text(&chunk, ROAST_FIELD_absences, "\x0a\x01");
    add(run, &chunk);
    take_tables_out(&chunk, "\x0a\x01\x35\x09\x38\x09");
    assert_row(run, 1, &chunk.rec);
    assert_int_equal(trimmed(run), 2);
    assert_true(held_bytes(run) < TABLE_BYTES);
    roast_run_free(run);
}

static void a_repeat_is_not_counted_again(void **state)
{
    roast_run *run = new_run();
    char table[TABLE_BYTES];
    struct test_record chunk;
    (void)state;

    run->budget_bytes = 0;
    make_chunk(&chunk, 1, table);
    add(run, &chunk);
    assert_int_equal(add_from(run, &chunk.rec, ROAST_FROM_USER).repeated, 1);
    assert_int_equal(trimmed(run), 1);
    roast_run_free(run);
}

/* Everything else is still added. */
static void records_without_tables_are_left_alone(void **state)
{
    roast_run *run = new_run();
    struct test_record chunk, end;
    (void)state;

    run->budget_bytes = 0;
    init_record(&chunk, ROAST_FRAME_CHUNK, 1, 1);
    set_text(&chunk, ROAST_FIELD_sections, "sections");
    add(run, &chunk);
    init_record(&end, ROAST_FRAME_END, 1, 1);
    set_text(&end, ROAST_FIELD_ladder, "ladder");
    add(run, &end);
    set_text(&chunk, ROAST_FIELD_ladder, "ladder");
    assert_row(run, 0, &chunk.rec);
    assert_int_equal(trimmed(run), 0);
    roast_run_free(run);
}

/* The packed size remains near the budget for any number of records. */
static void memory_is_bounded(void **state)
{
    enum { BUDGET_BYTES = 10 * TABLE_BYTES, CHUNKS = 500, REST_BYTES = 40 };
    roast_run *run = new_run();
    char table[TABLE_BYTES];
    struct test_record chunk;
    (void)state;

    run->budget_bytes = BUDGET_BYTES;
    for (uint32_t i = 1; i <= CHUNKS; i++) {
        make_chunk(&chunk, i, table);
        add(run, &chunk);
    }
    assert_true(held_bytes(run) < BUDGET_BYTES + CHUNKS * REST_BYTES);
    assert_true(trimmed(run) >= CHUNKS - 10 && trimmed(run) < CHUNKS);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_a_budget),
        cmocka_unit_test(what_fits_is_kept_as_it_was),
        cmocka_unit_test(what_does_not_fit_has_a_reason_and_is_counted),
        cmocka_unit_test(a_repeat_is_not_counted_again),
        cmocka_unit_test(records_without_tables_are_left_alone),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests_name("run/trim", tests, NULL, NULL);
}
