/* SPDX-License-Identifier: BSD-3-Clause */
/* summary_blob.h - a summary as bytes, and back: what the first screen of a saved run
 * is made of. Layout in docs/format.md. */
#ifndef ROAST_FILE_SQLITE_SUMMARY_BLOB_H
#define ROAST_FILE_SQLITE_SUMMARY_BLOB_H

#include "base/buf.h"
#include "roast/analyze.h"

/* Appends a summary; failure is the buffer's. */
void roast__summary_pack(struct roast_buf *out, const roast_summary *summary);

/* Returns owned; it owns all its texts. Metrics and tables that this version does not
 * know are kept as far as they can be shown. LIMIT: no file of so many bytes has one that
 * takes so much memory. */
int roast__summary_unpack(roast_summary **out, struct roast_str bytes,
                          uint64_t file_bytes, roast_error *err);

#endif
