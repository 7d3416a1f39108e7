/* SPDX-License-Identifier: BSD-3-Clause */
/* test_digests.c - blocks that were summed up while rows came in tell the same as
 * their rows, to the last digit, whatever happened to these before or afterwards. */
#include <stdio.h>

#include "analyze/runs.h"
#include "draw.h"
#include "heap.h"
#include "run/run.h"

enum { BLOCK = ROAST_DIGEST_ROWS, FIRST_SEQUENCE = 1000000 };

/* ---- two summaries --------------------------------------------------------------- */

static void assert_same_metrics(const roast_summary *left, const roast_summary *right)
{
    const struct roast_metric_values *a = roast_summary_metrics(left);
    const struct roast_metric_values *b = roast_summary_metrics(right);

    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        if (a->known[i] != b->known[i] || (a->known[i] && a->value[i] != b->value[i]))
            fail_msg("%s: %.17g, %.17g", roast_metric_info((enum roast_metric)i)->name,
                     a->value[i], b->value[i]);
    }
}

static bool same_cell(const struct roast_cell *a, const struct roast_cell *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == ROAST_CELL_NUMBER)
        return a->number == b->number;
    if (a->type == ROAST_CELL_TEXT)
        return a->text.size_bytes == b->text.size_bytes &&
               memcmp(a->text.data, b->text.data, a->text.size_bytes) == 0;
    return a->type == ROAST_CELL_ABSENT || a->count == b->count;
}

static void assert_same_tables(const roast_summary *left, const roast_summary *right)
{
    for (int id = 0; id < ROAST_TABLE_COUNT; id++) {
        const roast_table *a = roast_summary_table(left, (enum roast_table_id)id);
        const roast_table *b = roast_summary_table(right, (enum roast_table_id)id);
        assert_int_equal(roast_table_rows(a), roast_table_rows(b));
        for (size_t i = 0; i < roast_table_width(a); i++) {
            for (size_t row = 0; row < roast_table_rows(a); row++) {
                struct roast_cell x = roast_column_cell(roast_table_column(a, i), row);
                struct roast_cell y = roast_column_cell(roast_table_column(b, i), row);
                if (!same_cell(&x, &y))
                    fail_msg("%s: row %zu, %s",
                             roast_table_name((enum roast_table_id)id), row,
                             roast_table_column(a, i)->name);
            }
        }
    }
}

static size_t count_digests(const roast_run *run)
{
    const struct roast_digests *digests = &run->attempts.digests;
    size_t count = 0;

    for (size_t i = 0; i < digests->count; i++)
        count += digests->blocks[i] != NULL;
    return count;
}

typedef int summarizing(roast_summary **out, roast_run *run, roast_error *err);

static roast_summary *summary_by(summarizing *summarize, roast_run *run)
{
    roast_summary *summary = NULL;

    assert_int_equal(summarize(&summary, run, NULL), ROAST_OK);
    return summary;
}

/* Compares with what the rows alone say; afterwards the run has no digests. */
static void assert_same_without(roast_run *run, size_t digests)
{
    assert_int_equal(count_digests(run), digests);
    roast_summary *quick = summary_by(roast_summarize_quick, run);
    roast_summary *whole = summary_by(roast_summarize, run);
    roast__digests_release(&run->attempts.digests);
    roast_summary *quick_rows = summary_by(roast_summarize_quick, run);
    roast_summary *whole_rows = summary_by(roast_summarize, run);
    assert_same_metrics(quick, quick_rows);
    assert_same_tables(quick, quick_rows);
    assert_same_metrics(whole, whole_rows);
    assert_same_tables(whole, whole_rows);
    roast_summary_free(quick);
    roast_summary_free(whole);
    roast_summary_free(quick_rows);
    roast_summary_free(whole_rows);
}

/* ---- runs ------------------------------------------------------------------------ */

/* How often something befalls an attempt. */
struct fate {
    double failed, again, lost, bare, unknown, shuffled;
    unsigned files;
};

struct drawn_run {
    roast_run *run;
    uint64_t seed;
    uint32_t sequence;
    struct fate fate;
    char file[32];
};

static bool befalls(struct drawn_run *drawn, double share)
{
    return draw_share(&drawn->seed) < share;
}

static double some(struct drawn_run *drawn, double most)
{
    return befalls(drawn, drawn->fate.unknown) ? 0 : draw_share(&drawn->seed) * most;
}

static struct frame frame_of(struct drawn_run *drawn, uint64_t number)
{
    unsigned file = (unsigned)(number * drawn->fate.files / (8 * BLOCK));
    uint64_t first = befalls(drawn, drawn->fate.shuffled)
                         ? (uint64_t)(draw_share(&drawn->seed) * 1e6) * 100
                         : number * 100;

    (void)snprintf(drawn->file, sizeof(drawn->file), "file_%u.root", file);
    return (struct frame){.sequence = ++drawn->sequence,
                          .process = 1 + number % 7,
                          .dataset = file % 3 ? "ttbar" : "wjets",
                          .file = drawn->file,
                          .first = first,
                          .stop = first + 100,
                          .start = 1 + (double)number * 0.01,
                          .duration = some(drawn, 12.34567),
                          .cpu = some(drawn, 11),
                          .events = (uint64_t)some(drawn, 1e5),
                          .before_mb = (uint64_t)some(drawn, 900),
                          .after_mb = (uint64_t)some(drawn, 900),
                          .peak_mb = (uint64_t)some(drawn, 2000),
                          .bytes_known = !befalls(drawn, drawn->fate.unknown),
                          .bytes = (uint64_t)some(drawn, 1e9),
                          .bytes_before = (uint64_t)some(drawn, 1e6)};
}

static void add_end(struct drawn_run *drawn, struct frame frame, double task)
{
    frame.kind = ROAST_FRAME_END;
    frame.task_start = frame.start;
    frame.task = task;
    frame.task_cpu = task / 2;
    add_frame(drawn->run, frame);
}

static void add_attempt(struct drawn_run *drawn, uint64_t number)
{
    struct frame frame = frame_of(drawn, number);
    struct frame begin = frame;

    begin.kind = ROAST_FRAME_BEGIN;
    add_frame(drawn->run, begin);
    if (befalls(drawn, drawn->fate.lost))
        return;
    if (befalls(drawn, drawn->fate.failed))
        frame.status = ROAST_CHUNK_FAILED;
    if (!befalls(drawn, drawn->fate.bare))
        add_frame(drawn->run, frame);
    add_end(drawn, frame, 13);
    if (frame.status == ROAST_CHUNK_FAILED || befalls(drawn, drawn->fate.again)) {
        frame.sequence = ++drawn->sequence;
        frame.status = 0;
        frame.duration /= 2;
        add_frame(drawn->run, frame);
        add_end(drawn, frame, 14);
    }
}

static struct drawn_run draw_run(uint64_t seed, size_t attempts, struct fate fate)
{
    struct drawn_run drawn = {
        .run = run_new(), .seed = seed, .sequence = FIRST_SEQUENCE, .fate = fate};

    for (uint64_t i = 0; i < attempts; i++)
        add_attempt(&drawn, i);
    return drawn;
}

/* ---- the same -------------------------------------------------------------------- */

/* All but the last full block and what is behind it. */
static void test_a_smooth_run(void **state)
{
    struct drawn_run drawn = draw_run(1, 4 * BLOCK + 5, (struct fate){.files = 9});

    (void)state;
    assert_same_without(drawn.run, 3);
    roast_run_free(drawn.run);
}

static void test_runs_with_every_trouble(void **state)
{
    static const struct fate fates[] = {
        {.failed = 0.01, .files = 40},
        {.again = 0.001, .files = 40},
        {.failed = 0.3, .again = 0.3, .files = 3},
        {.unknown = 0.2, .bare = 0.1, .files = 20},
        {.unknown = 1, .files = 20},
        {.shuffled = 0.5, .files = 200, .failed = 0.01},
        {.failed = 0.01,
         .again = 0.0001,
         .bare = 0.0002,
         .unknown = 0.01,
         .files = 100},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
        struct drawn_run drawn = draw_run(i, 3 * BLOCK + 100, fates[i]);
        size_t rows = drawn.run->attempts.count;
        if (i % 2)
            roast_run_finish(drawn.run, NS(1000));
        assert_same_without(drawn.run, rows / BLOCK - 1);
        roast_run_free(drawn.run);
    }
}

/* A block with an attempt that never ended is not at rest; nor is one of many files
 * worth keeping. */
static void test_blocks_that_are_not_summed_up(void **state)
{
    struct drawn_run lost = draw_run(3, 3 * BLOCK, (struct fate){.lost = 0.01});
    struct drawn_run many = draw_run(4, 3 * BLOCK, (struct fate){.files = 8 * 1000});

    (void)state;
    assert_same_without(lost.run, 0);
    assert_same_without(many.run, 0);
    roast_run_free(lost.run);
    roast_run_free(many.run);
}

/* ---- what comes later ------------------------------------------------------------ */

/* A better end, and a clock that was wrong. */
static void test_rows_that_change_afterwards(void **state)
{
    struct drawn_run drawn = draw_run(5, 3 * BLOCK, (struct fate){.files = 9});
    struct frame late = {.sequence = FIRST_SEQUENCE + 1, .process = 1, .start = 1};

    (void)state;
    assert_int_equal(count_digests(drawn.run), 1);
    add_end(&drawn, late, 99);
    assert_int_equal(count_digests(drawn.run), 0);
    for (uint64_t i = 0; i < BLOCK; i++) /* with the next block it is looked at again */
        add_attempt(&drawn, 3 * BLOCK + i);
    assert_same_without(drawn.run, 2);
    roast_run_free(drawn.run);
}

/* Attempts of a host whose clock is told late: the end of the run moves. */
static void test_clocks_that_are_told_late(void **state)
{
    roast_run *run = run_new();

    (void)state;
    for (uint64_t i = 0; i < 3 * BLOCK; i++)
        add_frame(run, (struct frame){.host = "there",
                                      .first = i,
                                      .stop = i + 1,
                                      .start = 100 - (double)i * 0.001,
                                      .duration = 1});
    assert_int_equal(count_digests(run), 1);
    assert_int_equal(roast_run_set_offset(run, roast_str_of("there"), NS(-50), NULL),
                     ROAST_OK);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, wall_time, 51);
    roast_summary_free(summary);
    assert_same_without(run, 1);
    roast_run_free(run);
}

/* Without memory there is no digest, and nothing else is missing. */
static void test_without_memory_there_is_none(void **state)
{
    struct drawn_run drawn = draw_run(6, 2 * BLOCK, (struct fate){.files = 2});
    bool failed = true;

    (void)state;
    for (size_t n = 1; failed; n++) {
        size_t before = test_heap.live_blocks;
        test_heap_fail(n, false);
        roast__digests_update(&drawn.run->attempts);
        failed = test_heap_failed();
        test_heap_fail(0, false);
        assert_int_equal(count_digests(drawn.run), !failed);
        assert_true(!failed || test_heap.live_blocks <= before + 1);
    }
    assert_same_without(drawn.run, 1);
    roast_run_free(drawn.run);
    assert_int_equal(test_heap.live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_smooth_run),
        cmocka_unit_test(test_runs_with_every_trouble),
        cmocka_unit_test(test_blocks_that_are_not_summed_up),
        cmocka_unit_test(test_rows_that_change_afterwards),
        cmocka_unit_test(test_clocks_that_are_told_late),
        cmocka_unit_test(test_without_memory_there_is_none),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
