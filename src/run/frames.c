/* SPDX-License-Identifier: BSD-3-Clause */
/* frames.c - frames into a run: origin checks, and recovery after damaged frames.
 *
 * After a damaged frame the next one is searched, with an effort in proportion to the
 * size of the buffer. */
#include "base/array.h"
#include "record/frame_scan.h"
#include "run/journal/write.h"
#include "run/merge.h"
#include "run/put.h"

enum { SEARCH_FACTOR = 16, SEARCH_SMALL_BYTES = 1 << 20 };

static bool is_accepted(const struct roast_run *run,
                        const unsigned char run_id[ROAST_RUN_ID_BYTES])
{
    static const unsigned char none[ROAST_RUN_ID_BYTES];

    for (size_t i = run->accepted_count; i-- > 0;) { /* the newest is the most likely */
        if (memcmp(run->accepted[i], run_id, ROAST_RUN_ID_BYTES) == 0)
            return true;
    }
    return run->accepted_count == 0 && memcmp(run_id, none, ROAST_RUN_ID_BYTES) == 0;
}

int roast_run_accept(roast_run *run, const unsigned char run_id[ROAST_RUN_ID_BYTES],
                     roast_error *err)
{
    unsigned char(*accepted)[ROAST_RUN_ID_BYTES];
    int status = ROAST_OK;

    roast__run_lock(run);
    if (run->accepted_count > 0 && is_accepted(run, run_id))
        goto out;
    accepted = roast__array_room(run->accepted, &run->accepted_cap, run->accepted_count,
                                 sizeof(*accepted));
    if (!accepted) {
        status =
            roast_error_set(err, ROAST_NO_MEMORY, "run id %zu", run->accepted_count);
        goto out;
    }
    run->accepted = accepted;
    memcpy(accepted[run->accepted_count++], run_id, ROAST_RUN_ID_BYTES);
    roast__journal_write_accept(run->journal, run_id);
out:
    roast__run_unlock(run);
    return status;
}

/* ---- one frame ------------------------------------------------------------------- */

/* Failures of the monitor in a worker. Those of a chunk are counted from its record;
 * those of an attempt outside of its chunks are only in its end frame. */
static void count_monitor_errors(struct roast_run *run, const roast_record *rec)
{
    struct roast_str text = rec->values[ROAST_FIELD_monitor_first_error].str;

    if (!roast_record_has(rec, ROAST_FIELD_monitor_errors))
        return;
    if (rec->kind == ROAST_FRAME_END) {
        run->fact_known[ROAST_FACT_monitor_errors] = true;
        run->facts[ROAST_FACT_monitor_errors] +=
            (double)rec->values[ROAST_FIELD_monitor_errors].u64;
    }
    if (run->first_error[0] == '\0' &&
        roast_record_has(rec, ROAST_FIELD_monitor_first_error)) {
        text = roast_str_cut(text, sizeof(run->first_error) - 1);
        memcpy(run->first_error, text.data, text.size_bytes);
    }
}

/* Where the frames of a buffer come from. */
struct origin {
    enum roast_frames_from from;
    const struct roast_task_link *link; /* NULL: the task is not known */
};

static int take(struct roast_run *run, const roast_record *rec,
                const struct origin *origin, struct roast_tally *tally)
{
    struct roast_identity id = {.run_id = {0}};
    size_t row = 0;
    bool named =
        roast_record_has(rec, ROAST_FIELD_identity) &&
        roast_identity_unpack(&id, rec->values[ROAST_FIELD_identity].str, NULL) == 0;

    if (origin->from == ROAST_FROM_WORKERS && !is_accepted(run, id.run_id)) {
        tally->foreign++;
        return ROAST_OK;
    }
    switch (roast__merge(run, &row, named ? &id : NULL, origin->link, rec)) {
    case ROAST_MERGED_NEW:
        tally->kept++;
        count_monitor_errors(run, rec);
        roast__journal_write_record(run->journal, rec, row, origin->link);
        return ROAST_OK;
    case ROAST_MERGED_LINKED:
        tally->repeated++;
        roast__journal_write_record(run->journal, rec, row, origin->link);
        return ROAST_OK;
    case ROAST_MERGED_REPEATED:
        tally->repeated++;
        return ROAST_OK;
    case ROAST_MERGED_NO_MEMORY:
        break;
    }
    return ROAST_NO_MEMORY;
}

/* ---- a buffer of them ------------------------------------------------------------ */

/* Bytes that are read as frames, and how many may still be checksummed without
 * success. */
struct reading {
    struct roast_str left;
    uint64_t effort_bytes;
};

static void skip(struct reading *in, size_t size_bytes)
{
    in->left.data += size_bytes;
    in->left.size_bytes -= size_bytes;
}

static int read_all(struct roast_run *run, struct reading *in,
                    const struct origin *origin, struct roast_tally *tally)
{
    while (in->left.size_bytes > 0) {
        roast_record rec;
        size_t used = 0;
        if (roast_record_decode(&rec, &used, in->left, NULL) < 0) {
            tally->damaged++;
            skip(in, roast__frame_skip(in->left, &in->effort_bytes));
            continue;
        }
        if (rec.kind != ROAST_FRAME_BEGIN && rec.kind != ROAST_FRAME_CHUNK &&
            rec.kind != ROAST_FRAME_END)
            tally->damaged++;
        else if (take(run, &rec, origin, tally) < 0)
            return ROAST_NO_MEMORY;
        skip(in, used);
    }
    return ROAST_OK;
}

/* The lock is held. */
static int add(struct roast_run *run, struct roast_str frames, struct origin origin,
               struct roast_tally *tally, roast_error *err)
{
    struct roast_tally seen = {0};
    struct reading in = {frames, SEARCH_SMALL_BYTES};
    int status = ROAST_OK;

    if (frames.size_bytes < SIZE_MAX / SEARCH_FACTOR)
        in.effort_bytes += frames.size_bytes * SEARCH_FACTOR;
    if (frames.data)
        status = read_all(run, &in, &origin, &seen);
    if (status == ROAST_OK) { /* otherwise the buffer may be added again */
        roast__run_lose(run, ROAST_RUN_LOSS_frames_damaged, seen.damaged);
        roast__run_lose(run, ROAST_RUN_LOSS_frames_foreign, seen.foreign);
        roast__journal_write_loss(run->journal, ROAST_RUN_LOSS_frames_damaged,
                                  seen.damaged);
        roast__journal_write_loss(run->journal, ROAST_RUN_LOSS_frames_foreign,
                                  seen.foreign);
    }
    if (tally)
        *tally = seen;
    if (status < 0)
        return roast_error_set(err, status, "a frame with %zu bytes left to read",
                               in.left.size_bytes);
    return ROAST_OK;
}

int roast_run_add_frames(roast_run *run, struct roast_str frames,
                         enum roast_frames_from from, struct roast_tally *tally,
                         roast_error *err)
{
    roast__run_lock(run);
    int status = add(run, frames, (struct origin){.from = from}, tally, err);
    roast__run_unlock(run);
    return status;
}

int roast_run_add_task_frames(roast_run *run, struct roast_str frames,
                              struct roast_str worker, uint32_t key_hash,
                              struct roast_tally *tally, roast_error *err)
{
    char room[ROAST_NAME_BYTES];
    struct roast_task_link link = {.key_hash = key_hash};
    struct origin origin = {.from = ROAST_FROM_WORKERS, .link = &link};
    int status;

    roast__run_lock(run);
    link.worker =
        roast__strings_put(&run->strings, roast__clean(room, sizeof(room), worker));
    if (link.worker != ROAST_STRING_NO_MEMORY)
        status = add(run, frames, origin, tally, err);
    else
        status = roast_error_set(err, ROAST_NO_MEMORY, "the name of a worker");
    roast__run_unlock(run);
    return status;
}

int roast__run_put_record(struct roast_run *run, const roast_record *rec,
                          const struct roast_task_link *link, roast_error *err)
{
    struct roast_tally tally = {0};

    roast__run_lock(run);
    int status = take(run, rec, &(struct origin){ROAST_FROM_USER, link}, &tally);
    roast__run_unlock(run);
    return status < 0 ? roast_error_set(err, status, "a record") : ROAST_OK;
}
