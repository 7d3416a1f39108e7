/* SPDX-License-Identifier: BSD-3-Clause */
/* test_slow_chunk.c - the cause of a slow chunk is the slice that took longer. */
#include "analyze/blobs.h"
#include "analyze/runs.h"
#include "analyze/table_cells.h"

/* What one chunk takes longer than the others, in seconds. */
struct excess {
    double open, fetch, decompress, result; /* slices */
    double compute, cpu;                    /* of process() itself */
    double runqueue, gil, storage;          /* inside the slices */
    double before;                          /* of the slices, ahead of process() */
    uint64_t events;                        /* 0: as all */
};

static void set_seconds_of(struct roast_ladder *ladder, enum roast_ladder_item item,
                           double seconds)
{
    roast_ladder_set(ladder, item, (uint64_t)NS(seconds));
}

static struct roast_str ladder_with(const struct excess *more)
{
    struct roast_ladder ladder = {0};

    set_seconds_of(&ladder, ROAST_ITEM_open, 0.1 + more->open);
    set_seconds_of(&ladder, ROAST_ITEM_fetch, more->fetch);
    set_seconds_of(&ladder, ROAST_ITEM_decompress, 0.2 + more->decompress);
    set_seconds_of(&ladder, ROAST_ITEM_compute, 0.8 + more->compute);
    set_seconds_of(&ladder, ROAST_ITEM_result, more->result);
    set_seconds_of(&ladder, ROAST_ITEM_runqueue, more->runqueue);
    set_seconds_of(&ladder, ROAST_ITEM_gil_wait, more->gil);
    set_seconds_of(&ladder, ROAST_ITEM_storage_wait, more->storage);
    return ladder_blob(&ladder);
}

static void add_chunk_with(roast_run *run, uint64_t number, double start,
                           const struct excess *more, struct roast_str ladder)
{
    const double outside = 0.1 + more->open + more->result;
    const double inside = 1 + more->fetch + more->decompress + more->compute;
    uint64_t process = 1 + number % 4;

    add_frame(run, (struct frame){.process = process,
                                  .sequence = (uint32_t)number + 1,
                                  .first = number * 100,
                                  .stop = number * 100 + 100,
                                  .events = more->events > 0 ? more->events : 100,
                                  .start = start + 0.1,
                                  .duration = inside - more->before,
                                  .cpu = 1 + more->decompress + more->cpu});
    add_frame(run, (struct frame){.kind = ROAST_FRAME_END,
                                  .process = process,
                                  .sequence = (uint32_t)number + 1,
                                  .task_start = start,
                                  .task = inside + outside,
                                  .ladder = ladder});
}

/* Four threads with ten chunks each; the last one of all takes longer. */
static roast_summary *summary_with(struct excess more)
{
    static const struct excess nothing = {0};
    struct roast_str usual = ladder_with(&nothing);
    roast_run *run = run_new();

    offer(run, 0, 4, 4);
    for (uint64_t i = 0; i < 39; i++)
        add_chunk_with(run, i, 1.1 * (double)(i / 4), &nothing, usual);
    add_chunk_with(run, 39, 1.1 * 9, &more, ladder_with(&more));
    roast_run_finish(run, NS(30));
    roast_summary *summary = summary_of(run);
    roast_run_free(run);
    return summary;
}

/* An empty cause: not known. */
static void assert_causes(struct excess more, const char *straggler,
                          const char *outlier)
{
    roast_summary *summary = summary_with(more);

    assert_int_equal(rows_of(summary, "stragglers"), 1);
    assert_str_is(text_at(summary, "stragglers", 0, "cause"), straggler);
    assert_int_equal(rows_of(summary, "outliers"), outlier != NULL);
    if (outlier)
        assert_str_is(text_at(summary, "outliers", 0, "cause"), outlier);
    roast_summary_free(summary);
}

static void causes_are_slices(void **state)
{
    static const char data[] = "waited for data", work[] = "more work per event";

    (void)state;
    assert_causes((struct excess){.fetch = 5.4, .compute = 0.7, .cpu = 0.7}, data,
                  data);
    assert_causes((struct excess){.decompress = 5}, "decompressing", "decompressing");
    assert_causes((struct excess){.compute = 5, .cpu = 5}, work, work);
    assert_causes((struct excess){.compute = 5}, "waited inside process()",
                  "waited inside process()");
    assert_causes((struct excess){.compute = 5, .runqueue = 4}, "waited for a core",
                  "waited for a core");
    assert_causes((struct excess){.compute = 5, .gil = 4}, "waited for the GIL",
                  "waited for the GIL");
}

/* They take no time of process(), so the chunk is no outlier. */
static void causes_outside_of_process(void **state)
{
    (void)state;
    assert_causes((struct excess){.open = 5}, "opening its file", NULL);
    assert_causes((struct excess){.open = 5, .storage = 4}, "waited for data", NULL);
    assert_causes((struct excess){.result = 5}, "packing its output", NULL);
}

static void no_cause_has_half_of_it(void **state)
{
    roast_summary *summary =
        summary_with((struct excess){.fetch = 2, .decompress = 2, .compute = 2});

    (void)state;
    assert_int_equal(cell_at(summary, "stragglers", 0, "cause").type,
                     ROAST_CELL_ABSENT);
    assert_int_equal(cell_at(summary, "outliers", 0, "cause").type, ROAST_CELL_ABSENT);
    roast_summary_free(summary);
}

/* Columns in bulk are read before process(), whose own time is another matter. */
static void reads_ahead_of_process(void **state)
{
    (void)state;
    assert_causes((struct excess){.fetch = 3, .before = 3, .compute = 2, .cpu = 2},
                  "waited for data", "more work per event");
}

/* Twice the events explain one second of six. */
static void more_events_explain_a_part_only(void **state)
{
    (void)state;
    assert_causes((struct excess){.fetch = 6, .events = 200}, "waited for data",
                  "waited for data");
    assert_causes((struct excess){.compute = 6, .cpu = 6, .events = 700}, "more events",
                  NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_are_slices),
        cmocka_unit_test(causes_outside_of_process),
        cmocka_unit_test(no_cause_has_half_of_it),
        cmocka_unit_test(reads_ahead_of_process),
        cmocka_unit_test(more_events_explain_a_part_only),
    };

    return cmocka_run_group_tests_name("slow_chunk", tests, NULL, NULL);
}
