/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_open.h - runs into files and back, where that must go well. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_OPEN_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_OPEN_H

#include "roast/runfile.h"
#include "saved_folder.h"

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
