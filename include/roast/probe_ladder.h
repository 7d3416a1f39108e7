/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_ladder.h - looking into an attempt: where its time goes, and what it reads.
 *
 * From begin to end of an attempt every nanosecond belongs to one slice: the innermost
 * one that is entered, or else the phase of the attempt: import, then form, compute and
 * result. All of this is for the thread that runs the attempt and does nothing on
 * others, nor before roast_ladder_arm(). */
#ifndef ROAST_PROBE_LADDER_API_H
#define ROAST_PROBE_LADDER_API_H

#include "roast/ladder.h"
#include "roast/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The hooks are in place: this attempt is looked into. Without it an attempt has no
 * ladder. hooks_missing has a bit for each hook that could not be placed. */
void roast_ladder_arm(roast_thread *thread, uint64_t hooks_missing);

/* As if it had not been armed. */
void roast_ladder_disarm(roast_thread *thread);

/* True while an armed attempt is open; thread may be NULL. */
bool roast_ladder_active(const roast_thread *thread);

/* Enters the next phase; an earlier one than that of now changes nothing. compute
 * marks where the time of an undecorated process() begins, result where it ends. */
void roast_ladder_phase(roast_thread *thread, enum roast_ladder_item slice);
enum roast_ladder_item roast_ladder_phase_now(const roast_thread *thread);

/* Enters a slice inside whatever is entered; leave takes the token. Past 64 deep the
 * time stays with the slice around it, and the token is 0. */
unsigned roast_ladder_enter(roast_thread *thread, enum roast_ladder_item slice);
void roast_ladder_leave(roast_thread *thread, unsigned token); /* and all inside it */

/* From now on the time of an entered slice goes to another one. */
void roast_ladder_become(roast_thread *thread, unsigned token,
                         enum roast_ladder_item slice);

/* The slice that time goes to now. */
enum roast_ladder_item roast_ladder_now(const roast_thread *thread);

/* Adds to an item that is no slice. */
void roast_ladder_add(roast_thread *thread, enum roast_ladder_item item,
                      uint64_t value);

/* The number of a branch in the tables of this attempt, added when it is new; negative
 * when there is no room for it (counted as a loss). Names are copied. */
int32_t roast_ladder_branch(roast_thread *thread, struct roast_str name);

/* Adds counts, bytes, times and flags of `more` to a branch; its name is not looked at,
 * its sizes in the file replace what was known when they are known. A negative number
 * changes nothing. */
void roast_ladder_branch_add(roast_thread *thread, int32_t branch,
                             const struct roast_branch *more);

/* Whether the sizes of a branch in the file are known already. */
bool roast_ladder_branch_sized(const roast_thread *thread, int32_t branch);

/* Adds to the endpoint of that name. */
void roast_ladder_endpoint_add(roast_thread *thread, const struct roast_endpoint *more);

/* The tree that the attempt reads; all_branches is a `file_branches` blob, absent when
 * it was told before. Both are copied. */
void roast_ladder_file(roast_thread *thread, const struct roast_file_facts *facts,
                       struct roast_str all_branches);

/* What an undecorated process() got; kept for its record. */
void roast_ladder_events(roast_thread *thread, uint64_t num_events);

/* What has gone to the slices of this attempt so far; for tests and limits. */
void roast_ladder_snapshot(roast_thread *thread, struct roast_ladder *out);

#ifdef __cplusplus
}
#endif

#endif
