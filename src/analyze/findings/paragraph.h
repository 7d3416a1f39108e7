/* SPDX-License-Identifier: BSD-3-Clause */
/* paragraph.h - the findings in one paragraph. */
#ifndef ROAST_ANALYZE_FINDINGS_PARAGRAPH_H
#define ROAST_ANALYZE_FINDINGS_PARAGRAPH_H

#include "analyze/findings/findings.h"

/* Fills the table `verdict` from the table `findings`. */
void roast__put_paragraph(const struct roast_rule_input *at);

#endif
