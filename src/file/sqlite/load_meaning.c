/* SPDX-License-Identifier: BSD-3-Clause */
/* load_meaning.c - what a run meant when it was saved: its summary, and plain tables as
 * columns. Neither needs an attempt to be loaded. */
#include "analyze/summary.h"
#include "file/runfile.h"
#include "file/sqlite/schema.h"

int roast__load_summary(roast_summary **out, sqlite3 *db, roast_error *err)
{
    struct roast_segment_reader in;
    struct roast_segment_part part = {.items = 0};
    roast_error why = {0};
    int status = roast__segment_open(&in, db, ROAST_SEGMENT_summary, err);

    *out = NULL;
    if (status == ROAST_OK)
        status = roast__segment_next(&in, &part, err);
    if (status > 0) {
        int read = part.items == 1 ? roast__summary_decode(out, part.content, &why)
                                   : ROAST_BAD_DATA;
        if (read == ROAST_NO_MEMORY)
            status = roast_error_set(err, read, "%s", why.message);
        else
            status = read == ROAST_OK;
    }
    roast__segment_close(&in);
    return status;
}

/* ---- tables ------------------------------------------------------------------------ */

static void put_cell(roast_table *to, int at, enum roast_dtype type, sqlite3_stmt *row,
                     int column)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return;
    switch (type) {
    case ROAST_DTYPE_INT64:
    case ROAST_DTYPE_TIME:
        roast__fill_int(to, at, sqlite3_column_int64(row, column));
        break;
    case ROAST_DTYPE_DOUBLE:
        roast__fill_number(to, at, sqlite3_column_double(row, column));
        break;
    case ROAST_DTYPE_BOOL:
        roast__fill_bool(to, at, sqlite3_column_int64(row, column) != 0);
        break;
    case ROAST_DTYPE_TEXT:
        roast__fill_text(to, at, roast__sql_text(row, column));
        break;
    }
}

static void put_row(roast_table *to, enum roast_table_id table,
                    const struct roast_checked *in)
{
    roast__table_row(to);
    for (size_t i = 0; i < roast__table_listed(table); i++) {
        struct roast_table_column data = roast__table_info(table, i);
        int column = roast__checked_column(in, data.name);
        if (column >= 0)
            put_cell(to, roast__table_first(table) + (int)i, data.type, in->select,
                     column);
    }
}

static int read_rows(roast_table **out, struct roast_checked *in,
                     enum roast_table_id table, roast_error *err)
{
    roast_table *to = roast__table_new(table, in->rows);
    int status = 1;

    while (status > 0 && (status = roast__checked_next(in, err)) > 0)
        put_row(to, table, in);
    if (status < 0 || in->lost > 0) {
        roast_table_free(to);
        return status;
    }
    *out = to;
    status = roast__table_finish(out, err);
    return status < 0 ? status : 1;
}

int roast__load_columns(roast_table **out, sqlite3 *db, enum roast_table_id table,
                        roast_error *err)
{
    const char *name = roast_table_name(table);
    struct roast_checked in;
    int status = roast__schema_has(db, name, err);

    if (status <= 0)
        return status;
    status = roast__checked_open(&in, db, name, err);
    if (status == ROAST_OK && in.rows <= roast__most_rows(in.select, in.left_bytes))
        status = read_rows(out, &in, table, err);
    roast__checked_close(&in);
    return status;
}
