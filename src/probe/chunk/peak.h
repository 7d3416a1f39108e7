/* SPDX-License-Identifier: BSD-3-Clause */
/* peak.h - samples memory while chunks run. */
#ifndef ROAST_PROBE_CHUNK_PEAK_H
#define ROAST_PROBE_CHUNK_PEAK_H

#include <stdbool.h>

/* Makes sure that the sampler runs; it ends by itself a second after the last chunk.
 * Costs one atomic load when it runs already. False when no thread can be started, which
 * is not tried again in this process. */
bool roast__peak_watch(void);

#endif
