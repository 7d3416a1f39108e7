/* SPDX-License-Identifier: BSD-3-Clause */
/* test_usage.c - the parsers behind memory, run queue and I/O. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/linux/host.h"
#include "probe/linux/usage.h"
#include "roast/error.h"

static void statm_gives_the_second_number(void **state)
{
    uint64_t pages = 0;
    (void)state;

    assert_true(roast__statm_parse(&pages, roast_str_of("765 422 394 5 0 123 0\n")));
    assert_int_equal(pages, 422);
}

static void statm_without_a_second_number_is_refused(void **state)
{
    uint64_t pages;
    (void)state;

    assert_false(roast__statm_parse(&pages, roast_str_of("765\n422\n")));
    assert_false(roast__statm_parse(&pages, roast_str_of("765 -1\n")));
    assert_false(roast__statm_parse(&pages, (struct roast_str){NULL, 0}));
}

static void schedstat_gives_its_three_numbers(void **state)
{
    struct roast_sched sched;
    (void)state;

    assert_true(roast__schedstat_parse(&sched, roast_str_of("123 456 7\n")));
    assert_int_equal(sched.on_cpu_ns, 123);
    assert_int_equal(sched.runqueue_ns, 456);
    assert_int_equal(sched.slices, 7);
}

static void schedstat_of_a_kernel_without_counters_is_absent(void **state)
{
    struct roast_sched sched;
    (void)state;

    assert_false(roast__schedstat_parse(&sched, roast_str_of("0 0 0\n")));
    assert_false(roast__schedstat_parse(&sched, roast_str_of("1 2\n")));
    assert_true(roast__schedstat_parse(&sched, roast_str_of("0 0 1\n")));
}

static void io_takes_lines_in_any_order_and_skips_unknown_ones(void **state)
{
    struct roast_procio io;
    (void)state;

    assert_true(roast__procio_parse(&io, roast_str_of("write_bytes: 4\n"
                                                      "cancelled_write_bytes: 9\n"
                                                      "from_the_future: x\n"
                                                      "read_bytes: 3\n"
                                                      "wchar: 2\n"
                                                      "rchar: 1")));
    assert_true(io.has_rchar && io.has_wchar && io.has_read_bytes &&
                io.has_write_bytes);
    assert_int_equal(io.rchar_bytes, 1);
    assert_int_equal(io.wchar_bytes, 2);
    assert_int_equal(io.read_bytes, 3);
    assert_int_equal(io.write_bytes, 4);
}

static void io_marks_each_missing_value(void **state)
{
    struct roast_procio io;
    (void)state;

    assert_true(roast__procio_parse(&io, roast_str_of("rchar: none\nread_bytes: 3\n")));
    assert_false(io.has_rchar);
    assert_false(io.has_wchar);
    assert_true(io.has_read_bytes);
    assert_false(io.has_write_bytes);
    assert_false(roast__procio_parse(&io, roast_str_of("syscr: 1\n")));
}

#if !ROAST_PROCFS
static void without_procfs_everything_is_absent(void **state)
{
    struct roast_procfile file = {0};
    struct roast_cgroup group;
    struct roast_host host;
    struct roast_procio io;
    struct roast_sched sched;
    uint64_t bytes;
    (void)state;

    assert_false(roast__rss_read(&file, &bytes));
    assert_false(roast__sched_read(&file, &sched));
    assert_false(roast__procio_read(&file, &io));
    assert_false(roast__peak_read(&bytes));
    assert_int_equal(roast__peak_reset(), ROAST_UNAVAILABLE);
    assert_int_equal(roast__cgroup_find(&group, NULL, NULL), ROAST_UNAVAILABLE);
    assert_int_equal(roast__host_read(&host, NULL), ROAST_UNAVAILABLE);
    assert_true(host.present == 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statm_gives_the_second_number),
        cmocka_unit_test(statm_without_a_second_number_is_refused),
        cmocka_unit_test(schedstat_gives_its_three_numbers),
        cmocka_unit_test(schedstat_of_a_kernel_without_counters_is_absent),
        cmocka_unit_test(io_takes_lines_in_any_order_and_skips_unknown_ones),
        cmocka_unit_test(io_marks_each_missing_value),
#if !ROAST_PROCFS
        cmocka_unit_test(without_procfs_everything_is_absent),
#endif
    };
    return cmocka_run_group_tests_name("probe/usage", tests, NULL, NULL);
}
