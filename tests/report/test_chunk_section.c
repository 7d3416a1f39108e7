/* SPDX-License-Identifier: BSD-3-Clause */
/* test_chunk_section.c - the section about chunks: slices, bytes, branches, storage.
 *
 * The golden file is what users see; a change there is a change for them. */
#include <math.h>
#include <stdio.h>

#include "golden.h"
#include "tables_by_hand.h"

#include "roast/ladder.h"

enum { MAX_CELLS = 128, LADDER = 0, SPLIT, HOOKS, BRANCHES, ENDPOINTS, TABLES };

static struct roast_metric_values values;
static const char *slice_names[ROAST_SLICE_COUNT];
static struct roast_cell cells[TABLES][MAX_CELLS];
static struct hand_table tables[TABLES];
static struct roast_heading heading;
static struct roast_page_input shown = {.values = &values, .heading = &heading};

static const char *const split_columns[] = {"on_cpu", "runqueue", "fetch_wait",
                                            "blocked", "waiting"};
static const char *const hook_columns[] = {"hook", "where", "lost", "chunks"};
static const char *const branch_columns[] = {"branch",  "bytes", "uncompressed_bytes",
                                             "seconds", "reads", "chunks"};
static const char *const endpoint_columns[] = {
    "endpoint",           "requests", "ranges",       "bytes",
    "mean_request_bytes", "errors",   "wait_seconds",
};

/* ---- a run, by hand ----------------------------------------------------------- */

static void open_table(int number, const char *name, const char *const *columns,
                       size_t column_count)
{
    tables[number] = (struct hand_table){.name = name,
                                         .columns = columns,
                                         .column_count = column_count,
                                         .cells = cells[number]};
}

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    set_nothing(&values);
    heading = (struct roast_heading){.full_by = NULL};
    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        slice_names[i] = roast_ladder_info((enum roast_ladder_item)i)->name;
    open_table(LADDER, "ladder", slice_names, ROAST_SLICE_COUNT);
    open_table(SPLIT, "chunk_split", split_columns, COUNT_OF(split_columns));
    open_table(HOOKS, "hooks_missing", hook_columns, COUNT_OF(hook_columns));
    open_table(BRANCHES, "branch_costs", branch_columns, COUNT_OF(branch_columns));
    open_table(ENDPOINTS, "endpoints", endpoint_columns, COUNT_OF(endpoint_columns));
    memset(cells, 0, sizeof(cells)); /* all absent */
    return 0;
}

static struct roast_cell *add_row(int table)
{
    size_t begin = tables[table].row_count++ * tables[table].column_count;

    assert_true(begin + tables[table].column_count <= MAX_CELLS);
    return &cells[table][begin];
}

static void set_slice(enum roast_ladder_item slice, double seconds)
{
    tables[LADDER].row_count = 1;
    cells[LADDER][slice] = cell_number(seconds);
}

static void set_split(double on_cpu, double runqueue, double fetch_wait, double blocked)
{
    struct roast_cell *row = cells[SPLIT];

    tables[SPLIT].row_count = 1;
    row[0] = cell_number(on_cpu);
    row[1] = cell_number(runqueue);
    row[2] = cell_number(fetch_wait);
    row[3] = cell_number(blocked);
}

static void add_hook(struct roast_cell hook, struct roast_cell lost)
{
    struct roast_cell *row = add_row(HOOKS);

    row[0] = hook;
    row[1] = cell_text("some.module.name");
    row[2] = lost;
    row[3] = cell_count(8);
}

static void add_known_hook(enum roast_hook number)
{
    const struct roast_hook_info *hook = roast_hook_info(number);

    add_hook(cell_text(hook->name), cell_text(hook->text));
}

static void add_branch(struct roast_cell name, uint64_t bytes, double seconds)
{
    struct roast_cell *row = add_row(BRANCHES);

    row[0] = name;
    row[1] = cell_count(bytes);
    row[2] = cell_count(2 * bytes);
    row[3] = cell_number(seconds);
    row[4] = cell_count(8);
    row[5] = cell_count(8);
}

static void add_endpoint(struct roast_cell name, uint64_t requests, uint64_t bytes)
{
    struct roast_cell *row = add_row(ENDPOINTS);

    row[0] = name;
    row[1] = cell_count(requests);
    row[2] = cell_count(10 * requests);
    row[3] = cell_count(bytes);
    row[4] = cell_number((double)bytes / (double)requests);
    row[5] = cell_count(requests / 100);
    row[6] = cell_number((double)requests * 2.5e-3);
}

/* Most of the time is before process(). */
static void set_typical_slices(void)
{
    set_slice(ROAST_ITEM_import, 0.404);
    set_slice(ROAST_ITEM_open, 0.0518);
    set_slice(ROAST_ITEM_form, 6.05);
    set_slice(ROAST_ITEM_fetch, 0.0206);
    set_slice(ROAST_ITEM_decompress, 1.02);
    set_slice(ROAST_ITEM_interpret, 0.352);
    set_slice(ROAST_ITEM_read_other, 0.78);
    set_slice(ROAST_ITEM_compute, 1.43);
    set_slice(ROAST_ITEM_write, 0);
    set_slice(ROAST_ITEM_result, 0.0042);
    set_slice(ROAST_ITEM_unnamed, 0.0011);
}

static void set_typical_run(void)
{
    set_typical_slices();
    set_split(6.169, 2.02, 0.404, 1.52);
    SET(&values, wall_time, 7.6);
    SET(&values, ladder_chunks, 8);
    SET(&values, gc_seconds, 0.3114);
    SET(&values, open_bytes, 1101824);
    SET(&values, metadata_bytes, 8790100);
    SET(&values, column_bytes, 820000);
    add_known_hook(ROAST_HOOK_write);
    add_known_hook(ROAST_HOOK_submit);
    add_branch(cell_text("nJet"), 4100, 0.001);
    add_branch(cell_text("Jet_pt"), 312000, 0.21);
    add_branch(cell_text("Jet_eta"), 311000, 0.2);
    add_branch(cell_text("HLT_IsoMu24_eta2p1_TightID_SingleL1"), 90000, 0.05);
    add_branch(cell_text("Electron_pt"), 40000, 0.03);
    add_branch(cell_text("Muon_mass"), 2000, 0.002);
    add_branch(cell_text("Electron_eta"), 60900, 0.04);
    add_endpoint(cell_text("file:///data/samples"), 4, 400000);
    add_endpoint(cell_text("root://eos.example.org"), 164, 10311924);
}

/* ---- the page ----------------------------------------------------------------- */

/* The input of the page, with the current tables. */
static const struct roast_page_input *built(void)
{
    test_heap_fail(0, false);
    show_tables(&shown, tables, TABLES);
    return &shown;
}

static void check_says(const char *text, bool wanted)
{
    struct roast_page page = make_page(roast__report_text, built());

    check_page_fits(&page);
    if ((strstr(page.text, text) != NULL) != wanted)
        fail_msg("%s %s:\n%s", text, wanted ? "is not in" : "is in", page.text);
    roast_page_release(&page);
}

static void test_where_the_time_of_a_chunk_went(void **state)
{
    (void)state;
    set_typical_run();
    struct roast_page page = make_page(roast__report_text, built());
    check_page_fits(&page);
    const char *begin = strstr(page.text, "\nINSIDE A CHUNK");
    assert_non_null(begin);
    check_golden("report_chunk_section.txt", roast_str_of(begin));
    roast_page_release(&page);
}

static void test_the_card_shows_it_too(void **state)
{
    (void)state;
    set_typical_run();
    struct roast_page page = make_page(roast__report_card, built());
    const char *more = strstr(page.text, "<summary>More</summary>");
    const char *inside = strstr(page.text, "\nINSIDE A CHUNK   10.1 s in 8 chunks\n");
    const char *reading = strstr(page.text, "\nREAD   10.7 MB");
    assert_non_null(inside);
    assert_true(more && more < inside && inside < reading);
    roast_page_release(&page);
}

static void test_nothing_known_is_nothing_shown(void **state)
{
    (void)state;
    check_says("INSIDE A CHUNK", false);
    check_says("READ", false);
    set_slice(ROAST_ITEM_form, 0); /* no time, no bytes: nothing to share */
    set_split(0, 0, 0, 0);
    SET(&values, ladder_chunks, 0);
    SET(&values, gc_seconds, 0);
    SET(&values, open_bytes, 0);
    SET(&values, metadata_bytes, 0);
    SET(&values, column_bytes, 0);
    check_says("INSIDE A CHUNK", false);
    check_says("READ", false);
    check_says("garbage", false);
}

/* ---- time --------------------------------------------------------------------- */

static void test_a_slice_that_is_all_has_the_whole_bar(void **state)
{
    (void)state;
    set_slice(ROAST_ITEM_compute, 0.25);
    SET(&values, ladder_chunks, 1);
    check_says("\nINSIDE A CHUNK   250 ms in 1 chunk\n"
               "  your process()  250 ms  100 %  "
               "########################################\n",
               true);
}

static void test_chunks_without_a_ladder_are_counted(void **state)
{
    (void)state;
    set_slice(ROAST_ITEM_compute, 0.25);
    SET(&values, ladder_chunks, 1);
    SET(&values, num_chunks_without_ladder, 0);
    check_says("\nINSIDE A CHUNK   250 ms in 1 chunk\n", true);
    SET(&values, num_chunks_without_ladder, 2);
    check_says("\nINSIDE A CHUNK   250 ms in 1 of 3 chunks\n", true);
}

static void test_without_a_count_the_title_has_the_time_alone(void **state)
{
    (void)state;
    set_slice(ROAST_ITEM_compute, 0.25);
    check_says("\nINSIDE A CHUNK   250 ms\n", true);
}

/* 0.05 % is the least that does not round to 0.0 %. */
static void test_small_slices_are_one_line(void **state)
{
    (void)state;
    set_slice(ROAST_ITEM_compute, 9.993);
    set_slice(ROAST_ITEM_open, 0.0051);
    set_slice(ROAST_ITEM_result, 0.0019);
    check_says("  open files      5.10 ms  0.0510 %\n"
               "  1 below 0.05 %  1.90 ms  0.0190 %\n",
               true);
    check_says("pack output", false);
    set_slice(ROAST_ITEM_result, 0);
    check_says("below 0.05 %", false);
}

static void test_equal_slices_stand_in_their_order(void **state)
{
    (void)state;
    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        set_slice((enum roast_ladder_item)i, 1);
    struct roast_page page = make_page(roast__report_text, built());
    const char *last = page.text;
    for (int i = 0; i < ROAST_SLICE_COUNT; i++) {
        const char *name = roast_ladder_info((enum roast_ladder_item)i)->shown;
        const char *here = strstr(page.text, name);
        assert_true(here && here > last);
        last = here;
    }
    roast_page_release(&page);
}

/* A run file of a newer version may hold slices that are not in our list. */
static void test_parts_of_the_split_that_are_not_known_are_left_out(void **state)
{
    (void)state;
    set_slice(ROAST_ITEM_compute, 4);
    set_split(3, NAN, 0, 1);
    check_says("\n  on CPU 75.0 % | storage 0 % | blocked 25.0 %\n", true);
    set_split(1, 1, 1, 1);
    check_says(
        "\n  on CPU 25.0 % | no core free 25.0 % | storage 25.0 % | blocked 25.0 %\n",
        true);
    cells[SPLIT][4] = cell_number(4); /* as long as the line can be */
    check_says(
        "\n  on CPU 12.5 % | no core free 12.5 % | storage 12.5 % | blocked 12.5 %\n"
        "  storage or blocked 50.0 %\n",
        true);
}

static void test_garbage_collection_is_an_overlay(void **state)
{
    (void)state;
    set_slice(ROAST_ITEM_compute, 4);
    SET(&values, gc_seconds, 0.1);
    check_says("\n  of it garbage collection (CPU) 100 ms (2.50 %)\n", true);
    SET(&values, gc_seconds, 0);
    check_says("garbage", false);
}

static void test_missing_hooks_are_named_without_any_slice(void **state)
{
    (void)state;
    add_known_hook(ROAST_HOOK_events);
    check_says("\nINSIDE A CHUNK\n  hook events missing: building events counts as "
               "process()\n",
               true);
    for (int i = 0; i < 12; i++)
        add_known_hook(ROAST_HOOK_gc);
    check_says("\n  hook gc missing: garbage collection\n", true);
    heading.full_by = "--full";
    check_says("\n  hook gc missing: garbage collection\n  8 more: --full\n", true);
}

/* ---- bytes -------------------------------------------------------------------- */

static void test_the_share_of_metadata_needs_all_kinds(void **state)
{
    (void)state;
    SET(&values, open_bytes, 1000);
    SET(&values, column_bytes, 3000);
    SET(&values, other_bytes, 0);
    check_says("\nREAD   4.00 kB\n  1.00 kB opening | 3.00 kB columns\n", true);
    SET(&values, metadata_bytes, 0);
    check_says("\nREAD   4.00 kB, 25.0 % of the bytes are metadata\n", true);
    SET(&values, other_bytes, 1000);
    check_says(
        "\nREAD   5.00 kB, 20.0 % of the bytes are metadata\n"
        "  1.00 kB opening | 0 B tree metadata | 3.00 kB columns | 1.00 kB other\n",
        true);
}

/* Of parquet the seconds are known and the bytes are not. */
static void test_branches_without_bytes_are_ranked_by_time(void **state)
{
    (void)state;
    add_branch(cell_text("quick"), 0, 0.1);
    add_branch(cell_text("slow"), 0, 0.9);
    for (size_t row = 0; row < 2; row++)
        cells[BRANCHES][row * COUNT_OF(branch_columns) + 1].type = ROAST_CELL_ABSENT;
    check_says("\nREAD\n"
               "  branch  bytes  of columns    time  reads\n"
               "  slow        -           -  900 ms      8\n"
               "  quick       -           -  100 ms      8\n",
               true);
}

/* ---- hostile data ------------------------------------------------------------- */

static void check_hostile(struct roast_str text)
{
    struct roast_cell bad = {.type = ROAST_CELL_TEXT, .text = text};

    (void)setup(NULL);
    set_typical_slices();
    add_hook(bad, bad);
    add_branch(bad, UINT64_MAX, -1e300);
    add_endpoint(bad, UINT64_MAX, 1);
    for (size_t i = 1; i < COUNT_OF(branch_columns); i++)
        add_row(BRANCHES)[0] = bad;
    struct roast_page page = make_page(roast__report_text, built());
    check_page_fits(&page);
    assert_true(page.size_bytes < 16 * 1024);
    roast_page_release(&page);
    page = make_page(roast__report_card, built());
    assert_null(strstr(page.text, "<script"));
    assert_null(strchr(page.text, '\x1b'));
    roast_page_release(&page);
}

static void test_hostile_names_do_no_harm(void **state)
{
    static const char *const texts[] = {
        "",
        "x\x1b[2J\x1b]0;owned\a\n\r\t",
        "\xe2\x80\xaegpj.exe \xff\xfe\x80 \xc3",
        "<script>alert(1)</script>",
        "%s%n%99999999d",
    };
    static char huge[1024 * 1024];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char *tight = tight_copy(texts[i], strlen(texts[i]));
        check_hostile(str_from(tight, strlen(texts[i])));
        free(tight);
    }
    check_hostile(str_from("nul\0nul", 7));
    check_hostile((struct roast_str){NULL, 0});
    memset(huge, 'n', sizeof(huge));
    check_hostile(str_from(huge, sizeof(huge)));
}

static void test_hostile_numbers_do_no_harm(void **state)
{
    static const double numbers[] = {NAN, INFINITY, -INFINITY, -1, 1e300, 5e-324};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        double bad = numbers[i];
        (void)setup(NULL);
        set_typical_run();
        set_slice(ROAST_ITEM_form, bad);
        set_slice(ROAST_ITEM_open, bad);
        set_split(bad, 1, bad, 1);
        SET(&values, gc_seconds, bad);
        SET(&values, ladder_chunks, bad);
        check_says("INSIDE A CHUNK", true);
    }
}

static void test_failing_allocations(void **state)
{
    (void)state;
    set_typical_run();
    check_memory_sweep(roast__report_text, built());
    check_memory_sweep(roast__report_card, built());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_where_the_time_of_a_chunk_went, setup),
        cmocka_unit_test_setup(test_the_card_shows_it_too, setup),
        cmocka_unit_test_setup(test_nothing_known_is_nothing_shown, setup),
        cmocka_unit_test_setup(test_a_slice_that_is_all_has_the_whole_bar, setup),
        cmocka_unit_test_setup(test_chunks_without_a_ladder_are_counted, setup),
        cmocka_unit_test_setup(test_without_a_count_the_title_has_the_time_alone,
                               setup),
        cmocka_unit_test_setup(test_small_slices_are_one_line, setup),
        cmocka_unit_test_setup(test_equal_slices_stand_in_their_order, setup),
        cmocka_unit_test_setup(test_parts_of_the_split_that_are_not_known_are_left_out,
                               setup),
        cmocka_unit_test_setup(test_garbage_collection_is_an_overlay, setup),
        cmocka_unit_test_setup(test_missing_hooks_are_named_without_any_slice, setup),
        cmocka_unit_test_setup(test_the_share_of_metadata_needs_all_kinds, setup),
        cmocka_unit_test_setup(test_branches_without_bytes_are_ranked_by_time, setup),
        cmocka_unit_test_setup(test_hostile_names_do_no_harm, setup),
        cmocka_unit_test_setup(test_hostile_numbers_do_no_harm, setup),
        cmocka_unit_test_setup(test_failing_allocations, setup),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
