/* SPDX-License-Identifier: BSD-3-Clause */
/* save_rest.h - what attempts have beside their columns, packed. */
#ifndef ROAST_FILE_SQLITE_SAVE_REST_H
#define ROAST_FILE_SQLITE_SAVE_REST_H

#include "file/sqlite/save.h"

/* Bit n of `odd`: the bytes of the ladder of row n are stored. */
int roast__save_rest(const struct roast_saving *saving, const unsigned char *odd,
                     roast_error *err);

#endif
