/* SPDX-License-Identifier: BSD-3-Clause */
/* order_sort.c - rows in the order of their start.
 *
 * Only rows that start at the same nanosecond, or nobody knows when, are compared; all
 * others are sorted by digits (sort.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "run/order.h"

/* Of process(), else of the whole attempt. False: unknown. */
static bool start_of(const struct roast_attempts *attempts, size_t row,
                     int64_t *start_ns)
{
    static const enum roast_attempt_column starts[] = {ROAST_COLUMN_start_ns,
                                                       ROAST_COLUMN_task_start_ns};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        const struct roast_column *column = &attempts->columns[starts[i]];
        if (roast__column_has(column, row)) {
            *start_ns = column->values[row];
            return true;
        }
    }
    return false;
}

/* ---- equal starts ------------------------------------------------------------------ */

struct tie {
    uint64_t process_id;
    uint32_t sequence;
    uint32_t row;
};

static int by_identity(const void *left, const void *right)
{
    const struct tie *a = left;
    const struct tie *b = right;

    if (a->process_id != b->process_id)
        return a->process_id < b->process_id ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool sort_ties(uint32_t *rows, size_t count,
                      const struct roast_attempts *attempts)
{
    struct tie *ties = roast__alloc(count * sizeof(*ties));

    if (!ties)
        return false;
    for (size_t i = 0; i < count; i++)
        ties[i] = (struct tie){attempts->processes[attempts->process[rows[i]]].id,
                               attempts->sequence[rows[i]], rows[i]};
    qsort(ties, count, sizeof(*ties), by_identity);
    for (size_t i = 0; i < count; i++)
        rows[i] = ties[i].row;
    roast__free(ties);
    return true;
}

static bool sort_equal(uint32_t *rows, const struct roast_keyed *keyed, size_t count,
                       const struct roast_attempts *attempts)
{
    for (size_t from = 0, to; from < count; from = to) {
        to = from + 1;
        while (to < count && keyed[to].key == keyed[from].key)
            to++;
        if (to - from > 1 && !sort_ties(rows + from, to - from, attempts))
            return false;
    }
    return true;
}

/* ---- all --------------------------------------------------------------------------- */

/* Takes the rows whose start is known; the others are moved to the end. How many are
 * taken. */
static size_t take_known(struct roast_keyed *keyed, uint32_t *rows, size_t count,
                         const struct roast_attempts *attempts)
{
    size_t known = 0, unknown = 0;
    int64_t start_ns;

    for (size_t i = 0; i < count; i++) {
        if (start_of(attempts, rows[i], &start_ns))
            keyed[known++] = (struct roast_keyed){start_ns, rows[i]};
        else
            rows[unknown++] = rows[i];
    }
    memmove(rows + known, rows, unknown * sizeof(rows[0]));
    return known;
}

bool roast__rows_sort(uint32_t *rows, size_t count,
                      const struct roast_attempts *attempts)
{
    if (count < 2)
        return true;
    struct roast_keyed *keyed = roast__keyed_new(count);
    if (!keyed)
        return false;
    size_t known = take_known(keyed, rows, count, attempts);
    roast__keyed_sort(keyed, keyed + known, known);
    for (size_t i = 0; i < known; i++)
        rows[i] = keyed[i].item;
    bool ok = sort_equal(rows, keyed, known, attempts);
    if (ok && count - known > 1)
        ok = sort_ties(rows + known, count - known, attempts);
    roast__free(keyed);
    return ok;
}
