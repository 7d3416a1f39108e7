/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_facility.c - roast facility: what many runs used, by user, dataset, week ... */
#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "out.h"
#include "roast/number.h"
#include "roast/runfile.h"
#include "run_files.h"

enum { MOST_ROWS = 20, PROGRESS_MS = 200, REASON_BYTES = 1024 };

static const char *const hours_names[ROAST_HOURS_COUNT] = {
    [ROAST_HOURS_OFFERED] = "offered",
    [ROAST_HOURS_USED] = "used",
    [ROAST_HOURS_WASTED] = "wasted",
};

/* ---- reading ------------------------------------------------------------------ */

/* The owner of a file, borrowed until the next call; NULL: not known. */
static const char *owner_of(const char *path)
{
    static const struct passwd *user;
    struct stat found;

    if (stat(path, &found) != 0)
        return NULL;
    if (!user || user->pw_uid != found.st_uid)
        user = getpwuid(found.st_uid);
    return user ? user->pw_name : NULL;
}

/* One line on a terminal, rewritten; removed when all are read. */
static void show_progress(size_t done, size_t all)
{
    static struct timespec shown;
    struct timespec now;

    if (!isatty(STDERR_FILENO) || clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return;
    int64_t passed_ms = (now.tv_sec - shown.tv_sec) * INT64_C(1000) +
                        (now.tv_nsec - shown.tv_nsec) / 1000000;
    if (done == all)
        (void)fprintf(stderr, "\r%48s\r", "");
    else if (passed_ms >= PROGRESS_MS) {
        (void)fprintf(stderr, "\rreading run files: %zu of %zu", done, all);
        shown = now;
    }
}

/* CODE_UNREADABLE: some could not be read, as was reported. */
static int read_runs(roast_accounting *accounting, const struct paths *paths,
                     bool with_owners)
{
    size_t unreadable = 0;

    for (size_t i = 0; i < paths->count; i++) {
        const char *path = paths->items[i];
        roast_error err = {0};
        show_progress(i, paths->count);
        if (roast_accounting_add_file(accounting, path,
                                      with_owners ? owner_of(path) : NULL,
                                      &err) == ROAST_OK)
            continue;
        show_progress(paths->count, paths->count);
        int code = fail_with(path, &err, NULL);
        if (err.code == ROAST_NO_MEMORY)
            return code;
        unreadable++;
    }
    show_progress(paths->count, paths->count);
    size_t repeated = roast_accounting_repeated(accounting);
    if (repeated > 0)
        note("facility",
             "%zu of %zu files hold%s a run that another one has; each run "
             "counts once",
             repeated, paths->count, repeated == 1 ? "s" : "");
    if (unreadable == 0)
        return CODE_OK;
    return fail(CODE_UNREADABLE, "facility",
                "%zu of %zu files cannot be read and are left out", unreadable,
                paths->count);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* CODE_UNREADABLE: some folders could not be searched, as was reported. */
static int find_runs(struct paths *paths, const struct arguments *args)
{
    struct stat found;
    int code = CODE_OK;

    for (size_t i = 0; i < args->operand_count; i++) {
        const char *path = args->operands[i];
        size_t unreadable = 0;
        if (stat(path, &found) == 0 && !S_ISDIR(found.st_mode))
            paths_add(paths, "", path);
        else if (find_run_files(paths, &unreadable, path) != CODE_OK || unreadable > 0)
            code = CODE_UNREADABLE;
    }
    if (paths->count > 0)
        qsort(paths->items, paths->count, sizeof(paths->items[0]), by_path);
    else if (code == CODE_OK)
        note("facility", "no runs found");
    return code;
}

/* ---- rows for programs -------------------------------------------------------- */

static struct roast_cell text_cell(struct roast_str text)
{
    return (struct roast_cell){.type = text.data ? ROAST_CELL_TEXT : ROAST_CELL_ABSENT,
                               .text = text};
}

static struct roast_cell number_cell(double value)
{
    return (struct roast_cell){
        .type = isnan(value) ? ROAST_CELL_ABSENT : ROAST_CELL_NUMBER, .number = value};
}

static struct roast_cell count_cell(double count)
{
    if (!(count >= 0 && count < 1e18)) /* not known, or a damaged file */
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    return (struct roast_cell){.type = ROAST_CELL_COUNT, .count = (uint64_t)count};
}

/* What is not known of a row and why; absent: nothing. */
static struct roast_str reason_of(char out[REASON_BYTES],
                                  const struct roast_account_group *group,
                                  const struct roast_account *row)
{
    const char *separator = "";
    size_t used = 0;

    if (!row->name.data) {
        used = (size_t)snprintf(out, REASON_BYTES, "name: %s", group->otherwise);
        separator = "; ";
    }
    for (int i = 0; i < ROAST_HOURS_COUNT; i++) {
        if (row->without[i] == 0)
            continue;
        struct roast_str why = roast_str_cut(row->why[i], REASON_BYTES / 4 - 64);
        used += (size_t)snprintf(
            out + used, REASON_BYTES - used, "%score_hours_%s of %zu run%s: %.*s",
            separator, hours_names[i], row->without[i], row->without[i] == 1 ? "" : "s",
            (int)why.size_bytes, why.data ? why.data : "");
        separator = "; ";
    }
    return used > 0 ? (struct roast_str){out, used} : (struct roast_str){NULL, 0};
}

static const char *const columns[] = {
    "by",
    "name",
    "runs",
    "failed_runs",
    "unfinished_runs",
    "core_hours_offered",
    "core_hours_used",
    "core_hours_wasted",
    "efficiency",
    "failed_attempts",
    "finding",
    "finding_runs",
    "finding_core_hours",
    "runs_without_offered",
    "runs_without_used",
    "runs_without_wasted",
    "reason",
};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

static void put_row(roast_row_writer *rows, const struct roast_account_group *group,
                    const struct roast_account *row)
{
    char reason[REASON_BYTES];
    struct roast_cell cells[COLUMN_COUNT] = {
        text_cell(roast_str_of(group->name)),
        text_cell(row->name),
        count_cell((double)row->runs),
        count_cell((double)row->failed_runs),
        count_cell((double)row->unfinished_runs),
        number_cell(row->hours[ROAST_HOURS_OFFERED]),
        number_cell(row->hours[ROAST_HOURS_USED]),
        number_cell(row->hours[ROAST_HOURS_WASTED]),
        number_cell(row->efficiency),
        count_cell(row->failed_attempts),
        text_cell(row->finding),
        count_cell((double)row->finding_runs),
        number_cell(row->finding_hours),
        count_cell((double)row->without[ROAST_HOURS_OFFERED]),
        count_cell((double)row->without[ROAST_HOURS_USED]),
        count_cell((double)row->without[ROAST_HOURS_WASTED]),
        text_cell(reason_of(reason, group, row)),
    };

    roast_row_writer_put(rows, cells);
}

/* ---- tables for people -------------------------------------------------------- */

enum { TEXT_COLUMNS = 12, RIGHT_COLUMNS = 0xdfe };

static struct roast_cell shown(struct roast_number *room, double value,
                               const char *unit)
{
    if (isnan(value))
        return number_cell(value);
    *room = roast_number(value, unit);
    return text_cell(roast_str_of(room->text));
}

static void put_text_row(roast_row_writer *rows, const struct roast_account *row)
{
    struct roast_number numbers[6];
    struct roast_cell cells[TEXT_COLUMNS] = {
        text_cell(row->name),
        count_cell((double)row->runs),
        count_cell((double)row->failed_runs),
        count_cell((double)row->unfinished_runs),
        shown(&numbers[0], row->hours[ROAST_HOURS_OFFERED], ""),
        shown(&numbers[1], row->hours[ROAST_HOURS_USED], ""),
        shown(&numbers[2], row->hours[ROAST_HOURS_WASTED], ""),
        shown(&numbers[3], row->efficiency * 100, "%"),
        shown(&numbers[4], row->failed_attempts, ""),
        text_cell(row->finding),
        count_cell(row->finding.data ? (double)row->finding_runs : NAN),
        shown(&numbers[5], row->finding_hours, ""),
    };

    roast_row_writer_put(rows, cells);
}

static void put_table(const struct roast_account_group *group,
                      const struct roast_accounts *sums, size_t most)
{
    const char *names[TEXT_COLUMNS] = {
        group->name, "runs",   "failed",     "unfinished",      "offered",
        "used",      "wasted", "efficiency", "failed attempts", "most frequent finding",
        "in runs",   "costs"};
    size_t count = sums->count < most ? sums->count : most;
    roast_row_writer *rows =
        out_rows(ROAST_FORMAT_TEXT, names, TEXT_COLUMNS, RIGHT_COLUMNS);

    for (size_t i = 0; i < count; i++)
        put_text_row(rows, &sums->items[i]);
    out_rows_end(rows);
    if (count < sums->count)
        out_format("%zu more: --by %s\n", sums->count - count, group->name);
    else if (count > 0 && !sums->items[count - 1].name.data)
        out_format("-: %s\n", group->otherwise);
}

/* What is not known of all runs. */
static void put_unknown(const struct roast_account *all)
{
    for (int i = 0; i < ROAST_HOURS_COUNT; i++) {
        if (all->without[i] == 0)
            continue;
        out_format("%s: not known of %zu of %zu runs: ", hours_names[i],
                   all->without[i], all->runs);
        out_data(all->why[i]);
        out_text("\n");
    }
}

/* ---- the command -------------------------------------------------------------- */

static int sum(struct roast_accounts *sums, const roast_accounting *accounting,
               enum roast_account_by by)
{
    roast_error err = {0};

    if (roast_accounting_sum(sums, accounting, by, &err) == ROAST_OK)
        return CODE_OK;
    return fail_with("facility", &err, NULL);
}

static int put_all(const roast_accounting *accounting, const struct arguments *args)
{
    const char *only = args_value(args, "by");
    enum roast_format format = args_format(args);
    bool is_text = format == ROAST_FORMAT_TEXT;
    roast_row_writer *rows =
        is_text ? NULL : out_rows(format, columns, COLUMN_COUNT, 0);
    struct roast_accounts sums;
    int code = CODE_OK;

    for (int i = 0; i < ROAST_BY_COUNT && code == CODE_OK; i++) {
        enum roast_account_by by = (enum roast_account_by)i;
        const struct roast_account_group *group = roast_account_group(by);
        if (only && strcmp(only, group->name) != 0)
            continue;
        code = sum(&sums, accounting, by);
        for (size_t row = 0; rows && row < sums.count; row++)
            put_row(rows, group, &sums.items[row]);
        if (is_text && sums.count > 0) {
            out_text(only || i == 0 ? "Offered, used, wasted, costs: core-hours\n\n"
                                    : "\n");
            put_table(group, &sums, only ? sums.count : MOST_ROWS);
        }
        roast_accounts_release(&sums);
    }
    out_rows_end(rows);
    if (is_text && code == CODE_OK)
        code = sum(&sums, accounting, ROAST_BY_total);
    if (is_text && code == CODE_OK && sums.count > 0)
        put_unknown(&sums.items[0]);
    if (is_text)
        roast_accounts_release(&sums);
    return code;
}

/* The same, to a file that is replaced when it is complete. */
static int put_file(const roast_accounting *accounting, const struct arguments *args,
                    const char *path)
{
    FILE *before = stdout;
    roast_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return fail(CODE_FAILED, path, "out of memory");
    stdout = memory;
    int code = put_all(accounting, args);
    stdout = before;
    if (fclose(memory) != 0)
        code = fail(CODE_FAILED, path, "out of memory");
    if (code == CODE_OK &&
        roast_file_write(path, (struct roast_str){text, size}, &err) != ROAST_OK)
        code = fail(CODE_FAILED, path, "%s; nothing was written", err.message);
    free(text);
    return code;
}

/* The begin of a day in UTC; false after printing the reason. */
static bool day_of(int64_t *ns, const struct arguments *args, const char *name,
                   int64_t otherwise)
{
    const char *text = args_value(args, name);
    struct tm day = {0};

    *ns = otherwise;
    if (!text)
        return true;
    const char *end = strptime(text, "%Y-%m-%d", &day);
    int of_month = day.tm_mday;
    int64_t seconds = end && *end == '\0' ? (int64_t)timegm(&day) : INT64_MAX;
    if (day.tm_mday == of_month &&
        !__builtin_mul_overflow(seconds, INT64_C(1000000000), ns))
        return true;
    (void)fail(CODE_USAGE, "facility", "--%s cannot be \"%s\": a day like 2026-11-15",
               name, text);
    return false;
}

static int facility(const struct arguments *args)
{
    const char *path = args_value(args, "output");
    roast_accounting *accounting = NULL;
    struct paths paths = {0};
    roast_error err = {0};
    int64_t since, until;

    if (!day_of(&since, args, "since", INT64_MIN) ||
        !day_of(&until, args, "until", INT64_MAX))
        return CODE_USAGE;
    if (roast_accounting_new(&accounting, since, until, &err) != ROAST_OK)
        return fail_with("facility", &err, NULL);
    int found = find_runs(&paths, args);
    int code = read_runs(accounting, &paths, args_value(args, "owner") != NULL);
    if (code == CODE_OK || code == CODE_UNREADABLE) {
        int written = path && strcmp(path, "-") != 0 ? put_file(accounting, args, path)
                                                     : put_all(accounting, args);
        code = written != CODE_OK ? written : code;
    }
    roast_accounting_free(accounting);
    paths_release(&paths);
    return code != CODE_OK ? code : found;
}

static const char groups[] =
#define B(name, text, otherwise) "|" #name
#include "roast/account_groups.def"
#undef B
    ;

static const struct option options[] = {
    {"by", 'b', &groups[1], "one table only"},
    {"since", 's', "DAY", "only runs that began on that day (UTC) or later"},
    {"until", 'u', "DAY", "only runs that began before that day"},
    {"owner", 0, NULL, "user of a run without a label: owner of its file"},
    FORMAT_OPTION(ROW_FORMATS),
    {"output", 'o', "FILE", "standard output if not given"},
    {0},
};

const struct command cmd_facility = {
    .name = "facility",
    .operands = "DIR ...",
    .summary = "what many runs used, by user, dataset, site and week",
    .help =
        "Adds up all runs below the folders: core-hours offered, used (CPU time) and\n"
        "wasted (failed, lost or repeated attempts), efficiency (used / offered), and\n"
        "the finding that most runs have, with its cost. A run counts once. A row\n"
        "without a name (-) has the runs of which it is not known.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .run = facility,
};
