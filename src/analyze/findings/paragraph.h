/* SPDX-License-Identifier: BSD-3-Clause */
/* paragraph.h - the verdict in one paragraph. */
#ifndef ROAST_ANALYZE_FINDINGS_PARAGRAPH_H
#define ROAST_ANALYZE_FINDINGS_PARAGRAPH_H

#include "analyze/findings/findings.h"

/* Puts the table `verdict`; the findings are there already. */
void roast__put_verdict(const struct roast_case *at);

#endif
