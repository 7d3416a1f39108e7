/* SPDX-License-Identifier: BSD-3-Clause */
/* test_printable.c - printable text, and times as text. */
#include "roast/report.h"
#include "roast/row_writer.h"
#include "support.h"

static void check_printable(const char *text, const char *wanted)
{
    size_t size = strlen(text);
    char *tight = tight_copy(text, size);
    char *out = malloc(size + 1);

    assert_non_null(out);
    size_t written = roast_printable(out, str_from(tight, size));
    assert_str_is(str_from(out, written), wanted);
    free(tight);
    free(out);
}

static void test_text_is_made_printable(void **state)
{
    (void)state;
    check_printable("", "");
    check_printable("plain", "plain");
    check_printable("a\x1b[31m\nb\x7f", "a?[31m?b?");
    check_printable("\xc3\xa9\xe6\x97\xa5", "\xc3\xa9\xe6\x97\xa5");
    check_printable("\xe2\x80\xae"
                    "evil\xff",
                    "?evil?"); /* reverses the line */
    assert_int_equal(roast_printable(NULL, (struct roast_str){NULL, 0}), 0);
}

static void check_time(int64_t ns, const char *wanted)
{
    char out[ROAST_TIME_BYTES];

    assert_int_equal(roast_format_time(out, ns), strlen(wanted));
    assert_string_equal(out, wanted);
}

static void test_times_are_utc(void **state)
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
        cmocka_unit_test(test_text_is_made_printable),
        cmocka_unit_test(test_times_are_utc),
    };

    return cmocka_run_group_tests_name("report/test_printable", tests, NULL, NULL);
}
