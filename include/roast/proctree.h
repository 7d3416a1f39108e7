/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree.h - this process and all its descendants: what each has used so far.
 *
 * Executors on this machine (futures, loky, a local Dask cluster) run their workers as
 * descendants of the client, so looking at the tree sees them all without asking any of
 * them. A look takes some 10 us per process and touches none.
 *
 * A process that its parent left behind belongs to init and is no descendant any more,
 * unless somebody in the tree is a subreaper. */
#ifndef ROAST_PROCTREE_H
#define ROAST_PROCTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/error.h"
#include "roast/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ROAST_PROCTREE_MAX = 65536 }; /* processes in one look; the rest is left out */

/* For one thread at a time. It keeps no file open and no thread. A forked child must
 * not sample with the one of its parent; to free it is fine. */
typedef struct roast_proctree roast_proctree;

/* Returns owned. `proc_root` NULL = "/proc"; it is copied. `root_pid` 0 = this process,
 * by its number in proc_root. UNAVAILABLE without procfs and where the root process
 * cannot be seen; LIMIT when the path is too long. */
int roast_proctree_new(roast_proctree **out, const char *proc_root, uint64_t root_pid,
                       roast_error *err);

/* Gives one use per process to the sink, the root first, and returns how many. What
 * ends while we look is left out; when that is the root, the result is 0. A process
 * that ended and was not waited for is given with what it has used and without memory.
 * ROAST_PROCTREE_MAX means that there may be more. Fails with NO_MEMORY, after what was
 * given; the next call finds all of them again. */
int roast_proctree_sample(roast_proctree *tree, const struct roast_use_sink *sink,
                          roast_error *err);

void roast_proctree_free(roast_proctree *tree);

/* CPU of this process, all its threads, and of its children that ended and were waited
 * for, with their children. Both are user and system together, by getrusage(2). */
void roast_cpu_used(uint64_t *own_ns, uint64_t *children_ns);

/* Memory in use, in percent of what there is: of the machine, or of the control group
 * of this process where its limit is lower. Page cache that the kernel would give back
 * is not in use. `proc_root` NULL = "/proc". False when not known. */
bool roast_memory_used_percent(const char *proc_root, double *percent);

#ifdef __cplusplus
}
#endif

#endif
