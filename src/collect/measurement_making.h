/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_making.h - a draft on its way into a record. */
#ifndef ROAST_COLLECT_MEASUREMENT_MAKING_H
#define ROAST_COLLECT_MEASUREMENT_MAKING_H

#include "collect/measurement_record.h"

/* A time before it, of the year 2001, is one of a clock without a date. */
#define ROAST_PLAUSIBLE_EPOCH_NS INT64_C(1000000000000000000)

struct making {
    struct roast_record_draft *draft;
    bool is_ours;
    roast_record rec;
    roast_record end;
    unsigned char identity[ROAST_IDENTITY_BYTES];
};

/* The number under a key of record_views.def. */
bool roast__making_number(const struct roast_record_draft *draft, const char *key,
                          double *number);

/* Fields that have a view; then what hand-made records say of their times in other
 * words; then the start of a record of ours, to the nanosecond as far as it goes. */
void roast__making_views(struct making *making);
void roast__making_times(struct making *making);
void roast__making_narrow_start(struct making *making);

#endif
