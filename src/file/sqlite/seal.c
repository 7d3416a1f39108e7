/* SPDX-License-Identifier: BSD-3-Clause */
/* seal.c - the row of `run` with a checksum in itself, so that it can be read alone.
 *
 * `run` is the first table that is made, so its row is in page 2 of the file. Where that
 * is not so, as after the work of other programs, the seal does not fit. */
#include "file/sqlite/seal.h"

#include <string.h>
#include <unistd.h>

#include "file/sqlite/checked.h"
#include "file/sqlite/leaf.h"

enum { ID_COLUMNS = 1, SEALED_COLUMNS = ID_COLUMNS + ROAST_RUN_seal };

/* ---- the sum ----------------------------------------------------------------------- */

static uint32_t sum_of_names(void)
{
    uint32_t sum = roast__sum_name(0, "id");

    for (int i = 0; i < ROAST_RUN_seal; i++)
        sum = roast__sum_name(sum, roast__run_column_name((enum roast_run_column)i));
    return sum;
}

static int find_sum(uint32_t *out, const struct roast_sql_value *row, roast_error *err)
{
    struct roast_buf bytes = {NULL, 0, 0, false};

    roast__sum_values(&bytes, row, SEALED_COLUMNS);
    bool ok = roast__buf_ok(&bytes);
    *out = roast__sum_add(sum_of_names(), &bytes);
    roast__buf_release(&bytes);
    return ok ? ROAST_OK : roast_error_set(err, ROAST_NO_MEMORY, "a row");
}

/* ---- writing ----------------------------------------------------------------------- */

static int write_seal(sqlite3 *db, uint32_t sum, roast_error *err)
{
    sqlite3_stmt *update = NULL;
    int status = roast__sql_prepare(&update, db, "UPDATE run SET seal=?1", err);

    if (status == ROAST_OK) {
        (void)sqlite3_bind_int64(update, 1, sum);
        status = roast__sql_step(update, err);
    }
    (void)sqlite3_finalize(update);
    return status;
}

int roast__seal_put(sqlite3 *db, roast_error *err)
{
    struct roast_sql_value row[SEALED_COLUMNS];
    sqlite3_stmt *select = NULL;
    uint32_t sum = 0;
    int status = roast__sql_prepare(&select, db, "SELECT * FROM run", err);

    if (status == ROAST_OK)
        status = roast__sql_step(select, err);
    if (status > 0) {
        for (int i = 0; i < SEALED_COLUMNS; i++)
            row[i] = roast__sql_value(select, i);
        status = find_sum(&sum, row, err);
    }
    (void)sqlite3_finalize(select);
    return status < 0 ? status : write_seal(db, sum, err);
}

/* ---- reading ----------------------------------------------------------------------- */

static bool read_page(unsigned char *page, int fd, const struct roast_look *look)
{
    return look->plain && look->page_bytes <= ROAST_SEAL_PAGE_BYTES &&
           look->file_bytes >= 2 * (uint64_t)look->page_bytes &&
           pread(fd, page, look->page_bytes, (off_t)look->page_bytes) ==
               (ssize_t)look->page_bytes;
}

/* SQLite stores a real without a fraction as an integer, and knows by the column. */
static void widen(struct roast_sql_value *value, enum roast_run_column column)
{
    if (value->type != ROAST_SQL_INTEGER || !roast__run_column_is_real(column))
        return;
    value->type = ROAST_SQL_REAL;
    value->real = (double)value->integer;
}

int roast__seal_read(struct roast_sql_value out[ROAST_RUN_COLUMN_COUNT],
                     unsigned char page[ROAST_SEAL_PAGE_BYTES], int fd,
                     const struct roast_look *look, roast_error *err)
{
    struct roast_sql_value row[SEALED_COLUMNS + 1];
    const struct roast_sql_value *seal = &row[SEALED_COLUMNS];
    uint32_t sum;

    if (!read_page(page, fd, look) ||
        !roast__leaf_read(row, SEALED_COLUMNS + 1, page, look->usable_bytes) ||
        seal->type != ROAST_SQL_INTEGER)
        return 0;
    for (int i = 0; i < ROAST_RUN_seal; i++)
        widen(&row[ID_COLUMNS + i], (enum roast_run_column)i);
    int status = find_sum(&sum, row, err);
    if (status < 0)
        return status;
    if (seal->integer != (int64_t)sum)
        return 0;
    memset(out, 0, ROAST_RUN_COLUMN_COUNT * sizeof(*out));
    memcpy(out, &row[ID_COLUMNS], ROAST_RUN_seal * sizeof(*out));
    return 1;
}
