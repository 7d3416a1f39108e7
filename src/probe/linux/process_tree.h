/* SPDX-License-Identifier: BSD-3-Clause */
/* process_tree.h - the sampler of a process and its descendants.
 *
 *     process_tree.c   finds the descendants of the root process
 *     process_use.c    what one process has used
 *     pid_set.c        the queue of processes to read */
#ifndef ROAST_PROBE_LINUX_PROCESS_TREE_H
#define ROAST_PROBE_LINUX_PROCESS_TREE_H

#include "probe/linux/pid_set.h"
#include "roast/process_tree.h"
#include "roast/text.h"

struct roast_parent_link {
    uint64_t parent_pid;
    uint64_t pid;
};

struct roast_process_tree {
    char *root; /* owned */
    uint64_t root_pid;
    bool own_namespace; /* pids in root are those that system calls know */
    bool scans_all;     /* no children files: read all processes of the machine */
    uint64_t tick_ns;
    uint64_t page_bytes;
    uint64_t newest_pid;             /* at the last sample; 0: not known */
    unsigned quiet_samples;          /* in a row without a new process */
    struct roast_pid_set queue;      /* of this sample; starts with the last result */
    struct roast_pid_set members;    /* the result of this sample */
    struct roast_parent_link *links; /* owned; with scans_all, sorted by parent */
    size_t link_count;
    size_t link_cap;
};

/* False when the process has ended or its files are invalid. */
bool roast__process_use_read(const roast_process_tree *tree, uint64_t pid,
                             struct roast_process_use *use);

/* A /proc/PID/stat file; times in ticks, memory in pages. */
struct roast_process_stat {
    struct roast_str command;
    char state;
    uint64_t parent_pid;
    uint64_t cpu_ticks;
    uint64_t reaped_ticks;
    uint64_t threads;
    uint64_t started_ticks; /* since boot */
    uint64_t rss_pages;
};

bool roast__process_stat_parse(struct roast_process_stat *stat, struct roast_str text);

#endif
