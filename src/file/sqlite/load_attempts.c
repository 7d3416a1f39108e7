/* SPDX-License-Identifier: BSD-3-Clause */
/* load_attempts.c - the rows of attempts.
 *
 * A block of rows is read, summed up, and only then believed; SQLite is asked for one
 * block at a time, so that a page which it cannot read costs the blocks in it and no
 * others. Rows that are left out make the others move up. */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "file/sqlite/attempt_row.h"
#include "file/sqlite/ladder_cells.h"
#include "file/sqlite/load.h"
#include "run/restore.h"

enum { MOST_COLUMNS = 64 };

/* The table while it is read. */
struct table {
    sqlite3_stmt *select; /* owned */
    int columns;
    uint32_t begin;                 /* sum of a block without rows */
    int8_t column_of[MOST_COLUMNS]; /* roast_row_column, or -1 for one of later */
    struct roast_contents contents;
    struct roast_attempt_row *rows; /* owned; of one block */
};

/* ---- reading a block --------------------------------------------------------------- */

static int find_columns(struct table *table, roast_error *err)
{
    struct roast_buf name = {NULL, 0, 0, false};

    memset(table->column_of, -1, sizeof(table->column_of));
    for (int i = 0; i < ROAST_ROW_COUNT && roast__buf_ok(&name); i++) {
        name.size_bytes = 0;
        roast__row_put_name(&name, (enum roast_row_column)i);
        roast__buf_put(&name, "", 1);
        for (int k = 0; roast__buf_ok(&name) && k < table->columns; k++) {
            const char *other = sqlite3_column_name(table->select, k);
            if (other && strcmp(other, (const char *)name.data) == 0)
                table->column_of[k] = (int8_t)i;
        }
    }
    bool ok = roast__buf_ok(&name);
    roast__buf_release(&name);
    return ok ? ROAST_OK : roast_error_set(err, ROAST_NO_MEMORY, "names of columns");
}

/* Adds the row that SQLite is at to the sum of its block. */
static uint32_t read_row(struct table *table, struct roast_attempt_row *out,
                         uint32_t sum)
{
    int64_t values[MOST_COLUMNS];
    uint64_t known = 0;

    memset(out, 0, sizeof(*out));
    for (int i = 0; i < table->columns; i++) {
        values[i] = 0;
        if (sqlite3_column_type(table->select, i) != SQLITE_INTEGER)
            continue;
        values[i] = sqlite3_column_int64(table->select, i);
        known |= UINT64_C(1) << i;
        if (table->column_of[i] >= 0)
            roast__row_set(out, (enum roast_row_column)table->column_of[i], values[i]);
    }
    return roast__sum_add_ints(sum, known, values, (size_t)table->columns);
}

/* 1: the block is whole; 0: it is not. */
static int read_block(struct table *table, uint64_t first, uint64_t count,
                      roast_error *err)
{
    roast_error why = {0};
    uint32_t sum = table->begin;
    uint64_t rows = 0;
    int got = 0;

    (void)sqlite3_reset(table->select);
    (void)sqlite3_bind_int64(table->select, 1, (int64_t)first);
    (void)sqlite3_bind_int64(table->select, 2, (int64_t)(first + count - 1));
    for (; rows < count; rows++) {
        got = roast__sql_step(table->select, &why);
        if (got <= 0)
            break;
        sum = read_row(table, &table->rows[rows], sum);
        if (table->rows[rows].values[ROAST_ROW_id] != (int64_t)(first + rows))
            return 0;
    }
    if (got < 0 && why.code != ROAST_BAD_DATA)
        return roast_error_set(err, got, "%s", why.message);
    const unsigned char *sums =
        table->contents.sums.data + first / ROAST_ATTEMPT_BLOCK_ROWS * 4;
    return rows == count && sum == roast__load_fixed(sums, 4);
}

/* ---- believing a row --------------------------------------------------------------- */

static bool may_be_negative(int column)
{
    return column == ROAST_COLUMN_start_ns || column == ROAST_COLUMN_task_start_ns;
}

static bool is_sound(const struct roast_loading *loading,
                     const struct roast_attempt_row *row)
{
    const struct roast_attempts *attempts = &loading->run->attempts;
    uint64_t process = (uint64_t)row->values[ROAST_ROW_process];
    uint64_t source = (uint64_t)row->values[ROAST_ROW_source];
    uint64_t state = (uint64_t)row->values[ROAST_ROW_state];

    for (int i = 0; i < ROAST_COLUMN_COUNT; i++) {
        if (row->values[ROAST_ROW_FIRST_COLUMN + i] < 0 && !may_be_negative(i))
            return false;
    }
    return roast__row_has(row, ROAST_ROW_process) &&
           process < attempts->process_count &&
           !roast__buf_bit(&loading->lost_processes, process) &&
           (!roast__row_has(row, ROAST_ROW_source) ||
            source < attempts->source_count) &&
           (state & 3) <= ROAST_CHUNK_FAILED;
}

static bool put_column(struct roast_attempts *attempts, size_t row, int column,
                       int64_t value)
{
    if (!roast__column_reserve(&attempts->columns[column], attempts->cap))
        return false;
    roast__column_put(&attempts->columns[column], row, value);
    return true;
}

static bool put_columns(const struct roast_loading *loading, size_t to,
                        const struct roast_attempt_row *row)
{
    struct roast_attempts *attempts = &loading->run->attempts;

    for (int i = 0; i < ROAST_COLUMN_COUNT; i++) {
        enum roast_row_column at = (enum roast_row_column)(ROAST_ROW_FIRST_COLUMN + i);
        if (!roast__row_has(row, at) || i == ROAST_COLUMN_ladder)
            continue;
        if (i == ROAST_COLUMN_error_type &&
            !roast__loading_has_string(loading, (uint64_t)row->values[at]))
            continue; /* its text is lost, which was counted */
        if (!put_column(attempts, to, i, row->values[at]))
            return false;
    }
    return true;
}

static bool put_ladder(struct roast_attempts *attempts, size_t to,
                       const struct roast_attempt_row *row)
{
    unsigned char blob[ROAST_LADDER_BOUND_BYTES];

    if (!roast__row_has(row, ROAST_ROW_ladder) ||
        row->values[ROAST_ROW_ladder] != ROAST_LADDER_IN_ITEMS)
        return true;
    size_t size = roast__ladder_of_cells(blob, row);
    int64_t at =
        roast__ladder_pack(attempts, (struct roast_str){(const char *)blob, size});
    return at >= 0 && put_column(attempts, to, ROAST_COLUMN_ladder, at);
}

/* ---- all --------------------------------------------------------------------------- */

static bool put_row(struct roast_loading *loading, struct roast_attempt_row *row)
{
    struct roast_attempts *attempts = &loading->run->attempts;
    uint32_t id = (uint32_t)row->values[ROAST_ROW_id];

    roast__row_unpack(row, loading->run->start_ns);
    if (!is_sound(loading, row)) {
        roast__loading_miss(loading, 1, "attempt");
        return true;
    }
    if (!roast__attempts_room(attempts))
        return false;
    int64_t state = row->values[ROAST_ROW_state];
    size_t to = roast__attempts_append(
        attempts, (int32_t)row->values[ROAST_ROW_process], 0, false);
    attempts->status[to] = state & 3;
    attempts->parts[to] = state >> ROAST_STATE_PARTS & 7;
    if (roast__row_has(row, ROAST_ROW_source))
        roast__sources_give(attempts, to, (int32_t)row->values[ROAST_ROW_source]);
    loading->row_ids[to] = id;
    return put_columns(loading, to, row) && put_ladder(attempts, to, row);
}

static int load_blocks(struct roast_loading *loading, struct table *table,
                       roast_error *err)
{
    uint64_t rows = table->contents.rows;
    uint64_t lost = 0;

    for (uint64_t first = 0; first < rows; first += ROAST_ATTEMPT_BLOCK_ROWS) {
        uint64_t count = rows - first < ROAST_ATTEMPT_BLOCK_ROWS
                             ? rows - first
                             : ROAST_ATTEMPT_BLOCK_ROWS;
        int whole = read_block(table, first, count, err);
        if (whole < 0)
            return whole;
        lost += whole ? 0 : count;
        for (uint64_t i = 0; whole && i < count; i++) {
            if (!put_row(loading, &table->rows[i]))
                return roast_error_set(err, ROAST_NO_MEMORY, "attempts");
        }
    }
    roast__loading_miss(loading, lost, "attempts");
    return ROAST_OK;
}

/* Whether the sums are those of so many rows, and the file can hold them. */
static bool is_possible(const struct table *table, bool found, uint64_t most_rows)
{
    uint64_t rows = table->contents.rows;
    uint64_t blocks =
        rows / ROAST_ATTEMPT_BLOCK_ROWS + (rows % ROAST_ATTEMPT_BLOCK_ROWS > 0);

    return found && table->contents.sums.size_bytes / 4 == blocks &&
           rows <= most_rows && rows <= INT32_MAX;
}

static int open_table(struct table *table, struct roast_loading *loading,
                      roast_error *err)
{
    int found = roast__contents_find(&table->contents, loading->db, "attempts", err);

    if (found < 0)
        return found;
    int status = roast__sql_prepare(&table->select, loading->db,
                                    "SELECT * FROM attempts NOT INDEXED"
                                    " WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
                                    err);
    if (status < 0)
        return status;
    table->begin = roast__sum_begin(table->select);
    table->columns = sqlite3_column_count(table->select);
    if (table->columns > MOST_COLUMNS)
        return roast_error_set(err, ROAST_NEWER_FORMAT, "attempts have %d columns",
                               table->columns);
    uint64_t most_rows = roast__most_rows(table->select, loading->file_bytes);
    if (!is_possible(table, found > 0, most_rows)) {
        roast__loading_miss(loading, roast__rows_lost(table->contents.rows, most_rows),
                            "attempts");
        table->contents.rows = 0;
    }
    return find_columns(table, err);
}

int roast__load_attempts(struct roast_loading *loading, roast_error *err)
{
    struct table table = {.select = NULL};
    int status = open_table(&table, loading, err);

    if (status < 0)
        goto out;
    size_t rows = (size_t)table.contents.rows;
    table.rows = roast__realloc(NULL, ROAST_ATTEMPT_BLOCK_ROWS * sizeof(*table.rows));
    loading->row_ids = roast__realloc(NULL, (rows + 1) * sizeof(*loading->row_ids));
    if (!table.rows || !loading->row_ids ||
        !roast__attempts_reserve(&loading->run->attempts, rows)) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "%zu attempts", rows);
        goto out;
    }
    status = load_blocks(loading, &table, err);
out:
    (void)sqlite3_finalize(table.select);
    roast__contents_release(&table.contents);
    roast__free(table.rows);
    return status;
}
