/* SPDX-License-Identifier: BSD-3-Clause */
/* virtual_table.c - rows that SQLite reads without a copy.
 *
 * The virtual tables are eponymous: they have the name of their module and are not
 * stored in the file. */
#include "file/sqlite/virtual_table.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct table {
    sqlite3_vtab base;
    const struct roast_lazy_table *module;
};

static const struct roast_virtual_table *rows_of(const sqlite3_vtab *base)
{
    return &((const struct table *)base)->module->made;
}

struct scan {
    sqlite3_vtab_cursor base;
    size_t row;
};

/* ---- what SQLite calls ----------------------------------------------------------- */

static void put(struct roast_buf *out, const char *text)
{
    roast__buf_put(out, text, strlen(text));
}

/* Names are ours, so quoting is all they need. */
static void put_declaration(struct roast_buf *out,
                            const struct roast_virtual_table *rows)
{
    put(out, "CREATE TABLE x(");
    for (size_t i = 0; i < rows->columns; i++) {
        char number[24];
        (void)snprintf(number, sizeof(number), "c%zu", i);
        put(out, i > 0 ? ",\"" : "\"");
        put(out, rows->name ? rows->name(rows->context, i) : number);
        put(out, "\" ");
        put(out, rows->type ? rows->type(rows->context, i) : "");
    }
    roast__buf_put(out, ")", 2);
}

static int declare(sqlite3 *db, const struct roast_virtual_table *rows)
{
    struct roast_buf sql = {NULL, 0, 0, false};

    put_declaration(&sql, rows);
    int code = roast__buf_ok(&sql) ? sqlite3_declare_vtab(db, (const char *)sql.data)
                                   : SQLITE_NOMEM;
    roast__buf_release(&sql);
    return code;
}

static int on_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **why)
{
    struct roast_lazy_table *lazy = context;
    struct table *table = roast__alloc(sizeof(*table));

    (void)argc;
    (void)argv;
    if (!table)
        return SQLITE_NOMEM;
    int code = SQLITE_ERROR;
    table->module = lazy;
    if (lazy->make(&lazy->made, lazy->context, &lazy->failure) == ROAST_OK)
        code = declare(db, &lazy->made);
    else
        *why = sqlite3_mprintf("%s", lazy->failure.message);
    if (code != SQLITE_OK) {
        roast__free(table);
        return code;
    }
    *out = &table->base;
    return SQLITE_OK;
}

static int on_disconnect(sqlite3_vtab *base)
{
    roast__free((struct table *)base);
    return SQLITE_OK;
}

static int on_best_index(sqlite3_vtab *base, sqlite3_index_info *plan)
{
    plan->estimatedRows = (sqlite3_int64)rows_of(base)->rows;
    plan->estimatedCost = (double)plan->estimatedRows;
    return SQLITE_OK;
}

static int on_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    struct scan *scan = roast__alloc(sizeof(*scan));

    (void)base;
    if (!scan)
        return SQLITE_NOMEM;
    *out = &scan->base;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *base)
{
    roast__free((struct scan *)base);
    return SQLITE_OK;
}

static int on_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
                     sqlite3_value **argv)
{
    (void)plan;
    (void)text;
    (void)argc;
    (void)argv;
    ((struct scan *)base)->row = ((struct table *)base->pVtab)->module->first;
    return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *base)
{
    ((struct scan *)base)->row++;
    return SQLITE_OK;
}

static int on_eof(sqlite3_vtab_cursor *base)
{
    return ((struct scan *)base)->row >= rows_of(base->pVtab)->rows;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    const struct roast_virtual_table *rows = rows_of(base->pVtab);

    rows->cell(out, rows->context, ((struct scan *)base)->row, (size_t)column);
    return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((struct scan *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xConnect = on_connect,
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter,
    .xNext = on_next,
    .xEof = on_eof,
    .xColumn = on_column,
    .xRowid = on_rowid,
};

int roast__virtual_table_show(sqlite3 *db, const char *table,
                              struct roast_lazy_table *rows, roast_error *err)
{
    int code = sqlite3_create_module_v2(db, table, &module, rows, roast__free);

    return roast__sql_error(db, code, err);
}

/* ---- filling a table ------------------------------------------------------------- */

/* The rows exist already. */
static int keep_rows(struct roast_virtual_table *out, void *context, roast_error *err)
{
    (void)out;
    (void)context;
    (void)err;
    return ROAST_OK;
}

/* The first row gets id 0. SQLite numbers the others itself, which is much faster than
 * binding every id. */
static int insert_all(sqlite3 *db, const char *table, struct roast_lazy_table *lazy,
                      roast_error *err)
{
    size_t count = lazy->made.rows;
    char sql[192];

    lazy->made.rows = count > 0;
    (void)snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" SELECT 0,* FROM new_%s", table,
                   table);
    int status = roast__sql_run(db, sql, err);
    lazy->first = lazy->made.rows;
    lazy->made.rows = count;
    (void)snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" SELECT NULL,* FROM new_%s",
                   table, table);
    return status == ROAST_OK ? roast__sql_run(db, sql, err) : status;
}

int roast__virtual_table_insert(sqlite3 *db, const char *table,
                                const struct roast_virtual_table *rows,
                                roast_error *err)
{
    struct roast_lazy_table *lazy = roast__alloc(sizeof(*lazy));
    char name[64];

    if (!lazy)
        return roast_error_set(err, ROAST_NO_MEMORY, "rows of %s", table);
    *lazy = (struct roast_lazy_table){.make = keep_rows, .made = *rows};
    (void)snprintf(name, sizeof(name), "new_%s", table);
    int status = roast__virtual_table_show(db, name, lazy, err);
    if (status < 0)
        return status;
    status = insert_all(db, table, lazy, err);
    lazy->made.rows = 0; /* the context ends here, the module does not */
    return status;
}

/* ---- columns as rows ------------------------------------------------------------- */

static const struct roast_table_column *data_at(void *context, size_t column)
{
    return roast_table_column(context, column);
}

static const char *data_name(void *context, size_t column)
{
    return data_at(context, column)->name;
}

const char *roast__sql_type(enum roast_dtype type)
{
    switch (type) {
    case ROAST_DTYPE_INT64:
        return "INTEGER";
    case ROAST_DTYPE_DOUBLE:
        return "REAL";
    case ROAST_DTYPE_BOOL:
        return "BOOLEAN";
    case ROAST_DTYPE_TIME:
        return "TIME";
    case ROAST_DTYPE_TEXT:
        break;
    }
    return "TEXT";
}

static const char *data_type(void *context, size_t column)
{
    return roast__sql_type(data_at(context, column)->type);
}

static void put_word(sqlite3_context *out, const struct roast_table_column *data,
                     int32_t word)
{
    int64_t from = word > 0 ? data->ends[word - 1] : 0;

    sqlite3_result_text64(out, data->words + from,
                          (sqlite3_uint64)(data->ends[word] - from), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
}

static void data_cell(sqlite3_context *out, void *context, size_t row, size_t column)
{
    const struct roast_table_column *data = data_at(context, column);

    if (data->valid && !((data->valid[row >> 3] >> (row & 7)) & 1))
        return;
    switch (data->type) {
    case ROAST_DTYPE_INT64:
    case ROAST_DTYPE_TIME:
        sqlite3_result_int64(out, ((const int64_t *)data->values)[row]);
        break;
    case ROAST_DTYPE_DOUBLE:
        sqlite3_result_double(out, ((const double *)data->values)[row]);
        break;
    case ROAST_DTYPE_BOOL:
        sqlite3_result_int(out, ((const unsigned char *)data->values)[row]);
        break;
    case ROAST_DTYPE_TEXT:
        put_word(out, data, ((const int32_t *)data->values)[row]);
        break;
    }
}

struct roast_virtual_table roast__virtual_table_of(const roast_table *columns)
{
    return (struct roast_virtual_table){
        .rows = roast_table_rows(columns),
        .columns = roast_table_width(columns),
        .name = data_name,
        .type = data_type,
        .cell = data_cell,
        .context = (void *)columns, /* the functions above only read it */
    };
}
