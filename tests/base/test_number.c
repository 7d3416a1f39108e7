/* SPDX-License-Identifier: BSD-3-Clause */
/* test_number.c - three significant digits and a unit, at every scale. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "support.h"

#include "roast/report.h"

struct number_case {
    double value;
    const char *unit;
    const char *text;
};

static void check_cases(const struct number_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char out[ROAST_NUMBER_BYTES];
        size_t size = roast_format_number(out, cases[i].value, cases[i].unit);

        assert_string_equal(out, cases[i].text);
        assert_int_equal(size, strlen(out));
    }
}

static void test_seconds_have_three_digits_from_ns_to_days(void **state)
{
    static const struct number_case cases[] = {
        {0.004, "s", "4.00 ms"},      {0, "s", "0 s"},
        {-0.0, "s", "0 s"},           {62, "s", "62.0 s"},
        {1.5, "s", "1.50 s"},         {0.9999996, "s", "1.00 s"},
        {0.99949, "s", "999 ms"},     {0.0009996, "s", "1.00 ms"},
        {1.234e-6, "s", "1.23 us"},   {1e-9, "s", "1.00 ns"},
        {4.56e-10, "s", "0.456 ns"},  {1e-15, "s", "1.00e-15 s"},
        {-0.004, "s", "-4.00 ms"},    {999.4, "s", "999 s"},
        {999.9995, "s", "16.7 min"},  {3469, "s", "57.8 min"},
        {7200, "s", "2.00 h"},        {864000, "s", "10.0 d"},
        {-7200, "s", "-2.00 h"},      {1e300, "s", "1.16e+295 d"},
        {5e-324, "s", "4.94e-324 s"},
    };

    (void)state;
    check_cases(cases, COUNT_OF(cases));
}

static void test_counts_are_whole_up_to_100000(void **state)
{
    static const struct number_case cases[] = {
        {0, "", "0"},
        {1240, "", "1240"},
        {99999, "", "99999"},
        {-99999, "", "-99999"},
        {100000, "", "100 k"},
        {12345678, "", "12.3 M"},
        {999999, "", "1.00 M"},
        {999.9995, "", "1.00 k"},
        {1.97, "", "1.97"},
        {0.004, "", "0.00400"},
        {1e-7, "", "1.00e-07"},
        {18446744073709551615.0, "", "18.4 E"},
        {9.999e20, "", "1.00e+21"},
        {1e300, "", "1.00e+300"},
        {-1e300, "", "-1.00e+300"},
    };

    (void)state;
    check_cases(cases, COUNT_OF(cases));
}

static void test_bytes_and_rates_are_si(void **state)
{
    static const struct number_case cases[] = {
        {43, "B", "43 B"},
        {999, "B", "999 B"},
        {999.6, "B", "1.00 kB"},
        {1000, "B", "1.00 kB"},
        {1.234e9, "B", "1.23 GB"},
        {3.96e9, "B", "3.96 GB"},
        {0.25, "B", "0.250 B"},
        {200e3, "Hz", "200 kHz"},
        {100e3, "Hz/core", "100 kHz/core"},
        {63.87e6, "B/s", "63.9 MB/s"},
        {1e9, "bit/s", "1.00 Gbit/s"},
        {0.511, "Gbit/s", "0.511 Gbit/s"},
        {0.1, "Gbit/s", "0.100 Gbit/s"},
        {0.05, "Gbit/s", "50.0 Mbit/s"},
        {1e-5, "Gbit/s", "10.0 kbit/s"},
        {1200, "Gbit/s", "1.20 Tbit/s"},
        {1e300, "Gbit/s", "1.00e+300 Gbit/s"},
    };

    (void)state;
    check_cases(cases, COUNT_OF(cases));
}

static void test_percent_and_unknown_units_are_not_scaled(void **state)
{
    static const struct number_case cases[] = {
        {89.3, "%", "89.3 %"},
        {100, "%", "100 %"},
        {0.0321, "%", "0.0321 %"},
        {1234.5, "%", "1234 %"},
        {0, "%", "0 %"},
        {-1.5, "%", "-1.50 %"},
        {1e9, "%", "1.00e+09 %"},
        {1.76, "x", "1.76x"},
        {774.7, "MiB", "775 MiB"},
        {-3.25, "MiB", "-3.25 MiB"},
        {3000, "MiB", "2.93 GiB"},
        {5, NULL, "5"},
        {1.5, "furlong", "1.50 furlong"},
    };

    (void)state;
    check_cases(cases, COUNT_OF(cases));
}

static void test_what_is_no_number_is_a_dash(void **state)
{
    static const struct number_case cases[] = {
        {NAN, "s", "-"}, {INFINITY, "B", "-"}, {-INFINITY, "", "-"}, {NAN, NULL, "-"}};

    (void)state;
    check_cases(cases, COUNT_OF(cases));
}

static void test_a_long_unit_is_cut_at_the_end_of_the_memory(void **state)
{
    char *out = malloc(ROAST_NUMBER_BYTES);
    char unit[200];

    (void)state;
    memset(unit, 'u', sizeof(unit));
    unit[sizeof(unit) - 1] = '\0';
    assert_non_null(out);
    assert_int_equal(roast_format_number(out, 1.5, unit), ROAST_NUMBER_BYTES - 1);
    assert_int_equal(strlen(out), ROAST_NUMBER_BYTES - 1);
    free(out);
}

/* The same value twice, once with all its digits: the difference is only the rounding,
 * at every scale. */
static void test_every_scale_has_the_same_value(void **state)
{
    (void)state;
    for (double value = DBL_MIN; value < 1e308; value *= 9.87) {
        char out[ROAST_NUMBER_BYTES];
        char *end = NULL;

        (void)roast_format_number(out, value, "%");
        double back = strtod(out, &end);
        assert_string_equal(end, " %");
        assert_true(fabs(back / value - 1) < 0.00501);
    }
}

static void test_the_point_does_not_depend_on_the_locale(void **state)
{
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    static const struct number_case cases[] = {{0.0123, "s", "12.3 ms"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(commas); i++)
        if (setlocale(LC_NUMERIC, commas[i])) /* not every machine has one */
            check_cases(cases, COUNT_OF(cases));
    (void)setlocale(LC_NUMERIC, "C");
    check_cases(cases, COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seconds_have_three_digits_from_ns_to_days),
        cmocka_unit_test(test_counts_are_whole_up_to_100000),
        cmocka_unit_test(test_bytes_and_rates_are_si),
        cmocka_unit_test(test_percent_and_unknown_units_are_not_scaled),
        cmocka_unit_test(test_what_is_no_number_is_a_dash),
        cmocka_unit_test(test_a_long_unit_is_cut_at_the_end_of_the_memory),
        cmocka_unit_test(test_every_scale_has_the_same_value),
        cmocka_unit_test(test_the_point_does_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
