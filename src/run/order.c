/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c - the attempts of a run in order of their start, and which try each was.
 *
 * A worker cannot know either, so both are told when reading. The order does not depend
 * on the order in which frames came. A chunk is a file of a dataset and a range of
 * entries; what does not know these is a chunk of its own, and another run id over the
 * same files is another pass, not another try. */
#include "run/order.h"

#include "base/mem.h"

static bool sort_all(struct roast_order *order, const struct roast_attempts *attempts)
{
    for (size_t row = 0; row < order->count; row++)
        order->rows[row] = (uint32_t)row;
    return roast__rows_sort(order->rows, order->count, attempts);
}

/* ---- which try --------------------------------------------------------------- */

struct chunk {
    int32_t run; /* id of the call: the same chunk in another call is another one */
    int32_t source;
    int64_t entry_start;
    int64_t entry_stop;
};

/* False where file or entries are not known. */
static bool chunk_of(const struct roast_attempts *attempts, size_t row,
                     struct chunk *chunk)
{
    const struct roast_column *start = &attempts->columns[ROAST_COLUMN_entry_start];
    const struct roast_column *stop = &attempts->columns[ROAST_COLUMN_entry_stop];

    chunk->run = attempts->processes[attempts->process[row]].run;
    chunk->source = attempts->source[row];
    if (chunk->source < 0 || !roast__column_has(start, row) ||
        !roast__column_has(stop, row))
        return false;
    const struct roast_source *source = &attempts->sources[chunk->source];
    chunk->entry_start = start->values[row];
    chunk->entry_stop = stop->values[row];
    return source->file >= 0 || source->file_id != 0;
}

static uint64_t hash_chunk(const struct chunk *chunk)
{
    uint64_t where = (uint64_t)(uint32_t)chunk->run << 32 | (uint32_t)chunk->source;
    uint64_t hash = roast__slots_mix(where);

    hash = roast__slots_mix(hash ^ (uint64_t)chunk->entry_start);
    return roast__slots_mix(hash ^ (uint64_t)chunk->entry_stop);
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    struct chunk chunk = {0};

    (void)chunk_of(table, item, &chunk);
    return hash_chunk(&chunk);
}

static bool is_same_chunk(const struct roast_attempts *attempts, uint32_t row,
                          const struct chunk *chunk)
{
    struct chunk other;

    return chunk_of(attempts, row, &other) && other.source == chunk->source &&
           other.run == chunk->run && other.entry_start == chunk->entry_start &&
           other.entry_stop == chunk->entry_stop;
}

/* The slots hold the first row of every chunk; `tries` counts by that row. */
static uint32_t count_try(const struct roast_attempts *attempts,
                          struct roast_slots *slots, uint32_t *tries, uint32_t row)
{
    struct chunk chunk;

    if (!chunk_of(attempts, row, &chunk))
        return 1;
    uint64_t hash = hash_chunk(&chunk);
    for (size_t at = roast__slots_first(slots, hash); roast__slots_holds(slots, at);
         at = roast__slots_next(slots, at)) {
        uint32_t first = roast__slots_item(slots, at);
        if (is_same_chunk(attempts, first, &chunk))
            return ++tries[first];
    }
    roast__slots_put(slots, hash, row);
    tries[row] = 1;
    return 1;
}

static bool count_tries(struct roast_order *order,
                        const struct roast_attempts *attempts)
{
    struct roast_slots slots = {NULL, 0};
    uint32_t *tries = roast__alloc(attempts->count * sizeof(*tries));
    bool ok = tries != NULL;

    for (size_t i = 0; ok && i < order->count; i++) {
        uint32_t row = order->rows[i];
        ok = roast__slots_room(&slots, i, hash_of, attempts);
        if (ok)
            order->attempt[row] = count_try(attempts, &slots, tries, row);
    }
    roast__slots_release(&slots);
    roast__free(tries);
    return ok;
}

int roast__order_make(struct roast_order *out, struct roast_run *run, roast_error *err)
{
    struct roast_attempts *attempts = &run->attempts;
    struct roast_order order = {.count = attempts->count};

    roast__run_settle(run);
    order.rows = roast__alloc(order.count * sizeof(*order.rows));
    order.attempt = roast__alloc(order.count * sizeof(*order.attempt));
    if (!order.rows || !order.attempt || !sort_all(&order, attempts) ||
        !count_tries(&order, attempts)) {
        roast__order_release(&order);
        *out = order;
        return roast_error_set(err, ROAST_NO_MEMORY, "the order of %zu attempts",
                               attempts->count);
    }
    *out = order;
    return ROAST_OK;
}

void roast__order_release(struct roast_order *order)
{
    roast__free(order->rows);
    roast__free(order->attempt);
    *order = (struct roast_order){NULL, NULL, 0};
}
