/* SPDX-License-Identifier: BSD-3-Clause */
/* finish_readings.c - differences of readings, and why some are absent. */
#include "probe/chunk/finish.h"

enum roast_reason roast__why_unread(void)
{
    return ROAST_PROCFS ? ROAST_WHY_NOT_READABLE : ROAST_WHY_NO_OS_SUPPORT;
}

static void set_or_say(roast_thread *thread, enum roast_field field, bool known,
                       uint64_t value)
{
    if (known)
        roast_record_set_u64(&thread->record, field, value);
    else
        roast_chunk_absent(thread, field, roast__why_unread());
}

static void set_memory(roast_thread *thread)
{
    set_or_say(thread, ROAST_FIELD_rss_before_bytes, thread->before.rss_known,
               thread->before.rss_bytes);
    set_or_say(thread, ROAST_FIELD_rss_after_bytes, thread->after.rss_known,
               thread->after.rss_bytes);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Whether the kernel's high-water mark speaks of this chunk alone: it moved meanwhile,
 * or it was reset to what was resident when the chunk began. A program started by a
 * larger one inherits a mark that no reset lowers: a reset must show to be believed. */
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

/* The mark is exact when no other chunk can have moved it. Otherwise the highest of all
 * samples is what we know. */
static void set_peak(roast_thread *thread, bool shared)
{
    const struct roast_readings *before = &thread->before;
    const struct roast_readings *after = &thread->after;
    uint64_t sampled = atomic_load(&thread->peak_rss_bytes);

    if (!before->rss_known || !after->rss_known) {
        roast_chunk_absent(thread, ROAST_FIELD_rss_peak_bytes, roast__why_unread());
        return;
    }
    sampled = larger(sampled, larger(before->rss_bytes, after->rss_bytes));
    bool exact = !shared && mark_is_ours(thread);
    if (!exact && !thread->sampled) {
        roast_chunk_absent(thread, ROAST_FIELD_rss_peak_bytes, ROAST_WHY_NO_SAMPLER);
        return;
    }
    roast_record_set_u64(&thread->record, ROAST_FIELD_rss_peak_bytes,
                         exact ? larger(after->peak_rss_bytes, sampled) : sampled);
    roast_record_set_u64(&thread->record, ROAST_FIELD_rss_peak_kind,
                         exact ? ROAST_PEAK_EXACT : ROAST_PEAK_SAMPLED);
}

struct difference {
    enum roast_field field;
    bool known;
    uint64_t before;
    uint64_t after;
};

static void set_differences(roast_thread *thread)
{
    const struct roast_readings *b = &thread->before;
    const struct roast_readings *a = &thread->after;
    const struct difference rows[] = {
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
            set_or_say(thread, rows[i].field, rows[i].known,
                       rows[i].after - rows[i].before);
    }
}

void roast__finish_readings(roast_thread *thread, bool shared)
{
    set_memory(thread);
    set_peak(thread, shared);
    set_differences(thread);
}
