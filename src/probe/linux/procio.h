/* SPDX-License-Identifier: BSD-3-Clause */
/* procio.h - bytes this process has read and written since it began.
 *
 * From /proc/self/io, all threads together. The characters are what system calls moved,
 * from the page cache or a socket read with read(2) too, but not through recv(2) or
 * mmap(2); the bytes are what storage delivered. Reading the file counts itself: about
 * 100 characters per reading. */
#ifndef ROAST_PROBE_LINUX_PROCIO_H
#define ROAST_PROBE_LINUX_PROCIO_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/procfile.h"

/* A line that the kernel did not print leaves its value absent. */
struct roast_procio {
    bool has_rchar;
    bool has_wchar;
    bool has_read_bytes;
    bool has_write_bytes;
    uint64_t rchar_bytes;
    uint64_t wchar_bytes;
    uint64_t read_bytes;
    uint64_t write_bytes;
};

/* False when not one value could be read. */
bool roast__procio_read(struct roast_procfile *file, struct roast_procio *io);

/* Lines in any order; unknown ones are skipped. False when none is known. */
bool roast__procio_parse(struct roast_procio *io, struct roast_str text);

#endif
