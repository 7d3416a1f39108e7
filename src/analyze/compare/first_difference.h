/* SPDX-License-Identifier: BSD-3-Clause */
/* first_difference.h - the one thing to look at when two runs differ. */
#ifndef ROAST_ANALYZE_COMPARE_FIRST_DIFFERENCE_H
#define ROAST_ANALYZE_COMPARE_FIRST_DIFFERENCE_H

#include "roast/compare.h"

/* Fills `first` from all the rest. */
void roast__compare_first(struct roast_comparison *comparison);

#endif
