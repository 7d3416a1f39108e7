/* SPDX-License-Identifier: BSD-3-Clause */
/* stored_name.h - the name of a dataset or file as records of this process have it. */
#ifndef ROAST_TESTS_STORED_NAME_H
#define ROAST_TESTS_STORED_NAME_H

#include "roast/probe.h"

/* In memory of its own, until the next call. */
static inline const char *stored_name(const char *name)
{
    static char out[256];
    size_t size = roast_str_redact_name(out, sizeof(out) - 1, roast_str_of(name),
                                        roast_name_key());

    out[size] = '\0';
    return out;
}

#endif
