/* SPDX-License-Identifier: BSD-3-Clause */
/* rss.c - resident memory of this process now. */
#include "probe/linux/rss.h"

#include <unistd.h>

#include "probe/linux/scan.h"

enum { STATM_BYTES = 160 }; /* seven numbers of at most 20 digits */

bool roast__statm_parse(uint64_t *rss_pages, struct roast_str text)
{
    uint64_t size_pages;
    return roast__scan_u64(&size_pages, &text) && roast__scan_u64(rss_pages, &text);
}

bool roast__rss_read(struct roast_procfile *file, uint64_t *rss_bytes)
{
    char buffer[STATM_BYTES];
    struct roast_str text =
        roast__procfile_read(file, "self/statm", buffer, sizeof(buffer));
    uint64_t pages;

    if (!roast__statm_parse(&pages, text))
        return false;
    *rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE); /* no system call in glibc */
    return true;
}
