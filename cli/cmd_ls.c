/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_ls.c - roast ls: the runs below a folder, one line each.
 *
 * Pointers are sorted, not entries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "out.h"
#include "roast/report.h"
#include "rows.h"
#include "source.h"
#include "walk.h"

struct entry {
    const char *path;
    struct roast_run_info info;
    bool readable;
    roast_error err;
};

struct listing {
    struct paths paths;
    struct entry *entries; /* owned, as many as paths */
    struct entry **order;  /* owned */
    size_t count;          /* of order */
};

/* ---- order -------------------------------------------------------------------- */

/* By what is sorted: one of the texts or numbers of a run. */
struct key {
    const char *name;
    size_t offset;
    enum { KEY_TIME, KEY_NUMBER, KEY_TEXT, KEY_PATH } kind;
};

#define NUMBER(field) \
    { \
#field, offsetof(struct roast_run_info, field), KEY_NUMBER \
    }
#define TEXT(field) \
    { \
#field, offsetof(struct roast_run_info, field), KEY_TEXT \
    }

static const struct key keys[] = {
    {"started", offsetof(struct roast_run_info, start_ns), KEY_TIME},
    {"wall", offsetof(struct roast_run_info, wall_s), KEY_NUMBER},
    NUMBER(events),
    {"rate", offsetof(struct roast_run_info, event_rate), KEY_NUMBER},
    NUMBER(chunks),
    NUMBER(failed),
    TEXT(state),
    TEXT(processor),
    {"path", 0, KEY_PATH},
};
#define KEY_NAMES "started|wall|events|rate|chunks|failed|state|processor|path"

static struct {
    const struct key *key;
    int sign;
} sorting; /* qsort hands nothing on */

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_keys(const struct entry *a, const struct entry *b)
{
    const char *left = (const char *)&a->info + sorting.key->offset;
    const char *right = (const char *)&b->info + sorting.key->offset;
    int64_t times[2];
    double numbers[2];

    if (sorting.key->kind == KEY_TEXT)
        return strcmp(left, right);
    if (sorting.key->kind == KEY_TIME) {
        memcpy(&times[0], left, sizeof(times[0]));
        memcpy(&times[1], right, sizeof(times[1]));
        return (times[0] > times[1]) - (times[0] < times[1]);
    }
    memcpy(&numbers[0], left, sizeof(numbers[0]));
    memcpy(&numbers[1], right, sizeof(numbers[1]));
    return sorting.key->kind == KEY_NUMBER ? compare_numbers(numbers[0], numbers[1])
                                           : 0;
}

static int compare(const void *a, const void *b)
{
    const struct entry *left = *(struct entry *const *)a;
    const struct entry *right = *(struct entry *const *)b;
    int order = 0;

    if (left->readable != right->readable) /* those come last in any order */
        return left->readable ? -1 : 1;
    if (left->readable)
        order = compare_keys(left, right);
    if (order == 0)
        order = strcmp(left->path, right->path);
    return sorting.sign * order;
}

static void sort(struct listing *listing, const struct arguments *args)
{
    const char *wanted = args_value(args, "sort");

    sorting.key = &keys[0];
    sorting.sign = args_value(args, "reverse") ? -1 : 1;
    for (size_t i = 0; wanted && i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i].name, wanted) == 0)
            sorting.key = &keys[i];
    if (listing->count > 0)
        qsort(listing->order, listing->count, sizeof(struct entry *), compare);
}

/* ---- labels ------------------------------------------------------------------- */

struct wanted_label {
    const char *text; /* "key=value" */
    bool found;
};

static void compare_label(void *context, struct roast_str name, struct roast_str text)
{
    struct wanted_label *wanted = context;
    size_t size = strlen(wanted->text);

    if (size == name.size_bytes + 1 + text.size_bytes &&
        memcmp(wanted->text, name.data, name.size_bytes) == 0 &&
        wanted->text[name.size_bytes] == '=' &&
        memcmp(wanted->text + name.size_bytes + 1, text.data, text.size_bytes) == 0)
        wanted->found = true;
}

/* Labels are shown as one text, which may lack some or have one that looks like two: the
 * run itself knows. */
static bool run_has_label(const char *path, const char *label)
{
    struct wanted_label wanted = {label, false};
    roast_runfile *file = NULL;
    roast_run *run = NULL;
    roast_error err = {0};

    if (roast_runfile_open(&file, path, &err) == ROAST_OK &&
        roast_runfile_run(file, false, &run, &err) == ROAST_OK)
        roast_run_notes(run, ROAST_NOTES_label, compare_label, &wanted);
    else
        note(path, "left out, its labels are not known: %s", err.message);
    roast_runfile_close(file);
    return wanted.found;
}

static bool shows_label(const char *labels, const char *label)
{
    size_t size = strlen(label);

    if (strstr(label, ", "))
        return false; /* it would be more than one of them */
    for (const char *at = labels;; at += 2) {
        if (strncmp(at, label, size) == 0 &&
            (at[size] == '\0' || strncmp(at + size, ", ", 2) == 0))
            return true;
        at = strstr(at, ", ");
        if (!at)
            return false;
    }
}

static bool has_label(const struct entry *entry, const char *label)
{
    return entry->readable &&
           (entry->info.labels_whole ? shows_label(entry->info.labels, label)
                                     : run_has_label(entry->path, label));
}

static bool has_labels(const struct entry *entry, const struct arguments *args)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, "label") == 0 &&
            !has_label(entry, args->given[i].value))
            return false;
    }
    return true;
}

static int check_labels(const struct arguments *args)
{
    for (size_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].option->name, "label") == 0 &&
            !strchr(args->given[i].value, '='))
            return fail(CODE_USAGE, "ls", "--label \"%s\" is not KEY=VALUE",
                        args->given[i].value);
    return CODE_OK;
}

/* ---- text --------------------------------------------------------------------- */

enum { COLUMN_COUNT = 10, RIGHT_COLUMNS = 0x3e };

static const char *const names[COLUMN_COUNT] = {
    "started", "wall",  "events",    "rate",   "chunks",
    "failed",  "state", "processor", "labels", "path"};

static struct roast_cell text_cell(const char *text)
{
    return (struct roast_cell){.type = *text ? ROAST_CELL_TEXT : ROAST_CELL_ABSENT,
                               .text = roast_str_of(text)};
}

static struct roast_cell number_cell(char room[ROAST_NUMBER_BYTES], double value,
                                     const char *unit)
{
    if (value < 0)
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    (void)roast_format_number(room, value, unit);
    return text_cell(room);
}

static void put_line(struct rows *rows, const struct entry *entry)
{
    const struct roast_run_info *info = &entry->info;
    char started[ROAST_TIME_BYTES] = "";
    char numbers[5][ROAST_NUMBER_BYTES];

    if (info->start_ns > 0 && roast_format_time(started, info->start_ns) > 16) {
        started[10] = ' ';
        started[16] = '\0'; /* to the minute */
    }
    struct roast_cell cells[COLUMN_COUNT] = {
        text_cell(started),
        number_cell(numbers[0], info->wall_s, "s"),
        number_cell(numbers[1], info->events, ""),
        number_cell(numbers[2], info->event_rate, "Hz"),
        number_cell(numbers[3], info->chunks, ""),
        number_cell(numbers[4], info->failed, ""),
        text_cell(info->state),
        text_cell(info->processor),
        text_cell(info->labels),
        text_cell(entry->path),
    };
    rows_put(rows, cells);
}

static void put_text(const struct listing *listing)
{
    struct rows rows = {.format = FORMAT_TEXT, .right_columns = RIGHT_COLUMNS};
    size_t i = 0;

    if (listing->count > 0 && listing->order[0]->readable)
        rows_begin(&rows, names, COLUMN_COUNT);
    for (; i < listing->count && listing->order[i]->readable; i++)
        put_line(&rows, listing->order[i]);
    rows_end(&rows);
    for (; i < listing->count; i++) {
        (void)out_data(roast_str_of(listing->order[i]->path));
        out_text(": unreadable: ");
        (void)out_data(roast_str_of(listing->order[i]->err.message));
        out_text("\n");
    }
}

/* ---- JSON --------------------------------------------------------------------- */

static void put_number(struct roast_json *json, const char *key, double value)
{
    json_key(json, key);
    if (value < 0)
        roast_json_null(json);
    else
        roast_json_number(json, value);
}

static void put_count(struct roast_json *json, const char *key, double value)
{
    json_key(json, key);
    if (value < 0 || value > 1e18)
        roast_json_null(json);
    else
        roast_json_count(json, (uint64_t)value);
}

static void put_info(struct roast_json *json, const struct roast_run_info *info)
{
    json_text(json, "id", info->id);
    json_key(json, "live");
    roast_json_bool(json, info->live);
    json_text(json, "state", info->state);
    json_key(json, "start_ns");
    roast_json_integer(json, info->start_ns);
    put_number(json, "wall_seconds", info->wall_s);
    put_count(json, "events", info->events);
    put_number(json, "event_rate_hz", info->event_rate);
    put_count(json, "chunks", info->chunks);
    put_count(json, "failed_chunks", info->failed);
    json_text(json, "processor", info->processor);
    json_text(json, "executor", info->executor);
    json_text(json, "labels", info->labels);
}

static void put_json(const struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        const struct entry *entry = listing->order[i];
        struct roast_json json = out_json();
        roast_json_open(&json, '{');
        json_text(&json, "path", entry->path);
        if (entry->readable)
            put_info(&json, &entry->info);
        else
            json_text(&json, "unreadable", entry->err.message);
        roast_json_close(&json, '}');
        out_text("\n");
    }
}

/* ---- the command -------------------------------------------------------------- */

static int collect(struct listing *listing, const char *place)
{
    struct stat found;
    size_t left_out; /* told already */

    if (!*place || stat(place, &found) != 0 || S_ISDIR(found.st_mode))
        return find_runs(&listing->paths, &left_out, place);
    paths_add(&listing->paths, "", place);
    return CODE_OK;
}

static void read_all(struct listing *listing, const struct arguments *args)
{
    size_t count = listing->paths.count;

    listing->entries = need_memory(NULL, count * sizeof(*listing->entries));
    listing->order = need_memory(NULL, count * sizeof(void *));
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = &listing->entries[i];
        *entry = (struct entry){.path = listing->paths.items[i]};
        entry->readable =
            roast_run_info_read(&entry->info, entry->path, &entry->err) == ROAST_OK;
        if (has_labels(entry, args))
            listing->order[listing->count++] = entry;
    }
}

static int ls(const struct arguments *args)
{
    struct listing listing = {0};
    const char *place = args->operand_count > 0 ? args->operands[0] : "";
    int code = check_labels(args);

    if (code == CODE_OK)
        code = collect(&listing, place);
    if (code == CODE_OK) {
        if (listing.paths.count == 0)
            note("ls", "no runs below %s", *place ? place : "this folder");
        read_all(&listing, args);
        sort(&listing, args);
        if (args_format(args) == FORMAT_JSON)
            put_json(&listing);
        else
            put_text(&listing);
    }
    free(listing.entries);
    free(listing.order);
    paths_release(&listing.paths);
    return code;
}

static const struct option options[] = {
    {"sort", 's', KEY_NAMES, "by what; started if not given"},
    {"reverse", 'r', NULL, "the other way round"},
    {"label", 'l', "KEY=VALUE", "only runs with this label; may be repeated"},
    FORMAT_OPTION("text|json"),
    {0},
};

const struct command cmd_ls = {
    .name = "ls",
    .operands = "[DIR]",
    .summary = "the runs below a folder, one line each",
    .help = "Looks into all folders below DIR, or below the one you are in; links are\n"
            "not followed. Times are UTC. Files that cannot be read come last.\n",
    .options = options,
    .max_operands = 1,
    .run = ls,
};
