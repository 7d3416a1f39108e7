/* SPDX-License-Identifier: BSD-3-Clause */
/* activities.h - what Dask adds up by itself, each in one line. */
#ifndef ROAST_TESTS_ANALYZE_ACTIVITIES_H
#define ROAST_TESTS_ANALYZE_ACTIVITIES_H

#include "cluster.h"

static inline void count_activity(roast_run *run, const char *context,
                                  const char *prefix, const char *name,
                                  const char *unit, double value)
{
    const struct roast_activity activity = {
        .context = roast_str_of(context),
        .prefix = prefix ? roast_str_of(prefix) : (struct roast_str){NULL, 0},
        .activity = roast_str_of(name),
        .unit = roast_str_of(unit),
        .value = value,
    };
    assert_int_equal(roast_run_set_activity(run, &activity, NULL), ROAST_OK);
}

static inline void count_seconds(roast_run *run, const char *prefix, const char *name,
                                 double value)
{
    count_activity(run, "execute", prefix, name, "seconds", value);
}

#endif
