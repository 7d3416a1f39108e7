/* SPDX-License-Identifier: BSD-3-Clause */
/* stretch.h - cuts bytes of a growing file into whole frames and into what is none.
 *
 * Pure: no file and no memory, so that a fuzzer can drive it. */
#ifndef ROAST_COLLECT_STRETCH_H
#define ROAST_COLLECT_STRETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast/text.h"

/* The size of the stretch at the front of data that can be handed over: frames without
 * a gap, or everything before the next frame. 0 = wait for more bytes. `at_end` says
 * that there are none as yet: only then can a frame be known as cut, by a whole one
 * that follows. *effort_bytes is how many bytes may be summed up in vain; when it is
 * used up, all of data is a stretch. */
size_t roast__stretch_size(struct roast_str data, bool at_end, uint64_t *effort_bytes);

#endif
