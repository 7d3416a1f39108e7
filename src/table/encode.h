/* SPDX-License-Identifier: BSD-3-Clause */
/* encode.h - tables as bytes, and back: the stored summary of a run. */
#ifndef ROAST_TABLE_ENCODE_H
#define ROAST_TABLE_ENCODE_H

#include "table/table.h"

/* Appends all tables, which are finished; failure is that of the buffer. */
void roast__tables_encode(struct roast_buf *out, roast_tables tables);

/* Returns owned tables in `tables`, which is empty before. The bytes may be hostile:
 * memory is limited to about ten times their size. Tables and columns that this version
 * does not know are skipped. On failure `tables` is empty. */
int roast__tables_decode(roast_tables tables, struct roast_str bytes, roast_error *err);

void roast__tables_release(roast_tables tables);

#endif
