/* SPDX-License-Identifier: BSD-3-Clause */
/* test_heading.c - what ran, when, and how it ended. */
#include "roast/report.h"
#include "support.h"

#define START_NS INT64_C(1763215320000000000) /* 15 Nov 2025 14:02 UTC */

static roast_run *run;

static int make_run(void **state)
{
    (void)state;
    return roast_run_new(&run, 0, START_NS, NULL);
}

static int drop_run(void **state)
{
    (void)state;
    roast_run_free(run);
    return 0;
}

static void note(enum roast_note_group group, const char *name, const char *text)
{
    assert_int_equal(
        roast_run_set_note(run, group, roast_str_of(name), roast_str_of(text), NULL),
        ROAST_OK);
}

static struct roast_heading_text heading(enum roast_origin origin)
{
    struct roast_heading_text out;

    roast_report_heading(&out, run, origin);
    return out;
}

static void test_all_parts_of_a_heading(void **state)
{
    (void)state;
    note(ROAST_NOTES_run, "processor", "MyProcessor");
    note(ROAST_NOTES_run, "executor", "Futures, 4 workers");
    note(ROAST_NOTES_label, "site", "T2");
    note(ROAST_NOTES_label, "user", "me");
    roast_run_finish(run, 1000000000);
    struct roast_heading_text text = heading(ROAST_IN_MEMORY);
    assert_str_is(text.heading.name, "MyProcessor");
    assert_str_is(text.heading.executor, "Futures, 4 workers");
    assert_str_is(text.heading.labels, "site=T2, user=me");
    assert_str_is(text.heading.started, "2025-11-15 14:02 UTC");
    assert_str_is(text.heading.state, "finished");
    assert_null(text.heading.first_error.data);
}

static void test_how_it_ended(void **state)
{
    (void)state;
    assert_str_is(heading(ROAST_IN_MEMORY).heading.state, "still running");
    assert_str_is(heading(ROAST_IN_RUN_FILE).heading.state,
                  "unfinished: saved before its end was known");
    assert_str_is(heading(ROAST_IN_LIVE_FILE).heading.state,
                  "unfinished: still running, or its collector was killed");
    assert_true(heading(ROAST_IN_MEMORY).heading.incomplete);
    roast_run_finish(run, 1000000000);
    assert_false(heading(ROAST_IN_LIVE_FILE).heading.incomplete);
    assert_str_is(heading(ROAST_IN_MEMORY).heading.state, "finished");
    assert_str_is(heading(ROAST_IN_RUN_FILE).heading.state, "finished");
    assert_str_is(heading(ROAST_IN_LIVE_FILE).heading.state,
                  "finished: its run file could not be written, this is the live file");
    note(ROAST_NOTES_run, "failure", "OSError: gone");
    assert_str_is(heading(ROAST_IN_LIVE_FILE).heading.state, "failed: OSError: gone");
    assert_true(heading(ROAST_IN_LIVE_FILE).heading.incomplete);
    note(ROAST_NOTES_run, "failure", "");
    assert_str_is(heading(ROAST_IN_MEMORY).heading.state, "failed");
}

static void test_what_is_unknown_is_left_out(void **state)
{
    struct roast_heading_text text = heading(ROAST_IN_MEMORY);

    (void)state;
    assert_null(text.heading.name.data);
    assert_null(text.heading.executor.data);
    assert_null(text.heading.labels.data);
}

static void test_labels_are_whole_or_not_there(void **state)
{
    char name[8] = "label0";
    char value[130];

    (void)state;
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 9; i++) {
        name[5] = (char)('0' + i);
        note(ROAST_NOTES_label, name, value);
    }
    struct roast_heading_text text = heading(ROAST_IN_MEMORY);
    assert_true(text.heading.labels.size_bytes < sizeof(text.labels));
    assert_int_equal(text.labels[text.heading.labels.size_bytes - 1], 'x');
    assert_int_equal(text.heading.labels.size_bytes % (130 + 8), 136);
}

static void test_secrets_are_not_kept(void **state)
{
    (void)state;
    note(ROAST_NOTES_label, "token", "s3cr3t");
    note(ROAST_NOTES_run, "failure", "OSError: https://me:s3cr3t@host/a?t=s3cr3t");
    struct roast_heading_text text = heading(ROAST_IN_MEMORY);
    assert_null(strstr(text.labels, "s3cr3t"));
    assert_null(strstr(text.state, "s3cr3t"));
    assert_non_null(strstr(text.state, "https://***@host/a?***"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_parts_of_a_heading, make_run,
                                        drop_run),
        cmocka_unit_test_setup_teardown(test_how_it_ended, make_run, drop_run),
        cmocka_unit_test_setup_teardown(test_what_is_unknown_is_left_out, make_run,
                                        drop_run),
        cmocka_unit_test_setup_teardown(test_labels_are_whole_or_not_there, make_run,
                                        drop_run),
        cmocka_unit_test_setup_teardown(test_secrets_are_not_kept, make_run, drop_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
