/* SPDX-License-Identifier: BSD-3-Clause */
/* series.c - the list of sampled series as a table.
 *
 * It is here because the code that samples a worker and the code that stores samples
 * both use it, and neither includes the other. */
#include "roast/sample.h"

static const struct roast_series_info all[ROAST_SERIES_COUNT] = {
#define S(name, key, value_key, unit, steps) \
    {#name, (key), (value_key), #unit, (double)(steps)},
#include "roast/series.def"
#undef S
};

_Static_assert(ROAST_SERIES_COUNT <= 32, "roast_sample.present has 32 bits");

const struct roast_series_info *roast_series_info(enum roast_series series)
{
    return &all[series];
}
