/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_spool.c - any bytes as a spool file that grows: divided into parts that cover
 * all bytes in order, each of them only whole frames or only damaged bytes, and no
 * whole frame remains.
 *
 * The first byte of the input is the size of each growth, 0 for all at once, but at most
 * GROWTHS of them: each scan starts at the first frame that waits. The other bytes are
 * the file. */
#include <stdlib.h>

#include "record/frame_scan.h"
#include "record_checks.h"
#include "roast/collect.h"
#include "roast/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { GROWTHS = 24 };

/* By checksum: a hostile frame may have a right one and fields that are refused. */
static int decode(struct roast_str data, size_t *size_bytes)
{
    return roast__frame_check(size_bytes, data, NULL);
}

static struct roast_str after(struct roast_str data, size_t size_bytes)
{
    return (struct roast_str){data.data + size_bytes, data.size_bytes - size_bytes};
}

/* Only whole frames, or no frame at its start. */
static void check_part(struct roast_str part)
{
    size_t size;
    bool whole = decode(part, &size) == ROAST_OK;

    while (whole && part.size_bytes > 0) {
        PROMISE(decode(part, &size) == ROAST_OK);
        part = after(part, size);
    }
}

/* The remaining bytes may be the start of a frame, and no frame follows. */
static void check_waiting(struct roast_str remaining)
{
    size_t size;

    if (remaining.size_bytes == 0)
        return;
    PROMISE((unsigned char)remaining.data[0] == 0xcf);
    for (; remaining.size_bytes > 0; remaining = after(remaining, 1))
        PROMISE(decode(remaining, &size) != ROAST_OK);
}

/* Scans like the spool reader; returns the remaining bytes. */
static struct roast_str scan_parts(struct roast_str remaining, bool at_end)
{
    uint64_t effort_bytes = 16 * (uint64_t)remaining.size_bytes;

    for (;;) {
        size_t size = roast__frame_scan(remaining, at_end, &effort_bytes);
        PROMISE(size <= remaining.size_bytes);
        if (size == 0)
            break;
        if (effort_bytes > 0)
            check_part((struct roast_str){remaining.data, size});
        remaining = after(remaining, size);
    }
    if (at_end)
        check_waiting(remaining);
    return remaining;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    size_t step = size_bytes > 0 && data[0] > 0 ? data[0] : size_bytes;
    const char *file = (const char *)data + 1;
    size_t taken = 0;

    if (step < size_bytes / GROWTHS)
        step = size_bytes / GROWTHS;
    for (size_t size = step; size_bytes > 0 && size < size_bytes + step; size += step) {
        size_t end = size < size_bytes - 1 ? size : size_bytes - 1;
        struct roast_str remaining = {file + taken, end - taken};
        remaining = scan_parts(remaining, end % 2 == 0 || end == size_bytes - 1);
        taken = end - remaining.size_bytes;
    }
    return 0;
}
