/* SPDX-License-Identifier: BSD-3-Clause */
/* scale.c - how the event rate of several runs grows with threads.
 *
 * The law is linear in this form:
 *     n / rate = (1 + sigma (n - 1) + kappa n (n - 1)) / rate_1.
 * All runs have the same weight, so distances are relative. A negative cost is noise: it
 * is fixed at 0 and the other terms are fitted again. Errors come from the distances of
 * the runs to the fits with and without fixed terms; with as many runs as unknowns they
 * are not known, and `why` has that reason. */
#include <math.h>
#include <string.h>

#include "analyze/compare/compare.h"
#include "analyze/summary.h"
#include "base/mem.h"

enum { TERMS = 3 };

/* The 95 % quantiles of Student's distribution, by degrees of freedom. */
static double student_of(size_t freedom)
{
    static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                                       2.447,  2.365, 2.306, 2.262, 2.228};
    size_t count = sizeof(quantiles) / sizeof(quantiles[0]);

    if (freedom <= count)
        return quantiles[freedom - 1];
    return 1.96 + 2.5 / (double)freedom;
}

/* ---- least squares --------------------------------------------------------------- */

struct fit {
    double value[TERMS];
    double inverse[TERMS][TERMS]; /* of the normal equations */
    double squares;               /* of relative distances */
    size_t terms;                 /* that are free */
};

static void terms_of(double out[TERMS], double threads, const bool free[TERMS])
{
    out[0] = 1;
    out[1] = free[1] ? threads - 1 : 0;
    out[2] = free[2] ? threads * (threads - 1) : 0;
}

static bool is_usable(const struct roast_scale_point *point)
{
    return point->threads > 0 && point->event_rate > 0;
}

/* Inverts m by Gauss-Jordan elimination; false if it is singular. Terms that are not free
 * have 1 on the diagonal. */
static bool invert(double m[TERMS][TERMS])
{
    double out[TERMS][TERMS] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

    for (int i = 0; i < TERMS; i++) {
        if (!(m[i][i] > 1e-12)) /* scaled to 1, and positive definite */
            return false;
        double pivot = m[i][i];
        for (int k = 0; k < TERMS; k++) {
            m[i][k] /= pivot;
            out[i][k] /= pivot;
        }
        for (int j = 0; j < TERMS; j++) {
            double factor = m[j][i];
            for (int k = 0; k < TERMS && j != i; k++) {
                m[j][k] -= factor * m[i][k];
                out[j][k] -= factor * out[i][k];
            }
        }
    }
    for (int i = 0; i < TERMS; i++)
        for (int k = 0; k < TERMS; k++)
            m[i][k] = out[i][k];
    return true;
}

/* The normal equations. */
static void add_points(const struct roast_scaling *scaling, const bool free[TERMS],
                       double sums[TERMS][TERMS], double right[TERMS])
{
    for (size_t p = 0; p < scaling->count; p++) {
        const struct roast_scale_point *point = &scaling->points[p];
        double terms[TERMS];
        if (!is_usable(point))
            continue;
        double weight = point->event_rate / point->threads;
        terms_of(terms, point->threads, free);
        for (int i = 0; i < TERMS; i++) {
            right[i] += terms[i] * weight;
            for (int k = 0; k < TERMS; k++)
                sums[i][k] += terms[i] * weight * terms[k] * weight;
        }
    }
}

static bool solve(struct fit *fit, const struct roast_scaling *scaling,
                  const bool free[TERMS])
{
    double right[TERMS] = {0};
    double scale[TERMS];

    *fit = (struct fit){.squares = 0};
    add_points(scaling, free, fit->inverse, right);
    for (int i = 0; i < TERMS; i++) {
        if (!free[i])
            fit->inverse[i][i] = 1;
        scale[i] = sqrt(fit->inverse[i][i]);
    }
    for (int i = 0; i < TERMS; i++)
        for (int k = 0; k < TERMS; k++)
            fit->inverse[i][k] /= scale[i] * scale[k];
    if (!invert(fit->inverse))
        return false;
    for (int i = 0; i < TERMS; i++) {
        for (int k = 0; k < TERMS; k++) {
            fit->inverse[i][k] /= scale[i] * scale[k];
            fit->value[i] += fit->inverse[i][k] * right[k];
        }
        if (!free[i])
            fit->inverse[i][i] = 0; /* it has no error */
        fit->terms += free[i];
    }
    for (size_t p = 0; p < scaling->count; p++) {
        const struct roast_scale_point *point = &scaling->points[p];
        double terms[TERMS];
        if (!is_usable(point))
            continue;
        terms_of(terms, point->threads, free);
        double cost = 0;
        for (int i = 0; i < TERMS; i++)
            cost += terms[i] * fit->value[i];
        double distance = cost * point->event_rate / point->threads - 1;
        fit->squares += distance * distance;
    }
    return true;
}

/* The best fit without negative terms, some of them fixed at 0. */
static bool solve_constrained(struct fit *best, const struct roast_scaling *scaling)
{
    bool any = false;

    for (int fixed = 0; fixed < 4; fixed++) {
        const bool free[TERMS] = {true, !(fixed & 1), !(fixed & 2)};
        struct fit fit;
        if (!solve(&fit, scaling, free) || fit.value[0] <= 0 || fit.value[1] < 0 ||
            fit.value[2] < 0 || (any && fit.squares >= best->squares))
            continue;
        *best = fit;
        any = true;
    }
    return any;
}

/* ---- results --------------------------------------------------------------------- */

/* The factor of the errors of a fit for the 95 % interval. */
static double error_factor(const struct fit *fit, size_t usable)
{
    size_t freedom = usable - fit->terms;

    return freedom > 0 ? student_of(freedom) * sqrt(fit->squares / (double)freedom) : 0;
}

/* value[term] / value[0], with the error of both; a fixed term has none. */
static struct roast_estimate share_of(const struct fit *fit, int term, double factor)
{
    double share = fit->value[term] / fit->value[0];
    double variance = fit->inverse[term][term] - 2 * share * fit->inverse[0][term] +
                      share * share * fit->inverse[0][0];
    double error = factor * sqrt(fmax(0, variance)) / fit->value[0];

    return (struct roast_estimate){share, share - error, share + error};
}

static struct roast_estimate rate_of(const struct fit *fit, double factor)
{
    double rate = 1 / fit->value[0];
    double relative = factor * sqrt(fit->inverse[0][0]) * rate;

    return (struct roast_estimate){rate, rate / (1 + relative),
                                   relative < 1 ? rate / (1 - relative) : INFINITY};
}

/* Adds the uncertainty of the unconstrained fit, because fixed terms have none. Limits
 * are at least 0. */
static struct roast_estimate both(struct roast_estimate shown,
                                  struct roast_estimate unconstrained)
{
    return (struct roast_estimate){shown.value,
                                   fmax(0, fmin(shown.low, unconstrained.low)),
                                   fmax(shown.high, unconstrained.high)};
}

static void clear_errors(struct roast_estimate *estimate)
{
    estimate->low = estimate->high = NAN;
}

/* The number of different thread counts; they differ by 0.1 at least. */
static size_t count_different(const struct roast_scaling *scaling, size_t *usable)
{
    size_t different = 0;

    *usable = 0;
    for (size_t i = 0; i < scaling->count; i++) {
        bool is_new = is_usable(&scaling->points[i]);
        *usable += is_new;
        for (size_t k = 0; k < i && is_new; k++)
            is_new =
                !is_usable(&scaling->points[k]) ||
                fabs(scaling->points[k].threads - scaling->points[i].threads) >= 0.1;
        different += is_new;
    }
    return different;
}

/* The maximum of the law, or 1 where it falls from the first thread on; NaN: none. */
static double best_threads_of(double sigma, double kappa)
{
    if (sigma >= 1)
        return sigma > 1 || kappa > 0 ? 1 : (double)NAN;
    return kappa > 0 ? fmax(1, sqrt((1 - sigma) / kappa)) : (double)NAN;
}

static void fit_law(struct roast_scaling *out)
{
    static const bool all_free[TERMS] = {true, true, true};
    struct fit best;
    struct fit unconstrained;
    size_t usable;
    size_t different = count_different(out, &usable);

    if (different < 2)
        out->why = "needs runs with different numbers of threads";
    else if (different < TERMS)
        out->why = "too few points for a fit: it needs 3 different numbers of threads";
    else if (!solve(&unconstrained, out, all_free) || unconstrained.value[0] <= 0 ||
             !solve_constrained(&best, out))
        out->why = "the runs do not follow the law: no fit";
    if (out->why)
        return;
    double factor = error_factor(&best, usable),
           free_factor = error_factor(&unconstrained, usable);
    out->fits = true;
    out->rate_1 = both(rate_of(&best, factor), rate_of(&unconstrained, free_factor));
    out->sigma =
        both(share_of(&best, 1, factor), share_of(&unconstrained, 1, free_factor));
    out->kappa =
        both(share_of(&best, 2, factor), share_of(&unconstrained, 2, free_factor));
    out->best_threads = best_threads_of(out->sigma.value, out->kappa.value);
    for (size_t i = 0; i < out->count; i++) {
        double n = out->points[i].threads;
        double cost =
            best.value[0] + best.value[1] * (n - 1) + best.value[2] * n * (n - 1);
        out->points[i].fitted = n / cost;
    }
    if (usable > TERMS)
        return;
    out->why =
        "3 runs for 3 unknowns: the uncertainty of the fit is not known; add a run";
    clear_errors(&out->rate_1);
    clear_errors(&out->sigma);
    clear_errors(&out->kappa);
}

/* ---- points ---------------------------------------------------------------------- */

static struct roast_scale_point point_of(const roast_summary *summary)
{
    double rate = roast__summary_metric(summary, ROAST_METRIC_total_events) /
                  roast__summary_metric(summary, ROAST_METRIC_wall_time);

    return (struct roast_scale_point){
        .workers = roast__summary_metric(summary, ROAST_METRIC_time_avg_workers),
        .threads = roast__summary_metric(summary, ROAST_METRIC_total_cores),
        .event_rate = isfinite(rate) ? rate : NAN,
        .efficiency = NAN,
        .fitted = NAN,
        .chunk_events = roast__summary_metric(summary, ROAST_METRIC_chunk_events_mean),
    };
}

/* The mean of all runs with these threads. */
static struct roast_scale_point mean_point(const struct roast_scaling *scaling,
                                           double threads)
{
    struct roast_scale_point mean = {.threads = threads};
    double runs = 0;

    for (size_t i = 0; i < scaling->count; i++) {
        const struct roast_scale_point *point = &scaling->points[i];
        if (!is_usable(point) || fabs(point->threads - threads) >= 0.1)
            continue;
        mean.event_rate += point->event_rate;
        mean.workers += point->workers;
        runs++;
    }
    mean.event_rate /= runs;
    mean.workers /= runs;
    mean.efficiency = mean.fitted = mean.chunk_events = NAN;
    return mean;
}

const char *roast_trend_name(enum roast_trend trend)
{
    static const char *const names[] = {"unknown", "grows", "flat", "falls"};

    return names[trend];
}

static void find_trend(struct roast_scaling *out)
{
    static const double noise = 0.05;
    double fewest = INFINITY, most = 0;

    for (size_t i = 0; i < out->count; i++) {
        if (!is_usable(&out->points[i]))
            continue;
        fewest = fmin(fewest, out->points[i].threads);
        most = fmax(most, out->points[i].threads);
    }
    if (most == 0)
        return;
    out->few = out->best = mean_point(out, fewest);
    out->many = mean_point(out, most);
    for (size_t i = 0; i < out->count; i++) {
        const struct roast_scale_point *point = &out->points[i];
        if (!is_usable(point))
            continue;
        struct roast_scale_point mean = mean_point(out, point->threads);
        if (mean.event_rate > out->best.event_rate)
            out->best = mean;
    }
    if (most < fewest + 0.1)
        return;
    if (out->many.event_rate < out->best.event_rate * (1 - noise))
        out->trend = ROAST_TREND_FALLS;
    else if (out->many.event_rate > out->few.event_rate * (1 + noise))
        out->trend = ROAST_TREND_GROWS;
    else
        out->trend = ROAST_TREND_FLAT;
}

/* REFUSED if two runs are of different processors. Runs that do not know theirs may be
 * of any. */
static int check_processors(const struct roast_side *runs, size_t count,
                            roast_error *err)
{
    char first[ROAST_PROCESSOR_BYTES] = "";
    char other[ROAST_PROCESSOR_BYTES];

    for (size_t i = 0; i < count; i++) {
        roast__side_note(other, sizeof(other), &runs[i], ROAST_NOTES_run, "processor");
        if (!*first)
            memcpy(first, other, sizeof(first));
        else if (*other && strcmp(first, other) != 0)
            return roast_error_set(err, ROAST_REFUSED,
                                   "the runs are of different processors, %.80s and "
                                   "%.80s",
                                   first, other);
    }
    return ROAST_OK;
}

int roast_scale(struct roast_scaling *out, const struct roast_side *runs, size_t count,
                bool mix, roast_error *err)
{
    *out = (struct roast_scaling){.best_threads = NAN};
    int status = check_processors(runs, count, mix ? NULL : err);
    bool differ = status < 0;
    if (differ && !mix)
        return status;
    out->points = roast__alloc((count + 1) * sizeof(out->points[0]));
    if (!out->points)
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu runs", count);
    out->count = count;
    for (size_t i = 0; i < count; i++)
        out->points[i] = point_of(runs[i].summary);
    find_trend(out);
    double per_thread = out->few.event_rate / out->few.threads;
    for (size_t i = 0; i < out->count; i++) {
        struct roast_scale_point *point = &out->points[i];
        if (is_usable(point))
            point->efficiency = point->event_rate / point->threads / per_thread;
    }
    fit_law(out);
    /* Rates per event include the fixed cost per chunk. */
    static const double size_ratio = 1.5;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (!is_usable(&out->points[i]))
            continue;
        least = fmin(least, out->points[i].chunk_events);
        most = fmax(most, out->points[i].chunk_events);
    }
    if (differ)
        out->remark = "the processors of the runs differ, which also changes rates";
    else if (most > size_ratio * least)
        out->remark = "the chunk sizes of the runs differ, which also changes rates";
    return ROAST_OK;
}

void roast_scaling_release(struct roast_scaling *scaling)
{
    roast__free(scaling->points);
    *scaling = (struct roast_scaling){.points = NULL};
}
