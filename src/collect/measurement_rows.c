/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_rows.c - blobs of rows, put one by one.
 *
 * The writers of record put all rows at once, behind their number. Here each is written
 * as if it were alone, over the last byte of what is there, which is then put back. */
#include "collect/measurement_rows.h"

#include <string.h>

#include "base/bytes.h"
#include "collect/json_bytes.h"

enum { COUNT_ROOM_BYTES = ROAST_VARINT_MAX_BYTES };

/* Their number comes first and is known last: room for it is left in front. */
void roast__rows_clear(struct roast_rows_blob *rows)
{
    roast__buf_clear(&rows->bytes);
    rows->count = 0;
}

/* Room for one row and the count in front of it, which a writer of one row puts there
 * and which is one byte. */
static unsigned char *row_room(struct roast_rows_blob *rows, size_t room_bytes)
{
    static const unsigned char room[COUNT_ROOM_BYTES];

    if (rows->bytes.size_bytes == 0)
        roast__buf_put(&rows->bytes, room, sizeof(room));
    roast__json_room(&rows->bytes, room_bytes);
    return rows->bytes.failed ? NULL : rows->bytes.data + rows->bytes.size_bytes - 1;
}

/* The count that was written lies on the last byte of the row before: put that back. */
static void row_done(struct roast_rows_blob *rows, unsigned char *at,
                     unsigned char before, int64_t size)
{
    *at = before;
    rows->bytes.size_bytes += size > 0 ? (size_t)size - 1 : 0;
    rows->count += size > 0;
}

void roast__rows_branch(struct roast_rows_blob *rows, const struct roast_branch *row)
{
    size_t bound = 2 * ROAST_BRANCH_BOUND_BYTES + row->name.size_bytes;
    unsigned char *at = row_room(rows, bound);

    if (!at)
        return;
    unsigned char before = *at;
    row_done(rows, at, before, roast_branches_write(at, bound, row, 1, NULL));
}

void roast__rows_endpoint(struct roast_rows_blob *rows,
                          const struct roast_endpoint *row)
{
    size_t bound = 2 * ROAST_ENDPOINT_BOUND_BYTES + row->name.size_bytes;
    unsigned char *at = row_room(rows, bound);

    if (!at)
        return;
    unsigned char before = *at;
    row_done(rows, at, before, roast_endpoints_write(at, bound, row, 1, NULL));
}

struct roast_str roast__rows_blob(struct roast_rows_blob *rows)
{
    unsigned char count[ROAST_VARINT_MAX_BYTES];
    size_t size = (size_t)(roast__store_varint(count, rows->count) - count);

    if (rows->bytes.size_bytes == 0)
        roast__buf_put(&rows->bytes, count, sizeof(count));
    if (rows->bytes.failed)
        return (struct roast_str){NULL, 0};
    unsigned char *start = rows->bytes.data + COUNT_ROOM_BYTES - size;
    memcpy(start, count, size);
    return (struct roast_str){(const char *)start,
                              rows->bytes.size_bytes - COUNT_ROOM_BYTES + size};
}
