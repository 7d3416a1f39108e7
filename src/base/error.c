/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c - status names and the caller-owned error. */
#include "roast/error.h"

#include <stdarg.h>
#include <stdio.h>

struct status_row {
    int value;
    const char *name;
    const char *text;
};

static const struct status_row rows[] = {
#define S(name, value, text) {(value), #name, (text)},
#include "roast/status.def"
#undef S
};

static const struct status_row unknown = {1, "UNKNOWN", "unknown status"};

static const struct status_row *find_row(int status)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value == status)
            return &rows[i];
    }
    return &unknown;
}

int roast_error_set(roast_error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        (void)vsnprintf(err->message, sizeof(err->message), format, args);
        va_end(args);
    }
    return code;
}

const char *roast_status_name(int status)
{
    return find_row(status)->name;
}

const char *roast_status_text(int status)
{
    return find_row(status)->text;
}
