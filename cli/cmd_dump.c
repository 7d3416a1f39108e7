/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_dump.c - roast dump: every record of a run, or a table of it. */
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "roast/report.h"
#include "roast/view.h"
#include "source.h"

/* ---- records ------------------------------------------------------------------ */

static void put_chunk(const struct roast_chunk_list *list,
                      const struct roast_chunk_item *item)
{
    struct roast_str frame = {(const char *)list->frames + item->offset,
                              item->size_bytes};
    struct roast_json json = out_json();
    struct roast_value_sink sink = roast_json_sink(&json);
    roast_record rec;

    if (roast_record_decode(&rec, NULL, frame, NULL) < 0)
        return; /* impossible: libroast has just encoded it */
    roast_json_open(&json, '{');
    json_key(&json, "chunk_id");
    roast_json_count(&json, item->chunk_id);
    json_key(&json, "attempt");
    roast_json_count(&json, item->attempt);
    sink.wants_stored = true;
    (void)roast_record_visit(&rec, &sink, NULL); /* a damaged part is left out */
    roast_json_close(&json, '}');
    out_text("\n");
}

static int dump_records(struct source *source)
{
    struct roast_chunk_list list = {0};
    roast_error err = {0};
    roast_run *run = NULL;
    int code = source_run(source, true, &run);

    if (code == CODE_OK)
        source_note_state(source);
    if (code == CODE_OK && roast_run_chunks(run, &list, &err) < 0)
        code = fail_with(source->path, &err, NULL);
    for (size_t i = 0; i < list.count; i++)
        put_chunk(&list, &list.items[i]);
    roast_chunk_list_release(&list);
    return code;
}

/* ---- tables ------------------------------------------------------------------- */

static int dump_table(struct source *source, int id, enum roast_format format)
{
    roast_table *table = NULL;
    int code = source_table(source, (enum roast_table_id)id, &table);

    if (code != CODE_OK)
        return code;
    source_note_state(source);
    size_t count = roast_table_width(table);
    const char **names = need_memory(NULL, count * sizeof(*names));
    struct roast_cell *cells = need_memory(NULL, count * sizeof(*cells));
    char(*times)[ROAST_TIME_BYTES] = need_memory(NULL, count * sizeof(*times));
    for (size_t i = 0; i < count; i++)
        names[i] = roast_table_column(table, i)->name;
    roast_row_writer *rows = out_rows(format, names, count, 0);
    for (size_t row = 0; row < roast_table_rows(table); row++) {
        for (size_t i = 0; i < count; i++) {
            const struct roast_table_column *column = roast_table_column(table, i);
            cells[i] = roast_column_cell(column, row);
            if (format != ROAST_FORMAT_TEXT || column->type != ROAST_DTYPE_TIME ||
                cells[i].type != ROAST_CELL_COUNT)
                continue;
            size_t size = roast_format_time(times[i], (int64_t)cells[i].count);
            cells[i] =
                (struct roast_cell){.type = ROAST_CELL_TEXT, .text = {times[i], size}};
        }
        roast_row_writer_put(rows, cells);
    }
    out_rows_end(rows);
    free(names);
    free(cells);
    free(times);
    roast_table_free(table);
    return CODE_OK;
}

/* ---- the command -------------------------------------------------------------- */

static int dump(const struct arguments *args)
{
    const char *name = args->operand_count > 1 ? args->operands[1] : NULL;
    const char *format = args_value(args, "format");
    int table = name ? roast_table_find(name) : -1;
    struct source source = {0};
    const char *names[ROAST_RUN_TABLE_COUNT];

    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++)
        names[i] = roast_table_name((enum roast_table_id)i);
    if (name && table < 0)
        return fail_unknown("table", name, names, ROAST_RUN_TABLE_COUNT,
                            "roast help dump lists them");
    if (!name && format && strcmp(format, "json") != 0)
        return fail(CODE_USAGE, "dump", "records are JSON lines; give a table for %s",
                    format);
    int code = source_open(&source, args->operands[0]);
    if (code == CODE_OK)
        code = name ? dump_table(&source, table, args_format(args))
                    : dump_records(&source);
    source_close(&source);
    return code;
}

static const struct option options[] = {FORMAT_OPTION(ROW_FORMATS), {0}};

const struct command cmd_dump = {
    .name = "dump",
    .operands = "RUN [TABLE]",
    .summary = "every record of a run as JSON lines, or a table of it",
    .help =
        "Without TABLE: one JSON object per record, with the keys of chunk_metrics in\n"
        "Python and the numbers of the record as they were stored.\n"
        "Tables, and what one row is:\n"
#define T(name, key, shape, maker, needs, text) "  " #name ": " text "\n"
#define S(name, key, shape, text)
#include "roast/tables.def"
#undef T
#undef S
        "CSV and JSON have times as nanoseconds since 1970, UTC, and all digits.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = 2,
    .run = dump,
};
