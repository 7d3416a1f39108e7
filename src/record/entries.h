/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.h - rows of numbers in a blob, most of which are zero.
 *
 *     named     name length, name, then the numbers
 *     numbers   mask; for each bit that is set, from the lowest: that number
 *
 * All are varints, one for each bit, so a reader skips numbers it does not know. */
#ifndef ROAST_RECORD_ENTRIES_H
#define ROAST_RECORD_ENTRIES_H

#include "base/buf.h"
#include "base/byte_writer.h"
#include "roast/record.h"

/* Which of them are not zero; count <= 64. */
uint64_t roast__numbers_mask(const uint64_t *numbers, size_t count);

void roast__numbers_put(struct roast_byte_writer *out, const uint64_t *numbers,
                        uint64_t mask);

/* Reads the first count into numbers, absent ones as 0, and skips the others. Returns
 * the mask. */
uint64_t roast__numbers_read(struct roast_cursor *cur, uint64_t *numbers, size_t count);

void roast__name_put(struct roast_byte_writer *out, struct roast_str name);
struct roast_str roast__name_read(struct roast_cursor *cur); /* borrows the input */

/* The result of a writer: the number of bytes in out, or ROAST_LIMIT. */
int64_t roast__written_bytes(const struct roast_byte_writer *out, const void *start,
                             const char *what, roast_error *err);

#endif
