/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_part.c - numbers in a document. */
#include "collect/measurement_part.h"

#include <math.h>

bool roast__value_number(const struct roast_json_token *value, double *number)
{
    bool is_bool = value->kind == ROAST_JSON_TRUE || value->kind == ROAST_JSON_FALSE;

    *number = is_bool ? value->kind == ROAST_JSON_TRUE : value->number;
    return is_bool || (roast__json_is_number(value) && isfinite(value->number));
}

uint64_t roast__whole_of(double number, double scale)
{
    double scaled = nearbyint(number * scale);

    return scaled >= 0 && scaled < 9e18 ? (uint64_t)scaled : 0;
}
