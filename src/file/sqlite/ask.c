/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.c - a SELECT on a run file, by a user.
 *
 * The connection is another one than the file is loaded with, and can do nothing but
 * read. Tables that are not in the file are made when a query names them. The view
 * `chunks` of the file has most columns of that table and needs no attempt to be loaded:
 * only a query for the others gets the whole table in its place. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "file/runfile.h"
#include "file/sqlite/rowset.h"
#include "file/sqlite/save.h"

enum { SHOWN_BYTES = 1024 }; /* of a cell that is no text */

/* ---- tables that are not in the file ----------------------------------------------- */

/* One of them; the rows come first, so that one pointer serves both. */
struct asked_table {
    struct roast_lazy_rows rows;
    roast_runfile *file;
    enum roast_table_id table;
};

static int make_table(struct roast_rowset *out, void *context, roast_error *err)
{
    struct asked_table *asked = context;
    roast_runfile *file = asked->file;
    roast_table **columns = &file->tables[asked->table];
    int status = ROAST_OK;

    if (!*columns)
        status = roast__runfile_columns(file, asked->table, columns, &file->failure);
    if (status < 0)
        return roast_error_set(err, status, "%s", file->failure.message);
    *out = roast__rowset_of_columns(*columns);
    return ROAST_OK;
}

static int show_table(roast_runfile *file, enum roast_table_id table, const char *name,
                      roast_error *err)
{
    struct asked_table *asked = roast__alloc(sizeof(*asked));

    if (!asked)
        return roast_error_set(err, ROAST_NO_MEMORY, "the table %s", name);
    *asked = (struct asked_table){
        .rows = {.make = make_table, .context = asked}, .file = file, .table = table};
    return roast__rowset_show(file->asked, name, &asked->rows, err);
}

static int show_tables(roast_runfile *file, roast_error *err)
{
    int status = show_table(file, ROAST_TABLE_chunks, "whole_chunks", err);

    for (int i = 0; status == ROAST_OK && i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id table = (enum roast_table_id)i;
        status = show_table(file, table, roast_table_name(table), err);
    }
    return status;
}

/* ---- the connection ---------------------------------------------------------------- */

static int connect(roast_runfile *file, roast_error *err)
{
    uint64_t budget; /* nobody looks at it: a user may ask for as much as he likes */
    int status;

    if (file->asked)
        return ROAST_OK;
    if (file->look.live) {
        status = roast__sql_create(&file->asked, NULL, ROAST_LARGE_PAGE_BYTES, err);
        if (status == ROAST_OK)
            status = roast__save_into(file->asked, file->whole, err);
    } else {
        /* its whole path: the working directory may be another one by now */
        const char *path = sqlite3_db_filename(file->db, "main");
        status = roast__sql_open(&file->asked, path && *path ? path : file->path,
                                 file->look.file_bytes, &budget, err);
    }
    if (file->asked)
        roast__sql_only_read(file->asked);
    if (status == ROAST_OK)
        status = show_tables(file, err);
    if (status < 0) {
        roast__sql_close(file->asked);
        file->asked = NULL;
    }
    return status;
}

/* What users may not do. */
static int change(sqlite3 *db, const char *sql)
{
    (void)sqlite3_set_authorizer(db, NULL, NULL);
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    roast__sql_only_read(db);
    return code;
}

/* From now on `chunks` is the whole table. */
static int widen_chunks(sqlite3 *db)
{
    return change(
        db, "CREATE TEMP VIEW IF NOT EXISTS chunks AS SELECT * FROM whole_chunks");
}

/* The next query finds `chunks` as this one did, with what only the view has. */
static void narrow_chunks(sqlite3 *db)
{
    (void)change(db, "DROP VIEW IF EXISTS temp.chunks");
}

/* ---- the query --------------------------------------------------------------------- */

/* What SQLite says of a query, in one line without anything odd. */
static int query_error(roast_runfile *file, int code, roast_error *err)
{
    char line[200];
    const char *text = sqlite3_errmsg(file->asked);
    size_t size = 0;

    if (file->failure.code < 0)
        return roast_error_set(err, file->failure.code, "%s", file->failure.message);
    if ((code & 0xff) == SQLITE_AUTH)
        return roast_error_set(err, ROAST_BAD_DATA,
                               "only a SELECT is allowed: a query cannot change a run");
    if ((code & 0xff) != SQLITE_ERROR && (code & 0xff) != SQLITE_TOOBIG)
        return roast__sql_error(file->asked, code, err);
    for (; text[size] && size + 1 < sizeof(line); size++)
        line[size] = (unsigned char)text[size] < ' ' ? ' ' : text[size];
    line[size] = '\0';
    return roast_error_set(err, ROAST_BAD_DATA, "%s", line);
}

/* Whether there is nothing but blanks and comments. */
static bool is_empty(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *more = NULL;
    bool empty = sqlite3_prepare_v2(db, sql, -1, &more, NULL) == SQLITE_OK && !more;

    (void)sqlite3_finalize(more);
    return empty;
}

/* Whether a query gives all that a view of the file has: the last two columns. */
static bool is_whole_view(sqlite3_stmt *select)
{
    int count = select ? sqlite3_column_count(select) : 0;

    for (int i = 1; i < count; i++) {
        const char *last = sqlite3_column_name(select, i);
        const char *before = sqlite3_column_name(select, i - 1);
        if (last && before && strcmp(last, "row") == 0 &&
            strcmp(before, "error_type") == 0)
            return true;
    }
    return false;
}

/* SELECT * gives the columns of the table, not those that the view happens to have. */
static int prefer_table(sqlite3_stmt **select, sqlite3 *db, const char *query)
{
    sqlite3_stmt *wide = NULL;
    int code = widen_chunks(db);

    if (code != SQLITE_OK)
        return code;
    if (sqlite3_prepare_v2(db, query, -1, &wide, NULL) == SQLITE_OK) {
        (void)sqlite3_finalize(*select);
        *select = wide;
    } else
        narrow_chunks(db); /* it names what only the view has */
    return SQLITE_OK;
}

static int prepare(sqlite3_stmt **out, roast_runfile *file, const char *query,
                   roast_error *err)
{
    const char *tail = NULL;
    int code = sqlite3_prepare_v2(file->asked, query, -1, out, &tail);

    if (code == SQLITE_OK && is_whole_view(*out))
        code = prefer_table(out, file->asked, query);
    else if (code == SQLITE_ERROR && file->failure.code == 0) {
        code = widen_chunks(file->asked);
        if (code == SQLITE_OK)
            code = sqlite3_prepare_v2(file->asked, query, -1, out, &tail);
    }
    if (code != SQLITE_OK)
        return query_error(file, code, err);
    if (!*out || sqlite3_column_count(*out) == 0 || !sqlite3_stmt_readonly(*out))
        return roast_error_set(err, ROAST_BAD_DATA, "a SELECT is wanted");
    if (!is_empty(file->asked, tail))
        return roast_error_set(err, ROAST_BAD_DATA, "one SELECT at a time");
    return ROAST_OK;
}

/* ---- its rows ---------------------------------------------------------------------- */

/* A row for the visitor. Zeroed = empty; everything is owned. */
struct row {
    size_t count;
    const char **names; /* the names themselves are borrowed */
    struct roast_cell *cells;
    struct roast_buf shown; /* digits; room is made before pointing there */
};

/* A cell has no negative integers: one that no double holds is shown as its digits. */
static struct roast_cell integer(struct roast_buf *shown, int64_t value)
{
    static const int64_t least_exact = -(INT64_C(1) << 53);
    const char *text = (const char *)shown->data + shown->size_bytes;
    char digits[24];

    if (value >= 0)
        return (struct roast_cell){.type = ROAST_CELL_COUNT, .count = (uint64_t)value};
    if (value >= least_exact)
        return (struct roast_cell){
            .type = ROAST_CELL_NUMBER, .number = (double)value, .whole = true};
    int size = snprintf(digits, sizeof(digits), "%" PRId64, value);
    roast__buf_put(shown, digits, (size_t)size);
    return (struct roast_cell){.type = ROAST_CELL_TEXT, .text = {text, (size_t)size}};
}

/* What is no text is shown as x'...', as far as a reader may want it. */
static struct roast_cell bytes(struct roast_buf *shown, struct roast_str text)
{
    size_t from = shown->size_bytes;

    roast__buf_put(shown, "x'", 2);
    for (size_t i = 0; i < text.size_bytes && i < SHOWN_BYTES; i++) {
        char digits[3];
        (void)snprintf(digits, sizeof(digits), "%02x", (unsigned char)text.data[i]);
        roast__buf_put(shown, digits, 2);
    }
    if (text.size_bytes > SHOWN_BYTES)
        roast__buf_put(shown, "...", 3);
    roast__buf_put(shown, "'", 1);
    return (struct roast_cell){
        .type = ROAST_CELL_TEXT,
        .text = {(const char *)shown->data + from, shown->size_bytes - from}};
}

static struct roast_cell cell_of(struct row *row, sqlite3_stmt *select, int column)
{
    const char *declared = sqlite3_column_decltype(select, column);

    switch (sqlite3_column_type(select, column)) {
    case SQLITE_INTEGER:
        if (declared && strcmp(declared, "BOOLEAN") == 0)
            return (struct roast_cell){.type = ROAST_CELL_BOOL,
                                       .count =
                                           sqlite3_column_int64(select, column) != 0};
        return integer(&row->shown, sqlite3_column_int64(select, column));
    case SQLITE_FLOAT:
        return (struct roast_cell){.type = ROAST_CELL_NUMBER,
                                   .number = sqlite3_column_double(select, column)};
    case SQLITE_TEXT:
        return (struct roast_cell){.type = ROAST_CELL_TEXT,
                                   .text = roast__sql_text(select, column)};
    case SQLITE_BLOB:
        return bytes(&row->shown, roast__sql_text(select, column));
    default:
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    }
}

static int open_row(struct row *row, sqlite3_stmt *select, roast_error *err)
{
    row->count = (size_t)sqlite3_column_count(select);
    row->names = roast__alloc(row->count * sizeof(*row->names));
    row->cells = roast__alloc(row->count * sizeof(*row->cells));
    /* cells point into it: it must not move */
    roast__buf_reserve(&row->shown, row->count * (2 * SHOWN_BYTES + 8));
    if (!row->names || !row->cells || !roast__buf_ok(&row->shown))
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu columns", row->count);
    for (size_t i = 0; i < row->count; i++) {
        const char *name = sqlite3_column_name(select, (int)i);
        row->names[i] = name ? name : "";
    }
    return ROAST_OK;
}

static void close_row(struct row *row)
{
    roast__free(row->names);
    roast__free(row->cells);
    roast__buf_release(&row->shown);
}

static int visit(roast_runfile *file, sqlite3_stmt *select, roast_sql_visitor *visitor,
                 void *context, roast_error *err)
{
    struct row row = {0};
    int status = open_row(&row, select, err);
    bool more = status == ROAST_OK && visitor(context, row.names, NULL, row.count);
    int code = SQLITE_DONE;

    while (more && (code = sqlite3_step(select)) == SQLITE_ROW) {
        roast__buf_clear(&row.shown);
        for (size_t i = 0; i < row.count; i++)
            row.cells[i] = cell_of(&row, select, (int)i);
        more = visitor(context, row.names, row.cells, row.count);
    }
    if (status == ROAST_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = query_error(file, code, err);
    close_row(&row);
    return status;
}

int roast_runfile_sql(roast_runfile *file, const char *query, roast_sql_visitor *row,
                      void *context, roast_error *err)
{
    sqlite3_stmt *select = NULL;

    roast__runfile_lock(file);
    file->failure = (roast_error){0};
    int status = connect(file, err);
    if (status == ROAST_OK)
        status = prepare(&select, file, query, err);
    if (status == ROAST_OK)
        status = visit(file, select, row, context, err);
    (void)sqlite3_finalize(select);
    if (file->asked)
        narrow_chunks(file->asked);
    roast__runfile_unlock(file);
    return status;
}
