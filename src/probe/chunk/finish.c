/* SPDX-License-Identifier: BSD-3-Clause */
/* finish.c - closes a chunk and writes its frame.
 *
 * The blobs are written one behind the other into one buffer that may move while it
 * grows, so they are remembered by position and become fields at the very end. */
#include "probe/chunk/finish.h"

#include "base/clock.h"
#include "probe/chunk/process.h"
#include "probe/linux/rss.h"

static bool others_ran(roast_thread *thread)
{
    uint32_t newest;
    unsigned active = thread->of_attempt ? roast__chunk_running(&newest)
                                         : roast__chunk_leaves(&newest);
    unsigned most = roast__most_at_once(active, thread->active_at_begin,
                                        newest != thread->identity.sequence);

    roast_record_set_u64(&thread->record, ROAST_FIELD_concurrency, most);
    return most > 1;
}

static void read_after(roast_thread *thread)
{
    struct roast_readings *after = &thread->after;

    after->rss_known = roast__rss_read(&thread->statm, &after->rss_bytes);
    if (thread->before.slow)
        roast__readings_take(after, &thread->slow_files, &thread->pace);
}

void roast__finish_where(const roast_thread *thread, roast_record *rec)
{
    struct roast_process process = roast__process();

    roast_record_set_str(rec, ROAST_FIELD_host, process.host);
    roast_record_set_u64(rec, ROAST_FIELD_pid, process.pid);
    if (thread->tid != 0)
        roast_record_set_u64(rec, ROAST_FIELD_thread, thread->tid);
}

uint64_t roast__finish_first(roast_thread *thread, roast_record *rec)
{
    if (!roast__process_claims_first())
        return 0;
    roast__values_clear(&thread->process_facts);
    roast__process_put_facts(&thread->process_facts);
    roast_record_set_u64(rec, ROAST_FIELD_first_chunk, 1);
    if (!roast_values_ok(&thread->process_facts))
        return UINT64_C(1) << ROAST_FIELD_process;
    roast_record_set_str(rec, ROAST_FIELD_process,
                         roast_values_blob(&thread->process_facts));
    return 0;
}

static bool not_given(const roast_thread *thread, enum roast_field field)
{
    return !roast_record_has(&thread->record, field) && (thread->absent >> field & 1) &&
           thread->reasons[field] == ROAST_WHY_NOT_GIVEN;
}

static bool has_range(const roast_record *item)
{
    return roast_record_has(item, ROAST_FIELD_entry_start) &&
           roast_record_has(item, ROAST_FIELD_entry_stop) &&
           item->values[ROAST_FIELD_entry_stop].u64 >=
               item->values[ROAST_FIELD_entry_start].u64;
}

/* What the executor knew of the chunk, and its events did not say. */
static void set_item(roast_thread *thread)
{
    static const enum roast_field told[] = {
        ROAST_FIELD_dataset, ROAST_FIELD_file,        ROAST_FIELD_treename,
        ROAST_FIELD_uuid,    ROAST_FIELD_entry_start, ROAST_FIELD_entry_stop};
    const roast_record *item = &thread->attempt.item;
    roast_record *rec = &thread->record;

    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        if (roast_record_has(rec, told[i]) || !roast_record_has(item, told[i]))
            continue;
        rec->values[told[i]] = item->values[told[i]];
        rec->present |= UINT64_C(1) << told[i];
    }
    if (not_given(thread, ROAST_FIELD_num_events) && has_range(item))
        roast_record_set_u64(rec, ROAST_FIELD_num_events,
                             item->values[ROAST_FIELD_entry_stop].u64 -
                                 item->values[ROAST_FIELD_entry_start].u64);
}

/* Where it ran, and what the chunk of an attempt read. */
static void set_process_and_reads(roast_thread *thread)
{
    uint64_t lost = roast__finish_first(thread, &thread->record);

    roast__finish_where(thread, &thread->record);
    if (thread->of_attempt &&
        roast_record_has(&thread->attempt.item, ROAST_FIELD_worker))
        roast_record_set_str(&thread->record, ROAST_FIELD_worker,
                             thread->attempt.item.values[ROAST_FIELD_worker].str);
    if (thread->claims_attempt)
        set_item(thread);
    if (thread->claims_attempt && roast_ladder_active(thread)) {
        struct roast_reads *reads = &thread->attempt.ladder.reads;
        lost |= roast__reads_tell(reads, &thread->record);
        thread->tree.losses[ROAST_LOSS_branches] += reads->branches.lost;
        thread->tree.losses[ROAST_LOSS_text_cut] += reads->branches.names_cut;
    }
    for (; lost; lost &= lost - 1)
        roast_chunk_absent(thread, (enum roast_field)__builtin_ctzll(lost),
                           ROAST_WHY_NO_MEMORY);
}

static void set_cut(roast_thread *thread, enum roast_field field, struct roast_str text,
                    size_t max_bytes)
{
    if (text.size_bytes > max_bytes)
        thread->tree.losses[ROAST_LOSS_text_cut]++;
    roast_record_set_str(&thread->record, field, roast_str_cut(text, max_bytes));
}

static void set_error(roast_thread *thread, const struct roast_chunk_end *end)
{
    const struct roast_tree *tree = &thread->tree;
    struct roast_str path = {tree->error_path, tree->error_path_bytes};

    roast_record_set_u64(&thread->record, ROAST_FIELD_status, end->status);
    if (end->status == ROAST_CHUNK_OK)
        return;
    set_cut(thread, ROAST_FIELD_error_type, end->error_type, ROAST_CUT_TYPE_BYTES);
    roast__chunk_set_error_message(thread, end->error_message);
    if (tree->error_token && tree->error_token == end->error_token)
        set_cut(thread, ROAST_FIELD_error_section, path, ROAST_TREE_ERROR_BYTES - 1);
}

static void put_losses(struct roast_buf *out, const struct roast_tree *tree)
{
    for (unsigned i = 0; i < ROAST_LOSS_END; i++) {
        if (tree->losses[i] == 0)
            continue;
        roast__buf_put_varint(out, i);
        roast__buf_put_varint(out, tree->losses[i]);
    }
}

/* What was set after all is not absent. */
static void put_absences(struct roast_buf *out, const roast_thread *thread)
{
    uint64_t left = thread->absent & ~thread->record.present;

    for (; left; left &= left - 1) {
        int field = __builtin_ctzll(left);
        roast__buf_put_varint(out, roast_field_info((enum roast_field)field)->number);
        roast__buf_put_varint(out, thread->reasons[field]);
    }
}

static void set_blob(roast_thread *thread, enum roast_field field, size_t from,
                     size_t to)
{
    if (to <= from)
        return;
    struct roast_str blob = {(const char *)thread->blobs.data + from, to - from};
    roast_record_set_str(&thread->record, field, blob);
}

static bool set_blobs(roast_thread *thread)
{
    struct roast_buf *out = &thread->blobs;
    size_t ends[4];

    roast__tree_put_sections(out, &thread->tree);
    ends[0] = out->size_bytes;
    roast__tree_put_intervals(out, &thread->tree);
    ends[1] = out->size_bytes;
    put_losses(out, &thread->tree);
    ends[2] = out->size_bytes;
    put_absences(out, thread);
    ends[3] = out->size_bytes;
    if (!roast__buf_ok(out))
        return false;
    set_blob(thread, ROAST_FIELD_sections, 0, ends[0]);
    set_blob(thread, ROAST_FIELD_intervals, ends[0], ends[1]);
    set_blob(thread, ROAST_FIELD_losses, ends[1], ends[2]);
    set_blob(thread, ROAST_FIELD_absences, ends[2], ends[3]);
    roast_record_set_str(&thread->record, ROAST_FIELD_user_keys,
                         roast_values_blob(&thread->user_keys));
    roast_record_set_str(&thread->record, ROAST_FIELD_custom_metrics,
                         roast_values_blob(&thread->custom_metrics));
    return true;
}

/* Most records fit where the last one did; only a larger one is measured first. */
static int64_t encode_in(struct roast_buf *out, const roast_record *rec,
                         roast_error *err)
{
    int64_t size = roast_record_encode(out->data, out->cap_bytes, rec, NULL);

    if (size != ROAST_LIMIT)
        return size;
    roast__buf_clear(out);
    roast__buf_reserve(out, roast_record_bound(rec));
    if (!roast__buf_ok(out))
        return roast_error_set(err, ROAST_NO_MEMORY, "a frame");
    return roast_record_encode(out->data, out->cap_bytes, rec, err);
}

static int encode(roast_thread *thread, struct roast_str *frame, roast_error *err)
{
    thread->encode_ns = roast__clock_mono_ns();
    int64_t own_ns =
        thread->start_ns - thread->begin_ns + thread->encode_ns - thread->stop_ns;
    roast_record_set_u64(&thread->record, ROAST_FIELD_monitor_ns,
                         (uint64_t)(own_ns + thread->carried_ns));
    thread->carried_ns = 0;
    int64_t size = encode_in(&thread->frame, &thread->record, err);
    if (size < 0)
        return (int)size;
    *frame = (struct roast_str){(const char *)thread->frame.data, (size_t)size};
    return ROAST_OK;
}

void roast_chunk_delivered(roast_thread *thread)
{
    if (thread->encode_ns != 0) /* there was a record to deliver */
        thread->carried_ns = roast__clock_mono_ns() - thread->encode_ns;
}

int roast_chunk_finish(roast_thread *thread, const struct roast_chunk_end *end,
                       struct roast_str *frame, roast_error *err)
{
    if (!atomic_exchange(&thread->active, false))
        return roast_error_set(err, ROAST_UNAVAILABLE,
                               "the process forked while the chunk ran");
    bool shared = others_ran(thread);
    read_after(thread);
    roast__finish_readings(thread, shared);
    set_process_and_reads(thread);
    set_error(thread, end);
    if (!set_blobs(thread))
        return roast_error_set(err, ROAST_NO_MEMORY, "sections of a chunk");
    return encode(thread, frame, err);
}

struct roast_str roast_chunk_end_frame(roast_thread *thread)
{
    enum { ERROR_TYPE_BYTES = 64 };
    const roast_record *chunk = &thread->record;
    roast_record end = {.kind = ROAST_FRAME_END};
    struct roast_str type = chunk->values[ROAST_FIELD_error_type].str;

    roast_record_set_str(&end, ROAST_FIELD_identity,
                         chunk->values[ROAST_FIELD_identity].str);
    roast_record_set_u64(&end, ROAST_FIELD_status,
                         chunk->values[ROAST_FIELD_status].u64);
    roast_record_set_u64(&end, ROAST_FIELD_duration_ns,
                         chunk->values[ROAST_FIELD_duration_ns].u64);
    roast_record_set_i64(&end, ROAST_FIELD_end_epoch_ns, roast__clock_epoch_ns());
    if (roast_record_has(chunk, ROAST_FIELD_error_type))
        roast_record_set_str(&end, ROAST_FIELD_error_type,
                             roast_str_cut(type, ERROR_TYPE_BYTES));
    int64_t size = roast_record_encode(thread->small_frame, sizeof(thread->small_frame),
                                       &end, NULL);
    if (size < 0)
        return (struct roast_str){NULL, 0};
    return (struct roast_str){(const char *)thread->small_frame, (size_t)size};
}
