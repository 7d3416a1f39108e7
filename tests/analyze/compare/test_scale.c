/* SPDX-License-Identifier: BSD-3-Clause */
/* test_scale.c - runs with more and more threads: efficiency, and the law that they
 * follow, with honest errors. */
#include "analyze/runs.h"
#include "draw.h"
#include "heap.h"
#include "roast/compare.h"

enum { MOST_RUNS = 40 };

struct several {
    roast_run *runs[MOST_RUNS];
    struct roast_side sides[MOST_RUNS];
    size_t count;
};

/* A run of 1000 s with so many threads, two per worker. */
static void add_run(struct several *several, double threads, double event_rate)
{
    roast_run *run = run_new();

    if (threads > 0)
        offer(run, 0, (uint64_t)threads / 2, (uint64_t)threads);
    add_frame(run, (struct frame){.stop = 10,
                                  .start = 1,
                                  .duration = 1,
                                  .events = (uint64_t)(event_rate * 1000)});
    roast_run_finish(run, NS(1000));
    several->runs[several->count] = run;
    several->sides[several->count++] =
        (struct roast_side){.summary = summary_of(run), .run = run};
}

static double law(double rate_1, double sigma, double kappa, double n)
{
    return rate_1 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

static void release(struct several *several)
{
    for (size_t i = 0; i < several->count; i++) {
        roast_summary_free((roast_summary *)several->sides[i].summary);
        roast_run_free(several->runs[i]);
    }
    several->count = 0;
}

static struct roast_scaling scale(struct several *several)
{
    struct roast_scaling scaling;

    assert_int_equal(roast_scale(&scaling, several->sides, several->count, false, NULL),
                     ROAST_OK);
    release(several);
    return scaling;
}

static void test_the_law_is_found_again(void **state)
{
    static const double threads[] = {2, 4, 8, 16, 32, 64};
    struct several several = {.count = 0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        add_run(&several, threads[i], law(1e6, 0.02, 0.0003, threads[i]));
    struct roast_scaling scaling = scale(&several);
    assert_true(scaling.fits);
    assert_non_null(scaling.remark); /* their chunks are of another size each */
    assert_null(scaling.why);
    assert_true(fabs(scaling.rate_1.value / 1e6 - 1) < 1e-6);
    assert_true(fabs(scaling.sigma.value / 0.02 - 1) < 1e-5);
    assert_true(fabs(scaling.kappa.value / 0.0003 - 1) < 1e-5);
    assert_true(fabs(scaling.best_threads - sqrt(0.98 / 0.0003)) < 0.01);
    assert_true(scaling.sigma.low <= 0.02000001 && scaling.sigma.high >= 0.01999999);
    assert_near(scaling.points[0].efficiency, 1);
    assert_near(scaling.points[0].workers, 1);
    assert_near(scaling.points[5].threads, 64);
    assert_true(fabs(scaling.points[5].fitted / scaling.points[5].event_rate - 1) <
                1e-6);
    roast_scaling_release(&scaling);
}

/* The truth is in the interval of nearly all of 100 noisy sets. */
static void test_intervals_hold_the_truth(void **state)
{
    static const double threads[] = {2, 2, 4, 8, 8, 16, 32, 64};
    uint64_t seed = 5;
    int held = 0;

    (void)state;
    for (int set = 0; set < 100; set++) {
        struct several several = {.count = 0};
        for (size_t i = 0; i < COUNT_OF(threads); i++)
            add_run(&several, threads[i],
                    law(1e6, 0.05, 0.0005, threads[i]) *
                        (1 + 0.1 * (draw_share(&seed) - 0.5)));
        struct roast_scaling scaling = scale(&several);
        held += scaling.sigma.low <= 0.05 && scaling.sigma.high >= 0.05;
        roast_scaling_release(&scaling);
    }
    assert_in_range(held, 88, 100);
}

static void check_inside(const struct roast_estimate *estimate)
{
    assert_true(estimate->low <= estimate->value);
    assert_true(estimate->value <= estimate->high);
    assert_true(estimate->low >= 0);
}

/* Wherever the truth is, and whatever has to be held at 0. */
static void test_values_are_in_their_own_intervals(void **state)
{
    static const double threads[] = {2, 4, 8, 16, 32};
    static const double sigmas[] = {0, 0.01, 0.3}, kappas[] = {0, 0.0002, 0.01};
    uint64_t seed = 6;
    int fitted = 0, held = 0;

    (void)state;
    for (int set = 0; set < 300; set++) {
        struct several several = {.count = 0};
        for (size_t i = 0; i < COUNT_OF(threads); i++)
            add_run(&several, threads[i],
                    law(1e6, sigmas[set % 3], kappas[set / 3 % 3], threads[i]) *
                        (1 + 0.4 * (draw_share(&seed) - 0.5)));
        struct roast_scaling scaling = scale(&several);
        if (scaling.fits) {
            check_inside(&scaling.rate_1);
            check_inside(&scaling.sigma);
            check_inside(&scaling.kappa);
            held += scaling.sigma.value == 0 || scaling.kappa.value == 0;
            fitted++;
        }
        roast_scaling_release(&scaling);
    }
    assert_true(fitted > 200 && held > 50);
}

static void test_runs_that_scale_well_have_no_negative_cost(void **state)
{
    struct several several = {.count = 0};

    (void)state;
    add_run(&several, 2, 2.0e6); /* a little better than in step */
    add_run(&several, 4, 4.1e6);
    add_run(&several, 8, 8.1e6);
    add_run(&several, 16, 16.3e6);
    struct roast_scaling scaling = scale(&several);
    assert_true(scaling.fits);
    assert_true(scaling.sigma.value >= 0 && scaling.kappa.value >= 0);
    assert_true(scaling.sigma.low >= 0 && scaling.kappa.low >= 0);
    assert_true(scaling.sigma.value < 0.01);
    assert_near(scaling.points[1].efficiency, 1.025);
    roast_scaling_release(&scaling);
}

/* ---- the rate falls -------------------------------------------------------------- */

static void test_a_measured_peak_is_followed_by_a_fall(void **state)
{
    struct several several = {.count = 0};

    (void)state;
    add_run(&several, 8, 0.9e6); /* in any order */
    add_run(&several, 2, 1e6);
    add_run(&several, 4, 1.4e6);
    struct roast_scaling scaling = scale(&several);
    assert_int_equal(scaling.trend, ROAST_TREND_FALLS);
    assert_near(scaling.best.threads, 4);
    assert_near(scaling.many.threads, 8);
    assert_near(scaling.many.event_rate, 0.9e6);
    assert_true(scaling.best_threads > 1 && scaling.best_threads < 8);
    roast_scaling_release(&scaling);
}

static void test_a_rate_that_falls_from_the_start_does_not_only_grow(void **state)
{
    struct several several = {.count = 0};

    (void)state;
    add_run(&several, 2, 1e6);
    add_run(&several, 4, 0.6e6);
    add_run(&several, 8, 0.35e6);
    add_run(&several, 16, 0.19e6);
    struct roast_scaling scaling = scale(&several);
    assert_int_equal(scaling.trend, ROAST_TREND_FALLS);
    assert_true(scaling.fits);
    assert_near(scaling.best_threads, 1);
    roast_scaling_release(&scaling);
}

/* Also without a fit, and by the mean of repeated runs. */
static void test_two_numbers_of_threads_show_a_trend(void **state)
{
    static const struct {
        double rates[2];
        enum roast_trend trend;
    } cases[] = {{{1e6, 1.8e6}, ROAST_TREND_GROWS},
                 {{1e6, 1.01e6}, ROAST_TREND_FLAT},
                 {{1e6, 0.99e6}, ROAST_TREND_FLAT},
                 {{1e6, 0.7e6}, ROAST_TREND_FALLS}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct several several = {.count = 0};
        add_run(&several, 2, 0.9 * cases[i].rates[0]);
        add_run(&several, 2, 1.1 * cases[i].rates[0]);
        add_run(&several, 4, cases[i].rates[1]);
        struct roast_scaling scaling = scale(&several);
        assert_false(scaling.fits);
        assert_int_equal(scaling.trend, cases[i].trend);
        assert_near(scaling.few.event_rate, cases[i].rates[0]);
        roast_scaling_release(&scaling);
    }
}

/* ---- other processors ------------------------------------------------------------ */

static void set_processor(struct several *several, size_t number, const char *name)
{
    assert_int_equal(roast_run_set_note(several->runs[number], ROAST_NOTES_run,
                                        roast_str_of("processor"), roast_str_of(name),
                                        NULL),
                     ROAST_OK);
}

static void test_processors_are_mixed_on_request_only(void **state)
{
    struct several several = {.count = 0};
    struct roast_scaling scaling;
    roast_error err = {0};

    (void)state;
    for (int i = 0; i < 3; i++) /* the first one does not know its own */
        add_run(&several, 2 << i, 1e6 * (i + 1));
    set_processor(&several, 1, "Ttbar");
    set_processor(&several, 2, "Wjets");
    assert_int_equal(roast_scale(&scaling, several.sides, 2, false, &err), ROAST_OK);
    roast_scaling_release(&scaling);
    assert_int_equal(roast_scale(&scaling, several.sides, 3, false, &err),
                     ROAST_REFUSED);
    assert_non_null(strstr(err.message, "Ttbar and Wjets"));
    roast_scaling_release(&scaling);
    assert_int_equal(roast_scale(&scaling, several.sides, 3, true, &err), ROAST_OK);
    assert_true(scaling.fits);
    assert_non_null(strstr(scaling.remark, "processors"));
    roast_scaling_release(&scaling);
    release(&several);
}

/* ---- too few --------------------------------------------------------------------- */

static void test_three_runs_are_fitted_without_errors(void **state)
{
    struct several several = {.count = 0};

    (void)state;
    add_run(&several, 2, law(1e6, 0.1, 0.001, 2));
    add_run(&several, 8, law(1e6, 0.1, 0.001, 8));
    add_run(&several, 32, law(1e6, 0.1, 0.001, 32));
    struct roast_scaling scaling = scale(&several);
    assert_true(scaling.fits);
    assert_true(fabs(scaling.sigma.value / 0.1 - 1) < 1e-4);
    assert_true(isnan(scaling.sigma.low) && isnan(scaling.kappa.high));
    assert_non_null(scaling.why);
    roast_scaling_release(&scaling);
}

static void test_two_numbers_of_threads_are_no_fit(void **state)
{
    struct several several = {.count = 0};

    (void)state;
    for (int i = 0; i < 3; i++) {
        add_run(&several, 2, 1e6);
        add_run(&several, 4, 1.5e6);
    }
    struct roast_scaling scaling = scale(&several);
    assert_false(scaling.fits);
    assert_non_null(scaling.why);
    assert_near(scaling.points[1].efficiency, 0.75);
    assert_true(isnan(scaling.points[1].fitted));
    roast_scaling_release(&scaling);
}

static void test_a_run_with_unknown_threads_is_left_out(void **state)
{
    struct several several = {.count = 0};

    (void)state;
    add_run(&several, 0, 1e6);
    add_run(&several, 4, 1e6);
    struct roast_scaling scaling = scale(&several);
    assert_true(isnan(scaling.points[0].efficiency));
    assert_near(scaling.points[1].efficiency, 1);
    assert_false(scaling.fits);
    assert_null(scaling.remark);
    roast_scaling_release(&scaling);
}

static void test_no_memory_is_reported(void **state)
{
    struct roast_scaling scaling;
    const struct roast_side none = {0};

    (void)state;
    test_heap_fail(1, false);
    assert_int_equal(roast_scale(&scaling, &none, 0, false, NULL), ROAST_NO_MEMORY);
    test_heap_fail(0, false);
    roast_scaling_release(&scaling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_law_is_found_again),
        cmocka_unit_test(test_intervals_hold_the_truth),
        cmocka_unit_test(test_values_are_in_their_own_intervals),
        cmocka_unit_test(test_runs_that_scale_well_have_no_negative_cost),
        cmocka_unit_test(test_a_measured_peak_is_followed_by_a_fall),
        cmocka_unit_test(test_a_rate_that_falls_from_the_start_does_not_only_grow),
        cmocka_unit_test(test_two_numbers_of_threads_show_a_trend),
        cmocka_unit_test(test_processors_are_mixed_on_request_only),
        cmocka_unit_test(test_three_runs_are_fitted_without_errors),
        cmocka_unit_test(test_two_numbers_of_threads_are_no_fit),
        cmocka_unit_test(test_a_run_with_unknown_threads_is_left_out),
        cmocka_unit_test(test_no_memory_is_reported),
    };

    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
