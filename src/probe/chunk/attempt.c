/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt.c - the life of one attempt: begin, the chunk inside it, end.
 *
 * An executor opens the file, builds the events and calls process(); any step can fail
 * and be tried again. The attempt covers all of it: it owns the identity, which begin
 * frame, chunk frame and end frame share. Where process() is not decorated, or was
 * never reached, the attempt may have a record of its own. */
#include "probe/chunk/attempt.h"

#include "base/clock.h"
#include "probe/chunk/process.h"
#include "probe/chunk/thread.h"

static roast_record *item_of(struct roast_thread *thread)
{
    return &thread->attempt.item;
}

bool roast_attempt_active(const roast_thread *thread)
{
    return thread->attempt.depth > 0 && !thread->attempt.hidden;
}

bool roast__attempt_claim(struct roast_attempt *attempt)
{
    bool claims = attempt->depth > 0 && !attempt->claimed;

    attempt->claimed |= claims;
    return claims;
}

void roast__attempt_release(struct roast_attempt *attempt)
{
    roast__buf_release(&attempt->texts);
    roast__buf_release(&attempt->frames);
    roast__reads_release(&attempt->ladder.reads);
}

/* ---- begin ------------------------------------------------------------------- */

enum { TEXT_COUNT = 5, NAME_BYTES = 1024 };

/* The texts of an item, each with its largest size. Names are cut like those of a
 * chunk, so that both have the same id. */
static const struct {
    size_t offset; /* in roast_attempt_item */
    size_t max_bytes;
    enum roast_field field;
    bool is_name;
} item_texts[TEXT_COUNT] = {
    {offsetof(struct roast_attempt_item, dataset), NAME_BYTES, ROAST_FIELD_dataset,
     true},
    {offsetof(struct roast_attempt_item, file), ROAST_CUT_FILE_BYTES, ROAST_FIELD_file,
     true},
    {offsetof(struct roast_attempt_item, treename), NAME_BYTES, ROAST_FIELD_treename,
     true},
    {offsetof(struct roast_attempt_item, uuid), 64, ROAST_FIELD_uuid, false},
    {offsetof(struct roast_attempt_item, worker), 256, ROAST_FIELD_worker, false},
};

static struct roast_str text_of(const struct roast_attempt_item *item, int which)
{
    const char *at = (const char *)item + item_texts[which].offset;
    return *(const struct roast_str *)(const void *)at;
}

struct roast_str roast__attempt_redacted(struct roast_attempt *attempt, const char *out,
                                         size_t used_bytes, size_t room_bytes)
{
    struct roast_str kept = {out, used_bytes};

    if (used_bytes < room_bytes)
        return kept;
    attempt->texts_cut++;
    return roast_str_cut(kept, room_bytes - 1);
}

/* Copies a text to `out`; a name loses its secrets. */
static size_t copy_text(struct roast_thread *thread, char *out, int which,
                        struct roast_str text)
{
    struct roast_attempt *attempt = &thread->attempt;
    size_t room_bytes = item_texts[which].max_bytes;

    if (item_texts[which].is_name) {
        size_t used = roast_thread_redact_name(thread, out, room_bytes, text);
        return roast__attempt_redacted(attempt, out, used, room_bytes).size_bytes;
    }
    struct roast_str kept = roast_str_cut(text, room_bytes);
    attempt->texts_cut += kept.size_bytes < text.size_bytes;
    if (kept.size_bytes > 0)
        memcpy(out, kept.data, kept.size_bytes);
    return kept.size_bytes;
}

/* Room is reserved for all texts at once, so that none of them moves. */
static void set_texts(struct roast_thread *thread,
                      const struct roast_attempt_item *item)
{
    struct roast_attempt *attempt = &thread->attempt;
    size_t room_bytes = 0;

    for (int i = 0; i < TEXT_COUNT; i++)
        room_bytes += item_texts[i].max_bytes;
    roast__buf_clear(&attempt->texts);
    roast__buf_reserve(&attempt->texts, room_bytes);
    attempt->texts_cut = 0;
    attempt->texts_lost = 0;
    char *at = (char *)attempt->texts.data;
    for (int i = 0; i < TEXT_COUNT; i++) {
        struct roast_str text = text_of(item, i);
        if (!text.data)
            continue;
        if (!roast__buf_ok(&attempt->texts)) {
            attempt->texts_lost |= UINT64_C(1) << item_texts[i].field;
            continue;
        }
        struct roast_str kept = {at, copy_text(thread, at, i, text)};
        roast_record_set_str(item_of(thread), item_texts[i].field, kept);
        at += kept.size_bytes;
    }
}

static void set_item(struct roast_thread *thread, const struct roast_attempt_item *item)
{
    roast_record *rec = item_of(thread);

    rec->present = 0;
    set_texts(thread, item);
    if (item->has_entries) {
        roast_record_set_u64(rec, ROAST_FIELD_entry_start, item->entry_start);
        roast_record_set_u64(rec, ROAST_FIELD_entry_stop, item->entry_stop);
    }
    roast_identity_pack(thread->attempt.identity_bytes, &thread->attempt.identity);
    roast_record_set_str(
        rec, ROAST_FIELD_identity,
        (struct roast_str){(const char *)thread->attempt.identity_bytes,
                           ROAST_IDENTITY_BYTES});
}

void roast__attempt_identify(struct roast_attempt *attempt, roast_record *out,
                             enum roast_frame_kind kind)
{
    *out = (roast_record){.kind = kind};
    roast_record_set_str(out, ROAST_FIELD_identity,
                         attempt->item.values[ROAST_FIELD_identity].str);
    if (roast_place_pack(attempt->place_bytes, &attempt->item))
        roast_record_set_str(
            out, ROAST_FIELD_place,
            (struct roast_str){(const char *)attempt->place_bytes, ROAST_PLACE_BYTES});
}

static struct roast_str encode_small(struct roast_thread *thread,
                                     const roast_record *rec)
{
    int64_t size = roast_record_encode(thread->small_frame, sizeof(thread->small_frame),
                                       rec, NULL);

    if (size < 0)
        return (struct roast_str){NULL, 0};
    return (struct roast_str){(const char *)thread->small_frame, (size_t)size};
}

struct roast_str roast_attempt_begin(roast_thread *thread, const unsigned char *run_id,
                                     const struct roast_attempt_item *item)
{
    struct roast_attempt *attempt = &thread->attempt;
    roast_record begin;

    if (attempt->depth++ > 0)
        return (struct roast_str){NULL, 0};
    attempt->hidden = roast_chunk_active(thread);
    attempt->claimed = attempt->hidden;
    attempt->packs = item->packs;
    attempt->packable = false;
    attempt->ladder.armed = false;
    if (attempt->hidden)
        return (struct roast_str){NULL, 0};
    roast__buf_clear(&attempt->frames);
    roast__identity_make(&attempt->identity, run_id, &attempt->active_at_begin);
    memcpy(attempt->name_key, item->name_key ? item->name_key : roast_name_key(),
           ROAST_NAME_KEY_BYTES);
    set_item(thread, item);
    int64_t ago_ns = (int64_t)item->begun_ago_ns;
    attempt->start_epoch_ns = roast__clock_epoch_ns() - ago_ns;
    attempt->start_cpu_ns = roast__clock_thread_ns(); /* unknown before now */
    attempt->start_process_cpu_ns = roast__clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    attempt->start_mono_ns = roast__clock_mono_ns() - ago_ns;
    roast__attempt_identify(attempt, &begin, ROAST_FRAME_BEGIN);
    roast_record_set_i64(&begin, ROAST_FIELD_start_epoch_ns, attempt->start_epoch_ns);
    return encode_small(thread, &begin);
}

/* ---- end --------------------------------------------------------------------- */

int roast_attempt_add_frame(roast_thread *thread, struct roast_str frame,
                            roast_error *err)
{
    struct roast_buf *frames = &thread->attempt.frames;

    if (!roast_attempt_active(thread))
        return roast_error_set(err, ROAST_UNAVAILABLE, "no attempt is open");
    roast__buf_put(frames, frame.data, frame.size_bytes);
    if (roast__buf_ok(frames))
        return ROAST_OK;
    frames->failed = false; /* the frames before it are complete */
    return roast_error_set(err, ROAST_NO_MEMORY, "a frame of %zu bytes",
                           frame.size_bytes);
}

/* Leaves the attempts of the process; returns the largest number seen at once. */
static unsigned leave(const struct roast_attempt *attempt)
{
    uint32_t newest;
    unsigned active = roast__chunk_leaves(&newest);

    return roast__max_concurrency(active, attempt->active_at_begin,
                                  newest != attempt->identity.sequence);
}

int roast_attempt_end(roast_thread *thread, const struct roast_chunk_end *end,
                      struct roast_attempt_frames *frames, roast_error *err)
{
    struct roast_attempt *attempt = &thread->attempt;
    struct roast_attempt_close close = {.end = end};
    bool whole = true;

    close.mono_ns = roast__clock_mono_ns();
    close.cpu_ns = roast__clock_thread_ns();
    *frames = (struct roast_attempt_frames){{NULL, 0}, {NULL, 0}};
    if (attempt->depth == 0) /* a forked child: the parent reports */
        return roast_error_set(err, ROAST_UNAVAILABLE, "no attempt is open");
    if (--attempt->depth > 0 || attempt->hidden)
        return ROAST_OK;
    close.concurrency = leave(attempt);
    if (attempt->ladder.armed) {
        roast__ladder_close(&attempt->ladder, &thread->slow_files.schedstat,
                            close.mono_ns);
        roast__gil_watched(thread);
    }
    if (!attempt->claimed &&
        (end->status == ROAST_CHUNK_FAILED || roast__attempt_computed(attempt)))
        whole = roast__attempt_put_record(thread, &close);
    size_t end_at = attempt->frames.size_bytes;
    whole &= roast__attempt_put_end(thread, &close);
    const char *data = (const char *)attempt->frames.data;
    frames->chunks = (struct roast_str){data, end_at};
    if (attempt->frames.size_bytes > end_at)
        frames->end =
            (struct roast_str){data + end_at, attempt->frames.size_bytes - end_at};
    if (whole)
        return ROAST_OK;
    return roast_error_set(err, ROAST_NO_MEMORY, "frames of an attempt");
}
