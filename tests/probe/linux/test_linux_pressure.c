/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_pressure.c - waiting for a core, memory and I/O: of the group, else of the
 * machine, else absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/linux/pressure.h"
#include "roast/error.h"

#define PROC ROAST_FIXTURES "/proc/typical"

static int64_t waited(enum roast_pressure_kind kind, const struct roast_cgroup *group)
{
    struct roast_pressure pressure;
    uint64_t waited_ns = 0;

    roast__pressure_find(&pressure, kind, group, PROC);
    bool known = roast__pressure_read(&pressure, &waited_ns);
    roast__procfile_close(&pressure.file);
    return known ? (int64_t)waited_ns : -1;
}

static void it_is_that_of_the_machine_without_a_group(void **state)
{
    const struct roast_cgroup none = {0};
    (void)state;

    assert_int_equal(waited(ROAST_PRESSURE_CPU, &none), INT64_C(509278281) * 1000);
    assert_int_equal(waited(ROAST_PRESSURE_MEMORY, &none), 17000);
    assert_int_equal(waited(ROAST_PRESSURE_IO, &none), -1); /* no such file */
}

/* Its memory has no such file. */
static void a_group_of_version_2_has_its_own(void **state)
{
    struct roast_cgroup group;
    (void)state;

    assert_int_equal(roast__cgroup_find(&group,
                                        ROAST_FIXTURES "/cgroup/v2_container/proc",
                                        ROAST_FIXTURES "/cgroup/v2_container/sys"),
                     ROAST_OK);
    assert_int_equal(waited(ROAST_PRESSURE_CPU, &group), INT64_C(3000000) * 1000);
    assert_int_equal(waited(ROAST_PRESSURE_MEMORY, &group), 17000);
}

static void other_texts_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "full avg10=0.00 total=5\n",
        "some avg10=0.00\n",
        "some total=\n",
        "some total=x\n",
        "some total=18446744073709551615\n",
    };
    uint64_t waited_ns = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(roast__pressure_parse(&waited_ns, roast_str_of(texts[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_that_of_the_machine_without_a_group),
        cmocka_unit_test(a_group_of_version_2_has_its_own),
        cmocka_unit_test(other_texts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
