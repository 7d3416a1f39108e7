/* SPDX-License-Identifier: BSD-3-Clause */
/* schema.c - the tables and views of a run file.
 *
 * All of them come from lists. What is stored is plain enough for any sqlite3 since
 * 3.26. Files are untrusted: what is called a table there may be a view. */
#include "file/sqlite/schema.h"

#include <stdio.h>
#include <string.h>

#include "analyze/roles.h"
#include "base/buf.h"
#include "file/sqlite/virtual_table.h"
#include "roast/runfile.h"
#include "table/table.h"

static const struct {
    const char *name;
    const char *type;
} row_columns[] = {
#define R(name, type) {#name, #type},
#include "file/sqlite/chunk_rows.def"
#undef R
};

static const struct {
    const char *name;
    const char *value;
} view_columns[] = {
#define V(name, value) {#name, value},
#include "file/sqlite/chunk_view.def"
#undef V
};

/* The view has the columns of the table `chunks`, in the same order. */
enum {
#define V(name, value) VIEW_##name,
#include "file/sqlite/chunk_view.def"
#undef V
    VIEW_COUNT
};
#define V(name, value) \
    _Static_assert((int)VIEW_##name == (int)ROAST_COL_chunks_##name, \
                   "chunk_view.def: " #name);
#include "file/sqlite/chunk_view.def"
#undef V
_Static_assert((int)VIEW_COUNT == (int)ROAST_CHUNKS_COL_COUNT,
               "chunk_view.def has a row for every column of chunks");

_Static_assert(ROAST_ROLE_COUNTS == 1 && ROAST_ROLE_BARE == 2 &&
                   ROAST_ROLE_REPEAT == 3 && ROAST_ROLE_FAILED == 4 &&
                   ROAST_ROLE_LOST == 5 && ROAST_ROLE_CANCELLED == 6 &&
                   (int)ROAST_ROLE_COUNT <= (int)ROAST_CHUNK_RUNNING,
               "chunk_view.def has these numbers");

const char *const roast__chunk_tables[] = {"chunk_rows", "chunk_files", "chunk_workers",
                                           NULL};

/* ---- making them ----------------------------------------------------------------- */

static void put(struct roast_buf *out, const char *text)
{
    roast__buf_put(out, text, strlen(text));
}

static void put_chunk_tables(struct roast_buf *out)
{
    put(out, "CREATE TABLE chunk_rows(id INTEGER PRIMARY KEY");
    for (size_t i = 0; i < ROAST_CHUNK_ROW_FIRST_ITEM; i++) {
        put(out, ",");
        put(out, row_columns[i].name);
        put(out, " ");
        put(out, row_columns[i].type);
    }
    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        put(out, ",item_");
        put(out, roast_ladder_info((enum roast_ladder_item)i)->name);
        put(out, " INTEGER");
    }
    put(out, ");CREATE TABLE chunk_files(id INTEGER PRIMARY KEY,dataset TEXT,file TEXT,"
             "treename TEXT,uuid TEXT);"
             "CREATE TABLE chunk_workers(id INTEGER PRIMARY KEY,worker TEXT,host TEXT,"
             "pid INTEGER);");
}

static void put_stored_table(struct roast_buf *out, enum roast_table_id table)
{
    put(out, "CREATE TABLE ");
    put(out, roast_table_name(table));
    put(out, "(row INTEGER PRIMARY KEY");
    for (size_t i = 0; i < roast__table_listed(table); i++) {
        struct roast_table_column data = roast__table_info(table, i);
        put(out, ",\"");
        put(out, data.name);
        put(out, "\" ");
        put(out, roast__sql_type(data.type));
    }
    put(out, ");");
}

/* `more` follows the columns. */
static void put_view(struct roast_buf *out, const char *create, const char *name,
                     const char *more, const char *where)
{
    size_t fixed = roast__table_listed(ROAST_TABLE_chunks) - ROAST_ITEM_COUNT;

    put(out, create);
    put(out, name);
    put(out, " AS SELECT ");
    for (size_t i = 0; i < sizeof(view_columns) / sizeof(view_columns[0]); i++) {
        put(out, i > 0 ? "," : "");
        put(out, view_columns[i].value);
        put(out, " AS \"");
        put(out, view_columns[i].name);
        put(out, "\"");
    }
    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        struct roast_table_column data =
            roast__table_info(ROAST_TABLE_chunks, fixed + (size_t)i);
        put(out, ",r.item_");
        put(out, roast_ladder_info((enum roast_ladder_item)i)->name);
        put(out, data.type == ROAST_DTYPE_DOUBLE ? "/1e9 AS \"" : " AS \"");
        put(out, data.name);
        put(out, "\"");
    }
    put(out, more);
    put(out, " FROM chunk_rows r"
             " LEFT JOIN chunk_files f ON f.id=r.file"
             " LEFT JOIN chunk_workers w ON w.id=r.worker");
    put(out, where);
    put(out, ";");
}

static void put_views(struct roast_buf *out, const char *create)
{
    put_view(out, create, "chunks", "", " WHERE r.state=1");
    put_view(out, create, "all_attempts",
             ",r.error_type AS \"error_type\",r.id AS \"row\"", "");
}

/* Releases the statements. */
static int run_statements(sqlite3 *db, struct roast_buf *sql, roast_error *err)
{
    roast__buf_put(sql, "", 1);
    int status = roast__buf_ok(sql) ? roast__sql_run(db, (const char *)sql->data, err)
                                    : roast_error_set(err, ROAST_NO_MEMORY, "a schema");
    roast__buf_release(sql);
    return status;
}

int roast__schema_make(sqlite3 *db, roast_error *err)
{
    struct roast_buf sql = {NULL, 0, 0, false};
    char pragmas[96];

    (void)snprintf(pragmas, sizeof(pragmas),
                   "PRAGMA application_id=%d;PRAGMA user_version=%d;",
                   ROAST_APPLICATION_ID, ROAST_FILE_FORMAT);
    put(&sql, pragmas);
    put(&sql, "CREATE TABLE journal(block INTEGER PRIMARY KEY,data BLOB);"
              "CREATE TABLE summary(id INTEGER PRIMARY KEY,data BLOB);");
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        if (!roast_table_is_large((enum roast_table_id)i))
            put_stored_table(&sql, (enum roast_table_id)i);
    }
    put_chunk_tables(&sql);
    put_views(&sql, "CREATE VIEW ");
    return run_statements(db, &sql, err);
}

int roast__schema_make_views(sqlite3 *db, roast_error *err)
{
    struct roast_buf sql = {NULL, 0, 0, false};

    put_views(&sql, "CREATE TEMP VIEW ");
    return run_statements(db, &sql, err);
}

/* ---- checking those of untrusted files
 * --------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

static bool is_blank(char c)
{
    static const char blanks[] = {' ', '\t', '\n', '\r', '"'};

    return memchr(blanks, c, sizeof(blanks)) != NULL;
}

/* The next word, comma or bracket of a statement; 0 bytes: the end. Quotes are skipped:
 * none of our names needs them. */
static struct roast_str next_token(struct roast_str *sql)
{
    while (sql->size_bytes > 0 && is_blank(sql->data[0])) {
        sql->data++;
        sql->size_bytes--;
    }
    size_t size = sql->size_bytes > 0;
    if (size > 0 && is_letter(sql->data[0])) {
        while (size < sql->size_bytes && is_letter(sql->data[size]))
            size++;
    }
    struct roast_str token = {sql->data, size};
    sql->data += size;
    sql->size_bytes -= size;
    return token;
}

static bool is(struct roast_str token, const char *text)
{
    return token.size_bytes == strlen(text) &&
           sqlite3_strnicmp(token.data, text, (int)token.size_bytes) == 0;
}

static bool is_type(struct roast_str token)
{
    static const char *const types[] = {"INTEGER", "REAL", "TEXT",    "BLOB",
                                        "BOOLEAN", "TIME", "PRIMARY", "KEY"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (is(token, types[i]))
            return true;
    }
    return false;
}

/* A name and types, up to a comma (1) or the closing bracket (0); -1: anything else. */
static int skip_column(struct roast_str *sql)
{
    struct roast_str token = next_token(sql);

    if (token.size_bytes == 0 || !is_letter(token.data[0]))
        return -1;
    do
        token = next_token(sql);
    while (is_type(token));
    if (is(token, ","))
        return 1;
    return is(token, ")") ? 0 : -1;
}

static bool is_plain(struct roast_str sql)
{
    int more = 1;

    if (!sql.data || !is(next_token(&sql), "CREATE") || !is(next_token(&sql), "TABLE"))
        return false;
    (void)next_token(&sql); /* its name, by which it was found */
    if (!is(next_token(&sql), "("))
        return false;
    while (more > 0)
        more = skip_column(&sql);
    return more == 0 && next_token(&sql).size_bytes == 0;
}

int roast__schema_has(sqlite3 *db, const char *table, roast_error *err)
{
    sqlite3_stmt *find = NULL;
    int status = roast__sql_prepare(
        &find, db,
        "SELECT sql FROM sqlite_master WHERE name=?1 COLLATE NOCASE AND type='table'",
        err);

    if (status == ROAST_OK) {
        (void)sqlite3_bind_text(find, 1, table, -1, SQLITE_STATIC);
        status = roast__sql_step(find, err);
    }
    if (status > 0)
        status = is_plain(roast__sql_text(find, 0));
    (void)sqlite3_finalize(find);
    return status;
}
