/* SPDX-License-Identifier: BSD-3-Clause */
/* test_stats.c - sums, standard deviation and quantiles against plain arithmetic; the best
 * interval against every interval. */
#include <math.h>

#include "analyze/quantiles.h"
#include "analyze/stats.h"
#include "analyze/totals/best_rate.h"
#include "heap.h"
#include "roast/analyze.h"
#include "support.h"

static uint64_t seed = 1;

static double random_share(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) * 0x1p-53;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double exact_quantile(const double *sorted, size_t count, double share)
{
    double position = share * (double)(count - 1);
    size_t rank = (size_t)position;

    if (rank + 1 >= count)
        return sorted[rank];
    return sorted[rank] + (position - (double)rank) * (sorted[rank + 1] - sorted[rank]);
}

/* ---- moments --------------------------------------------------------------------- */

static void test_moments_ignore_nan(void **state)
{
    const double values[] = {NAN, 4, NAN, 2, 6, NAN};
    struct roast_moments moments = {0};

    (void)state;
    assert_true(isnan(roast__moments_mean(&moments)));
    roast__moments_add(&moments, values, 2);
    assert_true(isnan(roast__moments_std(&moments)));
    roast__moments_add(&moments, values + 2, 4);
    assert_int_equal(moments.count, 3);
    assert_true(roast__moments_sum(&moments) == 12);
    assert_true(moments.min == 2 && moments.max == 6);
    assert_true(roast__moments_mean(&moments) == 4);
    assert_true(roast__moments_std(&moments) == 2);
}

static void test_std_of_large_numbers_close_together(void **state)
{
    struct roast_moments moments = {0};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        double value = 1.7e15 + i % 2;
        roast__moments_add(&moments, &value, 1);
    }
    assert_true(fabs(roast__moments_std(&moments) - sqrt(250 / 999.0)) < 1e-12);
}

static void test_std_is_never_negative(void **state)
{
    struct roast_moments moments = {0};

    (void)state;
    for (int i = 0; i < 100; i++) {
        double value = 0.1;
        roast__moments_add(&moments, &value, 1);
    }
    assert_true(roast__moments_std(&moments) == 0);
}

static void test_std_with_an_infinity_is_nan(void **state)
{
    static const double values[] = {1, INFINITY, 3};

    (void)state;
    assert_true(isnan(roast_statistics_of(values, 3).std));
    assert_true(isnan(roast_statistics_of(values + 1, 2).std));
}

/* ---- quantiles ------------------------------------------------------------------- */

enum { MANY = 20000 };

static void check_quantiles(size_t count, double scale, double tolerance)
{
    static const double shares[] = {0, 0.01, 0.5, 0.9, 0.99, 1};
    double *values = calloc(count, sizeof(values[0]));
    struct roast_quantiles quantiles = {0};

    assert_non_null(values);
    for (size_t i = 0; i < count; i++) {
        values[i] = scale * exp(20 * random_share());
        roast__quantiles_add(&quantiles, values[i]);
        roast__quantiles_add(&quantiles, NAN);
    }
    qsort(values, count, sizeof(values[0]), by_value);
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        double want = exact_quantile(values, count, shares[i]);
        double got = roast__quantiles_get(&quantiles, shares[i]);
        if (fabs(got - want) > tolerance * want)
            fail_msg("%zu values, %g: %g is not %g", count, shares[i], got, want);
    }
    roast__quantiles_release(&quantiles);
    free(values);
}

static void test_quantiles_are_exact_up_to_4096(void **state)
{
    (void)state;
    check_quantiles(1, 1, 0);
    check_quantiles(2, 1, 0);
    check_quantiles(7, 1e9, 0);
    check_quantiles(ROAST_QUANTILES_EXACT, 1, 0);
}

static void test_quantiles_are_within_one_percent(void **state)
{
    (void)state;
    check_quantiles(ROAST_QUANTILES_EXACT + 1, 1, 0.01);
    check_quantiles(MANY, 1e-3, 0.01);
    check_quantiles(MANY, 1e9, 0.01);
}

static void test_quantiles_of_odd_values(void **state)
{
    static const double odd[] = {0, 1e-300, 1e300, 5e18, 0};
    struct roast_quantiles quantiles = {0};

    (void)state;
    assert_true(isnan(roast__quantiles_get(&quantiles, 0.5)));
    for (size_t i = 0; i < 2000 * COUNT_OF(odd); i++)
        roast__quantiles_add(&quantiles, odd[i % COUNT_OF(odd)]);
    assert_true(roast__quantiles_get(&quantiles, 0) == 0);
    assert_true(isfinite(roast__quantiles_get(&quantiles, 1)));
    assert_true(fabs(roast__quantiles_get(&quantiles, 0.7) / 5e18 - 1) < 0.01);
    roast__quantiles_release(&quantiles);
}

static void test_quantiles_without_memory_are_nan(void **state)
{
    size_t failed = 0;

    (void)state;
    for (size_t n = 1;; n++, failed++) {
        struct roast_quantiles quantiles = {0};
        test_heap_fail(n, false);
        for (int i = 0; i < 5000; i++)
            roast__quantiles_add(&quantiles, 1);
        bool happened = test_heap_failed();
        test_heap_fail(0, false);
        assert_true(quantiles.failed == happened);
        assert_true(isnan(roast__quantiles_get(&quantiles, 0.5)) == happened);
        roast__quantiles_release(&quantiles);
        if (!happened)
            break;
    }
    assert_true(failed > 5);
    assert_int_equal(test_heap.live_blocks, 0);
}

/* ---- intervals ------------------------------------------------------------------- */

struct work {
    int64_t start, length;
    double amount;
};

static double amount_between(const struct work *work, size_t count, double from,
                             double to)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        double length = work[i].length > 0 ? (double)work[i].length : 1;
        double low = fmax(from, (double)work[i].start);
        double high = fmin(to, (double)work[i].start + length);
        sum += high > low ? work[i].amount * (high - low) / length : 0;
    }
    return sum;
}

static double best_of_all(const struct work *work, size_t count, double length)
{
    double best = 0;

    for (double from = -length - 2; from < 200; from += 1)
        best = fmax(best, amount_between(work, count, from, from + length));
    return best;
}

static double rate_of(const void *context, uint32_t number)
{
    const struct work *own = (const struct work *)context + number;

    return own->amount / (double)(own->length > 0 ? own->length : 1);
}

/* The curve is owned by the caller; returns the amount of all. */
static double make_curve(struct roast_cumulative_curve *curve, const struct work *work,
                         size_t count)
{
    *curve = (struct roast_cumulative_curve){0};
    assert_true(roast__curve_reserve(curve, count));
    for (uint32_t i = 0; i < count; i++)
        roast__curve_put(curve, i, work[i].start, work[i].length);
    assert_true(roast__curve_sort(curve));
    return roast__curve_sum(curve, rate_of, work);
}

static void check_intervals(const struct work *work, size_t count)
{
    struct roast_cumulative_curve curve;

    double all = make_curve(&curve, work, count);
    double want_all = amount_between(work, count, 0, 1e6);
    assert_true(fabs(all - want_all) <= 1e-9 * (1 + want_all));
    for (int64_t length = 1; length < 120; length += 7) {
        double want = best_of_all(work, count, (double)length);
        double got = roast__best_interval(&curve, length);
        if (fabs(got - want) > 1e-9 * (1 + want))
            fail_msg("length %d: %g is not %g", (int)length, got, want);
    }
    roast__curve_release(&curve);
}

static void test_best_interval_is_the_best_of_all(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct work work[90];
        for (size_t i = 0; i < COUNT_OF(work); i++) {
            work[i].start = (int64_t)(100 * random_share());
            work[i].length = (int64_t)(40 * random_share() * random_share());
            work[i].amount = 1000 * random_share();
        }
        check_intervals(work, COUNT_OF(work));
        check_intervals(work, 1);
    }
}

static void test_best_interval_of_hostile_times(void **state)
{
    static const struct work work[] = {
        {INT64_MIN, INT64_MAX, 10}, {INT64_MAX, INT64_MAX, 10}, {0, -5, 1e300}};
    struct roast_cumulative_curve curve;

    (void)state;
    assert_true(isfinite(make_curve(&curve, work, COUNT_OF(work))));
    assert_true(isfinite(roast__best_interval(&curve, 10)));
    roast__curve_release(&curve);
    assert_true(make_curve(&curve, work, 0) == 0);
    assert_true(roast__best_interval(&curve, 10) == 0);
    roast__curve_release(&curve);
}

static void test_statistics_are_those_of_0_1_2(void **state)
{
    static const double values[] = {2, 4, 0.5};
    static const double odd[] = {1, NAN, 3};
    struct roast_statistics found = roast_statistics_of(values, 3);

    (void)state;
    assert_int_equal(found.count, 3);
    assert_true(found.sum == 6.5 && found.min == 0.5 && found.max == 4);
    assert_true(fabs(found.mean - 6.5 / 3) < 1e-15);
    assert_true(fabs(found.std - 1.7559422921421233) < 1e-12);
    found = roast_statistics_of(values, 1);
    assert_true(found.mean == 2 && found.std == 0);
    found = roast_statistics_of(values, 0);
    assert_true(found.sum == 0 && found.mean == 0 && found.std == 0);
    found = roast_statistics_of(odd, 3);
    assert_true(isnan(found.sum) && isnan(found.mean) && isnan(found.std));
    assert_true(found.min == 1 && found.max == 3);
}

static void test_small_values_beside_a_large_one_add_up(void **state)
{
    static double values[100001] = {1e8};

    (void)state;
    for (size_t i = 1; i < COUNT_OF(values); i++)
        values[i] = 1e-8;
    double sum = roast_statistics_of(values, COUNT_OF(values)).sum;
    assert_true(fabs(sum - (1e8 + 1e-3)) < 2e-8);
    values[1] = INFINITY;
    assert_true(isinf(roast_statistics_of(values, COUNT_OF(values)).sum));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments_ignore_nan),
        cmocka_unit_test(test_std_of_large_numbers_close_together),
        cmocka_unit_test(test_std_is_never_negative),
        cmocka_unit_test(test_std_with_an_infinity_is_nan),
        cmocka_unit_test(test_quantiles_are_exact_up_to_4096),
        cmocka_unit_test(test_quantiles_are_within_one_percent),
        cmocka_unit_test(test_quantiles_of_odd_values),
        cmocka_unit_test(test_quantiles_without_memory_are_nan),
        cmocka_unit_test(test_best_interval_is_the_best_of_all),
        cmocka_unit_test(test_best_interval_of_hostile_times),
        cmocka_unit_test(test_statistics_are_those_of_0_1_2),
        cmocka_unit_test(test_small_values_beside_a_large_one_add_up),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
