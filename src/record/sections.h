/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.h - writing the section tree, for its owners inside libroast. */
#ifndef ROAST_RECORD_SECTIONS_H
#define ROAST_RECORD_SECTIONS_H

#include "base/buf.h"
#include "roast/record.h"

/* Appends one section; the blob starts with their number. */
void roast__section_put(struct roast_buf *out, const struct roast_section *section);

#endif
