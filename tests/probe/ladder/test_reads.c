/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reads.c - what an attempt reads: by branch, by endpoint, and its tree. */
#include <stdio.h>

#include "heap.h"
#include "probe/ladder_help.h"

enum { MOST_BRANCHES = 4096, MOST_ENDPOINTS = 16, NAME_ROOM_BYTES = 100 };

/* Ends an undecorated attempt; the reads are in its own record. */
static roast_record end_reads(roast_thread *thread)
{
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    struct sent_frames sent = end_attempt(thread, ended_ok);
    assert_int_equal(sent.count, 2);
    return sent.records[0];
}

static size_t branches_in(const roast_record *rec, struct roast_branch *out, size_t max)
{
    int64_t count =
        roast_branches_read(out, max, text(rec, ROAST_FIELD_branches), NULL);

    assert_in_range(count, 1, MOST_BRANCHES);
    return (size_t)count;
}

static size_t endpoints_in(const roast_record *rec, struct roast_endpoint *out)
{
    int64_t count = roast_endpoints_read(out, MOST_ENDPOINTS,
                                         text(rec, ROAST_FIELD_endpoints), NULL);

    assert_in_range(count, 1, MOST_ENDPOINTS);
    return (size_t)count;
}

static void assert_nothing_read(const roast_record *rec)
{
    static const enum roast_field fields[] = {
        ROAST_FIELD_branches, ROAST_FIELD_endpoints, ROAST_FIELD_file_facts,
        ROAST_FIELD_file_branches};

    for (size_t i = 0; i < COUNT_OF(fields); i++)
        assert_false(roast_record_has(rec, fields[i]));
}

static int32_t branch(roast_thread *thread, const char *name)
{
    return roast_ladder_branch(thread, roast_str_of(name));
}

/* ---- branches ---------------------------------------------------------------- */

static void a_branch_is_known_by_its_name(void **state)
{
    char name[] = "Jet_pt";
    roast_thread *thread = begin_armed(0);
    struct roast_branch sent[3];
    (void)state;

    int32_t pt = branch(thread, name);
    assert_int_equal(pt, 0);
    name[4] = 'e'; /* names are copied */
    assert_int_equal(branch(thread, name), 1);
    assert_int_equal(branch(thread, "Jet_p"), 2);
    assert_int_equal(branch(thread, "Jet_pt"), pt);
    assert_int_equal(roast_ladder_branch(thread, str_from("Jet_pt and more", 6)), pt);
    roast_record rec = end_reads(thread);
    assert_int_equal(branches_in(&rec, sent, COUNT_OF(sent)), 3);
    assert_str_is(sent[0].name, "Jet_pt");
    assert_str_is(sent[1].name, "Jet_et");
    assert_str_is(sent[2].name, "Jet_p");
    assert_false(roast_record_has(&rec, ROAST_FIELD_losses));
}

static void what_is_read_of_a_branch_is_added_up(void **state)
{
    struct roast_branch more = {.name = {"never looked at", 15},
                                .flags = ROAST_BRANCH_DATA,
                                .reads = 1,
                                .bytes = 300,
                                .uncompressed_bytes = 1000,
                                .ns = 7};
    roast_thread *thread = begin_armed(0);
    struct roast_branch sent[2];
    (void)state;

    int32_t pt = branch(thread, "pt");
    roast_ladder_branch_add(thread, pt, &more);
    more.flags = ROAST_BRANCH_PRELOADED;
    roast_ladder_branch_add(thread, pt, &more);
    roast_ladder_branch_add(thread, branch(thread, "eta"), &more);
    roast_record rec = end_reads(thread);
    assert_int_equal(branches_in(&rec, sent, COUNT_OF(sent)), 2);
    assert_str_is(sent[0].name, "pt");
    assert_int_equal(sent[0].flags, ROAST_BRANCH_DATA | ROAST_BRANCH_PRELOADED);
    assert_int_equal(sent[0].reads, 2);
    assert_int_equal(sent[0].bytes, 600);
    assert_int_equal(sent[0].uncompressed_bytes, 2000);
    assert_int_equal(sent[0].ns, 14);
    assert_int_equal(sent[1].flags, ROAST_BRANCH_PRELOADED);
    assert_int_equal(sent[1].bytes, 300);
    assert_false(sent[0].sizes_known);
}

static void sizes_in_the_file_are_replaced(void **state)
{
    struct roast_branch sizes = {
        .sizes_known = true, .file_bytes = 10, .file_uncompressed_bytes = 20};
    struct roast_branch unknown = {.reads = 1, .file_bytes = 99};
    roast_thread *thread = begin_armed(0);
    struct roast_branch sent[1];
    (void)state;

    int32_t pt = branch(thread, "pt");
    assert_false(roast_ladder_branch_sized(thread, pt));
    roast_ladder_branch_add(thread, pt, &unknown);
    assert_false(roast_ladder_branch_sized(thread, pt));
    roast_ladder_branch_add(thread, pt, &sizes);
    assert_true(roast_ladder_branch_sized(thread, pt));
    sizes.file_bytes = 11;
    roast_ladder_branch_add(thread, pt, &sizes);
    roast_ladder_branch_add(thread, pt, &unknown);
    roast_record rec = end_reads(thread);
    assert_int_equal(branches_in(&rec, sent, COUNT_OF(sent)), 1);
    assert_true(sent[0].sizes_known);
    assert_int_equal(sent[0].file_bytes, 11);
    assert_int_equal(sent[0].file_uncompressed_bytes, 20);
    assert_int_equal(sent[0].reads, 2);
}

static void numbers_of_no_branch_change_nothing(void **state)
{
    const struct roast_branch more = {.bytes = 1, .sizes_known = true};
    roast_thread *thread = begin_armed(0);
    (void)state;

    for (int32_t number = -1; number <= 1; number++) {
        roast_ladder_branch_add(thread, number, &more);
        assert_false(roast_ladder_branch_sized(thread, number));
    }
    roast_ladder_branch_add(thread, INT32_MIN, &more);
    assert_int_equal(roast_ladder_branch(thread, roast_str_of("")), -1);
    assert_int_equal(roast_ladder_branch(thread, str_from(NULL, 0)), -1);
    roast_record rec = end_reads(thread);
    assert_nothing_read(&rec);
    assert_false(roast_record_has(&rec, ROAST_FIELD_losses));
}

static void long_names_are_cut_and_counted(void **state)
{
    roast_thread *thread = begin_armed(0);
    struct roast_branch sent[1];
    (void)state;

    assert_int_equal(roast_ladder_branch(thread, long_text()), 0);
    assert_int_equal(roast_ladder_branch(thread, long_text()), 0);
    roast_record rec = end_reads(thread);
    assert_int_equal(branches_in(&rec, sent, COUNT_OF(sent)), 1);
    assert_int_equal(sent[0].name.size_bytes, 510);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_text_cut), 1);
}

static struct roast_str name_number(char room[NAME_ROOM_BYTES], int i)
{
    int size = snprintf(room, NAME_ROOM_BYTES, "a branch of number %d_of_many", i);

    return str_from(room, (size_t)size);
}

static void read_many(roast_thread *thread, int count)
{
    char room[NAME_ROOM_BYTES];

    for (int i = 0; i < count; i++) {
        struct roast_branch more = {.bytes = (uint64_t)i, .reads = 1};
        int32_t number = roast_ladder_branch(thread, name_number(room, i));
        assert_int_equal(number, i < MOST_BRANCHES ? i : -1);
        roast_ladder_branch_add(thread, number, &more);
    }
}

/* Numbers are stable when the tables grow. */
static void many_branches_are_distinct(void **state)
{
    static struct roast_branch sent[MOST_BRANCHES];
    char room[NAME_ROOM_BYTES];
    roast_thread *thread = begin_armed(0);
    (void)state;

    read_many(thread, MOST_BRANCHES);
    read_many(thread, MOST_BRANCHES);
    roast_record rec = end_reads(thread);
    assert_int_equal(branches_in(&rec, sent, MOST_BRANCHES), MOST_BRANCHES);
    for (int i = 0; i < MOST_BRANCHES; i++) {
        assert_true(str_equal(sent[i].name, name_number(room, i)));
        assert_int_equal(sent[i].bytes, 2 * i);
        assert_int_equal(sent[i].reads, 2);
    }
    assert_int_equal(loss_of(&rec, ROAST_LOSS_branches), 0);
}

static void branches_beyond_the_cap_are_counted(void **state)
{
    static struct roast_branch sent[MOST_BRANCHES];
    roast_thread *thread = begin_armed(0);
    (void)state;

    read_many(thread, MOST_BRANCHES + 3);
    read_many(thread, 10); /* those that are known still are */
    roast_record rec = end_reads(thread);
    assert_int_equal(branches_in(&rec, sent, MOST_BRANCHES), MOST_BRANCHES);
    assert_int_equal(sent[9].reads, 2);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_branches), 3);
    rec = end_reads(begin_armed(0));
    assert_false(roast_record_has(&rec, ROAST_FIELD_losses)); /* of the one before */
}

/* ---- endpoints --------------------------------------------------------------- */

static void what_is_read_from_an_endpoint_is_added_up(void **state)
{
    char name[] = "root://host";
    struct roast_endpoint more = {.name = str_from(name, 11),
                                  .requests = 1,
                                  .ranges = 5,
                                  .bytes = 1000,
                                  .wait_ns = 70,
                                  .seeks = 4,
                                  .sizes = {[2] = 5},
                                  .waits = {1}};
    struct roast_endpoint sent[MOST_ENDPOINTS];
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_endpoint_add(thread, &more);
    more.errors = 1;
    roast_ladder_endpoint_add(thread, &more);
    name[7] = 'm'; /* names are copied */
    roast_ladder_endpoint_add(thread, &more);
    roast_record rec = end_reads(thread);
    assert_int_equal(endpoints_in(&rec, sent), 2);
    assert_str_is(sent[0].name, "root://host");
    assert_int_equal(sent[0].requests, 2);
    assert_int_equal(sent[0].ranges, 10);
    assert_int_equal(sent[0].bytes, 2000);
    assert_int_equal(sent[0].wait_ns, 140);
    assert_int_equal(sent[0].errors, 1);
    assert_int_equal(sent[0].seeks, 8);
    assert_int_equal(sent[0].sizes[2], 10);
    assert_int_equal(sent[0].waits[0], 2);
    assert_str_is(sent[1].name, "root://most");
    assert_int_equal(sent[1].requests, 1);
}

static void endpoints_beyond_the_cap_are_one(void **state)
{
    struct roast_endpoint sent[MOST_ENDPOINTS];
    char room[NAME_ROOM_BYTES];
    roast_thread *thread = begin_armed(0);
    (void)state;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 40; i++) {
            struct roast_endpoint more = {.name = name_number(room, i), .requests = 1};
            roast_ladder_endpoint_add(thread, &more);
        }
    }
    roast_ladder_endpoint_add(thread, &(struct roast_endpoint){.requests = 1});
    roast_record rec = end_reads(thread);
    assert_int_equal(endpoints_in(&rec, sent), MOST_ENDPOINTS);
    for (int i = 0; i < MOST_ENDPOINTS - 1; i++) {
        assert_true(str_equal(sent[i].name, name_number(room, i)));
        assert_int_equal(sent[i].requests, 2);
    }
    assert_str_is(sent[MOST_ENDPOINTS - 1].name, "(other)");
    assert_int_equal(sent[MOST_ENDPOINTS - 1].requests, 2 * 25 + 1);
}

static void a_long_endpoint_is_cut(void **state)
{
    const struct roast_endpoint more = {.name = long_text(), .requests = 1};
    struct roast_endpoint sent[MOST_ENDPOINTS];
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_endpoint_add(thread, &more);
    roast_ladder_endpoint_add(thread, &more);
    roast_record rec = end_reads(thread);
    assert_int_equal(endpoints_in(&rec, sent), 1);
    assert_int_equal(sent[0].name.size_bytes, 126);
    assert_int_equal(sent[0].requests, 2);
}

/* ---- the file ---------------------------------------------------------------- */

static struct roast_file_facts facts_in(const roast_record *rec)
{
    struct roast_file_facts facts;

    assert_int_equal(
        roast_file_facts_read(&facts, text(rec, ROAST_FIELD_file_facts), NULL),
        ROAST_OK);
    return facts;
}

/* Later facts are sent too; the branches are those of the first call. */
static void facts_of_the_tree_are_sent(void **state)
{
    struct roast_file_facts facts = {.kind = ROAST_FILE_TTREE, .branches = 1500};
    char blob[] = "sizes of all";
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_file(thread, &facts, str_from(NULL, 0));
    roast_ladder_file(thread, &facts, str_from(blob, 12));
    memset(blob, 'x', sizeof(blob));
    facts.codec = ROAST_CODEC_ZSTD;
    facts.entries = 250;
    facts.sizes_known = true;
    facts.compressed_bytes = 1000;
    facts.uncompressed_bytes = 4000;
    roast_ladder_file(thread, &facts, str_from(blob, 12));
    memset(&facts, 0, sizeof(facts)); /* copied */
    roast_record rec = end_reads(thread);
    struct roast_file_facts sent = facts_in(&rec);
    assert_str_is(text(&rec, ROAST_FIELD_file_branches), "sizes of all");
    assert_int_equal(sent.kind, ROAST_FILE_TTREE);
    assert_int_equal(sent.codec, ROAST_CODEC_ZSTD);
    assert_int_equal(sent.branches, 1500);
    assert_int_equal(sent.entries, 250);
    assert_true(sent.sizes_known);
    assert_int_equal(sent.compressed_bytes, 1000);
    assert_int_equal(sent.uncompressed_bytes, 4000);
}

/* An empty list is sent only if all reads were observed. */
static void a_tree_without_reads_has_an_empty_list(void **state)
{
    const struct roast_file_facts facts = {.kind = ROAST_FILE_TTREE};
    const uint64_t missing[] = {0, 0, hook_bit(ROAST_HOOK_submit)};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(missing); i++) {
        roast_thread *thread = begin_armed(missing[i]);
        roast_ladder_file(thread, &facts, str_from(NULL, 0));
        if (i == 1) /* one hook is removed during the attempt */
            roast_ladder_add(thread, ROAST_ITEM_hooks_missing,
                             hook_bit(ROAST_HOOK_cost));
        roast_record rec = end_reads(thread);
        assert_int_equal(roast_record_has(&rec, ROAST_FIELD_branches), i == 0);
        if (i == 0)
            assert_int_equal(
                roast_branches_read(NULL, 0, text(&rec, ROAST_FIELD_branches), NULL),
                0);
    }
}

static void branches_of_a_file_are_sent_once(void **state)
{
    const struct roast_file_facts facts = {.kind = ROAST_FILE_RNTUPLE};
    roast_thread *thread = begin_armed(0);
    (void)state;

    roast_ladder_file(thread, &facts, str_from("all", 3));
    (void)end_reads(thread);
    thread = begin_armed(0);
    roast_ladder_file(thread, &facts, str_from(NULL, 0));
    roast_record rec = end_reads(thread);
    assert_true(roast_record_has(&rec, ROAST_FIELD_file_facts));
    assert_false(roast_record_has(&rec, ROAST_FIELD_file_branches));
}

/* ---- attempts and chunks ----------------------------------------------------- */

static void read_something(roast_thread *thread)
{
    const struct roast_file_facts facts = {.kind = ROAST_FILE_TTREE};
    const struct roast_endpoint endpoint = {.name = {"h", 1}, .requests = 1};

    assert_int_equal(branch(thread, "pt"), 0);
    roast_ladder_endpoint_add(thread, &endpoint);
    roast_ladder_file(thread, &facts, str_from("all", 3));
}

static void the_chunk_of_an_attempt_has_its_reads(void **state)
{
    roast_thread *thread = begin_armed(0);
    struct roast_branch sent[2];
    (void)state;

    read_something(thread); /* before process() */
    roast_chunk_begin(thread, &(struct roast_chunk_options)ROAST_CHUNK_OPTIONS_INIT);
    roast_chunk_start(thread);
    assert_int_equal(branch(thread, "eta"), 1);
    assert_int_equal(roast_ladder_branch(thread, long_text()), 2);
    roast_record rec = end_chunk(thread);
    assert_int_equal(branches_in(&rec, sent, COUNT_OF(sent)), 3);
    assert_str_is(sent[1].name, "eta");
    assert_str_is(text(&rec, ROAST_FIELD_file_branches), "all");
    assert_true(roast_record_has(&rec, ROAST_FIELD_endpoints));
    assert_true(roast_record_has(&rec, ROAST_FIELD_file_facts));
    assert_int_equal(loss_of(&rec, ROAST_LOSS_text_cut), 1);
    rec = end_chunk(begin_chunk()); /* a second one has none of it */
    assert_nothing_read(&rec);
    assert_false(roast_record_has(&rec, ROAST_FIELD_losses));
    assert_int_equal(end_attempt(thread, ended_ok).count, 1);
}

static void a_chunk_counts_the_branches_that_were_lost_before_it(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    read_many(thread, MOST_BRANCHES + 2);
    roast_chunk_begin(thread, &(struct roast_chunk_options)ROAST_CHUNK_OPTIONS_INIT);
    roast_chunk_start(thread);
    assert_int_equal(branch(thread, "one more"), -1);
    roast_record rec = end_chunk(thread);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_branches), 3);
    (void)end_armed(thread);
}

static void a_chunk_that_outlives_its_attempt_has_no_reads(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    read_something(thread);
    roast_chunk_begin(thread, &(struct roast_chunk_options)ROAST_CHUNK_OPTIONS_INIT);
    roast_chunk_start(thread);
    (void)end_attempt(thread, ended_ok);
    roast_record rec = end_chunk(thread);
    assert_nothing_read(&rec);
}

static void an_attempt_has_no_reads_of_the_one_before(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    read_something(thread);
    (void)end_reads(thread);
    roast_record rec = end_reads(begin_armed(0));
    assert_nothing_read(&rec);
    thread = begin_armed(0);
    assert_int_equal(branch(thread, "eta"), 0);
    (void)end_armed(thread);
}

/* Reads are sent even if the attempt failed. */
static void an_attempt_that_failed_early_has_its_reads(void **state)
{
    roast_thread *thread = begin_armed(0);
    (void)state;

    read_something(thread);
    struct sent_frames sent = end_attempt(thread, ended_failed);
    assert_int_equal(sent.count, 2);
    assert_str_is(text(&sent.records[0], ROAST_FIELD_file_branches), "all");
    assert_true(roast_record_has(&sent.records[0], ROAST_FIELD_branches));
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_duration_ns));
}

/* ---- memory ------------------------------------------------------------------ */

static void nothing_is_allocated_after_the_first_attempt(void **state)
{
    (void)state;

    for (int i = 0; i < 20; i++) {
        roast_thread *thread = begin_armed(0);
        read_many(thread, 500);
        roast_ladder_file(thread, &(struct roast_file_facts){.branches = 1},
                          long_text());
        assert_true(add_attempt_chunk(thread, NULL));
        (void)end_armed(thread);
        thread = begin_armed(0);
        read_many(thread, 500);
        (void)end_reads(thread);
        if (i == 0) {
            test_heap_install();
            test_heap_fail(0, false);
        }
    }
    roast__heap_set(NULL);
    assert_int_equal(test_heap.calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_is_known_by_its_name),
        cmocka_unit_test(what_is_read_of_a_branch_is_added_up),
        cmocka_unit_test(sizes_in_the_file_are_replaced),
        cmocka_unit_test(numbers_of_no_branch_change_nothing),
        cmocka_unit_test(long_names_are_cut_and_counted),
        cmocka_unit_test(many_branches_are_distinct),
        cmocka_unit_test(branches_beyond_the_cap_are_counted),
        cmocka_unit_test(what_is_read_from_an_endpoint_is_added_up),
        cmocka_unit_test(endpoints_beyond_the_cap_are_one),
        cmocka_unit_test(a_long_endpoint_is_cut),
        cmocka_unit_test(facts_of_the_tree_are_sent),
        cmocka_unit_test(a_tree_without_reads_has_an_empty_list),
        cmocka_unit_test(branches_of_a_file_are_sent_once),
        cmocka_unit_test(the_chunk_of_an_attempt_has_its_reads),
        cmocka_unit_test(a_chunk_counts_the_branches_that_were_lost_before_it),
        cmocka_unit_test(a_chunk_that_outlives_its_attempt_has_no_reads),
        cmocka_unit_test(an_attempt_has_no_reads_of_the_one_before),
        cmocka_unit_test(an_attempt_that_failed_early_has_its_reads),
        cmocka_unit_test(nothing_is_allocated_after_the_first_attempt),
    };
    return cmocka_run_group_tests_name("probe/reads", tests, NULL, NULL);
}
