/* SPDX-License-Identifier: BSD-3-Clause */
/* expected_run.h - a small run file, and what was saved in it. */
#ifndef ROAST_TESTS_FILE_SQLITE_EXPECTED_RUN_H
#define ROAST_TESTS_FILE_SQLITE_EXPECTED_RUN_H

#include "file/live/live_test.h"
#include "file/sqlite/save.h"
#include "saved_file.h"
#include "saved_print.h"
#include "saved_runs.h"

/* What was saved. */
struct expected_run {
    roast_run *run;
    struct roast_buf whole;
    struct roast_chunk_list chunks;
    struct roast_tracking tracking;
    struct roast_buf bytes; /* of the file */
};

/* Small pages make a small file: every table has at least one. */
static inline void save_small_pages(roast_run *run, const char *path)
{
    sqlite3 *db = NULL;
    roast_error err = {0};

    write_bytes(path, "", 0);
    if (roast__sql_create(&db, path, 512, &err) < 0 ||
        roast__save_into(db, run, true, &err) < 0)
        fail_msg("%s", err.message);
    roast__sql_close(db);
}

static inline void save_expected(struct expected_run *expected, roast_run *run,
                                 const char *path)
{
    save_small_pages(run, path);
    expected->run = run;
    expected->whole = print_whole(run);
    expected->bytes = read_bytes(path);
    assert_int_equal(roast_run_chunks(run, &expected->chunks, NULL), ROAST_OK);
    assert_int_equal(roast_run_tracking(run, &expected->tracking, NULL), ROAST_OK);
}

static inline void release_expected(struct expected_run *expected)
{
    roast_run_free(expected->run);
    roast__buf_release(&expected->whole);
    roast__buf_release(&expected->bytes);
    roast_chunk_list_release(&expected->chunks);
    roast_tracking_release(&expected->tracking);
}

#endif
