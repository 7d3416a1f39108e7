/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_scan.h - finds whole frames in bytes, some of which may be damaged.
 *
 * Pure: no file and no memory, so that a fuzzer can drive it. A hostile buffer could make
 * every byte look like the start of a large frame whose checksum must be computed to
 * know better, so every call takes an effort: how many bytes may be summed up in vain.
 * When it is used up, all of the data counts as damaged. */
#ifndef ROAST_RECORD_FRAME_SCAN_H
#define ROAST_RECORD_FRAME_SCAN_H

#include "roast/record.h"

/* Whether data starts with a frame whose magic, version, size and checksum are right; its
 * fields are not looked at. ROAST_OK, and *size_bytes, or what is wrong. (frame.c) */
int roast__frame_check(size_t *size_bytes, struct roast_str data, roast_error *err);

/* Bytes that count as damage in front of the next whole frame behind the first byte; all
 * of data where there is none. */
size_t roast__frame_skip(struct roast_str data, uint64_t *effort_bytes);

/* For a file that grows: the size of the front of data that can be handed over. That is
 * whole frames without a gap, or everything before the next frame; 0 = wait for more
 * bytes. With `at_end` there are none at present: only then does a whole frame that
 * follows prove that a frame was cut. */
size_t roast__frame_scan(struct roast_str data, bool at_end, uint64_t *effort_bytes);

#endif
