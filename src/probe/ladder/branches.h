/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.h - what an attempt read, by branch.
 *
 * Branches are found by name in a hash table, which is cleared branch by branch: the
 * cost is proportional to the branches in use. All memory is kept for the next
 * attempt. */
#ifndef ROAST_PROBE_LADDER_BRANCHES_H
#define ROAST_PROBE_LADDER_BRANCHES_H

#include "base/buf.h"
#include "roast/ladder.h"

enum { ROAST_MAX_BRANCHES = 4096, ROAST_CUT_BRANCH_BYTES = 512 };

/* How a branch is found. */
struct roast_branch_key {
    uint64_t hash;
    size_t name_at; /* position in `names`, which moves when it grows */
    uint32_t slot;
};

/* Zeroed = empty and valid. */
struct roast_branches {
    struct roast_branch *sums;     /* owned; names are set by roast__branches_named() */
    struct roast_branch_key *keys; /* owned; of the branch with the same number */
    uint16_t *slots;               /* owned; branch + 1, two for each that has room */
    uint32_t count;
    uint32_t cap;
    struct roast_buf names;
    uint64_t lost;      /* lookups of a branch that had no room */
    uint64_t names_cut; /* names that were cut */
};

void roast__branches_release(struct roast_branches *table);
void roast__branches_clear(struct roast_branches *table); /* keeps the memory */

/* The number of a branch, added if it is new; -1 when there is no room, counted. */
int32_t roast__branches_find(struct roast_branches *table, struct roast_str name);

/* As roast_ladder_branch_add() and roast_ladder_branch_sized(). */
void roast__branches_add(struct roast_branches *table, int32_t branch,
                         const struct roast_branch *more);
bool roast__branches_sized(const struct roast_branches *table, int32_t branch);

/* All of them with their names, borrowed until the next one is added. */
const struct roast_branch *roast__branches_named(struct roast_branches *table);

#endif
