/* SPDX-License-Identifier: BSD-3-Clause */
/* procfile.c - one small file of procfs or a cgroup, kept open.
 *
 * Without procfs every file is absent, and so are all values read with it. */
#include "probe/linux/procfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "probe/chunk/fork.h"

enum { PATH_BYTES = 1024 };

static void open_file(struct roast_procfile *file, const char *name)
{
    char path[PATH_BYTES];
    const char *root = file->root ? file->root : "/proc";

    roast__fork_watch();
    file->generation = roast__fork_generation();
    file->fd_plus_one = 0;
    int size = snprintf(path, sizeof(path), "%s/%s", root, name);
    if (size > 0 && (size_t)size < sizeof(path))
        file->fd_plus_one = open(path, O_RDONLY | O_CLOEXEC) + 1;
}

struct roast_str roast__procfile_read(struct roast_procfile *file, const char *name,
                                      char *out, size_t out_bytes)
{
    if (!ROAST_PROCFS)
        return (struct roast_str){NULL, 0};
    if (file->generation != roast__fork_generation())
        open_file(file, name);
    if (file->fd_plus_one == 0)
        return (struct roast_str){NULL, 0};
    ssize_t got = pread(file->fd_plus_one - 1, out, out_bytes - 1, 0);
    if (got < 0)
        return (struct roast_str){NULL, 0};
    size_t size = (size_t)got;
    if (size == out_bytes - 1) { /* a cut number would still be valid */
        while (size > 0 && out[size - 1] != '\n')
            size--;
    }
    out[size] = '\0';
    return (struct roast_str){out, size};
}

void roast__procfile_close(struct roast_procfile *file)
{
    if (file->fd_plus_one != 0)
        (void)close(file->fd_plus_one - 1);
    file->fd_plus_one = 0;
    file->generation = 0;
}

struct roast_str roast__procfile_read_once(const char *root, const char *name,
                                           char *out, size_t out_bytes)
{
    struct roast_procfile file = {.root = root};
    struct roast_str text = roast__procfile_read(&file, name, out, out_bytes);

    roast__procfile_close(&file);
    return text;
}
