/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cgroup.c - lines of /proc/self/cgroup, limits and counters as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "probe/linux/cgroup.h"

static const char mixed[] = "0::/unified/path\n"
                            "4:memory:/jobs:7/x\n"
                            "3:cpuset:/sets\n"
                            "2:cpuacct,cpu:/shares\n"
                            "1:name=cpu:/named\n";

static void a_line_is_found_by_whole_controller_name(void **state)
{
    struct roast_cgroup_line line;
    (void)state;

    assert_true(roast__cgroup_line_find(&line, roast_str_of(mixed), "cpu"));
    assert_int_equal(line.version, 1);
    assert_true(roast__str_is(line.controllers, "cpuacct,cpu"));
    assert_true(roast__str_is(line.path, "/shares"));
}

static void a_path_may_hold_colons(void **state)
{
    struct roast_cgroup_line line;
    (void)state;

    assert_true(roast__cgroup_line_find(&line, roast_str_of(mixed), "memory"));
    assert_true(roast__str_is(line.path, "/jobs:7/x"));
}

static void what_version_1_does_not_list_is_in_version_2(void **state)
{
    struct roast_cgroup_line line;
    (void)state;

    assert_true(roast__cgroup_line_find(&line, roast_str_of(mixed), "io"));
    assert_int_equal(line.version, 2);
    assert_int_equal(line.controllers.size_bytes, 0);
    assert_true(roast__str_is(line.path, "/unified/path"));
}

static void lines_that_are_none_are_skipped(void **state)
{
    struct roast_cgroup_line line;
    (void)state;

    assert_false(roast__cgroup_line_find(
        &line, roast_str_of("\n:\n::\nmemory\n4:memory\n4:memory:jobs\n"), "memory"));
    assert_false(roast__cgroup_line_find(&line, (struct roast_str){NULL, 0}, "memory"));
}

static void no_memory_limit_is_absent_in_both_spellings(void **state)
{
    uint64_t bytes = 0;
    (void)state;

    assert_false(roast__memory_limit_parse(&bytes, roast_str_of("max\n")));
    assert_false(
        roast__memory_limit_parse(&bytes, roast_str_of("9223372036854771712\n")));
    assert_false(
        roast__memory_limit_parse(&bytes, roast_str_of("9223372036854710272\n")));
    assert_true(roast__memory_limit_parse(&bytes, roast_str_of("1099511627776\n")));
    assert_true(bytes == UINT64_C(1) << 40);
}

static void a_cpu_limit_is_quota_over_period(void **state)
{
    uint64_t millicores = 0;
    (void)state;

    assert_true(roast__cpu_limit_parse(&millicores, roast_str_of("150000 100000\n")));
    assert_int_equal(millicores, 1500);
    assert_true(roast__cpu_limit_parse(&millicores, roast_str_of("1000 1000000\n")));
    assert_int_equal(millicores, 1);
}

static void no_cpu_limit_and_nonsense_are_absent(void **state)
{
    static const char *const texts[] = {
        "max 100000\n",
        "-1 100000\n",
        "100000\n",
        "100000 0\n",
        "",
        "1\n2\n",
        "18446744073709551615 1\n",
    };
    uint64_t millicores;
    (void)state;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(roast__cpu_limit_parse(&millicores, roast_str_of(texts[i])));
}

static void throttling_is_in_nanoseconds_in_both_versions(void **state)
{
    struct roast_throttle throttle;
    (void)state;

    assert_true(roast__throttle_parse(
        &throttle, roast_str_of("nr_throttled 2\nthrottled_time 3000\n")));
    assert_int_equal(throttle.throttled_ns, 3000);
    assert_true(roast__throttle_parse(
        &throttle, roast_str_of("usage_usec 1\nnr_throttled 4\nthrottled_usec 5\n")));
    assert_int_equal(throttle.throttled_ns, 5000);
    assert_int_equal(throttle.throttled_count, 4);
}

static void throttling_without_a_quota_is_absent(void **state)
{
    struct roast_throttle throttle;
    (void)state;

    assert_false(roast__throttle_parse(&throttle, roast_str_of("usage_usec 1\n")));
    assert_false(roast__throttle_parse(&throttle, roast_str_of("nr_throttled 1\n")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found_by_whole_controller_name),
        cmocka_unit_test(a_path_may_hold_colons),
        cmocka_unit_test(what_version_1_does_not_list_is_in_version_2),
        cmocka_unit_test(lines_that_are_none_are_skipped),
        cmocka_unit_test(no_memory_limit_is_absent_in_both_spellings),
        cmocka_unit_test(a_cpu_limit_is_quota_over_period),
        cmocka_unit_test(no_cpu_limit_and_nonsense_are_absent),
        cmocka_unit_test(throttling_is_in_nanoseconds_in_both_versions),
        cmocka_unit_test(throttling_without_a_quota_is_absent),
    };
    return cmocka_run_group_tests_name("probe/cgroup", tests, NULL, NULL);
}
