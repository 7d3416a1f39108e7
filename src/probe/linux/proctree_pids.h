/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree_pids.h - a set of pids that keeps their order; the queue of the walk. */
#ifndef ROAST_PROBE_LINUX_PROCTREE_PIDS_H
#define ROAST_PROBE_LINUX_PROCTREE_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed = empty and valid. `slots` is a hash table of positions + 1 in `items`. */
struct roast_pids {
    uint64_t *items; /* owned, in the order they came */
    uint32_t *slots; /* owned; a power of two, at least twice the count */
    size_t count;
    size_t slot_count;
};

/* 1 added, 0 already there or no room for more, NO_MEMORY. */
int roast__pids_add(struct roast_pids *pids, uint64_t pid);
bool roast__pids_has(const struct roast_pids *pids, uint64_t pid);
void roast__pids_clear(struct roast_pids *pids); /* keeps the memory */
void roast__pids_release(struct roast_pids *pids);

#endif
