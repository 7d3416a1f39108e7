/* SPDX-License-Identifier: BSD-3-Clause */
/* test_file_reads.c - what was read by file: what the file is, and how much of it was
 * read. */
#include <stdio.h>

#include "analyze/reads.h"

static void assert_names(const roast_summary *summary, size_t row, const char *column,
                         const char *const *names, size_t count)
{
    assert_int_equal(items_at(summary, "file_read_metrics", row, column), count);
    for (size_t i = 0; i < count; i++)
        assert_str_is(item_at(summary, "file_read_metrics", row, column, i), names[i]);
}

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
    assert_int_equal(cell_at(summary, "file_read_metrics", a, "bytes_read").type,
                     ROAST_CELL_ABSENT);
    assert_near(number_at(summary, "file_read_metrics", a, "branches_read"), 2);
    assert_near(number_at(summary, "file_read_metrics", b, "bytes_read"), 20);
    assert_int_equal(
        cell_at(summary, "file_read_metrics", b, "bytes_read_percent").type,
        ROAST_CELL_ABSENT);
    assert_near(number_at(summary, "file_read_metrics", c, "branches_read"), 1);
    assert_int_equal(cell_at(summary, "file_read_metrics", c, "total_branches").type,
                     ROAST_CELL_ABSENT);
    assert_metric(summary, avg_branches_read_percent, (25 + 25) / 2.0);
    (void)assert_absent(summary, avg_bytes_read_percent);
    assert_int_equal(rows_of(summary, "file_metadata"), 2);
    assert_int_equal(cell_at(summary, "file_metadata",
                             row_of(summary, "file_metadata", "b.root"), "codec")
                         .type,
                     ROAST_CELL_ABSENT);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Only a chunk that reads knows the codec; another one may know the sizes. */
static void test_facts_of_a_file_are_merged(void **state)
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

static void test_trees_of_one_file_are_separate(void **state)
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
        assert_near(number_at(summary, "file_read_metrics", row, "bytes_read"),
                    10 * BRANCHES);
        assert_near(number_at(summary, "file_read_metrics", row, "bytes_requested"),
                    3 * BRANCHES * (BRANCHES + 1) / 2);
        assert_int_equal(
            items_at(summary, "file_read_metrics", row, "accessed_branches"), BRANCHES);
        for (size_t i = 0; i < BRANCHES; i++)
            assert_str_is(
                item_at(summary, "file_read_metrics", row, "accessed_branches", i),
                names[i]);
    }
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_file_is),
        cmocka_unit_test(test_how_much_of_a_file_was_read),
        cmocka_unit_test(test_sizes_that_are_not_known_leave_percentages_out),
        cmocka_unit_test(test_facts_of_a_file_are_merged),
        cmocka_unit_test(test_a_file_that_two_datasets_share_is_one),
        cmocka_unit_test(test_trees_of_one_file_are_separate),
        cmocka_unit_test(test_many_branches_and_files),
    };
    return cmocka_run_group_tests_name("analyze/file_reads", tests, NULL, NULL);
}
