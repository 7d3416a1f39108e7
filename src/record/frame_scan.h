/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_scan.h - finds whole frames in bytes, some of which may be damaged.
 *
 * Uses neither files nor memory, so that a fuzzer can drive it. In a hostile buffer
 * every byte may look like the start of a large frame whose checksum must be computed,
 * so every call takes an effort: the number of bytes that may be checksummed without
 * success. When it is used up, all data counts as damaged. */
#ifndef ROAST_RECORD_FRAME_SCAN_H
#define ROAST_RECORD_FRAME_SCAN_H

#include "roast/record.h"

/* Whether data starts with a frame whose magic, version, size and checksum are right;
 * its fields are not read. ROAST_OK with *size_bytes, or the error. (frame.c) */
int roast__frame_check(size_t *size_bytes, struct roast_str data, roast_error *err);

/* The number of damaged bytes before the next whole frame, at least one; all of data
 * where there is none. */
size_t roast__frame_skip(struct roast_str data, uint64_t *effort_bytes);

/* For a growing file: how many bytes at the front of data can be passed on. These are
 * whole frames without a gap, or everything before the next frame; 0 = wait for more
 * bytes. `at_end`: no more bytes are available now; only then does a following whole
 * frame prove that a frame was cut. */
size_t roast__frame_scan(struct roast_str data, bool at_end, uint64_t *effort_bytes);

#endif
