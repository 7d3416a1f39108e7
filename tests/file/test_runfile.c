/* SPDX-License-Identifier: BSD-3-Clause */
/* test_runfile.c - which files are opened, which are refused and with which message;
 * what a list of runs shows; where a run may be saved. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>

#include "file/live/live_test.h"
#include "file/sqlite/saved_file.h"
#include "file/sqlite/saved_print.h"
#include "file/sqlite/saved_runs.h"
#include "file/sqlite/schema.h"
#include "roast/version.h"

/* ---- opening ------------------------------------------------------------------------- */

static void assert_not_opened(const char *path, int status, const char *message)
{
    roast_runfile *file = NULL;
    roast_error err = {0};

    assert_int_equal(roast_runfile_open(&file, path, &err), status);
    assert_null(file);
    assert_int_equal(err.code, status);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" has no \"%s\"", err.message, message);
}

static void assert_refused(const char *path, int status, const char *message)
{
    struct roast_run_info info;
    roast_error err = {0};

    assert_not_opened(path, status, message);
    assert_int_equal(roast_run_info_read(&info, path, &err), status);
}

static void what_is_no_run_file_is_refused(void **state)
{
    const struct saved_test *test = *state;

    assert_refused(test->path, ROAST_IO, strerror(ENOENT));
    assert_refused(test->dir, ROAST_IO, strerror(EISDIR));
    assert_refused("/dev/null", ROAST_BAD_DATA, "not a run file");
    write_bytes(test->path, "", 0);
    assert_refused(test->path, ROAST_BAD_DATA, "not a run file");
    write_bytes(test->path, "chunk,duration\n1,2\n", 19);
    assert_refused(test->path, ROAST_BAD_DATA, "not a run file");
    write_bytes(test->path, "SQLite format 3\0cut", 20);
    assert_refused(test->path, ROAST_TRUNCATED, "ends after 20 bytes");
}

static void a_pipe_is_refused(void **state)
{
    const struct saved_test *test = *state;

    assert_int_equal(mkfifo(test->path, 0600), 0);
    assert_refused(test->path, ROAST_BAD_DATA, "not a run file");
}

/* Runs SQL on a file as any other program would. */
static void alter(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    (void)sqlite3_close(db);
}

static void files_of_others_are_refused(void **state)
{
    const struct saved_test *test = *state;

    alter(test->path, "CREATE TABLE t(a)");
    assert_refused(test->path, ROAST_BAD_DATA, "an SQLite file, but not a run file");
    alter(test->path, "PRAGMA application_id=0x526f7374");
    assert_refused(test->path, ROAST_BAD_DATA, "a run file without a format");
    alter(test->path, "PRAGMA user_version=1");
    assert_refused(test->path, ROAST_BAD_DATA, "has no plain table journal");
}

static void newer_files_are_refused(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);

    save(run, test->path);
    alter(test->path, "PRAGMA user_version=2");
    assert_refused(test->path, ROAST_NEWER_FORMAT,
                   "written by roastcoffea " ROAST_VERSION ", format 2; this "
                   "roastcoffea reads 1");
    alter(test->path, "DROP TABLE journal");
    assert_refused(test->path, ROAST_NEWER_FORMAT, "written by a newer roastcoffea");
    roast_run_free(run);
}

/* A journal that is not a plain table is not read; see also test_hostile_file.c. */
static void views_are_no_tables(void **state)
{
    static const char *const changes[] = {
        "ALTER TABLE journal RENAME TO x; CREATE VIEW journal AS SELECT * FROM x",
        "DROP TABLE journal; CREATE TABLE journal(block INTEGER PRIMARY KEY,data "
        "DEFAULT"
        " (1+1))",
        "DROP TABLE journal; CREATE TABLE journal(block INTEGER PRIMARY KEY,data BLOB"
        " CHECK(block>1))",
        "DROP TABLE journal; CREATE TABLE journal(block INTEGER PRIMARY KEY,data BLOB)"
        " WITHOUT ROWID",
        "DROP TABLE journal",
    };
    const struct saved_test *test = *state;
    roast_run *run = plain_run(3);

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        save(run, test->path);
        alter(test->path, changes[i]);
        assert_refused(test->path, ROAST_BAD_DATA, "has no plain table journal");
    }
    roast_run_free(run);
}

/* Plain tables are for people: the run does not depend on them, and check reports
 * tables that differ from the journal. */
static void changed_tables_are_found(void **state)
{
    static const char *const changes[] = {
        "UPDATE metrics SET value=value+1 WHERE value IS NOT NULL",
        "UPDATE chunk_rows SET duration_ns=duration_ns+1 WHERE id=1",
        "UPDATE chunk_files SET dataset='other' WHERE id=0",
        "DELETE FROM chunk_rows WHERE id=2",
        "DELETE FROM workers",
        "INSERT INTO labels SELECT max(row)+1,'a','b' FROM labels",
        "DROP TABLE datasets",
        "DROP TABLE chunk_rows; CREATE VIEW chunk_rows AS SELECT 1",
    };
    const struct saved_test *test = *state;
    roast_run *run = plain_run(3);

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        save(run, test->path);
        alter(test->path, changes[i]);
        roast_runfile *file = open_saved(test->path);
        assert_same_whole(run, whole_run(file));
        if (roast_runfile_check(file, NULL, NULL, NULL) != 1)
            fail_msg("%s", changes[i]);
        roast_runfile_close(file);
    }
    roast_run_free(run);
}

/* A NUL is not white space: the text after it is unknown. */
static void a_table_with_a_nul_is_not_plain(void **state)
{
    sqlite3 *db = NULL;

    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(roast__sql_run(db, "CREATE TABLE t(id INTEGER, x TEXT)", NULL),
                     ROAST_OK);
    assert_int_equal(roast__schema_has(db, "t", NULL), 1);
    assert_int_equal(roast__sql_run(db,
                                    "PRAGMA writable_schema=on; UPDATE sqlite_master"
                                    " SET sql=CAST(CAST(sql AS BLOB)||x'00' AS TEXT)",
                                    NULL),
                     ROAST_OK);
    assert_int_equal(roast__schema_has(db, "t", NULL), 0);
    (void)sqlite3_close(db);
}

/* Triggers, indices and extra columns are ignored. */
static void what_was_added_does_no_harm(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = rich_run();

    save(run, test->path);
    alter(test->path, "CREATE INDEX i ON chunk_rows(worker);"
                      "CREATE INDEX j ON journal(data);"
                      "CREATE TRIGGER t AFTER UPDATE ON chunk_rows BEGIN"
                      " DELETE FROM journal; END;"
                      "CREATE TABLE mine(a); INSERT INTO mine VALUES(1)");
    roast_runfile *file = open_saved(test->path);
    assert_same_whole(run, whole_run(file));
    assert_int_equal(roast_runfile_check(file, NULL, NULL, NULL), 0);
    roast_runfile_close(file);
    roast_run_free(run);
}

/* ---- what is known of a file ---------------------------------------------------------- */

static void run_info_shows_the_run(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(10);
    struct roast_run_info shown;
    struct roast_runfile_info info;

    save(run, test->path);
    assert_int_equal(roast_run_info_read(&shown, test->path, NULL), ROAST_OK);
    assert_false(shown.live);
    assert_true(shown.start_ns == EPOCH_0);
    assert_true(shown.wall_s == 100);
    assert_true(shown.chunks == 10 && shown.failed == 1 && shown.events == 1000);
    assert_true(shown.event_rate == 10);
    assert_string_equal(shown.id, "0123456789abcdef0123456789abcdef");
    assert_string_equal(shown.state, "finished");
    assert_string_equal(shown.processor, "MyProcessor");
    assert_string_equal(shown.executor, "Futures, 4 workers");
    assert_string_equal(shown.labels, "site=T2, user=me");
    roast_runfile *file = open_saved(test->path);
    roast_runfile_info(file, &info);
    assert_string_equal(info.writer, "roastcoffea " ROAST_VERSION);
    assert_int_equal(info.format, ROAST_FILE_FORMAT);
    roast_runfile_close(file);
    roast_run_free(run);
}

static void run_info_marks_unknown_values(void **state)
{
    const struct saved_test *test = *state;
    struct roast_run_info info;
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, 0, 5, NULL), ROAST_OK);
    save(run, test->path);
    assert_int_equal(roast_run_info_read(&info, test->path, NULL), ROAST_OK);
    assert_string_equal(info.state, "unfinished");
    assert_string_equal(info.id, "");
    assert_string_equal(info.labels, "");
    assert_true(info.event_rate < 0);
    set_note(run, ROAST_NOTES_run, "failure", "OSError: gone");
    save(run, test->path);
    assert_int_equal(roast_run_info_read(&info, test->path, NULL), ROAST_OK);
    assert_string_equal(info.state, "failed");
    set_note(run, ROAST_NOTES_run, "failure",
             ""); /* a failure without text counts too */
    save(run, test->path);
    assert_int_equal(roast_run_info_read(&info, test->path, NULL), ROAST_OK);
    assert_string_equal(info.state, "failed");
    roast_run_free(run);
}

/* A reader may split the text only if that gives the labels. */
static void run_info_marks_incomplete_labels(void **state)
{
    const struct saved_test *test = *state;
    char longer[2001]; /* than the file has room for */
    const struct {
        const char *a;
        const char *b;
        bool whole;
    } rows[] = {
        {"x", "2", true},
        {"x,y", "2,", true},
        {"x, y", "2", false},
        {"x, y", longer, false},
        {"x", longer, false},
        {"", "", true},
        {"x", longer + 1800, false}, /* than run_info has */
    };
    struct roast_run_info info;

    memset(longer, 'v', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        roast_run *run = NULL;
        assert_int_equal(roast_run_new(&run, 0, 5, NULL), ROAST_OK);
        set_note(run, ROAST_NOTES_label, "a", rows[i].a);
        set_note(run, ROAST_NOTES_label, "b", rows[i].b);
        save(run, test->path);
        assert_int_equal(roast_run_info_read(&info, test->path, NULL), ROAST_OK);
        assert_int_equal(info.labels_whole, rows[i].whole);
        roast_run_free(run);
    }
}

/* A live file is a run file; it may be incomplete. */
static void live_files_are_opened(void **state)
{
    struct live_test *test = *state;
    struct roast_runfile_info info;
    const roast_summary *summary = NULL;
    roast_table *columns = NULL;
    struct roast_run_info shown;

    open_live(test, &MANUAL_SYNC);
    make_changes(test->run);
    close_live(test);
    roast_runfile *file = open_saved(test->path);
    assert_same_run(test->run, whole_run(file));
    roast_runfile_info(file, &info);
    assert_true(info.live && info.ended && !info.partial);
    assert_string_equal(info.writer, "roastcoffea " ROAST_VERSION);
    assert_int_equal(roast_runfile_check(file, NULL, NULL, NULL), 0);
    assert_int_equal(roast_runfile_summary(file, &summary, NULL), ROAST_OK);
    assert_int_equal(roast_runfile_columns(file, ROAST_TABLE_metrics, &columns, NULL),
                     ROAST_OK);
    assert_true(roast_table_rows(columns) > 0);
    roast_table_free(columns);
    roast_runfile_close(file);
    assert_int_equal(roast_run_info_read(&shown, test->path, NULL), ROAST_OK);
    assert_true(shown.live);
    assert_string_equal(shown.state, "finished");
    assert_true(shown.wall_s > 0 && shown.chunks >= 0 && shown.failed >= 0);
}

static void a_cut_live_file_is_reported(void **state)
{
    struct live_test *test = *state;
    struct roast_runfile_info info;
    struct stat about;

    open_live(test, &MANUAL_SYNC);
    make_changes(test->run);
    close_live(test);
    assert_int_equal(stat(test->path, &about), 0);
    assert_int_equal(truncate(test->path, about.st_size - 1), 0);
    roast_runfile *file = open_saved(test->path);
    roast_runfile_info(file, &info);
    assert_true(info.cut_bytes > 0);
    assert_true(roast_runfile_check(file, NULL, NULL, NULL) > 0);
    roast_runfile_close(file);
}

/* ---- saving --------------------------------------------------------------------------- */

static void assert_not_saved(roast_run *run, const char *path,
                             enum roast_save_mode mode, int error)
{
    roast_error err = {0};

    assert_int_equal(roast_run_save(run, path, mode, &err), ROAST_IO);
    if (!strstr(err.message, strerror(error)) ||
        !strstr(err.message, "; the run is not saved there"))
        fail_msg("\"%s\" does not say \"%s\"", err.message, strerror(error));
    assert_null(strchr(err.message, '\n'));
}

static void a_new_file_takes_no_place(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1), *other = plain_run(5);
    roast_error err = {0};

    assert_int_equal(roast_run_save(run, test->path, ROAST_SAVE_NEW, &err), ROAST_OK);
    struct roast_buf before = read_bytes(test->path);
    assert_not_saved(other, test->path, ROAST_SAVE_NEW, EEXIST);
    struct roast_buf after = read_bytes(test->path);
    assert_true(str_equal(buf_str(&before), buf_str(&after)));
    assert_int_equal(files_in(test->dir, false), 1);
    save(other, test->path);
    roast_runfile *file = open_saved(test->path);
    assert_same_whole(other, whole_run(file));
    assert_int_equal(files_in(test->dir, false), 1);
    roast_runfile_close(file);
    roast__buf_release(&before);
    roast__buf_release(&after);
    roast_run_free(run);
    roast_run_free(other);
}

static void bad_paths_are_reported(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    char path[600];

    assert_not_saved(run, "", ROAST_SAVE_REPLACE, ENOENT);
    assert_not_saved(run, test->dir, ROAST_SAVE_REPLACE, EISDIR);
    (void)snprintf(path, sizeof(path), "%s/", test->dir);
    assert_not_saved(run, path, ROAST_SAVE_REPLACE, EISDIR);
    (void)snprintf(path, sizeof(path), "%s/..", test->dir);
    assert_not_saved(run, path, ROAST_SAVE_REPLACE, EISDIR);
    (void)snprintf(path, sizeof(path), "%s/none/a.roast", test->dir);
    assert_not_saved(run, path, ROAST_SAVE_REPLACE, ENOENT);
    (void)snprintf(path, sizeof(path), "%s/%0300d.roast", test->dir, 1);
    assert_not_saved(run, path, ROAST_SAVE_NEW, ENAMETOOLONG);
    assert_int_equal(files_in(test->dir, false), 0);
    roast_run_free(run);
}

/* Every byte of a path is part of a name. */
static void unusual_names_are_accepted(void **state)
{
    static const char *const names[] = {
        "a b%20c?mode=rwc#x.roast",
        "-o.roast",
        "\xff\x01\n'\".roast",
        "file::memory:",
    };
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    char path[600];

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)snprintf(path, sizeof(path), "%s//%s", test->dir, names[i]);
        save(run, path);
        roast_runfile *file = open_saved(path);
        assert_same_whole(run, whole_run(file));
        roast_runfile_close(file);
        assert_int_equal(files_in(test->dir, true), 1);
    }
    (void)snprintf(path, sizeof(path), "%s/%0249d.roast", test->dir, 1);
    save(run, path); /* 255 bytes */
    assert_int_equal(access(path, F_OK), 0);
    roast_run_free(run);
}

/* A link is replaced, not its target. */
static void links_are_not_followed(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    struct stat about;
    char target[128];

    (void)snprintf(target, sizeof(target), "%s/target", test->dir);
    write_bytes(target, "", 0);
    assert_int_equal(symlink(target, test->path), 0);
    assert_not_saved(run, test->path, ROAST_SAVE_NEW, EEXIST);
    save(run, test->path);
    assert_int_equal(lstat(test->path, &about), 0);
    assert_true(S_ISREG(about.st_mode));
    assert_int_equal(stat(target, &about), 0);
    assert_int_equal(about.st_size, 0);
    roast_run_free(run);
}

/* Neither the file of another program nor what is no file, also behind a link. */
static void only_run_files_are_replaced(void **state)
{
    static const char words[] = "it is no run file, and is not replaced";
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    roast_error err = {0};
    char link_path[128];

    (void)snprintf(link_path, sizeof(link_path), "%s/link", test->dir);
    assert_int_equal(symlink(test->path, link_path), 0);
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0)
            write_bytes(test->path, "precious", 8);
        else
            assert_int_equal(mkfifo(test->path, 0600), 0);
        for (int i = 0; i < 2; i++) {
            const char *path = i == 0 ? test->path : link_path;
            int status = roast_run_save(run, path, ROAST_SAVE_REPLACE, &err);
            assert_int_equal(status, ROAST_IO);
            assert_non_null(strstr(err.message, words));
        }
        assert_int_equal(files_in(test->dir, false), 2);
        assert_int_equal(unlink(test->path), 0);
    }
    roast_run_free(run);
}

/* Its caller syncs it: in the same folder, under its name, and complete. */
static void a_file_may_be_left_unsynced(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(3);
    roast_error err = {0};

    assert_int_equal(roast_run_save(run, test->path, ROAST_SAVE_UNSYNCED, &err),
                     ROAST_OK);
    assert_not_saved(run, test->path, ROAST_SAVE_UNSYNCED, EEXIST);
    roast_runfile *file = open_saved(test->path);
    assert_same_whole(run, whole_run(file));
    assert_int_equal(files_in(test->dir, false), 1);
    roast_runfile_close(file);
    roast_run_free(run);
}

/* Permissions of a new file come from the umask, of a replaced one from the old
 * file. */
static void a_file_keeps_its_permissions(void **state)
{
    static const mode_t modes[] = {0600, 0664, 0400};
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    struct stat about;
    mode_t before = umask(027);

    save(run, test->path);
    (void)umask(before);
    assert_int_equal(stat(test->path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        assert_int_equal(chmod(test->path, modes[i]), 0);
        save(run, test->path);
        assert_int_equal(stat(test->path, &about), 0);
        assert_int_equal(about.st_mode & 0777, modes[i]);
    }
    roast_run_free(run);
}

/* Creates a file with an old modification time. */
static void leave(const char *dir, const char *name, time_t age_s)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - age_s}};
    char path[512];

    times[1] = times[0];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    write_bytes(path, "x", 1);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_left(const char *dir, const char *name)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* A save that was killed leaves its temporary file. The next save of the same name
 * removes it, but not while it may still be in use. */
static void what_a_killed_save_left_goes(void **state)
{
    enum { HOUR_S = 3600 };
    static const char *const others[] = {
        ".b.roast.saving-0123456789abcdef",  ".a.roast.saving-0123456789abcde",
        ".a.roast.saving-0123456789abcdefg", ".a.roast.saving-0123456789abcdeX",
        "a.roast.saving-0123456789abcdef",   ".a.roast-0123456789abcdef",
    };
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);

    leave(test->dir, ".a.roast.saving-0123456789abcdef", 25 * HOUR_S);
    leave(test->dir, ".a.roast.saving-0000000000000000", 23 * HOUR_S);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        leave(test->dir, others[i], 1000 * HOUR_S);
    save(run, test->path);
    assert_false(is_left(test->dir, ".a.roast.saving-0123456789abcdef"));
    assert_true(is_left(test->dir, ".a.roast.saving-0000000000000000"));
    assert_int_equal(files_in(test->dir, false), COUNT_OF(others) + 2);
    roast_run_free(run);
}

/* Temporary files have the beginning of a long name, cut at a character boundary. */
static void a_long_name_is_cut_between_letters(void **state)
{
    enum { LETTERS = 199, DAYS_S = 10 * 24 * 3600 };
    static const char end[] = ".saving-0123456789abcdef";
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    char name[LETTERS + 1] = "", ours[300], other[300], path[512];

    memset(name, 'a', LETTERS);
    (void)snprintf(ours, sizeof(ours), ".%s%s", name, end);
    (void)snprintf(other, sizeof(other), ".%s\xc3%s", name, end);
    (void)snprintf(path, sizeof(path), "%s/%s\xc3\xa9.roast", test->dir, name);
    leave(test->dir, ours, DAYS_S);
    leave(test->dir, other, DAYS_S);
    save(run, path);
    assert_false(is_left(test->dir, ours));
    assert_true(is_left(test->dir, other));
    assert_int_equal(files_in(test->dir, false), 2);
    roast_run_free(run);
}

static void a_relative_path_is_saved_here(void **state)
{
    const struct saved_test *test = *state;
    roast_run *run = plain_run(1);
    char before[512];

    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(test->dir), 0);
    save(run, "here.roast");
    roast_runfile_close(open_saved("here.roast"));
    assert_int_equal(files_in(".", false), 1);
    assert_int_equal(chdir(before), 0);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(what_is_no_run_file_is_refused),
        saved_test_of(a_pipe_is_refused),
        saved_test_of(files_of_others_are_refused),
        saved_test_of(newer_files_are_refused),
        saved_test_of(views_are_no_tables),
        saved_test_of(changed_tables_are_found),
        saved_test_of(a_table_with_a_nul_is_not_plain),
        saved_test_of(what_was_added_does_no_harm),
        saved_test_of(run_info_shows_the_run),
        saved_test_of(run_info_marks_unknown_values),
        saved_test_of(run_info_marks_incomplete_labels),
        live_test_of(live_files_are_opened),
        live_test_of(a_cut_live_file_is_reported),
        saved_test_of(a_new_file_takes_no_place),
        saved_test_of(bad_paths_are_reported),
        saved_test_of(unusual_names_are_accepted),
        saved_test_of(links_are_not_followed),
        saved_test_of(only_run_files_are_replaced),
        saved_test_of(a_file_may_be_left_unsynced),
        saved_test_of(a_file_keeps_its_permissions),
        saved_test_of(what_a_killed_save_left_goes),
        saved_test_of(a_long_name_is_cut_between_letters),
        saved_test_of(a_relative_path_is_saved_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
