/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_values.h - values of JSON as the free-form values of a record.
 *
 * What JSON lacks stands in a dict with one key that is a tag: bytes come back as bytes,
 * tuples and sets as lists, times as their text, dicts of pairs as dicts. */
#ifndef ROAST_COLLECT_MEASUREMENT_VALUES_H
#define ROAST_COLLECT_MEASUREMENT_VALUES_H

#include "collect/measurement_part.h"
#include "record/values.h"

/* Beside the blob: what could not be kept, and what only as text. */
struct roast_value_losses {
    uint64_t dropped;
    uint64_t as_text;
};

/* Appends an entry, a part under its key. One that is too large or too deep is taken back
 * whole and counted. Fails when reading does, or with NO_MEMORY. */
int roast__values_take(struct roast_values *out, struct roast_str key,
                       const struct roast_part *part,
                       struct roast_value_losses *losses);

#endif
