/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.c - the lists of metrics and of their other names.
 *
 * Both are metric_defs.def and metric_aliases.def as tables; the formulas are in the
 * other files of this folder. */
#include "roast/aggregate.h"

static const struct roast_metric_info infos[] = {
#define M(id, level, unit, count, formula) {#id, #level, (unit), (count), (formula)},
#include "roast/metric_defs.def"
#undef M
};

static const struct roast_metric_alias aliases[] = {
#define A(alias, id, scale) {(alias), ROAST_METRIC_##id, (scale)},
#include "roast/metric_aliases.def"
#undef A
};

const struct roast_metric_info *roast_metric_info(enum roast_metric metric)
{
    return &infos[metric];
}

const struct roast_metric_alias *roast_metric_aliases(size_t *count)
{
    *count = sizeof(aliases) / sizeof(aliases[0]);
    return aliases;
}
