/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rerun.c - what has to be run again: what is not in a result, and all where there
 * is no result, as items and as files. */
#include <stdio.h>

#include "analyze/rerun/plan.h"
#include "analyze/runs.h"
#include "heap.h"

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

static void set_note(roast_run *run, const char *name, const char *text)
{
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_call, roast_str_of(name),
                                        roast_str_of(text), NULL),
                     ROAST_OK);
}

static void check_page(int status, struct roast_page *page, const roast_error *err,
                       const char *wanted)
{
    if (status < 0)
        fail_msg("%s", err->message);
    assert_int_equal(strlen(page->text), page->size_bytes);
    assert_string_equal(page->text, wanted);
    roast_page_release(page);
}

static void check_items(roast_run *run, const char *wanted)
{
    struct roast_page page;
    roast_error err = {0};
    int status = roast_failed_items(&page, run, 0, NULL, &err);

    check_page(status, &page, &err, wanted);
}

static void check_fileset(roast_run *run, const char *wanted)
{
    struct roast_page page;
    roast_error err = {0};
    int status = roast_failed_fileset(&page, run, 0, false, NULL, &err);

    check_page(status, &page, &err, wanted);
}

static void check_refused(roast_run *run, bool files, uint32_t call, const char *why)
{
    struct roast_page page;
    roast_error err = {0};
    int status = files ? roast_failed_fileset(&page, run, call, false, NULL, &err)
                       : roast_failed_items(&page, run, call, NULL, &err);

    assert_int_equal(status, ROAST_REFUSED);
    assert_null(page.text);
    if (!strstr(err.message, why))
        fail_msg("%s", err.message);
}

static const char *const given =
    "dataset\tttbar\n"
    "other\t\"metadata\":{\"xsec\":1.25},\"preload\":[\"Jet_pt\"]\n"
    "file\ta.root\tEvents\nfile\troot://host//c.root\tT\n"
    "dataset\tdata\n"
    "file\ta.root";

/* Two files of one dataset and one of another; 2 + 1 + 1 items. */
static const char *const items = "dataset\tttbar\n"
                                 "usermeta\t{\"xsec\":1.25}\npreload\t[\"Jet_pt\"]\n"
                                 "file\ta.root\t01ff\tEvents\nitems\t0 10 2\n"
                                 "file\troot://host//c.root\t\tT\nitems\t0 0 1\n"
                                 "dataset\tdata\n"
                                 "file\ta.root\t01ff\nitems\t0 20 1";

static roast_run *planned(const char *call, const char *result)
{
    roast_run *run = run_new();

    set_note(run, "1 call", call);
    set_note(run, "1 given", given);
    set_note(run, "1 items", items);
    if (result)
        set_note(run, "1 result", result);
    return run;
}

#define ITEM_HEAD \
    "{\"dataset\":\"ttbar\",\"filename\":\"a.root\",\"treename\":\"Events\","
#define ITEM_TAIL \
    "\"fileuuid\":\"01ff\",\"usermeta\":{\"xsec\":1.25},\"preload\":[\"Jet_pt\"]}"
#define ITEM_C \
    "{\"dataset\":\"ttbar\",\"filename\":\"root://host//c.root\",\"treename\":\"T\"," \
    "\"entrystart\":0,\"entrystop\":0,\"fileuuid\":\"\",\"usermeta\":{\"xsec\":1.25}," \
    "\"preload\":[\"Jet_pt\"]}"
#define ITEM_DATA \
    "{\"dataset\":\"data\",\"filename\":\"a.root\",\"treename\":null," \
    "\"entrystart\":0,\"entrystop\":20,\"fileuuid\":\"01ff\",\"usermeta\":null," \
    "\"preload\":null}"

/* ---- items -------------------------------------------------------------------- */

static void test_all_items_where_there_is_no_result(void **state)
{
    roast_run *run = planned("processor\tA", NULL);

    (void)state;
    check_items(
        run,
        "{\"call\":1,\"processor\":\"A\",\"can_be_added\":true,\"items\":[" ITEM_HEAD
        "\"entrystart\":0,\"entrystop\":10," ITEM_TAIL "," ITEM_HEAD
        "\"entrystart\":10,\"entrystop\":20," ITEM_TAIL "," ITEM_C "," ITEM_DATA
        "],\"fileset\":{}}");
    check_fileset(run, "{\"data\":{\"files\":[\"a.root\"]},\"ttbar\":{\"files\":{"
                       "\"a.root\":\"Events\",\"root://host//c.root\":\"T\"},"
                       "\"metadata\":{\"xsec\":1.25},\"preload\":[\"Jet_pt\"]}}");
    roast_run_free(run);
}

static void test_nothing_where_the_result_is_whole(void **state)
{
    roast_run *run =
        planned("processor\tA", "in\t0\t0 10 2\nin\t1\t0 0 1\nin\t2\t0 20 1");
    struct roast_rerun rerun;
    struct roast_page page;

    (void)state;
    check_items(run, "{\"items\":[],\"fileset\":{}}");
    check_fileset(run, "{}");
    assert_int_equal(roast_failed_items(&page, run, 0, &rerun, NULL), ROAST_OK);
    assert_true(rerun.call == 0 && rerun.items == 0 && !rerun.cannot_add);
    roast_page_release(&page);
    roast_run_free(run);
}

/* Items may be processed in parts, in any order and more than once. */
static void test_parts_of_items(void **state)
{
    static const struct {
        const char *in, *start, *stop;
    } cases[] = {
        {"in\t0\t3 1 7 10 10 1", "0", "3"},
        {"in\t0\t0 9 1 10 10 1", "9", "10"},
        {"in\t0\t8 2 1 0 5 1 2 3 1 10 10 1", "5", "8"},
        {"in\t0\t0 12 1", "12", "20"},
        {"in\t0\t0 10 1 10 2 1 18 100 1", "12", "18"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char result[100], wanted[600];
        (void)snprintf(result, sizeof(result), "%s\nin\t1\t0 0 1\nin\t2\t0 20 1",
                       cases[i].in);
        (void)snprintf(wanted, sizeof(wanted),
                       "{\"call\":1,\"processor\":\"A\",\"can_be_added\":true,"
                       "\"items\":[%s\"entrystart\":%s,\"entrystop\":%s,%s],"
                       "\"fileset\":{}}",
                       ITEM_HEAD, cases[i].start, cases[i].stop, ITEM_TAIL);
        roast_run *run = planned("processor\tA", result);
        check_items(run, wanted);
        check_refused(run, true, 0,
                      "a.root is in the result in part: use failed_items()");
        roast_run_free(run);
    }
}

static void add_try(roast_run *run, const char *dataset, const char *file,
                    uint64_t first, uint64_t stop, bool ok)
{
    add_frame(run, (struct frame){.dataset = dataset,
                                  .file = file,
                                  .first = first,
                                  .stop = stop,
                                  .start = 1,
                                  .duration = 1,
                                  .status = ok ? ROAST_CHUNK_OK : ROAST_CHUNK_FAILED});
}

/* The result does not list its items: it has those of successful chunks. A chunk without
 * a record may be in it. */
static void test_records_of_the_call(void **state)
{
    roast_run *run = run_new();
    struct roast_page page;
    struct roast_rerun rerun;

    (void)state;
    set_note(run, "1 call", "run\t01000000000000000000000000000000"); /* of frames */
    set_note(run, "1 items", items);
    set_note(run, "1 result", "records");
    add_try(run, "ttbar", "a.root", 0, 10, true);
    add_try(run, "ttbar", "a.root", 10, 20, false);
    add_try(run, "data", "a.root", 0, 20, false);
    check_refused(run, false, 0, "items of call 1 of the Runner are not known");
    add_try(run, "ttbar", "root://host//c.root", 0, 0, true);
    assert_int_equal(roast_failed_items(&page, run, 0, &rerun, NULL), ROAST_OK);
    assert_int_equal(rerun.items, 2);
    roast_page_release(&page);
    set_note(run, "1 call", "run\t00");
    check_refused(run, false, 0, "items of call 1 of the Runner are not known");
    roast_run_free(run);
}

/* Two trees of one file: records do not say which one they are of. */
static void test_records_of_two_trees(void **state)
{
    roast_run *run = run_new();

    (void)state;
    add_frame(run, (struct frame){.dataset = "ttbar",
                                  .file = "a.root",
                                  .first = 0,
                                  .stop = 10,
                                  .start = 1,
                                  .duration = 1});
    set_note(run, "1 call", "run\t01000000000000000000000000000000\npart");
    set_note(run, "1 items",
             "dataset\tttbar\nfile\ta.root\t01ff\tEvents\nitems\t0 10 1\n"
             "file\ta.root\t01ff\tRuns\nitems\t0 10 1");
    set_note(run, "1 result", "records");
    check_refused(run, false, 0, "items of call 1 of the Runner are not known");
    roast_run_free(run);
}

/* ---- files without items ----------------------------------------------------------- */

static void test_files_that_failed_in_preprocessing(void **state)
{
    roast_run *run = run_new();
    struct roast_rerun rerun;
    struct roast_page page;

    (void)state;
    set_note(run, "1 call", "processor\tA");
    check_refused(run, false, 0, "its fileset is not known");
    check_refused(run, true, 0, "its fileset is not known");
    set_note(run, "1 given", given);
    check_items(run,
                "{\"call\":1,\"processor\":\"A\",\"can_be_added\":true,\"items\":[],"
                "\"fileset\":{\"data\":{\"files\":[\"a.root\"]},\"ttbar\":{"
                "\"files\":{\"a.root\":\"Events\",\"root://host//c.root\":\"T\"},"
                "\"metadata\":{\"xsec\":1.25},\"preload\":[\"Jet_pt\"]}}}");
    set_note(run, "1 items", "dataset\tttbar\nfile\ta.root\t01\tEvents\nitems\t0 10 2");
    set_note(run, "1 result", "in\t0\t0 10 1");
    check_refused(run, true, 0, "and failed_fileset(without_items=True)");
    assert_int_equal(roast_failed_fileset(&page, run, 1, true, &rerun, NULL), ROAST_OK);
    assert_string_equal(page.text,
                        "{\"data\":{\"files\":[\"a.root\"]},\"ttbar\":{\"treename\":"
                        "\"T\",\"files\":[\"root://host//c.root\"],\"metadata\":{"
                        "\"xsec\":1.25},\"preload\":[\"Jet_pt\"]}}");
    assert_true(rerun.call == 1 && rerun.items == 1 && rerun.unread_files == 2);
    roast_page_release(&page);
    /* a dataset that has its chunks needs no more files */
    set_note(run, "1 call", "maxchunks\t2");
    assert_int_equal(roast_failed_fileset(&page, run, 1, true, &rerun, NULL), ROAST_OK);
    assert_string_equal(page.text, "{\"data\":{\"files\":[\"a.root\"]}}");
    roast_page_release(&page);
    check_refused(run, true, 0, "not for whole files (maxchunks): use failed_items()");
    /* items were given, so there are no other files */
    set_note(run, "1 call", "part");
    assert_int_equal(roast_failed_fileset(&page, run, 1, true, &rerun, NULL), ROAST_OK);
    assert_string_equal(page.text, "{}");
    roast_page_release(&page);
    roast_run_free(run);
}

/* ---- calls -------------------------------------------------------------------- */

static void test_calls(void **state)
{
    roast_run *run = run_new();

    (void)state;
    check_items(run, "{\"items\":[],\"fileset\":{}}");
    assert_int_equal(roast__rerun_way(run), ROAST_RERUN_UNKNOWN);
    add_frame(run, (struct frame){.stop = 10, .start = 1, .duration = 1});
    check_refused(run, false, 0, "it has no call of coffea's Runner");
    set_note(run, "1 call", "processor\tA");
    set_note(run, "1 items", "dataset\td\nfile\tf\t\nitems\t0 10 1");
    set_note(run, "1 result", "in\t0\t0 10 1");
    set_note(run, "2 call", "processor\tB\npostprocess\tchanges");
    set_note(run, "2 items", "dataset\td\nfile\tf\t\nitems\t0 10 2");
    assert_int_equal(roast__rerun_way(run), ROAST_RERUN_ITEMS);
    set_note(run, "2 result", "in\t0\t0 10 1");
    assert_int_equal(roast__rerun_way(run), ROAST_RERUN_EVERYTHING);
    check_items(run,
                "{\"call\":2,\"processor\":\"B\",\"can_be_added\":false,\"items\":["
                "{\"dataset\":\"d\",\"filename\":\"f\",\"treename\":null,"
                "\"entrystart\":10,\"entrystop\":20,\"fileuuid\":\"\","
                "\"usermeta\":null,\"preload\":null}],\"fileset\":{}}");
    set_note(run, "1 result", "");
    check_refused(run, false, 0, "calls 1 and 2");
    check_refused(run, true, 0, "choose one, call=1");
    check_refused(run, true, 3, "no call 3 of the Runner, but 2");
    roast_run_free(run);
}

/* What a later call was given to run again is that call's. */
static void test_what_moved_to_a_later_call(void **state)
{
    roast_run *run = planned("processor\tA\npostprocess\tchanges", NULL);
    struct roast_rerun rerun;
    struct roast_page page;

    (void)state;
    set_note(run, "1 moved", "in\t0\t10 10 1\nin\t1\t0 0 1");
    assert_int_equal(roast_failed_items(&page, run, 0, &rerun, NULL), ROAST_OK);
    assert_true(rerun.items == 2 && !rerun.cannot_add);
    roast_page_release(&page);
    set_note(run, "1 moved files", "dataset\tdata\nfile\ta.root");
    assert_int_equal(roast_failed_items(&page, run, 0, &rerun, NULL), ROAST_OK);
    assert_true(rerun.items == 1);
    roast_page_release(&page);
    set_note(run, "1 moved", "in\t0\t0 10 2\nin\t1\t0 0 1");
    set_note(run, "2 call", "part\nreruns\npostprocess\tchanges");
    set_note(run, "2 items",
             "dataset\tttbar\nfile\ta.root\t01ff\tEvents\nitems\t0 10 1");
    assert_int_equal(roast_failed_items(&page, run, 0, &rerun, NULL), ROAST_OK);
    assert_true(rerun.call == 2 && rerun.items == 1 && rerun.cannot_add);
    roast_page_release(&page);
    roast_run_free(run);
}

/* A call that ended in preprocessing, all of whose files were run again. */
static void test_files_that_moved_to_a_later_call(void **state)
{
    roast_run *run = run_new();

    (void)state;
    set_note(run, "1 call", "");
    set_note(run, "1 given", given);
    set_note(run, "1 moved files", given);
    check_items(run, "{\"items\":[],\"fileset\":{}}");
    check_fileset(run, "{}");
    roast_run_free(run);
}

static void test_call_that_another_one_runs_again(void **state)
{
    static const struct {
        const char *call;
        uint32_t earlier;
    } cases[] = {
        {"part", 0},
        {"reruns", 0},
        {"reruns\t1", 1},
        {"reruns\t2", 2},
        {"reruns\t1\nreruns\t2", 0},
        {"reruns\t3", 0},
        {"reruns\t99999999999999999999", 0},
    };
    roast_run *run = run_new();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set_note(run, "3 call", cases[i].call);
        assert_int_equal(roast__plan_reruns(run, 3), cases[i].earlier);
    }
    assert_int_equal(roast__plan_reruns(run, 4), 0);
    roast_run_free(run);
}

static void test_way_of_files(void **state)
{
    roast_run *run = run_new();

    (void)state;
    set_note(run, "1 call", "");
    set_note(run, "1 given", given);
    assert_int_equal(roast__rerun_way(run), ROAST_RERUN_FILES);
    roast_run_free(run);
}

/* ---- damaged notes --------------------------------------------------------------- */

static void test_damaged_items_are_not_known(void **state)
{
    static const char *const damaged[] = {
        "unlisted",
        "items\t0 1 1",            /* of no file */
        "file\tf\t\nitems\t0 1 1", /* of no dataset */
        "dataset\td\nfile\tf",
        "dataset\td\nfile\tf\t\nitems\t0 1",
        "dataset\td\nfile\tf\t\nitems\t0 1 -1",
        "dataset\td\nfile\tf\t\nitems\tx 1 1",
        "dataset\td\nfile\tf\t\nitems\t0 0 99999999",
        "dataset\td\nfile\tf\t\nitems\t0 9999999999999 9999999",
        "dataset\td\nfile\tf\t\nitems\t99999999999999999999999 1 1",
        "dataset\td\nusermeta\t}{\nfile\tf\t\nitems\t0 1 1",
        "dataset\td\nfile\tf\t\nnonsense",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(damaged); i++) {
        roast_run *run = run_new();
        set_note(run, "1 call", "processor\tA");
        set_note(run, "1 items", damaged[i]);
        check_refused(run, false, 0, "items of call 1 of the Runner are not known");
        check_refused(run, true, 0, "items of call 1 of the Runner are not known");
        roast_run_free(run);
    }
}

/* An error of the monitor must not count what the result has a second time. */
static void test_a_result_that_is_not_known(void **state)
{
    static const char *const results[] = {"unknown", "in\t9\t0 10 1", "in\t0\t0"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(results); i++) {
        roast_run *run = planned("processor\tA", results[i]);
        check_refused(run, false, 0, "items of call 1 of the Runner are not known");
        assert_int_equal(roast__rerun_way(run), ROAST_RERUN_UNKNOWN);
        roast_run_free(run);
    }
}

/* Such items would have a gap for each range. */
static void test_overlapping_items_with_many_gaps(void **state)
{
    roast_run *run = run_new();

    (void)state;
    set_note(run, "1 call", "part");
    set_note(run, "1 items", "dataset\td\nfile\tf\t\nitems\t0 9 1 0 9 1 0 9 1 0 9 1");
    set_note(run, "1 result", "in\t0\t1 1 1 3 1 1 5 1 1");
    check_refused(run, false, 0, "items of call 1 of the Runner are not known");
    roast_run_free(run);
}

static void test_notes_cut_anywhere(void **state)
{
    static const char result[] = "in\t0\t0 10 2\nin\t2\t0 20 1";
    static const char *const names[3] = {"1 given", "1 items", "1 result"};

    (void)state;
    for (int note = 0; note < 3; note++) {
        const char *text = note == 0 ? given : note == 1 ? items : result;
        for (size_t size = 0; size <= strlen(text); size++) {
            roast_run *run = planned("processor\tA", result);
            struct roast_page page;
            roast_error err = {0};
            char *tight = tight_copy(text, size);
            assert_int_equal(roast_run_set_note(run, ROAST_NOTES_call,
                                                roast_str_of(names[note]),
                                                str_from(tight, size), NULL),
                             ROAST_OK);
            int status = roast_failed_items(&page, run, 0, NULL, &err);
            assert_true(status == ROAST_OK || status == ROAST_REFUSED);
            roast_page_release(&page);
            status = roast_failed_fileset(&page, run, 0, false, NULL, &err);
            assert_true(status == ROAST_OK || status == ROAST_REFUSED);
            roast_page_release(&page);
            roast_run_free(run);
            free(tight);
        }
    }
}

static void test_out_of_memory(void **state)
{
    roast_run *run = planned("processor\tA", "records\nin\t0\t0 10 1");

    (void)state;
    set_note(run, "1 items", "dataset\tttbar\nfile\ta.root\t01\tEvents\nitems\t0 10 1");
    size_t live = test_heap.live_blocks;
    for (int from_then_on = 0; from_then_on <= 1; from_then_on++)
        for (size_t n = 1;; n++) {
            struct roast_page page;
            test_heap_fail(n, from_then_on == 1);
            int status = n % 2 ? roast_failed_fileset(&page, run, 1, false, NULL, NULL)
                               : roast_failed_items(&page, run, 1, NULL, NULL);
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
        cmocka_unit_test_setup(test_all_items_where_there_is_no_result, setup),
        cmocka_unit_test_setup(test_nothing_where_the_result_is_whole, setup),
        cmocka_unit_test_setup(test_parts_of_items, setup),
        cmocka_unit_test_setup(test_records_of_the_call, setup),
        cmocka_unit_test_setup(test_records_of_two_trees, setup),
        cmocka_unit_test_setup(test_files_that_failed_in_preprocessing, setup),
        cmocka_unit_test_setup(test_calls, setup),
        cmocka_unit_test_setup(test_what_moved_to_a_later_call, setup),
        cmocka_unit_test_setup(test_files_that_moved_to_a_later_call, setup),
        cmocka_unit_test_setup(test_call_that_another_one_runs_again, setup),
        cmocka_unit_test_setup(test_way_of_files, setup),
        cmocka_unit_test_setup(test_damaged_items_are_not_known, setup),
        cmocka_unit_test_setup(test_a_result_that_is_not_known, setup),
        cmocka_unit_test_setup(test_overlapping_items_with_many_gaps, setup),
        cmocka_unit_test_setup(test_notes_cut_anywhere, setup),
        cmocka_unit_test_setup(test_out_of_memory, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("analyze/test_rerun", tests, NULL, NULL);
}
