/* SPDX-License-Identifier: BSD-3-Clause */
/* rss.h - resident memory of this process now.
 *
 * From /proc/self/statm: of all files that tell it, the only one whose cost does not
 * grow with the number of mappings. Newer kernels count per CPU and sum up lazily, so
 * the value may be off by some hundred KiB on machines with many cores. */
#ifndef ROAST_PROBE_LINUX_RSS_H
#define ROAST_PROBE_LINUX_RSS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/procfile.h"

bool roast__rss_read(struct roast_procfile *file, uint64_t *rss_bytes);

/* The second number of a statm file, in pages. */
bool roast__statm_parse(uint64_t *rss_pages, struct roast_str text);

#endif
