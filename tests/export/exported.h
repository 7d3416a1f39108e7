/* SPDX-License-Identifier: BSD-3-Clause */
/* exported.h - a run exported into memory, or to a path. */
#ifndef ROAST_TESTS_EXPORT_EXPORTED_H
#define ROAST_TESTS_EXPORT_EXPORTED_H

#include "base/buf.h"
#include "file/sqlite/saved_file.h"
#include "file/sqlite/saved_runs.h"
#include "roast/export.h"

/* The bytes of an export and a NUL; for roast__buf_release(). */
static inline struct roast_buf exported(roast_run *run, enum roast_export_format format,
                                        struct roast_export_options options)
{
    struct roast_buf bytes = {NULL, 0, 0, false};
    roast_error err = {0};

    options.put = roast__buf_sink;
    options.context = &bytes;
    if (roast_export(run, NULL, format, &options, &err) < 0)
        fail_msg("%s", err.message);
    roast__buf_put(&bytes, "", 1);
    assert_true(roast__buf_ok(&bytes));
    return bytes;
}

/* To a path; returns the status. */
static inline int export_to(roast_run *run, enum roast_export_format format,
                            const char *path, roast_error *err)
{
    const struct roast_export_options options = {.path = path};

    return roast_export(run, NULL, format, &options, err);
}

#endif
