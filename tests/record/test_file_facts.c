/* SPDX-License-Identifier: BSD-3-Clause */
/* test_file_facts.c - the tree that a chunk reads: write and read, kinds and codecs of
 * later versions, and compression ratios. */
#include "frames.h"

#include <math.h>

#include "roast/ladder.h"

static void check_round_trip(const struct roast_file_facts *facts)
{
    unsigned char out[ROAST_FILE_FACTS_BOUND_BYTES];
    struct roast_file_facts back;

    memset(&back, 0xff, sizeof(back));
    int64_t size = roast_file_facts_write(out, sizeof(out), facts, NULL);
    assert_in_range(size, 1, sizeof(out));
    char *blob = tight_copy(out, (size_t)size);
    assert_int_equal(roast_file_facts_read(&back, str_from(blob, (size_t)size), NULL),
                     ROAST_OK);
    assert_int_equal(back.kind, facts->kind);
    assert_int_equal(back.codec, facts->codec);
    assert_true(back.branches == facts->branches && back.entries == facts->entries);
    assert_int_equal(back.sizes_known, facts->sizes_known);
    assert_true(back.compressed_bytes == facts->compressed_bytes);
    assert_true(back.uncompressed_bytes == facts->uncompressed_bytes);
    free(blob);
}

static const struct roast_file_facts largest = {
    ROAST_FILE_PARQUET, ROAST_CODEC_BROTLI, UINT64_MAX, UINT64_MAX, true,
    UINT64_MAX,         UINT64_MAX};

static void a_tree_has_the_documented_bytes(void **state)
{
    static const unsigned char expected[] = {0x05, 0x01, 0xac, 0x02};
    const struct roast_file_facts tree = {.kind = ROAST_FILE_TTREE, .branches = 300};
    unsigned char out[8];
    (void)state;

    assert_int_equal(roast_file_facts_write(out, sizeof(out), &tree, NULL),
                     sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
}

static void facts_come_back(void **state)
{
    const struct roast_file_facts none = {.branches = 0};
    const struct roast_file_facts empty_tree = {.sizes_known = true};
    (void)state;

    check_round_trip(&none);
    check_round_trip(&empty_tree);
    check_round_trip(&largest);
    for (unsigned kind = 0; kind < ROAST_FILE_KIND_COUNT; kind++) {
        for (unsigned codec = 0; codec < ROAST_CODEC_COUNT; codec++) {
            struct roast_file_facts facts = {.kind = (enum roast_file_kind)kind,
                                             .codec = (enum roast_codec)codec};
            check_round_trip(&facts);
        }
    }
}

static void facts_cut_anywhere_are_refused_and_empty(void **state)
{
    unsigned char out[ROAST_FILE_FACTS_BOUND_BYTES];
    int64_t size = roast_file_facts_write(out, sizeof(out), &largest, NULL);
    (void)state;

    for (size_t cut = 0; cut < (size_t)size; cut++) {
        struct roast_file_facts back = largest;
        roast_error err = {0};
        char *copy = tight_copy(out, cut);
        assert_int_equal(roast_file_facts_read(&back, str_from(copy, cut), &err),
                         ROAST_BAD_DATA);
        assert_int_equal(err.code, ROAST_BAD_DATA);
        assert_int_equal(back.branches, 0);
        assert_false(back.sizes_known);
        assert_int_equal(roast_file_facts_write(copy, cut, &largest, NULL),
                         ROAST_LIMIT);
        free(copy);
    }
}

static void kinds_of_a_later_version_are_unknown(void **state)
{
    struct roast_file_facts facts;
    (void)state;

    /* kind 4, codec 9, 5 entries, and bit 6 */
    assert_int_equal(
        roast_file_facts_read(&facts, str_from("\x4b\x04\x09\x05\x06", 5), NULL),
        ROAST_OK);
    assert_int_equal(facts.kind, ROAST_FILE_UNKNOWN);
    assert_int_equal(facts.codec, ROAST_CODEC_UNKNOWN);
    assert_int_equal(facts.entries, 5);
    /* compressed bytes alone */
    assert_int_equal(roast_file_facts_read(&facts, str_from("\x10\x05", 2), NULL),
                     ROAST_OK);
    assert_false(facts.sizes_known);
    assert_int_equal(facts.compressed_bytes, 0);
}

static void kinds_and_codecs_have_words_and_others_have_none(void **state)
{
    (void)state;

    assert_string_equal(roast_file_kind_name(ROAST_FILE_RNTUPLE), "rntuple");
    assert_string_equal(roast_codec_name(ROAST_CODEC_ZSTD), "zstd");
    assert_string_equal(roast_codec_name(ROAST_CODEC_NONE), "none");
    assert_null(roast_file_kind_name(ROAST_FILE_UNKNOWN));
    assert_null(roast_codec_name(ROAST_CODEC_UNKNOWN));
    for (unsigned kind = 1; kind < ROAST_FILE_KIND_COUNT; kind++)
        assert_non_null(roast_file_kind_name(kind));
    for (unsigned codec = 1; codec < ROAST_CODEC_COUNT; codec++)
        assert_non_null(roast_codec_name(codec));
    assert_null(roast_file_kind_name(ROAST_FILE_KIND_COUNT));
    assert_null(roast_codec_name(ROAST_CODEC_COUNT));
    assert_null(roast_codec_name(UINT32_MAX));
}

static void compression_is_known_with_both_sizes_only(void **state)
{
    struct roast_file_facts facts = {.compressed_bytes = 100,
                                     .uncompressed_bytes = 400};
    (void)state;

    assert_true(isnan(roast_file_ratio(&facts)));
    assert_true(isnan(roast_file_factor(&facts)));
    facts.sizes_known = true;
    assert_true(roast_file_ratio(&facts) == 0.25);
    assert_true(roast_file_factor(&facts) == 4.0);
    facts.compressed_bytes = 0;
    assert_true(roast_file_ratio(&facts) == 0.0);
    assert_true(isnan(roast_file_factor(&facts)));
    facts.uncompressed_bytes = 0;
    assert_true(isnan(roast_file_ratio(&facts)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_has_the_documented_bytes),
        cmocka_unit_test(facts_come_back),
        cmocka_unit_test(facts_cut_anywhere_are_refused_and_empty),
        cmocka_unit_test(kinds_of_a_later_version_are_unknown),
        cmocka_unit_test(kinds_and_codecs_have_words_and_others_have_none),
        cmocka_unit_test(compression_is_known_with_both_sizes_only),
    };
    return cmocka_run_group_tests_name("record/file_facts", tests, NULL, NULL);
}
