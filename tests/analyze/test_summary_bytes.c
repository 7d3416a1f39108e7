/* SPDX-License-Identifier: BSD-3-Clause */
/* What a saved summary must do: come back as it was, or say that it cannot. */
#include "analyze/runs.h"
#include "analyze/summary.h"
#include "heap.h"
#include "roast/report.h"

/* Two datasets, a failure, an outlier's worth of chunks, offers: most tables have rows. */
static roast_run *busy_run(void)
{
    roast_run *run = run_new();

    offer(run, 0, 2, 2);
    for (unsigned i = 0; i < 12; i++)
        add_frame(run, (struct frame){
                           .dataset = i % 2 ? "ttbar" : "data",
                           .file = i % 3 ? "a.root" : "b.root",
                           .first = i * 100,
                           .stop = i * 100 + 100,
                           .events = 100,
                           .start = i,
                           .duration = i == 7 ? 0.9 : 0.1,
                           .cpu = 0.05,
                           .bytes_known = true,
                           .bytes = 1000,
                           .before_mb = 100,
                           .after_mb = 101,
                       });
    add_frame(run, (struct frame){.status = 2,
                                  .first = 1200,
                                  .stop = 1300,
                                  .start = 12,
                                  .duration = 0.2,
                                  .error_type = "OSError",
                                  .error_message = "gone"});
    roast_run_finish(run, NS(14));
    return run;
}

static struct roast_buf packed(const roast_summary *summary)
{
    struct roast_buf buf = {NULL, 0, 0, false};

    roast__summary_encode(&buf, summary);
    assert_true(roast__buf_ok(&buf));
    return buf;
}

static struct roast_str bytes_of(const struct roast_buf *buf)
{
    return str_from(buf->data, buf->size_bytes);
}

static struct roast_page page_of(const roast_summary *summary)
{
    struct roast_page page;

    assert_int_equal(roast_report_text(&page, summary, NULL, NULL), ROAST_OK);
    return page;
}

static void test_comes_back_as_it_was(void **state)
{
    roast_run *run = busy_run();
    roast_summary *summary = summary_of(run);
    struct roast_buf buf = packed(summary);
    roast_summary *again = NULL;

    (void)state;
    assert_int_equal(roast__summary_decode(&again, bytes_of(&buf), NULL), ROAST_OK);
    struct roast_buf twice = packed(again);
    assert_true(str_equal(bytes_of(&buf), bytes_of(&twice)));
    struct roast_page before = page_of(summary), after = page_of(again);
    assert_string_equal(before.text, after.text);
    roast_page_release(&before);
    roast_page_release(&after);
    roast__buf_release(&buf);
    roast__buf_release(&twice);
    roast_summary_free(summary);
    roast_summary_free(again);
    roast_run_free(run);
}

/* Also where the source was worse than the list says. */
static void test_kinds_come_back(void **state)
{
    roast_run *run = run_new();
    roast_summary *again = NULL;

    (void)state;
    for (int i = 0; i <= 10; i += 10)
        assert_int_equal(roast_run_add_count(run, RUN_EPOCH_NS + NS(i), 3, NULL),
                         ROAST_OK);
    roast_run_finish(run, NS(10));
    roast_summary *summary = summary_of(run);
    struct roast_buf buf = packed(summary);
    assert_int_equal(roast__summary_decode(&again, bytes_of(&buf), NULL), ROAST_OK);
    const struct roast_metric_values *values = roast_summary_metrics(again);
    assert_int_equal(roast_metric_kind(values, ROAST_METRIC_peak_workers),
                     ROAST_SAMPLED);
    assert_int_equal(roast_metric_kind(values, ROAST_METRIC_wall_time), ROAST_EXACT);
    roast__buf_release(&buf);
    roast_summary_free(summary);
    roast_summary_free(again);
    roast_run_free(run);
}

static void test_cut_anywhere_it_is_refused(void **state)
{
    roast_run *run = busy_run();
    roast_summary *summary = summary_of(run);
    struct roast_buf buf = packed(summary);

    (void)state;
    for (size_t size = 0; size < buf.size_bytes; size++) {
        roast_summary *again = NULL;
        roast_error err = {0};
        assert_int_equal(roast__summary_decode(&again, str_from(buf.data, size), &err),
                         ROAST_BAD_DATA);
        assert_null(again);
        assert_true(err.message[0] != '\0');
    }
    roast__buf_release(&buf);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Whatever the bytes say, it is read or refused, and can be shown if it is read. */
static void test_no_byte_can_do_harm(void **state)
{
    roast_run *run = busy_run();
    roast_summary *summary = summary_of(run);
    struct roast_buf buf = packed(summary);

    (void)state;
    for (size_t at = 0; at < buf.size_bytes; at++) {
        static const unsigned char others[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
        unsigned char was = buf.data[at];
        roast_summary *again = NULL;
        buf.data[at] = others[at % COUNT_OF(others)];
        if (roast__summary_decode(&again, bytes_of(&buf), NULL) == ROAST_OK &&
            at % 16 == 0) {
            struct roast_page page = page_of(again);
            roast_page_release(&page);
        }
        roast_summary_free(again);
        buf.data[at] = was;
    }
    roast__buf_release(&buf);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_a_newer_layout_is_rejected(void **state)
{
    static const unsigned char newer[] = {2, 0, 0};
    roast_summary *summary = NULL;
    roast_error err = {0};

    (void)state;
    assert_int_equal(roast__summary_decode(&summary, str_from(newer, 3), &err),
                     ROAST_NEWER_FORMAT);
    assert_null(summary);
}

static void test_out_of_memory_anywhere(void **state)
{
    roast_run *run = busy_run();
    roast_summary *summary = summary_of(run);
    struct roast_buf buf = packed(summary);
    size_t before = test_heap.live_blocks;
    bool happened = true;

    (void)state;
    for (size_t n = 1; happened; n++) {
        roast_summary *again = NULL;
        test_heap_fail(n, n % 2);
        int status = roast__summary_decode(&again, bytes_of(&buf), NULL);
        happened = test_heap_failed();
        test_heap_fail(0, false);
        assert_int_equal(status, happened ? ROAST_NO_MEMORY : ROAST_OK);
        roast_summary_free(again);
        assert_int_equal(test_heap.live_blocks, before);
    }
    roast__buf_release(&buf);
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back_as_it_was),
        cmocka_unit_test(test_kinds_come_back),
        cmocka_unit_test(test_cut_anywhere_it_is_refused),
        cmocka_unit_test(test_no_byte_can_do_harm),
        cmocka_unit_test(test_a_newer_layout_is_rejected),
        cmocka_unit_test(test_out_of_memory_anywhere),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
