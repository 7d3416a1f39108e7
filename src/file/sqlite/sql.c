/* SPDX-License-Identifier: BSD-3-Clause */
/* sql.c - SQLite as we use it: connections, statements, and its errors in our words.
 *
 * Files are named by URI, because only a URI can disable locking: locks often do not
 * work on shared file systems of clusters. */
#include "file/sqlite/sql.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum {
    CACHE_KIB = 16000,
    PROGRESS_STEPS = 1000,
    LEAST_CALLS = 20000, /* calls before a query is interrupted */
    BYTES_PER_CALL = 100,
    LEAST_VALUE_BYTES = 1 << 20,
};

/* ---- errors ---------------------------------------------------------------------- */

/* Whether a result code of SQLite means that the file is damaged. */
static bool is_damage(int code)
{
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_SCHEMA:
    case SQLITE_INTERRUPT: /* the file is crafted to take very long */
        return true;
    default:
        return false;
    }
}

/* SQLite does not know the reason of every failure; then errno has it. */
static int system_error(sqlite3 *db, int code, roast_error *err)
{
    int last = errno;
    int why = db ? sqlite3_system_errno(db) : 0;

    if ((code & 0xff) == SQLITE_FULL)
        why = ENOSPC;
    if (why == 0 && (code & 0xff) == SQLITE_IOERR)
        why = last;
    if (why == 0)
        return roast_error_set(err, ROAST_IO, "%s", sqlite3_errstr(code & 0xff));
    return roast_error_set(err, ROAST_IO, "%s", strerror(why));
}

int roast__sql_error(sqlite3 *db, int code, roast_error *err)
{
    if (code == SQLITE_OK)
        return ROAST_OK;
    if ((code & 0xff) == SQLITE_NOMEM)
        return roast_error_set(err, ROAST_NO_MEMORY, "memory for SQLite");
    if ((code & 0xff) == SQLITE_INTERRUPT)
        return roast_error_set(
            err, ROAST_BAD_DATA,
            "reading takes far too long for a file of this size: it may be damaged");
    if (is_damage(code))
        return roast_error_set(err, ROAST_BAD_DATA, "%s", sqlite3_errstr(code & 0xff));
    return system_error(db, code, err);
}

/* ---- connections ----------------------------------------------------------------- */

static bool is_plain(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '/' || c == '.' || c == '-' || c == '_';
}

/* A path as a URI; failure is the buffer's. */
static void put_uri(struct roast_buf *out, const char *path, const char *query)
{
    static const char digits[] = "0123456789abcdef";

    roast__buf_put(out, "file:", 5);
    if (path[0] == '/')
        roast__buf_put(out, "//", 2); /* no host, even if the path begins with // */
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        char escaped[3] = {'%', digits[c >> 4], digits[c & 15]};
        if (is_plain(c))
            roast__buf_put(out, path, 1);
        else
            roast__buf_put(out, escaped, sizeof(escaped));
    }
    roast__buf_put(out, query, strlen(query) + 1);
}

static int connect(sqlite3 **out, const char *path, const char *query, int flags,
                   roast_error *err)
{
    struct roast_buf uri = {NULL, 0, 0, false};
    int status = ROAST_OK;

    *out = NULL;
    put_uri(&uri, path, query);
    if (!roast__buf_ok(&uri)) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "a path");
        goto out;
    }
    int code = sqlite3_open_v2((const char *)uri.data, out,
                               flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) {
        status = roast__sql_error(*out, code, err);
        roast__sql_close(*out);
        *out = NULL;
    } else {
        (void)sqlite3_extended_result_codes(*out, 1);
    }
out:
    roast__buf_release(&uri);
    return status;
}

int roast__sql_create(sqlite3 **out, const char *path, int page_bytes, roast_error *err)
{
    const char *query = path ? "?nolock=1" : "?mode=memory";
    char pragmas[256];
    int status = connect(out, path ? path : "", query, SQLITE_OPEN_READWRITE, err);

    if (status < 0)
        return status;
    (void)snprintf(pragmas, sizeof(pragmas),
                   "PRAGMA page_size=%d;PRAGMA journal_mode=off;"
                   "PRAGMA synchronous=off;PRAGMA locking_mode=exclusive;"
                   "PRAGMA temp_store=memory;PRAGMA cache_size=-%d",
                   page_bytes, CACHE_KIB);
    status = roast__sql_run(*out, pragmas, err);
    if (status < 0) {
        roast__sql_close(*out);
        *out = NULL;
    }
    return status;
}

/* Nothing in a file needs more than this. */
static void limit(sqlite3 *db, uint64_t file_bytes)
{
    uint64_t value_bytes =
        file_bytes > LEAST_VALUE_BYTES ? file_bytes : LEAST_VALUE_BYTES;

    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH,
                        value_bytes < INT_MAX ? (int)value_bytes : INT_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    (void)sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 500);
    (void)sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 200);
    (void)sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 100);
    (void)sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 100000);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10000);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    (void)sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

static void defend(sqlite3 *db)
{
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, (int *)NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA /* since 3.31 */
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
#endif
}

static int spend(void *context)
{
    uint64_t *calls_left = context;

    if (*calls_left == 0)
        return 1;
    --*calls_left;
    return 0;
}

uint64_t roast__sql_budget(uint64_t file_bytes)
{
    return LEAST_CALLS + file_bytes / BYTES_PER_CALL;
}

int roast__sql_open(sqlite3 **out, const char *path, uint64_t file_bytes,
                    uint64_t *budget, roast_error *err)
{
    int status = connect(out, path, "?immutable=1", SQLITE_OPEN_READONLY, err);

    if (status < 0)
        return status;
    limit(*out, file_bytes);
    defend(*out);
    *budget = roast__sql_budget(file_bytes);
    sqlite3_progress_handler(*out, PROGRESS_STEPS, spend, budget);
    status =
        roast__sql_run(*out, "PRAGMA cell_size_check=on;PRAGMA temp_store=memory", err);
    if (status < 0) {
        roast__sql_close(*out);
        *out = NULL;
    }
    return status;
}

static int allow_reading(void *context, int action, const char *what, const char *more,
                         const char *schema, const char *from)
{
    (void)context;
    (void)more;
    (void)schema;
    (void)from;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_UPDATE: /* requested for a virtual table; SQLite itself refuses it */
        return strcmp(what, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

void roast__sql_only_read(sqlite3 *db)
{
    (void)sqlite3_set_authorizer(db, allow_reading, NULL);
    sqlite3_progress_handler(db, 0, NULL, NULL);
}

void roast__sql_close(sqlite3 *db)
{
    (void)sqlite3_close(db); /* all statements are finalized */
}

/* ---- statements ------------------------------------------------------------------ */

int roast__sql_run(sqlite3 *db, const char *sql, roast_error *err)
{
    return roast__sql_error(db, sqlite3_exec(db, sql, NULL, NULL, NULL), err);
}

int roast__sql_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql,
                       roast_error *err)
{
    return roast__sql_error(db, sqlite3_prepare_v2(db, sql, -1, out, NULL), err);
}

int roast__sql_step(sqlite3_stmt *statement, roast_error *err)
{
    int code = sqlite3_step(statement);

    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE)
        return 0;
    return roast__sql_error(sqlite3_db_handle(statement), code, err);
}

struct roast_str roast__sql_text(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);

    if (type != SQLITE_TEXT && type != SQLITE_BLOB)
        return (struct roast_str){NULL, 0};
    const char *data = sqlite3_column_blob(statement, column);
    int size = sqlite3_column_bytes(statement, column);
    return (struct roast_str){data ? data : "", (size_t)size};
}
