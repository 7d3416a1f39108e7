/* SPDX-License-Identifier: BSD-3-Clause */
/* file_tries.c - files that failed before there was any chunk of them.
 *
 * Preprocessing asks every file for its entries. When that works no record is written, so
 * whether a later try made a failure good is seen from the chunks of that file. */
#include "analyze/roles.h"
#include "analyze/totals/files.h"
#include "base/mem.h"

/* A range of no entries of a file that was not opened: a work item has the file's
 * uuid. */
bool roast__is_file_try(const struct roast_run *run, size_t row)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_column *columns = attempts->columns;
    int32_t source = attempts->source[row];

    return source >= 0 && attempts->sources[source].uuid == ROAST_NO_STRING &&
           attempts->status[row] == ROAST_CHUNK_FAILED &&
           roast__column_get(&columns[ROAST_COLUMN_entry_start], row, -1) == 0 &&
           roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, -1) == 0;
}

enum { FILE_TRIED = 1, FILE_READ = 2 };

bool roast__roles_find_files(struct roast_roles *roles, const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;
    struct roast_files files = {0};
    unsigned char *seen = NULL; /* per file */
    bool done = roles->file_tries == 0;

    if (done)
        return true;
    seen = roast__alloc(attempts->source_count);
    roles->file_read = roast__alloc(attempts->source_count);
    if (!seen || !roles->file_read || !roast__files_number(&files, attempts))
        goto out;
    for (size_t row = 0; row < run->attempts.count; row++) {
        int32_t file = roast__file_of_row(&files, &run->attempts, row);
        if (file >= 0)
            seen[file] |= roast__is_file_try(run, row) ? FILE_TRIED : FILE_READ;
    }
    for (size_t i = 0; i < attempts->source_count; i++) {
        roles->failed_files += seen[i] == FILE_TRIED;
        if (files.of_source[i] >= 0)
            roles->file_read[i] = (seen[files.of_source[i]] & FILE_READ) != 0;
    }
    done = true;
out:
    roast__files_release(&files);
    roast__free(seen);
    return done;
}
