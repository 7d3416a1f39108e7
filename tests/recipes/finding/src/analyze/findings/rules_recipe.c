/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_recipe.c - a rule that always applies. */
#include "analyze/findings/findings.h"
#include "analyze/findings/text.h"

void roast__rule_recipe_finding(const struct roast_rule_input *at,
                                struct roast_finding *finding)
{
    (void)at;
    finding->found = true;
    roast__blank_count(finding, "number", 42, "answer");
}
