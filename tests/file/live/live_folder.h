/* SPDX-License-Identifier: BSD-3-Clause */
/* live_folder.h - the state of a test: a folder with nothing but a live file in it. */
#ifndef ROAST_TESTS_FILE_LIVE_LIVE_FOLDER_H
#define ROAST_TESTS_FILE_LIVE_LIVE_FOLDER_H

#include <stdio.h>
#include <unistd.h>

#include "roast/live.h"
#include "support.h"

/* The state of a test. */
struct live_test {
    char dir[64];
    char path[96];
    roast_run *run;
    roast_live *live;
};

static inline int make_folder(void **state)
{
    static struct live_test test;

    memset(&test, 0, sizeof(test));
    (void)snprintf(test.dir, sizeof(test.dir), "/tmp/roast-test-live-XXXXXX");
    if (!mkdtemp(test.dir))
        return -1;
    (void)snprintf(test.path, sizeof(test.path), "%s/a" ROAST_LIVE_SUFFIX, test.dir);
    *state = &test;
    return 0;
}

static inline int remove_folder(void **state)
{
    struct live_test *test = *state;

    (void)roast_live_close(test->live, false, NULL);
    roast_run_free(test->run);
    (void)unlink(test->path);
    return rmdir(test->dir);
}

#define live_test_of(behaviour) \
    cmocka_unit_test_setup_teardown(behaviour, make_folder, remove_folder)

#endif
