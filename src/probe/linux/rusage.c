/* SPDX-License-Identifier: BSD-3-Clause */
/* rusage.c - the highest resident memory of this process, as the kernel saw it. */
#include "probe/linux/rusage.h"

#include "probe/linux/procfile.h"
#include "probe/linux/scan.h"
#include "roast/error.h"

#if ROAST_PROCFS

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

bool roast__peak_read(uint64_t *peak_bytes)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_maxrss <= 0)
        return false;
    *peak_bytes = (uint64_t)usage.ru_maxrss * 1024; /* Linux counts in KiB */
    return true;
}

bool roast__peak_read_reset(uint64_t *peak_bytes)
{
    char text[4096];
    struct roast_str status =
        roast__procfile_read_once(NULL, "self/status", text, sizeof(text));
    struct roast_str rest;
    struct roast_str number;

    if (!status.data || !roast__scan_find(&rest, status, "VmHWM") ||
        !roast__scan_until(&number, &rest, 'k') ||
        !roast__scan_u64(peak_bytes, &number))
        return false;
    *peak_bytes *= 1024;
    return true;
}

int roast__peak_reset(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, "5", 1) == 1; /* 5: the high-water mark alone */

    if (fd >= 0)
        (void)close(fd);
    return done ? ROAST_OK : ROAST_UNAVAILABLE;
}

#else

bool roast__peak_read(uint64_t *peak_bytes)
{
    (void)peak_bytes;
    return false;
}

bool roast__peak_read_reset(uint64_t *peak_bytes)
{
    return roast__peak_read(peak_bytes);
}

int roast__peak_reset(void)
{
    return ROAST_UNAVAILABLE;
}

#endif
