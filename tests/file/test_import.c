/* SPDX-License-Identifier: BSD-3-Clause */
/* test_import.c - measurement directories as runs: their numbers are those of their
 * metrics.json, and what is wrong with them is said as load_measurement() says it. */
#include "roast/import.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/cells.h"
#include "analyze/look.h"
#include "heap.h"
#include "roast/analyze.h"
#include "roast/runfile.h"
#include "support.h"

/* ---- help ------------------------------------------------------------------------ */

/* A directory of its own for every test. */
static int make_dir(void **state)
{
    char *dir = strdup("/tmp/roast-import-XXXXXX");

    *state = dir;
    return dir && mkdtemp(dir) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *info, int kind,
                        struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static int remove_dir(void **state)
{
    int status = nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);

    free(*state);
    return status;
}

static const char *path_in(const char *dir, const char *name)
{
    static char path[400];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static void put_file(const char *dir, const char *name, const char *text)
{
    FILE *out = fopen(path_in(dir, name), "wb");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void put_measurement(const char *dir, const char *metrics)
{
    put_file(dir, "metrics.json", metrics);
    put_file(dir, "start_end_time.txt", "1700000000.0,1700000010.0\n");
}

static roast_run *import(const char *dir)
{
    roast_run *run = NULL;
    roast_error err = {0};
    int status = roast_import(&run, dir, &err);

    assert_string_equal(err.message, "");
    assert_int_equal(status, ROAST_OK);
    return run;
}

static void refuse(const char *dir, int status, const char *message)
{
    roast_run *run = NULL;
    roast_error err = {0};

    assert_int_equal(roast_import(&run, dir, &err), status);
    assert_null(run);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" does not say \"%s\"", err.message, message);
}

static void assert_note(roast_run *run, enum roast_note_group group, const char *name,
                        const char *text)
{
    char found[4000];

    assert_true(roast_run_note(run, group, name, found, sizeof(found)) >= 0);
    assert_string_equal(found, text);
}

/* ---- directories of 0.1.2 -------------------------------------------------------- */

static void test_a_directory_made_by_hand(void **state)
{
    roast_run *run = import(ROAST_FIXTURES "/measurement_0_1_2");
    roast_summary *summary = NULL;
    struct roast_span span = roast_run_span(run);

    (void)state;
    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    assert_metric(summary, data_rate_gbps, 1.6);
    assert_metric(summary, total_events, 1e6);
    assert_metric(summary, event_rate_wall_khz, 100);
    assert_metric(summary, event_rate_agg_khz, 20);
    assert_metric(summary, wall_time, 10);
    assert_metric(summary, total_cpu_time, 50);
    assert_metric(summary, num_chunks, 3);
    assert_metric(summary, total_bytes_read, 2e9);
    assert_metric(summary, time_avg_workers, 3.5);
    assert_metric(summary, peak_workers, 4);
    assert_metric(summary, peak_memory_bytes, 3e9);
    assert_metric(summary, speedup, 5);
    assert_metric(summary, num_successful_chunks, 3);
    assert_metric(summary, chunk_duration_mean, 6.5 / 3);
    assert_metric(summary, chunk_duration_std, 1.7559422921421233);
    assert_metric(summary, chunk_mem_delta_std_mb, 7.637626158259733);
    assert_metric(summary, total_events_from_chunks, 300);
    assert_metric(summary, chunk_events_max, 150);
    assert_metric(summary, cpu_time_seconds, 3.5);
    assert_metric(summary, io_time_seconds, 1.25);
    assert_near(number_at(summary, "per_dataset", 0, "total_duration"), 6);
    assert_near(number_at(summary, "sections", 0, "total"), 0.5);
    assert_true(span.start_ns == INT64_C(1735732800000000000)); /* its first sample */
    assert_true(span.end_ns - span.start_ns == INT64_C(10000000000));
    assert_note(run, ROAST_NOTES_provenance, "imported_from",
                "roastcoffea_measurement_v1");
    assert_note(run, ROAST_NOTES_provenance, "imported_layout", "roastcoffea 0.1.2");
    assert_note(run, ROAST_NOTES_document, "config",
                "{\"executor\":\"dask\",\"chunksize\":100000}");
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_import_dropped), 0);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Saved in New York: its times are local, and so were those of its samples. */
static void test_a_directory_of_a_real_run(void **state)
{
    roast_run *run = import(ROAST_FIXTURES "/measurement_0_1_2_dask");
    roast_summary *summary = NULL;
    struct roast_span span = roast_run_span(run);

    (void)state;
    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    assert_metric(summary, data_rate_gbps, 0.000301077939830959);
    assert_metric(summary, event_rate_wall_khz, 1.5269502364940915);
    assert_metric(summary, event_rate_agg_khz, 7.375024030684253);
    assert_metric(summary, wall_time, 3.9294011399979354);
    assert_metric(summary, total_cores, 2);
    assert_metric(summary, avg_memory_per_worker_weighted_bytes, 180241250.64729607);
    assert_metric(summary, avg_branches_read_percent, 66.66666666666667);
    assert_metric(summary, avg_bytes_read_percent, 88.89677671780625);
    assert_true(span.start_ns == INT64_C(1794763704315506000)); /* 17:28:24 UTC */
    struct roast_chunk_list chunks;
    assert_int_equal(roast_run_chunks(run, &chunks, NULL), ROAST_OK);
    assert_int_equal(chunks.count, 4);
    roast_chunk_list_release(&chunks);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* ---- directories of ours --------------------------------------------------------- */

static void test_tracking_from_its_own_file(void **state)
{
    const char *dir = *state;
    struct roast_tracking tracking;

    put_measurement(dir, "{\"tracking_data\": null, \"__roastcoffea__\": {}}");
    put_file(dir, "worker_tracking.json",
             "{\"worker_counts\": [{\"timestamp\": \"2025-01-01T00:00:00+00:00\","
             " \"worker_count\": 2}], \"worker_memory\": {\"w\": [{\"timestamp\":"
             " \"2025-01-01T00:00:00+00:00\", \"memory_bytes\": 7}]}}");
    roast_run *run = import(dir);
    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    assert_int_equal(tracking.count, 2);
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

/* Extras that are broken do not spoil the rest. */
static void test_broken_extras(void **state)
{
    const char *dir = *state;
    roast_summary *summary = NULL;

    put_measurement(dir, "{\"total_events\": 5}");
    put_file(dir, "metadata.json", "{\"format\": \"f\", ");
    put_file(dir, "config.json", "{\"a\": [1, 2");
    put_file(dir, "worker_tracking.json",
             "{\"worker_counts\": {\"2025-01-01T00:00:00\": 2}, 3");
    roast_run *run = import(dir);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_import_dropped), 3);
    assert_int_equal(roast_run_note(run, ROAST_NOTES_document, "config", NULL, 0), -1);
    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    assert_metric(summary, total_events, 5);
    assert_absent(summary, time_avg_workers);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* Two records that say they are the same are one, and the other is counted. */
static void test_equal_records(void **state)
{
    const char *dir = *state;
    struct roast_chunk_list chunks;

    put_measurement(dir,
                    "{\"raw_chunk_metrics\": [{\"process_id\": 1, \"sequence\": 1},"
                    " {\"process_id\": 1, \"sequence\": 1}, {}, {}, 5]}");
    roast_run *run = import(dir);
    assert_int_equal(roast_run_chunks(run, &chunks, NULL), ROAST_OK);
    assert_int_equal(chunks.count, 3);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_import_dropped), 2);
    roast_chunk_list_release(&chunks);
    roast_run_free(run);
}

static void test_the_run_itself(void **state)
{
    const char *dir = *state;
    roast_error err = {0};

    put_measurement(dir, "{\"total_events\": 5, \"labels\": {\"a\": \"b\"}}");
    roast_run *run = import(dir);
    int status = roast_run_save(run, path_in(dir, "run.roast"), ROAST_SAVE_NEW, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, ROAST_OK);
    roast_run_free(run);
    put_file(dir, "metrics.json", "{\"total_events\": 6}"); /* nobody looks at it */
    run = import(dir);
    double events = 0;
    assert_true(roast_run_fact(run, ROAST_FACT_report_events, &events));
    assert_true(events == 5);
    assert_note(run, ROAST_NOTES_label, "a", "b");
    assert_true(roast_run_span(run).start_ns == INT64_C(1700000000000000000));
    roast_run_free(run);
    put_file(dir, "run.roast", "no run file at all, but some text");
    refuse(dir, ROAST_BAD_DATA, "");
}

/* ---- what is missing or wrong ---------------------------------------------------- */

static void test_what_is_missing_is_named(void **state)
{
    const char *dir = *state;

    refuse(path_in(dir, "none"), ROAST_IO, "Measurement directory not found: /tmp/");
    put_file(dir, "a_file", "");
    refuse(path_in(dir, "a_file"), ROAST_IO, "Measurement directory not found: ");
    refuse(dir, ROAST_IO, "Metrics file not found: /tmp/");
    put_file(dir, "metrics.json", "{}");
    refuse(dir, ROAST_IO, "Timing file not found: /tmp/");
    assert_int_equal(mkdir(path_in(dir, "start_end_time.txt"), 0700), 0);
    refuse(dir, ROAST_IO, "Timing file not found: ");
}

/* A pipe that nobody writes to would wait for ever. */
static void test_a_pipe_is_no_file(void **state)
{
    const char *dir = *state;

    assert_int_equal(mkfifo(path_in(dir, "metrics.json"), 0600), 0);
    refuse(dir, ROAST_IO, "Metrics file not found: ");
}

static void test_timing(void **state)
{
    static const char *const bad[] = {"",      "1.0",   "a,b",   "1,2,3",  ",",
                                      "1,",    "nan,1", "1,inf", "1e99,2", "1 2,3",
                                      "--1,2", "0x1,2", "1,2\n3"};
    static const char *const good[] = {"1700000000.5,1700000001.5", " 1 , 2\n",
                                       "-1.5e3,+2.", ".5,1E1"};
    const char *dir = *state;

    put_file(dir, "metrics.json", "{}");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        put_file(dir, "start_end_time.txt", bad[i]);
        refuse(dir, ROAST_BAD_DATA, "Invalid timing format in /tmp/");
    }
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        put_file(dir, "start_end_time.txt", good[i]);
        roast_run_free(import(dir));
    }
}

static void test_bad_metrics(void **state)
{
    const char *dir = *state;

    put_measurement(dir, "{bad");
    refuse(dir, ROAST_BAD_DATA,
           "/metrics.json: byte 1: line 1: expected a key in double quotes");
    put_measurement(dir, "[1]");
    refuse(dir, ROAST_BAD_DATA, "/metrics.json are no JSON object");
    char *deep = calloc(1, 100006);
    assert_non_null(deep);
    memset(deep, '[', 100005);
    memcpy(deep, "{\"a\":", 5);
    put_measurement(dir, deep);
    refuse(dir, ROAST_LIMIT, "nested over 64 deep");
    free(deep);
}

/* ---- memory ---------------------------------------------------------------------- */

/* Each allocation fails in turn, once or with all after it. */
static void test_no_memory(void **state)
{
    const char *dir = *state;

    put_measurement(dir, "{\"raw_chunk_metrics\": [{\"dataset\": \"a\", \"x\": [1],"
                         " \"timing\": {\"s\": 1}}], \"labels\": {\"a\": \"b\"},"
                         " \"tracking_data\": {\"worker_counts\":"
                         " {\"2025-01-01T00:00:00\": 9}, \"worker_memory\":"
                         " {\"w\": [[\"2025-01-01T00:00:00\", 1]]}}, \"y\": 1}");
    put_file(dir, "config.json", "{\"a\": 1}");
    put_file(dir, "metadata.json", "{\"format\": \"f\"}");
    test_heap_install();
    for (size_t n = 1;; n++) {
        bool failed = false;
        for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
            roast_run *run = NULL;
            test_heap_fail(n, from_then_on);
            int status = roast_import(&run, dir, NULL);
            failed = test_heap_failed();
            test_heap_fail(0, false);
            assert_true(status == ROAST_OK || status == ROAST_NO_MEMORY);
            assert_true((status == ROAST_OK) == (run != NULL));
            roast_run_free(run);
            assert_int_equal(test_heap.live_blocks, 0);
        }
        if (!failed)
            break;
    }
    roast__heap_set(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_directory_made_by_hand),
        TEST(test_a_directory_of_a_real_run),
        TEST(test_tracking_from_its_own_file),
        TEST(test_broken_extras),
        TEST(test_equal_records),
        TEST(test_the_run_itself),
        TEST(test_what_is_missing_is_named),
        TEST(test_a_pipe_is_no_file),
        TEST(test_timing),
        TEST(test_bad_metrics),
        TEST(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
