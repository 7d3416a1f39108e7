/* SPDX-License-Identifier: BSD-3-Clause */
/* moment.c - a moment as people and programs read it: ISO 8601, UTC. */
#include <time.h>

#include "roast/report.h"

enum { NS_DIGITS = 9 };

/* The last digits of value; where the next goes. */
static char *put_digits(char *at, int64_t value, int digits)
{
    for (int i = digits; i-- > 0; value /= 10)
        at[i] = (char)('0' + value % 10);
    return at + digits;
}

size_t roast_format_time(char out[ROAST_TIME_BYTES], int64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm utc;
    char *at = out;

    if (time_ns < 0 || !gmtime_r(&seconds, &utc) || utc.tm_year > 9999 - 1900) {
        memcpy(out, "-", 2);
        return 1;
    }
    at = put_digits(at, utc.tm_year + 1900, 4);
    *at++ = '-';
    at = put_digits(at, utc.tm_mon + 1, 2);
    *at++ = '-';
    at = put_digits(at, utc.tm_mday, 2);
    *at++ = 'T';
    at = put_digits(at, utc.tm_hour, 2);
    *at++ = ':';
    at = put_digits(at, utc.tm_min, 2);
    *at++ = ':';
    at = put_digits(at, utc.tm_sec, 2);
    *at++ = '.';
    at = put_digits(at, time_ns % 1000000000, NS_DIGITS);
    *at++ = 'Z';
    *at = '\0';
    return (size_t)(at - out);
}
