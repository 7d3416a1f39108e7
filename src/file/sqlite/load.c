/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - a run and its summary out of a database. */
#include "file/sqlite/load.h"

#include <string.h>

#include "analyze/summary.h"
#include "file/live/block_format.h"
#include "file/sqlite/schema.h"

/* ---- the run --------------------------------------------------------------------- */

struct journal_rows {
    struct roast_apply apply;
    uint64_t next; /* number of the block that should come */
    bool gap;      /* the block before it is damaged */
};

/* One row of the journal; a damaged one is skipped, such as a second head: an untrusted
 * table may repeat numbers. */
static int take_row(struct journal_rows *journal, sqlite3_stmt *row,
                    struct roast_journal_reading *seen, roast_error *err)
{
    uint64_t number = (uint64_t)sqlite3_column_int64(row, 0);
    struct roast_str bytes = roast__sql_text(row, 1);
    struct roast_str payload = roast__block_open(bytes, number);
    struct roast_live_head head = {0};
    bool is_head = number == 0 && !journal->apply.run &&
                   roast__live_head_read(&head, (const unsigned char *)bytes.data,
                                         bytes.size_bytes);
    bool lost = number != journal->next;
    bool damaged = !is_head && !payload.data;
    bool gap = journal->gap || lost;

    seen->lost_blocks += lost;
    seen->damaged += damaged;
    seen->gaps += lost || damaged;
    journal->next = number + 1;
    journal->gap = damaged;
    if (is_head) {
        seen->format = head.format;
        memcpy(seen->writer, head.writer, sizeof(seen->writer));
        return roast__apply_start(&journal->apply, head.start_mono_ns,
                                  head.start_epoch_ns, err);
    }
    seen->blocks += !damaged;
    return damaged ? ROAST_OK : roast__apply_block(&journal->apply, payload, gap, err);
}

static int take_rows(struct journal_rows *journal, sqlite3 *db,
                     struct roast_journal_reading *seen, roast_error *err)
{
    sqlite3_stmt *rows = NULL;
    int status = roast__sql_prepare(
        &rows, db, "SELECT block,data FROM journal NOT INDEXED ORDER BY block", err);

    while (status >= 0 && !(journal->apply.head_only && journal->apply.head_done) &&
           (status = roast__sql_step(rows, err)) > 0)
        status = take_row(journal, rows, seen, err);
    (void)sqlite3_finalize(rows);
    return status;
}

int roast__load_run(roast_run **out, sqlite3 *db, const struct roast_load *load,
                    struct roast_journal_reading *seen, roast_error *err)
{
    struct journal_rows journal = {
        .apply = {.head_only = load->head_only, .rewrite = load->rewrite}};
    struct roast_apply *apply = &journal.apply;

    *out = NULL;
    *seen = (struct roast_journal_reading){0};
    int status = take_rows(&journal, db, seen, err);
    if (status ==
        ROAST_BAD_DATA) { /* a page is damaged: the blocks before it are read */
        seen->damaged++;
        seen->gaps++;
        status = ROAST_OK;
    }
    if (status >= 0 && !apply->run)
        status = roast_error_set(err, ROAST_BAD_CHECKSUM,
                                 "the entry with the start of the run is damaged, so "
                                 "nothing can be read");
    if (status >= 0) {
        seen->entries = apply->entries;
        seen->dropped = apply->dropped;
        seen->unread = apply->unread;
        bool ends = load->head_only ? apply->head_done : apply->complete;
        if (!ends && seen->gaps == 0) {
            seen->gaps++; /* rows at the end are missing */
            seen->lost_blocks++;
        }
        roast_run_lose(apply->run, ROAST_RUN_LOSS_file_damaged,
                       roast__reading_unreadable(seen));
        *out = apply->run;
        apply->run = NULL; /* moved to the caller */
    }
    roast__apply_release(apply);
    return status < 0 ? status : ROAST_OK;
}

/* ---- the summary ----------------------------------------------------------------- */

int roast__load_summary(roast_summary **out, sqlite3 *db, roast_error *err)
{
    sqlite3_stmt *rows = NULL;
    roast_error why = {0};
    int status = roast__schema_has(db, "summary", err);

    *out = NULL;
    if (status > 0)
        status =
            roast__sql_prepare(&rows, db, "SELECT data FROM summary WHERE id=1", err);
    if (status == ROAST_OK && rows)
        status = roast__sql_step(rows, err);
    if (status > 0) {
        struct roast_str payload = roast__block_open(roast__sql_text(rows, 0), 1);
        int read =
            payload.data ? roast__summary_decode(out, payload, &why) : ROAST_BAD_DATA;
        if (read == ROAST_NO_MEMORY)
            status = roast_error_set(err, read, "%s", why.message);
        else
            status = read == ROAST_OK;
    }
    (void)sqlite3_finalize(rows);
    return status == ROAST_BAD_DATA ? 0 : status;
}
