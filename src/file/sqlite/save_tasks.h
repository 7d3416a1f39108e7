/* SPDX-License-Identifier: BSD-3-Clause */
/* save_tasks.h - what a scheduler saw, as segments of a run file. */
#ifndef ROAST_FILE_SQLITE_SAVE_TASKS_H
#define ROAST_FILE_SQLITE_SAVE_TASKS_H

#include "file/sqlite/save.h"
#include "file/sqlite/segment.h"

/* Append all items of their segment. */
int roast__put_tasks(const struct roast_saving *saving,
                     struct roast_segment_writer *out, roast_error *err);
int roast__put_stays(const struct roast_saving *saving,
                     struct roast_segment_writer *out, roast_error *err);
int roast__put_offsets(const struct roast_saving *saving,
                       struct roast_segment_writer *out, roast_error *err);

/* Bits of the first number of a stay. */
enum roast_stay_bit { ROAST_STAY_LEFT = 1, ROAST_STAY_EXPECTED = 2 };

#endif
