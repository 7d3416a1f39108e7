/* SPDX-License-Identifier: BSD-3-Clause */
/* write_file.c - bytes that are no run into a file. */
#include <errno.h>
#include <stdio.h>

#include "file/new_file.h"

int roast_file_write(const char *path, struct roast_str bytes, roast_error *err)
{
    struct roast_new_file target;
    int status = roast__new_file_open(&target, path, ROAST_SAVE_EXPORT, err);
    FILE *file = NULL;

    errno = 0;
    if (status == ROAST_OK)
        file = fopen(target.temporary, "we");
    bool written =
        file && fwrite(bytes.data, 1, bytes.size_bytes, file) == bytes.size_bytes;
    if (file && fclose(file) != 0)
        written = false;
    if (status == ROAST_OK && !written)
        status = roast_error_set(err, ROAST_IO, "%s", strerror(errno));
    if (status == ROAST_OK)
        status = roast__new_file_commit(&target, ROAST_SAVE_EXPORT, err);
    roast__new_file_release(&target);
    return status;
}
