/* SPDX-License-Identifier: BSD-3-Clause */
/* first_difference.h - the most important difference of two runs. */
#ifndef ROAST_ANALYZE_COMPARE_FIRST_DIFFERENCE_H
#define ROAST_ANALYZE_COMPARE_FIRST_DIFFERENCE_H

#include "roast/compare.h"

/* Fills `first` from the other fields. */
void roast__compare_first(struct roast_comparison *comparison);

#endif
