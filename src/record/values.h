/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - the blob being written, private part. */
#ifndef ROAST_RECORD_VALUES_H
#define ROAST_RECORD_VALUES_H

#include "base/buf.h"
#include "roast/value.h"

/* Zeroed = empty and valid. */
struct roast_values {
    struct roast_buf buf;
    bool too_large;
};

void roast__values_release(struct roast_values *values);
void roast__values_clear(struct roast_values *values);

#endif
