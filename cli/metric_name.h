/* SPDX-License-Identifier: BSD-3-Clause */
/* metric_name.h - metrics by the names that users give. */
#ifndef ROAST_CLI_METRIC_NAME_H
#define ROAST_CLI_METRIC_NAME_H

#include "roast/analyze.h"

/* A metric by its name or an alias; -1 after printing the reason. *per (NULL allowed): the
 * value of the metric / the value under this name. */
int metric_named(const char *name, double *per);

#endif
