/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk.c - the life of one chunk: begin, start, stop, finish.
 *
 *     begin     clear; read memory, and sometimes the slow readings   monitor time
 *     start     thread CPU, epoch, monotonic                          clocks start
 *               ... the user's work ...
 *     stop      monotonic, thread CPU                                 clocks stop
 *     finish    read memory again, fill the record, encode            monitor time
 *
 * The clocks are read closest to the work, so that our own readings are never part of
 * it; the cost of those is kept in `monitor_ns`. */
#include "base/clock.h"
#include "probe/chunk/process.h"
#include "probe/chunk/thread.h"
#include "probe/linux/usage.h"

int64_t roast_mono_ns(void)
{
    return roast__clock_mono_ns();
}

bool roast_rss_now(roast_thread *thread, uint64_t *rss_bytes)
{
    return roast__rss_read(&thread->statm, rss_bytes);
}

bool roast_chunk_active(const roast_thread *thread)
{
    return atomic_load_explicit(&thread->active, memory_order_relaxed);
}

roast_record *roast_chunk_record(roast_thread *thread)
{
    return &thread->record;
}

void roast_chunk_absent(roast_thread *thread, enum roast_field field,
                        enum roast_reason why)
{
    uint64_t bit = UINT64_C(1) << field;

    if (thread->absent & bit)
        return;
    thread->absent |= bit;
    thread->reasons[field] = (unsigned char)why;
}

void roast_chunk_lose(roast_thread *thread, enum roast_loss loss, uint64_t count)
{
    thread->sections.losses[loss] += count;
}

roast_values *roast_chunk_user_keys(roast_thread *thread)
{
    return &thread->user_keys;
}

roast_values *roast_chunk_custom_metrics(roast_thread *thread)
{
    return &thread->custom_metrics;
}

/* Sets a field to the text in out, whole characters only. A full buffer counts as cut,
 * even if the text just fits. */
static void set_copy(roast_thread *thread, enum roast_field field, const char *out,
                     size_t used_bytes, size_t room_bytes)
{
    struct roast_str kept = {out, used_bytes};

    if (used_bytes == room_bytes) {
        kept = roast_str_cut(kept, room_bytes - 1);
        thread->sections.losses[ROAST_LOSS_text_cut]++;
    }
    roast_record_set_str(&thread->record, field, kept);
}

void roast_chunk_set_file(roast_thread *thread, struct roast_str file)
{
    size_t room_bytes = sizeof(thread->file_text);

    if (file.data)
        set_copy(thread, ROAST_FIELD_file, thread->file_text,
                 roast_thread_redact_name(thread, thread->file_text, room_bytes, file),
                 room_bytes);
}

void roast__chunk_set_error_message(roast_thread *thread, struct roast_str text)
{
    size_t room_bytes = sizeof(thread->error_text);

    if (text.data)
        set_copy(thread, ROAST_FIELD_error_message, thread->error_text,
                 roast_str_redact(thread->error_text, room_bytes, text), room_bytes);
}

void roast__identity_make(struct roast_identity *id, const unsigned char *run_id,
                          unsigned *active)
{
    memset(id->run_id, 0, sizeof(id->run_id));
    if (run_id)
        memcpy(id->run_id, run_id, sizeof(id->run_id));
    id->process_id = roast__process().id;
    id->sequence = roast__chunk_enters(active);
}

static void identify(roast_thread *thread, const unsigned char *run_id)
{
    struct roast_identity *id = &thread->identity;
    uint32_t newest;

    thread->of_attempt = roast_attempt_active(thread);
    thread->claims_attempt = roast__attempt_claim(&thread->attempt);
    if (thread->claims_attempt) {
        *id = thread->attempt.identity;
        thread->active_at_begin = thread->attempt.active_at_begin;
    } else {
        roast__identity_make(id, run_id, &thread->active_at_begin);
        if (thread->of_attempt) /* the attempt is already counted */
            thread->active_at_begin = roast__chunk_leaves(&newest) - 1;
    }
    roast_identity_pack(thread->identity_bytes, id);
    struct roast_str blob = {(const char *)thread->identity_bytes,
                             ROAST_IDENTITY_BYTES};
    roast_record_set_str(&thread->record, ROAST_FIELD_identity, blob);
}

void roast_chunk_begin(roast_thread *thread, const struct roast_chunk_options *options)
{
    struct roast_readings *before = &thread->before;

    thread->begin_ns = roast__clock_mono_ns();
    thread->start_ns = thread->begin_ns; /* for sections before the work starts */
    thread->record.kind = ROAST_FRAME_CHUNK;
    thread->record.present = 0;
    thread->absent = 0;
    memset(&thread->before, 0, sizeof(thread->before));
    memset(&thread->after, 0, sizeof(thread->after));
    roast__section_tree_clear(&thread->sections);
    roast__values_clear(&thread->user_keys);
    roast__values_clear(&thread->custom_metrics);
    roast__buf_clear(&thread->blobs);
    thread->encode_ns = 0;
    identify(thread, options->run_id);
    atomic_store_explicit(&thread->peak_rss_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->peak_since_ns, thread->begin_ns,
                          memory_order_relaxed);
    atomic_store(&thread->active, true);
    thread->sampled = roast__memory_sampler_start();
    before->mark_was_reset = options->exact_peak && roast__peak_reset() == ROAST_OK;
    thread->after.mark_was_reset = before->mark_was_reset;
    before->rss_known = roast__rss_read(&thread->statm, &before->rss_bytes);
    if (roast__pace_allows(&thread->pace, thread->begin_ns) || options->exact_peak)
        roast__readings_take(before, &thread->slow_files, &thread->pace);
}

/* The chunk of an attempt marks in its ladder where process() begins and ends. */
static void enter_phase(roast_thread *thread, enum roast_ladder_item slice,
                        int64_t now_ns)
{
    if (thread->claims_attempt && roast_ladder_active(thread))
        roast__ladder_phase_at(&thread->attempt.ladder, slice, now_ns);
}

void roast_chunk_start(roast_thread *thread)
{
    thread->start_cpu_ns = roast__clock_thread_ns();
    roast_record_set_i64(&thread->record, ROAST_FIELD_start_epoch_ns,
                         roast__clock_epoch_ns());
    thread->start_ns = roast__clock_mono_ns();
    roast_record_set_i64(&thread->record, ROAST_FIELD_start_mono_ns, thread->start_ns);
    enter_phase(thread, ROAST_ITEM_compute, thread->start_ns);
}

void roast_chunk_stop(roast_thread *thread)
{
    thread->stop_ns = roast__clock_mono_ns();
    int64_t cpu_ns = roast__clock_thread_ns() - thread->start_cpu_ns;
    enter_phase(thread, ROAST_ITEM_result, thread->stop_ns);
    roast__sections_close(thread, thread->stop_ns);
    roast_record_set_u64(&thread->record, ROAST_FIELD_duration_ns,
                         (uint64_t)(thread->stop_ns - thread->start_ns));
    roast_record_set_u64(&thread->record, ROAST_FIELD_cpu_ns, (uint64_t)cpu_ns);
}

struct roast_str roast_chunk_begin_frame(roast_thread *thread)
{
    roast_record begin = {.kind = ROAST_FRAME_BEGIN};
    unsigned char place[ROAST_PLACE_BYTES];
    struct roast_str place_blob = {(const char *)place, ROAST_PLACE_BYTES};
    unsigned char out[2 * ROAST_BEGIN_MAX_BYTES];

    roast_record_set_str(&begin, ROAST_FIELD_identity,
                         thread->record.values[ROAST_FIELD_identity].str);
    if (roast_place_pack(place, &thread->record))
        roast_record_set_str(&begin, ROAST_FIELD_place, place_blob);
    roast_record_set_i64(&begin, ROAST_FIELD_start_epoch_ns, roast__clock_epoch_ns());
    int64_t size = roast_record_encode(out, sizeof(out), &begin, NULL);
    if (size < 0 || size > ROAST_BEGIN_MAX_BYTES)
        return (struct roast_str){NULL, 0};
    memcpy(thread->small_frame, out, (size_t)size);
    return (struct roast_str){(const char *)thread->small_frame, (size_t)size};
}
