/* SPDX-License-Identifier: BSD-3-Clause */
/* derived.h - why metrics are absent. */
#ifndef ROAST_ANALYZE_DERIVED_H
#define ROAST_ANALYZE_DERIVED_H

#include "roast/analyze.h"

/* Sets the reason of every metric that is not known and has none. */
struct roast_study;
void roast__reasons_fill(const struct roast_study *study);

#endif
