/* SPDX-License-Identifier: BSD-3-Clause */
/* schema.c - the tables and views of a run file.
 *
 * All of them come from lists. What is stored is plain enough for any sqlite3 since
 * 3.26, and nothing in a file of a stranger is believed to be what its name says: a
 * table may turn out to be a view. */
#include "file/sqlite/schema.h"

#include <stdio.h>
#include <string.h>

#include "analyze/roles.h"
#include "file/sqlite/attempt_row.h"
#include "file/sqlite/checked.h"
#include "file/sqlite/rowset.h"
#include "roast/runfile.h"
#include "table/table.h"

struct table {
    const char *name;
    const char *columns;
};

static const struct table tables[] = {
#define T(name, columns) {#name, columns},
#include "file/sqlite/tables.def"
#undef T
};

enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]) };

static const struct {
    const char *name;
    const char *type;
} run_columns[ROAST_RUN_COLUMN_COUNT] = {
#define R(name, type, text) {#name, #type},
#include "file/sqlite/run_row.def"
#undef R
};

static const struct {
    const char *name;
    const char *value;
} views[] = {
#define V(name, value) {#name, value},
#include "file/sqlite/views.def"
#undef V
};

enum { VIEW_COUNT = sizeof(views) / sizeof(views[0]) };

_Static_assert(ROAST_ROLE_COUNTS == 1 && ROAST_ROLE_BARE == 2 &&
                   ROAST_ROLE_REPEAT == 3 && ROAST_ROLE_FAILED == 4 &&
                   ROAST_ROLE_LOST == 5 && ROAST_STATE_ROLE == 5 &&
                   ROAST_STATE_TRY == 8,
               "views.def has these numbers");

const char *roast__run_column_name(enum roast_run_column column)
{
    return run_columns[column].name;
}

bool roast__run_column_is_real(enum roast_run_column column)
{
    return strcmp(run_columns[column].type, "REAL") == 0;
}

bool roast__is_stored(enum roast_table_id table)
{
    switch (table) {
    case ROAST_TABLE_chunks:
    case ROAST_TABLE_tasks:
    case ROAST_TABLE_chunk_sections:
    case ROAST_TABLE_chunk_branches:
    case ROAST_TABLE_samples:
        return false;
    default:
        return true;
    }
}

/* ---- making tables ----------------------------------------------------------------- */

static void put(struct roast_buf *out, const char *text)
{
    roast__buf_put(out, text, strlen(text));
}

static void put_fixed_tables(struct roast_buf *out)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        put(out, "CREATE TABLE ");
        put(out, tables[i].name);
        put(out, "(");
        put(out, tables[i].columns);
        put(out, ");");
    }
}

static void put_run_table(struct roast_buf *out)
{
    put(out, "CREATE TABLE run(id INTEGER PRIMARY KEY");
    for (int i = 0; i < ROAST_RUN_COLUMN_COUNT; i++) {
        put(out, ",");
        put(out, run_columns[i].name);
        put(out, " ");
        put(out, run_columns[i].type);
    }
    put(out, ");");
}

static void put_attempts_table(struct roast_buf *out, uint64_t columns)
{
    put(out, "CREATE TABLE attempts(id INTEGER PRIMARY KEY");
    for (int i = ROAST_ROW_id + 1; i < ROAST_ROW_COUNT; i++) {
        if (!(columns >> i & 1))
            continue;
        put(out, ",");
        roast__row_put_name(out, (enum roast_row_column)i);
        put(out, " INTEGER");
    }
    put(out, ");");
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

/* ---- making views ------------------------------------------------------------------ */

/* Appends an expression, each {name} in it as the value of that column. */
static void put_expression(struct roast_buf *out, const char *text, uint64_t columns)
{
    for (const char *open; (open = strchr(text, '{')) != NULL;) {
        const char *close = strchr(open, '}');
        struct roast_str name = {open + 1, (size_t)(close - open - 1)};
        roast__buf_put(out, text, (size_t)(open - text));
        roast__row_put_value(out, (enum roast_row_column)roast__row_find(name),
                             columns);
        text = close + 1;
    }
    put(out, text);
}

static void put_name(struct roast_buf *out, const char *name)
{
    put(out, " AS \"");
    put(out, name);
    put(out, "\",");
}

static void put_listed_columns(struct roast_buf *out, size_t fixed, uint64_t columns)
{
    for (size_t i = 0; i < fixed; i++) {
        struct roast_table_column data = roast__table_info(ROAST_TABLE_chunks, i);
        for (size_t k = 0; k < VIEW_COUNT; k++) {
            if (strcmp(views[k].name, data.name) != 0)
                continue;
            put_expression(out, views[k].value, columns);
            put_name(out, data.name);
        }
    }
}

static void put_items(struct roast_buf *out, size_t fixed, uint64_t columns)
{
    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        struct roast_table_column data =
            roast__table_info(ROAST_TABLE_chunks, fixed + (size_t)i);
        roast__row_put_value(out, (enum roast_row_column)(ROAST_ROW_FIRST_ITEM + i),
                             columns);
        put(out, data.type == ROAST_DTYPE_DOUBLE ? "/1e9" : "");
        put_name(out, data.name);
    }
}

/* The raw nanoseconds behind what is shown in seconds. */
static void put_raw_columns(struct roast_buf *out, uint64_t columns)
{
    static const struct {
        enum roast_row_column column;
        const char *name;
    } raw[] = {{ROAST_ROW_duration_ns, "duration_ns"},
               {ROAST_ROW_cpu_ns, "cpu_ns"},
               {ROAST_ROW_task_ns, "task_ns"},
               {ROAST_ROW_task_cpu_ns, "task_cpu_ns"}};

    for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++) {
        roast__row_put_value(out, raw[i].column, columns);
        put_name(out, raw[i].name);
    }
    put(out, "se.text AS \"error_type\",a.id AS \"row\"");
}

/* The run comes first, and CROSS JOIN says that it stays there: it has one row. */
static void put_view(struct roast_buf *out, const char *name, const char *where,
                     uint64_t columns)
{
    size_t fixed = roast__table_listed(ROAST_TABLE_chunks) - ROAST_ITEM_COUNT;

    put(out, "CREATE VIEW ");
    put(out, name);
    put(out, " AS SELECT ");
    put_listed_columns(out, fixed, columns);
    put_items(out, fixed, columns);
    put_raw_columns(out, columns);
    put(out, " FROM run r CROSS JOIN attempts a"
             " LEFT JOIN processes p ON p.id=a.process"
             " LEFT JOIN strings sh ON sh.id=p.host"
             " LEFT JOIN sources s ON s.id=a.source"
             " LEFT JOIN strings sd ON sd.id=s.dataset"
             " LEFT JOIN strings sf ON sf.id=s.file"
             " LEFT JOIN strings st ON st.id=s.tree"
             " LEFT JOIN strings su ON su.id=s.uuid"
             " LEFT JOIN strings se ON se.id=");
    roast__row_put_value(out, ROAST_ROW_error_type, columns);
    put(out, where);
    put(out, ";");
}

/* Releases the statements. */
static int run_made(sqlite3 *db, struct roast_buf *sql, roast_error *err)
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
    put_run_table(&sql);
    put_fixed_tables(&sql);
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        if (roast__is_stored((enum roast_table_id)i))
            put_stored_table(&sql, (enum roast_table_id)i);
    }
    return run_made(db, &sql, err);
}

int roast__schema_make_attempts(sqlite3 *db, uint64_t columns, roast_error *err)
{
    struct roast_buf sql = {NULL, 0, 0, false};

    put_attempts_table(&sql, columns);
    put_view(&sql, "chunks", " WHERE ((a.state>>5)&7)=1", columns);
    put_view(&sql, "all_attempts", "", columns);
    return run_made(db, &sql, err);
}

/* ---- looking at those of strangers ------------------------------------------------- */

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

/* The next word, comma or bracket of a statement; 0 bytes: the end. Quotes are blanks:
 * no name of ours needs them. */
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

int roast__schema_sum(struct roast_buf *out, sqlite3 *db, roast_error *err)
{
    struct roast_buf row = {NULL, 0, 0, false};
    sqlite3_stmt *list = NULL;
    uint32_t sum = 0;
    int status = roast__sql_prepare(
        &list, db, "SELECT type,name,sql FROM sqlite_master ORDER BY name", err);

    while (status >= 0 && (status = roast__sql_step(list, err)) > 0) {
        (void)roast__sum_row(&row, list);
        sum = roast__sum_add(sum, &row);
    }
    roast__buf_put_fixed32(out, sum);
    if (status == 0 && (!roast__buf_ok(&row) || !roast__buf_ok(out)))
        status = roast_error_set(err, ROAST_NO_MEMORY, "a schema");
    roast__buf_release(&row);
    (void)sqlite3_finalize(list);
    return status;
}

static int require(sqlite3 *db, const char *table, roast_error *err)
{
    int has = roast__schema_has(db, table, err);

    if (has == 0)
        return roast_error_set(err, ROAST_BAD_DATA, "has no plain table %s", table);
    return has < 0 ? has : ROAST_OK;
}

int roast__schema_check(sqlite3 *db, roast_error *err)
{
    int status = require(db, "run", err);

    if (status == ROAST_OK)
        status = require(db, "attempts", err);
    for (size_t i = 0; status == ROAST_OK && i < TABLE_COUNT; i++)
        status = require(db, tables[i].name, err);
    return status;
}
