/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_frame.c - any bytes as frames: refused, or read to the last blob and view, and
 * written and read again to the same record.
 *
 * A fuzzer cannot find a valid CRC, so a frame that is refused for its checksum alone
 * gets the right one and is read again. Decoding never allocates: the heap aborts here,
 * except in the visitor. */
#include "base/buf.h"
#include "base/checksum.h"
#include "base/mem.h"
#include "record/view.h"
#include "record_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { CRC_BYTES = 4 };

static void *refuse(void *ptr, size_t size_bytes)
{
    (void)ptr;
    (void)size_bytes;
    abort();
}

static const struct roast_heap no_heap = {refuse, free};

/* Writes the right CRC after the frame at data, which is long enough. */
static void repair(unsigned char *data, size_t size_bytes)
{
    struct roast_cursor cur = roast__cursor(data + 2, size_bytes - 2);

    uint64_t fields_bytes = roast__cursor_varint(&cur);
    (void)roast__cursor_bytes(&cur, fields_bytes);
    PROMISE(!cur.failed && roast__cursor_remaining(&cur) >= CRC_BYTES);
    size_t covered = (size_t)(cur.at - data);
    uint32_t crc = roast__crc32c(data, covered);
    for (size_t i = 0; i < CRC_BYTES; i++)
        data[covered + i] = (unsigned char)(crc >> (8 * i));
}

static void read_tree(struct roast_str blob)
{
    struct roast_section all[ROOM];
    int64_t got = roast_sections_read(all, ROOM, blob, NULL);
    size_t count = got > ROOM ? ROOM : (size_t)got;

    PROMISE(got >= 0 || got == ROAST_BAD_DATA);
    PROMISE(got < 0 || (uint64_t)got <= blob.size_bytes);
    for (size_t i = 0; got > 0 && i < count; i++) {
        touch(all[i].name);
        PROMISE(all[i].parent >= -1 && all[i].parent < (int64_t)i);
        PROMISE(all[i].depth == (all[i].parent < 0 ? 0 : all[all[i].parent].depth + 1));
        PROMISE(all[i].self_ns <= all[i].total_ns);
    }
}

static void read_numbers(const roast_record *rec)
{
    struct roast_interval intervals[ROOM];
    struct roast_str losses = rec->values[ROAST_FIELD_losses].str;
    struct roast_identity id;
    struct roast_pair pair;

    if (roast_record_has(rec, ROAST_FIELD_intervals))
        (void)roast_intervals_read(intervals, ROOM,
                                   rec->values[ROAST_FIELD_intervals].str, NULL);
    while (roast_record_has(rec, ROAST_FIELD_losses) &&
           roast_pair_next(&pair, &losses, NULL) == 1)
        (void)roast_loss_name((unsigned)pair.key);
    if (roast_record_has(rec, ROAST_FIELD_identity))
        (void)roast_identity_unpack(&id, rec->values[ROAST_FIELD_identity].str, NULL);
}

static void read_values(struct roast_str blob)
{
    roast_values nowhere = {.too_large = true}; /* copies nothing */

    if (roast_values_check(blob, NULL) == ROAST_OK)
        copy_values(&nowhere, blob);
}

static void read_views(const roast_record *rec)
{
    size_t count;
    const struct roast_view *views = roast_views(&count);
    struct roast_record_parts parts;

    (void)roast__record_parts_read(&parts, rec, NULL);
    for (size_t i = 0; i < count; i++) {
        struct roast_value value = roast__view_value(&views[i], rec, &parts);
        bool present = roast_record_has(rec, views[i].field) &&
                       roast_record_has(rec, views[i].other);
        bool packed = roast_field_info(views[i].field)->type == ROAST_TYPE_BLOB;
        PROMISE(present || value.type == ROAST_VALUE_NULL);
        PROMISE(!present || packed || value.type != ROAST_VALUE_NULL);
        if (value.type == ROAST_VALUE_TEXT)
            touch(value.str);
    }
}

/* What a sink may rely on: balanced, and a key before each entry of a map. */
struct checking {
    bool is_map[32];
    bool has_key;
    int depth;
};

static void check_entry(struct checking *checking)
{
    PROMISE(checking->is_map[checking->depth] == checking->has_key);
    checking->has_key = false;
}

static void check_open(void *context, bool is_map)
{
    struct checking *checking = context;

    check_entry(checking);
    PROMISE(checking->depth < 12);
    checking->is_map[++checking->depth] = is_map;
}

static void check_close(void *context, bool is_map)
{
    struct checking *checking = context;

    PROMISE(!checking->has_key && checking->is_map[checking->depth] == is_map);
    PROMISE(--checking->depth >= 0);
}

static void check_key(void *context, struct roast_str key)
{
    struct checking *checking = context;

    PROMISE(checking->is_map[checking->depth] && !checking->has_key);
    checking->has_key = true;
    touch(key);
}

static void check_value(void *context, const struct roast_value *value)
{
    check_entry(context);
    if (value->type == ROAST_VALUE_TEXT || value->type == ROAST_VALUE_BYTES)
        touch(value->str);
}

static void visit(const roast_record *rec)
{
    struct checking checking = {.is_map = {true}};
    const struct roast_value_sink sink = {check_open,  check_close, check_key,
                                          check_value, &checking,   true};

    (void)roast_record_visit(rec, &sink, NULL);
    PROMISE(checking.depth == 0 && !checking.has_key);
}

static bool same_field(const roast_record *a, const roast_record *b, int i)
{
    enum roast_field_type type = roast_field_info((enum roast_field)i)->type;
    struct roast_str x = a->values[i].str, y = b->values[i].str;

    if (!roast_record_has(a, (enum roast_field)i))
        return true;
    if (type != ROAST_TYPE_TEXT && type != ROAST_TYPE_BLOB)
        return a->values[i].u64 == b->values[i].u64;
    return x.size_bytes == y.size_bytes && memcmp(x.data, y.data, x.size_bytes) == 0;
}

static void write_again(const roast_record *rec)
{
    size_t bound = roast_record_bound(rec);
    char *frame = malloc(bound);
    roast_record back;
    size_t used = 0;

    PROMISE(frame);
    int64_t size = roast_record_encode(frame, bound, rec, NULL);
    PROMISE(size > 0);
    struct roast_str data = {frame, (size_t)size};
    PROMISE(roast_record_decode(&back, &used, data, NULL) == ROAST_OK);
    PROMISE(used == data.size_bytes);
    PROMISE(back.kind == rec->kind && back.present == rec->present);
    for (int i = 0; i < ROAST_FIELD_COUNT; i++)
        PROMISE(same_field(rec, &back, i));
    free(frame);
}

static void read_record(const roast_record *rec)
{
    static const enum roast_field blobs[] = {
        ROAST_FIELD_user_keys, ROAST_FIELD_custom_metrics, ROAST_FIELD_process};

    if (roast_record_has(rec, ROAST_FIELD_sections))
        read_tree(rec->values[ROAST_FIELD_sections].str);
    for (size_t i = 0; i < sizeof(blobs) / sizeof(blobs[0]); i++) {
        if (roast_record_has(rec, blobs[i]))
            read_values(rec->values[blobs[i]].str);
    }
    read_numbers(rec);
    check_parts(rec);
    read_views(rec);
    write_again(rec);
    roast__heap_set(NULL);
    visit(rec);
    roast__heap_set(&no_heap);
}

/* Reads one frame at the start of data; returns its size, 0 when there is none. */
static size_t read_frame(unsigned char *data, size_t size_bytes)
{
    struct roast_str str = {(const char *)data, size_bytes};
    roast_record rec = {.present = UINT64_MAX};
    size_t used = 0;

    int status = roast_record_decode(&rec, &used, str, NULL);
    if (status == ROAST_BAD_CHECKSUM) {
        repair(data, size_bytes);
        status = roast_record_decode(&rec, &used, str, NULL);
        PROMISE(status == ROAST_OK || status == ROAST_BAD_DATA);
    }
    if (status < 0) {
        PROMISE(rec.present == 0);
        return 0;
    }
    PROMISE(used > CRC_BYTES && used <= size_bytes);
    read_record(&rec);
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    unsigned char *copy = malloc(size_bytes > 0 ? size_bytes : 1);
    size_t used = 1;

    PROMISE(copy);
    if (size_bytes > 0)
        memcpy(copy, data, size_bytes);
    roast__heap_set(&no_heap);
    for (size_t at = 0; used > 0; at += used)
        used = read_frame(copy + at, size_bytes - at);
    free(copy);
    return 0;
}
