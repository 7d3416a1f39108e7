/* SPDX-License-Identifier: BSD-3-Clause */
/* journal_dump.h - a whole run as the fewest journal entries that make it once more. */
#ifndef ROAST_RUN_JOURNAL_DUMP_H
#define ROAST_RUN_JOURNAL_DUMP_H

#include "run/journal.h"

enum { ROAST_DUMP_BLOCK_BYTES = 1 << 20 };

/* Gets each block; without a lock. */
typedef int roast__block_sink(void *context, struct roast_block *block,
                              roast_error *err);

/* The run is locked for some milliseconds at a time: a row that changes meanwhile is
 * there as it was before or after the change. */
int roast__journal_dump(struct roast_run *run, roast__block_sink *sink, void *context,
                        roast_error *err);

#endif
