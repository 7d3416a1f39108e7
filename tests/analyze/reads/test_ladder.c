/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ladder.c - the ladders of chunks summed up, the second split of their seconds,
 * and what is missing where hooks were. */
#include "analyze/blobs.h"
#include "analyze/runs.h"

#define SECOND_NS UINT64_C(1000000000)

static void set_s(struct roast_ladder *ladder, enum roast_ladder_item item,
                  uint64_t seconds)
{
    roast_ladder_set(ladder, item, seconds * SECOND_NS);
}

/* 1 s open, 5 s form, 4 s fetch (1 of it on the CPU), 2 s compute: 12 s. */
static struct roast_ladder typical(void)
{
    struct roast_ladder ladder = {0};

    set_s(&ladder, ROAST_ITEM_open, 1);
    set_s(&ladder, ROAST_ITEM_form, 5);
    set_s(&ladder, ROAST_ITEM_fetch, 4);
    set_s(&ladder, ROAST_ITEM_compute, 2);
    set_s(&ladder, ROAST_ITEM_runqueue, 2);
    set_s(&ladder, ROAST_ITEM_fetch_cpu, 1);
    set_s(&ladder, ROAST_ITEM_gc_cpu, 1);
    roast_ladder_set(&ladder, ROAST_ITEM_gc_runs, 7);
    roast_ladder_set(&ladder, ROAST_ITEM_open_bytes, 500);
    roast_ladder_set(&ladder, ROAST_ITEM_metadata_bytes, 9000);
    roast_ladder_set(&ladder, ROAST_ITEM_column_bytes, 1000);
    roast_ladder_set(&ladder, ROAST_ITEM_cached_reads, 3);
    set_s(&ladder, ROAST_ITEM_hook_cost, 1);
    return ladder;
}

static void add_end(roast_run *run, uint32_t sequence, struct roast_ladder ladder)
{
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .sequence = sequence,
                                  .task_start = 1,
                                  .task = 12,
                                  .task_cpu = 6,
                                  .ladder = ladder_blob(&ladder)});
}

/* The reason that a summary gives for a part of a table; NULL: none. */
static const char *reason_for(const roast_summary *summary, const char *name)
{
    static char text[400];

    for (size_t i = 0; i < rows_of(summary, "unavailable"); i++) {
        struct roast_str why = text_at(summary, "unavailable", i, "why");
        if (!str_is(text_at(summary, "unavailable", i, "name"), name))
            continue;
        assert_true(why.size_bytes < sizeof(text));
        memcpy(text, why.data, why.size_bytes);
        text[why.size_bytes] = '\0';
        return text;
    }
    return NULL;
}

/* ---- sums ------------------------------------------------------------------------ */

static void test_slices_of_all_chunks_add_up(void **state)
{
    roast_run *run = run_new();
    struct roast_ladder other = {0};

    (void)state;
    add_frame(run, (struct frame){.sequence = 1, .stop = 1, .start = 1, .duration = 2});
    add_end(run, 1, typical());
    set_s(&other, ROAST_ITEM_open, 2);
    set_s(&other, ROAST_ITEM_write, 3);
    set_s(&other, ROAST_ITEM_storage_wait, 3);
    add_end(run, 2, other); /* a chunk without a record has a ladder too */
    add_frame(run, (struct frame){.sequence = 3, .first = 2, .stop = 3, .start = 1});
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "ladder", 0, "open"), 3);
    assert_near(number_at(summary, "ladder", 0, "form"), 5);
    assert_near(number_at(summary, "ladder", 0, "fetch"), 4);
    assert_near(number_at(summary, "ladder", 0, "compute"), 2);
    assert_near(number_at(summary, "ladder", 0, "write"), 3);
    assert_int_equal(cell_at(summary, "ladder", 0, "result").type, ROAST_CELL_ABSENT);
    assert_metric(summary, ladder_chunks, 2);
    assert_metric(summary, num_chunks_without_ladder, 1);
    assert_metric(summary, gc_seconds, 1);
    assert_metric(summary, gc_runs, 7);
    assert_metric(summary, open_bytes, 500);
    assert_metric(summary, metadata_bytes, 9000);
    assert_metric(summary, column_bytes, 1000);
    assert_metric(summary, cached_reads, 3);
    assert_metric(summary, hook_seconds, 1);
    assert_metric(summary, storage_wait_seconds, 3);
    (void)assert_absent(summary, other_bytes);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_only_attempts_that_count_are_in_the_ladder(void **state)
{
    roast_run *run = run_new();
    struct frame failed = {.sequence = 1,
                           .stop = 1,
                           .start = 1,
                           .duration = 2,
                           .status = ROAST_CHUNK_FAILED};

    (void)state;
    add_frame(run, failed);
    add_end(run, 1, typical());
    add_frame(run, (struct frame){.sequence = 2, .stop = 1, .start = 3, .duration = 2});
    add_end(run, 2, typical());
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "ladder", 0, "form"), 5);
    assert_metric(summary, ladder_chunks, 1);
    assert_metric(summary, num_chunks_without_ladder, 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_damaged_ladder_is_none(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.sequence = 1, .stop = 1, .start = 1, .duration = 2});
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .sequence = 1,
                                  .task = 1,
                                  .ladder = str_from("\x01\xff", 2)});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "ladder"), 0);
    assert_metric(summary, ladder_chunks, 0);
    assert_metric(summary, num_chunks_without_ladder, 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_seconds_of_first_chunks(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(
        run, (struct frame){.stop = 1, .start = 1, .duration = 5, .first_chunk = true});
    add_frame(run, (struct frame){.sequence = 1,
                                  .process = 2,
                                  .first = 1,
                                  .stop = 2,
                                  .start = 1,
                                  .duration = 2,
                                  .first_chunk = true});
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .sequence = 1,
                                  .process = 2,
                                  .task = 7}); /* opening the file took 5 s */
    add_frame(run, (struct frame){.first = 3, .stop = 4, .start = 9, .duration = 1});
    roast_summary *summary = summary_of(run);
    assert_metric(summary, first_chunk_seconds, 12);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- the second split ------------------------------------------------------------ */

static void test_the_second_split_is_additive(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_end(run, 1, typical());
    add_end(run, 2, typical());
    roast_summary *summary = summary_of(run);
    assert_near(number_at(summary, "chunk_split", 0, "on_cpu"), 12);
    assert_near(number_at(summary, "chunk_split", 0, "runqueue"), 4);
    assert_near(number_at(summary, "chunk_split", 0, "fetch_wait"), 6);
    assert_near(number_at(summary, "chunk_split", 0, "blocked"), 2);
    assert_int_equal(cell_at(summary, "chunk_split", 0, "waiting").type,
                     ROAST_CELL_ABSENT);
    assert_null(reason_for(summary, "chunk_split"));
    assert_null(reason_for(summary, "chunk_split.blocked"));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_fetch_the_waiting_is_not_split(void **state)
{
    roast_run *run = run_new();
    struct roast_ladder ladder = {0};

    (void)state;
    set_s(&ladder, ROAST_ITEM_runqueue, 2);
    add_end(run, 1, ladder);
    roast_summary *summary = summary_of(run);
    assert_int_equal(cell_at(summary, "chunk_split", 0, "fetch_wait").type,
                     ROAST_CELL_ABSENT);
    assert_int_equal(cell_at(summary, "chunk_split", 0, "blocked").type,
                     ROAST_CELL_ABSENT);
    assert_near(number_at(summary, "chunk_split", 0, "waiting"), 4);
    assert_non_null(reason_for(summary, "chunk_split.fetch_wait"));
    assert_non_null(reason_for(summary, "chunk_split.blocked"));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_run_queue_there_is_no_second_split(void **state)
{
    roast_run *run = run_new();
    struct roast_ladder ladder = {0};

    (void)state;
    set_s(&ladder, ROAST_ITEM_form, 12);
    add_end(run, 1, ladder);
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "chunk_split"), 0);
    assert_non_null(strstr(reason_for(summary, "chunk_split"), "wait for a core"));
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- hooks ----------------------------------------------------------------------- */

static void test_missing_hooks_are_reasons(void **state)
{
    roast_run *run = run_new();
    struct roast_ladder ladder = {0};

    (void)state;
    set_s(&ladder, ROAST_ITEM_form, 12);
    roast_ladder_set(&ladder, ROAST_ITEM_hooks_missing,
                     UINT64_C(1) << ROAST_HOOK_submit |
                         UINT64_C(1) << ROAST_HOOK_from_root |
                         UINT64_C(1) << 63); /* one of a later version */
    add_end(run, 1, ladder);
    add_end(run, 2, ladder);
    add_end(run, 3, typical()); /* of a worker that has them */
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "hooks_missing"), 2);
    assert_str_is(text_at(summary, "hooks_missing", 0, "hook"), "from_root");
    assert_str_is(text_at(summary, "hooks_missing", 1, "hook"), "submit");
    assert_str_is(text_at(summary, "hooks_missing", 1, "where"),
                  roast_hook_info(ROAST_HOOK_submit)->where);
    assert_str_is(text_at(summary, "hooks_missing", 1, "lost"),
                  roast_hook_info(ROAST_HOOK_submit)->text);
    assert_near(number_at(summary, "hooks_missing", 1, "chunks"), 2);
    assert_string_equal(
        reason_for(summary, "ladder.decompress"),
        "uproot.source.futures.TrivialExecutor.submit does not exist: unpacking and "
        "interpreting count as waiting; bytes of branches");
    assert_null(reason_for(summary, "ladder.fetch")); /* one worker knows it */
    assert_null(reason_for(summary, "ladder.unnamed"));
    assert_non_null(strstr(reason_for(summary, "file_metadata"), "from_root"));
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_run_without_ladders_has_a_reason(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 1, .start = 1, .duration = 2});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "ladder"), 0);
    assert_int_equal(rows_of(summary, "hooks_missing"), 0);
    assert_string_equal(reason_for(summary, "ladder"),
                        "the time inside the chunks was not measured");
    assert_string_equal(reason_for(summary, "branch_costs"),
                        "the time inside the chunks was not measured");
    assert_null(reason_for(summary, "ladder.form"));
    assert_string_equal(assert_absent(summary, gc_seconds),
                        "the time inside the chunks was not measured");
    assert_metric(summary, num_chunks_without_ladder, 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_run_without_chunks_has_a_reason_of_its_own(void **state)
{
    roast_run *run = run_new();

    (void)state;
    roast_summary *summary = summary_of(run);
    assert_null(reason_for(summary, "ladder"));
    assert_null(reason_for(summary, "ladder.form"));
    assert_string_equal(assert_absent(summary, column_bytes),
                        "no call of coffea's Runner was recorded");
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- undecorated ----------------------------------------------------------------- */

static void test_undecorated_chunks_count_like_others(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.stop = 10,
                                  .start = 1,
                                  .duration = 2,
                                  .events = 10,
                                  .bytes_known = true,
                                  .bytes = 30,
                                  .bytes_before = 4,
                                  .undecorated = true});
    roast_summary *summary = summary_of(run);
    assert_metric(summary, chunk_duration_mean, 2);
    assert_metric(summary, total_events, 10);
    assert_metric(summary, total_bytes_read, 34);
    assert_metric(summary, total_cpu_time, 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_of_all_chunks_add_up),
        cmocka_unit_test(test_only_attempts_that_count_are_in_the_ladder),
        cmocka_unit_test(test_a_damaged_ladder_is_none),
        cmocka_unit_test(test_seconds_of_first_chunks),
        cmocka_unit_test(test_the_second_split_is_additive),
        cmocka_unit_test(test_without_fetch_the_waiting_is_not_split),
        cmocka_unit_test(test_without_run_queue_there_is_no_second_split),
        cmocka_unit_test(test_missing_hooks_are_reasons),
        cmocka_unit_test(test_a_run_without_ladders_has_a_reason),
        cmocka_unit_test(test_a_run_without_chunks_has_a_reason_of_its_own),
        cmocka_unit_test(test_undecorated_chunks_count_like_others),
    };
    return cmocka_run_group_tests_name("analyze/ladder", tests, NULL, NULL);
}
