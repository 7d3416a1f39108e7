/* SPDX-License-Identifier: BSD-3-Clause */
/* files.h - the file of every row, and which files may have two attempts at a chunk.
 *
 * Sources (run/sources.h) that differ only in what an attempt did not know are one
 * file. The number of a file is the number of one of its sources. */
#ifndef ROAST_ANALYZE_TOTALS_FILES_H
#define ROAST_ANALYZE_TOTALS_FILES_H

#include "run/run.h"

enum { ROAST_NO_FILE = -1 };

/* Zeroed = empty and valid; everything is owned. */
struct roast_files {
    int32_t *of_source;
    bool *may_repeat; /* per file: there may be two attempts at one chunk */
    bool any_may_repeat;
};

/* False when out of memory. */
bool roast__files_find(struct roast_files *files,
                       const struct roast_attempts *attempts);
void roast__files_release(struct roast_files *files);

static inline int32_t roast__file_of_row(const struct roast_files *files,
                                         const struct roast_attempts *attempts,
                                         size_t row)
{
    int32_t source = attempts->source[row];

    return source < 0 ? ROAST_NO_FILE : files->of_source[source];
}

static inline bool roast__has_entries(const struct roast_attempts *attempts, size_t row)
{
    return roast__column_has(&attempts->columns[ROAST_COLUMN_entry_start], row) &&
           roast__column_has(&attempts->columns[ROAST_COLUMN_entry_stop], row);
}

#endif
