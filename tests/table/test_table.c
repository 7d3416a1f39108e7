/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of tables: values, what is not known, words, references. And that every
 * table can be made of every run, or says that memory ran out. */
#include "analyze/reads.h"
#include "analyze/runs.h"
#include "analyze/table_cells.h"
#include "base/str.h"
#include "heap.h"
#include "record/values.h"
#include "roast/scheduler.h"
#include "table/table.h"

static roast_table *finish(roast_table *table)
{
    assert_int_equal(roast__table_finish(&table, NULL), ROAST_OK);
    return table;
}

/* ---- the builder ----------------------------------------------------------------- */

static void test_values_and_what_is_not_known(void **state)
{
    roast_table *to = roast__table_new(ROAST_TABLE_branches, 0);

    (void)state;
    for (int i = 0; i < 100; i++) {
        roast__table_row(to);
        if (i % 3 == 0)
            roast__fill_int(to, ROAST_COL_branches_bytes, i - 30);
        roast__fill_number(to, ROAST_COL_branches_seconds, i / 4.0);
        if (i == 99)
            roast__fill_bool(to, ROAST_COL_branches_accessed, true);
    }
    roast_table *columns = finish(to);
    assert_int_equal(roast_table_rows(columns), 100);
    const struct roast_table_column *bytes = column_named(columns, "bytes");
    const struct roast_table_column *seconds = column_named(columns, "seconds");
    const struct roast_table_column *accessed = column_named(columns, "accessed");
    const struct roast_table_column *reads = column_named(columns, "reads");
    assert_int_equal(bytes->unknown, 66);
    assert_int_equal(((const int64_t *)bytes->values)[0], -30);
    assert_int_equal(((const int64_t *)bytes->values)[1], 0);
    assert_near(roast_column_cell(bytes, 0).number, -30); /* no count */
    assert_true(roast_column_cell(bytes, 0).whole);
    assert_false(roast_column_cell(seconds, 0).whole);
    assert_int_equal(roast_column_cell(bytes, 90).count, 60);
    assert_int_equal(roast_column_cell(bytes, 91).type, ROAST_CELL_ABSENT);
    assert_null(seconds->valid);
    assert_int_equal(seconds->unknown, 0);
    assert_near(roast_column_cell(seconds, 99).number, 24.75);
    assert_int_equal(accessed->unknown, 99);
    assert_int_equal(roast_column_cell(accessed, 99).type, ROAST_CELL_BOOL);
    assert_int_equal(reads->unknown, 100); /* nobody ever put one */
    assert_int_equal(roast_column_cell(reads, 50).type, ROAST_CELL_ABSENT);
    assert_int_equal(((const int64_t *)reads->values)[99], 0);
    roast_table_free(columns);
}

static void test_what_no_column_can_hold_is_not_known(void **state)
{
    roast_table *to = roast__table_new(ROAST_TABLE_branches, 1);

    (void)state;
    roast__table_row(to);
    roast__fill_count(to, ROAST_COL_branches_bytes, (uint64_t)INT64_MAX + 1);
    roast__fill_sum(to, ROAST_COL_branches_reads, NAN);
    roast__fill_sum(to, ROAST_COL_branches_chunks, 0x1p63);
    roast__fill_number(to, ROAST_COL_branches_seconds, INFINITY);
    roast__fill_text(to, ROAST_COL_branches_branch, (struct roast_str){NULL, 0});
    roast_table *columns = finish(to);
    for (size_t i = 0; i < roast_table_width(columns); i++)
        assert_int_equal(roast_table_column(columns, i)->unknown, 1);
    roast_table_free(columns);
}

static void test_words_are_kept_once(void **state)
{
    static const char *const texts[] = {"b", "a", "b", "", "a", "b"};
    roast_table *to = roast__table_new(ROAST_TABLE_labels, 0);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        roast__table_row(to);
        roast__fill_text(to, ROAST_COL_labels_name, roast_str_of(texts[i]));
    }
    roast_table *columns = finish(to);
    const struct roast_table_column *names = column_named(columns, "name");
    assert_int_equal(names->word_count, 3);
    assert_int_equal(names->ends[-1], 0);
    assert_memory_equal(names->words, "ba", 2);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_str_is(text_in(columns, "name", i), texts[i]);
    assert_int_equal(column_named(columns, "value")->word_count, 0);
    roast_table_free(columns);
}

static void test_words_are_always_utf8(void **state)
{
    static const char *const texts[][2] = {
        {"\xf0\x9f\x94\xa5 \xc3\xa9", "\xf0\x9f\x94\xa5 \xc3\xa9"},
        {"a\xff", "a\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a lone surrogate */
        {"\xc3", "\xef\xbf\xbd"},
        {"a\xef\xbf\xbd", "a\xef\xbf\xbd"}, /* the same word as the second */
    };
    roast_table *to = roast__table_new(ROAST_TABLE_labels, 0);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        roast__table_row(to);
        roast__fill_text(to, ROAST_COL_labels_name, roast_str_of(texts[i][0]));
    }
    roast_table *columns = finish(to);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_str_is(text_in(columns, "name", i), texts[i][1]);
    assert_int_equal(column_named(columns, "name")->word_count, 4);
    roast_table_free(columns);
}

/* The texts of a list are read one by one, and shown joined. */
static void test_lists_of_texts(void **state)
{
    roast_table *to = roast__table_new(ROAST_TABLE_findings, 0);
    struct roast_buf list = {0};
    struct roast_str texts, item;

    (void)state;
    roast__table_row(to);
    roast__list_add(&list, roast_str_of("a, b"));
    roast__list_add(&list, str_from("c\0d", 3));
    roast__fill_list(to, ROAST_COL_findings_overlaps, &list);
    roast__table_row(to);
    roast__fill_list(to, ROAST_COL_findings_overlaps, &list);
    roast__table_row(to);
    roast_table *table = finish(to);
    texts = roast_table_text(table, 0, ROAST_COL_findings_overlaps);
    assert_true(roast_table_item(&item, &texts));
    assert_str_is(item, "a, b");
    assert_true(roast_table_item(&item, &texts));
    assert_str_is(item, "c d");
    assert_false(roast_table_item(&item, &texts));
    assert_str_is(text_in(table, "overlaps", 0), "a, b, c d");
    assert_str_is(text_in(table, "overlaps", 1), "");
    assert_true(is_unknown(table, "overlaps", 2));
    roast_table_free(table);
}

/* Columns are in the order of their tables: catalog.c needs that. */
static void test_every_table_has_its_columns(void **state)
{
    int next = 0;

    (void)state;
    for (int id = 0; id < ROAST_TABLE_COUNT; id++) {
        size_t ladder = id == ROAST_TABLE_chunks ? ROAST_ITEM_COUNT : 0;
        assert_int_equal(roast__table_first((enum roast_table_id)id), next);
        next += (int)(roast__table_listed((enum roast_table_id)id) - ladder);
    }
    assert_int_equal(next, ROAST_COL_COUNT);
}

static void test_references_are_counted(void **state)
{
    roast_table *to = roast__table_new(ROAST_TABLE_labels, 0);

    (void)state;
    roast__table_row(to);
    roast__fill_text(to, ROAST_COL_labels_name, roast_str_of("site"));
    roast_table *columns = finish(to);
    assert_ptr_equal(roast_table_hold(columns), columns);
    roast_table_free(columns);
    assert_str_is(text_in(columns, "name", 0), "site");
    roast_table_free(columns);
    roast_table_free(NULL);
}

/* ---- the list of tables ---------------------------------------------------------- */

static void test_tables_have_names_and_distinct_columns(void **state)
{
    (void)state;
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id table = (enum roast_table_id)i;
        const char *name = roast_table_name(table);
        roast_table *columns = finish(roast__table_new(table, 0));
        assert_int_equal(roast_table_find(name), i);
        assert_true(strlen(roast_table_description(table)) > 0);
        assert_true(roast_table_width(columns) > 1);
        for (size_t k = 0; k < roast_table_width(columns); k++) {
            const struct roast_table_column *data = roast_table_column(columns, k);
            assert_ptr_equal(column_named(columns, data->name), data);
            assert_true(strlen(data->text) > 0);
            assert_non_null(data->unit);
        }
        roast_table_free(columns);
    }
    assert_int_equal(roast_table_find("no such"), -1);
}

/* Columns are found by the place of their table in the list. */
static void test_columns_stand_in_the_order_of_tables(void **state)
{
    (void)state;
#define C(name, table, type, unit, text) \
    assert_in_range(ROAST_COL_##table##_##name, \
                    roast__table_first(ROAST_TABLE_##table), \
                    roast__table_first(ROAST_TABLE_##table) + \
                        (int)roast__table_listed(ROAST_TABLE_##table) - 1);
#include "roast/table_columns.def"
#undef C
}

static void test_an_empty_run_has_all_tables(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        roast_table *columns = table_of(run, (enum roast_table_id)i);
        bool listed = i == ROAST_TABLE_metrics || i == ROAST_TABLE_losses;
        assert_int_equal(roast_table_rows(columns) > 0, listed);
        roast_table_free(columns);
    }
    roast_run_free(run);
}

/* ---- memory ---------------------------------------------------------------------- */

static void add_cluster(roast_run *run)
{
    struct roast_member member = {.worker = roast_str_of("w1"),
                                  .joined_ns = RUN_EPOCH_NS};
    struct roast_task task = {.prefix = roast_str_of("reduce"),
                              .worker = roast_str_of("w1"),
                              .end = ROAST_TASK_ok,
                              .ours = true};
    struct roast_activity activity = {.context = roast_str_of("execute"), .value = 1};
    struct roast_hot_line line = {.file = roast_str_of("a.py"), .line = 3};

    for (int i = 0; i < 2; i++) {
        assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
        assert_int_equal(roast_run_add_task(run, &task, NULL), ROAST_OK);
        member.worker = roast_str_of("idle");
    }
    assert_int_equal(roast_run_set_activity(run, &activity, NULL), ROAST_OK);
    assert_int_equal(roast_run_add_hot_line(run, &line, NULL), ROAST_OK);
}

/* A run that fills every table. */
static roast_run *full_run(void)
{
    roast_run *run = reading_run();
    struct roast_section sections[] = {
        {.name = roast_str_of("outer"), .parent = -1, .kinds = 1, .total_ns = 9},
        {.name = roast_str_of("\xff"), .parent = 0, .depth = 1, .kinds = 3},
    };
    struct roast_endpoint endpoint = {
        .name = roast_str_of("/data"), .requests = 1, .sizes = {1}};
    struct roast_values facts = {.too_large = false};
    roast_sample sample = {.worker = roast_str_of("w1"), .time_ns = RUN_EPOCH_NS};
    char blob[300];
    int64_t size = roast_sections_write(blob, sizeof(blob), sections, 2, NULL);

    struct roast_branch jet = branch("Jet_pt", DATA, 50, 300);
    roast_values_put_key(&facts, roast_str_of("kernel"));
    roast_values_put_text(&facts, roast_str_of("6.1"));
    add_frame(run, (struct frame){.file = "c.root",
                                  .first = 1,
                                  .stop = 2,
                                  .start = 2,
                                  .worker = "w1",
                                  .file_facts = facts_blob(&ttree),
                                  .file_branches = branches_blob(&jet, 1),
                                  .sections = {blob, (size_t)size},
                                  .endpoints = endpoints_blob(&endpoint, 1),
                                  .process_facts = roast_values_blob(&facts)});
    roast__values_release(&facts);
    roast_sample_set(&sample, ROAST_SERIES_memory, 100);
    assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    offer(run, 0, 2, 4);
    mark(run, ROAST_MARK_RUN_BEGIN, 1);
    add_cluster(run);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            roast_run_set_note(run, i ? ROAST_NOTES_label : ROAST_NOTES_provenance,
                               roast_str_of("site"), roast_str_of("T2"), NULL),
            ROAST_OK);
    roast_run_finish(run, NS(5));
    return run;
}

static void sweep(roast_run *run, enum roast_table_id table, bool from_then_on)
{
    size_t before = test_heap.live_blocks;
    int status = ROAST_NO_MEMORY;

    for (size_t n = 1; status != ROAST_OK; n++) {
        roast_table *columns = NULL;
        roast_error err = {0};
        test_heap_fail(n, from_then_on);
        status = roast_run_table(&columns, table, run, NULL, &err);
        bool failed = test_heap_failed();
        test_heap_fail(0, false);
        if (status == ROAST_OK) {
            roast_table_free(columns);
            status = failed ? ROAST_NO_MEMORY : ROAST_OK; /* it did without: go on */
        } else {
            assert_int_equal(status, ROAST_NO_MEMORY);
            assert_true(failed);
            assert_true(strlen(err.message) > 0);
            assert_null(columns);
        }
        assert_int_equal(test_heap.live_blocks, before);
    }
}

static void test_any_allocation_may_fail(void **state)
{
    roast_run *run = full_run();

    (void)state;
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        roast_table *columns = table_of(run, (enum roast_table_id)i);
        assert_true(roast_table_rows(columns) > 0);
        roast_table_free(columns);
        sweep(run, (enum roast_table_id)i, false);
        sweep(run, (enum roast_table_id)i, true);
    }
    roast_run_free(run);
}

/* ---- parts ----------------------------------------------------------------------- */

enum { PART_ROWS = 2 };

struct parts_seen {
    const roast_table *whole;
    size_t rows;
    size_t parts;
    size_t most; /* parts that are wanted */
};

static void assert_same_cell(struct roast_cell one, struct roast_cell other)
{
    assert_int_equal(one.type, other.type);
    assert_int_equal(one.whole, other.whole);
    if (one.type == ROAST_CELL_TEXT)
        assert_true(roast__str_equal(one.text, other.text));
    else if (one.type == ROAST_CELL_NUMBER)
        assert_memory_equal(&one.number, &other.number, sizeof(one.number));
    else if (one.type != ROAST_CELL_ABSENT)
        assert_int_equal(one.count, other.count);
}

static bool compare_part(void *context, roast_table *part)
{
    struct parts_seen *seen = context;

    assert_int_equal(roast_table_width(part), roast_table_width(seen->whole));
    for (size_t row = 0; row < roast_table_rows(part); row++, seen->rows++) {
        for (size_t i = 0; i < roast_table_width(part); i++) {
            const struct roast_table_column *a = roast_table_column(part, i);
            const struct roast_table_column *b = roast_table_column(seen->whole, i);
            assert_same_cell(roast_column_cell(a, row),
                             roast_column_cell(b, seen->rows));
            if (a->type == ROAST_DTYPE_TEXT)
                assert_int_equal(((const int32_t *)a->values)[row],
                                 ((const int32_t *)b->values)[seen->rows]);
        }
    }
    seen->parts++;
    roast_table_free(part);
    return seen->parts < seen->most;
}

static int in_parts(struct parts_seen *seen, roast_run *run, enum roast_table_id id)
{
    const struct roast_table_parts parts = {PART_ROWS, compare_part, seen};

    return roast_run_table_parts(id, run, NULL, &parts, NULL);
}

static void test_parts_are_the_whole_table(void **state)
{
    roast_run *run = full_run();
    bool any = false;

    (void)state;
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        roast_table *whole = table_of(run, id);
        size_t rows = roast_table_rows(whole);
        struct parts_seen seen = {.whole = whole, .most = SIZE_MAX};
        assert_int_equal(in_parts(&seen, run, id), ROAST_OK);
        assert_int_equal(seen.rows, rows);
        any |= seen.parts > 2;
        if (seen.parts > 1)
            assert_int_equal(seen.parts, (rows + PART_ROWS - 1) / PART_ROWS);
        struct parts_seen first = {.whole = whole, .most = 1};
        assert_int_equal(in_parts(&first, run, id), ROAST_OK);
        assert_int_equal(first.parts, 1);
        roast_table_free(whole);
    }
    assert_true(any);
    roast_run_free(run);
}

static void test_any_allocation_may_fail_in_parts(void **state)
{
    roast_run *run = full_run();

    (void)state;
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        roast_table *whole = table_of(run, id);
        size_t before = test_heap.live_blocks;
        int status = ROAST_NO_MEMORY;
        for (size_t n = 1; status != ROAST_OK; n++) {
            struct parts_seen seen = {.whole = whole, .most = SIZE_MAX};
            test_heap_fail(n, true);
            status = in_parts(&seen, run, id);
            test_heap_fail(0, false);
            assert_true(status == ROAST_OK || status == ROAST_NO_MEMORY);
            assert_int_equal(test_heap.live_blocks, before);
        }
        roast_table_free(whole);
    }
    roast_run_free(run);
}

static void test_any_allocation_may_fail_in_a_series(void **state)
{
    roast_run *run = full_run();
    size_t before = test_heap.live_blocks;
    int status = ROAST_NO_MEMORY;

    (void)state;
    for (size_t n = 1; status != ROAST_OK; n++) {
        roast_table *columns = NULL;
        test_heap_fail(n, true);
        status = roast_series_table(&columns, run, ROAST_SERIES_memory, NULL);
        test_heap_fail(0, false);
        roast_table_free(columns);
        assert_int_equal(test_heap.live_blocks, before);
    }
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_what_is_not_known),
        cmocka_unit_test(test_what_no_column_can_hold_is_not_known),
        cmocka_unit_test(test_words_are_kept_once),
        cmocka_unit_test(test_words_are_always_utf8),
        cmocka_unit_test(test_lists_of_texts),
        cmocka_unit_test(test_every_table_has_its_columns),
        cmocka_unit_test(test_references_are_counted),
        cmocka_unit_test(test_tables_have_names_and_distinct_columns),
        cmocka_unit_test(test_columns_stand_in_the_order_of_tables),
        cmocka_unit_test(test_an_empty_run_has_all_tables),
        cmocka_unit_test(test_parts_are_the_whole_table),
        cmocka_unit_test(test_any_allocation_may_fail),
        cmocka_unit_test(test_any_allocation_may_fail_in_parts),
        cmocka_unit_test(test_any_allocation_may_fail_in_a_series),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
