/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.c - the list of environment.def. */
#include "roast/environment.h"

const struct roast_environment_variable *roast_environment_variable(size_t n)
{
    enum { JOB, SITE };
    static const struct roast_environment_variable all[] = {
#define V(name, kind) {#name, (kind) == SITE},
#include "roast/environment.def"
#undef V
    };

    return n < sizeof(all) / sizeof(all[0]) ? &all[n] : NULL;
}
