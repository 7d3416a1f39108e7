/* SPDX-License-Identifier: BSD-3-Clause */
/* save_texts.c - what attempts point to: strings, sources and processes.
 *
 * Every text is there once, under its number in the run. One that is no text for other
 * programs, because it is packed or not UTF-8, is stored as bytes. */
#include "analyze/formulas.h"
#include "base/mem.h"
#include "file/sqlite/checked.h"
#include "file/sqlite/rowset.h"
#include "file/sqlite/save.h"
#include "file/sqlite/text_bytes.h"

/* ---- strings ----------------------------------------------------------------------- */

static void put_string(sqlite3_context *out, void *context, size_t row, size_t column)
{
    const struct roast_run *run = context;
    struct roast_str text = roast__strings_get(&run->strings, (int32_t)row);

    (void)column;
    if (roast__is_text(text))
        sqlite3_result_text64(out, text.data, text.size_bytes, SQLITE_STATIC,
                              SQLITE_UTF8);
    else
        sqlite3_result_blob64(out, text.data, text.size_bytes, SQLITE_STATIC);
}

/* ---- sources ----------------------------------------------------------------------- */

static void put_number(sqlite3_context *out, int32_t number)
{
    if (number >= 0)
        sqlite3_result_int(out, number);
}

static void put_source(sqlite3_context *out, void *context, size_t row, size_t column)
{
    const struct roast_source *source =
        &((const struct roast_run *)context)->attempts.sources[row];

    switch (column) {
    case 0:
        put_number(out, source->dataset);
        break;
    case 1:
        put_number(out, source->file);
        break;
    case 2:
        put_number(out, source->tree);
        break;
    case 3:
        put_number(out, source->uuid);
        break;
    default:
        if (source->by_id)
            sqlite3_result_int64(out,
                                 column == 4 ? source->dataset_id : source->file_id);
    }
}

/* ---- processes --------------------------------------------------------------------- */

/* Their names as views show them, made one at a time. */
struct naming {
    const struct roast_run *run;
    struct roast_buf room;
    bool failed;
};

static void put_name(sqlite3_context *out, struct naming *naming, size_t row)
{
    const struct roast_worker_process *process = &naming->run->attempts.processes[row];

    if (process->worker == ROAST_NO_STRING && process->pid == 0)
        return;
    roast__buf_clear(&naming->room);
    struct roast_str name = roast__worker_key(naming->run, row, &naming->room);
    if (!name.data)
        naming->failed = true;
    else if (roast__is_text(name))
        sqlite3_result_text64(out, name.data, name.size_bytes, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
    else
        sqlite3_result_blob64(out, name.data, name.size_bytes, SQLITE_TRANSIENT);
}

static void put_known(sqlite3_context *out, int64_t value, bool known)
{
    if (known)
        sqlite3_result_int64(out, value);
}

static void put_process(sqlite3_context *out, void *context, size_t row, size_t column)
{
    struct naming *naming = context;
    const struct roast_worker_process *process = &naming->run->attempts.processes[row];

    switch (column) {
    case 0:
        put_name(out, naming, row);
        break;
    case 1:
        sqlite3_result_int64(out, (int64_t)process->id);
        break;
    case 2:
        put_number(out, process->run);
        break;
    case 3:
        put_number(out, process->host);
        break;
    case 4:
        put_number(out, process->worker);
        break;
    case 5:
        sqlite3_result_int(out, process->shares_clock);
        break;
    case 6:
        put_known(out, (int64_t)process->pid, process->pid != 0);
        break;
    case 7:
        put_known(out, (int64_t)process->cpu_ns, process->cpu_ns != 0);
        break;
    case 8:
        put_known(out, process->timeline_minus_mono_ns, process->mono_known);
        break;
    default:
        put_known(out, process->offset_ns, process->offset_ns != 0);
    }
}

/* ---- all --------------------------------------------------------------------------- */

static int fill(sqlite3 *db, const char *table, const struct roast_rowset *rows,
                roast_error *err)
{
    int status = roast__rowset_insert(db, table, rows, err);

    return status == ROAST_OK ? roast__checked_sum(db, table, err) : status;
}

int roast__save_texts(const struct roast_saving *saving, roast_error *err)
{
    struct roast_run *run = saving->run;
    struct naming naming = {.run = run};
    struct roast_rowset strings = {
        .rows = run->strings.count, .columns = 1, .cell = put_string, .context = run};
    struct roast_rowset sources = {.rows = run->attempts.source_count,
                                   .columns = 6,
                                   .cell = put_source,
                                   .context = run};
    struct roast_rowset processes = {.rows = run->attempts.process_count,
                                     .columns = 10,
                                     .cell = put_process,
                                     .context = &naming};
    int status = fill(saving->db, "strings", &strings, err);

    if (status == ROAST_OK)
        status = fill(saving->db, "sources", &sources, err);
    if (status == ROAST_OK)
        status = fill(saving->db, "processes", &processes, err);
    if (status == ROAST_OK && naming.failed)
        status = roast_error_set(err, ROAST_NO_MEMORY, "names of processes");
    roast__buf_release(&naming.room);
    return status;
}
