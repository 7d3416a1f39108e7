/* SPDX-License-Identifier: BSD-3-Clause */
/* derived.h - what follows from other metrics alone, and why others are absent. */
#ifndef ROAST_AGGREGATE_DERIVED_H
#define ROAST_AGGREGATE_DERIVED_H

#include "roast/aggregate.h"

/* The rates of known workflow and worker metrics. */
void roast__derive_rates(struct roast_metric_values *values);

/* Gives every metric that is not known, and does not say why, its reason. */
struct roast_study;
void roast__reasons_fill(const struct roast_study *study);

#endif
