/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - a run out of a database: tables, segments, and what is missing of them. */
#include "file/sqlite/load.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "file/sqlite/load_tasks.h"
#include "run/array.h"

void roast__loading_miss(struct roast_loading *loading, uint64_t count,
                         const char *what)
{
    char text[160];

    if (count == 0)
        return;
    loading->damaged = roast__sat_count(loading->damaged, count);
    if (loading->run)
        roast__run_lose(loading->run, ROAST_RUN_LOSS_file_damaged, count);
    if (!loading->problem)
        return;
    (void)snprintf(text, sizeof(text), "%" PRIu64 " %s: damaged, left out", count,
                   what);
    loading->problem(loading->context, text);
}

bool roast__loading_may_take(struct roast_loading *loading, size_t bytes)
{
    uint64_t most =
        ROAST_MEMORY_ALWAYS_BYTES + loading->file_bytes * ROAST_MEMORY_PER_BYTE;

    if (bytes > most - loading->taken_bytes)
        return false;
    loading->taken_bytes += bytes;
    return true;
}

void roast__loading_release(struct roast_loading *loading)
{
    roast__buf_release(&loading->lost_strings);
    roast__buf_release(&loading->lost_processes);
    roast__free(loading->row_ids);
    loading->row_ids = NULL;
}

/* ---- tables and segments ----------------------------------------------------------- */

int roast__load_table(struct roast_loading *loading, const char *table,
                      roast__take_row *take, roast_error *err)
{
    struct roast_checked in;
    int status = roast__checked_open(&in, loading->db, table, err);

    while (status >= 0 && (status = roast__checked_next(&in, err)) > 0)
        status = take(loading, &in, err);
    if (status == 0)
        roast__loading_miss(loading, in.lost, table);
    roast__checked_close(&in);
    return status;
}

int roast__load_segment(struct roast_loading *loading, enum roast_segment segment,
                        roast__take_part *take, roast_error *err)
{
    struct roast_segment_reader in;
    struct roast_segment_part part;
    int status = roast__segment_open(&in, loading->db, segment, err);

    while (status >= 0 && (status = roast__segment_next(&in, &part, err)) > 0) {
        struct roast_cursor cur =
            roast__cursor(part.content.data, part.content.size_bytes);
        status = take(loading, &part, &cur, err);
        if (status == ROAST_OK && (cur.failed || roast__cursor_left(&cur) > 0))
            roast__loading_miss(loading, 1, roast__segment_name(segment));
    }
    if (status == 0)
        roast__loading_miss(loading, in.damaged, roast__segment_name(segment));
    roast__segment_close(&in);
    return status;
}

/* ---- all --------------------------------------------------------------------------- */

int roast__load_whole(struct roast_loading *loading, roast_error *err)
{
    int status = roast__load_texts(loading, err);

    if (status == ROAST_OK)
        status = roast__load_attempts(loading, err);
    if (status == ROAST_OK)
        status = roast__load_rest(loading, err);
    if (status == ROAST_OK)
        status = roast__load_samples(loading, err);
    if (status == ROAST_OK)
        status = roast__load_tasks(loading, err);
    return status;
}
