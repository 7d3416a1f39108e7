/* SPDX-License-Identifier: BSD-3-Clause */
/* forecast.c - what more events on other workers would take, from what chunks took.
 *
 *     thread-seconds = chunks x (seconds per chunk + seconds per event x chunksize)
 *     wall           = fixed + thread-seconds / (threads x busy share) + half a chunk
 *
 * Cost per chunk and per event are told apart by a straight line through the chunks,
 * which needs chunks of different sizes; else only the same size can be foretold. The
 * interval holds the spread of the chunks, and of the wall time its tail too: none in the
 * best case, the longest chunk begun last in the worst. */
#include <math.h>

#include "aggregate/compare.h"

/* Sizes that differ by less give no line. */
static const double least_spread = 0.05;

/* A straight line through (events, seconds) of the chunks. */
struct line {
    double count;
    double size_mean;
    double mean_s;
    double sizes;   /* sum of squares about the mean */
    double product; /* of both */
    double squares; /* of the seconds about their mean */
    double longest_s;
    double largest; /* events */
    double first_s; /* on the clock of the run */
    double last_s;
    bool has_slope;
    double per_chunk_s;
    double per_event_s;
};

/* ---- the chunks ------------------------------------------------------------------ */

/* Of the whole attempt, of process() where that is not known. */
static double either(const struct roast_data *whole, const struct roast_data *inside,
                     size_t row)
{
    double number = roast__data_number(whole, row);

    return isnan(number) ? roast__data_number(inside, row) : number;
}

/* Means are followed as they change: sums of squares of long runs would lose digits. */
static void add_chunk(struct line *line, double size, double seconds, double start_s)
{
    line->count++;
    double size_off = size - line->size_mean;
    double off = seconds - line->mean_s;
    line->size_mean += size_off / line->count;
    line->mean_s += off / line->count;
    line->sizes += size_off * (size - line->size_mean);
    line->squares += off * (seconds - line->mean_s);
    line->product += size_off * (seconds - line->mean_s);
    line->largest = fmax(line->largest, size);
    line->longest_s = fmax(line->longest_s, seconds);
    if (!isnan(start_s)) {
        line->first_s = fmin(line->first_s, start_s);
        line->last_s = fmax(line->last_s, start_s + seconds);
    }
}

static struct line line_of(const roast_columns *chunks)
{
    const struct roast_data *events = roast_columns_find(chunks, "num_events");
    const struct roast_data *task_time = roast_columns_find(chunks, "task_time");
    const struct roast_data *duration = roast_columns_find(chunks, "duration");
    const struct roast_data *task_start = roast_columns_find(chunks, "task_start");
    const struct roast_data *start = roast_columns_find(chunks, "start");
    struct line line = {.first_s = INFINITY, .last_s = -INFINITY};

    for (size_t row = 0; row < roast_columns_rows(chunks); row++) {
        double size = roast__data_number(events, row);
        double seconds = either(task_time, duration, row);
        if (!isnan(size) && !isnan(seconds))
            add_chunk(&line, size, seconds, either(task_start, start, row) / 1e9);
    }
    double spread = sqrt(line.sizes / line.count) / line.size_mean;
    line.per_event_s = line.product / line.sizes;
    line.per_chunk_s = line.mean_s - line.per_event_s * line.size_mean;
    line.has_slope = spread >= least_spread && line.per_event_s >= 0;
    if (line.has_slope && line.per_chunk_s < 0) { /* noise: then all is per event */
        line.per_chunk_s = 0;
        line.per_event_s = line.mean_s / line.size_mean;
    }
    return line;
}

/* Seconds of a chunk of this size, and the variance of that mean and of one chunk. */
struct cost {
    double seconds;
    double mean_variance;
    double chunk_variance;
};

static struct cost cost_of(const struct line *line, double size)
{
    double off = size - line->size_mean;
    double left = line->squares;
    struct cost cost = {.seconds = line->mean_s};

    if (line->has_slope) {
        cost.seconds = line->per_chunk_s + line->per_event_s * size;
        left -= line->product * line->product / line->sizes;
    }
    cost.chunk_variance = fmax(0, left) / (line->count - (line->has_slope ? 2 : 1));
    cost.mean_variance = cost.chunk_variance / line->count;
    if (line->has_slope)
        cost.mean_variance += cost.chunk_variance * off * off / line->sizes;
    return cost;
}

/* ---- the run --------------------------------------------------------------------- */

static double metric_of(const struct roast_side *run, enum roast_metric metric)
{
    const struct roast_metric_values *values = roast_summary_metrics(run->summary);

    return values->known[metric] ? values->value[metric] : NAN;
}

static double cell_of(const struct roast_side *run, const char *name,
                      const char *column)
{
    const struct roast_table *table = roast_summary_table(run->summary, name);

    for (size_t i = 0; table && table->row_count > 0 && i < table->column_count; i++)
        if (strcmp(table->columns[i], column) == 0 &&
            table->cells[i].type == ROAST_CELL_NUMBER)
            return table->cells[i].number;
    return NAN;
}

/* How long chunks ran: by the account of the wall time, else from first to last. */
static double chunk_phase_s(const struct roast_side *run, const struct line *line)
{
    double account_s =
        cell_of(run, "wall_account", "chunks") + cell_of(run, "wall_account", "tail");

    return account_s > 0 ? account_s : line->last_s - line->first_s;
}

/* Threads that wait for the last chunks are no sign of what many chunks would do. */
static double busy_share_of(const struct roast_side *run, const struct line *line,
                            double phase_s)
{
    double tail_s = cell_of(run, "budget", "idle_tail");
    double offered_s = metric_of(run, ROAST_METRIC_total_cores) * phase_s -
                       (isnan(tail_s) ? 0 : tail_s);

    double share = line->mean_s * line->count / offered_s;
    return share > 1 ? 1 : share; /* NaN stays */
}

static void foretell(struct roast_forecast *out, const struct roast_plan *plan,
                     const struct line *line, double size)
{
    struct cost cost = cost_of(line, size);
    double chunks = out->chunks;
    double threads = fmax(1, plan->workers * out->threads_per_worker);
    double spread = ROAST_SURE_SIGMAS * chunks *
                    sqrt(cost.mean_variance + cost.chunk_variance / chunks);
    double all = chunks * cost.seconds;
    double at_once = fmin(threads, chunks) * out->busy_share;
    double tail = 1 - 1 / fmin(threads, chunks);

    out->thread_seconds =
        (struct roast_estimate){all, fmax(0, all - spread), all + spread};
    out->wall_s = (struct roast_estimate){
        out->fixed_s + all / at_once + tail * cost.seconds / 2,
        out->fixed_s + out->thread_seconds.low / at_once,
        out->fixed_s + out->thread_seconds.high / at_once +
            tail * fmax(line->longest_s, cost.seconds),
    };
}

static const char *why_not(const struct roast_forecast *forecast,
                           const struct roast_plan *plan, const struct line *line)
{
    if (line->count < ROAST_FEWEST_CHUNKS)
        return "fewer than 8 chunks with events and times: nobody can tell";
    if (!(forecast->busy_share > 0))
        return "the threads that the run had are not known";
    if (plan->chunksize > 0 && !line->has_slope)
        return "all chunks are of one size: what others cost is not known";
    return NULL;
}

int roast_make_forecast(struct roast_forecast *out, const struct roast_side *run,
                        const struct roast_plan *plan, roast_error *err)
{
    struct line line = line_of(run->chunks);
    double phase_s = chunk_phase_s(run, &line);
    double per_worker = metric_of(run, ROAST_METRIC_cores_per_worker);
    double size = plan->chunksize > 0 ? plan->chunksize : line.size_mean;

    *out = (struct roast_forecast){.chunks_seen = (size_t)line.count,
                                   .largest_seen = line.largest};
    if (!(plan->events >= 1 && plan->workers > 0 && plan->chunksize >= 0) ||
        isinf(plan->events) || isinf(plan->workers) || isinf(plan->chunksize))
        return roast_error_set(err, ROAST_LIMIT, "%g events on %g workers",
                               plan->events, plan->workers);
    out->busy_share = busy_share_of(run, &line, phase_s);
    out->why = why_not(out, plan, &line);
    if (out->why)
        return ROAST_OK;
    out->threads_per_worker = per_worker > 0 ? per_worker : 1;
    out->chunks = ceil(plan->events / size);
    out->fixed_s = fmax(0, metric_of(run, ROAST_METRIC_wall_time) - phase_s);
    out->seconds_per_chunk = line.has_slope ? line.per_chunk_s : NAN;
    out->seconds_per_event = line.has_slope ? line.per_event_s : NAN;
    foretell(out, plan, &line, size);
    return ROAST_OK;
}
