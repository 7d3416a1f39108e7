/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_folder.h - a folder of its own for every test of run files. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_FOLDER_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "roast/live.h"
#include "support.h"

struct saved_test {
    char dir[64];
    char path[96]; /* of a run file that is not there yet */
};

static inline int make_saved_folder(void **state)
{
    static struct saved_test test;

    (void)snprintf(test.dir, sizeof(test.dir), "/tmp/roast-test-saved-XXXXXX");
    if (!mkdtemp(test.dir))
        return -1;
    (void)snprintf(test.path, sizeof(test.path), "%s/a" ROAST_FILE_SUFFIX, test.dir);
    *state = &test;
    return 0;
}

/* How many files there are; removes them if asked to. */
static inline size_t files_in(const char *folder, bool remove_them)
{
    DIR *dir = opendir(folder);
    size_t count = 0;

    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char path[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (remove_them && unlink(path) != 0)
            (void)rmdir(path);
    }
    (void)closedir(dir);
    return count;
}

static inline int remove_saved_folder(void **state)
{
    struct saved_test *test = *state;

    (void)files_in(test->dir, true);
    return rmdir(test->dir);
}

#define saved_test_of(behaviour) \
    cmocka_unit_test_setup_teardown(behaviour, make_saved_folder, remove_saved_folder)

#endif
