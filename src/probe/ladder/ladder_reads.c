/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder_reads.c - what the hooks tell of reads, for attempts that are looked into. */
#include "probe/chunk/thread.h"

static struct roast_reads *reads_of(roast_thread *thread)
{
    return roast_ladder_active(thread) ? &thread->attempt.ladder.reads : NULL;
}

int32_t roast_ladder_branch(roast_thread *thread, struct roast_str name)
{
    struct roast_reads *reads = reads_of(thread);

    return reads ? roast__branches_find(&reads->branches, name) : -1;
}

void roast_ladder_branch_add(roast_thread *thread, int32_t branch,
                             const struct roast_branch *more)
{
    struct roast_reads *reads = reads_of(thread);

    if (reads)
        roast__branches_add(&reads->branches, branch, more);
}

bool roast_ladder_branch_sized(const roast_thread *thread, int32_t branch)
{
    return roast_ladder_active(thread) &&
           roast__branches_sized(&thread->attempt.ladder.reads.branches, branch);
}

void roast_ladder_endpoint_add(roast_thread *thread, const struct roast_endpoint *more)
{
    struct roast_reads *reads = reads_of(thread);

    if (reads)
        roast__reads_endpoint_add(reads, more);
}

void roast_ladder_file(roast_thread *thread, const struct roast_file_facts *facts,
                       struct roast_str all_branches)
{
    struct roast_reads *reads = reads_of(thread);

    if (reads)
        roast__reads_file(reads, facts, all_branches);
}

void roast_ladder_events(roast_thread *thread, uint64_t num_events)
{
    if (!roast_ladder_active(thread))
        return;
    thread->attempt.ladder.events_known = true;
    thread->attempt.ladder.num_events = num_events;
}
