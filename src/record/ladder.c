/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder.c - seconds by slice and other items: the lists as tables, and the
 * blob, which is (number, value) pairs to its end, all varints.
 *
 * 300 ns in form, 5 in compute:  03 AC 02  08 05 */
#include "roast/ladder.h"

#include "base/buf.h"
#include "base/varint.h"
#include "record/entries.h"

static const struct roast_ladder_info items[ROAST_ITEM_COUNT] = {
#define I(number, name, kind, shown, text) \
    {(number), ROAST_LADDER_##kind, #name, (shown), (text)},
#include "roast/ladder_items.def"
#undef I
};

/* Item + 1 by number, so that 0 means unknown. */
static const unsigned char by_number[] = {
#define I(number, name, kind, shown, text) [number] = ROAST_ITEM_##name + 1,
#include "roast/ladder_items.def"
#undef I
};

#define SLICE(name) (UINT32_C(1) << ROAST_ITEM_##name)
static const struct roast_hook_info hooks[ROAST_HOOK_END] = {
#define H(number, name, where, slices, text) \
    [number] = {#name, (where), (slices), (text)},
#include "roast/hooks.def"
#undef H
};
#undef SLICE

_Static_assert(ROAST_ITEM_COUNT <= 32, "roast_ladder.present has 32 bits");
_Static_assert(ROAST_HOOK_END <= 64, "a hook is a bit of hooks_missing");

const struct roast_ladder_info *roast_ladder_info(enum roast_ladder_item item)
{
    return &items[item];
}

const struct roast_hook_info *roast_hook_info(unsigned hook)
{
    return hook < ROAST_HOOK_END && hooks[hook].name ? &hooks[hook] : NULL;
}

int64_t roast_ladder_write(void *out, size_t out_bytes,
                           const struct roast_ladder *ladder, roast_error *err)
{
    struct roast_byte_writer sink = roast__byte_writer(out, out_bytes);

    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        if (!roast_ladder_has(ladder, (enum roast_ladder_item)i))
            continue;
        roast__write_varint(&sink, items[i].number);
        roast__write_varint(&sink, ladder->values[i]);
    }
    return roast__written_bytes(&sink, out, "items of a ladder", err);
}

/* As roast__cursor_varint(), but in place: a run has millions of ladders. */
static inline uint64_t read_varint(struct roast_cursor *cur)
{
    uint64_t value = 0;

    cur->failed |= !roast__load_varint(&cur->at, cur->end, &value);
    return value;
}

int roast_ladder_read(struct roast_ladder *out, struct roast_str blob, roast_error *err)
{
    struct roast_cursor cur = roast__cursor(blob.data, blob.size_bytes);

    memset(out, 0, sizeof(*out));
    while (roast__cursor_remaining(&cur) > 0 && !cur.failed) {
        uint64_t number = read_varint(&cur);
        uint64_t value = read_varint(&cur);
        if (number < sizeof(by_number) && by_number[number] != 0)
            roast_ladder_set(out, (enum roast_ladder_item)(by_number[number] - 1),
                             value);
    }
    if (!cur.failed)
        return ROAST_OK;
    memset(out, 0, sizeof(*out));
    return roast_error_set(err, ROAST_BAD_DATA, "a ladder of %zu bytes",
                           blob.size_bytes);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Each part is limited to the remaining time, so that small differences between clocks
 * never make a part negative or change the sum. */
bool roast_ladder_split(struct roast_split *out, uint64_t task_ns, uint64_t task_cpu_ns,
                        const struct roast_ladder *ladder)
{
    const uint64_t *ns = ladder->values;
    uint64_t waited =
        ns[ROAST_ITEM_fetch] - less(ns[ROAST_ITEM_fetch], ns[ROAST_ITEM_fetch_cpu]);

    if (waited <= UINT64_MAX - ns[ROAST_ITEM_storage_wait])
        waited += ns[ROAST_ITEM_storage_wait];

    if (!roast_ladder_has(ladder, ROAST_ITEM_runqueue))
        return false;
    out->fetch_known = roast_ladder_has(ladder, ROAST_ITEM_fetch);
    out->on_cpu_ns = less(task_cpu_ns, task_ns);
    uint64_t left = task_ns - out->on_cpu_ns;
    out->runqueue_ns = less(ns[ROAST_ITEM_runqueue], left);
    left -= out->runqueue_ns;
    out->fetch_wait_ns = out->fetch_known ? less(waited, left) : 0;
    out->blocked_ns = left - out->fetch_wait_ns;
    return true;
}
