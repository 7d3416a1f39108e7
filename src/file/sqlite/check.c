/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - reads all of a run file and reports every problem.
 *
 * Plain tables are made again from the journal and compared. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "file/runfile.h"
#include "file/sqlite/save.h"
#include "file/sqlite/schema.h"
#include "roast/version.h"

/* Where problems go, and how many there were. */
struct reporter {
    roast_problem_visitor *problem;
    void *context;
    int64_t count;
};

/* Messages of SQLite may contain bytes of the file: they become one printable line. */
static void report(void *context, const char *problem)
{
    struct reporter *reporter = context;
    char line[200];
    size_t size = 0;

    for (; problem[size] && size + 1 < sizeof(line); size++) {
        unsigned char c = (unsigned char)problem[size];
        line[size] = c < ' ' || c > '~' ? '?' : (char)c;
    }
    line[size] = '\0';
    reporter->count++;
    if (reporter->problem)
        reporter->problem(reporter->context, line);
}

/* Reports a count as "1 thing" or "2 things", followed by `what`. */
static void report_count(struct reporter *reporter, uint64_t count, const char *noun,
                         const char *what)
{
    char line[160];

    if (count == 0)
        return;
    (void)snprintf(line, sizeof(line), "%" PRIu64 " %s%s%s", count, noun,
                   count == 1 ? "" : "s", what);
    report(reporter, line);
}

/* ---- the journal ----------------------------------------------------------------- */

static void check_reading(const roast_runfile *file, struct reporter *reporter)
{
    const struct roast_journal_reading *reading = &file->reading;

    report_count(reporter, reading->damaged, "damaged part", ": left out");
    report_count(reporter, reading->lost_blocks, "block", ": missing");
    report_count(reporter, reading->cut_bytes, "byte", " at the end: no whole block");
    report_count(reporter, reading->dropped, "change",
                 " of the run could not be written: the disk was too slow or full");
    report_count(reporter, reading->unread, "change",
                 " of a kind or with contents that this version does not know");
}

/* ---- finished files -------------------------------------------------------------- */

/* Damage that prevents a check is reported as a problem, not returned as a failure. */
static int report_damage(struct reporter *reporter, int status, const char *where,
                         roast_error *err)
{
    char line[300];

    if (status != ROAST_BAD_DATA && status != ROAST_BAD_CHECKSUM &&
        status != ROAST_NEWER_FORMAT && status != ROAST_LIMIT)
        return status < 0 ? status : ROAST_OK;
    (void)snprintf(line, sizeof(line), "%s: %s", where, err->message);
    report(reporter, line);
    return ROAST_OK;
}

/* Pages and their order, by SQLite itself. */
static int check_pages(sqlite3 *db, struct reporter *reporter, roast_error *err)
{
    sqlite3_stmt *check = NULL;
    int status = roast__sql_prepare(&check, db, "PRAGMA quick_check(20)", err);

    while (status >= 0 && (status = roast__sql_step(check, err)) > 0) {
        const char *text = (const char *)sqlite3_column_text(check, 0);
        if (text && strcmp(text, "ok") != 0)
            report(reporter, text);
    }
    (void)sqlite3_finalize(check);
    return report_damage(reporter, status, "pages", err);
}

static int check_summary(sqlite3 *db, struct reporter *reporter, roast_error *err)
{
    roast_summary *summary = NULL;
    int status = roast__load_summary(&summary, db, err);

    if (status == 0)
        report(reporter, "the summary: damaged, it is computed anew");
    if (status == ROAST_LIMIT)
        status = ROAST_OK; /* the summary is computed again; no data is lost */
    roast_summary_free(summary);
    return report_damage(reporter, status, "the summary", err);
}

/* ---- plain tables ---------------------------------------------------------------- */

static bool same_cell(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    struct roast_str left = roast__sql_text(a, column);
    struct roast_str right = roast__sql_text(b, column);

    if (sqlite3_column_type(a, column) != sqlite3_column_type(b, column))
        return false;
    switch (sqlite3_column_type(a, column)) {
    case SQLITE_INTEGER:
        return sqlite3_column_int64(a, column) == sqlite3_column_int64(b, column);
    case SQLITE_FLOAT:
        return sqlite3_column_double(a, column) == sqlite3_column_double(b, column);
    case SQLITE_NULL:
        return true;
    default:
        return left.size_bytes == right.size_bytes &&
               memcmp(left.data, right.data, left.size_bytes) == 0;
    }
}

static bool same_row(sqlite3_stmt *a, sqlite3_stmt *b)
{
    bool same = sqlite3_column_count(a) == sqlite3_column_count(b);

    for (int i = 0; same && i < sqlite3_column_count(a); i++)
        same = same_cell(a, b, i);
    return same;
}

/* Counts the rows that are not the same in both. */
static int compare_table(sqlite3 *rebuilt, sqlite3 *stored, const char *table,
                         struct reporter *reporter, roast_error *err)
{
    sqlite3_stmt *rows[2] = {NULL, NULL};
    char sql[128];
    char what[96];
    uint64_t different = 0;
    int steps[2] = {1, 1};

    (void)snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\" ORDER BY row", table);
    int status = roast__sql_prepare(&rows[0], rebuilt, sql, err);
    if (status == ROAST_OK)
        status = roast__sql_prepare(&rows[1], stored, sql, err);
    while (status == ROAST_OK && (steps[0] > 0 || steps[1] > 0)) {
        for (int i = 0; i < 2 && status == ROAST_OK; i++) {
            steps[i] = steps[i] > 0 ? roast__sql_step(rows[i], err) : 0;
            status = steps[i] < 0 ? steps[i] : ROAST_OK;
        }
        different +=
            steps[0] != steps[1] || (steps[0] > 0 && !same_row(rows[0], rows[1]));
    }
    (void)sqlite3_finalize(rows[0]);
    (void)sqlite3_finalize(rows[1]);
    (void)snprintf(what, sizeof(what),
                   " of the table %.40s: different from the journal", table);
    if (status == ROAST_OK)
        report_count(reporter, different, "row", what);
    return report_damage(reporter, status, table, err);
}

/* Whether a table is declared as it is made: 1, 0 (reported). In an untrusted file it may
 * be a view without an end, or have repeated keys. */
static int check_declared(sqlite3 *rebuilt, sqlite3 *stored, const char *table,
                          struct reporter *reporter, roast_error *err)
{
    sqlite3_stmt *find[2] = {NULL, NULL};
    char line[96];
    int status = 1;

    for (int i = 0; i < 2 && status > 0; i++) {
        status = roast__sql_prepare(
            &find[i], i == 0 ? rebuilt : stored,
            "SELECT sql FROM sqlite_master WHERE type='table' AND name=?1", err);
        if (status == ROAST_OK) {
            (void)sqlite3_bind_text(find[i], 1, table, -1, SQLITE_STATIC);
            status = roast__sql_step(find[i], err);
        }
    }
    if (status > 0)
        status = same_row(find[0], find[1]);
    (void)sqlite3_finalize(find[0]);
    (void)sqlite3_finalize(find[1]);
    (void)snprintf(line, sizeof(line),
                   "the table %.40s: not declared as this version does", table);
    if (status == 0)
        report(reporter, line);
    return status < 0 ? report_damage(reporter, status, table, err) : status;
}

/* The chunk tables are compared through a view, which has texts instead of numbers. */
static int compare_tables(sqlite3 *rebuilt, sqlite3 *stored, struct reporter *reporter,
                          roast_error *err)
{
    int plain = 1;

    for (size_t i = 0; plain >= 0 && roast__chunk_tables[i]; i++) {
        int one =
            check_declared(rebuilt, stored, roast__chunk_tables[i], reporter, err);
        plain = one > 0 ? plain : one;
    }
    int status = plain;
    if (plain > 0)
        status = compare_table(rebuilt, stored, "all_attempts", reporter, err);
    for (int i = 0; status >= 0 && i < ROAST_RUN_TABLE_COUNT; i++) {
        const char *table = roast_table_name((enum roast_table_id)i);
        if (roast_table_is_large((enum roast_table_id)i))
            continue;
        status = check_declared(rebuilt, stored, table, reporter, err);
        if (status > 0)
            status = compare_table(rebuilt, stored, table, reporter, err);
    }
    return status < 0 ? status : ROAST_OK;
}

/* The state of an unfinished run at that time is not known any more, and another
 * version may have other formulas. */
static int check_tables(roast_runfile *file, roast_run *run, struct reporter *reporter,
                        roast_error *err)
{
    sqlite3 *rebuilt = NULL;
    sqlite3 *stored = NULL;
    uint64_t budget;
    int status = ROAST_OK;

    if (!file->info.ended ||
        strcmp(file->info.writer, "roastcoffea " ROAST_VERSION) != 0)
        return ROAST_OK;
    status = roast__sql_create(&rebuilt, NULL, ROAST_LARGE_PAGE_BYTES, err);
    if (status == ROAST_OK)
        status = roast__save_into(rebuilt, run, false, err);
    if (status == ROAST_OK)
        status =
            roast__sql_open(&stored, file->path, file->header.file_bytes, &budget, err);
    if (status == ROAST_OK) { /* no limit: only tables are read, each once */
        sqlite3_progress_handler(stored, 0, NULL, NULL);
        status = roast__schema_make_views(stored, err);
    }
    if (status == ROAST_OK)
        status = compare_tables(rebuilt, stored, reporter, err);
    roast__sql_close(stored);
    roast__sql_close(rebuilt);
    return status;
}

static int check_finished(roast_runfile *file, struct reporter *reporter,
                          roast_error *err)
{
    roast_run *run = NULL;
    int status = check_pages(file->db, reporter, err);

    if (status == ROAST_OK)
        status = report_damage(reporter, roast__runfile_whole(file, &run, err),
                               "the run", err);
    check_reading(file, reporter);
    if (status == ROAST_OK)
        status = check_summary(file->db, reporter, err);
    if (status == ROAST_OK && run && file->info.damaged == 0)
        status = check_tables(file, run, reporter, err);
    return status;
}

int64_t roast_runfile_check(roast_runfile *file, roast_problem_visitor *problem,
                            void *context, roast_error *err)
{
    struct reporter reporter = {problem, context, 0};
    roast_error own = {0};
    int status = ROAST_OK;

    roast__runfile_lock(file);
    if (file->header.live)
        check_reading(file, &reporter);
    else
        status = check_finished(file, &reporter, &own);
    roast__runfile_unlock(file);
    if (status < 0)
        return roast_error_set(err, status, "%s", own.message);
    return reporter.count;
}
