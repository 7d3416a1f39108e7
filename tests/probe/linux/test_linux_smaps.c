/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_smaps.c - memory with shared pages apart: parsed, of fixtures, and of this
 * process against pages that it maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/linux/smaps.h"
#include "probe/linux_help.h"

#define PROC ROAST_FIXTURES "/proc/typical"

static struct roast_smaps smaps;

static int setup(void **state)
{
    (void)state;
    smaps = (struct roast_smaps){1, 1};
    return 0;
}

static void private_pages_are_added_up(void **state)
{
    (void)state;
    assert_true(roast__smaps_read(&smaps, PROC, 100));
    assert_int_equal(smaps.pss_bytes, 254 * 1024);
    assert_int_equal(smaps.uss_bytes, (40 + 112 + 2048) * 1024);
}

static void old_kernels_do_not_name_huge_pages(void **state)
{
    (void)state;
    assert_true(roast__smaps_parse(
        &smaps, roast_str_of("Pss: 7 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 2 kB\n")));
    assert_int_equal(smaps.uss_bytes, 3 * 1024);
}

static void incomplete_and_absurd_texts_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "Pss_Dirty: 7 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 2 kB\n",
        "Pss: 7 kB\nPrivate_Clean: 1 kB\n",
        "Pss: 7kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 2 kB\n",
        "Pss: 7 kB\nPrivate_Clean: 18446744073709551615 kB\nPrivate_Dirty: 2 kB\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(roast__smaps_parse(&smaps, roast_str_of(texts[i])));
    assert_int_equal(smaps.pss_bytes, 1);
}

static void a_process_that_ends_has_no_memory(void **state)
{
    (void)state;
    assert_true(roast__smaps_read(&smaps, PROC, 101)); /* an empty file */
    assert_int_equal(smaps.pss_bytes + smaps.uss_bytes, 0);
    smaps.pss_bytes = 1;
    assert_true(roast__smaps_read(&smaps, PROC, 103)); /* gone */
    assert_int_equal(smaps.pss_bytes, 0);
}

static void memory_that_cannot_be_read_is_absent(void **state)
{
    (void)state;
    assert_false(roast__smaps_read(&smaps, PROC, 102));
}

static void it_follows_mapped_memory(void **state)
{
    struct roast_smaps before, mapped;
    (void)state;

    if (!roast__smaps_read(&before, NULL, (uint64_t)getpid()))
        skip();
    void *memory = map_resident();
    assert_non_null(memory);
    assert_true(roast__smaps_read(&mapped, NULL, (uint64_t)getpid()));
    unmap_resident(memory);
    assert_true(is_mapped_growth(before.pss_bytes, mapped.pss_bytes));
    assert_true(is_mapped_growth(before.uss_bytes, mapped.uss_bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(private_pages_are_added_up, setup),
        cmocka_unit_test_setup(old_kernels_do_not_name_huge_pages, setup),
        cmocka_unit_test_setup(incomplete_and_absurd_texts_are_refused, setup),
        cmocka_unit_test_setup(a_process_that_ends_has_no_memory, setup),
        cmocka_unit_test_setup(memory_that_cannot_be_read_is_absent, setup),
        cmocka_unit_test_setup(it_follows_mapped_memory, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
