/* SPDX-License-Identifier: BSD-3-Clause */
/* metric_checks.h - asserts on the metrics of a summary and their reasons. */
#ifndef ROAST_TESTS_ANALYZE_METRIC_CHECKS_H
#define ROAST_TESTS_ANALYZE_METRIC_CHECKS_H

#include <math.h>

#include "roast/analyze.h"
#include "support.h"

#define assert_near(a, b) check_near((a), (b), __FILE__, __LINE__)
#define assert_metric(summary, id, value) \
    check_metric((summary), ROAST_METRIC_##id, (value), __FILE__, __LINE__)
#define assert_absent(summary, id) \
    check_absent((summary), ROAST_METRIC_##id, __FILE__, __LINE__)

static inline void check_near(double a, double b, const char *file, int line)
{
    if (fabs(a - b) <= 1e-9 * (1 + fabs(b)))
        return;
    print_error("%.17g is not %.17g\n", a, b);
    _fail(file, line);
}

static inline void check_metric(const roast_summary *summary, enum roast_metric metric,
                                double value, const char *file, int line)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    if (!values->known[metric]) {
        print_error("%s: %s\n", roast_metric_info(metric)->name, values->why[metric]);
        _fail(file, line);
    }
    assert_null(values->why[metric]);
    check_near(values->value[metric], value, file, line);
}

/* Returns the reason, which is never missing. */
static inline const char *check_absent(const roast_summary *summary,
                                       enum roast_metric metric, const char *file,
                                       int line)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    if (values->known[metric] || !values->why[metric]) {
        print_error("%s is known, or has no reason\n", roast_metric_info(metric)->name);
        _fail(file, line);
    }
    return values->why[metric];
}

#endif
