/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.h - options that are numbers: 5, 0.5, 1e9. */
#ifndef ROAST_CLI_NUMBERS_H
#define ROAST_CLI_NUMBERS_H

#include "cmd.h"

enum least { ABOVE_0, FROM_0 };

/* Fills *value, with `otherwise` where the option was not given. False after the reason
 * was told: it is no number, or less than it may be. */
bool args_number(const struct arguments *args, const char *name, enum least least,
                 double otherwise, double *value);

#endif
