/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reads.c - what was read: by branch, by storage, by file; and a summary of it that
 * runs out of memory at every place. */
#include <stdio.h>

#include "blobs.h"
#include "heap.h"
#include "runs.h"

enum {
    DATA = ROAST_BRANCH_DATA,
    OFFSETS = ROAST_BRANCH_OFFSETS,
    PRELOADED = ROAST_BRANCH_PRELOADED,
};

static struct roast_branch branch(const char *name, unsigned flags, uint64_t bytes,
                                  uint64_t file_bytes)
{
    return (struct roast_branch){.name = roast_str_of(name),
                                 .flags = flags,
                                 .reads = 1,
                                 .bytes = bytes,
                                 .uncompressed_bytes = 3 * bytes,
                                 .ns = bytes * 1000000,
                                 .sizes_known = file_bytes > 0,
                                 .file_bytes = file_bytes,
                                 .file_uncompressed_bytes = 2 * file_bytes};
}

static const struct roast_file_facts ttree = {
    .kind = ROAST_FILE_TTREE,
    .codec = ROAST_CODEC_ZSTD,
    .branches = 8,
    .entries = 200,
    .sizes_known = true,
    .compressed_bytes = 1000,
    .uncompressed_bytes = 2500,
};

static void add_chunk(roast_run *run, const char *file, uint64_t first,
                      struct roast_str branches, struct roast_str facts)
{
    add_frame(run, (struct frame){.file = file,
                                  .first = first,
                                  .stop = first + 1,
                                  .start = 1,
                                  .duration = 1,
                                  .branches = branches,
                                  .file_facts = facts});
}

/* Two chunks of a.root, one of b.root, a failed one. */
static roast_run *reading_run(void)
{
    struct roast_branch one[] = {branch("Jet_pt", DATA, 100, 300),
                                 branch("nJet", OFFSETS, 10, 20),
                                 branch("Jet_eta", PRELOADED, 40, 90)};
    struct roast_branch two[] = {branch("Jet_pt", DATA, 50, 300),
                                 branch("MET_pt", DATA | PRELOADED, 7, 80)};
    struct roast_branch other[] = {branch("nJet", DATA | OFFSETS, 10, 25)};
    struct roast_str facts = facts_blob(&ttree);
    roast_run *run = run_new();

    add_chunk(run, "a.root", 0, branches_blob(one, 3), facts);
    add_chunk(run, "b.root", 0, branches_blob(other, 1), facts);
    add_chunk(run, "a.root", 1, branches_blob(two, 2), facts);
    add_frame(run, (struct frame){.file = "b.root",
                                  .first = 5,
                                  .stop = 6,
                                  .status = ROAST_CHUNK_FAILED,
                                  .branches = branches_blob(two, 2)});
    return run;
}

static void assert_names(const roast_summary *summary, size_t row, const char *column,
                         const char *const *names, size_t count)
{
    const struct roast_cell *cell = cell_at(summary, "file_read_metrics", row, column);

    assert_int_equal(cell->type, ROAST_CELL_LIST);
    assert_int_equal(cell->count, count);
    for (size_t i = 0; i < count; i++)
        assert_str_is(cell->items[i].text, names[i]);
}

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
    const struct roast_table *table = roast_summary_table(summary, "preload");
    const char *const names[] = {"Jet_pt", "MET_pt", "nJet"};

    (void)state;
    assert_int_equal(table->shape, ROAST_TABLE_VALUES);
    assert_int_equal(table->row_count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_str_is(text_at(summary, "preload", i, "branch"), names[i]);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* A chunk whose attempt was looked into without some hooks. */
static void add_looked_into(roast_run *run, struct frame frame, uint64_t missing)
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
    return cell_at(summary, table, row_of(summary, table, key), column)->type !=
           ROAST_CELL_ABSENT;
}

/* 0 bytes of a branch that was read: none where they were counted, else unknown. */
static void test_bytes_that_nobody_could_count(void **state)
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
    add_looked_into(run, frame, UINT64_C(1) << ROAST_HOOK_submit);
    frame.file = "parquet";
    frame.file_facts = facts_blob(&parquet);
    add_looked_into(run, frame, 0);
    roast_summary *summary = summary_of(run);
    assert_false(is_there(summary, "branch_costs", "Jet_pt", "bytes"));
    assert_false(is_there(summary, "branch_costs", "Jet_pt", "uncompressed_bytes"));
    assert_true(is_there(summary, "branch_costs", "nJet", "bytes"));
    assert_false(is_there(summary, "file_read_metrics", "parquet", "bytes_requested"));
    assert_true(is_there(summary, "file_read_metrics", "parquet", "bytes_read"));
    roast_summary_free(summary);

    frame.file = "whole";
    frame.file_facts = facts_blob(&ttree);
    add_looked_into(run, frame, 0);
    summary = summary_of(run);
    assert_near(number_at(summary, "branch_costs", 0, "bytes"), 0);
    assert_true(is_there(summary, "file_read_metrics", "whole", "bytes_requested"));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_chunk_that_read_nothing_says_so(void **state)
{
    struct frame frame = {.stop = 1, .file_facts = facts_blob(&ttree)};
    roast_run *run = run_new();

    (void)state;
    frame.file = "blind";
    add_looked_into(run, frame, UINT64_C(1) << ROAST_HOOK_extract_root);
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "file_read_metrics"), 0);
    (void)assert_absent(summary, total_branches_read);
    roast_summary_free(summary);

    frame.file = "nothing";
    add_looked_into(run, frame, 0);
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

static void test_damaged_blobs_say_nothing(void **state)
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
        {roast_str_of("root://a"), 2, 10, 1000, 500000000, 0},
        {roast_str_of("/data/b"), 1, 1, 5000, 0, 0}};
    struct roast_endpoint bad[] = {
        {roast_str_of("root://a"), 1, 1, 200, 9000000000, 1}};
    struct roast_endpoint none[] = {{roast_str_of("root://c"), 0, 0, 0, 0, 3}};
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
    assert_int_equal(cell_at(summary, "per_endpoint", 2, "mean_request_bytes")->type,
                     ROAST_CELL_ABSENT);
    assert_near(number_at(summary, "per_endpoint", 2, "errors"), 3);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- files ----------------------------------------------------------------------- */

static void test_what_a_file_is(void **state)
{
    roast_run *run = reading_run();
    roast_summary *summary = summary_of(run);
    size_t row = row_of(summary, "file_metadata", "a.root");

    (void)state;
    assert_int_equal(rows_of(summary, "file_metadata"), 2);
    assert_str_is(text_at(summary, "file_metadata", row, "kind"),
                  roast_file_kind_name(ROAST_FILE_TTREE));
    assert_str_is(text_at(summary, "file_metadata", row, "codec"),
                  roast_codec_name(ROAST_CODEC_ZSTD));
    assert_near(number_at(summary, "file_metadata", row, "total_branches"), 8);
    assert_near(number_at(summary, "file_metadata", row, "num_entries"), 200);
    assert_near(number_at(summary, "file_metadata", row, "total_tree_bytes"), 1000);
    assert_near(number_at(summary, "file_metadata", row, "compressed_bytes"), 1000);
    assert_near(number_at(summary, "file_metadata", row, "uncompressed_bytes"), 2500);
    assert_near(number_at(summary, "file_metadata", row, "compression_ratio"), 0.4);
    assert_near(number_at(summary, "file_metadata", row, "compression_factor"), 2.5);
    assert_int_equal(rows_of(summary, "compression_ratios"), 2);
    assert_near(number_at(summary, "compression_ratios", 1, "compression_ratio"), 0.4);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* The union over the chunks of a file, by what the branches are in the file. */
static void test_how_much_of_a_file_was_read(void **state)
{
    roast_run *run = reading_run();
    roast_summary *summary = summary_of(run);
    size_t row = row_of(summary, "file_read_metrics", "a.root");

    (void)state;
    assert_int_equal(rows_of(summary, "file_read_metrics"), 2);
    assert_near(number_at(summary, "file_read_metrics", row, "total_branches"), 8);
    assert_near(number_at(summary, "file_read_metrics", row, "branches_read"), 2);
    assert_near(number_at(summary, "file_read_metrics", row, "branches_read_percent"),
                25);
    assert_near(number_at(summary, "file_read_metrics", row, "total_tree_bytes"), 1000);
    assert_near(number_at(summary, "file_read_metrics", row, "bytes_read"), 380);
    assert_near(number_at(summary, "file_read_metrics", row, "bytes_read_percent"), 38);
    assert_near(number_at(summary, "file_read_metrics", row, "bytes_requested"), 207);
    assert_names(summary, row, "accessed_branches",
                 (const char *const[]){"Jet_pt", "MET_pt"}, 2);
    assert_names(summary, row, "offset_branches", (const char *const[]){"nJet"}, 1);
    row = row_of(summary, "file_read_metrics", "b.root");
    assert_near(number_at(summary, "file_read_metrics", row, "bytes_read"), 25);
    assert_near(number_at(summary, "file_read_metrics", row, "bytes_requested"), 10);
    assert_names(summary, row, "accessed_branches", (const char *const[]){"nJet"}, 1);
    assert_names(summary, row, "offset_branches", NULL, 0);
    assert_metric(summary, avg_branches_read_percent, (25 + 12.5) / 2);
    assert_metric(summary, avg_bytes_read_percent, (38 + 2.5) / 2);
    assert_int_equal(rows_of(summary, "bytes_read_percent_per_file"), 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_sizes_that_are_not_known_leave_percentages_out(void **state)
{
    struct roast_branch one[] = {branch("Jet_pt", DATA, 100, 0),
                                 branch("nJet", DATA, 10, 20)};
    struct roast_file_facts facts = {.kind = ROAST_FILE_RNTUPLE, .branches = 4};
    roast_run *run = run_new();

    (void)state;
    add_chunk(run, "a.root", 0, branches_blob(one, 2), facts_blob(&ttree));
    add_chunk(run, "b.root", 0, branches_blob(one + 1, 1), facts_blob(&facts));
    add_chunk(run, "c.root", 0, branches_blob(one, 1), str_from(NULL, 0));
    roast_summary *summary = summary_of(run);
    size_t a = row_of(summary, "file_read_metrics", "a.root");
    size_t b = row_of(summary, "file_read_metrics", "b.root");
    size_t c = row_of(summary, "file_read_metrics", "c.root");
    assert_int_equal(cell_at(summary, "file_read_metrics", a, "bytes_read")->type,
                     ROAST_CELL_ABSENT);
    assert_near(number_at(summary, "file_read_metrics", a, "branches_read"), 2);
    assert_near(number_at(summary, "file_read_metrics", b, "bytes_read"), 20);
    assert_int_equal(
        cell_at(summary, "file_read_metrics", b, "bytes_read_percent")->type,
        ROAST_CELL_ABSENT);
    assert_near(number_at(summary, "file_read_metrics", c, "branches_read"), 1);
    assert_int_equal(cell_at(summary, "file_read_metrics", c, "total_branches")->type,
                     ROAST_CELL_ABSENT);
    assert_metric(summary, avg_branches_read_percent, (25 + 25) / 2.0);
    (void)assert_absent(summary, avg_bytes_read_percent);
    assert_int_equal(rows_of(summary, "file_metadata"), 2);
    assert_int_equal(cell_at(summary, "file_metadata",
                             row_of(summary, "file_metadata", "b.root"), "codec")
                         ->type,
                     ROAST_CELL_ABSENT);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Only a chunk that reads knows the codec; another one may know the sizes. */
static void test_chunks_together_know_what_a_file_is(void **state)
{
    struct roast_file_facts no_codec = ttree, no_sizes = ttree;
    roast_run *run = run_new();

    (void)state;
    no_codec.codec = ROAST_CODEC_UNKNOWN;
    no_sizes.sizes_known = false;
    add_chunk(run, "a.root", 0, str_from(NULL, 0), facts_blob(&no_codec));
    add_chunk(run, "a.root", 1, str_from(NULL, 0), facts_blob(&no_sizes));
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "file_metadata"), 1);
    assert_str_is(text_at(summary, "file_metadata", 0, "codec"),
                  roast_codec_name(ROAST_CODEC_ZSTD));
    assert_near(number_at(summary, "file_metadata", 0, "total_tree_bytes"), 1000);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_file_that_two_datasets_share_is_one(void **state)
{
    struct roast_branch one[] = {branch("Jet_pt", DATA, 100, 300)};
    struct roast_str facts = facts_blob(&ttree);
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < 2; i++)
        add_frame(run, (struct frame){.dataset = i ? "one" : "two",
                                      .first = i,
                                      .stop = i + 1,
                                      .branches = branches_blob(one, 1),
                                      .file_facts = facts});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "file_read_metrics"), 1);
    assert_near(number_at(summary, "file_read_metrics", 0, "bytes_requested"), 200);
    assert_near(number_at(summary, "file_read_metrics", 0, "bytes_read"), 300);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_trees_of_one_file_are_told_apart(void **state)
{
    struct roast_branch one[] = {branch("Jet_pt", DATA, 100, 300)};
    struct roast_str facts = facts_blob(&ttree);
    const char *const trees[] = {"Events", "Runs"};
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < 2; i++)
        add_frame(run, (struct frame){.tree = trees[i],
                                      .first = i,
                                      .stop = i + 1,
                                      .branches = branches_blob(one, 1),
                                      .file_facts = facts});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "file_read_metrics"), 2);
    (void)row_of(summary, "file_read_metrics", "a.root:Events");
    (void)row_of(summary, "file_metadata", "a.root:Runs");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_many_branches_and_files(void **state)
{
    enum { FILES = 40, BRANCHES = 25 };
    roast_run *run = run_new();
    struct roast_str facts = facts_blob(&ttree);
    char names[BRANCHES][8], file[16];
    struct roast_branch all[BRANCHES], turned[BRANCHES];

    (void)state;
    for (size_t i = 0; i < BRANCHES; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "b%02zu", i);
        all[i] = branch(names[i], DATA, i + 1, 10);
        turned[BRANCHES - 1 - i] = all[i];
    }
    struct roast_str blobs[] = {branches_blob(all, BRANCHES),
                                branches_blob(turned, BRANCHES)};
    for (uint64_t i = 0; i < FILES * 3; i++) {
        (void)snprintf(file, sizeof(file), "f%02u.root", (unsigned)(i % FILES));
        add_chunk(run, file, i, blobs[i / 7 % 2], facts);
    }
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "file_read_metrics"), FILES);
    assert_int_equal(rows_of(summary, "branch_costs"), BRANCHES);
    assert_near(number_at(summary, "branch_costs", 0, "bytes"), BRANCHES * FILES * 3);
    for (size_t row = 0; row < FILES; row++) {
        const struct roast_cell *cell =
            cell_at(summary, "file_read_metrics", row, "accessed_branches");
        assert_near(number_at(summary, "file_read_metrics", row, "bytes_read"),
                    10 * BRANCHES);
        assert_near(number_at(summary, "file_read_metrics", row, "bytes_requested"),
                    3 * BRANCHES * (BRANCHES + 1) / 2);
        assert_int_equal(cell->count, BRANCHES);
        for (size_t i = 0; i < BRANCHES; i++)
            assert_str_is(cell->items[i].text, names[i]);
    }
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
    struct roast_endpoint place = {roast_str_of("root://a"), 1, 1, 200, 9, 1};
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
        cmocka_unit_test(test_bytes_that_nobody_could_count),
        cmocka_unit_test(test_a_chunk_that_read_nothing_says_so),
        cmocka_unit_test(test_damaged_blobs_say_nothing),
        cmocka_unit_test(test_endpoints_of_failed_attempts_count_too),
        cmocka_unit_test(test_what_a_file_is),
        cmocka_unit_test(test_how_much_of_a_file_was_read),
        cmocka_unit_test(test_sizes_that_are_not_known_leave_percentages_out),
        cmocka_unit_test(test_chunks_together_know_what_a_file_is),
        cmocka_unit_test(test_a_file_that_two_datasets_share_is_one),
        cmocka_unit_test(test_trees_of_one_file_are_told_apart),
        cmocka_unit_test(test_many_branches_and_files),
        cmocka_unit_test(test_out_of_memory_anywhere),
    };
    test_heap_install();
    return cmocka_run_group_tests_name("aggregate/reads", tests, NULL, NULL);
}
