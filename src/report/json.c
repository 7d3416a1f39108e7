/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - the whole report as JSON, for programs.
 *
 *     {"format", "writer", "run": {...}, "metrics": {name: {...}},
 *      "tables": {name: ...}, "notes": {group: {name: text}}}
 *
 * docs/cli.md has the keys. An unknown value is null, with its reason. A table is a list
 * of rows, even where Python has a dict: names may repeat. JSON documents of the user are
 * strings here: they may not be valid. */
#include "report/json_fields.h"

static void put_key(struct roast_json *json, const char *key)
{
    roast_json_key(json, roast_str_of(key));
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

static void put_run(struct roast_json *json, roast_run *run,
                    const struct roast_report_source *source)
{
    struct roast_heading_text text;
    struct roast_span span = roast_run_span(run);
    struct roast_str started = {NULL, 0};
    char time[ROAST_TIME_BYTES];

    roast_report_heading(&text, run, source->origin);
    roast__json_named_object(json, "run");
    roast__json_named_text(json, "processor", text.heading.name);
    roast__json_named_text(json, "executor", text.heading.executor);
    roast__json_named_text(json, "state", text.heading.state);
    roast__json_named_text(json, "first_error", text.heading.first_error);
    if (span.start_ns > 0)
        started = (struct roast_str){time, roast_format_time(time, span.start_ns)};
    roast__json_named_text(json, "started", started);
    put_time(json, "start_ns", span.start_ns);
    put_time(json, "end_ns", span.end_ns);
    put_key(json, "unfinished");
    roast_json_bool(json, span.end_ns == 0);
    roast__json_named_count(json, "cut_bytes", source->cut_bytes);
    roast__json_named_count(json, "damaged", source->damaged);
    roast_json_close(json, '}');
}

/* ---- metrics ------------------------------------------------------------------ */

static void put_metrics(struct roast_json *json, const struct roast_page_input *input)
{
    roast__json_named_object(json, "metrics");
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        enum roast_metric metric = (enum roast_metric)i;
        const struct roast_metric_info *info = roast_metric_info(metric);
        double value;
        bool known = roast__metric(&value, input, metric);
        const char *why = input->values->why[metric];
        enum roast_metric_kind kind = roast_metric_kind(input->values, metric);
        roast__json_named_object(json, info->name);
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
        roast__json_named_text(json, "unit", roast_str_of(info->unit));
        roast__json_named_text(json, "level", roast_str_of(info->level));
        if (known)
            roast__json_named_text(json, "kind",
                                   roast_str_of(roast_metric_kind_name(kind)));
        else
            roast__json_named_text(json, "why", roast_str_of(why ? why : "not known"));
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

/* The counts that are not 0; null: none. */
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

int roast_report_json(struct roast_page *out, const roast_summary *summary,
                      roast_run *run, const struct roast_report_source *source,
                      roast_error *err)
{
    static const struct roast_report_source in_memory = {0};
    struct roast_page_input input = {.values = roast_summary_metrics(summary)};
    struct roast_buf buf = {0};
    struct roast_json json = roast__json_begin(&buf, "roast_report_v1");

    put_run(&json, run, source ? source : &in_memory);
    put_metrics(&json, &input);
    roast__json_named_object(&json, "tables");
    for (int i = 0; i < ROAST_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        if (roast_table_key(id) && roast_summary_table(summary, id))
            put_table(&json, roast_summary_table(summary, id), id);
    }
    roast_json_close(&json, '}');
    roast__json_named_object(&json, "notes");
    for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
        if (i == ROAST_NOTES_call) /* `roast failed` has what it means */
            continue;
        roast__json_named_object(&json,
                                 roast_note_group_name((enum roast_note_group)i));
        roast_run_notes(run, (enum roast_note_group)i, put_note, &json);
        roast_json_close(&json, '}');
    }
    roast_json_close(&json, '}');
    return roast__json_finish(out, &json, &buf, err);
}
