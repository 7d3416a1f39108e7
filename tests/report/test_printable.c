/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fit.c - text and moments for those who write their own lines. */
#include "roast/report.h"
#include "support.h"

static void check_fit(const char *text, const char *wanted, size_t wanted_columns)
{
    size_t size = strlen(text);
    char *tight = tight_copy(text, size);
    char *out = malloc(size + 1);
    size_t columns = 99;

    assert_non_null(out);
    size_t written = roast_printable(out, str_from(tight, size), &columns);
    assert_str_is(str_from(out, written), wanted);
    assert_int_equal(columns, wanted_columns);
    assert_int_equal(roast_printable(out, str_from(tight, size), NULL), written);
    free(tight);
    free(out);
}

static void test_text_fits_a_terminal(void **state)
{
    (void)state;
    check_fit("", "", 0);
    check_fit("plain", "plain", 5);
    check_fit("a\x1b[31m\nb\x7f", "a?[31m?b?", 9);
    check_fit("\xc3\xa9\xe6\x97\xa5", "\xc3\xa9\xe6\x97\xa5", 3);
    check_fit("\xe2\x80\xae"
              "evil\xff",
              "?evil?", 6); /* turns the line round */
    assert_int_equal(roast_printable(NULL, (struct roast_str){NULL, 0}, NULL), 0);
}

static void check_time(int64_t ns, const char *wanted)
{
    char out[ROAST_TIME_BYTES];

    assert_int_equal(roast_format_time(out, ns), strlen(wanted));
    assert_string_equal(out, wanted);
}

static void test_moments_are_utc(void **state)
{
    (void)state;
    check_time(0, "1970-01-01T00:00:00.000000000Z");
    check_time(INT64_C(1763215323123456789), "2025-11-15T14:02:03.123456789Z");
    check_time(INT64_C(951782399999999999), "2000-02-28T23:59:59.999999999Z");
    check_time(INT64_MAX, "2262-04-11T23:47:16.854775807Z");
    check_time(-1, "-");
    check_time(INT64_MIN, "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_fits_a_terminal),
        cmocka_unit_test(test_moments_are_utc),
    };

    return cmocka_run_group_tests_name("report/test_fit", tests, NULL, NULL);
}
