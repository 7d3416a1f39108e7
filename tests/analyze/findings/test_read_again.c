/* SPDX-License-Identifier: BSD-3-Clause */
/* test_read_again.c - baskets that several chunks read: a cost of small chunks, and none
 * of the codec. */
#include "analyze/diagnosis.h"

/* Of two files in twenty chunks each, a chunk needs 0.5 MB and reads 1 MB. So it reads
 * 0.45 s for its neighbours: 18 s at 38 borders. */
static struct patient with_cut_baskets(bool sizes_known)
{
    const struct roast_file_facts facts = {.kind = ROAST_FILE_TTREE,
                                           .codec = ROAST_CODEC_LZMA,
                                           .branches = 2,
                                           .entries = 200000};
    const struct roast_branch branch = {.name = roast_str_of("Jet_pt"),
                                        .flags = ROAST_BRANCH_DATA,
                                        .reads = 1,
                                        .bytes = 1000000,
                                        .ns = 900000000,
                                        .sizes_known = sizes_known,
                                        .file_bytes = 10000000};

    return (struct patient){.workers = 1,
                            .threads = 1,
                            .takes_mb = 1,
                            .limit = UINT64_C(64) << 30,
                            .fetch = 0.1,
                            .decompress = 0.8,
                            .branches = branches_blob(&branch, 1),
                            .facts = facts_blob(&facts)};
}

/* Larger chunks are 6, with 4 borders. */
static void test_what_several_chunks_read_is_a_cost_of_chunks(void **state)
{
    roast_summary *summary = diagnose(with_cut_baskets(true));
    double border_s = 18 / 38.0, saved_s = 34 * 0.05 + 34 * border_s;
    double left_s = 32 * (1 - 34 * border_s / 36);

    (void)state;
    assert_int_equal(finding_row(summary, "chunks_too_small"), 0);
    assert_says(
        summary, "chunks_too_small", "evidence",
        "500 ms per chunk, independent of its size (files, NanoEvents, packing, "
        "sending tasks, merging; 450 ms of it reading what its neighbours read, "
        "too), 1.45 s for its 10_000 events");
    assert_says(summary, "chunks_too_small", "advice", "chunksize=60_000 (now 10_000)");
    assert_near(number_at(summary, "findings", 0, "cost_thread_seconds"), saved_s);
    assert_near(number_at(summary, "findings", 0, "saves_wall_seconds"), saved_s);
    assert_int_equal(finding_row(summary, "decompression"), 1);
    assert_says(summary, "decompression", "evidence",
                "17.7 s decompressing lzma, 22.7 % of the time inside chunks; another "
                "14.3 s goes with larger chunks");
    assert_near(number_at(summary, "findings", 1, "cost_thread_seconds"), left_s);
    assert_near(number_at(summary, "findings", 1, "saves_wall_seconds"), 0.85 * left_s);
    roast_summary_free(summary);
}

static void test_without_sizes_of_branches_it_is_all_of_the_codec(void **state)
{
    roast_summary *summary = diagnose(with_cut_baskets(false));

    (void)state;
    assert_int_equal(rows_of(summary, "findings"), 1);
    assert_says(summary, "decompression", "evidence",
                "32.0 s decompressing lzma, 41.0 % of the time inside chunks");
    assert_near(number_at(summary, "findings", 0, "cost_thread_seconds"), 32);
    assert_near(number_at(summary, "findings", 0, "saves_wall_seconds"), 0.85 * 32);
    roast_summary_free(summary);
}

/* Each pass of a chunk reads the 0.5 MB that it needs. */
static void test_two_passes_of_one_chunk_are_its_own(void **state)
{
    struct patient patient = with_cut_baskets(true);
    const struct roast_branch branch = {.name = roast_str_of("Jet_pt"),
                                        .flags = ROAST_BRANCH_DATA,
                                        .reads = 2,
                                        .bytes = 1000000,
                                        .ns = 900000000,
                                        .sizes_known = true,
                                        .file_bytes = 10000000};

    (void)state;
    patient.branches = branches_blob(&branch, 1);
    roast_summary *summary = diagnose(patient);
    assert_int_equal(rows_of(summary, "findings"), 1);
    assert_near(number_at(summary, "findings", 0, "cost_thread_seconds"), 32);
    roast_summary_free(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_several_chunks_read_is_a_cost_of_chunks),
        cmocka_unit_test(test_without_sizes_of_branches_it_is_all_of_the_codec),
        cmocka_unit_test(test_two_passes_of_one_chunk_are_its_own),
    };

    return cmocka_run_group_tests_name("read_again", tests, NULL, NULL);
}
