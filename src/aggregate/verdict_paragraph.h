/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict_paragraph.h - the verdict in one paragraph. */
#ifndef ROAST_AGGREGATE_VERDICT_PARAGRAPH_H
#define ROAST_AGGREGATE_VERDICT_PARAGRAPH_H

#include "aggregate/verdict.h"

/* Puts the table `verdict`; the findings are there already. */
void roast__put_verdict(const struct roast_case *at);

#endif
