/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_rss.c - resident memory and its high-water mark against mapped pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/linux/usage.h"
#include "probe/linux_help.h"
#include "roast/error.h"

static void counts_the_pages_of_a_fixture(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/typical"};
    uint64_t rss_bytes = 0;
    (void)state;

    assert_true(roast__rss_read(&file, &rss_bytes));
    assert_int_equal(rss_bytes, UINT64_C(118842) * (uint64_t)sysconf(_SC_PAGESIZE));
    roast__procfile_close(&file);
}

static void is_absent_without_a_readable_file(void **state)
{
    struct roast_procfile garbage = {.root = ROAST_FIXTURES "/proc/garbage"};
    struct roast_procfile missing = {.root = ROAST_FIXTURES "/proc/no such folder"};
    uint64_t rss_bytes;
    (void)state;

    assert_false(roast__rss_read(&garbage, &rss_bytes));
    assert_false(roast__rss_read(&missing, &rss_bytes));
    roast__procfile_close(&garbage);
    roast__procfile_close(&missing);
}

/* True when mapping and unmapping is seen by a file that may have been opened before
 * the process forked. */
static bool follows_mapped_memory(void *context)
{
    struct roast_procfile *file = context;
    uint64_t before = 0;
    uint64_t mapped = 0;
    uint64_t after = 0;

    bool read = roast__rss_read(file, &before);
    void *memory = map_resident();
    read = read && memory && roast__rss_read(file, &mapped);
    unmap_resident(memory);
    read = read && roast__rss_read(file, &after);
    return read && is_mapped_growth(before, mapped) && is_mapped_growth(after, mapped);
}

static void follows_memory_as_it_comes_and_goes(void **state)
{
    struct roast_procfile file = {0};
    (void)state;

    assert_true(follows_mapped_memory(&file));
    roast__procfile_close(&file);
}

static void a_forked_child_sees_its_own_memory(void **state)
{
    struct roast_procfile file = {0};
    uint64_t rss_bytes;
    (void)state;

    assert_true(roast__rss_read(&file, &rss_bytes));
    assert_true(holds_in_child(follows_mapped_memory, &file));
    roast__procfile_close(&file);
}

/* In a child, whose mark starts near its own memory. */
static bool peak_stays_after_the_memory_is_gone(void *context)
{
    uint64_t before = 0;
    uint64_t after = 0;
    (void)context;

    bool read = roast__peak_reset() == ROAST_OK && roast__peak_read(&before);
    void *memory = map_resident();
    unmap_resident(memory);
    read = read && memory && roast__peak_read(&after);
    return read && is_mapped_growth(before, after);
}

static bool reset_forgets_the_peak(void *context)
{
    uint64_t high = 0;
    uint64_t low = 0;

    return peak_stays_after_the_memory_is_gone(context) && roast__peak_read(&high) &&
           roast__peak_reset() == ROAST_OK && roast__peak_read(&low) &&
           is_mapped_growth(low, high);
}

static void the_peak_is_exact_and_can_be_reset(void **state)
{
    (void)state;

    if (roast__peak_reset() != ROAST_OK)
        skip(); /* a read-only /proc */
    assert_true(holds_in_child(peak_stays_after_the_memory_is_gone, NULL));
    assert_true(holds_in_child(reset_forgets_the_peak, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_pages_of_a_fixture),
        cmocka_unit_test(is_absent_without_a_readable_file),
        cmocka_unit_test(follows_memory_as_it_comes_and_goes),
        cmocka_unit_test(a_forked_child_sees_its_own_memory),
        cmocka_unit_test(the_peak_is_exact_and_can_be_reset),
    };
    return cmocka_run_group_tests_name("probe/linux_rss", tests, NULL, NULL);
}
