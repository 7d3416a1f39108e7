/* SPDX-License-Identifier: BSD-3-Clause */
/* user_sql.c - a SELECT on a run file, by a user.
 *
 * The connection is another one than the file is loaded with, and can do nothing but
 * read. `chunks` and `all_attempts` are temporary views of ours over the tables of the
 * file; any other table of columns.def that is no plain table there is a temporary view
 * over a virtual table, which loads the run when a query reads it. So nothing in the
 * file that is not a plain table is ever used. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "file/runfile.h"
#include "file/sqlite/save.h"
#include "file/sqlite/schema.h"
#include "file/sqlite/virtual_table.h"

enum {
    SHOWN_BYTES = 1024, /* of a cell that is no text */
    STEPS_PER_LOOK = 10000,
};

/* ---- tables that are not in the file --------------------------------------------- */

/* A table that is loaded when needed; the rows come first, so that one pointer serves
 * both. */
struct loaded_table {
    struct roast_lazy_table rows;
    roast_runfile *file;
    enum roast_table_id table;
};

static int make_table(struct roast_virtual_table *out, void *context, roast_error *err)
{
    struct loaded_table *loaded = context;
    roast_runfile *file = loaded->file;
    roast_table **columns = &file->tables[loaded->table];
    int status = ROAST_OK;

    if (!*columns)
        status = roast__runfile_columns(file, loaded->table, columns, &file->failure);
    if (status < 0)
        return roast_error_set(err, status, "%s", file->failure.message);
    *out = roast__virtual_table_of(*columns);
    return ROAST_OK;
}

static int add_loaded_table(roast_runfile *file, enum roast_table_id table,
                            roast_error *err)
{
    const char *name = roast_table_name(table);
    struct loaded_table *loaded = roast__alloc(sizeof(*loaded));
    char module[64];
    char view[192];

    if (!loaded)
        return roast_error_set(err, ROAST_NO_MEMORY, "the table %s", name);
    *loaded = (struct loaded_table){
        .rows = {.make = make_table, .context = loaded}, .file = file, .table = table};
    (void)snprintf(module, sizeof(module), "loaded_%s", name);
    (void)snprintf(view, sizeof(view),
                   "CREATE TEMP VIEW \"%s\" AS SELECT * FROM \"%s\"", name, module);
    int status = roast__virtual_table_show(file->user_db, module, &loaded->rows, err);
    return status == ROAST_OK ? roast__sql_run(file->user_db, view, err) : status;
}

/* Whether all tables that the views of chunks read are there: 1, 0. */
static int has_chunk_tables(sqlite3 *db, roast_error *err)
{
    int has = 1;

    for (size_t i = 0; has > 0 && roast__chunk_tables[i]; i++)
        has = roast__schema_has(db, roast__chunk_tables[i], err);
    return has;
}

static int add_tables(roast_runfile *file, roast_error *err)
{
    int has = has_chunk_tables(file->user_db, err);
    int status = has > 0 ? roast__schema_make_views(file->user_db, err) : has;

    for (int i = 0; status == ROAST_OK && i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id table = (enum roast_table_id)i;
        int plain = roast__schema_has(file->user_db, roast_table_name(table), err);
        bool shown = plain > 0 || (table == ROAST_TABLE_chunks && has > 0);
        status = plain < 0 ? plain
                 : shown   ? ROAST_OK
                           : add_loaded_table(file, table, err);
    }
    return status;
}

/* ---- the connection -------------------------------------------------------------- */

static int is_late(void *context)
{
    const roast_runfile *file = context;

    return file->sql_ends_ns != 0 && roast__clock_mono_ns() > file->sql_ends_ns;
}

static int connect(roast_runfile *file, roast_error *err)
{
    uint64_t budget; /* unused: a query has a limit of its own */
    int status;

    if (file->user_db)
        return ROAST_OK;
    if (file->header.live) {
        status = roast__sql_create(&file->user_db, NULL, ROAST_LARGE_PAGE_BYTES, err);
        if (status == ROAST_OK)
            status = roast__save_into(file->user_db, file->whole, false, err);
    } else {
        /* its whole path: the working directory may be another one by now */
        const char *path = sqlite3_db_filename(file->db, "main");
        status = roast__sql_open(&file->user_db, path && *path ? path : file->path,
                                 file->header.file_bytes, &budget, err);
    }
    if (status == ROAST_OK)
        status = add_tables(file, err);
    if (status == ROAST_OK) {
        roast__sql_only_read(file->user_db);
        sqlite3_progress_handler(file->user_db, STEPS_PER_LOOK, is_late, file);
    } else {
        roast__sql_close(file->user_db);
        file->user_db = NULL;
    }
    return status;
}

/* ---- the query ------------------------------------------------------------------- */

/* REFUSED: the query is wrong, with the error message of SQLite as one printable line. */
static int query_error(roast_runfile *file, int code, roast_error *err)
{
    char line[200];
    const char *text = sqlite3_errmsg(file->user_db);
    size_t size = 0;

    if (file->failure.code < 0)
        return roast_error_set(err, file->failure.code, "%s", file->failure.message);
    if ((code & 0xff) == SQLITE_INTERRUPT)
        return roast_error_set(err, ROAST_LIMIT, "the query takes longer than %g s",
                               (double)file->sql_limit_ns / 1e9);
    if ((code & 0xff) == SQLITE_AUTH)
        return roast_error_set(err, ROAST_REFUSED,
                               "only a SELECT is allowed: a query cannot change a run");
    if ((code & 0xff) != SQLITE_ERROR && (code & 0xff) != SQLITE_TOOBIG)
        return roast__sql_error(file->user_db, code, err);
    for (; text[size] && size + 1 < sizeof(line); size++)
        line[size] = (unsigned char)text[size] < ' ' ? ' ' : text[size];
    line[size] = '\0';
    return roast_error_set(err, ROAST_REFUSED, "%s", line);
}

/* Whether there is nothing but blanks and comments. */
static bool is_empty(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *more = NULL;
    bool empty = sqlite3_prepare_v2(db, sql, -1, &more, NULL) == SQLITE_OK && !more;

    (void)sqlite3_finalize(more);
    return empty;
}

static int prepare(sqlite3_stmt **out, roast_runfile *file, const char *query,
                   roast_error *err)
{
    const char *tail = NULL;
    int code = sqlite3_prepare_v2(file->user_db, query, -1, out, &tail);

    if (code != SQLITE_OK)
        return query_error(file, code, err);
    if (!*out || sqlite3_column_count(*out) == 0 || !sqlite3_stmt_readonly(*out))
        return roast_error_set(err, ROAST_REFUSED, "a SELECT is wanted");
    if (!is_empty(file->user_db, tail))
        return roast_error_set(err, ROAST_REFUSED, "one SELECT at a time");
    return ROAST_OK;
}

/* ---- its rows -------------------------------------------------------------------- */

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

/* Bytes that are not text are shown as x'...', at most SHOWN_BYTES of them. */
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
    roast__free(row.names);
    roast__free(row.cells);
    roast__buf_release(&row.shown);
    return status;
}

void roast_runfile_limit_sql(roast_runfile *file, double seconds)
{
    static const double longest_s = 1e9;

    roast__runfile_lock(file);
    file->sql_limit_ns = (int64_t)((seconds < longest_s ? seconds : longest_s) * 1e9);
    roast__runfile_unlock(file);
}

int roast_runfile_sql(roast_runfile *file, const char *query, roast_sql_visitor *row,
                      void *context, roast_error *err)
{
    sqlite3_stmt *select = NULL;

    roast__runfile_lock(file);
    file->failure = (roast_error){0};
    int status = connect(file, err);
    file->sql_ends_ns = file->sql_limit_ns > 0
                            ? roast__sat_add(roast__clock_mono_ns(), file->sql_limit_ns)
                            : 0;
    if (status == ROAST_OK)
        status = prepare(&select, file, query, err);
    if (status == ROAST_OK)
        status = visit(file, select, row, context, err);
    (void)sqlite3_finalize(select);
    roast__runfile_unlock(file);
    return status;
}
