/* SPDX-License-Identifier: BSD-3-Clause */
/* test_host.c - parsers of host facts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/linux/host.h"

static void cpu_model_is_the_first_name(void **state)
{
    char out[32];
    struct roast_str model = roast__cpu_model_parse(
        out, sizeof(out),
        roast_str_of("model\t\t: 106\nmodel name\t: Xeon @ 2 GHz\n"
                     "model name\t: other\n"));
    (void)state;

    assert_non_null(model.data);
    assert_string_equal(model.data, "Xeon @ 2 GHz");
}

static void cpu_model_on_arm_is_made_of_part_numbers(void **state)
{
    char out[64];
    struct roast_str model = roast__cpu_model_parse(
        out, sizeof(out), roast_str_of("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"));
    (void)state;

    assert_non_null(model.data);
    assert_string_equal(model.data, "implementer 0x41 part 0xd0c");
}

static void cpu_model_is_cut_to_its_room_or_absent(void **state)
{
    char out[5];
    struct roast_str model = roast__cpu_model_parse(
        out, sizeof(out), roast_str_of("model name: much too long\n"));
    (void)state;

    assert_string_equal(model.data, "much");
    assert_null(roast__cpu_model_parse(out, sizeof(out), roast_str_of("")).data);
}

static void limits_are_added_only_where_there_are_some(void **state)
{
    struct roast_host host = {0};
    struct roast_cgroup group = {.cpu_version = 2, .cpu_limited = true};
    (void)state;

    group.cpu_limit_millicores = 1500;
    roast__host_add_cgroup(&host, &group);
    assert_int_equal(host.values[ROAST_HOST_cgroup_version].u64, 2);
    assert_int_equal(host.values[ROAST_HOST_cpu_limit_millicores].u64, 1500);
    assert_false(roast__host_has(&host, ROAST_HOST_memory_limit_bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_model_is_the_first_name),
        cmocka_unit_test(cpu_model_on_arm_is_made_of_part_numbers),
        cmocka_unit_test(cpu_model_is_cut_to_its_room_or_absent),
        cmocka_unit_test(limits_are_added_only_where_there_are_some),
    };
    return cmocka_run_group_tests_name("probe/host", tests, NULL, NULL);
}
