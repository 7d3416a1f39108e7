/* SPDX-License-Identifier: BSD-3-Clause */
/* openmetrics.c - the numbers of a summary as OpenMetrics text:
 *
 *     # TYPE roast_event_rate_wall_hertz gauge
 *     # UNIT roast_event_rate_wall_hertz hertz
 *     # HELP roast_event_rate_wall_hertz event_rate_wall_khz: E / T / 1e3 (exact)
 *     roast_event_rate_wall_hertz 80
 *
 * All are gauges: they describe one run, and the next one begins anew. So readers of
 * Prometheus's older text format, to which # UNIT and # EOF are comments, read the same.
 * What is not known is left out. */
#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "export/export.h"
#include "roast/json_write.h"
#include "roast/row_writer.h"
#include "roast/version.h"

enum { NAME_BYTES = 128, MOST_VALUE_BYTES = 200 };

/* ---- units and names ------------------------------------------------------------- */

/* A unit of our lists as a base unit: base = value * times / per. `words` in names are
 * replaced by the base unit, which ends the name. */
static const struct unit {
    const char *name;
    const char *base; /* NULL: none */
    double times, per;
    const char *words[5];
} units[] = {
    {"", NULL, 1, 1, {NULL}},
    {"s", "seconds", 1, 1, {"seconds"}},
    {"us", "seconds", 1, 1e6, {"us"}},
    {"B", "bytes", 1, 1, {"bytes"}},
    {"bytes", "bytes", 1, 1, {"bytes"}},
    {"MiB", "bytes", 1048576, 1, {"mb"}},
    {"MB/s", "bytes_per_second", 1e6, 1, {"mbps"}},
    {"Gbit/s", "bytes_per_second", 1e9, 8, {"gbps"}},
    {"B/s", "bytes_per_second", 1, 1, {"bps"}},
    {"Hz", "hertz", 1, 1, {"per_second"}},
    {"kHz", "hertz", 1e3, 1, {"khz"}},
    {"Hz/core", "hertz", 1, 1, {"hz"}},
    {"%", "ratio", 1, 100, {"percentage", "percent", "pct", "ratio"}},
    {"ratio", "ratio", 1, 1, {"ratio"}},
    {"x", "ratio", 1, 1, {NULL}},
    {"W", "watts", 1, 1, {"watts"}},
};

static const struct unit *find_unit(const char *name)
{
    const struct unit *unit = units;

    while (unit < units + sizeof(units) / sizeof(units[0]) &&
           strcmp(unit->name, name) != 0)
        unit++;
    assert(unit < units + sizeof(units) / sizeof(units[0])); /* it needs a row */
    return unit;
}

/* Removes "_word" from a name. */
static void remove_word(char *name, const char *word)
{
    size_t size = strlen(word);

    for (char *at = name; (at = strstr(at, word)) != NULL; at++) {
        if (at > name && at[-1] == '_' && (at[size] == '_' || at[size] == '\0')) {
            memmove(at - 1, at + size, strlen(at + size) + 1);
            at--;
        }
    }
}

/* "roast_<group>_<name>_<unit>"; group and name may be "". A number of things is called
 * after them: other types of metrics end in _count. */
static void make_name(char out[NAME_BYTES], const char *group, const char *name,
                      const struct unit *unit)
{
    const char *joint = *group && *name ? "_" : "";

    (void)snprintf(out, NAME_BYTES, "roast_%s%s%s", group, joint, name);
    if (*group && strcmp(name, "count") == 0)
        remove_word(out, "count");
    for (size_t i = 0; unit->words[i]; i++)
        remove_word(out, unit->words[i]);
    if (unit->base) {
        size_t size = strlen(out);
        (void)snprintf(out + size, NAME_BYTES - size, "_%s", unit->base);
    }
}

/* ---- lines ----------------------------------------------------------------------- */

static void put(struct roast__export *in, const char *text)
{
    roast__export_text(in, text);
}

/* Help is our own text, in which only quotes may need an escape, in one of the formats. */
static void begin_family(struct roast__export *in, const char *name,
                         const struct unit *unit, const char *const help[3])
{
    put(in, "# TYPE ");
    put(in, name);
    put(in, " gauge\n");
    if (unit->base) {
        put(in, "# UNIT ");
        put(in, name);
        put(in, " ");
        put(in, unit->base);
        put(in, "\n");
    }
    put(in, "# HELP ");
    put(in, name);
    put(in, " ");
    for (int i = 0; i < 3; i++) {
        for (const char *at = help[i]; *at; at++)
            roast__export_put(in, *at == '"' ? "'" : at, 1);
    }
    put(in, "\n");
}

/* A number of a unit, and the end of its line. */
static void put_value(struct roast__export *in, const struct unit *unit, double value)
{
    char number[ROAST_JSON_NUMBER_BYTES];

    (void)roast_shortest_number(number, value * unit->times / unit->per);
    put(in, " ");
    put(in, number);
    put(in, "\n");
}

/* A family of one value without labels. */
static void put_only(struct roast__export *in, const char *name,
                     const struct unit *unit, const char *const help[3], double value)
{
    begin_family(in, name, unit, help);
    put(in, name);
    put_value(in, unit, value);
}

/* A label; `before` is "{" or ",". A value that is changed or cut gets a hash of the
 * whole value, so that different values stay different. */
static void put_label(struct roast__export *in, const char *before, const char *name,
                      struct roast_str value)
{
    char plain[MOST_VALUE_BYTES], out[2 * MOST_VALUE_BYTES + 16];
    size_t size = roast_printable(plain, roast_str_cut(value, MOST_VALUE_BYTES));
    size_t used = 0;

    for (size_t i = 0; i < size; i++) {
        if (plain[i] == '"' || plain[i] == '\\')
            out[used++] = '\\';
        out[used++] = plain[i];
    }
    if (!roast__str_equal((struct roast_str){plain, size}, value))
        used += (size_t)snprintf(out + used, sizeof(out) - used, "~%08x",
                                 (unsigned)roast_name_id(value));
    put(in, before);
    put(in, name);
    put(in, "=\"");
    roast__export_put(in, out, used);
    put(in, "\"");
}

/* ---- metrics --------------------------------------------------------------------- */

/* Two metrics of one quantity in different units are one here. */
void roast__export_values(struct roast__export *in,
                          const struct roast_metric_values *values)
{
    char names[ROAST_METRIC_COUNT][NAME_BYTES];

    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        enum roast_metric metric = (enum roast_metric)i;
        const struct roast_metric_info *info = roast_metric_info(metric);
        const struct unit *unit = find_unit(info->unit);
        int same = 0;
        char help[NAME_BYTES], kind[32];
        make_name(names[i], "", info->name, unit);
        while (strcmp(names[same], names[i]) != 0 || (same < i && !values->known[same]))
            same++;
        if (same < i || !values->known[i])
            continue;
        (void)snprintf(kind, sizeof(kind), " (%s)",
                       roast_metric_kind_name(roast_metric_kind(values, metric)));
        (void)snprintf(help, sizeof(help), "%s: ", info->name);
        put_only(in, names[i], unit, (const char *const[3]){help, info->formula, kind},
                 values->value[i]);
    }
}

/* ---- tables ---------------------------------------------------------------------- */

enum wanted { ALWAYS, BY_WORKER, BY_FILE };

/* The numbers of a table: a family for each column; or one, where columns are the values
 * of a label and have one unit. */
static const struct group {
    enum roast_table_id table;
    enum wanted wanted;
    const char *name;
    const char *of_row;    /* label of the first column; NULL: there is one row */
    const char *of_column; /* label of the others; NULL: families */
} groups[] = {
    {ROAST_TABLE_run_state, ALWAYS, "run", NULL, NULL},
    {ROAST_TABLE_wall_account, ALWAYS, "wall", NULL, "phase"},
    {ROAST_TABLE_budget, ALWAYS, "budget", NULL, "slice"},
    {ROAST_TABLE_budget_by_phase, ALWAYS, "phase_budget", "phase", "slice"},
    {ROAST_TABLE_ladder, ALWAYS, "ladder", NULL, "slice"},
    {ROAST_TABLE_chunk_split, ALWAYS, "chunk_split", NULL, "state"},
    {ROAST_TABLE_tail, ALWAYS, "tail", NULL, NULL},
    {ROAST_TABLE_ramp_up, ALWAYS, "ramp_up", NULL, NULL},
    {ROAST_TABLE_tasks_by_kind, ALWAYS, "tasks", "kind", NULL},
    {ROAST_TABLE_findings, ALWAYS, "finding", "finding", NULL},
    {ROAST_TABLE_losses, ALWAYS, "losses", "loss", NULL},
    {ROAST_TABLE_datasets, ALWAYS, "dataset", "dataset", NULL},
    {ROAST_TABLE_budget_by_dataset, ALWAYS, "dataset_budget", "dataset", "slice"},
    {ROAST_TABLE_per_worker, BY_WORKER, "worker", "worker", NULL},
    {ROAST_TABLE_budget_by_worker, BY_WORKER, "worker_budget", "worker", "slice"},
    {ROAST_TABLE_per_file, BY_FILE, "file", "file", NULL},
};

static bool is_quantity(const struct roast_table_column *column)
{
    return (column->type == ROAST_DTYPE_INT64 || column->type == ROAST_DTYPE_DOUBLE) &&
           strcmp(column->name, "pid") != 0;
}

/* The family that is written. */
struct family {
    const struct group *group;
    const roast_table *table;
    char name[NAME_BYTES];
};

/* A value with its labels. */
static void put_sample(struct roast__export *in, const struct family *family,
                       size_t row, size_t number)
{
    const struct group *group = family->group;
    const roast_table *table = family->table;
    const struct roast_table_column *column = roast_table_column(table, number);
    double value = roast_table_number(table, row, roast_table_col(table, number));

    if (!(value - value == 0)) /* not known, or not finite */
        return;
    put(in, family->name);
    if (group->of_row)
        put_label(in, "{", group->of_row,
                  roast_table_text(table, row, roast_table_col(table, 0)));
    if (group->of_column)
        put_label(in, group->of_row ? "," : "{", group->of_column,
                  roast_str_of(column->name));
    put(in, group->of_row || group->of_column ? "}" : "");
    put_value(in, find_unit(column->unit), value);
}

static size_t rows_of(const struct roast__export *in, const roast_table *table)
{
    size_t rows = roast_table_rows(table), most = in->options->most_rows;

    return most > 0 && most < rows ? most : rows;
}

static void put_families(struct roast__export *in, const struct group *group,
                         const roast_table *table)
{
    struct family family = {.group = group, .table = table};

    for (size_t i = 0; i < roast_table_width(table); i++) {
        const struct roast_table_column *column = roast_table_column(table, i);
        const struct unit *unit = find_unit(column->unit);
        char of[64];
        if (!is_quantity(column) || column->unknown == roast_table_rows(table))
            continue;
        make_name(family.name, group->name, column->name, unit);
        (void)snprintf(of, sizeof(of), "; of %s",
                       roast_table_description(group->table));
        begin_family(in, family.name, unit,
                     (const char *const[3]){column->text, of, ""});
        for (size_t row = 0; row < rows_of(in, table); row++)
            put_sample(in, &family, row, i);
    }
}

/* All columns in one family. */
static void put_family(struct roast__export *in, const struct group *group,
                       const roast_table *table)
{
    const struct unit *unit = find_unit("s");
    struct family family = {.group = group, .table = table};

    make_name(family.name, group->name, "", unit);
    begin_family(in, family.name, unit,
                 (const char *const[3]){roast_table_description(group->table), "", ""});
    for (size_t row = 0; row < rows_of(in, table); row++)
        for (size_t i = 0; i < roast_table_width(table); i++)
            if (is_quantity(roast_table_column(table, i)))
                put_sample(in, &family, row, i);
}

static void put_group(struct roast__export *in, const struct group *group)
{
    const roast_table *table = roast_summary_table(in->summary, group->table);
    bool wanted =
        group->wanted == ALWAYS ||
        (group->wanted == BY_WORKER ? in->options->by_worker : in->options->by_file);

    if (!wanted || roast_table_rows(table) == 0)
        return;
    if (group->of_column)
        put_family(in, group, table);
    else
        put_families(in, group, table);
}

/* ---- the run --------------------------------------------------------------------- */

static void put_note(struct roast__export *in, enum roast_note_group group,
                     const char *note, const char *label)
{
    char text[2 * MOST_VALUE_BYTES];

    if (roast_run_note(in->run, group, note, text, sizeof(text)) > 0)
        put_label(in, ",", label, roast_str_of(text));
}

static void put_user_label(void *context, struct roast_str name, struct roast_str text)
{
    struct roast__export *in = context;

    put(in, "roast_run_label");
    put_label(in, "{", "name", name);
    put_label(in, ",", "value", text);
    put(in, "} 1\n");
}

/* "roast_<name>_seconds 1763215323": since 1970. */
static void put_time(struct roast__export *in, const char *name, int64_t time_ns,
                     const char *help)
{
    const struct unit *unit = find_unit("s");
    char full[NAME_BYTES];

    if (time_ns <= 0)
        return;
    make_name(full, "run", name, unit);
    put_only(in, full, unit, (const char *const[3]){help, ", since 1970", ""},
             roast_epoch_seconds(time_ns));
}

static void put_run(struct roast__export *in)
{
    static const char *const packages[] = {"python", "coffea",      "uproot", "awkward",
                                           "dask",   "distributed", NULL};
    const roast_table *state = roast_summary_table(in->summary, ROAST_TABLE_run_state);
    struct roast_span span = roast_run_span(in->run);
    double planned = 0;

    begin_family(in, "roast_run_info", find_unit(""),
                 (const char *const[3]){"what ran, and with what", "", ""});
    put(in, "roast_run_info");
    put_label(in, "{", "state", roast_table_text(state, 0, ROAST_COL_run_state_state));
    put_note(in, ROAST_NOTES_run, "id", "run_id");
    put_note(in, ROAST_NOTES_run, "processor", "processor");
    put_note(in, ROAST_NOTES_run, "executor", "executor");
    put_label(in, ",", "roastcoffea", roast_str_of(ROAST_VERSION));
    for (size_t i = 0; packages[i]; i++) {
        char note[32];
        (void)snprintf(note, sizeof(note), "version.%s", packages[i]);
        put_note(in, ROAST_NOTES_provenance, note, packages[i]);
    }
    put(in, "} 1\n");
    put_time(in, "start_time", span.start_ns, "when the run began");
    put_time(in, "end_time", span.end_ns, "when the run ended");
    if (roast_run_fact(in->run, ROAST_FACT_planned_chunks, &planned))
        put_only(
            in, "roast_run_planned_chunks", find_unit(""),
            (const char *const[3]){"chunks to process, of all calls so far", "", ""},
            planned);
    if (roast_run_labels(in->run, (char[1]){0}, 1) == 0)
        return;
    begin_family(in, "roast_run_label", find_unit(""),
                 (const char *const[3]){"a label that the user gave", "", ""});
    roast_run_notes(in->run, ROAST_NOTES_label, put_user_label, in);
}

int roast__export_openmetrics(struct roast__export *in, roast_error *err)
{
    (void)err;
    put_run(in);
    roast__export_values(in, roast_summary_metrics(in->summary));
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        put_group(in, &groups[i]);
    put(in, "# EOF\n");
    return ROAST_OK;
}
