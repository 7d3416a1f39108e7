/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_spool.c - any bytes as a spool file that grows: cut into stretches that are all
 * of it, in order, each of them whole frames or none, and nothing whole left waiting.
 *
 * The first byte of the input says by how much the file grows at a time, 0 all at once;
 * the rest is the file. */
#include <stdlib.h>

#include "record/frame_scan.h"
#include "roast/collect.h"
#include "roast/record.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* By checksum: a hostile frame may have a right one and fields that are refused. */
static int decode(struct roast_str data, size_t *size_bytes)
{
    return roast__frame_check(size_bytes, data, NULL);
}

static struct roast_str after(struct roast_str data, size_t size_bytes)
{
    return (struct roast_str){data.data + size_bytes, data.size_bytes - size_bytes};
}

/* Whole frames to the end; or not one at its start. */
static void check_stretch(struct roast_str stretch)
{
    size_t size;
    bool whole = decode(stretch, &size) == ROAST_OK;

    while (whole && stretch.size_bytes > 0) {
        PROMISE(decode(stretch, &size) == ROAST_OK);
        stretch = after(stretch, size);
    }
}

/* What waits could be the start of a frame, and no frame lies behind it. */
static void check_waiting(struct roast_str rest)
{
    size_t size;

    if (rest.size_bytes == 0)
        return;
    PROMISE((unsigned char)rest.data[0] == 0xcf);
    for (; rest.size_bytes > 0; rest = after(rest, 1))
        PROMISE(decode(rest, &size) != ROAST_OK);
}

/* As the reader does at each of its looks; returns what waits. */
static struct roast_str take_stretches(struct roast_str rest, bool at_end)
{
    uint64_t effort_bytes = 16 * (uint64_t)rest.size_bytes;

    for (;;) {
        size_t size = roast__frame_scan(rest, at_end, &effort_bytes);
        PROMISE(size <= rest.size_bytes);
        if (size == 0)
            break;
        if (effort_bytes > 0)
            check_stretch((struct roast_str){rest.data, size});
        rest = after(rest, size);
    }
    if (at_end)
        check_waiting(rest);
    return rest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    size_t step = size_bytes > 0 && data[0] > 0 ? data[0] : size_bytes;
    const char *file = (const char *)data + 1;
    size_t taken = 0;

    for (size_t size = step; size_bytes > 0 && size < size_bytes + step; size += step) {
        size_t end = size < size_bytes - 1 ? size : size_bytes - 1;
        struct roast_str rest = {file + taken, end - taken};
        rest = take_stretches(rest, end % 2 == 0 || end == size_bytes - 1);
        taken = end - rest.size_bytes;
    }
    return 0;
}
