/* SPDX-License-Identifier: BSD-3-Clause */
/* load_texts.c - what attempts point to: strings, names, sources and processes.
 *
 * All are known by their number. One that is lost leaves a gap, which is filled with
 * something empty and remembered: nothing that points there is believed. */
#include "base/mem.h"
#include "file/sqlite/load.h"
#include "file/sqlite/schema.h"
#include "run/restore.h"

/* Where the columns of a table are, by their place in the lists below. */
enum { MOST_COLUMNS = 9 };

struct places {
    int at[MOST_COLUMNS];
};

static void find_columns(struct places *places, const struct roast_checked *in,
                         const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        places->at[i] = roast__checked_column(in, names[i]);
}

static bool has_int(const struct roast_checked *in, int at)
{
    return at >= 0 && sqlite3_column_type(in->select, at) == SQLITE_INTEGER;
}

static int64_t int_at(const struct roast_checked *in, int at)
{
    return has_int(in, at) ? sqlite3_column_int64(in->select, at) : 0;
}

/* ---- gaps -------------------------------------------------------------------------- */

static int no_memory(const char *table, roast_error *err)
{
    return roast_error_set(err, ROAST_NO_MEMORY, "the table %s", table);
}

static void remember_lost(struct roast_buf *bits, size_t number)
{
    while (roast__buf_ok(bits) && bits->size_bytes <= number / 8)
        roast__buf_put(bits, "", 1);
    if (roast__buf_ok(bits))
        bits->data[number / 8] |= (unsigned char)(1u << (number & 7));
}

/* The least that a row takes in a file: SQLite spends five bytes and one per column. */
enum { STRING_ROW_BYTES = 7, SOURCE_ROW_BYTES = 12, PROCESS_ROW_BYTES = 15 };

/* The number of the row that comes next; negative when there are more rows before it
 * than any file of this size can hold. */
static int64_t next_number(const struct roast_loading *loading,
                           const struct roast_checked *in, size_t have,
                           size_t row_bytes)
{
    uint64_t number = (uint64_t)sqlite3_column_int64(in->select, 0);

    if (number < have || number > loading->file_bytes / row_bytes ||
        number >= INT32_MAX)
        return -1;
    return (int64_t)number;
}

/* ---- strings and names ------------------------------------------------------------- */

static int take_string(struct roast_loading *loading, const struct roast_checked *in,
                       roast_error *err)
{
    struct roast_strings *strings = &loading->run->strings;
    struct roast_str text = roast__sql_text(in->select, 1);
    int64_t number = next_number(loading, in, strings->count, STRING_ROW_BYTES);

    if (number < 0 || sqlite3_column_count(in->select) < 2 || !text.data)
        return ROAST_OK; /* a gap */
    while (strings->count < (size_t)number) {
        remember_lost(&loading->lost_strings, strings->count);
        if (!roast__strings_append(strings, roast_str_of("")))
            return no_memory("strings", err);
    }
    if (!roast__strings_append(strings, text) || !roast__buf_ok(&loading->lost_strings))
        return no_memory("strings", err);
    return ROAST_OK;
}

static int take_names(struct roast_loading *loading,
                      const struct roast_segment_part *part, struct roast_cursor *cur,
                      roast_error *err)
{
    struct roast_run *run = loading->run;

    for (uint32_t i = 0; i < part->items && !cur->failed; i++) {
        uint64_t number = roast__cursor_varint(cur);
        if (!roast__loading_has_string(loading, number))
            roast__loading_miss(loading, 1, "name");
        else if (!roast__names_learn(&run->names, &run->strings, (int32_t)number))
            return no_memory("strings", err);
    }
    return ROAST_OK;
}

/* The number of a string in a column, or ROAST_NO_STRING. */
static int32_t string_at(const struct roast_loading *loading,
                         const struct roast_checked *in, int at)
{
    uint64_t number = (uint64_t)int_at(in, at);

    if (!has_int(in, at) || !roast__loading_has_string(loading, number))
        return ROAST_NO_STRING;
    return (int32_t)number;
}

/* ---- sources ----------------------------------------------------------------------- */

static const char *const source_columns[] = {"dataset", "file",       "tree",
                                             "uuid",    "dataset_id", "file_id"};

static int take_source(struct roast_loading *loading, const struct roast_checked *in,
                       roast_error *err)
{
    static const struct roast_source nothing = {-1, -1, -1, -1, false, 0, 0};
    struct roast_attempts *attempts = &loading->run->attempts;
    int64_t number = next_number(loading, in, attempts->source_count, SOURCE_ROW_BYTES);
    struct places places;

    if (number < 0)
        return ROAST_OK;
    find_columns(&places, in, source_columns, 6);
    struct roast_source source = {
        .dataset = string_at(loading, in, places.at[0]),
        .file = string_at(loading, in, places.at[1]),
        .tree = string_at(loading, in, places.at[2]),
        .uuid = string_at(loading, in, places.at[3]),
        .by_id = has_int(in, places.at[4]),
        .dataset_id = (uint32_t)int_at(in, places.at[4]),
        .file_id = (uint32_t)int_at(in, places.at[5]),
    };
    while (attempts->source_count < (size_t)number) {
        if (!roast__sources_append(attempts, &nothing))
            return no_memory("sources", err);
    }
    return roast__sources_append(attempts, &source) ? ROAST_OK
                                                    : no_memory("sources", err);
}

/* ---- processes --------------------------------------------------------------------- */

static const char *const process_columns[] = {
    "process_id",   "run", "host",   "worker",
    "shares_clock", "pid", "cpu_ns", "timeline_minus_mono_ns",
    "offset_ns"};

static struct roast_worker_process read_process(const struct roast_loading *loading,
                                                const struct roast_checked *in)
{
    struct places places;

    find_columns(&places, in, process_columns, 9);
    return (struct roast_worker_process){
        .id = (uint64_t)int_at(in, places.at[0]),
        .run = string_at(loading, in, places.at[1]),
        .host = string_at(loading, in, places.at[2]),
        .worker = string_at(loading, in, places.at[3]),
        .shares_clock = int_at(in, places.at[4]) != 0,
        .pid = (uint64_t)int_at(in, places.at[5]),
        .cpu_ns = (uint64_t)int_at(in, places.at[6]),
        .timeline_minus_mono_ns = int_at(in, places.at[7]),
        .mono_known = has_int(in, places.at[7]),
        .offset_ns = int_at(in, places.at[8]),
    };
}

static int take_process(struct roast_loading *loading, const struct roast_checked *in,
                        roast_error *err)
{
    static const struct roast_worker_process nothing = {
        .run = -1, .host = -1, .worker = -1};
    struct roast_attempts *attempts = &loading->run->attempts;
    int64_t number =
        next_number(loading, in, attempts->process_count, PROCESS_ROW_BYTES);

    if (number < 0)
        return ROAST_OK;
    while (attempts->process_count < (size_t)number) {
        remember_lost(&loading->lost_processes, attempts->process_count);
        if (!roast__processes_append(attempts, &nothing))
            return no_memory("processes", err);
    }
    struct roast_worker_process process = read_process(loading, in);
    int run = roast__checked_column(in, "run");
    if (process.run == ROAST_NO_STRING && has_int(in, run)) {
        remember_lost(&loading->lost_processes, attempts->process_count);
        process = nothing; /* nobody can tell whose attempts these are */
    }
    if (!roast__processes_append(attempts, &process) ||
        !roast__buf_ok(&loading->lost_processes))
        return no_memory("processes", err);
    return ROAST_OK;
}

/* ---- all --------------------------------------------------------------------------- */

/* What the row of the run points to. */
static int take_run(struct roast_loading *loading, const struct roast_checked *in,
                    roast_error *err)
{
    struct roast_attempts *attempts = &loading->run->attempts;
    int host = roast__checked_column(in, roast__run_column_name(ROAST_RUN_host));
    int handmade =
        roast__checked_column(in, roast__run_column_name(ROAST_RUN_handmade_process));
    uint64_t process = (uint64_t)int_at(in, handmade);

    (void)err;
    loading->run->host = string_at(loading, in, host);
    if (has_int(in, handmade) && process < attempts->process_count &&
        attempts->processes[process].run == ROAST_NO_STRING)
        attempts->handmade_process = (int32_t)process + 1;
    return ROAST_OK;
}

int roast__load_texts(struct roast_loading *loading, roast_error *err)
{
    int status = roast__load_table(loading, "strings", take_string, err);

    if (status == ROAST_OK)
        status = roast__load_segment(loading, ROAST_SEGMENT_names, take_names, err);
    if (status == ROAST_OK)
        status = roast__load_table(loading, "sources", take_source, err);
    if (status == ROAST_OK)
        status = roast__load_table(loading, "processes", take_process, err);
    if (status == ROAST_OK)
        status = roast__load_table(loading, "run", take_run, err);
    return status;
}
