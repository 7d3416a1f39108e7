/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.h - which fields a chunk record has, and which of them are packed in its rest.
 *
 * For rest.c, which says how, and for whoever checks what a file holds. */
#ifndef ROAST_RUN_SHAPE_H
#define ROAST_RUN_SHAPE_H

#include "base/bytes.h"
#include "run/run.h"

#define ROAST_BIT(name) (UINT64_C(1) << ROAST_FIELD_##name)

/* Where a field is unless the shape says otherwise; all others are in the rest. */
static const uint64_t roast__in_column =
    ROAST_BIT(duration_ns) | ROAST_BIT(cpu_ns) | ROAST_BIT(entry_start) |
    ROAST_BIT(entry_stop) | ROAST_BIT(num_events) | ROAST_BIT(rss_before_bytes) |
    ROAST_BIT(rss_after_bytes) | ROAST_BIT(rss_peak_bytes) | ROAST_BIT(bytes_read) |
    ROAST_BIT(bytes_before) | ROAST_BIT(error_type);
static const uint64_t roast__in_source =
    ROAST_BIT(dataset) | ROAST_BIT(file) | ROAST_BIT(treename) | ROAST_BIT(uuid);
static const uint64_t roast__in_process =
    ROAST_BIT(identity) | ROAST_BIT(host) | ROAST_BIT(worker) | ROAST_BIT(pid);

enum { ROAST_SHAPE_BYTES = 16 };

struct roast_shape {
    uint64_t present;
    uint64_t displaced; /* in the rest although they have another home */
};

static inline uint64_t roast__shape_in_rest(struct roast_shape shape)
{
    uint64_t elsewhere = roast__in_column | roast__in_source | roast__in_process;

    return shape.present & (~elsewhere | shape.displaced);
}

/* From the ROAST_SHAPE_BYTES of its string. */
static inline struct roast_shape roast__shape_of(struct roast_str bytes)
{
    const unsigned char *at = (const unsigned char *)bytes.data;

    return (struct roast_shape){roast__load_fixed(at, 8), roast__load_fixed(at + 8, 8)};
}

/* Number of the string that says it; negative when out of memory. */
int32_t roast__shape_number(struct roast_run *run, struct roast_shape shape);

/* The next value of a rest, for a field that is packed as its type says. */
union roast_field_value roast__rest_value(struct roast_cursor *cur,
                                          enum roast_field field);

#endif
