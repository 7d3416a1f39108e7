/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.c - reads the section tree, the intervals and the pairs of a record.
 *
 *     sections   count, then per section: parent + 1, kinds, name length, name, count,
 *                total ns; with MEMORY also start, end (varint) and delta (zigzag);
 *                with BYTES also bytes; with PEAK also the peak
 *     intervals  count, then per interval: section, start ns, duration ns
 *     pairs      key, value, key, value, ... to the end of the blob
 *
 * All numbers are varints. One section "jets" under process(), 2 passes, 300 ns:
 *     01  00 01 04 6A 65 74 73 02 AC 02
 */
#include "record/sections.h"

void roast__section_put(struct roast_buf *out, const struct roast_section *section)
{
    roast__buf_put_varint(out, (uint64_t)((int64_t)section->parent + 1));
    roast__buf_put_varint(out, section->kinds);
    roast__buf_put_varint(out, section->name.size_bytes);
    roast__buf_put(out, section->name.data, section->name.size_bytes);
    roast__buf_put_varint(out, section->count);
    roast__buf_put_varint(out, section->total_ns);
    if (section->kinds & ROAST_SECTION_MEMORY) {
        roast__buf_put_varint(out, section->memory_start_bytes);
        roast__buf_put_varint(out, section->memory_end_bytes);
        roast__buf_put_signed(out, section->memory_delta_bytes);
    }
    if (section->kinds & ROAST_SECTION_BYTES)
        roast__buf_put_varint(out, section->bytes);
    if (section->kinds & ROAST_SECTION_PEAK)
        roast__buf_put_varint(out, section->memory_peak_bytes);
}

int64_t roast_sections_write(void *out, size_t out_bytes,
                             const struct roast_section *all, size_t count,
                             roast_error *err)
{
    struct roast_buf buf = {NULL, 0, 0, false};
    int64_t size;

    roast__buf_put_varint(&buf, count);
    for (size_t i = 0; i < count; i++)
        roast__section_put(&buf, &all[i]);
    size = (int64_t)buf.size_bytes;
    if (!roast__buf_ok(&buf))
        size = roast_error_set(err, ROAST_NO_MEMORY, "%zu sections", count);
    else if (buf.size_bytes > out_bytes)
        size = roast_error_set(err, ROAST_LIMIT, "sections of %zu bytes, room for %zu",
                               buf.size_bytes, out_bytes);
    else
        memcpy(out, buf.data, buf.size_bytes);
    roast__buf_release(&buf);
    return size;
}

static void read_section(struct roast_cursor *cur, struct roast_section *section)
{
    uint64_t parent = roast__cursor_varint(cur);

    memset(section, 0, sizeof(*section));
    section->parent = parent > INT32_MAX ? INT32_MAX : (int32_t)parent - 1;
    section->kinds = (unsigned)roast__cursor_varint(cur);
    section->name.size_bytes = (size_t)roast__cursor_varint(cur);
    section->name.data =
        (const char *)roast__cursor_bytes(cur, section->name.size_bytes);
    section->count = roast__cursor_varint(cur);
    section->total_ns = roast__cursor_varint(cur);
    if (section->kinds & ROAST_SECTION_MEMORY) {
        section->memory_start_bytes = roast__cursor_varint(cur);
        section->memory_end_bytes = roast__cursor_varint(cur);
        section->memory_delta_bytes = roast__cursor_signed(cur);
    }
    if (section->kinds & ROAST_SECTION_BYTES)
        section->bytes = roast__cursor_varint(cur);
    if (section->kinds & ROAST_SECTION_PEAK)
        section->memory_peak_bytes = roast__cursor_varint(cur);
}

/* A parent must be an earlier section: no cycles. */
static bool place_in_tree(struct roast_section *out, size_t max, size_t i,
                          struct roast_section *section)
{
    if (section->parent >= (int64_t)i)
        return false;
    section->self_ns = section->total_ns;
    if (section->parent >= 0 && (size_t)section->parent < max) {
        struct roast_section *parent = &out[section->parent];
        section->depth = parent->depth + 1;
        parent->self_ns -=
            section->total_ns < parent->self_ns ? section->total_ns : parent->self_ns;
    }
    if (i < max)
        out[i] = *section;
    return true;
}

int64_t roast_sections_read(struct roast_section *out, size_t max,
                            struct roast_str blob, roast_error *err)
{
    struct roast_cursor cur = roast__cursor(blob.data, blob.size_bytes);
    uint64_t count = roast__cursor_varint(&cur);

    for (uint64_t i = 0; i < count && !cur.failed; i++) {
        struct roast_section section;
        read_section(&cur, &section);
        if (!place_in_tree(out, max, (size_t)i, &section))
            cur.failed = true;
    }
    if (cur.failed)
        return roast_error_set(err, ROAST_BAD_DATA, "sections of %zu bytes",
                               blob.size_bytes);
    return (int64_t)count;
}

int64_t roast_intervals_read(struct roast_interval *out, size_t max,
                             struct roast_str blob, roast_error *err)
{
    struct roast_cursor cur = roast__cursor(blob.data, blob.size_bytes);
    uint64_t count = roast__cursor_varint(&cur);

    for (uint64_t i = 0; i < count && !cur.failed; i++) {
        struct roast_interval interval;
        interval.section = (uint32_t)roast__cursor_varint(&cur);
        interval.start_ns = roast__cursor_varint(&cur);
        interval.duration_ns = roast__cursor_varint(&cur);
        if (i < max)
            out[i] = interval;
    }
    if (cur.failed)
        return roast_error_set(err, ROAST_BAD_DATA, "intervals of %zu bytes",
                               blob.size_bytes);
    return (int64_t)count;
}

int roast_pair_next(struct roast_pair *pair, struct roast_str *blob, roast_error *err)
{
    struct roast_cursor cur = roast__cursor(blob->data, blob->size_bytes);

    if (roast__cursor_remaining(&cur) == 0)
        return 0;
    pair->key = roast__cursor_varint(&cur);
    pair->value = roast__cursor_varint(&cur);
    if (cur.failed)
        return roast_error_set(err, ROAST_BAD_DATA, "pairs of %zu bytes",
                               blob->size_bytes);
    blob->data = (const char *)cur.at;
    blob->size_bytes = roast__cursor_remaining(&cur);
    return 1;
}
