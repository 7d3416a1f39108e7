/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree_find.c - the children of a process.
 *
 *     <root>/<pid>/task/<tid>/children   "812 815 \n": whom this thread has started
 *     <root>/<pid>/stat                  field 4: whose child this process is
 *
 * The first way asks the processes of the tree only, and every thread of them: a pool
 * forks from the thread that submits. Kernels built without CONFIG_PROC_CHILDREN leave
 * the second, which reads the stat of every process of the machine.
 *
 * Both are only needed when there is somebody new, and the kernel tells that in one
 * number: the pid it gave out last, at the end of <root>/loadavg. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "probe/linux/proctree.h"
#include "probe/linux/scan.h"

#if ROAST_PROCFS

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probe/linux/procfile.h"

enum {
    PATH_BYTES = 1200, /* the root has at most 1024 */
    LIST_BYTES = 4096,
    STAT_BYTES = 2048,
    LOADAVG_BYTES = 128,
    FIRST_LINKS = 512,
    MOST_LINKS = 1 << 22, /* the most pids that a kernel of 64 bits has */
};

static void children_path(const roast_proctree *tree, uint64_t pid, uint64_t tid,
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

bool roast__proctree_has_children_files(const roast_proctree *tree)
{
    char path[PATH_BYTES];

    children_path(tree, tree->root_pid, tree->root_pid, path);
    return access(path, R_OK) == 0;
}

/* Some containers show a loadavg of their own making, that is seconds old: it is not a
 * file of procfs then. Others print 0. */
static bool is_of_kernel(const roast_proctree *tree)
{
    char path[PATH_BYTES];
    struct statfs of;

    (void)snprintf(path, sizeof(path), "%s/loadavg", tree->root);
    return statfs(path, &of) == 0 && of.f_type == PROC_SUPER_MAGIC;
}

uint64_t roast__proctree_newest_pid(const roast_proctree *tree)
{
    char buffer[LOADAVG_BYTES];
    struct roast_str word = {NULL, 0};
    uint64_t pid = 0;

    if (!is_of_kernel(tree))
        return 0;
    struct roast_str text =
        roast__procfile_read_once(tree->root, "loadavg", buffer, sizeof(buffer));
    while (roast__scan_until(&word, &text, ' '))
        continue;
    return roast__scan_u64(&pid, &word) ? pid : 0;
}

/* A number that may go on in the next piece of the file. */
struct number {
    uint64_t value;
    bool any;
    bool wrong;
};

static void number_feed(struct number *number, char c)
{
    uint64_t digit = (uint64_t)(c - '0');

    number->wrong |= digit > 9 || number->value > (UINT64_MAX - 9) / 10;
    if (!number->wrong)
        number->value = number->value * 10 + digit;
    number->any = true;
}

static int add_listed(struct roast_pids *found, struct number *number,
                      struct roast_str piece)
{
    for (size_t i = 0; i < piece.size_bytes; i++) {
        char c = piece.data[i];
        if (c != ' ' && c != '\n') {
            number_feed(number, c);
            continue;
        }
        if (number->any && !number->wrong && roast__pids_add(found, number->value) < 0)
            return ROAST_NO_MEMORY;
        *number = (struct number){0, false, false};
    }
    return ROAST_OK;
}

/* A thread that has ended meanwhile has no file, and its children another parent. */
static int add_children_of_thread(roast_proctree *tree, uint64_t pid, uint64_t tid)
{
    char path[PATH_BYTES];
    char list[LIST_BYTES];
    struct number number = {0, false, false};
    int status = ROAST_OK;

    children_path(tree, pid, tid, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ROAST_OK;
    ssize_t got = read(fd, list, sizeof(list));
    while (got > 0 && status == ROAST_OK) {
        struct roast_str piece = {list, (size_t)got};
        status = add_listed(&tree->found, &number, piece);
        got = read(fd, list, sizeof(list));
    }
    if (status == ROAST_OK) /* a last number without a blank behind it */
        status = add_listed(&tree->found, &number, roast_str_of("\n"));
    (void)close(fd);
    return status;
}

static int add_children_of_threads(roast_proctree *tree, uint64_t pid)
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

static int add_link(roast_proctree *tree, struct roast_parent_link link)
{
    if (tree->link_count == tree->link_cap) {
        size_t cap = tree->link_cap ? 2 * tree->link_cap : FIRST_LINKS;
        struct roast_parent_link *links =
            roast__realloc(tree->links, cap * sizeof(*links));
        if (!links)
            return ROAST_NO_MEMORY;
        tree->links = links;
        tree->link_cap = cap;
    }
    tree->links[tree->link_count++] = link;
    return ROAST_OK;
}

static int link_process(roast_proctree *tree, uint64_t pid, const char *folder)
{
    char name[300]; /* a folder's name has at most 255 */
    char buffer[STAT_BYTES];
    struct roast_process_line line;

    (void)snprintf(name, sizeof(name), "%s/stat", folder);
    struct roast_str text =
        roast__procfile_read_once(tree->root, name, buffer, sizeof(buffer));
    if (!text.data || !roast__process_line_parse(&line, text))
        return ROAST_OK;
    return add_link(tree, (struct roast_parent_link){line.parent_pid, pid});
}

static int compare_links(const void *left, const void *right)
{
    const struct roast_parent_link *a = left;
    const struct roast_parent_link *b = right;

    if (a->parent_pid != b->parent_pid)
        return a->parent_pid < b->parent_pid ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

int roast__proctree_scan(roast_proctree *tree)
{
    int status = ROAST_OK;

    tree->link_count = 0;
    DIR *dir = tree->by_scan ? opendir(tree->root) : NULL;
    if (!dir)
        return ROAST_OK;
    for (struct dirent *entry = readdir(dir);
         entry && status == ROAST_OK && tree->link_count < MOST_LINKS;
         entry = readdir(dir)) {
        uint64_t pid;
        if (pid_of_name(&pid, entry->d_name))
            status = link_process(tree, pid, entry->d_name);
    }
    (void)closedir(dir);
    if (tree->link_count > 0)
        qsort(tree->links, tree->link_count, sizeof(*tree->links), compare_links);
    return status;
}

static size_t first_link_of(const roast_proctree *tree, uint64_t parent_pid)
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
    return low;
}

static int add_linked_children(roast_proctree *tree, uint64_t parent_pid)
{
    for (size_t i = first_link_of(tree, parent_pid);
         i < tree->link_count && tree->links[i].parent_pid == parent_pid; i++) {
        if (roast__pids_add(&tree->found, tree->links[i].pid) < 0)
            return ROAST_NO_MEMORY;
    }
    return ROAST_OK;
}

int roast__proctree_add_children(roast_proctree *tree,
                                 const struct roast_process_use *parent)
{
    if (tree->by_scan)
        return add_linked_children(tree, parent->pid);
    if (parent->threads <= 1) /* the first thread has the number of the process */
        return add_children_of_thread(tree, parent->pid, parent->pid);
    return add_children_of_threads(tree, parent->pid);
}

#else

bool roast__proctree_has_children_files(const roast_proctree *tree)
{
    (void)tree;
    return false;
}

uint64_t roast__proctree_newest_pid(const roast_proctree *tree)
{
    (void)tree;
    return 0;
}

int roast__proctree_scan(roast_proctree *tree)
{
    (void)tree;
    return ROAST_OK;
}

int roast__proctree_add_children(roast_proctree *tree,
                                 const struct roast_process_use *parent)
{
    (void)tree;
    (void)parent;
    return ROAST_OK;
}

#endif
