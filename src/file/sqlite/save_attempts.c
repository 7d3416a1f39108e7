/* SPDX-License-Identifier: BSD-3-Clause */
/* save_attempts.c - the attempts of a run: rows of plain numbers.
 *
 * Rows are made while SQLite asks for them, one at a time, and summed up on the way: a
 * million of them would not fit in memory twice. */
#include "base/mem.h"
#include "file/sqlite/attempt_row.h"
#include "file/sqlite/checked.h"
#include "file/sqlite/ladder_cells.h"
#include "file/sqlite/rowset.h"
#include "file/sqlite/save_rest.h"
#include "file/sqlite/schema.h"
#include "run/order.h"

/* ---- what has to be known of all rows first ---------------------------------------- */

/* By row: the id of its record, -1 where it left none; NULL when out of memory. */
static int32_t *number_chunks(const struct roast_attempts *attempts)
{
    uint32_t *rows = roast__realloc(NULL, (attempts->count + 1) * sizeof(*rows));
    int32_t *ids = NULL;
    int32_t next = 0;

    for (size_t i = 0; rows && i < attempts->count; i++)
        rows[i] = (uint32_t)i;
    if (rows && roast__rows_sort(rows, attempts->count, attempts))
        ids = roast__realloc(NULL, (attempts->count + 1) * sizeof(*ids));
    for (size_t i = 0; ids && i < attempts->count; i++)
        ids[rows[i]] = attempts->rest[rows[i]] != 0 ? next++ : -1;
    roast__free(rows);
    return ids;
}

/* Bit n: some row may know column n of roast_row_column. One that no row knows is not in
 * the file: it would take a byte of every row, and more of the time to write it. */
static uint64_t columns_of(const struct roast_attempts *attempts)
{
    uint64_t columns = (UINT64_C(1) << ROAST_ROW_FIRST_COLUMN) - 1;

    for (int i = 0; i < ROAST_COLUMN_COUNT; i++) {
        if (attempts->columns[i].values)
            columns |= UINT64_C(1) << (ROAST_ROW_FIRST_COLUMN + i);
    }
    if (attempts->fields >> ROAST_FIELD_ladder & 1) /* of records, made by hand */
        columns |= UINT64_C(1) << ROAST_ROW_ladder;
    bool any_ladder = columns >> ROAST_ROW_ladder & 1;
    for (int i = ROAST_ROW_FIRST_ITEM; any_ladder && i < ROAST_ROW_COUNT; i++)
        columns |= UINT64_C(1) << i;
    return columns;
}

/* The row that SQLite is reading, and what was found while it read. */
struct reading {
    const struct roast_saving *saving;
    unsigned char stored[ROAST_ROW_COUNT]; /* the columns that the table has ... */
    size_t stored_count;                   /* ... and how many */
    int32_t *chunk_ids;                    /* owned */
    unsigned char *odd; /* owned; bit n: the ladder of row n is stored as bytes */
    size_t next_tried;  /* in the list of chunks with several attempts */
    size_t row;         /* SIZE_MAX: none yet */
    struct roast_attempt_row cells; /* the n-th is that of the n-th column stored */
    struct roast_buf sums;
    uint32_t begin; /* sum of a block without rows */
    uint32_t sum;   /* of the block so far */
};

/* ---- a row ------------------------------------------------------------------------- */

/* Which try at its chunk a row is, counted from 0. Rows come in order. */
static int64_t tries_before(struct reading *reading, size_t row)
{
    const struct roast_roles *roles = &reading->saving->roles;

    while (reading->next_tried < roles->tried_count &&
           roles->tried[reading->next_tried].row < row)
        reading->next_tried++;
    if (reading->next_tried == roles->tried_count ||
        roles->tried[reading->next_tried].row != row)
        return 0;
    return (int64_t)roles->tried[reading->next_tried].attempt - 1;
}

static void read_state(struct reading *reading, size_t row)
{
    const struct roast_attempts *attempts = &reading->saving->run->attempts;
    struct roast_attempt_row *cells = &reading->cells;
    int64_t role = reading->saving->roles.of_row[row];

    roast__row_set(cells, ROAST_ROW_id, (int64_t)row);
    roast__row_set(cells, ROAST_ROW_state,
                   attempts->status[row] | attempts->parts[row] << ROAST_STATE_PARTS |
                       role << ROAST_STATE_ROLE |
                       tries_before(reading, row) << ROAST_STATE_TRY);
    roast__row_set(cells, ROAST_ROW_process, attempts->process[row]);
    if (attempts->source[row] >= 0)
        roast__row_set(cells, ROAST_ROW_source, attempts->source[row]);
    if (reading->chunk_ids[row] >= 0)
        roast__row_set(cells, ROAST_ROW_chunk_id, reading->chunk_ids[row]);
}

/* A chunk record has a ladder of its own only where somebody made it by hand. */
static struct roast_str ladder_of_record(const struct roast_run *run, size_t row)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;

    if (!(run->attempts.fields >> ROAST_FIELD_ladder & 1) ||
        !roast__attempt_record(run, row, &rec, identity) ||
        !roast_record_has(&rec, ROAST_FIELD_ladder))
        return (struct roast_str){NULL, 0};
    return rec.values[ROAST_FIELD_ladder].str;
}

static void read_ladder(struct reading *reading, size_t row)
{
    const struct roast_run *run = reading->saving->run;
    struct roast_str told = roast__attempt_ladder(&run->attempts, row);
    struct roast_str blob = told.data ? told : ladder_of_record(run, row);
    enum roast_ladder_home home = ROAST_LADDER_OF_RECORD;

    if (!blob.data)
        return;
    bool whole = roast__ladder_to_cells(&reading->cells, blob);
    if (told.data)
        home = whole ? ROAST_LADDER_IN_ITEMS : ROAST_LADDER_IN_REST;
    if (home == ROAST_LADDER_IN_REST)
        reading->odd[row >> 3] |= (unsigned char)(1u << (row & 7));
    roast__row_set(&reading->cells, ROAST_ROW_ladder, home);
}

/* Moves the cells of the stored columns together. */
static void leave_out(struct reading *reading)
{
    struct roast_attempt_row *cells = &reading->cells;
    uint64_t known = 0;

    for (size_t i = 0; i < reading->stored_count; i++) {
        unsigned column = reading->stored[i]; /* not before i */
        cells->values[i] = cells->values[column];
        known |= (cells->known >> column & 1) << i;
    }
    cells->known = known;
}

static void read_row(struct reading *reading, size_t row)
{
    const struct roast_run *run = reading->saving->run;
    struct roast_attempt_row *cells = &reading->cells;

    memset(cells, 0, sizeof(*cells));
    read_state(reading, row);
    for (int i = 0; i < ROAST_COLUMN_COUNT; i++) {
        const struct roast_column *column = &run->attempts.columns[i];
        if (i != ROAST_COLUMN_ladder && roast__column_has(column, row))
            roast__row_set(cells, (enum roast_row_column)(ROAST_ROW_FIRST_COLUMN + i),
                           column->values[row]);
    }
    read_ladder(reading, row);
    roast__row_pack(cells, run->start_ns);
    leave_out(reading);
    reading->row = row;
}

/* ---- all rows ---------------------------------------------------------------------- */

static void end_block(struct reading *reading)
{
    roast__buf_put_fixed32(&reading->sums, reading->sum);
    reading->sum = reading->begin;
}

static void sum_up(struct reading *reading)
{
    reading->sum = roast__sum_add_ints(reading->sum, reading->cells.known,
                                       reading->cells.values, reading->stored_count);
    if ((reading->row + 1) % ROAST_ATTEMPT_BLOCK_ROWS == 0)
        end_block(reading);
}

/* The id is not among the columns that SQLite asks for, hence + 1. */
static void put_cell(sqlite3_context *out, void *context, size_t row, size_t column)
{
    struct reading *reading = context;

    if (reading->row != row) {
        read_row(reading, row);
        sum_up(reading);
    }
    if ((reading->cells.known >> (column + 1)) & 1)
        sqlite3_result_int64(out, reading->cells.values[column + 1]);
}

static int make_table(struct reading *reading, roast_error *err)
{
    uint64_t columns = columns_of(&reading->saving->run->attempts);
    sqlite3 *db = reading->saving->db;
    sqlite3_stmt *select = NULL;
    int status = roast__schema_make_attempts(db, columns, err);

    for (; columns != 0; columns &= columns - 1)
        reading->stored[reading->stored_count++] =
            (unsigned char)__builtin_ctzll(columns);
    if (status == ROAST_OK)
        status = roast__sql_prepare(&select, db, "SELECT * FROM attempts", err);
    if (status == ROAST_OK)
        reading->begin = reading->sum = roast__sum_begin(select);
    (void)sqlite3_finalize(select);
    return status;
}

static int save_rows(struct reading *reading, roast_error *err)
{
    size_t count = reading->saving->run->attempts.count;
    int status = make_table(reading, err);
    struct roast_rowset rows = {.rows = count,
                                .columns = reading->stored_count - 1,
                                .cell = put_cell,
                                .context = reading};

    if (status == ROAST_OK)
        status = roast__rowset_insert(reading->saving->db, "attempts", &rows, err);
    if (status < 0)
        return status;
    if (count % ROAST_ATTEMPT_BLOCK_ROWS != 0)
        end_block(reading);
    return roast__contents_put(reading->saving->db, "attempts", count, &reading->sums,
                               err);
}

int roast__save_attempts(const struct roast_saving *saving, roast_error *err)
{
    const struct roast_attempts *attempts = &saving->run->attempts;
    struct reading reading = {
        .saving = saving,
        .chunk_ids = number_chunks(attempts),
        .odd = roast__alloc(attempts->count / 8 + 1),
        .row = SIZE_MAX,
    };
    int status;

    if (reading.chunk_ids && reading.odd)
        status = save_rows(&reading, err);
    else
        status = roast_error_set(err, ROAST_NO_MEMORY, "ids of %zu attempts",
                                 attempts->count);
    if (status == ROAST_OK)
        status = roast__save_rest(saving, reading.odd, err);
    roast__free(reading.chunk_ids);
    roast__free(reading.odd);
    roast__buf_release(&reading.sums);
    return status;
}
