/* SPDX-License-Identifier: BSD-3-Clause */
/* forecast.c - the time for more events on other workers, from the costs of chunks.
 *
 *     thread-seconds = chunks x (seconds per chunk + seconds per event x chunksize)
 *     wall           = fixed + preprocessing
 *                      + wall time of the chunks on the threads (wall_time_model.h) / busy share
 *
 * Costs per chunk and per event are separated as for the advice on chunksizes
 * (chunksize.c): by the slices that occur once per chunk, and by a linear fit of the
 * rest. If neither is known, only the same chunk size can be forecast. The range has the
 * spread of the chunks, and for the wall time the tail: none in the best case, the
 * longest chunk last in the worst. Everything else is assumed to be unchanged. */
#include <math.h>

#include "analyze/compare/compare.h"
#include "analyze/findings/wall_time_model.h"
#include "analyze/linear_fit.h"
#include "analyze/summary.h"
#include "base/str.h"

/* Measurements of the chunks. */
struct chunk_sums {
    struct roast_linear_fit all;  /* seconds over events */
    struct roast_linear_fit rest; /* the same without the cost once per chunk */
    double split;                 /* chunks with a known cost once per chunk */
    double longest_s;
    double largest; /* events */
    double first_s; /* start of the first chunk */
    double last_s;
};

/* ---- the chunks ------------------------------------------------------------------ */

/* A column of the chunk, NaN where it is not known. */
static double value_of(const roast_table *chunks, size_t row, int col)
{
    return roast_table_number(chunks, row, col);
}

/* Of the whole attempt, or of process() if that is not known. */
static double either(const roast_table *chunks, size_t row, int attempt, int process)
{
    double number = value_of(chunks, row, attempt);

    return isnan(number) ? value_of(chunks, row, process) : number;
}

/* Seconds of a slice; 0 where it is not known. */
static double slice_s(const roast_table *chunks, size_t row,
                      enum roast_ladder_item slice)
{
    double number = value_of(chunks, row, roast_chunk_item_col(slice));

    return isnan(number) ? 0 : number;
}

/* Seconds that do not depend on the size: slices of the ladder, or all time outside
 * process(); NaN: not known. */
static double once_s(const roast_table *chunks, size_t row)
{
    if (roast_table_known(chunks, row, roast_chunk_item_col(ROAST_ITEM_form)))
        return slice_s(chunks, row, ROAST_ITEM_open) +
               slice_s(chunks, row, ROAST_ITEM_form) +
               slice_s(chunks, row, ROAST_ITEM_result);
    return value_of(chunks, row, ROAST_COL_chunks_task_time) -
           value_of(chunks, row, ROAST_COL_chunks_duration);
}

static void add_chunk(struct chunk_sums *sums, const roast_table *chunks, size_t row)
{
    double events = value_of(chunks, row, ROAST_COL_chunks_num_events);
    double seconds =
        either(chunks, row, ROAST_COL_chunks_task_time, ROAST_COL_chunks_duration);
    double start_s =
        either(chunks, row, ROAST_COL_chunks_task_start, ROAST_COL_chunks_start) / 1e9;

    if (!(events > 0) || isnan(seconds))
        return;
    if (!isnan(start_s)) {
        sums->first_s = fmin(sums->first_s, start_s);
        sums->last_s = fmax(sums->last_s, start_s + seconds);
    }
    seconds -=
        slice_s(chunks, row,
                ROAST_ITEM_import); /* only the first chunks of processes have it */
    double once = once_s(chunks, row);
    bool is_split = once >= 0 && once <= seconds;
    sums->split += is_split;
    roast__fit_add(&sums->all, events, seconds);
    roast__fit_add(&sums->rest, events, is_split ? seconds - once : seconds);
    sums->largest = fmax(sums->largest, events);
    sums->longest_s = fmax(sums->longest_s, seconds);
}

/* ---- what a chunk costs ---------------------------------------------------------- */

struct cost {
    bool of_any_size; /* false: all cost is per chunk, of the measured size */
    double per_chunk_s;
    double per_event_s;
    double chunk_variance; /* of the cost of one chunk */
    double slope_variance;
};

static struct cost cost_of(const struct chunk_sums *sums)
{
    const struct roast_linear_fit *all = &sums->all;
    bool clear = roast__fit_is_clear(&sums->rest);
    struct cost cost = {.of_any_size = clear || sums->split == all->count};

    if (cost.of_any_size)
        cost.per_event_s = roast__fit_each(&sums->rest);
    double b = cost.per_event_s;
    double left = all->yy - 2 * b * all->xy + b * b * all->xx;
    cost.per_chunk_s = all->mean_y - b * all->mean_x;
    cost.chunk_variance = fmax(0, left) / (all->count - (clear ? 2 : 1));
    if (cost.of_any_size)
        cost.slope_variance =
            cost.chunk_variance /
            (clear ? all->xx : all->count * all->mean_x * all->mean_x);
    return cost;
}

/* ---- the run --------------------------------------------------------------------- */

static double metric_of(const struct roast_side *run, enum roast_metric metric)
{
    return roast__summary_metric(run->summary, metric);
}

static double wall_of(const struct roast_side *run, int col)
{
    return roast_table_number(
        roast_summary_table(run->summary, ROAST_TABLE_wall_account), 0, col);
}

/* Seconds of threads in a phase, without those idle in the tail, which does not scale
 * with the number of chunks. */
static double offered_in(const roast_table *phases, const char *phase)
{
    double sum_s = 0;

    for (size_t row = 0; row < roast_table_rows(phases); row++) {
        if (!roast__str_is(
                roast_table_text(phases, row, ROAST_COL_budget_by_phase_phase), phase))
            continue;
        for (int col = ROAST_COL_budget_by_phase_import;
             col <= ROAST_COL_budget_by_phase_unexplained; col++)
            sum_s += roast_table_number(phases, row, col);
        sum_s -= roast_table_number(phases, row, ROAST_COL_budget_by_phase_idle_tail);
    }
    return sum_s;
}

/* The busy share of the threads while chunks ran; without a budget, of all threads. */
static double busy_share_of(const struct roast_side *run, const struct chunk_sums *sums,
                            double phase_s)
{
    const roast_table *phases =
        roast_summary_table(run->summary, ROAST_TABLE_budget_by_phase);
    double offered_s = phases
                           ? offered_in(phases, "chunks") + offered_in(phases, "tail")
                           : metric_of(run, ROAST_METRIC_total_cores) * phase_s;
    double share = sums->all.mean_y * sums->all.count / offered_s;

    if (!(offered_s > 0))
        return NAN;
    return share > 1 ? 1 : share;
}

static double measured_preprocess_s(const struct roast_side *run)
{
    double seconds = wall_of(run, ROAST_COL_wall_account_preprocess);

    return seconds > 0 ? seconds : 0;
}

/* More events are in more files, which the threads open in rounds. */
static double preprocess_s(const struct roast_side *run, const struct chunk_sums *sums,
                           double events, double threads)
{
    const roast_table *table = roast_summary_table(run->summary, ROAST_TABLE_per_file);
    double growth = events / (sums->all.mean_x * sums->all.count);
    double files = (double)roast_table_rows(table);
    double rounds = ceil(files / fmax(1, metric_of(run, ROAST_METRIC_total_cores)));

    if (rounds > 0)
        growth = ceil(files * growth / threads) / rounds;
    return measured_preprocess_s(run) * growth;
}

/* ---- the plan -------------------------------------------------------------------- */

/* So that the same number of events gives the same number of chunks. */
static const double rounding = 1e-9;

static const char *why_not(const struct roast_forecast *forecast,
                           const struct roast_plan *plan, const struct chunk_sums *sums,
                           const struct cost *cost)
{
    if (sums->all.count < ROAST_FEWEST_CHUNKS)
        return "fewer than 8 chunks with events and times";
    if (!(forecast->busy_share > 0) || !(forecast->threads_per_worker > 0))
        return "the number of threads of the run is not known";
    if (isnan(forecast->fixed_s))
        return "the wall time of the run is not known";
    if (plan->chunksize > 0 && !cost->of_any_size)
        return "the chunk sizes are too similar to estimate the cost of another size";
    return NULL;
}

int roast_make_forecast(struct roast_forecast *out, const struct roast_side *run,
                        const struct roast_plan *plan, roast_error *err)
{
    struct chunk_sums sums = {.first_s = INFINITY, .last_s = -INFINITY};
    for (size_t row = 0; row < roast_table_rows(run->chunks); row++)
        add_chunk(&sums, run->chunks, row);
    struct cost cost = cost_of(&sums);
    /* The duration of the chunks phase: from the wall time account, else first to last. */
    double account_s = wall_of(run, ROAST_COL_wall_account_chunks) +
                       wall_of(run, ROAST_COL_wall_account_tail);
    double phase_s = account_s > 0 ? account_s : sums.last_s - sums.first_s;
    double size = plan->chunksize > 0 ? plan->chunksize : sums.all.mean_x;

    *out = (struct roast_forecast){.chunks_seen = (size_t)sums.all.count,
                                   .largest_seen = sums.largest};
    if (!(plan->events >= 1 && plan->workers > 0 && plan->chunksize >= 0) ||
        isinf(plan->events) || isinf(plan->workers) || isinf(plan->chunksize))
        return roast_error_set(err, ROAST_LIMIT, "%g events on %g workers",
                               plan->events, plan->workers);
    double fixed_s =
        metric_of(run, ROAST_METRIC_wall_time) - phase_s - measured_preprocess_s(run);
    out->fixed_s = fixed_s < 0 ? 0 : fixed_s; /* keeps NaN */
    out->busy_share = busy_share_of(run, &sums, phase_s);
    out->threads_per_worker = metric_of(run, ROAST_METRIC_cores_per_worker);
    out->why = why_not(out, plan, &sums, &cost);
    if (out->why)
        return ROAST_OK;
    double threads = fmax(1, plan->workers * out->threads_per_worker);
    out->chunks = ceil(plan->events / size * (1 - rounding));
    out->preprocess_s = preprocess_s(run, &sums, plan->events, threads);
    out->seconds_per_chunk = cost.of_any_size ? cost.per_chunk_s : NAN;
    out->seconds_per_event = cost.of_any_size ? cost.per_event_s : NAN;
    double off = size - sums.all.mean_x;
    double mean_variance =
        cost.chunk_variance / sums.all.count + cost.slope_variance * off * off;
    double chunk_s = cost.per_chunk_s + cost.per_event_s * size;
    double all_s = out->chunks * chunk_s;
    double spread_s = ROAST_SURE_SIGMAS * out->chunks *
                      sqrt(mean_variance + cost.chunk_variance / out->chunks);
    double at_once = fmin(threads, out->chunks);
    double else_s = out->fixed_s + out->preprocess_s;
    double longest_s = roast__longest_chunk_s(
        chunk_s, sqrt(cost.chunk_variance) / sums.all.mean_y, at_once);
    double late_s = (1 - 1 / at_once) * fmax(sums.longest_s, longest_s);
    struct roast_wall_time_model wall = {/* with the idle time between chunks */
                                         .chunks = out->chunks,
                                         .threads = threads,
                                         .mean_s = chunk_s / out->busy_share,
                                         .longest_s = longest_s / out->busy_share};
    out->thread_seconds =
        (struct roast_estimate){all_s, fmax(0, all_s - spread_s), all_s + spread_s};
    double value_s = roast__wall_time_s(&wall);
    double best_s = out->thread_seconds.low / (at_once * out->busy_share);
    double worst_s = (out->thread_seconds.high / at_once + late_s) / out->busy_share;
    out->wall_s = (struct roast_estimate){else_s + value_s, else_s + best_s,
                                          else_s + fmax(value_s, worst_s)};
    return ROAST_OK;
}
