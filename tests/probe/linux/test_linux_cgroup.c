/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_cgroup.c - groups and limits in trees of both versions.
 *
 * Every case is a folder with proc/ and sys/, and one row of the table: what must be
 * found there. The path of "v2_outside" leaves the mount towards the tree of "v2", like
 * the path of a process outside of our namespace: it must not be followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "probe/linux/cgroup.h"
#include "probe/linux/scan.h"
#include "roast/error.h"

enum { NONE = -1 };

#define GIB (INT64_C(1) << 30)

struct expected_run {
    const char *name;
    int memory_version;
    int cpu_version;
    int64_t memory_limit_bytes;
    int64_t cpu_limit_millicores;
    int64_t throttled_ns;
    int64_t throttled_count;
    int64_t used_bytes;
    int64_t oom_kills;
};

static const struct expected_run cases[] = {
    {"v1", 1, 1, 4 * GIB, 1500, 2718281828, 31, 123456789, 2},
    {"v1_container", 1, 1, 2 * GIB, 2000, 4000, 3, 5000, 0},
    {"v1_unlimited", 1, 1, NONE, NONE, 0, 0, 7000, 0},
    {"v2", 2, 2, 2 * GIB, 2500, 3400000, 12, 1000000, 3},
    {"v2_nested", 2, 2, GIB, 500, 600000, 5, 1111, 8},
    {"v2_container", 2, 2, 3 * GIB, 3000, 2000, 1, 50, 0},
    {"v2_outside", 2, 2, 5 * GIB, NONE, NONE, NONE, NONE, NONE},
    {"v2_unlimited", 2, 2, NONE, NONE, 0, 0, 70, 0},
    {"hybrid", 1, 2, 6 * GIB, 2000, 7000, 6, 42, 1},
    {"garbage", 2, 2, NONE, NONE, NONE, NONE, NONE, NONE},
    {"missing", 0, 0, NONE, NONE, NONE, NONE, NONE, NONE},
};

static int find_case(struct roast_cgroup *group, const char *name)
{
    char proc[512];
    char sys[512];

    (void)snprintf(proc, sizeof(proc), "%s/cgroup/%s/proc", ROAST_FIXTURES, name);
    (void)snprintf(sys, sizeof(sys), "%s/cgroup/%s/sys", ROAST_FIXTURES, name);
    return roast__cgroup_find(group, proc, sys);
}

static int64_t or_none(bool known, uint64_t value)
{
    return known ? (int64_t)value : NONE;
}

static void expect(const char *name, const char *what, int64_t found, int64_t expected)
{
    if (found != expected)
        fail_msg("%s: %s is %lld, not %lld", name, what, (long long)found,
                 (long long)expected);
}

static void check_counters(const struct expected_run *row,
                           const struct roast_cgroup *group)
{
    struct roast_procfile stat = {0};
    struct roast_procfile current = {0};
    struct roast_procfile events = {0};
    struct roast_throttle throttle = {0, 0};
    uint64_t value = 0;

    bool known = roast__throttle_read(&stat, group, &throttle);
    expect(row->name, "throttled_ns", or_none(known, throttle.throttled_ns),
           row->throttled_ns);
    expect(row->name, "throttled_count", or_none(known, throttle.throttled_count),
           row->throttled_count);
    known = roast__cgroup_memory_read(&current, group, &value);
    expect(row->name, "used_bytes", or_none(known, value), row->used_bytes);
    known = roast__cgroup_oom_kills_read(&events, group, &value);
    expect(row->name, "oom_kills", or_none(known, value), row->oom_kills);
    roast__procfile_close(&stat);
    roast__procfile_close(&current);
    roast__procfile_close(&events);
}

static void cpu_time_is_that_of_version_2(void **state)
{
    struct roast_cgroup group;
    struct roast_procfile file = {0};
    uint64_t used_ns = 0;
    (void)state;

    (void)find_case(&group, "v2_container");
    assert_true(roast__cgroup_cpu_read(&file, &group, &used_ns));
    assert_int_equal(used_ns, INT64_C(507031497) * 1000);
    roast__procfile_close(&file);
    (void)find_case(&group, "v1");
    assert_false(roast__cgroup_cpu_read(&file, &group, &used_ns));
    (void)find_case(&group, "garbage");
    assert_false(roast__cgroup_cpu_read(&file, &group, &used_ns));
    roast__procfile_close(&file);
}

static void every_tree_is_understood(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct expected_run *row = &cases[i];
        struct roast_cgroup group;
        bool any = row->memory_version > 0 || row->cpu_version > 0;

        expect(row->name, "status", find_case(&group, row->name),
               any ? ROAST_OK : ROAST_UNAVAILABLE);
        expect(row->name, "memory_version", group.memory_version, row->memory_version);
        expect(row->name, "cpu_version", group.cpu_version, row->cpu_version);
        expect(row->name, "memory_limit_bytes",
               or_none(group.memory_limited, group.memory_limit_bytes),
               row->memory_limit_bytes);
        expect(row->name, "cpu_limit_millicores",
               or_none(group.cpu_limited, group.cpu_limit_millicores),
               row->cpu_limit_millicores);
        check_counters(row, &group);
    }
}

static void no_proc_means_no_group(void **state)
{
    struct roast_cgroup group;
    (void)state;

    assert_int_equal(find_case(&group, "no such case"), ROAST_UNAVAILABLE);
    assert_string_equal(group.memory_dir, "");
    assert_string_equal(group.cpu_dir, "");
}

static bool ends_with(const char *text, struct roast_str end)
{
    size_t size = strlen(text);
    return size >= end.size_bytes &&
           memcmp(text + size - end.size_bytes, end.data, end.size_bytes) == 0;
}

static bool lists_this_process(const char *dir)
{
    char buffer[64 * 1024];
    struct roast_str line;
    struct roast_str text =
        roast__procfile_read_once(dir, "cgroup.procs", buffer, sizeof(buffer));
    uint64_t pid;

    while (roast__scan_until(&line, &text, '\n')) {
        if (roast__scan_u64(&pid, &line) && pid == (uint64_t)getpid())
            return true;
    }
    return false;
}

/* Unless the path is cut by a container, or a limit is at a parent. */
static void the_group_of_this_process_holds_it(void **state)
{
    char buffer[8192];
    struct roast_cgroup_line line;
    struct roast_cgroup group;
    struct roast_str text =
        roast__procfile_read_once(NULL, "self/cgroup", buffer, sizeof(buffer));
    (void)state;

    if (roast__cgroup_find(&group, NULL, NULL) != ROAST_OK || group.memory_limited ||
        !roast__cgroup_line_find(&line, text, "memory") ||
        !ends_with(group.memory_dir, line.path))
        skip();
    assert_true(lists_this_process(group.memory_dir));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tree_is_understood),
        cmocka_unit_test(cpu_time_is_that_of_version_2),
        cmocka_unit_test(no_proc_means_no_group),
        cmocka_unit_test(the_group_of_this_process_holds_it),
    };
    return cmocka_run_group_tests_name("probe/linux_cgroup", tests, NULL, NULL);
}
