/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_list.c - the attempts of a run in the order of their start.
 *
 * Chunks are numbered by the start of their process(). Attempts start before that, and
 * may have another order. */
#include "analyze/attempt_list.h"

#include <stdlib.h>

#include "analyze/budget/last_seen.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "base/mem.h"

static int by_start(const void *a, const void *b)
{
    const struct roast_listed_attempt *left = a, *right = b;

    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    return (left->position > right->position) - (left->position < right->position);
}

struct roast_listed_attempt *roast__attempts_list(const struct roast_run *run,
                                                  const struct roast_roles *roles,
                                                  const struct roast_order *order)
{
    const struct roast_attempts *attempts = &run->attempts;
    int64_t *last_seen = roast__last_seen(run);
    struct roast_listed_attempt *list =
        last_seen ? roast__alloc(order->count * sizeof(list[0])) : NULL;
    uint32_t chunk_id = 0;

    for (size_t i = 0; list && i < order->count; i++) {
        uint32_t row = order->rows[i];
        enum roast_role role = (enum roast_role)roles->of_row[row];
        int64_t start_ns, end_ns;
        if (!roast__attempt_times(attempts, row, &start_ns, &end_ns))
            start_ns = INT64_MAX;
        list[i] = (struct roast_listed_attempt){
            .start_ns = start_ns,
            .seconds = role == ROAST_ROLE_LOST
                           ? roast__lost_seconds(attempts, row, last_seen)
                           : roast__attempt_seconds(attempts, row),
            .row = row,
            .position = (uint32_t)i,
            .chunk_id = chunk_id,
            .attempt = order->attempt[row],
            .role = role,
        };
        chunk_id += attempts->cold_fields[row] != 0;
    }
    if (list && order->count > 0)
        qsort(list, order->count, sizeof(list[0]), by_start);
    roast__free(last_seen);
    return list;
}
