/* SPDX-License-Identifier: BSD-3-Clause */
/* number.h - numbers with units, formatted in one way for reports and findings. */
#ifndef ROAST_NUMBER_H
#define ROAST_NUMBER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ROAST_NUMBER_BYTES = 40 };

/* Three significant digits and an SI unit at every scale: 0.004 "s" -> "4.00 ms",
 * 1.234e9 "B" -> "1.23 GB", 12345678 "" -> "12.3 M". Scaled are "" (whole numbers below
 * 100000 keep their digits), B, B/s, bit/s, Hz and Hz/core; s becomes min, h and d from
 * 1000 s on; Gbit/s is not scaled from 0.1 to 999. "%", "x" and all others are never
 * scaled. Returns the length without the NUL. NaN and infinity give "-". */
size_t roast_format_number(char out[ROAST_NUMBER_BYTES], double value,
                           const char *unit);

/* The same as a value: roast_number(2, "s").text, for one expression. */
struct roast_number {
    char text[ROAST_NUMBER_BYTES];
};

static inline struct roast_number roast_number(double value, const char *unit)
{
    struct roast_number number;

    (void)roast_format_number(number.text, value, unit);
    return number;
}

#ifdef __cplusplus
}
#endif

#endif
