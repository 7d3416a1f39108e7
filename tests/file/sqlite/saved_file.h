/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_file.h - a folder for every test of run files; saving and opening that must
 * succeed. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_FILE_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_FILE_H

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "roast/live.h"
#include "roast/runfile.h"
#include "support.h"

struct saved_test {
    char dir[64];
    char path[96]; /* of a run file that does not exist yet */
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

/* The number of files; `remove_them` removes them. */
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

static inline void save(roast_run *run, const char *path)
{
    roast_error err = {0};

    if (roast_run_save(run, path, ROAST_SAVE_REPLACE, &err) < 0)
        fail_msg("%s", err.message);
}

static inline roast_runfile *open_saved(const char *path)
{
    roast_runfile *file = NULL;
    roast_error err = {0};

    if (roast_runfile_open(&file, path, &err) < 0)
        fail_msg("%s", err.message);
    return file;
}

static inline roast_run *whole_run(roast_runfile *file)
{
    roast_run *run = NULL;
    roast_error err = {0};

    if (roast_runfile_run(file, true, &run, &err) < 0)
        fail_msg("%s", err.message);
    return run;
}

#endif
