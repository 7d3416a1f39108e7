/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.h - one character off the front of a text that may hold anything. */
#ifndef ROAST_BASE_UTF8_H
#define ROAST_BASE_UTF8_H

#include <stdint.h>

#include "roast/text.h"

/* The bytes of the character at the front of a text that is not empty, and its code;
 * 0 if there is none that is valid: shortest form, no surrogate, nothing above the last
 * plane. */
size_t roast__utf8_decode(uint32_t *code, struct roast_str text);

#endif
