/* SPDX-License-Identifier: BSD-3-Clause */
/* metric_rows.c - the tables of metrics, made from metric_rows.def.
 *
 * Labels are those of 0.1.2 where they are true: its "CPU time" is wall time inside
 * process(), and is called so here. NaN from a caller's dict is shown as absent. */
#include <math.h>
#include <stdio.h>

#include "report/page.h"

enum when_absent { WHEN_WHY, WHEN_DASH, WHEN_HIDE, WHEN_ZERO };

struct row_def {
    const char *label;
    const char *word; /* NULL: nothing beside the value */
    enum roast_report_table table;
    enum roast_metric metric;
    enum when_absent absent;
    enum roast_metric beside;
    bool more;
};

static const struct row_def row_defs[] = {
#define KEY false
#define MORE true
#define R(table, more, label, metric, absent) \
    B(table, more, label, metric, absent, NULL, metric)
#define B(table, more, label, metric, absent, word, beside) \
    {(label), \
     (word), \
     ROAST_REPORT_##table, \
     ROAST_METRIC_##metric, \
     WHEN_##absent, \
     ROAST_METRIC_##beside, \
     (more)},
#include "report/metric_rows.def"
#undef R
#undef B
#undef KEY
#undef MORE
};

static const char *const titles[] = {
#define T(id, title) (title),
#include "roast/report_tables.def"
#undef T
};

/* Units that are converted. */
static const struct {
    const char *unit;
    const char *shown;
    double scale;
} shown_units[] = {
    {"ratio", "%", 100},
    {"us", "s", 1e-6},
    {"kHz", "Hz", 1e3},
    {"MB/s", "B/s", 1e6},
    {"MiB", "B", 1024.0 * 1024.0}, /* one family of units on a screen */
};

size_t roast__format_metric(char out[ROAST_NUMBER_BYTES], enum roast_metric metric,
                            double value)
{
    const char *unit = roast_metric_info(metric)->unit;

    for (size_t i = 0; i < sizeof(shown_units) / sizeof(shown_units[0]); i++)
        if (strcmp(unit, shown_units[i].unit) == 0)
            return roast_format_number(out, value * shown_units[i].scale,
                                       shown_units[i].shown);
    return roast_format_number(out, value, unit);
}

static bool known(const struct roast_metric_values *values, enum roast_metric metric)
{
    return values->known[metric] && isfinite(values->value[metric]);
}

static bool positive(const struct roast_metric_values *values, enum roast_metric metric)
{
    return known(values, metric) && values->value[metric] > 0;
}

/* Without spans, the CPU time of all tasks is that of process() by our own clocks, and
 * other tasks are not known. */
static bool own_clocks(const struct roast_metric_values *values)
{
    if (!known(values, ROAST_METRIC_processor_cpu_time_seconds) ||
        !known(values, ROAST_METRIC_cpu_time_seconds) ||
        known(values, ROAST_METRIC_overhead_cpu_time_seconds))
        return false;
    double own = values->value[ROAST_METRIC_processor_cpu_time_seconds];
    double all = values->value[ROAST_METRIC_cpu_time_seconds];
    return fabs(own - all) <= 1e-9 * fabs(own); /* may be summed in another order */
}

const char *roast_report_title(enum roast_report_table table)
{
    return titles[table];
}

const char *roast_report_title_of(enum roast_report_table table,
                                  const struct roast_metric_values *values)
{
    if (table == ROAST_REPORT_FINE && own_clocks(values))
        return "Fine Metrics (own clocks)";
    return titles[table];
}

bool roast__is_command(const struct roast_metric_values *values)
{
    return known(values, ROAST_METRIC_command_cpu_seconds);
}

static bool has_rows(enum roast_report_table table,
                     const struct roast_metric_values *values)
{
    if ((table == ROAST_REPORT_COMMAND) != roast__is_command(values))
        return false;
    if (table == ROAST_REPORT_FINE)
        return known(values, ROAST_METRIC_processor_cpu_time_seconds) ||
               known(values, ROAST_METRIC_cpu_time_seconds); /* spans alone */
    if (table == ROAST_REPORT_CHUNKS)
        return positive(values, ROAST_METRIC_num_attempts) ||
               positive(values, ROAST_METRIC_num_successful_chunks) ||
               positive(values, ROAST_METRIC_num_failed_chunks) ||
               (!known(values, ROAST_METRIC_num_attempts) && /* a dict of 0.1.2 */
                positive(values, ROAST_METRIC_num_chunks));
    return true;
}

/* Whether the CPU time is that of process() alone. */
static bool are_of_process(const struct roast_metric_values *values)
{
    if (!own_clocks(values) || !known(values, ROAST_METRIC_cpu_seconds))
        return own_clocks(values);
    double inside = values->value[ROAST_METRIC_cpu_seconds];
    double all = values->value[ROAST_METRIC_cpu_time_seconds];
    return fabs(inside - all) <= 1e-9 * fabs(all);
}

static bool is_shown(const struct row_def *def,
                     const struct roast_metric_values *values)
{
    /* Parts of the time in process() are shown below it; those of whole tasks beside
     * it under their own name. */
    bool part = def->label[0] == ' ';
    if ((def->metric == ROAST_METRIC_cpu_efficiency_fine ||
         def->metric == ROAST_METRIC_io_wait_share) &&
        part != are_of_process(values))
        return false;
    if (def->table == ROAST_REPORT_FINE && own_clocks(values) &&
        (def->metric == ROAST_METRIC_cpu_time_seconds ||
         def->metric == ROAST_METRIC_io_time_seconds))
        return false;
    if (def->absent == WHEN_ZERO)
        return known(values, def->metric) && values->value[def->metric] != 0;
    return def->absent != WHEN_HIDE || known(values, def->metric);
}

static void fill_value(struct roast_row *row, const struct row_def *def,
                       const struct roast_metric_values *values)
{
    const char *why = def->absent == WHEN_WHY ? values->why[def->metric] : NULL;
    char number[ROAST_NUMBER_BYTES] = "-";
    char beside[ROAST_NUMBER_BYTES] = "";

    if (!known(values, def->metric) && why) {
        size_t room = sizeof(row->value) - sizeof("- ()");
        struct roast_str reason = roast_str_cut(roast_str_of(why), room);
        (void)snprintf(row->value, sizeof(row->value), "- (%.*s)",
                       (int)reason.size_bytes, reason.data);
        return;
    }
    if (known(values, def->metric)) {
        (void)roast__format_metric(number, def->metric, values->value[def->metric]);
        if (def->word && known(values, def->beside))
            (void)roast__format_metric(beside, def->beside, values->value[def->beside]);
    }
    if (*beside)
        (void)snprintf(row->value, sizeof(row->value), "%s (%s%s)", number, def->word,
                       beside);
    else
        (void)snprintf(row->value, sizeof(row->value), "%s", number);
}

size_t roast_report_rows(struct roast_row out[ROAST_REPORT_MAX_ROWS],
                         enum roast_report_table table,
                         const struct roast_metric_values *values)
{
    size_t count = 0;

    if (!has_rows(table, values))
        return 0;
    for (size_t i = 0; i < sizeof(row_defs) / sizeof(row_defs[0]); i++)
        if (row_defs[i].table == table && is_shown(&row_defs[i], values) &&
            count < ROAST_REPORT_MAX_ROWS) {
            struct roast_row *row = &out[count++];
            const struct row_def *def = &row_defs[i];
            row->absent = !known(values, def->metric);
            row->more = def->more;
            (void)snprintf(row->label, sizeof(row->label), "%s", def->label);
            fill_value(row, def, values);
        }
    return count;
}
