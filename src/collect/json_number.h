/* SPDX-License-Identifier: BSD-3-Clause */
/* json_number.h - numbers as JSON writes them. */
#ifndef ROAST_COLLECT_JSON_NUMBER_H
#define ROAST_COLLECT_JSON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* A number that follows JSON's grammar and ends with a NUL. */
struct roast_json_number {
    bool is_whole; /* neither a point nor an exponent */
    bool fits;     /* whole, and 64 bits hold it */
    bool negative;
    uint64_t size;
    double nearest; /* infinite past the largest double */
};

struct roast_json_number roast__json_number(const char *text);

#endif
