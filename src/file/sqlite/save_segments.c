/* SPDX-License-Identifier: BSD-3-Clause */
/* save_segments.c - everything of a run that is stored packed, but what attempts have.
 *
 * Layouts are above the functions that write them; varints unless something else is
 * said, and signed ones are zigzagged. Samples are stored as they lie in memory
 * (store/samples.c). */
#include "analyze/summary.h"
#include "base/mem.h"
#include "file/sqlite/save.h"
#include "file/sqlite/save_tasks.h"
#include "file/sqlite/segment.h"
#include "run/series.h"

static int64_t step(int64_t *last, int64_t now)
{
    int64_t by = (int64_t)((uint64_t)now - (uint64_t)*last);

    *last = now;
    return by;
}

static void put_text(struct roast_buf *out, struct roast_str text)
{
    roast__buf_put_varint(out, text.size_bytes);
    roast__buf_put(out, text.data, text.size_bytes);
}

/* ---- the summary ------------------------------------------------------------------- */

/* One item, which is not cut: table/encode.c. */
static int put_summary(const struct roast_saving *saving,
                       struct roast_segment_writer *out, roast_error *err)
{
    roast__summary_encode(&out->data, saving->summary);
    return roast__segment_item(out, err);
}

/* ---- what has a time --------------------------------------------------------------- */

/* signed change of the time, ns; workers; threads. Of each part from 0. */
static int put_offers(const struct roast_saving *saving,
                      struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_run *run = saving->run;
    int64_t last_ns = 0;
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < run->offer_count; i++) {
        const struct roast_offer *offer = &run->offers[i];
        last_ns = out->items == 0 ? 0 : last_ns;
        roast__buf_put_signed(&out->data, step(&last_ns, offer->time_ns));
        roast__buf_put_varint(&out->data, offer->workers);
        roast__buf_put_varint(&out->data, offer->threads);
        status = roast__segment_item(out, err);
    }
    return status;
}

/* The same; then the mark. */
static int put_moments(const struct roast_saving *saving,
                       struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_run *run = saving->run;
    int64_t last_ns = 0;
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < run->moment_count; i++) {
        last_ns = out->items == 0 ? 0 : last_ns;
        roast__buf_put_signed(&out->data, step(&last_ns, run->moments[i].time_ns));
        roast__buf_put_varint(&out->data, (uint64_t)run->moments[i].mark);
        status = roast__segment_item(out, err);
    }
    return status;
}

/* The same; then the workers. */
static int put_counts(const struct roast_saving *saving,
                      struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_run *run = saving->run;
    int64_t last_ns = 0;
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < run->count_count; i++) {
        last_ns = out->items == 0 ? 0 : last_ns;
        roast__buf_put_signed(&out->data, step(&last_ns, run->counts[i].time_ns));
        roast__buf_put_varint(&out->data, run->counts[i].workers);
        status = roast__segment_item(out, err);
    }
    return status;
}

/* ---- names ------------------------------------------------------------------------- */

/* number of a string */
static int put_names(const struct roast_saving *saving,
                     struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_names *names = &saving->run->names;
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < names->count; i++) {
        roast__buf_put_varint(&out->data, (uint64_t)names->items[i].text);
        status = roast__segment_item(out, err);
    }
    return status;
}

/* 16 bytes */
static int put_accepted(const struct roast_saving *saving,
                        struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_run *run = saving->run;
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < run->accepted_count; i++) {
        roast__buf_put(&out->data, run->accepted[i], ROAST_RUN_ID_BYTES);
        status = roast__segment_item(out, err);
    }
    return status;
}

/* ---- samples ----------------------------------------------------------------------- */

/* A part begins with the number of its first worker, how many series there are, and
 * their names as texts. Then for each worker: number of a string, its name; stride;
 * skipped; pid; its parent's; its start in ticks; last CPU ns; 1 if its I/O was known;
 * bytes read; bytes written; signed time of the last use, ns; size of `times`; size of
 * each series. */
static void put_series_names(struct roast_buf *out)
{
    roast__buf_put_varint(out, ROAST_SERIES_COUNT);
    for (int i = 0; i < ROAST_SERIES_COUNT; i++)
        put_text(out, roast_str_of(roast_series_info((enum roast_series)i)->name));
}

static int put_samplers(const struct roast_saving *saving,
                        struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_samples *samples = &saving->run->samples;
    struct roast_buf *to = &out->data;
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < samples->count; i++) {
        const struct roast_worker_samples *worker = &samples->workers[i];
        uint64_t head[] = {(uint64_t)worker->name,  worker->stride,
                           worker->skipped,         worker->pid,
                           worker->parent_pid,      worker->started_ticks,
                           worker->last_cpu_ns,     worker->last_io_known,
                           worker->last_read_bytes, worker->last_write_bytes};
        if (out->items == 0) {
            roast__buf_put_varint(to, i);
            put_series_names(to);
        }
        for (size_t k = 0; k < sizeof(head) / sizeof(head[0]); k++)
            roast__buf_put_varint(to, head[k]);
        roast__buf_put_signed(to, worker->last_use_ns);
        roast__buf_put_varint(to, worker->times.size_bytes);
        for (int k = 0; k < ROAST_SERIES_COUNT; k++)
            roast__buf_put_varint(
                to, roast__series_of(worker, (enum roast_series)k)->changes.size_bytes);
        status = roast__segment_item(out, err);
    }
    return status;
}

/* number of the worker in `samplers`; 0 for `times`, else number of the series in its
 * list + 1; size; bytes. What is long goes in pieces, which are to be joined. */
static int put_stream(struct roast_segment_writer *out, size_t worker, size_t stream,
                      const struct roast_buf *bytes, roast_error *err)
{
    enum { PIECE_BYTES = ROAST_SEGMENT_PART_BYTES / 2 };
    int status = ROAST_OK;

    for (size_t from = 0; status == ROAST_OK && from < bytes->size_bytes;
         from += PIECE_BYTES) {
        size_t size = bytes->size_bytes - from;
        if (size > PIECE_BYTES)
            size = PIECE_BYTES;
        roast__buf_put_varint(&out->data, worker);
        roast__buf_put_varint(&out->data, stream);
        put_text(&out->data,
                 (struct roast_str){(const char *)bytes->data + from, size});
        status = roast__segment_item(out, err);
    }
    return status;
}

static int put_samples(const struct roast_saving *saving,
                       struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_samples *samples = &saving->run->samples;
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < samples->count; i++) {
        const struct roast_worker_samples *worker = &samples->workers[i];
        status = put_stream(out, i, 0, &worker->times, err);
        for (size_t k = 0; status == ROAST_OK && k < ROAST_SERIES_COUNT; k++)
            status = put_stream(
                out, i, k + 1, &roast__series_of(worker, (enum roast_series)k)->changes,
                err);
    }
    return status;
}

/* ---- all --------------------------------------------------------------------------- */

static int save(const struct roast_saving *saving, enum roast_segment segment,
                int (*fill)(const struct roast_saving *saving,
                            struct roast_segment_writer *out, roast_error *err),
                roast_error *err)
{
    struct roast_segment_writer out;
    int status = roast__segment_begin(&out, saving->db, segment, err);

    if (status == ROAST_OK)
        status = fill(saving, &out, err);
    if (status == ROAST_OK)
        status = roast__segment_finish(&out, err);
    roast__segment_release(&out);
    return status;
}

int roast__save_segments(const struct roast_saving *saving, roast_error *err)
{
    static const struct {
        enum roast_segment segment;
        int (*fill)(const struct roast_saving *saving, struct roast_segment_writer *out,
                    roast_error *err);
    } parts[] = {
        {ROAST_SEGMENT_summary, put_summary},
        {ROAST_SEGMENT_offers, put_offers},
        {ROAST_SEGMENT_moments, put_moments},
        {ROAST_SEGMENT_counts, put_counts},
        {ROAST_SEGMENT_names, put_names},
        {ROAST_SEGMENT_accepted, put_accepted},
        {ROAST_SEGMENT_samplers, put_samplers},
        {ROAST_SEGMENT_samples, put_samples},
        {ROAST_SEGMENT_tasks, roast__put_tasks},
        {ROAST_SEGMENT_stays, roast__put_stays},
        {ROAST_SEGMENT_offsets, roast__put_offsets},
    };
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < sizeof(parts) / sizeof(parts[0]); i++)
        status = save(saving, parts[i].segment, parts[i].fill, err);
    return status;
}
