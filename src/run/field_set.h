/* SPDX-License-Identifier: BSD-3-Clause */
/* field_set.h - which fields a chunk record has, and which of them are cold. */
#ifndef ROAST_RUN_FIELD_SET_H
#define ROAST_RUN_FIELD_SET_H

#include "base/bytes.h"
#include "run/run.h"

#define ROAST_BIT(name) (UINT64_C(1) << ROAST_FIELD_##name)

/* Fields with a column or table; all others are cold, and so are displaced ones. */
static const uint64_t roast__in_column =
    ROAST_BIT(duration_ns) | ROAST_BIT(cpu_ns) | ROAST_BIT(entry_start) |
    ROAST_BIT(entry_stop) | ROAST_BIT(num_events) | ROAST_BIT(rss_before_bytes) |
    ROAST_BIT(rss_after_bytes) | ROAST_BIT(rss_peak_bytes) | ROAST_BIT(bytes_read) |
    ROAST_BIT(bytes_before) | ROAST_BIT(error_type);
static const uint64_t roast__in_source =
    ROAST_BIT(dataset) | ROAST_BIT(file) | ROAST_BIT(treename) | ROAST_BIT(uuid);
static const uint64_t roast__in_process =
    ROAST_BIT(identity) | ROAST_BIT(host) | ROAST_BIT(worker) | ROAST_BIT(pid);

enum { ROAST_FIELD_SET_BYTES = 16 };

struct roast_field_set {
    uint64_t present;
    uint64_t displaced; /* stored here although they have a column or table */
};

static inline uint64_t roast__fields_in_cold(struct roast_field_set set)
{
    uint64_t elsewhere = roast__in_column | roast__in_source | roast__in_process;

    return set.present & (~elsewhere | set.displaced);
}

/* From the ROAST_FIELD_SET_BYTES of its string. */
static inline struct roast_field_set roast__field_set_of(struct roast_str bytes)
{
    const unsigned char *at = (const unsigned char *)bytes.data;

    return (struct roast_field_set){roast__load_fixed(at, 8),
                                    roast__load_fixed(at + 8, 8)};
}

#endif
