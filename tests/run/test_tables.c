/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tables.c - columns, strings, names by id, and how they grow. */
#include <stdio.h>

#include "base/array.h"
#include "runs.h"

/* ---- columns ----------------------------------------------------------------- */

static void a_column_returns_what_was_put(void **state)
{
    struct roast_column column = {0};
    (void)state;

    assert_false(roast__column_has(&column, 0)); /* before there is any memory */
    assert_true(roast__column_get(&column, 5, -7) == -7);
    for (size_t row = 0; row < 1000; row += 3) {
        assert_true(roast__column_reserve(&column, 64 + row));
        roast__column_put(&column, row, (int64_t)row - 500);
    }
    for (size_t row = 0; row < 1000; row++) {
        assert_int_equal(roast__column_has(&column, row), row % 3 == 0);
        if (row % 3 == 0)
            assert_true(roast__column_get(&column, row, 0) == (int64_t)row - 500);
    }
    assert_int_equal(column.known, 334);
    roast__column_put(&column, 0, INT64_MIN); /* again */
    assert_int_equal(column.known, 334);
    assert_true(roast__column_get(&column, 0, 0) == INT64_MIN);
    roast__column_release(&column);
}

static void a_column_without_values_takes_no_memory(void **state)
{
    struct roast_column column = {0};
    (void)state;

    assert_true(roast__column_grow(&column, 1 << 20));
    assert_null(column.values);
    assert_true(roast__column_reserve(&column, 8));
    assert_true(roast__column_grow(&column, 100));
    assert_int_equal(column.cap, 100);
    for (size_t row = 0; row < 100; row++)
        assert_false(roast__column_has(&column, row));
    roast__column_release(&column);
}

/* ---- strings ----------------------------------------------------------------- */

static void a_text_keeps_its_number(void **state)
{
    struct roast_string_table strings = {0};
    char text[32];
    (void)state;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5000; i++) {
            (void)snprintf(text, sizeof(text), "%*d", i % 20, i);
            assert_int_equal(roast__strings_put(&strings, roast_str_of(text)), i);
        }
    }
    assert_int_equal(strings.count, 5000);
    assert_str_is(roast__strings_get(&strings, 0), "0");
    assert_str_is(roast__strings_get(&strings, 4999), "               4999");
    assert_int_equal(roast__strings_find(&strings, roast_str_of("1")), 1);
    assert_int_equal(roast__strings_find(&strings, roast_str_of("no")), -1);
    roast__strings_release(&strings);
}

static void absent_empty_and_nul_differ(void **state)
{
    struct roast_string_table strings = {0};
    (void)state;

    assert_int_equal(roast__strings_put(&strings, roast_str_of(NULL)), ROAST_NO_STRING);
    assert_int_equal(roast__strings_put(&strings, roast_str_of("")), 0);
    assert_int_equal(roast__strings_put(&strings, str_from("\0", 1)), 1);
    assert_int_equal(roast__strings_put(&strings, str_from("\0\0", 2)), 2);
    assert_int_equal(roast__strings_put(&strings, roast_str_of("")), 0);
    assert_str_is(roast__strings_get(&strings, 0), "");
    assert_null(roast__strings_get(&strings, ROAST_NO_STRING).data);
    assert_true(str_equal(roast__strings_get(&strings, 2), str_from("\0\0", 2)));
    roast__strings_release(&strings);
}

static void a_wrong_likely_number_is_harmless(void **state)
{
    struct roast_string_table strings = {0};
    (void)state;

    assert_int_equal(roast__strings_put_again(&strings, roast_str_of("a"), 0), 0);
    assert_int_equal(roast__strings_put_again(&strings, roast_str_of("b"), 0), 1);
    assert_int_equal(roast__strings_put_again(&strings, roast_str_of("b"), 1), 1);
    assert_int_equal(roast__strings_put_again(&strings, roast_str_of("a"), 99), 0);
    assert_int_equal(roast__strings_put_again(&strings, roast_str_of(NULL), 0), -1);
    assert_int_equal(strings.count, 2);
    roast__strings_release(&strings);
}

/* ---- names ------------------------------------------------------------------- */

static int32_t add_name(struct roast_names *names, struct roast_string_table *strings,
                        const char *text)
{
    int32_t number = roast__strings_put(strings, roast_str_of(text));

    assert_true(roast__names_add(names, strings, number));
    return number;
}

static void a_name_is_found_by_its_id(void **state)
{
    struct roast_string_table strings = {0};
    struct roast_names names = {0};
    char text[32];
    (void)state;

    assert_int_equal(roast__names_find(&names, 1), ROAST_NO_STRING);
    for (int i = 0; i < 500; i++) {
        (void)snprintf(text, sizeof(text), "file %d", i);
        (void)add_name(&names, &strings, text);
        (void)add_name(&names, &strings, text); /* twice is once */
    }
    assert_int_equal(names.count, 500);
    int32_t found = roast__names_find(&names, roast_name_id(roast_str_of("file 77")));
    assert_str_is(roast__strings_get(&strings, found), "file 77");
    assert_int_equal(roast__names_find(&names, 0), ROAST_NO_STRING);
    roast__names_release(&names);
    roast__strings_release(&strings);
}

static void an_ambiguous_id_is_not_resolved(void **state)
{
    const char *a = "file 51711"; /* found by searching */
    const char *b = "file 202660";
    uint32_t id = roast_name_id(roast_str_of(a));
    struct roast_string_table strings = {0};
    struct roast_names names = {0};
    (void)state;

    assert_int_equal(id, roast_name_id(roast_str_of(b)));
    int32_t first = add_name(&names, &strings, a);
    assert_int_equal(roast__names_find(&names, id), first);
    (void)add_name(&names, &strings, b);
    assert_int_equal(roast__names_find(&names, id), ROAST_NO_STRING);
    roast__names_release(&names);
    roast__strings_release(&strings);
}

/* ---- arithmetic --------------------------------------------------------------- */

static void sums_stop_at_the_ends(void **state)
{
    (void)state;

    assert_true(roast__sat_add(INT64_MAX, 1) == INT64_MAX);
    assert_true(roast__sat_add(INT64_MIN, -1) == INT64_MIN);
    assert_true(roast__sat_add(2, -3) == -1);
    assert_true(roast__sat_sub(INT64_MIN, 1) == INT64_MIN);
    assert_true(roast__sat_sub(INT64_MAX, -1) == INT64_MAX);
    assert_true(roast__sat_sub(0, INT64_MIN) == INT64_MAX);
    assert_true(roast__sat_count(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(roast__sat_count(1, 2) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_returns_what_was_put),
        cmocka_unit_test(a_column_without_values_takes_no_memory),
        cmocka_unit_test(a_text_keeps_its_number),
        cmocka_unit_test(absent_empty_and_nul_differ),
        cmocka_unit_test(a_wrong_likely_number_is_harmless),
        cmocka_unit_test(a_name_is_found_by_its_id),
        cmocka_unit_test(an_ambiguous_id_is_not_resolved),
        cmocka_unit_test(sums_stop_at_the_ends),
    };
    return cmocka_run_group_tests_name("run/tables", tests, NULL, NULL);
}
