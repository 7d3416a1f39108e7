/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.h - the section tree, private part. */
#ifndef ROAST_RECORD_SECTIONS_H
#define ROAST_RECORD_SECTIONS_H

#include "base/buf.h"
#include "roast/record.h"

/* Appends one section; the blob starts with the number of sections. */
void roast__section_put(struct roast_buf *out, const struct roast_section *section);

/* Whether its time was measured; not by track_memory of 0.1.2. */
static inline bool roast__section_has_time(const struct roast_section *section)
{
    return (section->kinds & (ROAST_SECTION_TIME | ROAST_SECTION_CALL)) != 0 ||
           section->total_ns > 0;
}

#endif
