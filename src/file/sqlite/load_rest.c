/* SPDX-License-Identifier: BSD-3-Clause */
/* load_rest.c - what attempts have beside their columns; save_rest.c says how it is
 * packed.
 *
 * A part says which rows it is about, so that one which is lost takes no others with
 * it. A row whose part is lost stays, without its record. */
#include "file/sqlite/load.h"
#include "run/restore.h"

/* Where we are in the run: its rows and the items of parts both go up. */
struct walking {
    struct roast_loading *loading;
    size_t row;
    uint64_t seen; /* rows that a part was about */
};

/* The row of an id in the file, which is given once; SIZE_MAX: it was left out. */
static size_t find_row(struct walking *walking, uint64_t id)
{
    const struct roast_attempts *attempts = &walking->loading->run->attempts;
    const uint32_t *ids = walking->loading->row_ids;

    while (walking->row < attempts->count && ids[walking->row] < id)
        walking->row++;
    if (walking->row == attempts->count || ids[walking->row] != id)
        return SIZE_MAX;
    return walking->row++;
}

/* Gives a row its record; one that is not sound is left out. */
static bool put_rest(struct roast_loading *loading, size_t row, struct roast_str rest)
{
    struct roast_run *run = loading->run;
    struct roast_buf *packed = &run->attempts.packed;
    size_t from = packed->size_bytes, size = 0;

    if (rest.size_bytes == 0)
        return true;
    int adopted = roast__rest_adopt(run, rest);
    if (adopted > 0) {
        struct roast_str own = {(const char *)packed->data + from,
                                packed->size_bytes - from};
        size = roast__rest_check(run, row, own, &loading->lost_strings);
        packed->size_bytes = from + size;
    }
    if (size > 0)
        run->attempts.rest[row] = from + 1;
    else if (adopted >= 0)
        roast__loading_miss(loading, 1, "record");
    return adopted >= 0;
}

static bool put_ladder(struct roast_loading *loading, size_t row,
                       struct roast_str ladder)
{
    struct roast_attempts *attempts = &loading->run->attempts;
    struct roast_column *column = &attempts->columns[ROAST_COLUMN_ladder];

    if (!roast__column_reserve(column, attempts->cap))
        return false;
    int64_t at = roast__ladder_pack(attempts, ladder);
    if (at >= 0)
        roast__column_put(column, row, at);
    return at >= 0;
}

static void show(struct roast_attempts *attempts, size_t row)
{
    const struct roast_worker_process *process =
        &attempts->processes[attempts->process[row]];

    if (process->run != ROAST_NO_STRING)
        roast__attempts_show(attempts, row);
}

static struct roast_str read_sized(struct roast_cursor *cur, uint64_t size_bytes)
{
    const char *bytes = (const char *)roast__cursor_bytes(cur, size_bytes);

    return (struct roast_str){bytes, bytes ? (size_t)size_bytes : 0};
}

/* The next item, which is that of the row with this id; false when out of memory. */
static bool take_item(struct walking *walking, struct roast_cursor *cur, uint64_t id,
                      uint32_t sequence)
{
    struct roast_attempts *attempts = &walking->loading->run->attempts;
    size_t row = find_row(walking, id);
    uint64_t head = roast__cursor_varint(cur);
    struct roast_str rest = read_sized(cur, head >> 1);
    struct roast_str ladder = {NULL, 0};

    if (head & 1)
        ladder = read_sized(cur, roast__cursor_varint(cur));
    if (cur->failed || row == SIZE_MAX)
        return true;
    walking->seen++;
    attempts->sequence[row] = sequence;
    show(attempts, row);
    return put_rest(walking->loading, row, rest) &&
           (!ladder.data || put_ladder(walking->loading, row, ladder));
}

static int take_part(struct walking *walking, const struct roast_segment_part *part,
                     roast_error *err)
{
    struct roast_cursor cur =
        roast__cursor(part->content.data, part->content.size_bytes);
    uint64_t id = part->items > 0 ? roast__cursor_varint(&cur) : 0;
    int64_t sequence = 0;

    for (uint32_t i = 0; i < part->items && !cur.failed; i++, id++) {
        sequence += (int32_t)roast__cursor_signed(&cur);
        if (!take_item(walking, &cur, id, (uint32_t)sequence))
            return roast_error_set(err, ROAST_NO_MEMORY, "records");
    }
    if (cur.failed || roast__cursor_left(&cur) > 0)
        roast__loading_miss(walking->loading, 1, "part of the segment rest");
    return ROAST_OK;
}

int roast__load_rest(struct roast_loading *loading, roast_error *err)
{
    struct walking walking = {.loading = loading};
    struct roast_segment_reader in;
    struct roast_segment_part part;
    int status = roast__segment_open(&in, loading->db, ROAST_SEGMENT_rest, err);

    while (status >= 0 && (status = roast__segment_next(&in, &part, err)) > 0)
        status = take_part(&walking, &part, err);
    if (status == 0) {
        roast__loading_miss(loading, in.damaged, "parts of the segment rest");
        roast__loading_miss(loading, loading->run->attempts.count - walking.seen,
                            "records");
    }
    roast__segment_close(&in);
    return status;
}
