/* SPDX-License-Identifier: BSD-3-Clause */
/* test_failed_fileset.c - what has to be run again: only what never ended well, or all
 * where no output came back, in the shape that coffea's Runner takes. */
#include "analyze/rerun/fileset.h"
#include "analyze/runs.h"
#include "heap.h"

enum { FAILED = ROAST_CHUNK_FAILED };

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

static void check_fileset(roast_run *run, const char *wanted)
{
    struct roast_page page;
    roast_error err = {0};

    if (roast_failed_fileset(&page, run, NULL, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(page.text), page.size_bytes);
    assert_string_equal(page.text, wanted);
    roast_page_release(&page);
}

static void give_fileset(roast_run *run, const char *text)
{
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_document,
                                        roast_str_of("fileset"), roast_str_of(text),
                                        NULL),
                     ROAST_OK);
}

/* What a collector counts of the calls of Runner.run. */
static void tell_calls(roast_run *run, double calls, double failures, double outputs)
{
    roast_run_set_fact(run, ROAST_FACT_runner_calls, calls);
    roast_run_set_fact(run, ROAST_FACT_runner_failures, failures);
    roast_run_set_fact(run, ROAST_FACT_runner_outputs, outputs);
}

static void fail_run(roast_run *run)
{
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("failure"),
                                        roast_str_of("OSError: gone"), NULL),
                     ROAST_OK);
}

static void add_ok(roast_run *run, const char *file, uint64_t first, uint64_t stop)
{
    add_frame(
        run,
        (struct frame){
            .file = file, .first = first, .stop = stop, .start = 1, .duration = 1});
}

static void add_failed(roast_run *run, const char *file, uint64_t first, uint64_t stop)
{
    add_frame(run, (struct frame){.file = file,
                                  .first = first,
                                  .stop = stop,
                                  .start = 1,
                                  .duration = 1,
                                  .status = FAILED,
                                  .error_type = "OSError"});
}

/* ---- records ------------------------------------------------------------------ */

static void test_nothing_failed(void **state)
{
    roast_run *run = run_new();

    (void)state;
    check_fileset(run, "{}");
    add_ok(run, "a.root", 0, 10);
    roast_run_finish(run, NS(5));
    check_fileset(run, "{}");
    roast_run_free(run);
}

static void test_files_with_a_chunk_that_never_succeeded(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_ok(run, "a.root", 0, 10);
    add_failed(run, "b.root", 0, 10); /* made good below */
    add_ok(run, "b.root", 0, 10);
    add_ok(run, "c.root", 0, 10);
    add_failed(run, "c.root", 10, 20);
    add_failed(run, "c.root", 20, 30);
    add_frame(run,
              (struct frame){
                  .kind = ROAST_FRAME_BEGIN, .file = "d.root", .stop = 10, .start = 2});
    assert_int_equal(roast_run_add_name(run, roast_str_of("ttbar"), NULL), 0);
    assert_int_equal(roast_run_add_name(run, roast_str_of("d.root"), NULL), 0);
    roast_run_finish(run, NS(5));
    check_fileset(run, "{\"ttbar\":{\"files\":[\"c.root\",\"d.root\"]}}");
    roast_run_free(run);
}

static void test_trees_are_written_once_or_per_file(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.file = "b", .stop = 9, .status = FAILED});
    add_frame(run, (struct frame){.file = "a", .stop = 9, .status = FAILED});
    add_frame(run, (struct frame){
                       .dataset = "data", .file = "x", .stop = 9, .status = FAILED});
    add_frame(run, (struct frame){.dataset = "data",
                                  .file = "y",
                                  .tree = "Runs",
                                  .stop = 9,
                                  .status = FAILED});
    roast_run_finish(run, NS(5));
    check_fileset(run, "{\"data\":{\"files\":{\"x\":\"Events\",\"y\":\"Runs\"}},"
                       "\"ttbar\":{\"treename\":\"Events\",\"files\":[\"a\",\"b\"]}}");
    roast_run_free(run);
}

static void test_a_later_call_makes_it_good(void **state)
{
    roast_run *run = run_new();

    (void)state;
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    add_frame(run,
              (struct frame){.stop = 9, .start = 1, .duration = 1, .status = FAILED});
    mark(run, ROAST_MARK_RUN_END, 3);
    mark(run, ROAST_MARK_RUN_BEGIN, 4);
    add_frame(run, (struct frame){.stop = 9, .start = 5, .duration = 1});
    mark(run, ROAST_MARK_RUN_END, 7);
    roast_run_finish(run, NS(8));
    check_fileset(run, "{}");
    roast_run_free(run);
}

static void test_what_has_no_name_is_counted(void **state)
{
    roast_run *run = run_new();
    struct roast_page page;
    struct roast_rerun rerun = {77, 77, false, true};

    (void)state;
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN,
                                  .file = "nobody learned this",
                                  .stop = 10,
                                  .start = 2});
    assert_int_equal(roast_failed_fileset(&page, run, &rerun, NULL), ROAST_OK);
    assert_string_equal(page.text, "{}");
    assert_true(rerun.unnamed_failed == 0 && rerun.unnamed_running == 1);
    assert_true(rerun.everything && !rerun.fileset_known);
    roast_page_release(&page);
    roast_run_finish(run, NS(5));
    assert_int_equal(roast_failed_fileset(&page, run, &rerun, NULL), ROAST_OK);
    assert_string_equal(page.text, "{}");
    assert_true(rerun.unnamed_failed == 1 && rerun.unnamed_running == 0);
    assert_false(rerun.everything);
    roast_page_release(&page);
    roast_run_free(run);
}

static void test_names_are_escaped(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.dataset = "a\"\x1b[31m",
                                  .file = "\xff\xc3\xa9",
                                  .stop = 9,
                                  .status = FAILED});
    roast_run_finish(run, NS(5));
    check_fileset(run, "{\"a\\\"\\u001b[31m\":{\"treename\":\"Events\",\"files\":["
                       "\"\\ufffd\\u00e9\"]}}");
    roast_run_free(run);
}

/* ---- the fileset that was given ------------------------------------------------- */

static const char *const given =
    "dataset\tttbar\n"
    "other\t\"metadata\":{\"xsec\":1.25,\"tags\":[\"x\",null,true,-3]},"
    "\"preload\":[\"Jet_pt\"]\n"
    "file\ta.root\tEvents\nfile\tb.root\tEvents\nfile\troot://host//c.root\tT\n"
    "dataset\tdata\n"
    "file\td.root";

static const char *const all_given =
    "{\"data\":{\"treename\":\"Events\",\"files\":[\"d.root\"]},"
    "\"ttbar\":{\"files\":{\"a.root\":\"Events\",\"b.root\":\"Events\","
    "\"root://host//c.root\":\"T\"},\"metadata\":{\"xsec\":1.25,"
    "\"tags\":[\"x\",null,true,-3]},\"preload\":[\"Jet_pt\"]}}";

/* What ended well was in the output that was lost. */
static void test_everything_where_a_call_gave_no_output(void **state)
{
    enum { RAISED, KILLED, ONE_OF_TWO, UNCOUNTED_RAISED, UNCOUNTED_KILLED, CASES };

    (void)state;
    for (int i = 0; i < CASES; i++) {
        roast_run *run = run_new();
        struct roast_page page;
        struct roast_rerun rerun;
        give_fileset(run, given);
        mark(run, ROAST_MARK_RUN_BEGIN, 0);
        add_ok(run, "a.root", 0, 10);
        if (i < UNCOUNTED_RAISED)
            tell_calls(run, i == ONE_OF_TWO ? 2 : 1, i != KILLED, i == ONE_OF_TWO);
        if (i == UNCOUNTED_RAISED)
            roast_run_set_fact(run, ROAST_FACT_runner_failures, 1);
        if (i != KILLED && i != UNCOUNTED_KILLED) {
            mark(run, ROAST_MARK_RUN_END, 3);
            roast_run_finish(run, NS(5));
        }
        assert_int_equal(roast_failed_fileset(&page, run, &rerun, NULL), ROAST_OK);
        assert_string_equal(page.text, all_given);
        assert_true(rerun.everything && rerun.fileset_known);
        roast_page_release(&page);
        roast_run_free(run);
    }
}

/* Killed, or failed, when the Runner had already given its output. */
static void test_what_failed_where_all_calls_gave_an_output(void **state)
{
    roast_run *run = run_new();

    (void)state;
    give_fileset(run, given);
    tell_calls(run, 2, 0, 2);
    add_ok(run, "a.root", 0, 10);
    check_fileset(run, "{}");
    fail_run(run);
    check_fileset(run, "{}");
    add_failed(run, "d.root", 0, 10);
    check_fileset(run, "{\"ttbar\":{\"treename\":\"Events\",\"files\":[\"d.root\"],"
                       "\"metadata\":{\"xsec\":1.25,\"tags\":[\"x\",null,true,-3]},"
                       "\"preload\":[\"Jet_pt\"]}}");
    roast_run_free(run);
}

/* coffea lists what is in an output that came with an exception. */
static void test_everything_where_the_output_lacks_what_ended_well(void **state)
{
    roast_run *run = run_new();

    (void)state;
    give_fileset(run, given);
    tell_calls(run, 1, 1, 1);
    add_ok(run, "a.root", 0, 10);
    add_ok(run, "a.root", 10, 20);
    roast_run_set_fact(run, ROAST_FACT_processed_chunks, 1);
    roast_run_finish(run, NS(5));
    check_fileset(run, all_given);
    roast_run_free(run);
}

/* ---- preprocessing -------------------------------------------------------------- */

static void test_a_file_that_failed_before_its_first_chunk(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_failed(run, "gone.root", 0, 0);
    add_failed(run, "gone.root", 0, 0);
    add_ok(run, "a.root", 0, 10);
    roast_run_finish(run, NS(5));
    check_fileset(run,
                  "{\"ttbar\":{\"treename\":\"Events\",\"files\":[\"gone.root\"]}}");
    add_ok(run, "gone.root", 0, 10); /* it could be asked in the end */
    check_fileset(run, "{}");
    roast_run_free(run);
}

/* ---- an exception beside the output ----------------------------------------------- */

static void test_untried_files_where_an_exception_came_beside_the_output(void **state)
{
    roast_run *run = run_new();

    (void)state;
    give_fileset(run, given);
    tell_calls(run, 1, 1, 1);
    add_ok(run, "a.root", 0, 10);
    fail_run(run);
    roast_run_finish(run, NS(5));
    check_fileset(run, "{\"data\":{\"treename\":\"Events\",\"files\":[\"d.root\"]},"
                       "\"ttbar\":{\"files\":{\"b.root\":\"Events\","
                       "\"root://host//c.root\":\"T\"},\"metadata\":{\"xsec\":1.25,"
                       "\"tags\":[\"x\",null,true,-3]},\"preload\":[\"Jet_pt\"]}}");
    roast_run_free(run);
}

static void test_a_finished_run_tried_what_it_wanted(void **state)
{
    roast_run *run = run_new();

    (void)state;
    give_fileset(run, given);
    add_ok(run, "a.root", 0, 10);
    roast_run_finish(run, NS(5));
    check_fileset(run, "{}");
    add_failed(run, "b.root", 0, 10); /* with what belongs to its dataset */
    check_fileset(run, "{\"ttbar\":{\"treename\":\"Events\",\"files\":[\"b.root\"],"
                       "\"metadata\":{\"xsec\":1.25,\"tags\":[\"x\",null,true,-3]},"
                       "\"preload\":[\"Jet_pt\"]}}");
    roast_run_free(run);
}

static void test_files_that_were_not_read_to_their_end(void **state)
{
    const struct roast_file_facts facts = {.kind = ROAST_FILE_TTREE, .entries = 100};
    unsigned char blob[ROAST_FILE_FACTS_BOUND_BYTES];
    int64_t size = roast_file_facts_write(blob, sizeof(blob), &facts, NULL);
    struct frame frame = {.first = 0,
                          .stop = 50,
                          .start = 1,
                          .duration = 1,
                          .file_facts = str_from(blob, (size_t)size)};
    roast_run *run = run_new();

    (void)state;
    frame.file = "part.root";
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    add_frame(run, frame);
    mark(run, ROAST_MARK_RUN_END, 3);
    mark(run, ROAST_MARK_RUN_BEGIN, 4);
    frame.start = 5;
    add_frame(run, frame); /* the same half once more, in another call */
    frame.file = "whole.root";
    add_frame(run, frame);
    frame.first = 50;
    frame.stop = 100;
    add_frame(run, frame);
    mark(run, ROAST_MARK_RUN_END, 7);
    roast_run_finish(run, NS(8));
    tell_calls(run, 2, 1, 2);
    check_fileset(run,
                  "{\"ttbar\":{\"treename\":\"Events\",\"files\":[\"part.root\"]}}");
    tell_calls(run, 2, 0, 2);
    check_fileset(run, "{}"); /* as many chunks as the user wanted */
    roast_run_free(run);
}

static void test_attempts_that_an_unfinished_run_left_open(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_ok(run, "b.root", 0, 10);
    add_frame(run, (struct frame){.kind = ROAST_FRAME_BEGIN,
                                  .file = "b.root",
                                  .first = 10,
                                  .stop = 20,
                                  .start = 2});
    add_ok(run, "c.root", 0, 10);
    tell_calls(run, 1, 0, 1);
    check_fileset(run, "{\"ttbar\":{\"treename\":\"Events\",\"files\":[\"b.root\"]}}");
    roast_run_free(run);
}

/* ---- documents ---------------------------------------------------------------- */

static void test_documents_that_are_no_fileset(void **state)
{
    static const char *const documents[] = {
        "",
        "\n",
        "nonsense",
        "{\"a\": [\"x\"]}",
        "file\tx", /* of no dataset */
        "dataset",
        "dataset\ta\nfile",
        "dataset\ta\nother\t\"m\":1}", /* would end the object */
        "dataset\ta\nother\t\"m\":[1",
        "dataset\ta\nother\t\"m\":\"1\\\"",
        "dataset\ta\nother\t\"m\":\"\x1b[31m\"",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        roast_run *run = run_new();
        struct roast_page page;
        give_fileset(run, documents[i]);
        add_failed(run, "b.root", 0, 10);
        fail_run(run);
        roast_run_finish(run, NS(5));
        assert_int_equal(roast_failed_fileset(&page, run, NULL, NULL), ROAST_OK);
        assert_non_null(strstr(page.text, "\"b.root\"")); /* what records say stays */
        roast_page_release(&page);
        roast_run_free(run);
    }
}

static void test_a_document_cut_anywhere(void **state)
{
    (void)state;
    for (size_t size = 0; size <= strlen(given); size++) {
        struct roast_fileset fileset = {0};
        char *tight = tight_copy(given, size);
        int status = roast__fileset_read(&fileset, str_from(tight, size), NULL);
        assert_true(status == ROAST_OK || status == ROAST_BAD_DATA);
        roast__fileset_release(&fileset);
        free(tight);
    }
}

static void test_out_of_memory(void **state)
{
    roast_run *run = run_new();

    (void)state;
    give_fileset(run, given);
    add_ok(run, "a.root", 0, 10);
    add_failed(run, "a.root", 10, 20);
    add_failed(run, "b.root", 0, 10);
    add_failed(run, "gone.root", 0, 0);
    tell_calls(run, 1, 1, 1);
    roast_run_finish(run, NS(5));
    size_t live = test_heap.live_blocks;
    for (int from_then_on = 0; from_then_on <= 1; from_then_on++)
        for (size_t n = 1;; n++) {
            struct roast_page page;
            test_heap_fail(n, from_then_on == 1);
            int status = roast_failed_fileset(&page, run, NULL, NULL);
            bool failed = test_heap_failed();
            assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
            assert_true((page.text == NULL) == failed);
            roast_page_release(&page);
            assert_int_equal(test_heap.live_blocks, live);
            if (!failed)
                break;
        }
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nothing_failed, setup),
        cmocka_unit_test_setup(test_files_with_a_chunk_that_never_succeeded, setup),
        cmocka_unit_test_setup(test_trees_are_written_once_or_per_file, setup),
        cmocka_unit_test_setup(test_a_later_call_makes_it_good, setup),
        cmocka_unit_test_setup(test_what_has_no_name_is_counted, setup),
        cmocka_unit_test_setup(test_names_are_escaped, setup),
        cmocka_unit_test_setup(test_everything_where_a_call_gave_no_output, setup),
        cmocka_unit_test_setup(test_what_failed_where_all_calls_gave_an_output, setup),
        cmocka_unit_test_setup(test_everything_where_the_output_lacks_what_ended_well,
                               setup),
        cmocka_unit_test_setup(test_a_file_that_failed_before_its_first_chunk, setup),
        cmocka_unit_test_setup(
            test_untried_files_where_an_exception_came_beside_the_output, setup),
        cmocka_unit_test_setup(test_a_finished_run_tried_what_it_wanted, setup),
        cmocka_unit_test_setup(test_files_that_were_not_read_to_their_end, setup),
        cmocka_unit_test_setup(test_attempts_that_an_unfinished_run_left_open, setup),
        cmocka_unit_test_setup(test_documents_that_are_no_fileset, setup),
        cmocka_unit_test_setup(test_a_document_cut_anywhere, setup),
        cmocka_unit_test_setup(test_out_of_memory, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("analyze/test_failed_fileset", tests, NULL,
                                       NULL);
}
