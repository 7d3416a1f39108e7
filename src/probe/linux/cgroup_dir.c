/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup_dir.c - from a controller's name to the directory of its group.
 *
 *     4:memory:/jobs/7        version 1: <root>/memory/jobs/7
 *     1:cpu,cpuacct:/         version 1: <root>/cpu,cpuacct or <root>/cpu
 *     0::/user.slice          version 2: <root>/user.slice or <root>/unified/user.slice
 *
 * A directory counts when it holds a file that every group of its version has. That is
 * asked of the file system rather than of mountinfo: a container may see neither the
 * mount nor the path of its host. */
#include "probe/linux/cgroup_dir.h"

#include <stdio.h>

#include "probe/linux/scan.h"

static bool lists(struct roast_str controllers, const char *controller)
{
    struct roast_str one;

    while (roast__scan_until(&one, &controllers, ',')) {
        if (roast__str_is(one, controller))
            return true;
    }
    return false;
}

/* The path may hold colons of its own, so it is all that remains. */
static bool parse_line(struct roast_cgroup_line *out, struct roast_str line)
{
    struct roast_str hierarchy;

    if (!roast__scan_until(&hierarchy, &line, ':') ||
        !roast__scan_until(&out->controllers, &line, ':') || line.size_bytes == 0 ||
        line.data[0] != '/')
        return false;
    out->version = roast__str_is(hierarchy, "0") ? 2 : 1;
    out->path = line;
    return true;
}

bool roast__cgroup_line_find(struct roast_cgroup_line *found, struct roast_str text,
                             const char *controller)
{
    struct roast_str line;
    bool any = false;

    while (roast__scan_until(&line, &text, '\n')) {
        struct roast_cgroup_line read;
        if (!parse_line(&read, line))
            continue;
        bool names_it = read.version == 1 && lists(read.controllers, controller);
        if (names_it || read.version == 2) {
            *found = read;
            any = true;
        }
        if (names_it)
            break; /* a controller of version 1 is not in the tree of version 2 */
    }
    return any;
}

static const char *marker(int version, const char *controller)
{
    if (version == 2)
        return "cgroup.controllers";
    return strcmp(controller, "memory") == 0 ? "memory.limit_in_bytes" : "cpu.shares";
}

static bool has_file(const char *dir, const char *name)
{
    char first[2];
    return roast__procfile_read_once(dir, name, first, sizeof(first)).data != NULL;
}

/* "/a/b" -> "/b" -> "" */
static void drop_first_part(struct roast_str *path)
{
    const char *next = memchr(path->data + 1, '/', path->size_bytes - 1);
    size_t size = next ? (size_t)(next - path->data) : path->size_bytes;

    path->data += size;
    path->size_bytes -= size;
}

/* A namespace shows what is outside of it as "/..", which would leave the mount. */
static bool climbs(struct roast_str path)
{
    return memmem(path.data, path.size_bytes, "/..", 3) != NULL;
}

/* Appends path to the mount, or as much of its end as exists there. */
static bool enter_path(struct roast_cgroup_dir *dir, struct roast_str path,
                       const char *file)
{
    size_t room = sizeof(dir->path) - dir->mount_bytes;

    if (roast__str_is(path, "/"))
        path.size_bytes = 0;
    for (;;) {
        if (path.size_bytes < room && !climbs(path)) {
            memcpy(dir->path + dir->mount_bytes, path.data, path.size_bytes);
            dir->path[dir->mount_bytes + path.size_bytes] = '\0';
            if (has_file(dir->path, file))
                return true;
        }
        if (path.size_bytes == 0)
            return false;
        drop_first_part(&path);
    }
}

static bool enter_mount(struct roast_cgroup_dir *dir, const char *root,
                        struct roast_str name)
{
    int size =
        snprintf(dir->path, sizeof(dir->path), "%s%s%.*s", root,
                 name.size_bytes > 0 ? "/" : "", (int)name.size_bytes, name.data);

    dir->mount_bytes = (size_t)size;
    return size > 0 && (size_t)size < sizeof(dir->path);
}

struct roast_cgroup_dir roast__cgroup_dir_find(const char *root, struct roast_str text,
                                               const char *controller)
{
    static const struct roast_cgroup_dir none = {0, 0, ""};
    struct roast_cgroup_dir dir = none;
    struct roast_cgroup_line line;

    if (!roast__cgroup_line_find(&line, text, controller))
        return none;
    struct roast_str mounts[2] = {
        line.controllers,
        roast_str_of(line.version == 1 ? controller : "unified"),
    };
    for (size_t i = 0; i < 2; i++) {
        if (enter_mount(&dir, root, mounts[i]) &&
            enter_path(&dir, line.path, marker(line.version, controller))) {
            dir.version = line.version;
            return dir;
        }
    }
    return none;
}

bool roast__cgroup_dir_up(struct roast_cgroup_dir *dir)
{
    if (strlen(dir->path) <= dir->mount_bytes)
        return false;
    *strrchr(dir->path, '/') = '\0';
    return true;
}
