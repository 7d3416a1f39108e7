/* SPDX-License-Identifier: BSD-3-Clause */
/* load_times.c - what a run was told at which moment: offers, marks, counts of workers;
 * and the ids that belong to it.
 *
 * Lists that are searched by time must be in order. One that is not ends where it goes
 * back, and counts as damaged. */
#include "base/mem.h"
#include "file/sqlite/load.h"
#include "run/array.h"

/* Times of a list go on; the first one of a part is told from 0. */
static bool next_time(struct roast_cursor *cur, int64_t *time_ns, int64_t *last_ns,
                      bool first)
{
    *time_ns = roast__wrap_add(*time_ns, roast__cursor_signed(cur));
    bool goes_on = first || *time_ns >= *last_ns;
    *last_ns = *time_ns;
    cur->failed |= !goes_on;
    return !cur->failed;
}

/* The least that an item takes in a part. */
enum { OFFER_BYTES = 3, MOMENT_BYTES = 2, COUNT_BYTES = 2 };

/* Makes room for the items of a part, and little more: doubling would take twice of what
 * is many times its size in the file already. Failure shows where an item is added. */
static void reserve(void **items, size_t *cap, size_t count, size_t item_bytes,
                    size_t more)
{
    size_t wanted = count + more + 1;

    if (wanted <= *cap)
        return;
    if (wanted < *cap + *cap / 8)
        wanted = *cap + *cap / 8; /* parts may be small and many */
    void *moved = roast__realloc(*items, wanted * item_bytes);
    if (moved) {
        *items = moved;
        *cap = wanted;
    }
}

static size_t items_of(const struct roast_segment_part *part, size_t least_bytes)
{
    size_t most = part->content.size_bytes / least_bytes;

    return part->items < most ? part->items : most;
}

static int take_offers(struct roast_loading *loading,
                       const struct roast_segment_part *part, struct roast_cursor *cur,
                       roast_error *err)
{
    struct roast_run *run = loading->run;
    int64_t time_ns = 0;
    int64_t last_ns = run->offer_count ? run->offers[run->offer_count - 1].time_ns : 0;

    void *items = run->offers;
    reserve(&items, &run->offer_cap, run->offer_count, sizeof(*run->offers),
            items_of(part, OFFER_BYTES));
    run->offers = items;
    for (uint32_t i = 0; i < part->items; i++) {
        if (!next_time(cur, &time_ns, &last_ns, run->offer_count == 0))
            break;
        struct roast_offer offer = {.time_ns = time_ns};
        offer.workers = roast__cursor_varint(cur); /* in this order, which an */
        offer.threads = roast__cursor_varint(cur); /* initializer does not promise */
        struct roast_offer *offers = roast__array_room(
            run->offers, &run->offer_cap, run->offer_count, sizeof(*offers));
        if (!offers)
            return roast_error_set(err, ROAST_NO_MEMORY, "offers");
        run->offers = offers;
        offers[run->offer_count] = offer;
        run->offer_count += !cur->failed;
    }
    return ROAST_OK;
}

static int take_moments(struct roast_loading *loading,
                        const struct roast_segment_part *part, struct roast_cursor *cur,
                        roast_error *err)
{
    struct roast_run *run = loading->run;
    int64_t time_ns = 0;
    int64_t last_ns =
        run->moment_count ? run->moments[run->moment_count - 1].time_ns : 0;

    void *items = run->moments;
    reserve(&items, &run->moment_cap, run->moment_count, sizeof(*run->moments),
            items_of(part, MOMENT_BYTES));
    run->moments = items;
    for (uint32_t i = 0; i < part->items; i++) {
        if (!next_time(cur, &time_ns, &last_ns, run->moment_count == 0))
            break;
        uint64_t mark = roast__cursor_varint(cur);
        cur->failed |= mark < ROAST_MARK_RUN_BEGIN || mark > ROAST_MARK_RUN_END;
        struct roast_moment *moments = roast__array_room(
            run->moments, &run->moment_cap, run->moment_count, sizeof(*moments));
        if (!moments)
            return roast_error_set(err, ROAST_NO_MEMORY, "marks");
        run->moments = moments;
        moments[run->moment_count] =
            (struct roast_moment){(enum roast_mark)mark, time_ns};
        run->moment_count += !cur->failed;
    }
    return ROAST_OK;
}

static int take_counts(struct roast_loading *loading,
                       const struct roast_segment_part *part, struct roast_cursor *cur,
                       roast_error *err)
{
    struct roast_run *run = loading->run;
    int64_t time_ns = 0;
    int64_t last_ns = run->count_count ? run->counts[run->count_count - 1].time_ns : 0;

    void *items = run->counts;
    reserve(&items, &run->count_cap, run->count_count, sizeof(*run->counts),
            items_of(part, COUNT_BYTES));
    run->counts = items;
    for (uint32_t i = 0; i < part->items; i++) {
        if (!next_time(cur, &time_ns, &last_ns, run->count_count == 0))
            break;
        struct roast_count count = {time_ns, roast__cursor_varint(cur)};
        struct roast_count *counts = roast__array_room(
            run->counts, &run->count_cap, run->count_count, sizeof(*counts));
        if (!counts)
            return roast_error_set(err, ROAST_NO_MEMORY, "counts");
        run->counts = counts;
        counts[run->count_count] = count;
        run->count_count += !cur->failed;
    }
    return ROAST_OK;
}

static int take_accepted(struct roast_loading *loading,
                         const struct roast_segment_part *part,
                         struct roast_cursor *cur, roast_error *err)
{
    struct roast_run *run = loading->run;
    unsigned char(*accepted)[ROAST_RUN_ID_BYTES];

    for (uint32_t i = 0; i < part->items; i++) {
        const unsigned char *id = roast__cursor_bytes(cur, ROAST_RUN_ID_BYTES);
        if (!id)
            break;
        accepted = roast__array_room(run->accepted, &run->accepted_cap,
                                     run->accepted_count, sizeof(*accepted));
        if (!accepted)
            return roast_error_set(err, ROAST_NO_MEMORY, "run ids");
        run->accepted = accepted;
        memcpy(accepted[run->accepted_count++], id, ROAST_RUN_ID_BYTES);
    }
    return ROAST_OK;
}

int roast__load_times(struct roast_loading *loading, roast_error *err)
{
    static const struct {
        enum roast_segment segment;
        roast__take_part *take;
    } lists[] = {
        {ROAST_SEGMENT_offers, take_offers},
        {ROAST_SEGMENT_moments, take_moments},
        {ROAST_SEGMENT_counts, take_counts},
        {ROAST_SEGMENT_accepted, take_accepted},
    };
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < sizeof(lists) / sizeof(lists[0]); i++)
        status = roast__load_segment(loading, lists[i].segment, lists[i].take, err);
    return status;
}
