/* SPDX-License-Identifier: BSD-3-Clause */
/* first_difference.c - the most important difference of two runs, as a sentence.
 *
 * Failures come first, then lost workers: they explain the other differences. Then what
 * the runs differ in: then neither is better. Then a slower machine. Then the slice of
 * the budget that grew most per event, if the sum grew by more than the noise of a shared
 * machine. Then improvements, unless chunks take more CPU time; then measures that grew
 * significantly. */
#include "analyze/compare/first_difference.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "roast/number.h"

/* Thread-seconds per event of two runs of the same code usually differ by less. */
static const double budget_noise = 0.05;

/* Smaller changes are not reported: of several measures one often exceeds its noise. */
static const double measure_noise = 0.01;

__attribute__((format(printf, 2, 3))) static bool put(struct roast_comparison *out,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(out->first, sizeof(out->first), format, args);
    va_end(args);
    return true;
}

static bool put_more_of(struct roast_comparison *out, enum roast_metric metric,
                        const char *what)
{
    const struct roast_compared *row = &out->metrics[metric];

    if (!(row->b > row->a))
        return false;
    return put(out, "First look at %s: %.0f in B, %.0f in A.", what, row->b, row->a);
}

/* Seconds of threads per event in a slice. */
static struct roast_compared per_event(const struct roast_comparison *comparison,
                                       int slice)
{
    const struct roast_compared *events =
        &comparison->metrics[ROAST_METRIC_total_events];
    const struct roast_compared *seconds = &comparison->slices[slice];

    return (struct roast_compared){seconds->a / events->a, seconds->b / events->b, NAN};
}

/* "4.00 ms -> 5.00 ms" */
struct arrow {
    char text[2 * ROAST_NUMBER_BYTES + 8];
};

static struct arrow arrow_of(double a_s, double b_s)
{
    char a[ROAST_NUMBER_BYTES];
    char b[ROAST_NUMBER_BYTES];
    struct arrow arrow;

    (void)roast_format_number(a, a_s, "s");
    (void)roast_format_number(b, b_s, "s");
    (void)snprintf(arrow.text, sizeof(arrow.text), "%s -> %s", a, b);
    return arrow;
}

/* Worker time per event: the sum, and the slices that grew and shrank most. */
struct budget_change {
    double a_s;
    double b_s;
    int worst;
    int best;
};

static struct budget_change budget_change_of(const struct roast_comparison *comparison)
{
    struct budget_change change = {0};
    double most = 0, least = 0;

    for (int i = 0; i < ROAST_COMPARED_SLICES; i++) {
        struct roast_compared slice = per_event(comparison, i);
        double grown = slice.b - slice.a;
        change.a_s += slice.a;
        change.b_s += slice.b;
        if (grown > most) {
            most = grown;
            change.worst = i;
        }
        if (grown < least) {
            least = grown;
            change.best = i;
        }
    }
    return change;
}

/* Whether b exceeds a by more than the noise of a shared machine. */
static bool exceeds_noise(double a, double b)
{
    return a > 0 && b > a * (1 + budget_noise) && isfinite(b);
}

static bool put_slice(struct roast_comparison *out)
{
    struct budget_change change = budget_change_of(out);

    if (!exceeds_noise(change.a_s, change.b_s))
        return false;
    struct roast_compared slice = per_event(out, change.worst);
    return put(out,
               "First look at \"%s\": %s of worker time per event, the largest part of "
               "the increase (%s in total).",
               roast_slice_shown((enum roast_compared_slice)change.worst),
               arrow_of(slice.a, slice.b).text, arrow_of(change.a_s, change.b_s).text);
}

static bool put_better(struct roast_comparison *out)
{
    struct budget_change change = budget_change_of(out);

    if (!exceeds_noise(change.b_s, change.a_s))
        return false;
    struct roast_compared slice = per_event(out, change.best);
    return put(out,
               "B is better: %s of worker time per event; most was gained in \"%s\" "
               "(%s).",
               arrow_of(change.a_s, change.b_s).text,
               roast_slice_shown((enum roast_compared_slice)change.best),
               arrow_of(slice.a, slice.b).text);
}

/* ---- runs that differ in what they did -------------------------------------------- */

static bool differ_in(const struct roast_comparison *comparison,
                      enum roast_difference difference)
{
    return *comparison->differs[difference] != '\0';
}

static bool put_processors(struct roast_comparison *out)
{
    if (!differ_in(out, ROAST_DIFFERS_processor))
        return false;
    return put(out, "The runs are of different processors (%s): neither is better.",
               out->differs[ROAST_DIFFERS_processor]);
}

/* Costs per event are those of chunks of the same datasets; of the whole runs they would
 * be those of another mix. */
static bool put_files(struct roast_comparison *out)
{
    enum roast_measure main = roast_compare_main(out);
    const struct roast_contrast *measure = &out->measures[main];

    if (!differ_in(out, ROAST_DIFFERS_fileset))
        return false;
    if (measure->why)
        return put(out, "The runs read different files: neither is better; %s: %s.",
                   roast_measure_info(main)->shown, measure->why);
    if (measure->change == ROAST_CHANGE_NONE)
        return put(out,
                   "The runs read different files. In chunks of the same datasets, the "
                   "%s does not differ beyond the noise.",
                   roast_measure_info(main)->shown);
    return put(
        out,
        "The runs read different files. In chunks of the same datasets, the %s is "
        "%+.1f %% in B, %+.1f to %+.1f.",
        roast_measure_info(main)->shown, 100 * (measure->ratio - 1),
        100 * (measure->low - 1), 100 * (measure->high - 1));
}

static bool put_size(struct roast_comparison *out)
{
    const struct roast_compared *size = &out->metrics[ROAST_METRIC_chunk_events_mean];
    struct budget_change change = budget_change_of(out);

    if (!differ_in(out, ROAST_DIFFERS_chunksize))
        return false;
    if (!isfinite(change.a_s) || !isfinite(change.b_s))
        return put(
            out, "First look at the chunksize: %.0f events per chunk in B, %.0f in A.",
            size->b, size->a);
    return put(out,
               "First look at the chunksize: %.0f events per chunk in B, %.0f in A; %s "
               "of worker time per event.",
               size->b, size->a, arrow_of(change.a_s, change.b_s).text);
}

bool roast_compare_machine_slower(const struct roast_comparison *comparison)
{
    const struct roast_contrast *inside =
        &comparison->measures[ROAST_MEASURE_cpu_per_event];
    const struct roast_contrast *outside =
        &comparison->measures[ROAST_MEASURE_outside_cpu_per_event];

    return !differ_in(comparison, ROAST_DIFFERS_chunksize) &&
           inside->change == ROAST_CHANGE_MORE &&
           outside->change == ROAST_CHANGE_MORE && outside->ratio > 1 + budget_noise &&
           outside->high >= inside->low && inside->high >= outside->low;
}

static bool put_machine(struct roast_comparison *out)
{
    if (!roast_compare_machine_slower(out))
        return false;
    return put(out,
               "First look at the machine: chunks take %.1f %% more CPU time in "
               "process(), and %.1f %% more outside, where none of your code runs.",
               100 * (out->measures[ROAST_MEASURE_cpu_per_event].ratio - 1),
               100 * (out->measures[ROAST_MEASURE_outside_cpu_per_event].ratio - 1));
}

static const enum roast_measure of_cpu[] = {ROAST_MEASURE_task_cpu_per_event,
                                            ROAST_MEASURE_cpu_per_event};
enum { CPU_MEASURES = sizeof(of_cpu) / sizeof(of_cpu[0]) };

static bool takes_more_cpu(const struct roast_comparison *comparison)
{
    bool more = false;

    for (int i = 0; i < CPU_MEASURES; i++)
        more = more || comparison->measures[of_cpu[i]].change == ROAST_CHANGE_MORE;
    return more;
}

static bool put_less(struct roast_comparison *out)
{
    for (int i = 0; i < CPU_MEASURES; i++) {
        const struct roast_contrast *measure = &out->measures[of_cpu[i]];
        if (measure->change == ROAST_CHANGE_LESS && measure->high < 1 - measure_noise)
            return put(out, "B is better: %s: chunks take %.1f %% less, %.1f to %.1f.",
                       roast_measure_info(of_cpu[i])->shown, 100 * (1 - measure->ratio),
                       100 * (1 - measure->high), 100 * (1 - measure->low));
    }
    return false;
}

static bool put_measure(struct roast_comparison *out)
{
    for (int i = 0; i < ROAST_MEASURE_COUNT; i++) {
        const struct roast_contrast *measure = &out->measures[i];
        if (measure->change == ROAST_CHANGE_MORE && measure->low > 1 + measure_noise)
            return put(out, "First look at %s: chunks take %.1f %% more, %.1f to %.1f.",
                       roast_measure_info((enum roast_measure)i)->shown,
                       100 * (measure->ratio - 1), 100 * (measure->low - 1),
                       100 * (measure->high - 1));
    }
    return false;
}

void roast__compare_first(struct roast_comparison *out)
{
    enum roast_measure main = roast_compare_main(out);
    const struct roast_contrast *measure = &out->measures[main];

    if (put_more_of(out, ROAST_METRIC_num_failed_or_lost,
                    "chunks and files that failed or were lost") ||
        put_more_of(out, ROAST_METRIC_num_lost_workers, "workers that were lost") ||
        put_processors(out) || put_files(out) || put_size(out) || put_machine(out) ||
        put_slice(out) ||
        (!takes_more_cpu(out) && (put_better(out) || put_less(out))) ||
        put_measure(out) || put_better(out))
        return;
    if (measure->why)
        (void)put(out, "Nothing stands out; %s: %s.", roast_measure_info(main)->shown,
                  measure->why);
    else
        (void)put(out, "Nothing got worse beyond the noise of the runs.");
}
