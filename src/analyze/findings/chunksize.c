/* SPDX-License-Identifier: BSD-3-Clause */
/* chunksize.c - how long a run takes with chunks of another size.
 *
 * Opening a file, building events and packing the output are per chunk; reading and
 * computing are per event, unless chunks of different sizes show that a part of them is
 * not. What it takes to hand over a chunk and to merge its output comes on top. */
#include "analyze/findings/chunksize.h"

#include "analyze/budget/budget.h"
#include "analyze/findings/wall_time_model.h"
#include "analyze/linear_fit.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "roast/ladder.h"
#include "run/cold_fields.h"

static const double ALMOST = 1.05;       /* as good as the best */
static const double LEAST_SPREAD = 0.1;  /* chunks are never all alike */
static const double MOST_OF_LIMIT = 0.7; /* of memory, that a chunk may make use of */
static const double USUAL_BYTES = 2e9;   /* what batch systems give to a thread */

struct fitting {
    double chunks; /* with events, and those in them */
    double events;
    double per_chunk_s; /* sum of what does not depend on events, where known */
    double largest;     /* chunk, in events */
    struct roast_linear_fit rest; /* seconds that may depend on them */
    struct roast_linear_fit all;
};

/* ---- chunks ---------------------------------------------------------------------- */

/* Seconds per chunk and seconds of its events; false: not known. */
static bool split_chunk(const struct roast_summary_context *ctx, size_t row,
                        double split[2])
{
    const struct roast_column *columns = ctx->run->attempts.columns;
    const uint64_t wanted = UINT64_C(1) << ROAST_FIELD_ladder;
    struct roast_ladder ladder;
    roast_record rec;

    (void)roast__attempt_fields(ctx->run, row, wanted, &rec);
    if (roast_record_has(&rec, ROAST_FIELD_ladder) &&
        roast_ladder_read(&ladder, rec.values[ROAST_FIELD_ladder].str, NULL) == 0) {
        split[0] = (double)(ladder.values[ROAST_ITEM_open]) / 1e9 +
                   (double)(ladder.values[ROAST_ITEM_form]) / 1e9 +
                   (double)(ladder.values[ROAST_ITEM_result]) / 1e9;
        split[1] = 0;
        for (int i = ROAST_ITEM_fetch; i <= ROAST_ITEM_write; i++)
            split[1] += (double)ladder.values[i] / 1e9;
        return true;
    }
    if (!roast__column_has(&columns[ROAST_COLUMN_task_ns], row) ||
        !roast__column_has(&columns[ROAST_COLUMN_duration_ns], row))
        return false;
    split[1] = (double)columns[ROAST_COLUMN_duration_ns].values[row] / 1e9;
    split[0] = (double)columns[ROAST_COLUMN_task_ns].values[row] / 1e9 - split[1];
    return split[0] >= 0;
}

static void add_chunk(struct fitting *fitting, const struct roast_summary_context *ctx,
                      size_t row)
{
    const struct roast_column *columns = ctx->run->attempts.columns;
    int64_t first = roast__column_get(&columns[ROAST_COLUMN_entry_start], row, 0);
    int64_t stop = roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, 0);
    double events =
        (double)roast__column_get(&columns[ROAST_COLUMN_num_events], row,
                                  stop > first ? roast__sat_sub(stop, first) : 0);
    double split[2];

    if (!(events > 0))
        return;
    fitting->chunks++;
    fitting->events += events;
    fitting->largest = fmax(fitting->largest, events);
    if (!split_chunk(ctx, row, split))
        return;
    fitting->per_chunk_s += split[0];
    roast__fit_add(&fitting->rest, events, split[1]);
    roast__fit_add(&fitting->all, events, split[0] + split[1]);
}

/* ---- the fit --------------------------------------------------------------------- */

/* Spread of chunks around the fit, relative to the mean. */
static double spread_of(const struct roast_linear_fit *line)
{
    return line->mean_y > 0
               ? sqrt(roast__fit_residual(line) / line->count) / line->mean_y
               : 0;
}

/* The chunksize that the Runner was given; NaN: not known. */
static double given_size(const struct roast_run *run)
{
    struct roast_str given = roast__notes_get(&run->notes, ROAST_NOTES_provenance,
                                              roast_str_of("runner.chunksize"));
    double size = 0;

    for (size_t i = 0; i < given.size_bytes; i++) {
        if (given.data[i] < '0' || given.data[i] > '9')
            return NAN;
        size = size * 10 + (given.data[i] - '0');
    }
    return size > 0 && size < 1e15 ? size : NAN;
}

/* Whether a worker has less memory than another one: more threads share the same limit,
 * and without one memory is what is usual for its threads. */
static bool has_less(const struct roast_worker_session *stay,
                     const struct roast_worker_session *than)
{
    uint64_t limit = stay->memory_limit_bytes, other = than->memory_limit_bytes;

    if (limit != other)
        return limit > 0 && (other == 0 || limit < other);
    return limit > 0 ? stay->threads > than->threads : stay->threads < than->threads;
}

/* Waiting while files are asked or outputs are merged is not for chunks. */
static double dispatch_seconds(const struct roast_budget *budget)
{
    if (!budget->schedule.has_scheduler)
        return 0;
    return budget->by_phase[ROAST_PHASE_CHUNKS][ROAST_SLICE_dispatch] +
           budget->by_phase[ROAST_PHASE_TAIL][ROAST_SLICE_dispatch];
}

bool roast__chunk_model_fit(struct roast_chunk_model *model,
                            const struct roast_summary_context *ctx)
{
    struct fitting fitting = {0};

    *model = (struct roast_chunk_model){0};
    if (!ctx->budget || !(ctx->budget->offered_s > 0))
        return true;
    for (size_t row = 0; row < ctx->run->attempts.count; row++) {
        if (roast__is_chunk(ctx, row))
            add_chunk(&fitting, ctx, row);
    }
    if (fitting.rest.count == 0)
        return true;
    const struct roast_budget *budget = ctx->budget;
    double wall_s = roast__seconds_between(budget->start_ns, budget->end_ns);
    double given = given_size(ctx->run);
    double merging_s =
        budget->schedule.has_scheduler ? budget->total[ROAST_SLICE_reduce] : 0;
    model->chunks = fitting.chunks;
    model->events = fitting.events;
    model->dispatch_s = dispatch_seconds(budget);
    model->per_chunk_s = fitting.per_chunk_s / fitting.rest.count +
                         roast__fit_constant(&fitting.rest) +
                         (model->dispatch_s + merging_s) / model->chunks;
    model->per_event_s = roast__fit_each(&fitting.rest);
    model->spread = fmax(LEAST_SPREAD, spread_of(&fitting.all));
    model->threads = fmax(1, budget->offered_s / wall_s);
    model->now_events = isnan(given) ? fitting.largest : given;
    /* The limit and the threads of that worker of a cluster that has the least
     * memory. */
    const struct roast_worker_sessions *stays = &ctx->run->scheduler.sessions;
    const struct roast_worker_session *least = stays->items;
    model->limit_bytes = NAN;
    model->threads_per_worker = 1;
    if (stays->count != 0) {
        for (size_t i = 1; i < stays->count; i++) {
            if (has_less(&stays->items[i], least))
                least = &stays->items[i];
        }
        if (least->memory_limit_bytes > 0)
            model->limit_bytes = (double)least->memory_limit_bytes;
        model->threads_per_worker = fmax(1, (double)least->threads);
    }
    return roast__chunk_model_fit_memory(model, ctx) &&
           roast__chunk_model_find_files(model, ctx);
}

void roast__chunk_model_release(struct roast_chunk_model *model)
{
    roast__free(model->sizes);
    roast__free(model->whole);
    *model = (struct roast_chunk_model){0};
}

/* ---- other sizes ----------------------------------------------------------------- */

/* Chunks of a file: coffea cuts it into equal ones of about the size. */
static double cut(double events, double size)
{
    return fmax(1, nearbyint(events / size));
}

double roast__chunk_model_chunks(const struct roast_chunk_model *model, double size)
{
    double chunks = 0;

    for (size_t i = 0; i < model->size_count; i++)
        chunks += model->sizes[i].count * cut(model->sizes[i].events, size);
    return chunks;
}

static double largest_chunk(const struct roast_chunk_model *model, double size)
{
    double largest = 0;

    for (size_t i = 0; i < model->size_count; i++)
        largest =
            fmax(largest, model->sizes[i].events / cut(model->sizes[i].events, size));
    return largest;
}

double roast__chunk_model_wall(const struct roast_chunk_model *model, double size)
{
    double chunks = roast__chunk_model_chunks(model, size);
    double largest_s =
        model->per_chunk_s + model->per_event_s * largest_chunk(model, size);
    struct roast_wall_time_model wall = {
        .chunks = chunks,
        .threads = model->threads,
        .mean_s = model->per_chunk_s + model->per_event_s * model->events / chunks,
        .longest_s = roast__longest_chunk_s(largest_s, model->spread,
                                            fmin(chunks, model->threads)),
    };

    return roast__wall_time_s(&wall);
}

double roast__chunk_model_bytes(const struct roast_chunk_model *model, double size)
{
    return model->base_bytes + model->per_event_bytes * largest_chunk(model, size);
}

struct roast_chunk_model roast__chunk_model_merged(
    const struct roast_chunk_model *model)
{
    struct roast_chunk_model merged = *model;

    merged.sizes = model->whole;
    merged.size_count = model->whole_count;
    merged.files = model->datasets;
    /* the ends of files limit the chunks of now, whatever the chunksize */
    merged.now_events = largest_chunk(model, model->now_events);
    return merged;
}

/* ---- friendly numbers ------------------------------------------------------------ */

static const double heads[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
enum { HEADS = sizeof(heads) / sizeof(heads[0]), MOST_DIGITS = 15 };

double roast__friendly(double value)
{
    double best = 1, scale = 1;

    for (int digits = 1; scale <= value && digits <= MOST_DIGITS; digits++) {
        for (int i = 0; i < HEADS; i++) {
            double number = heads[i] * scale;
            if (number <= value && number == nearbyint(number))
                best = number;
        }
        scale *= 10;
    }
    return best;
}

/* The smallest friendly number that is no less than a value. */
static double friendly_above(double value)
{
    double below = roast__friendly(value), scale = 1;

    if (below >= value)
        return below;
    while (scale * 10 <= below)
        scale *= 10;
    for (int i = 0; i < HEADS; i++) {
        if (heads[i] * scale >= value)
            return heads[i] * scale;
    }
    return 10 * scale;
}

bool roast__chunk_model_fits(const struct roast_chunk_model *model, double size)
{
    double bytes = roast__chunk_model_bytes(model, size);
    double limit = isnan(model->limit_bytes) ? USUAL_BYTES * model->threads_per_worker
                                             : model->limit_bytes;

    /* a smaller chunk is never too large, whatever else takes memory */
    return size <= model->now_events ||
           (!model->is_memory_short && !(bytes > MOST_OF_LIMIT * limit));
}

static double largest_file(const struct roast_chunk_model *model)
{
    double largest = 1;

    for (size_t i = 0; i < model->size_count; i++)
        largest = fmax(largest, model->sizes[i].events);
    return largest;
}

/* The best of friendly sizes; with a wall time given, the one nearest to now that is no
 * longer. */
static double search(const struct roast_chunk_model *model, double most_wall_s)
{
    double last = 2 * largest_file(model), best = model->now_events;
    double best_rank = INFINITY, scale = 1;

    for (int digits = 1; scale <= last && digits <= MOST_DIGITS; digits++) {
        for (int i = 0; i < HEADS; i++) {
            double size = heads[i] * scale;
            if (size != nearbyint(size) || size > last ||
                !roast__chunk_model_fits(model, size))
                continue;
            double wall_s = roast__chunk_model_wall(model, size);
            double rank = isnan(most_wall_s)      ? wall_s
                          : wall_s <= most_wall_s ? fabs(log(size / model->now_events))
                                                  : INFINITY;
            best = rank < best_rank ? size : best;
            best_rank = fmin(rank, best_rank);
        }
        scale *= 10;
    }
    return best;
}

/* Of sizes that make the same chunks, that which the largest of them has. */
double roast__chunk_model_best(const struct roast_chunk_model *model)
{
    double shortest = roast__chunk_model_wall(model, search(model, NAN));
    double best = search(model, shortest * ALMOST);

    if (best == model->now_events)
        return best;
    double made = friendly_above(largest_chunk(model, best));
    /* Whether every file is cut alike. */
    bool is_as_good = true;
    for (size_t i = 0; i < model->size_count; i++)
        is_as_good = is_as_good && cut(model->sizes[i].events, made) ==
                                       cut(model->sizes[i].events, best);
    return is_as_good && roast__chunk_model_fits(model, made) ? made : best;
}
