/* SPDX-License-Identifier: BSD-3-Clause */
/* attempts.c - the rows of attempts: room, finding one by its identity.
 *
 * Columns have as much room as there are rows, so that whoever reads a column need not
 * look at its size. */
#include "run/attempts.h"

#include <string.h>

#include "base/mem.h"

enum { SMALLEST_CAP = 64, MOST_ROWS = INT32_MAX };

/* Neighbours in a process lie side by side: their frames come one after the other, and
 * what was just read is still in the cache. */
static uint64_t hash_row(int32_t process, uint32_t sequence)
{
    enum { NEIGHBOURS = 8 };
    uint64_t block = (uint64_t)(uint32_t)process << 32 | sequence / NEIGHBOURS;

    return roast__hash_number(block) * NEIGHBOURS + sequence % NEIGHBOURS;
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_attempts *attempts = table;
    return hash_row(roast__process_of(attempts, item), attempts->sequence[item]);
}

int64_t roast__attempts_find(const struct roast_attempts *attempts, int32_t process,
                             uint32_t sequence)
{
    const struct roast_hash_table *slots = &attempts->slots;

    for (size_t at = roast__hash_first(slots, hash_row(process, sequence));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t row = roast__hash_item(slots, at);
        if (attempts->sequence[row] == sequence &&
            roast__process_of(attempts, row) == process)
            return row;
    }
    return -1;
}

static void *resized(void *items, size_t cap, size_t item_bytes)
{
    return cap <= SIZE_MAX / item_bytes ? roast__realloc(items, cap * item_bytes)
                                        : NULL;
}

/* Arrays that grew before one failed are larger than `cap` says, which is fine. */
static bool grow_rows(struct roast_attempts *rows, size_t cap)
{
    void *moved;

    if (!(moved = resized(rows->process, cap, sizeof(*rows->process))))
        return false;
    rows->process = moved;
    if (!(moved = resized(rows->sequence, cap, sizeof(*rows->sequence))))
        return false;
    rows->sequence = moved;
    if (!(moved = resized(rows->source, cap, sizeof(*rows->source))))
        return false;
    rows->source = moved;
    if (!(moved = resized(rows->status, cap, sizeof(*rows->status))))
        return false;
    rows->status = moved;
    if (!(moved = resized(rows->parts, cap, sizeof(*rows->parts))))
        return false;
    rows->parts = moved;
    if (!(moved = resized(rows->cold_fields, cap, sizeof(*rows->cold_fields))))
        return false;
    rows->cold_fields = moved;
    return true;
}

static bool grow(struct roast_attempts *attempts, size_t cap)
{
    if (attempts->count >= MOST_ROWS || !grow_rows(attempts, cap))
        return false;
    for (size_t i = 0; i < ROAST_COLUMN_COUNT; i++) {
        if (!roast__column_grow(&attempts->columns[i], cap))
            return false;
    }
    attempts->cap = cap;
    return true;
}

bool roast__attempts_room(struct roast_attempts *attempts)
{
    size_t cap = attempts->cap > 0 ? attempts->cap * 2 : SMALLEST_CAP;

    if (attempts->count == attempts->cap && !grow(attempts, cap))
        return false;
    return roast__hash_room(&attempts->slots, attempts->count, hash_of, attempts);
}

size_t roast__attempts_append(struct roast_attempts *attempts, int32_t process,
                              uint32_t sequence, bool findable)
{
    size_t row = attempts->count++;

    attempts->process[row] = process;
    attempts->sequence[row] = sequence;
    attempts->source[row] = ROAST_NO_SOURCE;
    attempts->status[row] = 0;
    attempts->parts[row] = 0;
    attempts->cold_fields[row] = 0;
    if (findable)
        roast__hash_put(&attempts->slots, hash_of(attempts, (uint32_t)row),
                        (uint32_t)row);
    return row;
}

void roast__attempts_release(struct roast_attempts *attempts)
{
    roast__free(attempts->process);
    roast__free(attempts->sequence);
    roast__free(attempts->source);
    roast__free(attempts->status);
    roast__free(attempts->parts);
    roast__free(attempts->cold_fields);
    for (size_t i = 0; i < ROAST_COLUMN_COUNT; i++)
        roast__column_release(&attempts->columns[i]);
    roast__buf_release(&attempts->packed);
    roast__hash_release(&attempts->slots);
    roast__free(attempts->sources);
    roast__hash_release(&attempts->source_slots);
    roast__free(attempts->processes);
    roast__hash_release(&attempts->process_slots);
    roast__hash_release(&attempts->process_id_slots);
    memset(attempts, 0, sizeof(*attempts));
}
