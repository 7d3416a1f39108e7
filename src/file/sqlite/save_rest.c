/* SPDX-License-Identifier: BSD-3-Clause */
/* save_rest.c - what attempts have beside their columns, packed.
 *
 *     part     varint: row of its first item
 *     item     zigzag varint: change of the sequence number since the row before, of the
 *              first one from 0
 *              varint: 2 x size of the rest, which is 0 for none, + 1 if a ladder follows
 *              the rest (store/rest.c); varint: size of the ladder; the ladder */
#include "file/sqlite/save_rest.h"

#include "file/sqlite/segment.h"
#include "run/restore.h"

static struct roast_str packed_rest(const struct roast_run *run, size_t row)
{
    const struct roast_attempts *attempts = &run->attempts;

    if (attempts->rest[row] == 0)
        return (struct roast_str){NULL, 0};
    size_t from = (size_t)attempts->rest[row] - 1;
    return (struct roast_str){(const char *)attempts->packed.data + from,
                              roast__rest_size(run, from)};
}

static void put_item(struct roast_buf *out, const struct roast_run *run, size_t row,
                     bool odd)
{
    struct roast_str rest = packed_rest(run, row);

    roast__buf_put_varint(out, (uint64_t)rest.size_bytes << 1 | odd);
    roast__buf_put(out, rest.data, rest.size_bytes);
    if (!odd)
        return;
    struct roast_str ladder = roast__attempt_ladder(&run->attempts, row);
    roast__buf_put_varint(out, ladder.size_bytes);
    roast__buf_put(out, ladder.data, ladder.size_bytes);
}

int roast__save_rest(const struct roast_saving *saving, const unsigned char *odd,
                     roast_error *err)
{
    const struct roast_run *run = saving->run;
    const uint32_t *sequence = run->attempts.sequence;
    struct roast_segment_writer writer;
    uint32_t last = 0;
    int status = roast__segment_begin(&writer, saving->db, ROAST_SEGMENT_rest, err);

    for (size_t row = 0; status == ROAST_OK && row < run->attempts.count; row++) {
        if (writer.items == 0) {
            roast__buf_put_varint(&writer.data, row);
            last = 0;
        }
        roast__buf_put_signed(&writer.data, (int64_t)sequence[row] - (int64_t)last);
        last = sequence[row];
        put_item(&writer.data, run, row, (odd[row >> 3] >> (row & 7)) & 1);
        status = roast__segment_item(&writer, err);
    }
    if (status == ROAST_OK)
        status = roast__segment_finish(&writer, err);
    roast__segment_release(&writer);
    return status;
}
