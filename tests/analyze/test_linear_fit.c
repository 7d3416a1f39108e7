/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linear_fit.c - straight lines: exact ones, too few points, one size, no slope. */
#include "analyze/linear_fit.h"

#include <math.h>

#include "support.h"

static struct roast_linear_fit through(const double (*points)[2], int count)
{
    struct roast_linear_fit line = {0};

    for (int i = 0; i < count; i++)
        roast__fit_add(&line, points[i][0], points[i][1]);
    return line;
}

/* y = 3 + 2 x for x = 1 ... count */
static struct roast_linear_fit exact(int count)
{
    struct roast_linear_fit line = {0};

    for (int i = 1; i <= count; i++)
        roast__fit_add(&line, i, 3 + 2.0 * i);
    return line;
}

static void test_exact(void **state)
{
    (void)state;
    struct roast_linear_fit line = exact(8);

    assert_true(roast__fit_is_clear(&line));
    assert_true(fabs(roast__fit_slope(&line) - 2) <= 1e-12);
    assert_true(fabs(roast__fit_at(&line, 10) - 23) <= 1e-12);
    assert_true(fabs(roast__fit_constant(&line) - 3) <= 1e-12);
    assert_true(fabs(roast__fit_each(&line) - 2) <= 1e-12);
    assert_true(fabs(roast__fit_r2(&line) - 1) <= 1e-12);
    assert_true(fabs(roast__fit_residual(&line) - 0) <= 1e-9);
}

static void test_too_few_points_are_not_clear(void **state)
{
    (void)state;
    struct roast_linear_fit line = exact(7);

    assert_false(roast__fit_is_clear(&line));
    assert_true(roast__fit_constant(&line) == 0);
    assert_true(fabs(roast__fit_each(&line) - 11.0 / 4) <= 1e-12); /* of the means */
}

static void test_points_of_one_x(void **state)
{
    (void)state;
    struct roast_linear_fit line = {0};

    for (int i = 0; i < 20; i++)
        roast__fit_add(&line, 5, i);
    assert_false(roast__fit_is_clear(&line));
    assert_true(isnan(roast__fit_slope(&line)));
    assert_true(isnan(roast__fit_at(&line, 1)));
    assert_true(roast__fit_r2(&line) == 0);
    assert_true(fabs(roast__fit_each(&line) - 9.5 / 5) <= 1e-12);
}

static void test_a_falling_line_is_no_cost_per_event(void **state)
{
    (void)state;
    struct roast_linear_fit line = {0};

    for (int i = 1; i <= 10; i++)
        roast__fit_add(&line, i, 30 - i);
    assert_false(roast__fit_is_clear(&line));
    assert_true(roast__fit_constant(&line) == 0);
}

static void test_a_line_below_zero_has_no_constant(void **state)
{
    (void)state;
    struct roast_linear_fit line = {0};

    for (int i = 1; i <= 10; i++)
        roast__fit_add(&line, i, 2.0 * i - 1);
    assert_true(roast__fit_is_clear(&line));
    assert_true(roast__fit_constant(&line) == 0);
    assert_true(fabs(roast__fit_each(&line) - 10 / 5.5) <= 1e-12);
}

/* far from zero, where plain sums of squares have no digits left */
static void test_large_values_keep_their_digits(void **state)
{
    static const double points[][2] = {
        {1e9, 1e9}, {1e9 + 1, 1e9 + 2}, {1e9 + 2, 1e9 + 4}, {1e9 + 3, 1e9 + 6}};
    (void)state;
    struct roast_linear_fit line = through(points, 4);

    assert_true(fabs(roast__fit_slope(&line) - 2) <= 1e-9);
    assert_true(fabs(roast__fit_r2(&line) - 1) <= 1e-9);
}

static void test_empty(void **state)
{
    (void)state;
    struct roast_linear_fit line = {0};

    assert_false(roast__fit_is_clear(&line));
    assert_true(isnan(roast__fit_slope(&line)));
    assert_true(isnan(roast__fit_each(&line)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_too_few_points_are_not_clear),
        cmocka_unit_test(test_points_of_one_x),
        cmocka_unit_test(test_a_falling_line_is_no_cost_per_event),
        cmocka_unit_test(test_a_line_below_zero_has_no_constant),
        cmocka_unit_test(test_large_values_keep_their_digits),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
