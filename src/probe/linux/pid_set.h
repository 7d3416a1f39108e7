/* SPDX-License-Identifier: BSD-3-Clause */
/* pid_set.h - a set of pids in insertion order, used as a queue.
 *
 * A pid is queued once, so cycles and repeated pids in bad data are harmless. */
#ifndef ROAST_PROBE_LINUX_PID_SET_H
#define ROAST_PROBE_LINUX_PID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed = empty and valid. `slots` is a hash table of positions + 1 in `items`. */
struct roast_pid_set {
    uint64_t *items; /* owned, in the order they were added */
    uint32_t *slots; /* owned; a power of two, at least twice the count */
    size_t count;
    size_t slot_count;
};

/* 1 added; 0 already there, or ROAST_PROCESS_TREE_MAX are in; NO_MEMORY. */
int roast__pid_set_add(struct roast_pid_set *pids, uint64_t pid);
bool roast__pid_set_has(const struct roast_pid_set *pids, uint64_t pid);
void roast__pid_set_clear(struct roast_pid_set *pids); /* keeps the memory */
void roast__pid_set_release(struct roast_pid_set *pids);

#endif
