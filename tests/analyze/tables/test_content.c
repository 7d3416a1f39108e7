/* SPDX-License-Identifier: BSD-3-Clause */
/* What tables made of records say: chunks, tasks, sections, branches. */
#include "analyze/reads.h"
#include "analyze/runs.h"
#include "analyze/table_cells.h"

/* ---- chunks and tasks ------------------------------------------------------------ */

/* Chunks that ended well, failed, were tried again, repeated, lost, not recorded. */
static roast_run *tried_run(void)
{
    roast_run *run = run_new();
    struct roast_ladder ladder = {0};

    roast_ladder_set(&ladder, ROAST_ITEM_open, 250000000);
    roast_ladder_set(&ladder, ROAST_ITEM_gc_cpu, 500000000);
    roast_ladder_set(&ladder, ROAST_ITEM_open_bytes, 77);
    add_frame(run, (struct frame){.first = 0, .stop = 10, .start = 5, .events = 10});
    add_frame(run, (struct frame){.first = 10,
                                  .stop = 20,
                                  .start = 1,
                                  .status = ROAST_CHUNK_FAILED,
                                  .error_type = "OSError"});
    add_frame(run, (struct frame){.process = 2,
                                  .sequence = 7,
                                  .worker = "w2",
                                  .host = "there",
                                  .first = 10,
                                  .stop = 20,
                                  .start = 3,
                                  .duration = 1.5,
                                  .cpu = 1.25,
                                  .events = 9,
                                  .peak_mb = 3,
                                  .undecorated = true,
                                  .bytes_known = true,
                                  .bytes = 100,
                                  .bytes_before = 5});
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .process = 2,
                                  .sequence = 7,
                                  .task_start = 2.5,
                                  .task = 2.25,
                                  .task_cpu = 2,
                                  .ladder = ladder_blob(&ladder)});
    add_frame(run, (struct frame){.first = 10, .stop = 20, .start = 4, .events = 9});
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN,
                                  .process = 3,
                                  .file = "b.root",
                                  .first = 0,
                                  .stop = 5,
                                  .start = 6});
    return run;
}

static void test_chunks_are_those_that_count(void **state)
{
    roast_run *run = tried_run();
    roast_table *chunks = table_of(run, ROAST_TABLE_chunks);

    (void)state;
    assert_int_equal(roast_table_rows(chunks), 2);
    assert_near(number_in(chunks, "chunk_id", 0), 1); /* the first record failed */
    assert_near(number_in(chunks, "chunk_id", 1), 3);
    assert_near(number_in(chunks, "attempt", 0), 2);
    assert_near(number_in(chunks, "attempt", 1), 1);
    assert_str_is(text_in(chunks, "status", 0), "ok");
    assert_str_is(text_in(chunks, "dataset", 0), "ttbar");
    assert_str_is(text_in(chunks, "file", 0), "a.root");
    assert_str_is(text_in(chunks, "treename", 0), "Events");
    assert_near(number_in(chunks, "entry_start", 0), 10);
    assert_near(number_in(chunks, "entry_stop", 0), 20);
    assert_near(number_in(chunks, "num_events", 0), 9);
    assert_true(is_unknown(chunks, "uuid", 0));
    assert_true(is_unknown(chunks, "thread", 0));
    assert_near(number_in(chunks, "undecorated", 0), 1);
    assert_near(number_in(chunks, "undecorated", 1), 0);
    roast_table_free(chunks);
    roast_run_free(run);
}

static void test_chunks_have_times_workers_and_amounts(void **state)
{
    roast_run *run = tried_run();
    roast_table *chunks = table_of(run, ROAST_TABLE_chunks);

    (void)state;
    assert_str_is(text_in(chunks, "worker", 0), "w2");
    assert_str_is(text_in(chunks, "host", 0), "there");
    assert_near(number_in(chunks, "pid", 0), 102);
    assert_str_is(text_in(chunks, "worker", 1), "pid-101");
    struct roast_cell start = value_at(chunks, "start", 0);
    assert_true(start.type == ROAST_CELL_COUNT &&
                start.count == (uint64_t)(RUN_EPOCH_NS + NS(3)));
    assert_near(number_in(chunks, "duration", 0), 1.5);
    assert_near(number_in(chunks, "cpu_time", 0), 1.25);
    assert_near(number_in(chunks, "task_time", 0), 2.25);
    assert_near(number_in(chunks, "task_cpu_time", 0), 2);
    assert_near(number_in(chunks, "rss_peak_bytes", 0), 3 << 20);
    assert_near(number_in(chunks, "bytes_read", 0), 100);
    assert_near(number_in(chunks, "bytes_before_process", 0), 5);
    assert_near(number_in(chunks, "open_s", 0), 0.25);
    assert_near(number_in(chunks, "gc_time", 0), 0.5); /* as chunk_metrics calls it */
    assert_near(number_in(chunks, "open_bytes", 0), 77);
    assert_true(is_unknown(chunks, "form_s", 0));
    assert_true(is_unknown(chunks, "open_s", 1));
    assert_true(is_unknown(chunks, "task_time", 1));
    assert_true(is_unknown(chunks, "bytes_read", 1));
    roast_table_free(chunks);
    roast_run_free(run);
}

static void test_tasks_are_all_attempts(void **state)
{
    static const char *const statuses[] = {"failed", "ok", "repeat", "ok", "running"};
    roast_run *run = tried_run();
    roast_table *tasks = table_of(run, ROAST_TABLE_tasks);

    (void)state;
    assert_int_equal(roast_table_rows(tasks), COUNT_OF(statuses));
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        assert_str_is(text_in(tasks, "status", i), statuses[i]);
        assert_str_is(text_in(tasks, "kind", i), "chunk");
    }
    for (size_t i = 0; i < 4; i++)
        assert_near(number_in(tasks, "chunk_id", i), (double)i);
    assert_true(is_unknown(tasks, "chunk_id", 4));
    assert_str_is(text_in(tasks, "error_type", 0), "OSError");
    assert_near(number_in(tasks, "attempt", 2), 3);
    assert_near(number_in(tasks, "duration", 1), 2.25);
    assert_true(is_unknown(tasks, "duration", 0));
    assert_true(is_unknown(tasks, "worker", 4)); /* a begin frame has no pid */
    roast_table_free(tasks);
    roast_run_finish(run, NS(9));
    tasks = table_of(run, ROAST_TABLE_tasks);
    assert_str_is(text_in(tasks, "status", 4), "lost");
    roast_table_free(tasks);
    roast_run_free(run);
}

/* The task of the second chunk started first, and waited longer for its file. */
static void test_tasks_are_in_the_order_of_their_start(void **state)
{
    static const double starts[][2] = {{3, 2}, {4, 1}, {0, 5}}; /* process(), task */
    roast_run *run = run_new();

    (void)state;
    for (uint32_t i = 0; i < COUNT_OF(starts); i++) {
        struct frame frame = {.sequence = 70 + i,
                              .first = i,
                              .stop = i + 1,
                              .start = starts[i][0],
                              .duration = 1,
                              .task_start = starts[i][1],
                              .task = 9};
        if (starts[i][0] > 0)
            add_frame(run, frame);
        frame.kind = starts[i][0] > 0 ? ROAST_FRAME_END : ROAST_FRAME_BEGIN;
        frame.start = starts[i][1];
        add_frame(run, frame);
    }
    roast_table *tasks = table_of(run, ROAST_TABLE_tasks);
    assert_int_equal(roast_table_rows(tasks), 3);
    for (size_t i = 1; i < 3; i++)
        assert_true(number_in(tasks, "start", i - 1) < number_in(tasks, "start", i));
    assert_near(number_in(tasks, "chunk_id", 0), 1);
    assert_near(number_in(tasks, "chunk_id", 1), 0);
    assert_true(is_unknown(tasks, "chunk_id", 2));
    roast_table_free(tasks);
    roast_run_free(run);
}

static void test_a_table_does_not_change_with_the_run(void **state)
{
    roast_run *run = tried_run();
    roast_table *chunks = table_of(run, ROAST_TABLE_chunks);

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        add_frame(run, (struct frame){.file = "z.root", .first = i, .stop = i + 1});
    roast_run_free(run);
    assert_int_equal(roast_table_rows(chunks), 2);
    assert_str_is(text_in(chunks, "file", 1), "a.root");
    roast_table_free(chunks);
}

/* ---- sections -------------------------------------------------------------------- */

static struct roast_str sections_blob(const struct roast_section *all, size_t count)
{
    char *room = blob_room();

    return blob_of(room, roast_sections_write(room, BLOB_BYTES, all, count, NULL));
}

static roast_run *sectioned_run(void)
{
    static const struct roast_section sections[] = {
        {.name = {"fit", 3}, .parent = -1, .kinds = 1, .count = 2, .total_ns = 900},
        {.name = {"io", 2}, .parent = 0, .depth = 1, .kinds = 1, .total_ns = 300},
        {.name = {"io", 2},
         .parent = -1,
         .kinds = 6,
         .count = 1,
         .total_ns = 50,
         .memory_delta_bytes = -70,
         .bytes = 8},
    };
    struct roast_str blob = sections_blob(sections, 3);
    struct roast_str two = sections_blob(sections, 2);
    roast_run *run = run_new();

    add_frame(run, (struct frame){.first = 0, .stop = 1, .start = 2, .sections = blob});
    add_frame(run, (struct frame){.first = 1, .stop = 2, .start = 1, .sections = two});
    add_frame(run, (struct frame){.file = "b.root", .stop = 1, .sections = two});
    add_frame(run, (struct frame){.first = 7,
                                  .stop = 8,
                                  .status = ROAST_CHUNK_FAILED,
                                  .sections = blob});
    return run;
}

static void test_sections_are_added_up_by_file_and_place(void **state)
{
    roast_run *run = sectioned_run();
    roast_table *sections = table_of(run, ROAST_TABLE_sections);

    (void)state;
    assert_int_equal(roast_table_rows(sections), 5);
    assert_str_is(text_in(sections, "file", 0), "a.root");
    assert_str_is(text_in(sections, "name", 0), "fit");
    assert_true(is_unknown(sections, "parent", 0));
    assert_near(number_in(sections, "chunks", 0), 2);
    assert_near(number_in(sections, "count", 0), 4);
    assert_near(number_in(sections, "total", 0), 1800e-9);
    assert_near(number_in(sections, "self", 0), 1200e-9);
    assert_str_is(text_in(sections, "name", 1), "io");
    assert_str_is(text_in(sections, "parent", 1), "fit");
    assert_near(number_in(sections, "depth", 1), 1);
    assert_near(number_in(sections, "total", 1), 600e-9);
    assert_true(is_unknown(sections, "bytes", 1));
    assert_true(is_unknown(sections, "parent", 2)); /* another one of that name */
    assert_str_is(text_in(sections, "kind", 2), "memory+bytes");
    assert_near(number_in(sections, "memory_delta_bytes", 2), -70);
    assert_near(number_in(sections, "bytes", 2), 8);
    assert_str_is(text_in(sections, "file", 3), "b.root");
    roast_table_free(sections);
    roast_run_free(run);
}

static void test_sections_of_single_chunks(void **state)
{
    static const double chunk_ids[] = {0, 0, 2, 2, 3, 3, 3};
    roast_run *run = sectioned_run();
    roast_table *sections = table_of(run, ROAST_TABLE_chunk_sections);

    (void)state;
    assert_int_equal(roast_table_rows(sections), COUNT_OF(chunk_ids));
    for (size_t i = 0; i < COUNT_OF(chunk_ids); i++)
        assert_near(number_in(sections, "chunk_id", i), chunk_ids[i]);
    assert_near(number_in(sections, "self", 0), 600e-9);
    assert_str_is(text_in(sections, "parent", 1), "fit");
    assert_near(number_in(sections, "memory_delta_bytes", 6), -70);
    roast_table_free(sections);
    roast_run_free(run);
}

/* ---- branches -------------------------------------------------------------------- */

static void test_branches_are_added_up_by_file(void **state)
{
    roast_run *run = reading_run();
    roast_table *branches = table_of(run, ROAST_TABLE_branches);

    (void)state;
    assert_int_equal(roast_table_rows(branches), 5);
    size_t jet = row_with(branches, "branch", "Jet_pt");
    assert_str_is(text_in(branches, "file", jet), "a.root");
    assert_str_is(text_in(branches, "dataset", jet), "ttbar");
    assert_near(number_in(branches, "chunks", jet), 2);
    assert_near(number_in(branches, "reads", jet), 2);
    assert_near(number_in(branches, "bytes", jet), 150);
    assert_near(number_in(branches, "uncompressed_bytes", jet), 450);
    assert_near(number_in(branches, "seconds", jet), 0.15);
    assert_near(number_in(branches, "accessed", jet), 1);
    size_t other = row_with(branches, "file", "b.root"); /* the failed one is not in */
    assert_str_is(text_in(branches, "branch", other), "nJet");
    assert_near(number_in(branches, "offsets_only", other), 0);
    size_t offsets = row_with(branches, "branch", "nJet");
    assert_near(number_in(branches, "offsets_only", offsets), 1);
    roast_table_free(branches);
    roast_run_free(run);
}

/* Of the first chunk that has them; a file of several trees has a list for each. */
static void test_all_branches_of_files(void **state)
{
    struct roast_branch all[] = {branch("Jet_pt", DATA, 0, 300),
                                 branch("never_read", 0, 0, 20)};
    struct roast_str facts = facts_blob(&ttree);
    roast_run *run = run_new();

    (void)state;
    all[1].baskets = 10;
    for (uint64_t i = 0; i < 3; i++)
        add_frame(run, (struct frame){.file = "a.root",
                                      .first = i,
                                      .stop = i + 1,
                                      .file_facts = facts,
                                      .file_branches = i == 0 ? (struct roast_str){0}
                                                              : branches_blob(all, 2)});
    roast_table *table = table_of(run, ROAST_TABLE_file_branches);
    assert_int_equal(roast_table_rows(table), 2);
    size_t row = row_with(table, "branch", "never_read");
    assert_str_is(text_in(table, "file", row), "a.root");
    assert_near(number_in(table, "compressed_bytes", row), 20);
    assert_near(number_in(table, "uncompressed_bytes", row), 40);
    assert_near(number_in(table, "baskets", row), 10);
    assert_near(number_in(table, "basket_bytes", row), 2);
    assert_near(number_in(table, "basket_entries", row), 20);
    int64_t baskets;
    assert_false(roast_table_int(&baskets, table, row_with(table, "branch", "Jet_pt"),
                                 ROAST_COL_file_branches_baskets));
    roast_table_free(table);
    roast_run_free(run);
}

static void test_branches_add_up_to_those_of_the_summary(void **state)
{
    static const char *const sums[] = {"bytes", "uncompressed_bytes", "seconds",
                                       "reads", "chunks"};
    roast_run *run = reading_run();
    roast_summary *summary = summary_of(run);
    roast_table *branches = table_of(run, ROAST_TABLE_branches);
    roast_table *chunks = table_of(run, ROAST_TABLE_chunk_branches);

    (void)state;
    for (size_t i = 0; i < rows_of(summary, "branch_costs"); i++) {
        struct roast_str name = text_at(summary, "branch_costs", i, "branch");
        for (size_t k = 0; k < COUNT_OF(sums); k++) {
            double files = 0, single = 0;
            for (size_t row = 0; row < roast_table_rows(branches); row++) {
                if (str_equal(text_in(branches, "branch", row), name))
                    files += number_in(branches, sums[k], row);
            }
            for (size_t row = 0; row < roast_table_rows(chunks); row++) {
                if (str_equal(text_in(chunks, "branch", row), name))
                    single += k == 4 ? 1 : number_in(chunks, sums[k], row);
            }
            assert_near(files, number_at(summary, "branch_costs", i, sums[k]));
            assert_near(single, files);
        }
    }
    roast_table_free(branches);
    roast_table_free(chunks);
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_are_those_that_count),
        cmocka_unit_test(test_chunks_have_times_workers_and_amounts),
        cmocka_unit_test(test_tasks_are_all_attempts),
        cmocka_unit_test(test_tasks_are_in_the_order_of_their_start),
        cmocka_unit_test(test_a_table_does_not_change_with_the_run),
        cmocka_unit_test(test_sections_are_added_up_by_file_and_place),
        cmocka_unit_test(test_sections_of_single_chunks),
        cmocka_unit_test(test_branches_are_added_up_by_file),
        cmocka_unit_test(test_all_branches_of_files),
        cmocka_unit_test(test_branches_add_up_to_those_of_the_summary),
    };

    return cmocka_run_group_tests_name("columns_content", tests, NULL, NULL);
}
