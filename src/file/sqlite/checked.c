/* SPDX-License-Identifier: BSD-3-Clause */
/* checked.c - rows of plain tables that can be trusted: a checksum for every few rows.
 *
 *     cell    byte: 0 NULL, 1 integer, 2 real, 3 text, 4 bytes; then 8 bytes of the
 *             number, or 8 bytes of its length and the bytes themselves
 *     row     all its cells
 *     sum     CRC-32C of (sum of the rows of the block before it, 4 bytes; row); before
 *             the first row that of the names of all columns, a NUL behind each
 *
 * Attempts, which are many and only integers, take 8 bytes for the sum, 8 bytes that say
 * which cells are known, and 8 bytes each.
 *
 * A block is read twice: once to see that it is whole, once for whoever wants it. Rows
 * are asked for by their ids, so that a page which SQLite cannot read costs the blocks
 * in it and no others. */
#include "file/sqlite/checked.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"

/* SQLite spends five bytes on a row and one on each of its columns, at least: place,
 * size, number, size of its head. */
enum { SUM_BYTES = 4, ROW_BYTES = 5 };

/* ---- contents ---------------------------------------------------------------------- */

int roast__contents_put(sqlite3 *db, const char *name, uint64_t rows,
                        const struct roast_buf *sums, roast_error *err)
{
    sqlite3_stmt *insert = NULL;
    int status = roast__sql_prepare(
        &insert, db, "INSERT INTO contents(name,rows,sums) VALUES(?1,?2,?3)", err);

    if (status < 0)
        return status;
    if (sums && !roast__buf_ok(sums)) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "sums of %s", name);
        goto out;
    }
    (void)sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(insert, 2, (sqlite3_int64)rows);
    if (sums)
        (void)sqlite3_bind_blob64(insert, 3, sums->data ? (const void *)sums->data : "",
                                  sums->size_bytes, SQLITE_STATIC);
    status = roast__sql_step(insert, err);
out:
    (void)sqlite3_finalize(insert);
    return status;
}

static int read_contents(struct roast_contents *out, sqlite3_stmt *find,
                         roast_error *err)
{
    roast_error why = {0};
    int got = roast__sql_step(find, &why);

    if (got < 0 && why.code != ROAST_BAD_DATA)
        return roast_error_set(err, got, "%s", why.message);
    if (got <= 0 || sqlite3_column_type(find, 0) != SQLITE_INTEGER ||
        sqlite3_column_int64(find, 0) < 0)
        return 0;
    struct roast_str sums = roast__sql_text(find, 1);
    out->rows = (uint64_t)sqlite3_column_int64(find, 0);
    roast__buf_put(&out->sums, sums.data, sums.size_bytes);
    if (!roast__buf_ok(&out->sums))
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu bytes of sums",
                               sums.size_bytes);
    return 1;
}

int roast__contents_find(struct roast_contents *out, sqlite3 *db, const char *name,
                         roast_error *err)
{
    sqlite3_stmt *find = NULL;

    *out = (struct roast_contents){.rows = 0};
    int status = roast__sql_prepare(
        &find, db, "SELECT rows,sums FROM contents NOT INDEXED WHERE name=?1", err);
    if (status < 0)
        return status;
    (void)sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC);
    status = read_contents(out, find, err);
    (void)sqlite3_finalize(find);
    if (status < 0)
        roast__contents_release(out);
    return status;
}

void roast__contents_release(struct roast_contents *contents)
{
    roast__buf_release(&contents->sums);
    contents->rows = 0;
}

uint64_t roast__most_rows(sqlite3_stmt *select, uint64_t file_bytes)
{
    return file_bytes / (ROW_BYTES + (uint64_t)sqlite3_column_count(select));
}

/* ---- sums -------------------------------------------------------------------------- */

static void put_word(struct roast_buf *row, unsigned type, uint64_t value)
{
    unsigned char bytes[9];

    bytes[0] = (unsigned char)type;
    roast__store_fixed(bytes + 1, value, 8);
    roast__buf_put(row, bytes, sizeof(bytes));
}

static void sum_value(struct roast_buf *row, const struct roast_sql_value *value)
{
    uint64_t bits;

    switch (value->type) {
    case ROAST_SQL_INTEGER:
        put_word(row, value->type, (uint64_t)value->integer);
        break;
    case ROAST_SQL_REAL:
        memcpy(&bits, &value->real, sizeof(bits));
        put_word(row, value->type, bits);
        break;
    case ROAST_SQL_TEXT:
    case ROAST_SQL_BYTES:
        put_word(row, value->type, value->text.size_bytes);
        roast__buf_put(row, value->text.data, value->text.size_bytes);
        break;
    case ROAST_SQL_NULL:
        roast__buf_put(row, "", 1);
    }
}

static void begin_row(struct roast_buf *row)
{
    static const unsigned char none[SUM_BYTES];

    if (row->size_bytes == 0)
        roast__buf_put(row, none, sizeof(none));
}

size_t roast__sum_row(struct roast_buf *row, sqlite3_stmt *statement)
{
    int columns = sqlite3_column_count(statement);
    size_t text_bytes = 0;

    begin_row(row);
    for (int i = 0; i < columns; i++) {
        struct roast_sql_value value = roast__sql_value(statement, i);
        sum_value(row, &value);
        text_bytes += value.text.size_bytes;
    }
    return text_bytes;
}

void roast__sum_values(struct roast_buf *row, const struct roast_sql_value *values,
                       size_t count)
{
    begin_row(row);
    for (size_t i = 0; i < count; i++)
        sum_value(row, &values[i]);
}

uint32_t roast__sum_add(uint32_t sum, struct roast_buf *row)
{
    if (!roast__buf_ok(row))
        return sum; /* which is to be looked at, and stays so */
    roast__store_fixed(row->data, sum, SUM_BYTES);
    sum = roast__crc32c(row->data, row->size_bytes);
    roast__buf_clear(row);
    return sum;
}

uint32_t roast__sum_name(uint32_t sum, const char *name)
{
    return roast__crc32c_more(sum, name, strlen(name) + 1);
}

uint32_t roast__sum_begin(sqlite3_stmt *statement)
{
    int columns = sqlite3_column_count(statement);
    uint32_t sum = 0;

    for (int i = 0; i < columns; i++) {
        const char *name = sqlite3_column_name(statement, i);
        if (name)
            sum = roast__sum_name(sum, name);
    }
    return sum;
}

/* The compiler makes one store of it, which it does not make of a loop. */
static inline void store64(unsigned char *at, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(at, &value, sizeof(value));
}

uint32_t roast__sum_add_ints(uint32_t sum, uint64_t known, const int64_t *values,
                             size_t count)
{
    unsigned char bytes[(2 + 64) * 8];

    store64(bytes, sum);
    store64(bytes + 8, known);
    for (size_t i = 0; i < count; i++)
        store64(bytes + 16 + i * 8, (uint64_t)values[i]);
    return roast__crc32c(bytes, (2 + count) * 8);
}

int roast__checked_sum(sqlite3 *db, const char *table, roast_error *err)
{
    struct roast_buf row = {NULL, 0, 0, false}, sums = {NULL, 0, 0, false};
    sqlite3_stmt *select = NULL;
    uint64_t rows = 0;
    uint32_t begin = 0, sum = 0;
    char sql[128];
    int status;

    (void)snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\" ORDER BY rowid", table);
    status = roast__sql_prepare(&select, db, sql, err);
    if (status == ROAST_OK)
        begin = sum = roast__sum_begin(select);
    while (status >= 0 && (status = roast__sql_step(select, err)) > 0) {
        (void)roast__sum_row(&row, select);
        sum = roast__sum_add(sum, &row);
        if (++rows % ROAST_BLOCK_ROWS == 0) {
            roast__buf_put_fixed32(&sums, sum);
            sum = begin;
        }
    }
    if (rows % ROAST_BLOCK_ROWS != 0)
        roast__buf_put_fixed32(&sums, sum);
    if (!roast__buf_ok(&row))
        sums.failed = true;
    if (status == 0)
        status = roast__contents_put(db, table, rows, &sums, err);
    (void)sqlite3_finalize(select);
    roast__buf_release(&row);
    roast__buf_release(&sums);
    return status;
}

/* ---- reading ----------------------------------------------------------------------- */

int roast__checked_open(struct roast_checked *out, sqlite3 *db, const char *table,
                        roast_error *err)
{
    char sql[128];

    *out = (struct roast_checked){.left_bytes = roast__sql_file_bytes(db)};
    int status = roast__contents_find(&out->contents, db, table, err);
    if (status < 0)
        return status;
    out->rows = out->contents.rows;
    uint64_t blocks = out->rows / ROAST_BLOCK_ROWS + (out->rows % ROAST_BLOCK_ROWS > 0);
    bool fits = status > 0 && out->contents.sums.size_bytes / SUM_BYTES == blocks;
    (void)snprintf(
        sql, sizeof(sql),
        "SELECT * FROM \"%s\" NOT INDEXED WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid",
        table);
    status = roast__sql_prepare(&out->select, db, sql, err);
    if (status < 0)
        return status;
    out->begin = roast__sum_begin(out->select);
    if (!fits) {
        out->lost =
            roast__rows_lost(out->rows, roast__most_rows(out->select, out->left_bytes));
        out->rows = 0;
    }
    return ROAST_OK;
}

/* Row n of the block: 1 it is there, 0 it is not. */
static int step_to(struct roast_checked *in, uint64_t id, roast_error *err)
{
    roast_error why = {0};
    int got = roast__sql_step(in->select, &why);

    if (got < 0 && why.code != ROAST_BAD_DATA)
        return roast_error_set(err, got, "%s", why.message);
    return got > 0 && sqlite3_column_type(in->select, 0) == SQLITE_INTEGER &&
           sqlite3_column_int64(in->select, 0) == (int64_t)id;
}

static void begin_block(struct roast_checked *in, uint64_t first, uint64_t rows)
{
    (void)sqlite3_reset(in->select);
    (void)sqlite3_bind_int64(in->select, 1, (int64_t)first);
    (void)sqlite3_bind_int64(in->select, 2, (int64_t)(first + rows - 1));
}

/* Whether the block is whole: 1 or 0. */
static int check_block(struct roast_checked *in, uint64_t first, uint64_t rows,
                       roast_error *err)
{
    uint32_t sum = in->begin;

    begin_block(in, first, rows);
    for (uint64_t i = 0; i < rows; i++) {
        int got = step_to(in, first + i, err);
        if (got <= 0)
            return got;
        size_t text_bytes = roast__sum_row(&in->row, in->select);
        sum = roast__sum_add(sum, &in->row);
        if (text_bytes > in->left_bytes)
            return 0;
        in->left_bytes -= text_bytes;
    }
    if (!roast__buf_ok(&in->row))
        return roast_error_set(err, ROAST_NO_MEMORY, "a row");
    const unsigned char *sums = in->contents.sums.data + in->block * SUM_BYTES;
    return sum == roast__load_fixed(sums, SUM_BYTES);
}

/* Goes to the next block that is whole: 1, or 0 when there is none. */
static int next_block(struct roast_checked *in, roast_error *err)
{
    for (; in->block * ROAST_BLOCK_ROWS < in->rows; in->block++) {
        uint64_t first = in->block * ROAST_BLOCK_ROWS;
        uint64_t rows = in->rows - first;
        if (rows > ROAST_BLOCK_ROWS)
            rows = ROAST_BLOCK_ROWS;
        int whole = check_block(in, first, rows, err);
        if (whole < 0)
            return whole;
        if (whole) {
            begin_block(in, first, rows);
            in->left = rows;
            in->block++;
            return 1;
        }
        in->lost += rows;
    }
    return 0;
}

int roast__checked_next(struct roast_checked *in, roast_error *err)
{
    if (in->left == 0) {
        int got = next_block(in, err);
        if (got <= 0)
            return got;
    }
    in->left--;
    return roast__sql_step(in->select, err);
}

void roast__checked_close(struct roast_checked *in)
{
    (void)sqlite3_finalize(in->select);
    roast__contents_release(&in->contents);
    roast__buf_release(&in->row);
    in->select = NULL;
}

int roast__checked_column(const struct roast_checked *in, const char *name)
{
    int columns = sqlite3_column_count(in->select);

    for (int i = 0; i < columns; i++) {
        const char *other = sqlite3_column_name(in->select, i);
        if (other && strcmp(other, name) == 0)
            return i;
    }
    return -1;
}
