/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree.c - the walk from a process to the last of its descendants.
 *
 * A look starts with those that the last one gave, and asks them for children when the
 * kernel has started anything since: with 20 workers of 16 threads that is one file in
 * place of 320. Who was left out of a list that changed while it was read is not lost
 * then, either. Nothing stays open between two looks: who keeps descriptors in a user's
 * process has to explain them to daemons, forks and limits. */
#include "probe/linux/proctree.h"

#include "base/mem.h"

/* However quiet it is: the pid counter could have come round to the same number. */
enum { SEARCH_EVERY = 16 };

#if ROAST_PROCFS

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "probe/linux/scan.h"

enum { ROOT_BYTES = 1024, LINK_BYTES = 32 };

static uint64_t system_number(int name, uint64_t otherwise)
{
    long value = sysconf(name);
    return value > 0 ? (uint64_t)value : otherwise;
}

/* The number of this process in root: a mount of /proc may be of another namespace. */
static bool read_own_pid(const char *root, uint64_t *pid)
{
    char path[ROOT_BYTES + LINK_BYTES];
    char target[LINK_BYTES];

    (void)snprintf(path, sizeof(path), "%s/self", root);
    ssize_t size = readlink(path, target, sizeof(target));
    struct roast_str text = {target, size > 0 ? (size_t)size : 0};
    return roast__scan_u64(pid, &text);
}

static int set_root(roast_proctree *tree, const char *proc_root, uint64_t root_pid)
{
    const char *root = proc_root ? proc_root : "/proc";
    uint64_t own_pid = 0;
    size_t size = strlen(root);

    tree->root = roast__alloc(size + 1);
    if (!tree->root)
        return ROAST_NO_MEMORY;
    memcpy(tree->root, root, size);
    bool known = read_own_pid(root, &own_pid);
    tree->own_numbers = !proc_root && known && own_pid == (uint64_t)getpid();
    tree->root_pid = root_pid ? root_pid : own_pid;
    tree->tick_ns = 1000000000 / system_number(_SC_CLK_TCK, 100);
    tree->page_bytes = system_number(_SC_PAGESIZE, 4096);
    return ROAST_OK;
}

int roast_proctree_new(roast_proctree **out, const char *proc_root, uint64_t root_pid,
                       roast_error *err)
{
    int status = ROAST_OK;
    struct roast_process_use use;

    if (proc_root && strlen(proc_root) >= ROOT_BYTES)
        return roast_error_set(err, ROAST_LIMIT, "a root of %zu bytes, at most %d",
                               strlen(proc_root), ROOT_BYTES - 1);
    roast_proctree *tree = roast__alloc(sizeof(*tree));
    if (!tree || set_root(tree, proc_root, root_pid) < 0) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "process tree");
        goto out;
    }
    if (!roast__process_use_read(tree, tree->root_pid, &use)) {
        status =
            roast_error_set(err, ROAST_UNAVAILABLE, "no process %" PRIu64 " in %.200s",
                            tree->root_pid, tree->root);
        goto out;
    }
    tree->by_scan = !roast__proctree_has_children_files(tree);
    *out = tree;
    tree = NULL; /* moved to the caller */
out:
    roast_proctree_free(tree);
    return status;
}

#else

int roast_proctree_new(roast_proctree **out, const char *proc_root, uint64_t root_pid,
                       roast_error *err)
{
    (void)out;
    (void)proc_root;
    (void)root_pid;
    return roast_error_set(err, ROAST_UNAVAILABLE, "built without procfs");
}

#endif

void roast_proctree_free(roast_proctree *tree)
{
    if (!tree)
        return;
    roast__pids_release(&tree->found);
    roast__pids_release(&tree->given);
    roast__free(tree->links);
    roast__free(tree->root);
    roast__free(tree);
}

/* A pid that was listed may belong to a stranger by the time it is read. Parents come
 * before their children, in the queue and so among those given. */
static bool belongs(const roast_proctree *tree, const struct roast_process_use *use)
{
    return use->pid == tree->root_pid || roast__pids_has(&tree->given, use->parent_pid);
}

/* Whether children must be looked for in this look. Twice after each change: a process
 * has its number for some time before its parent lists it. */
static bool needs_search(roast_proctree *tree)
{
    uint64_t newest_pid = roast__proctree_newest_pid(tree);
    bool same = newest_pid != 0 && newest_pid == tree->newest_pid;

    tree->newest_pid = newest_pid;
    tree->looks_same = same ? tree->looks_same + 1 : 0;
    return tree->looks_same < 2 || tree->looks_same % SEARCH_EVERY == 0;
}

static int begin_look(roast_proctree *tree, bool search)
{
    struct roast_pids before = tree->given;

    tree->given = tree->found;
    tree->found = before;
    roast__pids_clear(&tree->given);
    int status = roast__pids_add(&tree->found, tree->root_pid);
    return status < 0 || !search ? status : roast__proctree_scan(tree);
}

static int give(roast_proctree *tree, const struct roast_process_use *use,
                const struct roast_use_sink *sink)
{
    int status = roast__pids_add(&tree->given, use->pid);

    if (status == 1)
        sink->use(sink->context, use);
    return status;
}

int roast_proctree_sample(roast_proctree *tree, const struct roast_use_sink *sink,
                          roast_error *err)
{
    bool search = needs_search(tree);
    int status = begin_look(tree, search);

    for (size_t i = 0; i < tree->found.count && status >= 0; i++) {
        struct roast_process_use use;
        if (!roast__process_use_read(tree, tree->found.items[i], &use) ||
            !belongs(tree, &use))
            continue;
        status = give(tree, &use, sink);
        if (search && status >= 0)
            status = roast__proctree_add_children(tree, &use);
    }
    int given = (int)tree->given.count;
    if (status < 0) {
        tree->newest_pid = 0; /* those not reached must be found again */
        return roast_error_set(err, status, "after %d processes", given);
    }
    return given;
}
