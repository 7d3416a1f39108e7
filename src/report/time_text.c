/* SPDX-License-Identifier: BSD-3-Clause */
/* time_text.c - times in ISO 8601, UTC. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "roast/report.h"

size_t roast_format_time(char out[ROAST_TIME_BYTES], int64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm utc;

    if (time_ns < 0 || !gmtime_r(&seconds, &utc) || utc.tm_year > 9999 - 1900) {
        memcpy(out, "-", 2);
        return 1;
    }
    size_t size = strftime(out, ROAST_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
    return size + (size_t)snprintf(out + size, ROAST_TIME_BYTES - size,
                                   ".%09" PRId64 "Z", time_ns % 1000000000);
}
