/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - the whole report as JSON, for programs.
 *
 *     {"format", "writer", "run": {...}, "metrics": {name: {...}},
 *      "tables": {name: ...}, "notes": {group: {name: text}}}
 *
 * docs/cli.md has the keys. What is not known is null beside its reason. A table is a
 * list of rows, even where Python has a dict: names may come twice. Documents that
 * callers passed are texts here: they may not be valid JSON. */
#include "report/page.h"
#include "roast/json_write.h"
#include "roast/version.h"

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    roast__buf_put(context, bytes, size_bytes);
}

static void put_key(struct roast_json *json, const char *key)
{
    roast_json_key(json, roast_str_of(key));
}

static void put_text(struct roast_json *json, const char *key, struct roast_str text)
{
    put_key(json, key);
    roast_json_text(json, text);
}

/* ---- the run ------------------------------------------------------------------ */

static void put_time(struct roast_json *json, const char *key, int64_t ns)
{
    put_key(json, key);
    if (ns > 0)
        roast_json_integer(json, ns);
    else
        roast_json_null(json);
}

static void put_started(struct roast_json *json, int64_t start_ns)
{
    struct roast_str shown = {NULL, 0};
    char text[ROAST_TIME_BYTES];

    if (start_ns > 0)
        shown = (struct roast_str){text, roast_format_time(text, start_ns)};
    put_text(json, "started", shown);
}

static void put_run(struct roast_json *json, roast_run *run,
                    const struct roast_report_source *source)
{
    struct roast_heading_text text;
    struct roast_span span = roast_run_span(run);

    roast_report_heading(&text, run, source->origin);
    put_key(json, "run");
    roast_json_open(json, '{');
    put_text(json, "processor", text.heading.name);
    put_text(json, "executor", text.heading.executor);
    put_text(json, "state", text.heading.state);
    put_text(json, "first_error", text.heading.first_error);
    put_started(json, span.start_ns);
    put_time(json, "start_ns", span.start_ns);
    put_time(json, "end_ns", span.end_ns);
    put_key(json, "unfinished");
    roast_json_bool(json, span.end_ns == 0);
    put_key(json, "cut_bytes");
    roast_json_count(json, source->cut_bytes);
    put_key(json, "damaged");
    roast_json_count(json, source->damaged);
    roast_json_close(json, '}');
}

/* ---- metrics ------------------------------------------------------------------ */

static void put_metrics(struct roast_json *json, const struct roast_shown *shown)
{
    put_key(json, "metrics");
    roast_json_open(json, '{');
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        enum roast_metric metric = (enum roast_metric)i;
        const struct roast_metric_info *info = roast_metric_info(metric);
        double value;
        bool known = roast__metric(&value, shown, metric);
        const char *why = shown->values->why[metric];
        enum roast_metric_kind kind = roast_metric_kind(shown->values, metric);
        put_key(json, info->name);
        roast_json_open(json, '{');
        put_key(json, "value");
        if (known) {
            bool whole = value >= 0 && value < 9007199254740992.0 &&
                         value == (double)(uint64_t)value;
            if (info->is_count && whole)
                roast_json_count(json, (uint64_t)value);
            else
                roast_json_number(json, value);
        } else
            roast_json_null(json);
        put_text(json, "unit", roast_str_of(info->unit));
        put_text(json, "level", roast_str_of(info->level));
        if (known)
            put_text(json, "kind", roast_str_of(roast_metric_kind_name(kind)));
        else
            put_text(json, "why", roast_str_of(why ? why : "not known"));
        roast_json_close(json, '}');
    }
    roast_json_close(json, '}');
}

/* ---- tables ------------------------------------------------------------------- */

static void put_value(struct roast_json *json, const roast_table *table, size_t row,
                      size_t number)
{
    const struct roast_table_column *column = roast_table_column(table, number);
    struct roast_cell cell = roast_column_cell(column, row);
    int col = roast_table_col(table, number);

    if (cell.type != ROAST_CELL_ABSENT && column->is_list) {
        struct roast_str list = roast_table_text(table, row, col), item;
        roast_json_open(json, '[');
        while (roast_table_item(&item, &list))
            roast_json_text(json, item);
        roast_json_close(json, ']');
        return;
    }
    int64_t time_ns;
    if (column->type == ROAST_DTYPE_TIME && roast_table_int(&time_ns, table, row, col))
        roast_json_number(json, roast_epoch_seconds(time_ns));
    else
        roast_json_cell(json, &cell);
}

static void put_row(struct roast_json *json, const roast_table *table, size_t row)
{
    roast_json_open(json, '{');
    for (size_t i = 0; i < roast_table_width(table); i++) {
        put_key(json, roast_col_key(roast_table_col(table, i)));
        put_value(json, table, row, i);
    }
    roast_json_close(json, '}');
}

/* Those that were lost; null: none. */
static void put_losses(struct roast_json *json, const roast_table *table)
{
    bool any = false;

    for (size_t row = 0; row < roast_table_rows(table); row++) {
        if (!(roast_table_number(table, row, ROAST_COL_losses_count) > 0))
            continue;
        if (!any)
            roast_json_open(json, '{');
        any = true;
        roast_json_key(json, roast_table_text(table, row, ROAST_COL_losses_name));
        put_value(json, table, row, ROAST_COL_losses_count - ROAST_COL_losses_name);
    }
    if (any)
        roast_json_close(json, '}');
    else
        roast_json_null(json);
}

static void put_table(struct roast_json *json, const roast_table *table,
                      enum roast_table_id id)
{
    size_t rows = roast_table_rows(table);

    put_key(json, roast_table_key(id));
    switch (roast_table_shape(id)) {
    case ROAST_SHAPE_NONE:
        break;
    case ROAST_SHAPE_COUNTS:
        put_losses(json, table);
        break;
    case ROAST_SHAPE_SINGLE:
        if (rows > 0)
            put_row(json, table, 0);
        else
            roast_json_null(json);
        break;
    case ROAST_SHAPE_SCALAR:
        if (rows > 0)
            put_value(json, table, 0, 0);
        else
            roast_json_null(json);
        break;
    case ROAST_SHAPE_VALUES:
        roast_json_open(json, '[');
        for (size_t row = 0; row < rows; row++)
            put_value(json, table, row, 0);
        roast_json_close(json, ']');
        break;
    case ROAST_SHAPE_KEYED:
    case ROAST_SHAPE_LIST:
        roast_json_open(json, '[');
        for (size_t row = 0; row < rows; row++)
            put_row(json, table, row);
        roast_json_close(json, ']');
        break;
    }
}

/* ---- notes -------------------------------------------------------------------- */

static void put_note(void *context, struct roast_str name, struct roast_str text)
{
    roast_json_key(context, name);
    roast_json_text(context, text);
}

static void put_notes(struct roast_json *json, roast_run *run)
{
    put_key(json, "notes");
    roast_json_open(json, '{');
    for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
        put_key(json, roast_note_group_name((enum roast_note_group)i));
        roast_json_open(json, '{');
        roast_run_notes(run, (enum roast_note_group)i, put_note, json);
        roast_json_close(json, '}');
    }
    roast_json_close(json, '}');
}

int roast_report_json(struct roast_page *out, const roast_summary *summary,
                      roast_run *run, const struct roast_report_source *source,
                      roast_error *err)
{
    static const struct roast_report_source in_memory = {0};
    struct roast_shown shown = {.values = roast_summary_metrics(summary)};
    struct roast_buf buf = {0};
    struct roast_json json = {.put = put_bytes, .context = &buf};

    roast_json_open(&json, '{');
    put_text(&json, "format", roast_str_of("roast_report_v1"));
    put_text(&json, "writer", roast_str_of("roastcoffea " ROAST_VERSION));
    put_run(&json, run, source ? source : &in_memory);
    put_metrics(&json, &shown);
    put_key(&json, "tables");
    roast_json_open(&json, '{');
    for (int i = 0; i < ROAST_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        if (roast_table_key(id) && roast_summary_table(summary, id))
            put_table(&json, roast_summary_table(summary, id), id);
    }
    roast_json_close(&json, '}');
    put_notes(&json, run);
    roast_json_close(&json, '}');
    roast__buf_put(&buf, "\n", 1);
    return roast__page_finish(out, &buf, err);
}
