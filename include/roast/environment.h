/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.h - which variables of the environment a run keeps. Programs read them; the
 * library does not. */
#ifndef ROAST_ENVIRONMENT_H
#define ROAST_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A row of environment.def. */
struct roast_environment_variable {
    const char *name;
    bool is_site;
};

/* The n-th of them, static; NULL behind the last. The first site that is set is the site of
 * a process. */
const struct roast_environment_variable *roast_environment_variable(size_t n);

#ifdef __cplusplus
}
#endif

#endif
