/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - reads everything there is in a run file, and tells what is wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "file/runfile.h"
#include "file/sqlite/schema.h"

/* Whoever is told, and how often. */
struct telling {
    roast_problem_visitor *problem;
    void *context;
    int64_t count;
};

/* Bytes of a file may be in what SQLite says: one line, nothing that moves a cursor. */
static void tell(void *context, const char *problem)
{
    struct telling *telling = context;
    char line[200];
    size_t size = 0;

    for (; problem[size] && size + 1 < sizeof(line); size++) {
        unsigned char c = (unsigned char)problem[size];
        line[size] = c < ' ' || c > '~' ? '?' : (char)c;
    }
    line[size] = '\0';
    telling->count++;
    if (telling->problem)
        telling->problem(telling->context, line);
}

/* `what` follows "1 thing" or "2 things". */
static void tell_count(struct telling *telling, uint64_t count, const char *thing,
                       const char *what)
{
    char line[160];

    if (count == 0)
        return;
    (void)snprintf(line, sizeof(line), "%" PRIu64 " %s%s%s", count, thing,
                   count == 1 ? "" : "s", what);
    tell(telling, line);
}

/* ---- finished files ---------------------------------------------------------------- */

/* What cannot be looked at because it is damaged is a problem, not a failure. */
static int forgive(struct telling *telling, int status, const char *where,
                   roast_error *err)
{
    char line[300];

    if (status != ROAST_BAD_DATA && status != ROAST_BAD_CHECKSUM &&
        status != ROAST_NEWER_FORMAT && status != ROAST_LIMIT)
        return status < 0 ? status : ROAST_OK;
    (void)snprintf(line, sizeof(line), "%s: %s", where, err->message);
    tell(telling, line);
    return ROAST_OK;
}

/* Pages and their order, by SQLite itself. */
static int check_pages(sqlite3 *db, struct telling *telling, roast_error *err)
{
    sqlite3_stmt *check = NULL;
    int status = roast__sql_prepare(&check, db, "PRAGMA quick_check(20)", err);

    while (status >= 0 && (status = roast__sql_step(check, err)) > 0) {
        const char *text = (const char *)sqlite3_column_text(check, 0);
        if (text && strcmp(text, "ok") != 0)
            tell(telling, text);
    }
    (void)sqlite3_finalize(check);
    return forgive(telling, status, "pages", err);
}

/* Tables and views are those that were made. */
static int check_schema(sqlite3 *db, struct telling *telling, roast_error *err)
{
    struct roast_buf sum = {NULL, 0, 0, false};
    struct roast_contents contents;
    int found = roast__contents_find(&contents, db, "sqlite_master", err);
    int status = found < 0 ? found : roast__schema_sum(&sum, db, err);

    if (status == ROAST_OK &&
        (found == 0 || contents.sums.size_bytes != sum.size_bytes ||
         memcmp(contents.sums.data, sum.data, sum.size_bytes) != 0))
        tell(telling, "tables or views are not those that were written");
    roast__buf_release(&sum);
    roast__contents_release(&contents);
    return forgive(telling, status, "tables and views", err);
}

/* Files of older versions lack tables of later ones, and do not say that they had them.
 * 1: it is one of those; one that was removed is missing from the schema too. */
static int was_never_there(sqlite3 *db, const char *table, roast_error *err)
{
    struct roast_contents contents;
    int found = roast__contents_find(&contents, db, table, err);

    roast__contents_release(&contents);
    return found < 0 ? found : found == 0;
}

static int check_table(sqlite3 *db, const char *table, struct telling *telling,
                       roast_error *err)
{
    struct roast_checked in;
    char what[96];
    int status = roast__schema_has(db, table, err);

    (void)snprintf(what, sizeof(what), " of the table %.40s: damaged", table);
    if (status == 0) {
        status = was_never_there(db, table, err);
        tell_count(telling, status == 0, "row", what);
        return status < 0 ? status : ROAST_OK;
    }
    if (status < 0)
        return status;
    status = roast__checked_open(&in, db, table, err);
    while (status >= 0 && (status = roast__checked_next(&in, err)) > 0)
        ;
    if (status == 0)
        tell_count(telling, in.lost, "row", what);
    roast__checked_close(&in);
    return status;
}

static int check_tables(sqlite3 *db, struct telling *telling, roast_error *err)
{
    int status = ROAST_OK;

    for (int i = 0; status == ROAST_OK && i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id table = (enum roast_table_id)i;
        const char *name = roast_table_name(table);
        if (roast__is_stored(table))
            status = forgive(telling, check_table(db, name, telling, err), name, err);
    }
    return status;
}

static int check_summary(sqlite3 *db, struct telling *telling, roast_error *err)
{
    roast_summary *summary = NULL;
    int status = roast__load_summary(&summary, db, err);

    if (status == 0)
        tell(telling, "the summary: damaged, it is computed anew");
    if (status == ROAST_LIMIT)
        status = ROAST_OK; /* it is computed anew, and nothing of the run is lost */
    roast_summary_free(summary);
    return forgive(telling, status, "the summary", err);
}

/* Everything that makes the run. */
static int check_run(const roast_runfile *file, struct telling *telling,
                     roast_error *err)
{
    struct roast_loading loading = {.db = file->db,
                                    .file_bytes = file->look.file_bytes,
                                    .problem = tell,
                                    .context = telling};
    roast_run *run = NULL;
    int status = roast__load_small(&run, &loading, err);

    if (status == ROAST_OK)
        status = roast__load_whole(&loading, err);
    roast__loading_release(&loading);
    roast_run_free(run);
    return forgive(telling, status, "the run", err);
}

static int check_finished(const roast_runfile *file, struct telling *telling,
                          roast_error *err)
{
    int status = check_pages(file->db, telling, err);

    if (status == ROAST_OK)
        status = check_schema(file->db, telling, err);
    if (status == ROAST_OK)
        status = check_run(file, telling, err);
    if (status == ROAST_OK)
        status = check_summary(file->db, telling, err);
    if (status == ROAST_OK)
        status = check_tables(file->db, telling, err);
    return status;
}

/* ---- live files -------------------------------------------------------------------- */

static void check_live(const roast_runfile *file, struct telling *telling)
{
    const struct roast_live_reading *reading = &file->reading;

    tell_count(telling, reading->damaged, "damaged part", ": left out");
    tell_count(telling, reading->lost_blocks, "block", ": missing");
    tell_count(telling, reading->cut_bytes, "byte", " at the end: no whole block");
    tell_count(telling, reading->dropped, "change",
               " of the run missed the file: the disk was too slow or full");
    tell_count(telling, reading->unread, "change",
               " of a kind or with contents that this version does not know");
}

int64_t roast_runfile_check(roast_runfile *file, roast_problem_visitor *problem,
                            void *context, roast_error *err)
{
    struct telling telling = {problem, context, 0};
    roast_error own = {0};
    int status = ROAST_OK;

    roast__runfile_lock(file);
    if (file->look.live)
        check_live(file, &telling);
    else
        status = check_finished(file, &telling, &own);
    roast__runfile_unlock(file);
    if (status < 0)
        return roast_error_set(err, status, "%s", own.message);
    return telling.count;
}
