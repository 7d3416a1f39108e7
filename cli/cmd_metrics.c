/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_metrics.c - roast metrics: the definition of every number. */
#include <stdio.h>
#include <string.h>

#include "metric_name.h"
#include "out.h"

static void put_metric(int metric)
{
    const struct roast_metric_info *info = roast_metric_info((enum roast_metric)metric);
    size_t count = 0;
    const struct roast_metric_alias *aliases = roast_metric_aliases(&count);
    bool any = false;

    out_text("  ");
    out_bold(info->name);
    if (*info->unit)
        out_format(" [%s]", info->unit);
    out_format(", %s\n    %s\n", roast_metric_kind_name(info->kind), info->formula);
    for (size_t i = 0; i < count; i++) {
        if ((int)aliases[i].metric != metric)
            continue;
        out_format("%s%s", any ? ", " : "    also ", aliases[i].alias);
        if (aliases[i].per != 1)
            out_format(" (times %g)", 1 / aliases[i].per);
        any = true;
    }
    out_text(any ? "\n" : "");
}

static void put_all(void)
{
    const char *level = "";

    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        const struct roast_metric_info *info = roast_metric_info((enum roast_metric)i);
        if (strcmp(level, info->level) != 0) {
            out_text(*level ? "\n" : "");
            out_bold(info->level);
            out_text("\n");
        }
        level = info->level;
        put_metric(i);
    }
}

static void put_json(int metric)
{
    const struct roast_metric_info *info = roast_metric_info((enum roast_metric)metric);
    struct roast_json json = out_json();
    size_t count = 0;
    const struct roast_metric_alias *aliases = roast_metric_aliases(&count);

    roast_json_open(&json, '{');
    json_text(&json, "name", info->name);
    json_text(&json, "unit", info->unit);
    json_text(&json, "level", info->level);
    json_text(&json, "kind", roast_metric_kind_name(info->kind));
    json_text(&json, "meaning", info->formula);
    json_key(&json, "aliases");
    roast_json_open(&json, '{');
    for (size_t i = 0; i < count; i++)
        if ((int)aliases[i].metric == metric) {
            json_key(&json, aliases[i].alias);
            roast_json_number(&json, 1 / aliases[i].per);
        }
    roast_json_close(&json, '}');
    roast_json_close(&json, '}');
    out_text("\n");
}

static int metrics(const struct arguments *args)
{
    bool all = args->operand_count == 0;
    int one = all ? -1 : metric_named(args->operands[0], NULL);

    if (!all && one < 0)
        return CODE_USAGE;
    if (args_format(args) == ROAST_FORMAT_JSON)
        for (int i = all ? 0 : one; i < (all ? ROAST_METRIC_COUNT : one + 1); i++)
            put_json(i);
    else if (all)
        put_all();
    else
        put_metric(one);
    return CODE_OK;
}

static const struct option options[] = {FORMAT_OPTION("text|json"), {0}};

const struct command cmd_metrics = {
    .name = "metrics",
    .operands = "[NAME]",
    .summary = "what every number means: unit, formula, other names",
    .help = "T = wall time, E = events, B = bytes read, P = seconds inside process(),\n"
            "W = workers, N = threads offered. The kind (exact, sampled, estimated) is "
            "the\n"
            "best possible one; roast report -f json has that of a run.\n",
    .options = options,
    .max_operands = 1,
    .run = metrics,
};
