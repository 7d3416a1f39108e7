/* SPDX-License-Identifier: BSD-3-Clause */
/* restore.h - a run put together from what a file kept of it.
 *
 * The bytes may come from anybody. These functions look at all of them once, so that
 * everything else may trust what a run holds. */
#ifndef ROAST_RUN_RESTORE_H
#define ROAST_RUN_RESTORE_H

#include "run/run.h"

/* Gives a text the next number, whether it is there already or not. False when out of
 * memory. */
bool roast__strings_append(struct roast_strings *strings, struct roast_str text);

/* The same for a source and a process. */
bool roast__sources_append(struct roast_attempts *attempts,
                           const struct roast_source *source);
bool roast__processes_append(struct roast_attempts *attempts,
                             const struct roast_worker_process *process);

/* Room for exactly so many rows; false when out of memory. */
bool roast__attempts_reserve(struct roast_attempts *attempts, size_t rows);

/* From now on the row is found by its process and sequence, unless another one is. */
void roast__attempts_show(struct roast_attempts *attempts, size_t row);

/* Appends a packed rest without the fields that this version does not know, which come
 * last: 1. 0: it does not say which fields it has. Negative when out of memory. */
int roast__rest_adopt(struct roast_run *run, struct roast_str packed);

/* The bytes that the rest of a row takes at the front of `packed`; 0 if they are not
 * whole, or say of a field that it is elsewhere and it is not there. The row has
 * everything but its rest. Bit n of `lost`: nobody knows string n. */
size_t roast__rest_check(const struct roast_run *run, size_t row,
                         struct roast_str packed, const struct roast_buf *lost);

/* The bytes that the rest at `from` in the packed fields of a run takes. */
size_t roast__rest_size(const struct roast_run *run, size_t from);

/* Takes `times` and `changes` of a worker for all there is, and tells the rest of its
 * state from them. False if they are not whole. */
bool roast__samples_restore(struct roast_worker_samples *worker);

#endif
