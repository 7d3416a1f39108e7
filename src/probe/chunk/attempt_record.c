/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_record.c - the record of an attempt without a decorated chunk.
 *
 * If the attempt failed before process(), the record holds its file, entries and
 * exception; fields measured inside process() are absent. If process() is not
 * decorated, the record has the times from the begin of process() to the end of the
 * attempt. */
#include "base/bytes.h"
#include "base/clock.h"
#include "probe/chunk/finish.h"
#include "probe/linux/usage.h"

/* The `losses` and `absences` of a record while it is encoded. */
struct gaps {
    unsigned char losses[2 * (1 + ROAST_VARINT_MAX_BYTES)];
    unsigned char absences[2 * ROAST_FIELD_COUNT]; /* all numbers fit in a byte */
};

static unsigned char *put_loss(unsigned char *at, enum roast_loss loss, uint64_t count)
{
    if (count == 0)
        return at;
    *at++ = (unsigned char)loss;
    return roast__store_varint(at, count);
}

static void set_losses(const struct roast_attempt *attempt, roast_record *rec,
                       struct gaps *gaps)
{
    bool armed = attempt->ladder.armed;
    const struct roast_branches *branches = &attempt->ladder.reads.branches;
    unsigned char *at = gaps->losses;

    at = put_loss(at, ROAST_LOSS_text_cut,
                  attempt->texts_cut + (armed ? branches->names_cut : 0));
    at = put_loss(at, ROAST_LOSS_branches, armed ? branches->lost : 0);
    struct roast_str blob = {(const char *)gaps->losses, (size_t)(at - gaps->losses)};
    if (blob.size_bytes > 0)
        roast_record_set_str(rec, ROAST_FIELD_losses, blob);
}

static unsigned char *put_absences(unsigned char *at, uint64_t fields,
                                   enum roast_reason why)
{
    for (; fields; fields &= fields - 1) {
        enum roast_field field = (enum roast_field)__builtin_ctzll(fields);
        *at++ = (unsigned char)roast_field_info(field)->number;
        *at++ = (unsigned char)why;
    }
    return at;
}

/* A bit for each field: out of memory, not provided by the system, not packed. */
struct gap_fields {
    uint64_t lost;
    uint64_t unread;
    uint64_t unpacked;
};

static void set_absences(roast_record *rec, struct gaps *gaps,
                         const struct gap_fields *fields)
{
    unsigned char *at = gaps->absences;

    at = put_absences(at, fields->lost, ROAST_WHY_NO_MEMORY);
    at = put_absences(at, fields->unread, roast__why_unread());
    at = put_absences(at, fields->unpacked, ROAST_WHY_NOT_PACKED);
    struct roast_str blob = {(const char *)gaps->absences,
                             (size_t)(at - gaps->absences)};
    if (blob.size_bytes > 0)
        roast_record_set_str(rec, ROAST_FIELD_absences, blob);
}

static void set_error(struct roast_thread *thread, roast_record *rec,
                      const struct roast_chunk_end *end)
{
    struct roast_str type = roast_str_cut(end->error_type, ROAST_CUT_TYPE_BYTES);
    size_t room_bytes = sizeof(thread->error_text);

    thread->attempt.texts_cut += type.size_bytes < end->error_type.size_bytes;
    roast_record_set_str(rec, ROAST_FIELD_error_type, type);
    if (!end->error_message.data)
        return;
    size_t used = roast_str_redact(thread->error_text, room_bytes, end->error_message);
    roast_record_set_str(rec, ROAST_FIELD_error_message,
                         roast__attempt_redacted(&thread->attempt, thread->error_text,
                                                 used, room_bytes));
}

static uint64_t set_memory(roast_record *rec, enum roast_field field, bool known,
                           uint64_t bytes)
{
    if (!known)
        return UINT64_C(1) << field;
    roast_record_set_u64(rec, field, bytes);
    return 0;
}

static void set_bytes(const struct roast_ladder_state *ladder, roast_record *rec)
{
    uint64_t bytes;

    if (!roast__ladder_bytes(ladder, &bytes))
        return;
    roast_record_set_u64(rec, ROAST_FIELD_bytes_before, ladder->compute.bytes);
    roast_record_set_u64(rec, ROAST_FIELD_bytes_read, bytes - ladder->compute.bytes);
}

/* From where process() began to where it ended; or to the end of the attempt. Returns a
 * bit for each field that the system did not provide. */
static uint64_t set_compute(struct roast_thread *thread, roast_record *rec,
                            const struct roast_attempt_close *close)
{
    const struct roast_ladder_state *ladder = &thread->attempt.ladder;
    const struct roast_compute_mark *from = &ladder->compute;
    uint64_t rss_bytes = 0;
    bool rss_known = roast__rss_read(&thread->statm, &rss_bytes);

    roast_record_set_u64(rec, ROAST_FIELD_undecorated, 1);
    roast_record_set_i64(rec, ROAST_FIELD_start_epoch_ns, from->epoch_ns);
    roast_record_set_i64(rec, ROAST_FIELD_start_mono_ns, from->mono_ns);
    roast_record_set_u64(
        rec, ROAST_FIELD_duration_ns,
        roast__since(from->mono_ns, from->ended ? from->end_mono_ns : close->mono_ns));
    roast_record_set_u64(
        rec, ROAST_FIELD_cpu_ns,
        roast__since(from->cpu_ns, from->ended ? from->end_cpu_ns : close->cpu_ns));
    roast_record_set_u64(rec, ROAST_FIELD_concurrency, close->concurrency);
    if (ladder->events_known)
        roast_record_set_u64(rec, ROAST_FIELD_num_events, ladder->num_events);
    set_bytes(ladder, rec);
    return set_memory(rec, ROAST_FIELD_rss_before_bytes, from->rss_known,
                      from->rss_bytes) |
           set_memory(rec, ROAST_FIELD_rss_after_bytes, rss_known, rss_bytes);
}

/* False when out of memory; earlier frames are kept then. */
static bool put_frame(struct roast_buf *out, const roast_record *rec)
{
    size_t bound = roast_record_bound(rec);

    roast__buf_reserve(out, bound);
    if (!roast__buf_ok(out)) {
        out->failed = false;
        return false;
    }
    int64_t size = roast_record_encode(out->data + out->size_bytes, bound, rec, NULL);
    out->size_bytes += size > 0 ? (size_t)size : 0;
    return size > 0;
}

bool roast__attempt_put_record(struct roast_thread *thread,
                               const struct roast_attempt_close *close)
{
    struct roast_attempt *attempt = &thread->attempt;
    roast_record rec = attempt->item;
    struct gap_fields missing = {.lost = attempt->texts_lost};
    struct gaps gaps;

    rec.kind = ROAST_FRAME_CHUNK;
    roast_record_set_u64(&rec, ROAST_FIELD_status, close->end->status);
    roast__set_process_fields(thread, &rec);
    if (roast__attempt_computed(attempt)) {
        missing.unread = set_compute(thread, &rec, close);
        missing.lost |=
            roast__set_process_facts(thread, &rec, attempt->identity.run_id);
    } else {
        roast_record_set_i64(&rec, ROAST_FIELD_start_epoch_ns, attempt->start_epoch_ns);
        roast_record_set_i64(&rec, ROAST_FIELD_start_mono_ns, attempt->start_mono_ns);
    }
    if (close->end->status == ROAST_CHUNK_FAILED) {
        roast_record_set_u64(&rec, ROAST_FIELD_task_ns,
                             roast__since(attempt->start_mono_ns, close->mono_ns));
        set_error(thread, &rec, close->end);
    }
    if (attempt->ladder.armed)
        missing.lost |= roast__reads_set_fields(&attempt->ladder.reads, &rec);
    if (close->end->status == ROAST_CHUNK_OK && !attempt->packs)
        missing.unpacked = UINT64_C(1) << ROAST_FIELD_output_bytes;
    set_losses(attempt, &rec, &gaps);
    set_absences(&rec, &gaps, &missing);
    return put_frame(&attempt->frames, &rec);
}
