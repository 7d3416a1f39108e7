/* SPDX-License-Identifier: BSD-3-Clause */
/* test_export.c - formats by name, and files that are there as a whole or not at all. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "exported.h"
#include "heap.h"

static const enum roast_export_format to_files[] = {
    ROAST_EXPORT_OPENMETRICS, ROAST_EXPORT_JSON, ROAST_EXPORT_SQLITE,
    ROAST_EXPORT_PERFETTO, ROAST_EXPORT_OTLP};

static void formats_are_found_by_both_names(void **state)
{
    (void)state;
    assert_int_equal(roast_export_find("openmetrics"), ROAST_EXPORT_OPENMETRICS);
    assert_int_equal(roast_export_find("prometheus"), ROAST_EXPORT_OPENMETRICS);
    assert_int_equal(roast_export_find("sqlite"), ROAST_EXPORT_SQLITE);
    assert_int_equal(roast_export_find("none of them"), -1);
    assert_int_equal(roast_export_find(""), -1);
    assert_true(roast_export_info(ROAST_EXPORT_PARQUET)->by_python);
    assert_false(roast_export_info(ROAST_EXPORT_JSON)->by_python);
}

static void json_is_the_report(void **state)
{
    roast_run *run = plain_run(5);
    roast_summary *summary = NULL;
    struct roast_page page = {NULL, 0};
    struct roast_buf bytes =
        exported(run, ROAST_EXPORT_JSON, (struct roast_export_options){0});

    (void)state;
    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    assert_int_equal(roast_report_json(&page, summary, run, NULL, NULL), ROAST_OK);
    assert_string_equal((const char *)bytes.data, page.text);
    roast_page_release(&page);
    roast_summary_free(summary);
    roast__buf_release(&bytes);
    roast_run_free(run);
}

static void files_are_replaced_but_no_runs(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    roast_error err = {0};
    char path[96];

    (void)snprintf(path, sizeof(path), "%s/out", test->dir);
    for (size_t i = 0; i < COUNT_OF(to_files); i++) {
        for (int again = 0; again < 2; again++) {
            if (export_to(run, to_files[i], path, &err) < 0)
                fail_msg("%s", err.message);
            assert_int_equal(files_in(test->dir, false), 1);
        }
    }
    save(run, test->path);
    struct stat before, after;
    assert_int_equal(stat(test->path, &before), 0);
    assert_int_equal(export_to(run, ROAST_EXPORT_JSON, test->path, &err), ROAST_IO);
    assert_string_equal(err.message, "it is a run file, and is not replaced");
    assert_int_equal(stat(test->path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(files_in(test->dir, false), 2);
    roast_run_free(run);
}

static void refuse(roast_run *run, enum roast_export_format format, const char *path,
                   int status, const char *words)
{
    roast_error err = {0};

    assert_int_equal(export_to(run, format, path, &err), status);
    if (!strstr(err.message, words))
        fail_msg("\"%s\" does not say \"%s\"", err.message, words);
}

static void bad_targets_are_reported(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    char path[96];

    (void)snprintf(path, sizeof(path), "%s/none/out", test->dir);
    refuse(run, ROAST_EXPORT_JSON, path, ROAST_IO, "No such file");
    refuse(run, ROAST_EXPORT_CSV, path, ROAST_IO, "No such file");
    refuse(run, ROAST_EXPORT_JSON, test->dir, ROAST_IO, "Is a directory");
    refuse(run, ROAST_EXPORT_CSV, test->dir, ROAST_IO, "File exists");
    refuse(run, ROAST_EXPORT_JSON, "/dev/full", ROAST_IO, "no regular file");
    refuse(run, ROAST_EXPORT_JSON, "", ROAST_IO, "No such file");
    refuse(run, ROAST_EXPORT_CSV, "", ROAST_IO, "No such file");
    refuse(run, ROAST_EXPORT_CSV, NULL, ROAST_REFUSED, "csv is a folder");
    refuse(run, ROAST_EXPORT_SQLITE, NULL, ROAST_REFUSED, "sqlite is a file");
    refuse(run, ROAST_EXPORT_PARQUET, path, ROAST_REFUSED, "written by Python");
    assert_int_equal(files_in(test->dir, false), 0);
    roast_run_free(run);
}

/* The size of files is limited, as on a full disk. */
static void a_full_disk_leaves_nothing(void **state)
{
    static const enum roast_export_format formats[] = {
        ROAST_EXPORT_OPENMETRICS, ROAST_EXPORT_JSON, ROAST_EXPORT_SQLITE,
        ROAST_EXPORT_PERFETTO,    ROAST_EXPORT_OTLP, ROAST_EXPORT_CSV};
    const struct saved_test *test = *state;
    roast_run *run = plain_run(100);
    struct rlimit limit;
    char path[96];

    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)snprintf(path, sizeof(path), "%s/out", test->dir);
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        roast_error err = {0};
        int status = export_to(run, formats[i], path, &err);
        if (status != ROAST_IO || !*err.message)
            fail_msg("%s: %d %s", roast_export_info(formats[i])->name, status,
                     err.message);
        assert_int_equal(files_in(test->dir, false), 0);
    }
    limit.rlim_cur = before;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    roast_run_free(run);
}

static void csv_has_a_file_for_each_table(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = rich_run();
    roast_error err = {0};
    char path[96];
    char line[512];

    (void)snprintf(path, sizeof(path), "%s/out/", test->dir);
    if (export_to(run, ROAST_EXPORT_CSV, path, &err) < 0)
        fail_msg("%s", err.message);
    (void)snprintf(line, sizeof(line), "%s/datasets.csv", path);
    FILE *file = fopen(line, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    (void)fclose(file);
    assert_int_equal(strncmp(line, "dataset,num_chunks,", 19), 0);
    assert_int_equal(files_in(path, true), ROAST_RUN_TABLE_COUNT);
    roast_run_free(run);
}

static void sqlite_has_only_tables(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = rich_run();
    roast_error err = {0};
    char command[256], line[128] = "";

    if (export_to(run, ROAST_EXPORT_SQLITE, test->path, &err) < 0)
        fail_msg("%s", err.message);
    (void)snprintf(command, sizeof(command),
                   "sqlite3 %s \"SELECT count(*),sum(name IN ('journal','summary')),"
                   "(SELECT count(*)>0 FROM chunks) FROM sqlite_master\"",
                   test->path);
    FILE *shell = popen(command, "r");
    assert_non_null(shell);
    assert_non_null(fgets(line, sizeof(line), shell));
    assert_int_equal(pclose(shell), 0);
    assert_non_null(strstr(line, "|0|1"));
    roast_runfile *file = NULL;
    assert_int_equal(roast_runfile_open(&file, test->path, &err), ROAST_BAD_DATA);
    roast_run_free(run);
}

/* ---- no memory ------------------------------------------------------------------- */

static size_t try_without(struct saved_test *test, roast_run *run,
                          enum roast_export_format format, bool anonymise, size_t n)
{
    const struct roast_export_options options = {
        .path = test->path, .by_worker = true, .by_file = true};
    size_t before = test_heap.live_blocks;
    roast_run *copy = NULL;
    int status = ROAST_OK;
    roast_error err = {0};

    test_heap_fail(n, true);
    if (anonymise)
        status = roast_run_anonymise(&copy, run, &err);
    if (status == ROAST_OK)
        status = roast_export(copy ? copy : run, NULL, format, &options, &err);
    roast_run_free(copy);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(test_heap.live_blocks, before);
    if (status < 0 && (!failed || status != ROAST_NO_MEMORY))
        fail_msg("allocation %zu: %d %s", n, status, err.message);
    assert_int_equal(files_in(test->dir, false), status == ROAST_OK);
    if (status == ROAST_OK && format == ROAST_EXPORT_CSV)
        (void)files_in(test->path, true);
    (void)files_in(test->dir, true);
    return failed;
}

static void no_memory_is_reported(void **state)
{
    static const enum roast_export_format formats[] = {
        ROAST_EXPORT_OPENMETRICS, ROAST_EXPORT_JSON, ROAST_EXPORT_SQLITE,
        ROAST_EXPORT_CSV};
    struct saved_test *test = *state;

    test_heap_install();
    roast_run *run = plain_run(3);
    for (int anonymise = 0; anonymise < 2; anonymise++) {
        for (size_t i = 0; i < COUNT_OF(formats); i++) {
            size_t n = 1;
            while (try_without(test, run, formats[i], anonymise, n))
                n += n < 40 ? 1 : 17;
            assert_true(n > 1);
        }
    }
    roast_run_free(run);
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_found_by_both_names),
        cmocka_unit_test(json_is_the_report),
        saved_test_of(files_are_replaced_but_no_runs),
        saved_test_of(bad_targets_are_reported),
        saved_test_of(a_full_disk_leaves_nothing),
        saved_test_of(csv_has_a_file_for_each_table),
        saved_test_of(sqlite_has_only_tables),
        saved_test_of(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
