/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_tables.c - the tables that the views of chunks read: one narrow row per
 * attempt, and the files and workers that these name by number.
 *
 * Rows are made while SQLite reads them, some hundred at a time under the lock of the
 * run: a million of them would not fit in memory twice. */
#include "analyze/formulas.h"
#include "base/mem.h"
#include "file/sqlite/save.h"
#include "file/sqlite/schema.h"
#include "file/sqlite/virtual_table.h"
#include "file/text_bytes.h"
#include "run/cold_fields.h"
#include "run/field_set.h"
#include "run/order.h"

enum { BATCH_ROWS = 256 };

struct chunk_row {
    uint64_t known;                        /* bit n: column n of roast_chunk_column */
    int64_t values[ROAST_CHUNK_ROW_COUNT]; /* of texts: numbers of strings */
};

_Static_assert(ROAST_CHUNK_ROW_COUNT <= 64, "chunk_row.known has 64 bits");

struct chunk_table {
    struct roast_run *run;
    uint32_t *order; /* owned; the rows in order of their start */
    size_t rows;     /* later attempts are left out */
    struct roast_roles roles;
    int64_t next_chunk_id; /* rows are read in order */
    size_t first;          /* row of the batch */
    size_t count;
    struct chunk_row *batch; /* owned */
};

static void set(struct chunk_row *row, enum roast_chunk_column column, int64_t value)
{
    row->values[column] = value;
    row->known |= UINT64_C(1) << column;
}

/* ---- one row; the lock is held --------------------------------------------------- */

static void fill_state(struct chunk_table *table, struct chunk_row *out, size_t row)
{
    const struct roast_run *run = table->run;
    const struct roast_retry *retry = roast__roles_retry(&table->roles, row);
    int64_t role = table->roles.of_row[row];

    if (role == ROAST_ROLE_OPEN && run->end_ns == 0)
        role = ROAST_CHUNK_RUNNING;
    set(out, ROAST_CHUNK_ROW_state, role);
    set(out, ROAST_CHUNK_ROW_attempt, retry ? retry->attempt : 1);
    set(out, ROAST_CHUNK_ROW_worker, run->attempts.process[row]);
    if (run->attempts.source[row] >= 0)
        set(out, ROAST_CHUNK_ROW_file, run->attempts.source[row]);
    if (run->attempts.cold_fields[row] != 0)
        set(out, ROAST_CHUNK_ROW_chunk_id, table->next_chunk_id++);
}

/* Values that only the record has, or has more precisely. */
static void fill_from_record(struct chunk_table *table, struct chunk_row *out,
                             size_t row)
{
    static const struct {
        enum roast_field field;
        enum roast_chunk_column column;
    } numbers[] = {{ROAST_FIELD_thread, ROAST_CHUNK_ROW_thread},
                   {ROAST_FIELD_concurrency, ROAST_CHUNK_ROW_concurrency},
                   {ROAST_FIELD_task_ns, ROAST_CHUNK_ROW_task_ns},
                   {ROAST_FIELD_task_cpu_ns, ROAST_CHUNK_ROW_task_cpu_ns},
                   {ROAST_FIELD_output_bytes, ROAST_CHUNK_ROW_output_bytes}};
    const uint64_t wanted = ROAST_BIT(thread) | ROAST_BIT(concurrency) |
                            ROAST_BIT(task_ns) | ROAST_BIT(task_cpu_ns) |
                            ROAST_BIT(undecorated) | ROAST_BIT(output_bytes) |
                            ROAST_BIT(ladder);
    struct roast_ladder ladder;
    roast_record rec;

    bool has_record = roast__attempt_fields(table->run, row, wanted, &rec);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (roast_record_has(&rec, numbers[i].field) &&
            rec.values[numbers[i].field].u64 <= INT64_MAX)
            set(out, numbers[i].column, rec.values[numbers[i].field].i64);
    }
    if (has_record)
        set(out, ROAST_CHUNK_ROW_undecorated,
            roast_record_has(&rec, ROAST_FIELD_undecorated) &&
                rec.values[ROAST_FIELD_undecorated].u64 != 0);
    if (!roast_record_has(&rec, ROAST_FIELD_ladder) ||
        roast_ladder_read(&ladder, rec.values[ROAST_FIELD_ladder].str, NULL) < 0)
        return;
    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        if (roast_ladder_has(&ladder, (enum roast_ladder_item)i) &&
            ladder.values[i] <= INT64_MAX)
            set(out, (enum roast_chunk_column)(ROAST_CHUNK_ROW_FIRST_ITEM + i),
                (int64_t)ladder.values[i]);
    }
}

/* Only a record without identity itself has the process that made it. */
static void fill_own_process(struct chunk_table *table, struct chunk_row *out,
                             size_t row)
{
    const struct roast_run *run = table->run;
    static const struct {
        enum roast_field field;
        enum roast_chunk_column column;
    } texts[] = {{ROAST_FIELD_worker, ROAST_CHUNK_ROW_worker_name},
                 {ROAST_FIELD_host, ROAST_CHUNK_ROW_host}};
    roast_record rec;

    if (run->attempts.processes[run->attempts.process[row]].run != ROAST_NO_STRING)
        return;
    (void)roast__attempt_fields(
        run, row, ROAST_BIT(worker) | ROAST_BIT(host) | ROAST_BIT(pid), &rec);
    for (size_t i = 0; i < 2; i++) {
        int32_t number =
            roast_record_has(&rec, texts[i].field)
                ? roast__strings_find(&run->strings, rec.values[texts[i].field].str)
                : ROAST_NO_STRING;
        if (number >= 0)
            set(out, texts[i].column, number);
    }
    if (roast_record_has(&rec, ROAST_FIELD_pid))
        set(out, ROAST_CHUNK_ROW_pid, rec.values[ROAST_FIELD_pid].i64);
}

static void fill_row(struct chunk_table *table, struct chunk_row *out, size_t row)
{
    static const struct {
        enum roast_attempt_column from;
        enum roast_chunk_column to;
    } same[] = {
#define SAME(name) {ROAST_COLUMN_##name, ROAST_CHUNK_ROW_##name}
        SAME(entry_start),    SAME(entry_stop),       SAME(num_events),
        SAME(start_ns),       SAME(duration_ns),      SAME(cpu_ns),
        SAME(task_start_ns),  SAME(rss_before_bytes), SAME(rss_after_bytes),
        SAME(rss_peak_bytes), SAME(bytes_read),       SAME(bytes_before),
#undef SAME
    };
    const struct roast_column *columns = table->run->attempts.columns;

    out->known = 0;
    fill_state(table, out, row);
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        if (roast__column_has(&columns[same[i].from], row))
            set(out, same[i].to, columns[same[i].from].values[row]);
    }
    if (roast__column_has(&columns[ROAST_COLUMN_error_type], row))
        set(out, ROAST_CHUNK_ROW_error_type,
            columns[ROAST_COLUMN_error_type].values[row]);
    fill_own_process(table, out, row);
    fill_from_record(table, out, row);
}

/* ---- all rows -------------------------------------------------------------------- */

static void fill_batch(struct chunk_table *table, size_t first)
{
    size_t left = table->rows - first;

    table->first = first;
    table->count = left < BATCH_ROWS ? left : (size_t)BATCH_ROWS;
    roast__run_lock(table->run);
    for (size_t i = 0; i < table->count; i++)
        fill_row(table, &table->batch[i], table->order[first + i]);
    roast__run_unlock(table->run);
}

/* Passes a text to SQLite, or bytes if it is not valid UTF-8. */
static void put_text(sqlite3_context *out, struct roast_str text)
{
    if (text.data && roast__is_text(text))
        sqlite3_result_text64(out, text.data, text.size_bytes, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
    else if (text.data)
        sqlite3_result_blob64(out, text.data, text.size_bytes, SQLITE_TRANSIENT);
}

static void put_string(sqlite3_context *out, struct roast_run *run, int32_t number)
{
    roast__run_lock(run);
    put_text(out, roast__strings_get(&run->strings, number));
    roast__run_unlock(run);
}

static void put_cell(sqlite3_context *out, void *context, size_t row, size_t column)
{
    struct chunk_table *table = context;

    if (row - table->first >= table->count)
        fill_batch(table, row);
    const struct chunk_row *cells = &table->batch[row - table->first];
    if (!((cells->known >> column) & 1))
        return;
    if (column == ROAST_CHUNK_ROW_error_type || column == ROAST_CHUNK_ROW_worker_name ||
        column == ROAST_CHUNK_ROW_host)
        put_string(out, table->run, (int32_t)cells->values[column]);
    else
        sqlite3_result_int64(out, cells->values[column]);
}

/* Returns owned; NULL when out of memory. The lock is held. */
static uint32_t *order_rows(const struct roast_attempts *attempts)
{
    uint32_t *rows = roast__realloc(NULL, (attempts->count + 1) * sizeof(*rows));

    for (size_t i = 0; rows && i < attempts->count; i++)
        rows[i] = (uint32_t)i;
    if (rows && roast__rows_sort(rows, attempts->count, attempts))
        return rows;
    roast__free(rows);
    return NULL;
}

static int save_rows(sqlite3 *db, struct roast_run *run, roast_error *err)
{
    struct chunk_table table = {.run = run};
    int status;

    roast__run_lock(run);
    roast__run_resolve_pending(run);
    table.rows = run->attempts.count;
    status = roast__roles_find(&table.roles, run, err);
    table.order = order_rows(&run->attempts);
    roast__run_unlock(run);
    table.batch = roast__realloc(NULL, BATCH_ROWS * sizeof(*table.batch));
    if (status == ROAST_OK && (!table.order || !table.batch))
        status = roast_error_set(err, ROAST_NO_MEMORY, "the order of %zu attempts",
                                 table.rows);
    if (status == ROAST_OK)
        status = roast__virtual_table_insert(
            db, "chunk_rows",
            &(struct roast_virtual_table){.rows = table.rows,
                                          .columns = ROAST_CHUNK_ROW_COUNT,
                                          .cell = put_cell,
                                          .context = &table},
            err);
    roast__roles_release(&table.roles);
    roast__free(table.order);
    roast__free(table.batch);
    return status;
}

/* ---- files and workers ----------------------------------------------------------- */

static void put_file(sqlite3_context *out, void *context, size_t row, size_t column)
{
    struct roast_run *run = context;

    roast__run_lock(run);
    const struct roast_source *source = &run->attempts.sources[row];
    const int32_t texts[] = {source->dataset, source->file, source->tree, source->uuid};
    put_text(out, roast__strings_get(&run->strings, texts[column]));
    roast__run_unlock(run);
}

struct worker_table {
    struct roast_run *run;
    struct roast_buf room; /* for a name */
    bool failed;
};

static void put_worker(sqlite3_context *out, void *context, size_t row, size_t column)
{
    struct worker_table *table = context;
    struct roast_run *run = table->run;

    roast__run_lock(run);
    const struct roast_worker_process *process = &run->attempts.processes[row];
    if (column == 0 && (process->worker != ROAST_NO_STRING || process->pid != 0)) {
        roast__buf_clear(&table->room);
        struct roast_str name = roast__worker_key(run, row, &table->room);
        table->failed |= !name.data;
        put_text(out, name);
    }
    if (column == 1)
        put_text(out, roast__strings_get(&run->strings, process->host));
    if (column == 2 && process->pid != 0)
        sqlite3_result_int64(out, (int64_t)process->pid);
    roast__run_unlock(run);
}

int roast__save_chunk_tables(sqlite3 *db, struct roast_run *run, roast_error *err)
{
    struct worker_table workers = {.run = run};
    int status = save_rows(db, run, err);

    roast__run_lock(run);
    size_t file_count = run->attempts.source_count;
    size_t worker_count = run->attempts.process_count;
    roast__run_unlock(run);
    if (status == ROAST_OK)
        status = roast__virtual_table_insert(
            db, "chunk_files",
            &(struct roast_virtual_table){
                .rows = file_count, .columns = 4, .cell = put_file, .context = run},
            err);
    if (status == ROAST_OK)
        status = roast__virtual_table_insert(
            db, "chunk_workers",
            &(struct roast_virtual_table){.rows = worker_count,
                                          .columns = 3,
                                          .cell = put_worker,
                                          .context = &workers},
            err);
    if (status == ROAST_OK && workers.failed)
        status = roast_error_set(err, ROAST_NO_MEMORY, "names of workers");
    roast__buf_release(&workers.room);
    return status;
}
