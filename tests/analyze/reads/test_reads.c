/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reads.c - what was read: by branch and by storage; and a summary of it that runs
 * out of memory at every place. */
#include "analyze/reads.h"
#include "heap.h"
#include "run/run.h"

/* ---- branches -------------------------------------------------------------------- */

static void test_costs_by_branch(void **state)
{
    roast_run *run = reading_run();
    roast_summary *summary = summary_of(run);
    const char *const order[] = {"Jet_pt", "Jet_eta", "nJet", "MET_pt"};

    (void)state;
    assert_int_equal(rows_of(summary, "branch_costs"), 4);
    for (size_t i = 0; i < COUNT_OF(order); i++)
        assert_int_equal(row_of(summary, "branch_costs", order[i]), i);
    assert_near(number_at(summary, "branch_costs", 0, "bytes"), 150);
    assert_near(number_at(summary, "branch_costs", 0, "uncompressed_bytes"), 450);
    assert_near(number_at(summary, "branch_costs", 0, "seconds"), 0.15);
    assert_near(number_at(summary, "branch_costs", 0, "reads"), 2);
    assert_near(number_at(summary, "branch_costs", 0, "chunks"), 2);
    assert_near(number_at(summary, "branch_costs", 0, "accessed"), 1);
    assert_near(number_at(summary, "branch_costs", 0, "preloaded"), 0);
    assert_near(number_at(summary, "branch_costs", 1, "accessed"), 0);
    assert_near(number_at(summary, "branch_costs", 1, "offsets_only"), 0);
    assert_near(number_at(summary, "branch_costs", 1, "preloaded"), 1);
    assert_near(number_at(summary, "branch_costs", 2, "bytes"), 20);
    assert_near(number_at(summary, "branch_costs", 2, "offsets_only"), 0);
    assert_near(number_at(summary, "branch_costs", 3, "preloaded"), 1);
    assert_metric(summary, total_branches_read, 3);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_offsets_alone_are_no_access(void **state)
{
    struct roast_branch one[] = {branch("nJet", OFFSETS, 10, 20)};
    roast_run *run = run_new();

    (void)state;
    add_chunk(run, "a.root", 0, branches_blob(one, 1), facts_blob(&ttree));
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "branch_costs", 0, "offsets_only"), 1);
    assert_near(number_at(summary, "branch_costs", 0, "accessed"), 0);
    assert_metric(summary, total_branches_read, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* What was read in bulk and never looked at need not be read again. */
static void test_the_list_that_would_cover_the_run(void **state)
{
    roast_run *run = reading_run();
    roast_summary *summary = summary_of(run);
    const char *const names[] = {"Jet_pt", "MET_pt", "nJet"};

    (void)state;
    assert_int_equal(roast_table_shape(ROAST_TABLE_preload), ROAST_SHAPE_VALUES);
    assert_int_equal(rows_of(summary, "preload"), COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_str_is(text_at(summary, "preload", i, "branch"), names[i]);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A chunk whose attempt was looked into without some hooks. */
static void add_with_ladder(roast_run *run, struct frame frame, uint64_t missing)
{
    static uint32_t sequence;
    struct roast_ladder ladder = {0};

    frame.sequence = ++sequence;
    add_frame(run, frame);
    roast_ladder_set(&ladder, ROAST_ITEM_hooks_missing, missing);
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .sequence = sequence,
                                  .task = 1,
                                  .ladder = ladder_blob(&ladder)});
}

static bool is_there(const roast_summary *summary, const char *table, const char *key,
                     const char *column)
{
    return cell_at(summary, table, row_of(summary, table, key), column).type !=
           ROAST_CELL_ABSENT;
}

/* 0 bytes of a branch that was read: none where they were counted, else unknown. */
static void test_bytes_that_were_not_counted(void **state)
{
    struct roast_file_facts parquet = ttree;
    struct roast_branch no_bytes = branch("Jet_pt", DATA, 0, 300);
    struct roast_branch cached = branch("nJet", DATA, 0, 20);
    struct frame frame = {.stop = 1, .file_facts = facts_blob(&ttree)};
    roast_run *run = run_new();

    (void)state;
    parquet.kind = ROAST_FILE_PARQUET;
    cached.reads = 0;
    struct roast_branch both[] = {no_bytes, cached};
    frame.file = "hookless";
    frame.branches = branches_blob(both, 2);
    add_with_ladder(run, frame, UINT64_C(1) << ROAST_HOOK_submit);
    frame.file = "parquet";
    frame.file_facts = facts_blob(&parquet);
    add_with_ladder(run, frame, 0);
    roast_summary *summary = summary_of(run);
    assert_false(is_there(summary, "branch_costs", "Jet_pt", "bytes"));
    assert_false(is_there(summary, "branch_costs", "Jet_pt", "uncompressed_bytes"));
    assert_true(is_there(summary, "branch_costs", "nJet", "bytes"));
    assert_false(is_there(summary, "file_read_metrics", "parquet", "bytes_requested"));
    assert_true(is_there(summary, "file_read_metrics", "parquet", "bytes_read"));
    roast_summary_free(summary);

    frame.file = "whole";
    frame.file_facts = facts_blob(&ttree);
    add_with_ladder(run, frame, 0);
    summary = summary_of(run);
    assert_near(number_at(summary, "branch_costs", 0, "bytes"), 0);
    assert_true(is_there(summary, "file_read_metrics", "whole", "bytes_requested"));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_chunk_without_reads_is_known(void **state)
{
    struct frame frame = {.stop = 1, .file_facts = facts_blob(&ttree)};
    roast_run *run = run_new();

    (void)state;
    frame.file = "blind";
    add_with_ladder(run, frame, UINT64_C(1) << ROAST_HOOK_extract_root);
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "file_read_metrics"), 0);
    (void)assert_absent(summary, total_branches_read);
    roast_summary_free(summary);

    frame.file = "nothing";
    add_with_ladder(run, frame, 0);
    summary = summary_of(run);
    assert_int_equal(rows_of(summary, "file_read_metrics"), 1);
    assert_near(number_at(summary, "file_read_metrics", 0, "branches_read"), 0);
    assert_near(number_at(summary, "file_read_metrics", 0, "bytes_read"), 0);
    assert_near(number_at(summary, "file_read_metrics", 0, "bytes_read_percent"), 0);
    assert_metric(summary, total_branches_read, 0);
    assert_metric(summary, avg_branches_read_percent, 0);
    assert_int_equal(rows_of(summary, "bytes_read_percent_per_file"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A record that lost its branches, in a worker or here, is not one that read none. */
static void test_branches_that_were_lost_are_not_none(void **state)
{
    struct roast_branch one[] = {branch("Jet_pt", DATA, 100, 300)};
    struct frame frame = {.stop = 1, .file = "lost", .file_facts = facts_blob(&ttree)};
    roast_run *run = run_new();

    (void)state;
    frame.absences = str_from("\x35\x08", 2); /* field 53, no memory */
    add_with_ladder(run, frame, 0);
    run->budget_bytes = 0;
    frame.file = "trimmed";
    frame.absences = str_from(NULL, 0);
    frame.branches = branches_blob(one, 1);
    add_with_ladder(run, frame, 0);
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "file_read_metrics"), 0);
    assert_int_equal(rows_of(summary, "branch_costs"), 0);
    assert_int_equal(rows_of(summary, "file_metadata"), 2);
    (void)assert_absent(summary, total_branches_read);
    assert_near(number_at(summary, "losses",
                          row_of(summary, "losses", "branch_tables_dropped"), "count"),
                1);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* As in records written by hand: names alone. */
static void test_branches_without_costs_are_unknown(void **state)
{
    struct roast_branch named[] = {{.name = roast_str_of("Jet_pt"), .flags = DATA}};
    struct roast_file_facts facts = {.sizes_known = true, .compressed_bytes = 5};
    roast_run *run = run_new();

    (void)state;
    add_chunk(run, "a.root", 0, branches_blob(named, 1), facts_blob(&facts));
    roast_summary *summary = summary_of(run);
    assert_true(is_there(summary, "branch_costs", "Jet_pt", "accessed"));
    assert_false(is_there(summary, "branch_costs", "Jet_pt", "bytes"));
    assert_false(is_there(summary, "branch_costs", "Jet_pt", "uncompressed_bytes"));
    assert_false(is_there(summary, "branch_costs", "Jet_pt", "seconds"));
    assert_false(is_there(summary, "branch_costs", "Jet_pt", "reads"));
    assert_false(is_there(summary, "file_metadata", "a.root", "total_branches"));
    assert_false(is_there(summary, "file_metadata", "a.root", "num_entries"));
    assert_false(is_there(summary, "file_metadata", "a.root", "compression_ratio"));
    assert_false(is_there(summary, "file_read_metrics", "a.root", "total_branches"));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_damaged_blobs_are_ignored(void **state)
{
    struct roast_str rubbish = str_from("\x09\x01", 2);
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 1,
                                  .start = 1,
                                  .duration = 1,
                                  .branches = rubbish,
                                  .endpoints = rubbish,
                                  .file_facts = rubbish});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "branch_costs"), 0);
    assert_int_equal(rows_of(summary, "per_endpoint"), 0);
    assert_int_equal(rows_of(summary, "file_metadata"), 0);
    assert_int_equal(rows_of(summary, "file_read_metrics"), 0);
    (void)assert_absent(summary, total_branches_read);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- endpoints ------------------------------------------------------------------- */

static void test_endpoints_of_failed_attempts_count_too(void **state)
{
    struct roast_endpoint one[] = {
        {.name = roast_str_of("root://a"),
         .requests = 2,
         .ranges = 10,
         .bytes = 1000,
         .wait_ns = 500000000},
        {.name = roast_str_of("/data/b"), .requests = 1, .ranges = 1, .bytes = 5000}};
    struct roast_endpoint bad[] = {{.name = roast_str_of("root://a"),
                                    .requests = 1,
                                    .ranges = 1,
                                    .bytes = 200,
                                    .wait_ns = 9000000000,
                                    .errors = 1}};
    struct roast_endpoint none[] = {{.name = roast_str_of("root://c"), .errors = 3}};
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 1, .endpoints = endpoints_blob(one, 2)});
    add_frame(run, (struct frame){.first = 1,
                                  .stop = 2,
                                  .status = ROAST_CHUNK_FAILED,
                                  .endpoints = endpoints_blob(bad, 1)});
    add_frame(run, (struct frame){.first = 2,
                                  .stop = 3,
                                  .status = ROAST_CHUNK_FAILED,
                                  .endpoints = endpoints_blob(none, 1)});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "per_endpoint"), 3);
    assert_int_equal(row_of(summary, "per_endpoint", "/data/b"), 0);
    assert_int_equal(row_of(summary, "per_endpoint", "root://a"), 1);
    assert_near(number_at(summary, "per_endpoint", 1, "requests"), 3);
    assert_near(number_at(summary, "per_endpoint", 1, "ranges"), 11);
    assert_near(number_at(summary, "per_endpoint", 1, "bytes"), 1200);
    assert_near(number_at(summary, "per_endpoint", 1, "mean_request_bytes"), 400);
    assert_near(number_at(summary, "per_endpoint", 1, "wait_seconds"), 9.5);
    assert_near(number_at(summary, "per_endpoint", 1, "errors"), 1);
    assert_int_equal(cell_at(summary, "per_endpoint", 2, "mean_request_bytes").type,
                     ROAST_CELL_ABSENT);
    assert_near(number_at(summary, "per_endpoint", 2, "errors"), 3);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* 99 waits of 2^20 to 2^21 ns and one of 2^30 to 2^31 ns; ranges of 64 and 128 bytes and
 * of a GiB, in two chunks of a file. */
static void test_sizes_and_waits_have_bins(void **state)
{
    struct roast_endpoint ends[] = {{.name = roast_str_of("root://a"),
                                     .requests = 99,
                                     .ranges = 12,
                                     .bytes = 4000000,
                                     .wait_ns = 1000000000,
                                     .seeks = 5,
                                     .sizes = {[0] = 8, [1] = 4},
                                     .waits = {[8] = 99}},
                                    {.name = roast_str_of("root://a"),
                                     .requests = 1,
                                     .ranges = 1,
                                     .wait_ns = 1000000000,
                                     .seeks = 1,
                                     .sizes = {[ROAST_SIZE_BINS - 1] = 1},
                                     .waits = {[18] = 1}}};
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < COUNT_OF(ends); i++)
        add_frame(run, (struct frame){.first = i,
                                      .stop = i + 1,
                                      .endpoints = endpoints_blob(&ends[i], 1),
                                      .file_facts = facts_blob(&ttree),
                                      .branches = branches_blob(NULL, 0)});
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "per_endpoint", 0, "seeks"), 6);
    assert_near(number_at(summary, "per_endpoint", 0, "rate"), 2e6);
    assert_near(number_at(summary, "per_endpoint", 0, "latency_p50"),
                exp2(20 + 50.0 / 99) / 1e9);
    assert_near(number_at(summary, "per_endpoint", 0, "latency_p99"), exp2(21) / 1e9);
    assert_int_equal(rows_of(summary, "read_sizes"), 3);
    assert_str_is(text_at(summary, "read_sizes", 0, "endpoint"), "root://a");
    assert_near(number_at(summary, "read_sizes", 0, "from_bytes"), 0);
    assert_near(number_at(summary, "read_sizes", 0, "below_bytes"), 128);
    assert_near(number_at(summary, "read_sizes", 0, "ranges"), 8);
    assert_near(number_at(summary, "read_sizes", 1, "from_bytes"), 128);
    assert_near(number_at(summary, "read_sizes", 2, "from_bytes"), 1 << 29);
    assert_int_equal(cell_at(summary, "read_sizes", 2, "below_bytes").type,
                     ROAST_CELL_ABSENT);
    assert_near(number_at(summary, "file_read_metrics", 0, "seeks"), 6);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- out of memory --------------------------------------------------------------- */

/* True when the n-th allocation failed. */
static bool try_summary(roast_run *run, size_t n, bool from_then_on, size_t before)
{
    roast_summary *summary = NULL;

    test_heap_fail(n, from_then_on);
    int status = roast_summarize(&summary, run, NULL);
    bool happened = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(status, happened ? ROAST_NO_MEMORY : ROAST_OK);
    roast_summary_free(summary);
    assert_int_equal(test_heap.live_blocks, before);
    return happened;
}

static void test_out_of_memory_anywhere(void **state)
{
    struct roast_endpoint place = {.name = roast_str_of("root://a"),
                                   .requests = 1,
                                   .ranges = 1,
                                   .bytes = 200,
                                   .wait_ns = 9,
                                   .errors = 1};
    struct roast_ladder ladder = {0};
    roast_run *run = reading_run();

    (void)state;
    add_frame(run, (struct frame){.sequence = 1,
                                  .tree = "Runs",
                                  .stop = 7,
                                  .first_chunk = true,
                                  .endpoints = endpoints_blob(&place, 1),
                                  .file_facts = facts_blob(&ttree)});
    roast_ladder_set(&ladder, ROAST_ITEM_form, 5);
    roast_ladder_set(&ladder, ROAST_ITEM_hooks_missing, 6);
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .sequence = 1,
                                  .task = 1,
                                  .ladder = ladder_blob(&ladder)});
    size_t before = test_heap.live_blocks;
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        size_t n = 1;
        while (try_summary(run, n, from_then_on, before))
            n++;
        assert_true(n > 80);
    }
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs_by_branch),
        cmocka_unit_test(test_offsets_alone_are_no_access),
        cmocka_unit_test(test_the_list_that_would_cover_the_run),
        cmocka_unit_test(test_bytes_that_were_not_counted),
        cmocka_unit_test(test_a_chunk_without_reads_is_known),
        cmocka_unit_test(test_branches_that_were_lost_are_not_none),
        cmocka_unit_test(test_branches_without_costs_are_unknown),
        cmocka_unit_test(test_damaged_blobs_are_ignored),
        cmocka_unit_test(test_endpoints_of_failed_attempts_count_too),
        cmocka_unit_test(test_sizes_and_waits_have_bins),
        cmocka_unit_test(test_out_of_memory_anywhere),
    };
    test_heap_install();
    return cmocka_run_group_tests_name("analyze/reads", tests, NULL, NULL);
}
