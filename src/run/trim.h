/* SPDX-License-Identifier: BSD-3-Clause */
/* trim.h - what a run has no room for.
 *
 * Tables of branches are by far the largest part of a record: 1 kB where a chunk reads
 * 20 branches, 50 kB where it reads 1500. Once what is packed has come to the budget of
 * the run, records are kept without them and say so, and each is counted as a loss. What
 * they would have added to sums cannot be kept instead: whether an attempt counts is
 * only known when all of them came. */
#ifndef ROAST_RUN_TRIM_H
#define ROAST_RUN_TRIM_H

#include "run/run.h"

/* Whether the run has room for a chunk record with its tables. */
bool roast__has_room(const struct roast_run *run, const roast_record *rec);

/* Takes the tables out of a record, which says why from then on, and then borrows
 * `absences` too. False when out of memory. */
bool roast__trim(roast_record *rec, struct roast_buf *absences);

#endif
