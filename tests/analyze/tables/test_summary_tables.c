/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tables.c - tables per dataset, file, worker and host; sections; outliers; what
 * was lost or absent; and a summary that runs out of memory at every place. */
#include "analyze/runs.h"
#include "analyze/summary.h"
#include "base/buf.h"
#include "heap.h"

/* ---- groups ---------------------------------------------------------------------- */

static roast_run *grouped_run(void)
{
    roast_run *run = run_new();

    add_frame(run, (struct frame){.stop = 1,
                                  .start = 1,
                                  .duration = 2,
                                  .cpu = 1,
                                  .events = 10,
                                  .bytes_known = true,
                                  .bytes = 5});
    add_frame(run, (struct frame){.file = "b.root",
                                  .stop = 1,
                                  .start = 1,
                                  .duration = 4,
                                  .cpu = 1,
                                  .events = 20,
                                  .process = 2,
                                  .bytes_known = true,
                                  .bytes = 7,
                                  .peak_mb = 3});
    add_frame(run, (struct frame){.dataset = "wjets",
                                  .file = "b.root",
                                  .stop = 1,
                                  .start = 1,
                                  .duration = 6,
                                  .events = 30,
                                  .process = 3,
                                  .host = "there",
                                  .worker = "tcp://there:1"});
    add_frame(run, (struct frame){.dataset = "wjets",
                                  .file = "c.root",
                                  .stop = 1,
                                  .start = 1,
                                  .status = ROAST_CHUNK_FAILED,
                                  .process = 4,
                                  .host = "there",
                                  .pid = 101});
    roast_run_finish(run, NS(20));
    return run;
}

static void test_per_dataset(void **state)
{
    roast_run *run = grouped_run();
    roast_summary *summary = summary_of(run);
    size_t row = row_of(summary, "per_dataset", "ttbar");

    (void)state;
    assert_int_equal(rows_of(summary, "per_dataset"), 2);
    assert_near(number_at(summary, "per_dataset", row, "num_chunks"), 2);
    assert_near(number_at(summary, "per_dataset", row, "num_attempts"), 2);
    assert_near(number_at(summary, "per_dataset", row, "failures"), 0);
    assert_near(number_at(summary, "per_dataset", row, "total_duration"), 6);
    assert_near(number_at(summary, "per_dataset", row, "mean_duration"), 3);
    assert_near(number_at(summary, "per_dataset", row, "min_duration"), 2);
    assert_near(number_at(summary, "per_dataset", row, "max_duration"), 4);
    assert_near(number_at(summary, "per_dataset", row, "total_events"), 30);
    assert_near(number_at(summary, "per_dataset", row, "mean_events_per_chunk"), 15);
    assert_near(number_at(summary, "per_dataset", row, "total_bytes"), 12);
    assert_near(number_at(summary, "per_dataset", row, "cpu_seconds"), 2);
    assert_near(number_at(summary, "per_dataset", row, "events_per_second"), 5);
    row = row_of(summary, "per_dataset", "wjets");
    assert_near(number_at(summary, "per_dataset", row, "num_chunks"), 1);
    assert_near(number_at(summary, "per_dataset", row, "failures"), 1);
    assert_int_equal(cell_at(summary, "per_dataset", row, "total_bytes").type,
                     ROAST_CELL_ABSENT);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_without_durations_there_is_no_shortest(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.dataset = "ttbar", .file = "a.root", .stop = 1});
    roast_run_finish(run, NS(1));
    roast_summary *summary = summary_of(run);
    assert_int_equal(cell_at(summary, "per_dataset", 0, "min_duration").type,
                     ROAST_CELL_ABSENT);
    assert_int_equal(cell_at(summary, "per_worker", 0, "max_duration").type,
                     ROAST_CELL_ABSENT);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_per_file_worker_and_host(void **state)
{
    roast_run *run = grouped_run();
    roast_summary *summary = summary_of(run);
    size_t row = row_of(summary, "per_file", "b.root");

    (void)state;
    assert_int_equal(rows_of(summary, "per_file"), 3);
    assert_near(number_at(summary, "per_file", row, "total_events"), 50);
    assert_int_equal(cell_at(summary, "per_file", row, "dataset").type,
                     ROAST_CELL_ABSENT); /* two datasets have it */
    row = row_of(summary, "per_file", "c.root");
    assert_str_is(text_at(summary, "per_file", row, "dataset"), "wjets");
    assert_int_equal(cell_at(summary, "per_file", row, "mean_duration").type,
                     ROAST_CELL_ABSENT);

    assert_int_equal(rows_of(summary, "per_worker"), 4);
    row = row_of(summary, "per_worker", "pid-102");
    assert_near(number_at(summary, "per_worker", row, "pid"), 102);
    assert_str_is(text_at(summary, "per_worker", row, "host"), "here");
    assert_near(number_at(summary, "per_worker", row, "peak_memory_mb"), 3);
    (void)row_of(summary, "per_worker", "tcp://there:1");
    (void)row_of(summary, "per_worker", "pid-101");
    row = row_of(summary, "per_worker", "pid-101@there");
    assert_near(number_at(summary, "per_worker", row, "failures"), 1);

    assert_int_equal(rows_of(summary, "per_host"), 2);
    row = row_of(summary, "per_host", "there");
    assert_near(number_at(summary, "per_host", row, "num_attempts"), 2);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- sections -------------------------------------------------------------------- */

static void put_section(struct roast_buf *out, uint64_t parent, const char *name,
                        uint64_t count, double seconds)
{
    roast__buf_put_varint(out, parent + 1);
    roast__buf_put_varint(out, ROAST_SECTION_TIME | ROAST_SECTION_MEMORY);
    roast__buf_put_varint(out, strlen(name));
    roast__buf_put(out, name, strlen(name));
    roast__buf_put_varint(out, count);
    roast__buf_put_varint(out, (uint64_t)NS(seconds));
    roast__buf_put_varint(out, 0);
    roast__buf_put_varint(out, 0);
    roast__buf_put_signed(out, -(INT64_C(1) << 20));
}

/* jets 4 s (2 passes) > fit 1 s > jets 0.5 s; fit 1 s */
static struct roast_buf section_tree(void)
{
    const uint64_t top = UINT64_MAX; /* + 1 is 0 */
    struct roast_buf out = {0};

    roast__buf_put_varint(&out, 4);
    put_section(&out, top, "jets", 2, 4);
    put_section(&out, 0, "fit", 1, 1);
    put_section(&out, 1, "jets", 1, 0.5);
    put_section(&out, top, "fit", 1, 1);
    return out;
}

static void test_sections_by_name(void **state)
{
    struct roast_buf tree = section_tree();
    struct roast_str blob = str_from(tree.data, tree.size_bytes);
    roast_run *run = run_new();

    (void)state;
    add_frame(run,
              (struct frame){.stop = 1, .start = 1, .duration = 10, .sections = blob});
    add_frame(run,
              (struct frame){.first = 1, .start = 1, .duration = 10, .sections = blob});
    add_frame(run, (struct frame){.first = 2, .start = 1, .duration = 5});
    add_frame(run, (struct frame){.first = 3,
                                  .start = 1,
                                  .duration = 5,
                                  .sections = str_from("\x09\x01", 2)}); /* damaged */
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "sections"), 2);
    size_t row = row_of(summary, "sections", "jets");
    assert_near(number_at(summary, "sections", row, "count"), 6);
    assert_near(number_at(summary, "sections", row, "total"), 8);
    assert_near(number_at(summary, "sections", row, "self"), 7);
    assert_near(number_at(summary, "sections", row, "mean"), 8 / 6.0);
    assert_near(number_at(summary, "sections", row, "max"), 4);
    assert_near(number_at(summary, "sections", row, "p99"), 4);
    assert_near(number_at(summary, "sections", row, "chunks"), 2);
    assert_near(number_at(summary, "sections", row, "memory_delta_mb"), -2);
    row = row_of(summary, "sections", "fit");
    assert_near(number_at(summary, "sections", row, "total"), 4);
    assert_near(number_at(summary, "sections", row, "self"), 3);
    assert_near(number_at(summary, "sections", row, "share"), 4 / 25.0);
    assert_int_equal(cell_at(summary, "sections", row, "bytes").type,
                     ROAST_CELL_ABSENT);
    roast_summary_free(summary);
    roast_run_free(run);
    roast__buf_release(&tree);
}

/* track_memory of 0.1.2 took no time: that is not no time. */
static void test_a_section_without_time_has_none(void **state)
{
    static const char memory_only[] = {
        1, 0, ROAST_SECTION_MEMORY, 3, 'n', 'u', 'm', 2, 0, 0, 0, 4};
    roast_run *run = run_new();

    (void)state;
    add_frame(run,
              (struct frame){.stop = 1,
                             .start = 1,
                             .duration = 10,
                             .sections = str_from(memory_only, sizeof(memory_only))});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "sections"), 1);
    assert_near(number_at(summary, "sections", 0, "count"), 2);
    for (const char *const *name =
             (const char *const[]){"total", "self", "mean", "max", "share", NULL};
         *name; name++)
        assert_int_equal(cell_at(summary, "sections", 0, *name).type,
                         ROAST_CELL_ABSENT);
    assert_int_equal(cell_at(summary, "sections", 0, "memory_delta_mb").type,
                     ROAST_CELL_NUMBER);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- losses ---------------------------------------------------------------------- */

static void test_losses_and_absences(void **state)
{
    const char losses[] = {ROAST_LOSS_text_cut, 3, 99, 1};
    const char absences[] = {17, ROAST_WHY_TOO_CLOSE, 15, ROAST_WHY_NO_MEMORY};
    roast_run *run = run_new();

    (void)state;
    roast_run_lose(run, ROAST_RUN_LOSS_frames_foreign, 5);
    for (uint64_t i = 0; i < 2; i++)
        add_frame(run, (struct frame){.first = i,
                                      .start = 1,
                                      .losses = str_from(losses, sizeof(losses)),
                                      .absences = str_from(absences, 2 + 2 * i)});
    roast_summary *summary = summary_of(run);
    size_t lost = 0;
    for (size_t row = 0; row < rows_of(summary, "losses"); row++)
        lost += number_at(summary, "losses", row, "count") > 0;
    assert_int_equal(lost, 2);
    assert_near(number_at(summary, "losses",
                          row_of(summary, "losses", "frames_foreign"), "count"),
                5);
    assert_near(
        number_at(summary, "losses", row_of(summary, "losses", "text_cut"), "count"),
        6);
    assert_int_equal(rows_of(summary, "absent_fields"), 2);
    assert_str_is(text_at(summary, "absent_fields", 0, "field"), "rss_before_bytes");
    assert_near(number_at(summary, "absent_fields", 0, "chunks"), 1);
    assert_str_is(text_at(summary, "absent_fields", 1, "field"), "rss_peak_bytes");
    assert_near(number_at(summary, "absent_fields", 1, "chunks"), 2);
    assert_str_is(text_at(summary, "absent_fields", 1, "reason"),
                  roast_reason_text(ROAST_WHY_TOO_CLOSE));
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- outliers -------------------------------------------------------------------- */

static roast_run *even_run(uint64_t chunks)
{
    roast_run *run = run_new();

    for (uint64_t i = 0; i < chunks; i++)
        add_frame(run, (struct frame){.first = i,
                                      .start = (double)i,
                                      .events = 100,
                                      .duration = 1 + 0.01 * (double)(i % 5),
                                      .cpu = 0.8,
                                      .before_mb = 100,
                                      .after_mb = 110,
                                      .peak_mb = 110});
    return run;
}

static void test_even_chunks_have_no_outlier(void **state)
{
    roast_run *run = even_run(20);
    roast_summary *summary = summary_of(run);

    (void)state;
    assert_int_equal(rows_of(summary, "outliers"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_outliers_and_their_causes(void **state)
{
    roast_run *run = even_run(40);

    (void)state;
    add_frame(run, (struct frame){.first = 90,
                                  .start = 1,
                                  .events = 100,
                                  .duration = 4,
                                  .cpu = 0.8,
                                  .file = "slow"});
    add_frame(run, (struct frame){.first = 91,
                                  .start = 1,
                                  .events = 100,
                                  .duration = 9,
                                  .cpu = 8.8,
                                  .file = "big",
                                  .concurrency = 1,
                                  .peak_mb = 900});
    add_frame(run, (struct frame){.first = 92,
                                  .start = 1,
                                  .events = 100,
                                  .duration = 5,
                                  .cpu = 4.8,
                                  .file = "work",
                                  .concurrency = 2, /* the neighbour's memory */
                                  .peak_mb = 900});
    for (uint64_t i = 0; i < 3; i++)
        add_frame(run, (struct frame){.first = i,
                                      .start = 1,
                                      .events = 100,
                                      .duration = 2,
                                      .cpu = 1.8,
                                      .file = "old",
                                      .host = "old",
                                      .process = 9});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "outliers"), 6);
    assert_str_is(text_at(summary, "outliers", 0, "file"), "big");
    assert_str_is(text_at(summary, "outliers", 0, "cause"), "big memory");
    assert_str_is(text_at(summary, "outliers", 1, "cause"), "more work per event");
    assert_str_is(text_at(summary, "outliers", 2, "cause"), "slow read");
    assert_near(number_at(summary, "outliers", 2, "duration"), 4);
    assert_near(number_at(summary, "outliers", 2, "time_per_event_us"), 40000);
    assert_near(number_at(summary, "outliers", 2, "times_median"), 4 / 1.02);
    assert_str_is(text_at(summary, "outliers", 5, "cause"), "slow host");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_too_few_chunks_have_no_outlier(void **state)
{
    roast_run *run = even_run(6);

    (void)state;
    add_frame(run, (struct frame){.first = 90, .events = 1, .start = 1, .duration = 9});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "outliers"), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_at_most_fifty_outliers(void **state)
{
    roast_run *run = even_run(300);

    (void)state;
    for (uint64_t i = 0; i < 70; i++)
        add_frame(run, (struct frame){.file = "slow",
                                      .first = i,
                                      .events = 100,
                                      .start = 1,
                                      .duration = 5 + (double)i});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "outliers"), 50);
    assert_near(number_at(summary, "outliers", 0, "duration"), 74);
    assert_near(number_at(summary, "outliers", 49, "duration"), 25);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- out of memory --------------------------------------------------------------- */

/* Something of everything. */
static roast_run *rich_run(void)
{
    struct roast_buf tree = section_tree();
    const char losses[] = {ROAST_LOSS_text_cut, 3};
    roast_run *run = grouped_run();

    offer(run, 0, 2, 4);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    mark(run, ROAST_MARK_RUN_END, 9);
    for (uint64_t i = 0; i < 40; i++)
        add_frame(run, (struct frame){.first = (40 - i) % 38,
                                      .stop = 90,
                                      .start = (double)i / 5,
                                      .file = "f",
                                      .events = 10,
                                      .duration = i == 30 ? 9 : 1,
                                      .cpu = i == 30 ? 8.9 : 0.9,
                                      .process = i % 5,
                                      .bytes_known = true,
                                      .bytes = 10,
                                      .status = i % 9 == 1 ? ROAST_CHUNK_FAILED
                                                           : ROAST_CHUNK_OK,
                                      .error_message = "no",
                                      .sections = str_from(tree.data, tree.size_bytes),
                                      .losses = str_from(losses, sizeof(losses))});
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN, .start = 3, .stop = 9});
    for (int i = 0; i < 4; i++) {
        roast_sample sample = {.worker =
                                   roast_str_of(i % 2 ? "tcp://a:1" : "tcp://a:2"),
                               .time_ns = RUN_EPOCH_NS + NS(i)};
        for (int series = 0; series < ROAST_SERIES_COUNT; series++)
            roast_sample_set(&sample, (enum roast_series)series, 10 + i);
        assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
    }
    roast__buf_release(&tree);
    return run;
}

static void test_out_of_memory_anywhere(void **state)
{
    roast_run *run = rich_run();
    size_t before = test_heap.live_blocks;

    (void)state;
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
        size_t n = 1;
        for (;; n++) {
            roast_summary *summary = NULL;
            roast_error err = {0};
            test_heap_fail(n, from_then_on);
            int status = roast_summarize(&summary, run, &err);
            bool happened = test_heap_failed();
            test_heap_fail(0, false);
            assert_int_equal(status, happened ? ROAST_NO_MEMORY : ROAST_OK);
            assert_int_equal(err.code, status);
            assert_true((summary == NULL) == happened);
            roast_summary_free(summary);
            assert_int_equal(test_heap.live_blocks, before);
            if (!happened)
                break;
        }
        assert_true(n > 80);
    }
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_per_dataset),
        cmocka_unit_test(test_without_durations_there_is_no_shortest),
        cmocka_unit_test(test_per_file_worker_and_host),
        cmocka_unit_test(test_sections_by_name),
        cmocka_unit_test(test_a_section_without_time_has_none),
        cmocka_unit_test(test_losses_and_absences),
        cmocka_unit_test(test_even_chunks_have_no_outlier),
        cmocka_unit_test(test_outliers_and_their_causes),
        cmocka_unit_test(test_too_few_chunks_have_no_outlier),
        cmocka_unit_test(test_at_most_fifty_outliers),
        cmocka_unit_test(test_out_of_memory_anywhere),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
