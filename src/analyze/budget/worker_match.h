/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_match.h - which of the sampled processes are workers, and on which machine.
 *
 * The process tree of this machine also has the client and helpers of the executor. The
 * processes that ran attempts are workers. Samples without a pid come from a backend,
 * which samples workers only; the list of a scheduler decides there. If no worker is
 * known, all samples count. */
#ifndef ROAST_ANALYZE_BUDGET_WORKER_MATCH_H
#define ROAST_ANALYZE_BUDGET_WORKER_MATCH_H

#include "run/run.h"

/* Zeroed = empty and valid; everything is owned. */
struct roast_worker_match {
    bool *is_worker;   /* per sampled process */
    int32_t *process;  /* per sampled process: one that ran attempts, or -1 */
    uint32_t *machine; /* per sampled process: number of its machine */
    uint64_t seen;     /* processes, sampled or not */
    uint64_t unsampled;
};

/* Sampled processes by their pid, under roast__hash_number(pid); false when out of
 * memory. */
bool roast__index_pids(struct roast_hash_table *by_pid,
                       const struct roast_samples *samples);

/* Processes of other hosts are not sampled by pid. */
static inline bool roast__may_be_local(const struct roast_run *run,
                                       const struct roast_worker_process *process)
{
    return process->host == run->host || process->host == ROAST_NO_STRING ||
           run->host == ROAST_NO_STRING;
}

/* Imported records may not name their process. */
static inline bool roast__process_is_known(const struct roast_worker_process *process)
{
    return process->pid != 0 || process->id != 0 || process->worker != ROAST_NO_STRING;
}

/* False when out of memory. */
bool roast__worker_match_find(struct roast_worker_match *match,
                              const struct roast_run *run);
void roast__worker_match_release(struct roast_worker_match *match);

#endif
