/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_ladder.h - measures an attempt: time by slice, and what it reads.
 *
 * From begin to end of an attempt every nanosecond belongs to one slice: the innermost
 * one that is entered, or else the phase of the attempt: import, then form, compute and
 * result. Calls have an effect only on the thread that runs the attempt, after
 * roast_ladder_arm(). */
#ifndef ROAST_PROBE_LADDER_API_H
#define ROAST_PROBE_LADDER_API_H

#include "roast/ladder.h"
#include "roast/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The hooks are in place: this attempt gets a ladder. hooks_missing has a bit for each
 * hook that could not be placed. */
void roast_ladder_arm(roast_thread *thread, uint64_t hooks_missing);

/* Undoes roast_ladder_arm(). */
void roast_ladder_disarm(roast_thread *thread);

/* True while an armed attempt is open; thread may be NULL. */
bool roast_ladder_active(const roast_thread *thread);

/* Enters the next phase; an earlier or equal one has no effect. compute marks where the
 * time of an undecorated process() begins, result where it ends. */
void roast_ladder_phase(roast_thread *thread, enum roast_ladder_item slice);
enum roast_ladder_item roast_ladder_phase_now(const roast_thread *thread);

/* Enters a slice inside the current one; leave takes the token. Deeper than 64 the time
 * counts for the enclosing slice, and the token is 0. */
unsigned roast_ladder_enter(roast_thread *thread, enum roast_ladder_item slice);
void roast_ladder_leave(roast_thread *thread, unsigned token); /* and all inside it */

/* Changes an entered slice to another one, from now on. */
void roast_ladder_become(roast_thread *thread, unsigned token,
                         enum roast_ladder_item slice);

/* Adds to an item that is not a slice. */
void roast_ladder_add(roast_thread *thread, enum roast_ladder_item item,
                      uint64_t value);

/* The number of a branch in this attempt, added when it is new; negative when there is
 * no room for it (counted as a loss). Names are copied. */
int32_t roast_ladder_branch(roast_thread *thread, struct roast_str name);

/* Adds counts, bytes, times and flags of `more` to a branch. Its name is ignored; its
 * sizes in the file, where known, replace the old ones. A negative number has no
 * effect. */
void roast_ladder_branch_add(roast_thread *thread, int32_t branch,
                             const struct roast_branch *more);

/* Whether the sizes of a branch in the file are already known. */
bool roast_ladder_branch_sized(const roast_thread *thread, int32_t branch);

/* Adds to the endpoint of that name. */
void roast_ladder_endpoint_add(roast_thread *thread, const struct roast_endpoint *more);

/* The tree that the attempt reads; all_branches is a `file_branches` blob, absent when
 * it was passed before. Both are copied. */
void roast_ladder_file(roast_thread *thread, const struct roast_file_facts *facts,
                       struct roast_str all_branches);

/* The events of an undecorated process(); kept for its record. */
void roast_ladder_events(roast_thread *thread, uint64_t num_events);

/* The slices of this attempt so far; for tests and limits. */
void roast_ladder_snapshot(roast_thread *thread, struct roast_ladder *out);

#ifdef __cplusplus
}
#endif

#endif
