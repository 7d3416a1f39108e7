/* SPDX-License-Identifier: BSD-3-Clause */
/* run_changes.h - a list of changes with every kind except scheduler events. */
#ifndef ROAST_TESTS_FILE_RUN_CHANGES_H
#define ROAST_TESTS_FILE_RUN_CHANGES_H

#include "note_changes.h"

static inline void change_loss(roast_run *run)
{
    roast_run_lose(run, ROAST_RUN_LOSS_spool_unreadable, 300);
}

static inline void change_finish(roast_run *run)
{
    roast_run_finish(run, MONO_0 + 100 * SECOND);
}

static inline void change_first_end(roast_run *run)
{
    change_end(run, 10);
}

static inline void change_sample(roast_run *run)
{
    add_sample(run, "tcp://host:1", 2, 1e9);
}

static inline void change_sample_again(roast_run *run)
{
    add_sample(run, "tcp://host:1", 3, 2e9);
}

typedef void change(roast_run *run);

/* Every change is one or more entries of the file. `needs`: the change that announces
 * its texts; 0: none. */
static const struct {
    change *make;
    size_t needs;
} CHANGES[] = {
    {change_host, 0},
    {change_accept, 0},
    {change_name, 0},
    {change_id, 0},
    {change_label, 0},
    {change_document, 0},
    {change_no_note, 0},
    {change_fact, 0},
    {change_sum, 0},
    {change_offer, 0},
    {change_mark, 0},
    {change_begin, 0},
    {change_sample, 0},
    {change_sample_again, 12},
    {change_extreme_sample, 0},
    {change_process_use, 0},
    {change_process_use_again, 0},
    {change_parent, 0},
    {change_process, 0},
    {change_chunk, 0},
    {change_first_end, 0},
    {change_by_user, 0},
    {change_broken, 0},
    {change_count, 0},
    {change_loss, 0},
    {change_finish, 0},
};

enum { CHANGE_COUNT = COUNT_OF(CHANGES), ACCEPT_CHANGE = 1 };

static inline void make_changes(roast_run *run)
{
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        CHANGES[i].make(run);
}

#endif
