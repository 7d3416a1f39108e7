/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.c - metric_defs.def and metric_aliases.def as tables. */
#include "roast/analyze.h"

static const struct roast_metric_info infos[] = {
#define M(id, level, unit, count, kind, formula, need, otherwise) \
    {#id, #level, (unit), (count), ROAST_##kind, (formula)},
#include "roast/metric_defs.def"
#undef M
};

static const struct roast_metric_alias aliases[] = {
#define A(alias, id, per) {(alias), ROAST_METRIC_##id, (per)},
#include "roast/metric_aliases.def"
#undef A
};

const struct roast_metric_info *roast_metric_info(enum roast_metric metric)
{
    return &infos[metric];
}

const char *roast_metric_kind_name(enum roast_metric_kind kind)
{
    static const char *const names[] = {
        [ROAST_EXACT] = "exact",
        [ROAST_SAMPLED] = "sampled",
        [ROAST_ESTIMATED] = "estimated",
    };

    return names[kind];
}

enum roast_metric_kind roast_metric_kind(const struct roast_metric_values *values,
                                         enum roast_metric metric)
{
    enum roast_metric_kind defined = infos[metric].kind;
    enum roast_metric_kind source = (enum roast_metric_kind)values->kind[metric];

    return source > defined ? source : defined;
}

const struct roast_metric_alias *roast_metric_aliases(size_t *count)
{
    *count = sizeof(aliases) / sizeof(aliases[0]);
    return aliases;
}
