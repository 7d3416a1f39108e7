/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder_items.c - what a ladder tells beside the clock: items that are no slice, and
 * slices that cannot be told. */
#include "probe/chunk/thread.h"

static uint32_t slices_of(uint64_t hooks_missing)
{
    uint32_t slices = 0;

    for (unsigned hook = 0; hook < 64; hook++) {
        const struct roast_hook_info *info = roast_hook_info(hook);
        if (hooks_missing >> hook & 1 && info)
            slices |= info->slices;
    }
    return slices;
}

void roast__ladder_miss(struct roast_ladder_state *state, uint64_t hooks_missing)
{
    struct roast_ladder *sums = &state->sums;

    roast_ladder_set(sums, ROAST_ITEM_hooks_missing,
                     sums->values[ROAST_ITEM_hooks_missing] | hooks_missing);
    state->missing |= slices_of(hooks_missing);
    state->reads.sees_all &= hooks_missing == 0;
}

void roast_ladder_add(roast_thread *thread, enum roast_ladder_item item, uint64_t value)
{
    struct roast_ladder_state *state =
        roast_ladder_active(thread) ? &thread->attempt.ladder : NULL;

    if (!state || roast__is_slice(item) || item >= ROAST_ITEM_COUNT)
        return;
    if (item == ROAST_ITEM_hooks_missing)
        roast__ladder_miss(state, value); /* taken away meanwhile */
    else
        roast_ladder_set(&state->sums, item, state->sums.values[item] + value);
}

bool roast__ladder_bytes(const struct roast_ladder_state *state, uint64_t *bytes)
{
    static const enum roast_ladder_item items[] = {
        ROAST_ITEM_open_bytes, ROAST_ITEM_metadata_bytes, ROAST_ITEM_column_bytes,
        ROAST_ITEM_other_bytes};
    bool known = false;

    *bytes = 0;
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        *bytes += state->sums.values[items[i]];
        known |= roast_ladder_has(&state->sums, items[i]);
    }
    return known;
}

void roast__ladder_tell(const struct roast_ladder_state *state,
                        struct roast_ladder *out)
{
    uint32_t slices = (UINT32_C(1) << ROAST_SLICE_COUNT) - 1;

    *out = state->sums;
    for (uint32_t left = state->missing; left; left &= left - 1) {
        int slice = __builtin_ctz(left);
        out->values[ROAST_ITEM_unnamed] += out->values[slice];
        out->values[slice] = 0;
    }
    out->present |= slices & ~state->missing;
    if (roast_ladder_has(out, ROAST_ITEM_fetch))
        roast_ladder_set(out, ROAST_ITEM_fetch_cpu, out->values[ROAST_ITEM_fetch_cpu]);
}
