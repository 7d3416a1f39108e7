/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.c - options that are numbers: 5, 0.5, 1e9. */
#include "numbers.h"

#include <math.h>
#include <stdlib.h>

#include "out.h"

bool args_number(const struct arguments *args, const char *name, enum least least,
                 double otherwise, double *value)
{
    const char *text = args_value(args, name);
    char *end = NULL;

    *value = otherwise;
    if (!text)
        return true;
    *value = strtod(text, &end);
    bool fits = least == FROM_0 ? *value >= 0 : *value > 0;
    if (end != text && *end == '\0' && isfinite(*value) && fits)
        return true;
    (void)fail(CODE_USAGE, args->command->name, "--%s cannot be \"%s\": a number %s",
               name, text, least == FROM_0 ? "from 0 on" : "above 0");
    return false;
}
