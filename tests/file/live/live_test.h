/* SPDX-License-Identifier: BSD-3-Clause */
/* live_test.h - a run that is written to a live file, and read back. */
#ifndef ROAST_TESTS_FILE_LIVE_LIVE_TEST_H
#define ROAST_TESTS_FILE_LIVE_LIVE_TEST_H

#include "live_folder.h"

/* The thread never wakes up: tests write blocks by roast_live_sync(). */
static const struct roast_live_options MANUAL_SYNC = {
    .write_every_ns = INT64_C(3600000000000), .sync_every_ns = INT64_C(3600000000000)};

/* A run with clocks and the host "there". */
static inline roast_run *bare_run(void)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_host(run, roast_str_of("there"), NULL), ROAST_OK);
    return run;
}

static inline void open_live(struct live_test *test,
                             const struct roast_live_options *options)
{
    roast_error err = {0};

    test->run = bare_run();
    if (roast_live_open(&test->live, test->run, test->path, options, &err) < 0)
        fail_msg("%s", err.message);
}

static inline void close_live(struct live_test *test)
{
    roast_error err = {0};

    if (roast_live_close(test->live, false, &err) < 0)
        fail_msg("%s", err.message);
    test->live = NULL;
}

/* Reads a file that must be readable. */
static inline roast_run *read_live(const char *path, struct roast_journal_reading *seen)
{
    roast_run *run = NULL;
    roast_error err = {0};

    if (roast__live_read(&run, path, seen, &err) < 0)
        fail_msg("%s", err.message);
    assert_non_null(run);
    return run;
}

#endif
