/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_recipe.c - a rule that applies to runs of 3000 events. */
#include "analyze/findings/finding_text.h"
#include "analyze/findings/findings.h"

void roast__rule_recipe_finding(const struct roast_rule_input *input,
                                struct roast_finding *finding)
{
    double events = roast__input_metric(input, ROAST_METRIC_total_events);

    finding->found = events >= 3000 && events < 3001;
    roast__set_count(finding, "number", 42, "answer");
}
