/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree.h - the parts of the process-tree sampler.
 *
 *     proctree.c        the walk: from the root process to its last descendant
 *     proctree_pids.c   a set of pids that keeps their order; the queue of the walk
 *     proctree_find.c   the children of a process
 *     proctree_read.c   what one process has used
 *     proctree_host.c   CPU of this process, memory of this machine */
#ifndef ROAST_PROBE_LINUX_PROCTREE_H
#define ROAST_PROBE_LINUX_PROCTREE_H

#include "probe/linux/proctree_pids.h"
#include "roast/proctree.h"
#include "roast/text.h"

struct roast_parent_link {
    uint64_t parent_pid;
    uint64_t pid;
};

struct roast_proctree {
    char *root; /* owned */
    uint64_t root_pid;
    bool own_numbers; /* pids in root are those that system calls know */
    bool by_scan;     /* no children files: look at all processes there are */
    uint64_t tick_ns;
    uint64_t page_bytes;
    uint64_t newest_pid;             /* at the last look; 0: not known */
    unsigned looks_same;             /* how many looks in a row it has been that */
    struct roast_pids found;         /* the queue of this look */
    struct roast_pids given;         /* what it gave: the next look starts there */
    struct roast_parent_link *links; /* owned; by_scan only, sorted by parent */
    size_t link_count;
    size_t link_cap;
};

/* Whether the kernel lists the children of a process. */
bool roast__proctree_has_children_files(const roast_proctree *tree);

/* The newest pid of the machine: while it stays, no process was started. 0 where that
 * is not known. */
uint64_t roast__proctree_newest_pid(const roast_proctree *tree);

/* Before a search: lists who is whose parent, if by_scan. */
int roast__proctree_scan(roast_proctree *tree);

/* Adds the children of a process to `found`. */
int roast__proctree_add_children(roast_proctree *tree,
                                 const struct roast_process_use *parent);

/* False when the process has ended, or what is there makes no sense. */
bool roast__process_use_read(const roast_proctree *tree, uint64_t pid,
                             struct roast_process_use *use);

/* A /proc/PID/stat file; times in ticks, memory in pages. */
struct roast_process_line {
    struct roast_str command;
    char state;
    uint64_t parent_pid;
    uint64_t cpu_ticks;
    uint64_t reaped_ticks;
    uint64_t threads;
    uint64_t started_ticks;
    uint64_t rss_pages;
};

bool roast__process_line_parse(struct roast_process_line *line, struct roast_str text);

/* roast_memory_used_percent() with the root of the control groups. */
bool roast__memory_used_percent(const char *proc_root, const char *cgroup_root,
                                double *percent);

#endif
