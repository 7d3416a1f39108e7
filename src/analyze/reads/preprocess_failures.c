/* SPDX-License-Identifier: BSD-3-Clause */
/* preprocess_failures.c - files that failed during preprocessing.
 *
 * Preprocessing counts the entries of every file and is recorded only if it fails. A
 * later retry was successful if the file has chunks. */
#include "analyze/roles.h"
#include "analyze/totals/files.h"
#include "base/mem.h"

/* A failure with the entry range 0-0 and without the file's uuid, which every chunk
 * has. */
bool roast__is_preprocess_failure(const struct roast_run *run, size_t row)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_column *columns = attempts->columns;
    int32_t source = attempts->source[row];

    return source >= 0 && attempts->sources[source].uuid == ROAST_NO_STRING &&
           attempts->status[row] == ROAST_CHUNK_FAILED &&
           roast__column_get(&columns[ROAST_COLUMN_entry_start], row, -1) == 0 &&
           roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, -1) == 0;
}

bool roast__roles_find_failed_files(struct roast_roles *roles,
                                    const struct roast_run *run)
{
    enum { FAILED = 1, READ = 2 };
    const struct roast_attempts *attempts = &run->attempts;
    struct roast_files files = {0};

    if (roles->preprocess_failures == 0)
        return true;
    unsigned char *seen = roast__alloc(attempts->source_count); /* per file */
    roles->file_read = roast__alloc(attempts->source_count);
    bool done = seen && roles->file_read && roast__files_find(&files, attempts);
    for (size_t row = 0; done && row < attempts->count; row++) {
        int32_t file = roast__file_of_row(&files, attempts, row);
        if (file >= 0)
            seen[file] |= roast__is_preprocess_failure(run, row) ? FAILED : READ;
    }
    for (size_t i = 0; done && i < attempts->source_count; i++) {
        roles->failed_files += seen[i] == FAILED;
        if (files.of_source[i] >= 0)
            roles->file_read[i] = (seen[files.of_source[i]] & READ) != 0;
    }
    roast__files_release(&files);
    roast__free(seen);
    return done;
}
