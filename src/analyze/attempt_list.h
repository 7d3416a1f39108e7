/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_list.h - the attempts of a run in the order of their start, with what is known
 * of their time. */
#ifndef ROAST_ANALYZE_ATTEMPT_LIST_H
#define ROAST_ANALYZE_ATTEMPT_LIST_H

#include "analyze/roles.h"
#include "run/order.h"

/* Times are those of the whole attempt, of process() where only that is known. */
struct roast_listed_attempt {
    int64_t start_ns; /* INT64_MAX: not known, and after all others */
    double seconds;   /* of a lost one to the last sign of life of its process; NaN: not
                        * known */
    uint32_t row;     /* in the run */
    uint32_t position; /* in the order */
    uint32_t chunk_id; /* of its record, if it has one */
    uint32_t attempt;  /* 1, 2 ... at its chunk */
    enum roast_role role;
};

/* The list of all attempts in the order, of which it has the length. Returns owned, for
 * roast__free(); NULL when out of memory. */
struct roast_listed_attempt *roast__attempts_list(const struct roast_run *run,
                                                  const struct roast_roles *roles,
                                                  const struct roast_order *order);

#endif
