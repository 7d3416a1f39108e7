/* SPDX-License-Identifier: BSD-3-Clause */
/* metric_name.c - metrics by the names that users give. */
#include "metric_name.h"

#include <string.h>

#include "cmd.h"

int metric_named(const char *name, double *per)
{
    const char *names[ROAST_METRIC_COUNT];
    size_t count = 0;
    const struct roast_metric_alias *aliases = roast_metric_aliases(&count);

    if (per)
        *per = 1;
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        names[i] = roast_metric_info((enum roast_metric)i)->name;
        if (strcmp(names[i], name) == 0)
            return i;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(aliases[i].alias, name) != 0)
            continue;
        if (per)
            *per = aliases[i].per;
        return (int)aliases[i].metric;
    }
    (void)fail_unknown("metric", name, names, ROAST_METRIC_COUNT,
                       "roast metrics lists all");
    return -1;
}
