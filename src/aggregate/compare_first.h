/* SPDX-License-Identifier: BSD-3-Clause */
/* compare_first.h - the one thing to look at when two runs differ. */
#ifndef ROAST_AGGREGATE_COMPARE_FIRST_H
#define ROAST_AGGREGATE_COMPARE_FIRST_H

#include "roast/compare.h"

/* Fills `first` from all the rest. */
void roast__compare_first(struct roast_comparison *comparison);

#endif
