/* SPDX-License-Identifier: BSD-3-Clause */
/* finish.c - closes a chunk and writes its frame.
 *
 * The blobs are written into one buffer that may move while it grows, so their
 * positions are stored, and the fields are set at the end. */
#include "probe/chunk/finish.h"

#include "base/clock.h"
#include "probe/chunk/process.h"
#include "probe/linux/usage.h"

/* ---- readings ----------------------------------------------------------------- */

enum roast_reason roast__why_unread(void)
{
    return ROAST_PROCFS ? ROAST_WHY_NOT_READABLE : ROAST_WHY_NO_OS_SUPPORT;
}

static void set_or_absent(roast_thread *thread, enum roast_field field, bool known,
                          uint64_t value)
{
    if (known)
        roast_record_set_u64(&thread->record, field, value);
    else
        roast_chunk_absent(thread, field, roast__why_unread());
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Whether the kernel's high-water mark describes this chunk alone: it rose during the
 * chunk, or it was reset to what was resident when the chunk began. A program started
 * by a larger one inherits a mark that no reset lowers, so a reset counts only if the
 * mark went down. */
static bool mark_is_ours(const roast_thread *thread)
{
    enum { SLACK_BYTES = 1024 * 1024 };
    const struct roast_readings *before = &thread->before;
    const struct roast_readings *after = &thread->after;

    if (!before->peak_known || !after->peak_known)
        return false;
    return after->peak_rss_bytes > before->peak_rss_bytes ||
           (before->mark_was_reset &&
            before->peak_rss_bytes <= before->rss_bytes + SLACK_BYTES);
}

/* The mark is exact when no other chunk can have moved it; `shared`: another one ran at
 * the same time. Otherwise the peak is the highest of all samples. */
static void set_memory(roast_thread *thread, bool shared)
{
    const struct roast_readings *before = &thread->before;
    const struct roast_readings *after = &thread->after;
    uint64_t sampled = atomic_load(&thread->peak_rss_bytes);
    bool exact = !shared && mark_is_ours(thread);

    set_or_absent(thread, ROAST_FIELD_rss_before_bytes, before->rss_known,
                  before->rss_bytes);
    set_or_absent(thread, ROAST_FIELD_rss_after_bytes, after->rss_known,
                  after->rss_bytes);
    if (!before->rss_known || !after->rss_known) {
        roast_chunk_absent(thread, ROAST_FIELD_rss_peak_bytes, roast__why_unread());
        return;
    }
    if (!exact && !thread->sampled) {
        roast_chunk_absent(thread, ROAST_FIELD_rss_peak_bytes, ROAST_WHY_NO_SAMPLER);
        return;
    }
    sampled = larger(sampled, larger(before->rss_bytes, after->rss_bytes));
    roast_record_set_u64(&thread->record, ROAST_FIELD_rss_peak_bytes,
                         exact ? larger(after->peak_rss_bytes, sampled) : sampled);
    roast_record_set_u64(&thread->record, ROAST_FIELD_rss_peak_kind,
                         exact ? ROAST_PEAK_EXACT : ROAST_PEAK_SAMPLED);
}

static void set_differences(roast_thread *thread)
{
    const struct roast_readings *b = &thread->before;
    const struct roast_readings *a = &thread->after;
    const struct {
        enum roast_field field;
        bool known;
        uint64_t before;
        uint64_t after;
    } rows[] = {
        {ROAST_FIELD_runqueue_ns, b->sched_known && a->sched_known,
         b->sched.runqueue_ns, a->sched.runqueue_ns},
        {ROAST_FIELD_io_read_chars, b->io.has_rchar && a->io.has_rchar,
         b->io.rchar_bytes, a->io.rchar_bytes},
        {ROAST_FIELD_io_write_chars, b->io.has_wchar && a->io.has_wchar,
         b->io.wchar_bytes, a->io.wchar_bytes},
        {ROAST_FIELD_io_read_bytes, b->io.has_read_bytes && a->io.has_read_bytes,
         b->io.read_bytes, a->io.read_bytes},
        {ROAST_FIELD_io_write_bytes, b->io.has_write_bytes && a->io.has_write_bytes,
         b->io.write_bytes, a->io.write_bytes},
        {ROAST_FIELD_throttled_ns, b->throttle_known && a->throttle_known,
         b->throttled_ns, a->throttled_ns},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!b->slow)
            roast_chunk_absent(thread, rows[i].field, ROAST_WHY_TOO_CLOSE);
        else if (rows[i].known && rows[i].after < rows[i].before)
            roast_chunk_absent(thread, rows[i].field, ROAST_WHY_BAD_VALUE);
        else
            set_or_absent(thread, rows[i].field, rows[i].known,
                          rows[i].after - rows[i].before);
    }
}

static void set_readings(roast_thread *thread)
{
    struct roast_readings *after = &thread->after;
    uint32_t newest;
    unsigned active = thread->of_attempt ? roast__chunk_running(&newest)
                                         : roast__chunk_leaves(&newest);
    unsigned most = roast__max_concurrency(active, thread->active_at_begin,
                                           newest != thread->identity.sequence);

    roast_record_set_u64(&thread->record, ROAST_FIELD_concurrency, most);
    after->rss_known = roast__rss_read(&thread->statm, &after->rss_bytes);
    if (thread->before.slow)
        roast__readings_take(after, &thread->slow_files, &thread->pace);
    set_memory(thread, most > 1);
    set_differences(thread);
}

/* ---- process and item --------------------------------------------------------- */

void roast__set_process_fields(const roast_thread *thread, roast_record *rec)
{
    struct roast_process process = roast__process();

    roast_record_set_str(rec, ROAST_FIELD_host, process.host);
    roast_record_set_u64(rec, ROAST_FIELD_pid, process.pid);
    if (thread->tid != 0)
        roast_record_set_u64(rec, ROAST_FIELD_thread, thread->tid);
}

uint64_t roast__set_process_facts(roast_thread *thread, roast_record *rec,
                                  const unsigned char *run_id)
{
    if (roast__process_claims_first())
        roast_record_set_u64(rec, ROAST_FIELD_first_chunk, 1);
    if (!roast__process_claims_facts(run_id))
        return 0;
    roast__values_clear(&thread->process_facts);
    roast__process_put_facts(&thread->process_facts);
    if (!roast_values_ok(&thread->process_facts))
        return UINT64_C(1) << ROAST_FIELD_process;
    roast_record_set_str(rec, ROAST_FIELD_process,
                         roast_values_blob(&thread->process_facts));
    return 0;
}

/* Fills fields that the events do not have from the executor's item. */
static void set_item(roast_thread *thread)
{
    static const enum roast_field fields[] = {
        ROAST_FIELD_dataset, ROAST_FIELD_file,        ROAST_FIELD_treename,
        ROAST_FIELD_uuid,    ROAST_FIELD_entry_start, ROAST_FIELD_entry_stop};
    const roast_record *item = &thread->attempt.item;
    roast_record *rec = &thread->record;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (roast_record_has(rec, fields[i]) || !roast_record_has(item, fields[i]))
            continue;
        rec->values[fields[i]] = item->values[fields[i]];
        rec->present |= UINT64_C(1) << fields[i];
    }
    bool not_given = !roast_record_has(rec, ROAST_FIELD_num_events) &&
                     (thread->absent >> ROAST_FIELD_num_events & 1) &&
                     thread->reasons[ROAST_FIELD_num_events] == ROAST_WHY_NOT_GIVEN;
    uint64_t start = item->values[ROAST_FIELD_entry_start].u64;
    uint64_t stop = item->values[ROAST_FIELD_entry_stop].u64;
    if (not_given && roast_record_has(item, ROAST_FIELD_entry_start) &&
        roast_record_has(item, ROAST_FIELD_entry_stop) && stop >= start)
        roast_record_set_u64(rec, ROAST_FIELD_num_events, stop - start);
}

/* Where it ran, and what the chunk of an attempt read. */
static void set_process_and_reads(roast_thread *thread)
{
    const roast_record *item = &thread->attempt.item;
    uint64_t lost =
        roast__set_process_facts(thread, &thread->record, thread->identity.run_id);

    roast__set_process_fields(thread, &thread->record);
    if (thread->of_attempt && roast_record_has(item, ROAST_FIELD_worker))
        roast_record_set_str(&thread->record, ROAST_FIELD_worker,
                             item->values[ROAST_FIELD_worker].str);
    if (thread->claims_attempt)
        set_item(thread);
    if (thread->claims_attempt && !thread->attempt.packs)
        roast_chunk_absent(thread, ROAST_FIELD_output_bytes, ROAST_WHY_NOT_PACKED);
    if (thread->claims_attempt && roast_ladder_active(thread)) {
        struct roast_reads *reads = &thread->attempt.ladder.reads;
        lost |= roast__reads_set_fields(reads, &thread->record);
        thread->sections.losses[ROAST_LOSS_branches] += reads->branches.lost;
        thread->sections.losses[ROAST_LOSS_text_cut] += reads->branches.names_cut;
    }
    for (; lost; lost &= lost - 1)
        roast_chunk_absent(thread, (enum roast_field)__builtin_ctzll(lost),
                           ROAST_WHY_NO_MEMORY);
}

/* ---- errors and blobs --------------------------------------------------------- */

static void set_cut(roast_thread *thread, enum roast_field field, struct roast_str text,
                    size_t max_bytes)
{
    if (text.size_bytes > max_bytes)
        thread->sections.losses[ROAST_LOSS_text_cut]++;
    roast_record_set_str(&thread->record, field, roast_str_cut(text, max_bytes));
}

static void set_error(roast_thread *thread, const struct roast_chunk_end *end)
{
    const struct roast_section_tree *tree = &thread->sections;
    struct roast_str path = {tree->error_path, tree->error_path_bytes};

    roast_record_set_u64(&thread->record, ROAST_FIELD_status, end->status);
    if (end->status == ROAST_CHUNK_OK)
        return;
    set_cut(thread, ROAST_FIELD_error_type, end->error_type, ROAST_CUT_TYPE_BYTES);
    roast__chunk_set_error_message(thread, end->error_message);
    if (tree->error_token && tree->error_token == end->error_token)
        set_cut(thread, ROAST_FIELD_error_section, path,
                ROAST_SECTION_TREE_ERROR_BYTES - 1);
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

    roast__section_tree_put_sections(out, &thread->sections);
    ends[0] = out->size_bytes;
    roast__section_tree_put_intervals(out, &thread->sections);
    ends[1] = out->size_bytes;
    for (unsigned i = 0; i < ROAST_LOSS_END; i++) {
        if (thread->sections.losses[i] == 0)
            continue;
        roast__buf_put_varint(out, i);
        roast__buf_put_varint(out, thread->sections.losses[i]);
    }
    ends[2] = out->size_bytes;
    /* a field that was set later is not absent */
    uint64_t absent = thread->absent & ~thread->record.present;
    for (; absent; absent &= absent - 1) {
        int field = __builtin_ctzll(absent);
        roast__buf_put_varint(out, roast_field_info((enum roast_field)field)->number);
        roast__buf_put_varint(out, thread->reasons[field]);
    }
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

/* ---- the frame ---------------------------------------------------------------- */

/* Most records fit into the last buffer; the size is computed only for a larger one. */
static int encode(roast_thread *thread, struct roast_str *frame, roast_error *err)
{
    struct roast_buf *out = &thread->frame;
    const roast_record *rec = &thread->record;

    thread->encode_ns = roast__clock_mono_ns();
    int64_t own_ns =
        thread->start_ns - thread->begin_ns + thread->encode_ns - thread->stop_ns;
    roast_record_set_u64(&thread->record, ROAST_FIELD_monitor_ns,
                         (uint64_t)(own_ns + thread->carried_ns));
    thread->carried_ns = 0;
    int64_t size = roast_record_encode(out->data, out->cap_bytes, rec, NULL);
    if (size == ROAST_LIMIT) {
        roast__buf_clear(out);
        roast__buf_reserve(out, roast_record_bound(rec));
        if (!roast__buf_ok(out))
            return roast_error_set(err, ROAST_NO_MEMORY, "a frame");
        size = roast_record_encode(out->data, out->cap_bytes, rec, err);
    }
    if (size < 0)
        return (int)size;
    *frame = (struct roast_str){(const char *)out->data, (size_t)size};
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
    set_readings(thread);
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
