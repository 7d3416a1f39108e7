/* SPDX-License-Identifier: BSD-3-Clause */
/* smaps.h - the memory of a process, shared pages apart.
 *
 * The kernel visits every page of the process to answer, so that a reading takes longer
 * the more memory it has: it is for rare samples. */
#ifndef ROAST_PROBE_LINUX_SMAPS_H
#define ROAST_PROBE_LINUX_SMAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/text.h"

struct roast_smaps {
    uint64_t pss_bytes; /* each page divided by the number of processes that have it */
    uint64_t uss_bytes; /* pages that no other process has */
};

/* From root/<pid>/smaps_rollup; proc_root NULL is "/proc". A process that has ended has
 * no memory. False when it cannot be read. */
bool roast__smaps_read(struct roast_smaps *smaps, const char *proc_root, uint64_t pid);

bool roast__smaps_parse(struct roast_smaps *smaps, struct roast_str text);

#endif
