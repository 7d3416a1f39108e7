/* SPDX-License-Identifier: BSD-3-Clause */
/* process_tree.h - this process and all its descendants: what each has used so far.
 *
 * Executors on this machine (futures, loky, a local Dask cluster) run their workers as
 * descendants of the client, so a sample of the tree covers all of them. A sample takes
 * some 10 us per process.
 *
 * A process whose parent has ended becomes a child of init and is no longer a
 * descendant, unless a process of the tree is a subreaper. */
#ifndef ROAST_PROCESS_TREE_H
#define ROAST_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/error.h"
#include "roast/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ROAST_PROCESS_TREE_MAX = 65536 }; /* processes in one sample */

/* For one thread at a time. It keeps no file open and has no thread. A forked child
 * must not sample with the tree of its parent, but may free it. */
typedef struct roast_process_tree roast_process_tree;

/* Returns owned. `proc_root` NULL = "/proc"; it is copied. `root_pid` 0 = this process,
 * by its number in proc_root. UNAVAILABLE without procfs and where the root process
 * cannot be seen; LIMIT when the path is too long. */
int roast_process_tree_new(roast_process_tree **out, const char *proc_root,
                           uint64_t root_pid, roast_error *err);

/* Passes one use per process to the sink, the root first, and returns how many. A
 * process that ends during the sample is left out; when that is the root, the result is
 * 0. A zombie is passed with its CPU time and without memory. ROAST_PROCESS_TREE_MAX
 * means that there may be more. Fails with NO_MEMORY, after some uses were passed; the
 * next call finds all of them again. */
int roast_process_tree_sample(roast_process_tree *tree,
                              const struct roast_use_sink *sink, roast_error *err);

void roast_process_tree_free(roast_process_tree *tree);

/* CPU of this process, all its threads, and of its children that ended and were waited
 * for, including theirs. Both are user and system together, by getrusage(2). */
void roast_cpu_used(uint64_t *own_ns, uint64_t *children_ns);

/* Memory in use, in percent of what there is: of the machine, or of the control group
 * of this process where its limit is lower. Page cache that the kernel can reclaim is
 * not in use. `proc_root` NULL = "/proc". False when not known. */
bool roast_memory_used_percent(const char *proc_root, double *percent);

#ifdef __cplusplus
}
#endif

#endif
