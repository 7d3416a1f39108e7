/* SPDX-License-Identifier: BSD-3-Clause */
/* leaf.h - the only row of a small table, out of the bytes of its page.
 *
 * SQLite reads all of a schema before it reads a row; a list of many runs cannot wait for
 * that. What is not exactly as our own files have it is left to SQLite. */
#ifndef ROAST_FILE_SQLITE_LEAF_H
#define ROAST_FILE_SQLITE_LEAF_H

#include "file/sqlite/sql.h"

/* Reads the first `count` columns, of which the first one is the row's id. False where
 * the page is anything but a leaf with a single row that is whole in it, or has fewer
 * columns. Texts are borrowed from the page. */
bool roast__leaf_read(struct roast_sql_value *out, size_t count,
                      const unsigned char *page, size_t usable_bytes);

#endif
