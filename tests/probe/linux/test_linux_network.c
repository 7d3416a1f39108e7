/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_network.c - bytes of all interfaces but the loopback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/linux/network.h"

static void interfaces_are_added_up_without_the_loopback(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/typical"};
    struct roast_network network = {0, 0};
    (void)state;

    assert_true(roast__network_read(&file, &network));
    assert_int_equal(network.received_bytes, 524775370 + 4000);
    assert_int_equal(network.sent_bytes, 678452 + 300);
    roast__procfile_close(&file);
}

static void the_loopback_alone_is_no_traffic(void **state)
{
    struct roast_network network = {1, 1};
    (void)state;

    assert_true(roast__network_parse(
        &network, roast_str_of("lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n")));
    assert_int_equal(network.received_bytes + network.sent_bytes, 0);
}

static void no_interface_is_absent(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/garbage"};
    struct roast_network network;
    (void)state;

    assert_false(roast__network_read(&file, &network));
    assert_false(roast__network_parse(&network, roast_str_of("bytes packets\n")));
    assert_false(roast__network_parse(&network, roast_str_of("eth0: 5 1 0\n")));
    assert_false(roast__network_parse(&network, roast_str_of("eth0: x 1 0\n")));
    roast__procfile_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interfaces_are_added_up_without_the_loopback),
        cmocka_unit_test(the_loopback_alone_is_no_traffic),
        cmocka_unit_test(no_interface_is_absent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
