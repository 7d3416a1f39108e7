/* SPDX-License-Identifier: BSD-3-Clause */
/* test_scan.c - numbers, lines and labels as the kernel prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "probe/linux/scan.h"

static void takes_numbers_one_after_the_other(void **state)
{
    struct roast_str text = roast_str_of("12 \t0 18446744073709551615\n7");
    uint64_t value;
    (void)state;

    assert_true(roast__scan_u64(&value, &text));
    assert_int_equal(value, 12);
    assert_true(roast__scan_u64(&value, &text));
    assert_int_equal(value, 0);
    assert_true(roast__scan_u64(&value, &text));
    assert_true(value == UINT64_MAX);
    assert_false(roast__scan_u64(&value, &text)); /* not the next line */
    assert_string_equal(text.data, "\n7");
}

static void refuses_what_is_no_number_and_changes_nothing(void **state)
{
    static const char *const texts[] = {"",    " ",   "-1", "max",
                                        "12k", "1.5", "x1", "18446744073709551616"};
    (void)state;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct roast_str text = roast_str_of(texts[i]);
        uint64_t value = 99;
        assert_false(roast__scan_u64(&value, &text));
        assert_int_equal(value, 99);
        assert_ptr_equal(text.data, texts[i]);
    }
}

static void reads_no_further_than_the_text(void **state)
{
    struct roast_str text = {"1234", 2};
    uint64_t value;
    (void)state;

    assert_true(roast__scan_u64(&value, &text));
    assert_int_equal(value, 12);
    assert_int_equal(text.size_bytes, 0);
}

static void treats_an_absent_text_as_empty(void **state)
{
    struct roast_str text = {NULL, 0};
    struct roast_str part;
    uint64_t value;
    (void)state;

    assert_false(roast__scan_u64(&value, &text));
    assert_false(roast__scan_until(&part, &text, '\n'));
    assert_false(roast__scan_label(&text, "a"));
    assert_false(roast__scan_find_u64(&value, text, "a"));
}

static void splits_at_the_stop(void **state)
{
    struct roast_str text = roast_str_of("cpu,,cpuacct");
    struct roast_str part;
    (void)state;

    assert_true(roast__scan_until(&part, &text, ','));
    assert_true(roast__str_is(part, "cpu"));
    assert_true(roast__scan_until(&part, &text, ','));
    assert_true(roast__str_is(part, ""));
    assert_true(roast__scan_until(&part, &text, ','));
    assert_true(roast__str_is(part, "cpuacct"));
    assert_false(roast__scan_until(&part, &text, ','));
}

static void finds_labels_with_and_without_colon(void **state)
{
    struct roast_str text = roast_str_of("rchars: 1\n"
                                         "rchar: 2\n"
                                         "MemTotal:       3 kB\n"
                                         "model name\t: 4\n"
                                         "nr_throttled 5\n"
                                         "empty");
    struct roast_str remaining;
    uint64_t value;
    (void)state;

    assert_true(roast__scan_find_u64(&value, text, "rchar"));
    assert_int_equal(value, 2);
    assert_true(roast__scan_find_u64(&value, text, "MemTotal"));
    assert_int_equal(value, 3);
    assert_true(roast__scan_find_u64(&value, text, "model name"));
    assert_int_equal(value, 4);
    assert_true(roast__scan_find_u64(&value, text, "nr_throttled"));
    assert_int_equal(value, 5);
    assert_true(roast__scan_find(&remaining, text, "empty"));
    assert_int_equal(remaining.size_bytes, 0);
    assert_false(roast__scan_find(&remaining, text, "Total"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_numbers_one_after_the_other),
        cmocka_unit_test(refuses_what_is_no_number_and_changes_nothing),
        cmocka_unit_test(reads_no_further_than_the_text),
        cmocka_unit_test(treats_an_absent_text_as_empty),
        cmocka_unit_test(splits_at_the_stop),
        cmocka_unit_test(finds_labels_with_and_without_colon),
    };
    return cmocka_run_group_tests_name("probe/scan", tests, NULL, NULL);
}
