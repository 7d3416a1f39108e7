/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.h - decodes the first character of a text of any bytes; copies as UTF-8. */
#ifndef ROAST_BASE_UTF8_H
#define ROAST_BASE_UTF8_H

#include <stdint.h>

#include "base/buf.h"
#include "roast/text.h"

/* The size of the first character of a text that is not empty, and its code; 0 if it is
 * not valid: not the shortest form, a surrogate, above the last plane. */
size_t roast__utf8_decode(uint32_t *code, struct roast_str text);

/* Appends a text; every byte that is no UTF-8 becomes U+FFFD. */
void roast__put_utf8(struct roast_buf *out, struct roast_str text);

#endif
