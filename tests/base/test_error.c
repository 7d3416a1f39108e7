/* SPDX-License-Identifier: BSD-3-Clause */
/* test_error.c - the caller-owned error, and the names of all statuses. */
#include "support.h"

#include "roast/error.h"

static void setting_fills_the_struct_and_returns_the_code(void **state)
{
    roast_error err = {0};
    (void)state;

    assert_int_equal(roast_error_set(&err, ROAST_BAD_DATA, "field %u of %s", 7U, "x"),
                     ROAST_BAD_DATA);
    assert_int_equal(err.code, ROAST_BAD_DATA);
    assert_string_equal(err.message, "field 7 of x");
}

static void a_null_error_still_returns_the_code(void **state)
{
    (void)state;
    assert_int_equal(roast_error_set(NULL, ROAST_LIMIT, "%d", 1), ROAST_LIMIT);
}

static void a_long_message_is_cut_and_ends(void **state)
{
    struct {
        roast_error err;
        char after;
    } guarded;
    char text[1000];
    (void)state;

    guarded.after = 'x';
    memset(text, 'm', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    (void)roast_error_set(&guarded.err, ROAST_IO, "%s", text);
    assert_int_equal(strlen(guarded.err.message), sizeof(guarded.err.message) - 1);
    assert_int_equal(guarded.after, 'x');
}

static void every_status_has_its_name_and_text(void **state)
{
    (void)state;
#define S(name, value, text) \
    assert_string_equal(roast_status_name(value), #name); \
    assert_string_equal(roast_status_text(ROAST_##name), (text));
#include "roast/status.def"
#undef S
}

static void an_unknown_status_has_words_too(void **state)
{
    static const int unknown[] = {1, -1000, 2147483647};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        assert_string_equal(roast_status_name(unknown[i]), "UNKNOWN");
        assert_string_equal(roast_status_text(unknown[i]), "unknown status");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_fills_the_struct_and_returns_the_code),
        cmocka_unit_test(a_null_error_still_returns_the_code),
        cmocka_unit_test(a_long_message_is_cut_and_ends),
        cmocka_unit_test(every_status_has_its_name_and_text),
        cmocka_unit_test(an_unknown_status_has_words_too),
    };
    return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
