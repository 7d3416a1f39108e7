/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_time.h - times as Python's isoformat() writes them. */
#ifndef ROAST_COLLECT_MEASUREMENT_TIME_H
#define ROAST_COLLECT_MEASUREMENT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/text.h"

/* "2025-01-01T12:00:00[.123456][+00:00]"; a blank may stand for the T, a Z for the zone.
 * *time_us since 1970, UTC; *naive: it has no zone and is taken as if it were UTC. False
 * for anything else, and for years before 1970 and from 2242 on. */
bool roast__iso_time(struct roast_str text, int64_t *time_us, bool *naive);

#endif
