/* SPDX-License-Identifier: BSD-3-Clause */
/* wasted_time.h - how long attempts lived that came to nothing. */
#ifndef ROAST_ANALYZE_BUDGET_WASTED_TIME_H
#define ROAST_ANALYZE_BUDGET_WASTED_TIME_H

#include "run/run.h"

/* Per process the latest moment that one of its attempts knows, or at which it was
 * sampled; returns owned, NULL when out of memory. */
int64_t *roast__last_signs(const struct roast_run *run);

/* From the start of a lost attempt to the last sign of life of its process; NaN when
 * there is none: the time of its death is not known. */
double roast__lost_seconds(const struct roast_attempts *attempts, size_t row,
                           const int64_t *last_signs);

#endif
