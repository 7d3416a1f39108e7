/* SPDX-License-Identifier: BSD-3-Clause */
/* test_text.c - texts that are borrowed, and cutting them between characters. */
#include "base/str.h"
#include "support.h"

#include "roast/text.h"

static void cutting_never_splits_a_character(void **state)
{
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"; /* a é € 😀 z */
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    (void)state;

    for (size_t max = 0; max < COUNT_OF(kept); max++) {
        struct roast_str cut = roast_str_cut(roast_str_of(text), max);
        assert_ptr_equal(cut.data, text);
        assert_int_equal(cut.size_bytes, kept[max]);
    }
}

static void cutting_bytes_that_are_no_text_ends(void **state)
{
    static const char tails[] = "\x80\x80\x80\x80\x80";
    (void)state;

    assert_int_equal(roast_str_cut(roast_str_of(tails), 3).size_bytes, 0);
    assert_null(roast_str_cut((struct roast_str){NULL, 0}, 3).data);
}

static void an_absent_text_is_not_an_empty_one(void **state)
{
    (void)state;

    assert_null(roast_str_of(NULL).data);
    assert_non_null(roast_str_of("").data);
    assert_int_equal(roast_str_of("jets").size_bytes, 4);
}

static void numbers_are_taken_off_the_front(void **state)
{
    static const char *const bad[] = {
        "", "-", " 1", "+1", "1x", "x", "9223372036854775808"};
    struct roast_str text = roast_str_of("-12 9223372036854775807");
    int64_t value = 0;
    (void)state;

    assert_true(roast__str_take_int(&text, &value));
    assert_int_equal(value, -12);
    assert_true(roast__str_take_int(&text, &value));
    assert_int_equal(value, INT64_MAX);
    assert_null(text.data);
    assert_false(roast__str_take_int(&text, &value));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        text = roast_str_of(bad[i]);
        value = 7;
        assert_false(roast__str_take_int(&text, &value));
        assert_true(text.data == bad[i] && value == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutting_never_splits_a_character),
        cmocka_unit_test(cutting_bytes_that_are_no_text_ends),
        cmocka_unit_test(an_absent_text_is_not_an_empty_one),
        cmocka_unit_test(numbers_are_taken_off_the_front),
    };
    return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
