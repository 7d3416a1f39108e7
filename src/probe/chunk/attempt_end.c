/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_end.c - the end frame of an attempt, when it returns or when its result is
 * packed.
 *
 * Its size is limited: the least important fields are left out first. */
#include "base/clock.h"
#include "probe/chunk/process.h"
#include "probe/chunk/thread.h"

/* An end frame being made. */
struct end_frame {
    roast_record rec;
    struct roast_ladder ladder; /* empty: the attempt has no ladder */
    unsigned char ladder_bytes[ROAST_LADDER_BOUND_BYTES];
};

static void set_times(const struct roast_attempt *attempt, roast_record *rec,
                      int64_t mono_ns, int64_t cpu_ns)
{
    int64_t process_ns = roast__clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    roast_record_set_i64(rec, ROAST_FIELD_end_epoch_ns, roast__clock_epoch_ns());
    roast_record_set_u64(rec, ROAST_FIELD_task_ns,
                         roast__since(attempt->start_mono_ns, mono_ns));
    roast_record_set_u64(rec, ROAST_FIELD_task_cpu_ns,
                         roast__since(attempt->start_cpu_ns, cpu_ns));
    roast_record_set_u64(rec, ROAST_FIELD_process_cpu_ns, (uint64_t)process_ns);
    if (rec->values[ROAST_FIELD_status].u64 == ROAST_CHUNK_OK)
        roast_record_set_u64(rec, ROAST_FIELD_task_process_cpu_ns,
                             roast__since(attempt->start_process_cpu_ns, process_ns));
}

/* ---- making it fit ----------------------------------------------------------- */

static void drop_field(roast_record *rec, enum roast_field field)
{
    rec->present &= ~(UINT64_C(1) << field);
}

/* Shortens a text by at least excess_bytes, or removes it. False when it is absent. */
static bool shorten(roast_record *rec, enum roast_field field, size_t excess_bytes)
{
    struct roast_str *text = &rec->values[field].str;

    if (!roast_record_has(rec, field))
        return false;
    if (text->size_bytes <= excess_bytes)
        drop_field(rec, field);
    else
        *text = roast_str_cut(*text, text->size_bytes - excess_bytes);
    return true;
}

/* Removes an item that is not a slice; at last the whole ladder. False when it is
 * empty. */
static bool shorten_ladder(struct roast_ladder *ladder)
{
    static const enum roast_ladder_item order[] = {
        ROAST_ITEM_hook_calls, ROAST_ITEM_gc_runs,       ROAST_ITEM_cached_reads,
        ROAST_ITEM_hook_cost,  ROAST_ITEM_foreign_bytes, ROAST_ITEM_other_bytes,
        ROAST_ITEM_gc_cpu,     ROAST_ITEM_storage_wait,  ROAST_ITEM_metadata_bytes,
        ROAST_ITEM_open_bytes, ROAST_ITEM_column_bytes,  ROAST_ITEM_fetch_cpu,
        ROAST_ITEM_gil_wait,   ROAST_ITEM_runqueue,      ROAST_ITEM_hooks_missing};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (!roast_ladder_has(ladder, order[i]))
            continue;
        ladder->present &= ~(UINT32_C(1) << order[i]);
        return true;
    }
    bool had_slices = ladder->present != 0;
    ladder->present = 0;
    return had_slices;
}

static void set_ladder(struct end_frame *frame)
{
    int64_t size = roast_ladder_write(frame->ladder_bytes, sizeof(frame->ladder_bytes),
                                      &frame->ladder, NULL);
    struct roast_str blob = {(const char *)frame->ladder_bytes,
                             size > 0 ? (size_t)size : 0};

    if (blob.size_bytes > 0)
        roast_record_set_str(&frame->rec, ROAST_FIELD_ladder, blob);
    else
        drop_field(&frame->rec, ROAST_FIELD_ladder);
}

/* Encodes it to out, without the fields that do not fit. Returns its size. */
static size_t encode(unsigned char out[ROAST_END_MAX_BYTES], struct end_frame *frame)
{
    unsigned char room[4 * ROAST_END_MAX_BYTES]; /* enough for all fields */
    bool less = true;

    while (less) {
        set_ladder(frame);
        int64_t size = roast_record_encode(room, sizeof(room), &frame->rec, NULL);
        if (size > 0 && size <= ROAST_END_MAX_BYTES) {
            memcpy(out, room, (size_t)size);
            return (size_t)size;
        }
        size_t excess_bytes = size > 0 ? (size_t)size - ROAST_END_MAX_BYTES : SIZE_MAX;
        less = shorten(&frame->rec, ROAST_FIELD_monitor_first_error, excess_bytes) ||
               shorten(&frame->rec, ROAST_FIELD_error_type, excess_bytes) ||
               shorten_ladder(&frame->ladder);
    }
    return 0;
}

/* ---- end and packed ---------------------------------------------------------- */

static void set_end(struct roast_attempt *attempt, const struct roast_chunk_end *end)
{
    roast_record *rec = &attempt->end;

    roast_record_set_u64(rec, ROAST_FIELD_status, end->status);
    if (end->status == ROAST_CHUNK_FAILED)
        roast_record_set_str(
            rec, ROAST_FIELD_error_type,
            roast_str_cut(end->error_type, ROAST_END_ERROR_TYPE_BYTES));
    if (end->monitor_errors == 0)
        return;
    roast_record_set_u64(rec, ROAST_FIELD_monitor_errors, end->monitor_errors);
    struct roast_str text =
        roast_str_cut(end->monitor_first_error, sizeof(attempt->first_error));
    if (!text.data)
        return;
    memcpy(attempt->first_error, text.data, text.size_bytes);
    text.data = attempt->first_error;
    roast_record_set_str(rec, ROAST_FIELD_monitor_first_error, text);
}

static size_t make_end(unsigned char out[ROAST_END_MAX_BYTES],
                       struct roast_attempt *attempt, int64_t mono_ns, int64_t cpu_ns)
{
    struct end_frame frame;

    set_times(attempt, &attempt->end, mono_ns, cpu_ns);
    frame.rec = attempt->end;
    frame.ladder.present = 0;
    if (attempt->ladder.armed)
        roast__ladder_get(&attempt->ladder, &frame.ladder);
    return encode(out, &frame);
}

bool roast__attempt_put_end(struct roast_thread *thread,
                            const struct roast_attempt_close *close)
{
    struct roast_attempt *attempt = &thread->attempt;
    unsigned char out[ROAST_END_MAX_BYTES];

    roast__attempt_identify(attempt, &attempt->end, ROAST_FRAME_END);
    roast_record_set_u64(&attempt->end, ROAST_FIELD_pid, roast__process().pid);
    roast_record_set_i64(&attempt->end, ROAST_FIELD_task_start_mono_ns,
                         attempt->start_mono_ns);
    set_end(attempt, close->end);
    roast__buf_put(&attempt->frames, out,
                   make_end(out, attempt, close->mono_ns, close->cpu_ns));
    bool whole = roast__buf_ok(&attempt->frames);
    attempt->frames.failed = false; /* the frames before it are complete */
    attempt->packable = attempt->ladder.armed && close->end->status == ROAST_CHUNK_OK;
    return whole;
}

struct roast_str roast_attempt_packed(roast_thread *thread, uint64_t output_bytes)
{
    struct roast_attempt *attempt = &thread->attempt;
    int64_t mono_ns = roast__clock_mono_ns();
    int64_t cpu_ns = roast__clock_thread_ns();

    if (!attempt->packable)
        return (struct roast_str){NULL, 0};
    attempt->packable = false;
    if (output_bytes > 0)
        roast_record_set_u64(&attempt->end, ROAST_FIELD_output_bytes, output_bytes);
    roast__ladder_packed(&attempt->ladder, &thread->slow_files.schedstat, mono_ns);
    return (struct roast_str){(const char *)thread->small_frame,
                              make_end(thread->small_frame, attempt, mono_ns, cpu_ns)};
}
