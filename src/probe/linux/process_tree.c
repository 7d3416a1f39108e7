/* SPDX-License-Identifier: BSD-3-Clause */
/* process_tree.c - finds all descendants of a process.
 *
 *     <root>/<pid>/task/<tid>/children   "812 815 \n": the processes this thread started
 *     <root>/<pid>/stat                  field 4: the parent of this process
 *     <root>/loadavg                     its last number: the newest pid of the machine
 *
 * The children files belong to the processes of the tree only, and to every thread of
 * them: a pool forks from the thread that submits. Kernels built without
 * CONFIG_PROC_CHILDREN leave stat, which is then read of every process of the machine.
 *
 * A sample starts with the processes of the last one, and searches for children only
 * when the kernel has started a process since: with 20 workers of 16 threads that is
 * one file in place of 320. This also finds a process that was missing in a list which
 * changed while it was read. No descriptor remains open between samples. */
#include "probe/linux/process_tree.h"

#include "base/mem.h"

#if ROAST_PROCFS

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probe/linux/procfile.h"
#include "probe/linux/scan.h"

enum {
    ROOT_BYTES = 1024,
    PATH_BYTES = ROOT_BYTES + 176,
    LINK_BYTES = 32,
    LIST_BYTES = 4096,
    STAT_BYTES = 2048,
    LOADAVG_BYTES = 128,
    FIRST_LINKS = 512,
    MAX_LINKS = 1 << 22, /* the most pids that a kernel of 64 bits has */
    SEARCH_EVERY = 16,   /* samples, without any new process: the counter may wrap */
};

/* ---- children ----------------------------------------------------------------- */

static void children_path(const roast_process_tree *tree, uint64_t pid, uint64_t tid,
                          char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/%" PRIu64 "/task/%" PRIu64 "/children",
                   tree->root, pid, tid);
}

/* The pid that is the name of a folder; false for all other names. */
static bool pid_of_name(uint64_t *pid, const char *name)
{
    struct roast_str text = roast_str_of(name);

    return name[0] >= '0' && name[0] <= '9' && roast__scan_u64(pid, &text) &&
           text.size_bytes == 0;
}

/* A number that may continue in the next piece of the file. */
struct number {
    uint64_t value;
    bool any;
    bool wrong;
};

static int add_listed(struct roast_pid_set *queue, struct number *number,
                      struct roast_str piece)
{
    for (size_t i = 0; i < piece.size_bytes; i++) {
        char c = piece.data[i];
        if (c != ' ' && c != '\n') {
            uint64_t digit = (uint64_t)(c - '0');
            number->wrong |= digit > 9 || number->value > (UINT64_MAX - 9) / 10;
            if (!number->wrong)
                number->value = number->value * 10 + digit;
            number->any = true;
            continue;
        }
        if (number->any && !number->wrong &&
            roast__pid_set_add(queue, number->value) < 0)
            return ROAST_NO_MEMORY;
        *number = (struct number){0, false, false};
    }
    return ROAST_OK;
}

/* A thread that has ended since has no file, and its children another parent. */
static int add_children_of_thread(roast_process_tree *tree, uint64_t pid, uint64_t tid)
{
    char path[PATH_BYTES];
    char list[LIST_BYTES];
    struct number number = {0, false, false};
    int status = ROAST_OK;
    ssize_t got;

    children_path(tree, pid, tid, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ROAST_OK;
    while (status == ROAST_OK && (got = read(fd, list, sizeof(list))) > 0)
        status =
            add_listed(&tree->queue, &number, (struct roast_str){list, (size_t)got});
    if (status == ROAST_OK) /* the last number may have no blank behind it */
        status = add_listed(&tree->queue, &number, roast_str_of("\n"));
    (void)close(fd);
    return status;
}

static int add_children_of_threads(roast_process_tree *tree, uint64_t pid)
{
    char path[PATH_BYTES];
    int status = ROAST_OK;

    (void)snprintf(path, sizeof(path), "%s/%" PRIu64 "/task", tree->root, pid);
    DIR *dir = opendir(path);
    if (!dir)
        return ROAST_OK;
    for (struct dirent *entry = readdir(dir); entry && status == ROAST_OK;
         entry = readdir(dir)) {
        uint64_t tid;
        if (pid_of_name(&tid, entry->d_name))
            status = add_children_of_thread(tree, pid, tid);
    }
    (void)closedir(dir);
    return status;
}

/* ---- without children files -------------------------------------------------- */

static int add_link(roast_process_tree *tree, uint64_t pid, const char *folder)
{
    char name[300]; /* a folder name has at most 255 bytes */
    char buffer[STAT_BYTES];
    struct roast_process_stat stat;

    (void)snprintf(name, sizeof(name), "%s/stat", folder);
    struct roast_str text =
        roast__procfile_read_once(tree->root, name, buffer, sizeof(buffer));
    if (!text.data || !roast__process_stat_parse(&stat, text))
        return ROAST_OK;
    if (tree->link_count == tree->link_cap) {
        size_t cap = tree->link_cap ? 2 * tree->link_cap : FIRST_LINKS;
        struct roast_parent_link *links =
            roast__realloc(tree->links, cap * sizeof(*links));
        if (!links)
            return ROAST_NO_MEMORY;
        tree->links = links;
        tree->link_cap = cap;
    }
    tree->links[tree->link_count++] = (struct roast_parent_link){stat.parent_pid, pid};
    return ROAST_OK;
}

static int compare_links(const void *left, const void *right)
{
    const struct roast_parent_link *a = left;
    const struct roast_parent_link *b = right;

    if (a->parent_pid != b->parent_pid)
        return a->parent_pid < b->parent_pid ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Before a search: fills `links` from all processes of the machine. */
static int scan_links(roast_process_tree *tree)
{
    int status = ROAST_OK;

    tree->link_count = 0;
    DIR *dir = opendir(tree->root);
    if (!dir)
        return ROAST_OK;
    for (struct dirent *entry = readdir(dir);
         entry && status == ROAST_OK && tree->link_count < MAX_LINKS;
         entry = readdir(dir)) {
        uint64_t pid;
        if (pid_of_name(&pid, entry->d_name))
            status = add_link(tree, pid, entry->d_name);
    }
    (void)closedir(dir);
    if (tree->link_count > 0)
        qsort(tree->links, tree->link_count, sizeof(*tree->links), compare_links);
    return status;
}

static int add_linked_children(roast_process_tree *tree, uint64_t parent_pid)
{
    size_t low = 0;
    size_t high = tree->link_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tree->links[middle].parent_pid < parent_pid)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < tree->link_count && tree->links[low].parent_pid == parent_pid; low++) {
        if (roast__pid_set_add(&tree->queue, tree->links[low].pid) < 0)
            return ROAST_NO_MEMORY;
    }
    return ROAST_OK;
}

/* ---- the tree ----------------------------------------------------------------- */

int roast_process_tree_new(roast_process_tree **out, const char *proc_root,
                           uint64_t root_pid, roast_error *err)
{
    const char *root = proc_root ? proc_root : "/proc";
    size_t root_bytes = strlen(root);
    char path[PATH_BYTES];
    char target[LINK_BYTES];
    uint64_t own_pid = 0;
    struct roast_process_use use;
    int status = ROAST_OK;

    if (root_bytes >= ROOT_BYTES)
        return roast_error_set(err, ROAST_LIMIT, "a root of %zu bytes, at most %d",
                               root_bytes, ROOT_BYTES - 1);
    roast_process_tree *tree = roast__alloc(sizeof(*tree));
    if (tree)
        tree->root = roast__alloc(root_bytes + 1);
    if (!tree || !tree->root) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "process tree");
        goto out;
    }
    memcpy(tree->root, root, root_bytes);
    /* a mount of /proc may belong to another pid namespace */
    (void)snprintf(path, sizeof(path), "%s/self", root);
    ssize_t size = readlink(path, target, sizeof(target));
    struct roast_str text = {target, size > 0 ? (size_t)size : 0};
    bool known = roast__scan_u64(&own_pid, &text);
    tree->own_namespace = !proc_root && known && own_pid == (uint64_t)getpid();
    tree->root_pid = root_pid ? root_pid : own_pid;
    long tick_hz = sysconf(_SC_CLK_TCK);
    long page_bytes = sysconf(_SC_PAGESIZE);
    tree->tick_ns = 1000000000 / (tick_hz > 0 ? (uint64_t)tick_hz : 100);
    tree->page_bytes = page_bytes > 0 ? (uint64_t)page_bytes : 4096;
    if (!roast__process_use_read(tree, tree->root_pid, &use)) {
        status =
            roast_error_set(err, ROAST_UNAVAILABLE, "no process %" PRIu64 " in %.200s",
                            tree->root_pid, tree->root);
        goto out;
    }
    children_path(tree, tree->root_pid, tree->root_pid, path);
    tree->scans_all = access(path, R_OK) != 0;
    *out = tree;
    tree = NULL; /* moved to the caller */
out:
    roast_process_tree_free(tree);
    return status;
}

/* The newest pid of the machine: while it is the same, no process was started. 0 where
 * it is not known. Some containers show a loadavg of their own that is seconds old: it
 * is not a file of procfs then. Others print 0. */
static uint64_t read_newest_pid(const roast_process_tree *tree)
{
    char path[PATH_BYTES];
    char buffer[LOADAVG_BYTES];
    struct statfs found;
    struct roast_str word = {NULL, 0};
    uint64_t pid = 0;

    (void)snprintf(path, sizeof(path), "%s/loadavg", tree->root);
    if (statfs(path, &found) != 0 || found.f_type != PROC_SUPER_MAGIC)
        return 0;
    struct roast_str text =
        roast__procfile_read_once(tree->root, "loadavg", buffer, sizeof(buffer));
    while (roast__scan_until(&word, &text, ' '))
        continue;
    return roast__scan_u64(&pid, &word) ? pid : 0;
}

/* Twice after each change, because a process may get its pid before its parent lists
 * it. */
static bool needs_search(roast_process_tree *tree)
{
    uint64_t newest_pid = read_newest_pid(tree);
    bool quiet = newest_pid != 0 && newest_pid == tree->newest_pid;

    tree->newest_pid = newest_pid;
    tree->quiet_samples = quiet ? tree->quiet_samples + 1 : 0;
    return tree->quiet_samples < 2 || tree->quiet_samples % SEARCH_EVERY == 0;
}

static int add_children(roast_process_tree *tree,
                        const struct roast_process_use *parent)
{
    if (tree->scans_all)
        return add_linked_children(tree, parent->pid);
    if (parent->threads <= 1) /* the first thread has the number of the process */
        return add_children_of_thread(tree, parent->pid, parent->pid);
    return add_children_of_threads(tree, parent->pid);
}

int roast_process_tree_sample(roast_process_tree *tree,
                              const struct roast_use_sink *sink, roast_error *err)
{
    struct roast_pid_set last = tree->members;
    bool search = needs_search(tree);

    tree->members = tree->queue;
    tree->queue = last;
    roast__pid_set_clear(&tree->members);
    int status = roast__pid_set_add(&tree->queue, tree->root_pid);
    if (status >= 0 && search && tree->scans_all)
        status = scan_links(tree);
    for (size_t i = 0; i < tree->queue.count && status >= 0; i++) {
        struct roast_process_use use;
        /* a pid may have been reused; parents come before children in the queue and in
         * members */
        if (!roast__process_use_read(tree, tree->queue.items[i], &use) ||
            (use.pid != tree->root_pid &&
             !roast__pid_set_has(&tree->members, use.parent_pid)))
            continue;
        status = roast__pid_set_add(&tree->members, use.pid);
        if (status == 1)
            sink->use(sink->context, &use);
        if (search && status >= 0)
            status = add_children(tree, &use);
    }
    int count = (int)tree->members.count;
    if (status < 0) {
        tree->newest_pid = 0; /* search again for those not reached */
        return roast_error_set(err, status, "after %d processes", count);
    }
    return count;
}

#else

int roast_process_tree_new(roast_process_tree **out, const char *proc_root,
                           uint64_t root_pid, roast_error *err)
{
    (void)out;
    (void)proc_root;
    (void)root_pid;
    return roast_error_set(err, ROAST_UNAVAILABLE, "built without procfs");
}

/* Without procfs there is no tree. */
int roast_process_tree_sample(roast_process_tree *tree,
                              const struct roast_use_sink *sink, roast_error *err)
{
    (void)tree;
    (void)sink;
    return roast_error_set(err, ROAST_UNAVAILABLE, "built without procfs");
}

#endif

void roast_process_tree_free(roast_process_tree *tree)
{
    if (!tree)
        return;
    roast__pid_set_release(&tree->queue);
    roast__pid_set_release(&tree->members);
    roast__free(tree->links);
    roast__free(tree->root);
    roast__free(tree);
}
