/* SPDX-License-Identifier: BSD-3-Clause */
/* descendant.c - whether a process of this machine belongs to this one. */
#include "probe/linux/descendant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/linux/process_tree.h"
#include "probe/linux/procfile.h"

enum { MOST_PARENTS = 1000, STAT_BYTES = 2048, NAME_BYTES = 32 };

bool roast__in_first_pid_namespace(void)
{
    static const char first[] =
        "pid:[4026531836]"; /* PROC_PID_INIT_INO of the kernel */
    char link[sizeof(first)];
    ssize_t size = readlink("/proc/self/ns/pid", link, sizeof(link));

    return size == (ssize_t)strlen(first) && memcmp(link, first, strlen(first)) == 0;
}

static bool read_parent(uint64_t *parent, uint64_t pid)
{
    char name[NAME_BYTES], text[STAT_BYTES];
    struct roast_process_stat stat;

    (void)snprintf(name, sizeof(name), "%" PRIu64 "/stat", pid);
    struct roast_str read = roast__procfile_read_once(NULL, name, text, sizeof(text));
    if (!read.data || !roast__process_stat_parse(&stat, read))
        return false;
    *parent = stat.parent_pid;
    return true;
}

bool roast__is_descendant(uint64_t pid)
{
    uint64_t own = (uint64_t)getpid();

    for (int i = 0; pid != own && i < MOST_PARENTS; i++) {
        if (pid == 0 || !read_parent(&pid, pid))
            return false;
    }
    return pid == own;
}
