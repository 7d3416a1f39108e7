/* SPDX-License-Identifier: BSD-3-Clause */
/* chunksize.c - how long a run takes with another chunksize.
 *
 * Opening a file, building events and packing the output are per chunk; reading and
 * computing are per event, unless chunks of different sizes show that a part of them is
 * not, or other chunks of a file read the same data (read_again.c), which is a cost per
 * border between two of them. Time without a core is no cost of a chunk: it lasts as long
 * as others let it. Sending a task and merging its output are added to the cost per chunk.
 * The first chunks of each process are left out of the fit, unless there are no others. */
#include "analyze/findings/chunksize.h"

#include "analyze/budget/budget.h"
#include "analyze/calls.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/findings/wall_time_model.h"
#include "analyze/linear_fit.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/str.h"
#include "roast/ladder.h"
#include "run/cold_fields.h"

static const double ALMOST = 1.05;       /* times the best wall time counts as best */
static const double LEAST_SPREAD = 0.1;  /* chunks are never all the same */
static const double MOST_OF_LIMIT = 0.7; /* share of the memory limit to plan with */
static const double USUAL_BYTES = 2e9;   /* memory per thread in batch systems */

struct fitting {
    double chunks; /* with events */
    double events;
    double per_chunk_s; /* sum of the seconds known not to depend on events */
    double fixed_s;     /* the same of all chunks, the first ones too */
    double again_s;     /* sum of the seconds of reading that other chunks did, too */
    double largest;     /* chunk, in events */
    bool reads;         /* reading is a part of the time that is worth a look */
    struct roast_branch_list branches; /* of a chunk; owned */
    struct roast_linear_fit variable;  /* seconds that may depend on events */
    struct roast_linear_fit all;
};

/* ---- chunks ---------------------------------------------------------------------- */

/* Seconds for which an attempt had no core outside of process(). */
static double without_core_outside(const roast_record *rec,
                                   const struct roast_ladder *ladder)
{
    double all_ns = (double)ladder->values[ROAST_ITEM_runqueue];
    double inside_ns = roast_record_has(rec, ROAST_FIELD_runqueue_ns)
                           ? (double)rec->values[ROAST_FIELD_runqueue_ns].u64
                           : 0;

    return fmax(0, all_ns - inside_ns) / 1e9;
}

/* Fills the fixed and the variable seconds of a chunk, and those of reading what other
 * chunks read, too; false: not known. */
static bool split_chunk(struct fitting *fitting,
                        const struct roast_summary_context *ctx, size_t row,
                        double split[3])
{
    const struct roast_column *columns = ctx->run->attempts.columns;
    const uint64_t wanted = ROAST_FIELD_BIT(ladder) | ROAST_FIELD_BIT(runqueue_ns) |
                            (fitting->reads ? ROAST_FIELDS_READ_AGAIN : 0);
    struct roast_record_iter iter = {.ctx = ctx, .row = row};
    const roast_record *rec = &iter.rec;
    struct roast_ladder ladder;

    split[2] = 0;
    (void)roast__attempt_fields(ctx->run, row, wanted, &iter.rec);
    if (roast_record_has(rec, ROAST_FIELD_ladder) &&
        roast_ladder_read(&ladder, rec->values[ROAST_FIELD_ladder].str, NULL) == 0) {
        split[0] = (double)ladder.values[ROAST_ITEM_open] / 1e9 +
                   (double)ladder.values[ROAST_ITEM_form] / 1e9 +
                   (double)ladder.values[ROAST_ITEM_result] / 1e9;
        split[0] = fmax(0, split[0] - without_core_outside(rec, &ladder));
        split[1] = 0;
        for (int i = ROAST_ITEM_fetch; i <= ROAST_ITEM_write; i++)
            split[1] += (double)ladder.values[i] / 1e9;
        if (fitting->reads)
            split[2] = roast__read_again_s(&iter, &ladder, &fitting->branches);
        split[1] -= split[2];
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
                      size_t row, bool is_first)
{
    const struct roast_column *columns = ctx->run->attempts.columns;
    int64_t first = roast__column_get(&columns[ROAST_COLUMN_entry_start], row, 0);
    int64_t stop = roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, 0);
    double events =
        (double)roast__column_get(&columns[ROAST_COLUMN_num_events], row,
                                  stop > first ? roast__sat_sub(stop, first) : 0);
    double split[3];

    if (!(events > 0))
        return;
    fitting->chunks++;
    fitting->events += events;
    fitting->largest = fmax(fitting->largest, events);
    if (!split_chunk(fitting, ctx, row, split))
        return;
    fitting->fixed_s += split[0];
    if (is_first)
        return;
    fitting->per_chunk_s += split[0];
    fitting->again_s += split[2];
    roast__fit_add(&fitting->variable, events, split[1]);
    roast__fit_add(&fitting->all, events, split[0] + split[1] + split[2]);
}

int64_t *roast__first_chunk_ends(const struct roast_summary_context *ctx)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    size_t count = attempts->process_count;
    int64_t *starts_ns = roast__alloc(count * sizeof(starts_ns[0]));
    int64_t *ends_ns = roast__alloc(count * sizeof(ends_ns[0]));

    for (size_t i = 0; starts_ns && ends_ns && i < count; i++) {
        starts_ns[i] = INT64_MAX;
        ends_ns[i] = INT64_MIN;
    }
    for (size_t row = 0; starts_ns && ends_ns && row < attempts->count; row++) {
        int32_t process = attempts->process[row];
        int64_t times[2];
        if (!roast__is_chunk(ctx, row) ||
            !roast__attempt_times(attempts, row, &times[0], &times[1]) ||
            times[0] >= starts_ns[process])
            continue;
        starts_ns[process] = times[0];
        ends_ns[process] = times[1];
    }
    if (!starts_ns) {
        roast__free(ends_ns);
        ends_ns = NULL;
    }
    roast__free(starts_ns);
    return ends_ns;
}

/* ---- the fit --------------------------------------------------------------------- */

/* False when out of memory. */
static bool add_chunks(struct fitting *fitting, const struct roast_summary_context *ctx)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    int64_t *ends_ns = roast__first_chunk_ends(ctx);
    bool done = ends_ns != NULL;

    for (int pass = 0; done && pass < 2 && fitting->variable.count == 0; pass++) {
        *fitting =
            (struct fitting){.reads = fitting->reads, .branches = fitting->branches};
        for (size_t row = 0; row < attempts->count; row++) {
            int64_t times[2] = {INT64_MIN, INT64_MIN};
            if (!roast__is_chunk(ctx, row))
                continue;
            (void)roast__attempt_times(attempts, row, &times[0], &times[1]);
            add_chunk(fitting, ctx, row,
                      pass == 0 && times[0] < ends_ns[attempts->process[row]]);
        }
    }
    roast__free(ends_ns);
    roast__free(fitting->branches.all);
    return done;
}

/* The chunksize of the Runner; NaN: not known. */
static double runner_chunksize(const struct roast_run *run)
{
    struct roast_str given = roast__notes_get(&run->notes, ROAST_NOTES_provenance,
                                              roast_str_of("runner.chunksize"));
    int64_t size = 0;

    (void)roast__str_take_int(&given, &size);
    return size > 0 && size < INT64_C(1000000000000000) && !given.data ? (double)size
                                                                       : NAN;
}

/* Whether worker a has less memory than b. With the same limit, more threads share it;
 * without a limit, memory is assumed in proportion to threads. */
static bool has_less_memory(const struct roast_worker_session *a,
                            const struct roast_worker_session *b)
{
    uint64_t limit = a->memory_limit_bytes, other = b->memory_limit_bytes;

    if (limit != other)
        return limit > 0 && (other == 0 || limit < other);
    return limit > 0 ? a->threads > b->threads : a->threads < b->threads;
}

/* coffea splits a file into equal chunks of about the chunksize. */
static double chunks_of_file(double events, double size)
{
    return fmax(1, nearbyint(events / size));
}

double roast__chunk_model_chunks(const struct roast_chunk_model *model, double size)
{
    double chunks = 0;

    for (size_t i = 0; i < model->size_count; i++)
        chunks += model->sizes[i].count * chunks_of_file(model->sizes[i].events, size);
    return chunks;
}

/* Of so many chunks, those inside of files. */
static double borders_of(const struct roast_chunk_model *model, double chunks)
{
    return fmax(0, chunks - roast__chunk_model_chunks(model, INFINITY));
}

double roast__chunk_model_fixed(const struct roast_chunk_model *model, double chunks)
{
    return chunks * model->per_chunk_s +
           borders_of(model, chunks) * model->per_border_s;
}

bool roast__chunk_model_fit(struct roast_chunk_model *model,
                            const struct roast_summary_context *ctx)
{
    const struct roast_budget *budget = ctx->budget;
    struct fitting fitting = {0};

    *model = (struct roast_chunk_model){0};
    if (!budget || !(budget->offered_s > 0))
        return true;
    fitting.reads =
        (budget->total[ROAST_SLICE_fetch] + budget->total[ROAST_SLICE_decompress] +
         budget->total[ROAST_SLICE_interpret]) *
            100 >=
        LIMIT_COST_PERCENT * budget->offered_s;
    if (!add_chunks(&fitting, ctx))
        return false;
    if (fitting.variable.count == 0)
        return true;
    double wall_s = roast__seconds_between(budget->start_ns, budget->end_ns);
    double given = runner_chunksize(ctx->run);
    double merging_s = 0;
    model->chunks = fitting.chunks;
    model->events = fitting.events;
    model->fixed_s = fitting.fixed_s;
    if (budget->schedule.has_scheduler)
        merging_s = budget->total[ROAST_SLICE_reduce];
    /* in other phases no chunks are sent */
    model->dispatch_s = budget->by_phase[ROAST_PHASE_CHUNKS][ROAST_SLICE_dispatch] +
                        budget->by_phase[ROAST_PHASE_TAIL][ROAST_SLICE_dispatch];
    model->per_chunk_s = fitting.per_chunk_s / fitting.variable.count +
                         roast__fit_constant(&fitting.variable) +
                         (model->dispatch_s + merging_s) / model->chunks;
    model->per_event_s = roast__fit_each(&fitting.variable);
    model->spread = LEAST_SPREAD;
    if (fitting.all.mean_y > 0)
        model->spread = fmax(
            LEAST_SPREAD, sqrt(roast__fit_residual(&fitting.all) / fitting.all.count) /
                              fitting.all.mean_y);
    model->threads = fmax(1, budget->offered_s / wall_s);
    model->current_size = isnan(given) ? fitting.largest : given;
    /* the worker with the least memory counts */
    const struct roast_worker_sessions *sessions = &ctx->run->scheduler.sessions;
    const struct roast_worker_session *least = sessions->items;
    model->limit_bytes = NAN;
    model->threads_per_worker = 1;
    if (sessions->count != 0) {
        for (size_t i = 1; i < sessions->count; i++) {
            if (has_less_memory(&sessions->items[i], least))
                least = &sessions->items[i];
        }
        if (least->memory_limit_bytes > 0)
            model->limit_bytes = (double)least->memory_limit_bytes;
        model->threads_per_worker = fmax(1, (double)least->threads);
    }
    if (!roast__chunk_model_fit_memory(model, ctx) ||
        !roast__chunk_model_find_files(model, ctx))
        return false;
    double again_s = fitting.again_s / fitting.variable.count * model->chunks;
    double borders = borders_of(model, model->chunks);
    model->per_border_s = borders > 0 ? fmax(0, again_s / borders) : 0;
    return true;
}

void roast__chunk_model_release(struct roast_chunk_model *model)
{
    roast__free(model->sizes);
    roast__free(model->merged_sizes);
    *model = (struct roast_chunk_model){0};
}

/* ---- other sizes ----------------------------------------------------------------- */

static double largest_chunk(const struct roast_chunk_model *model, double size)
{
    double largest = 0;

    for (size_t i = 0; i < model->size_count; i++)
        largest = fmax(largest, model->sizes[i].events /
                                    chunks_of_file(model->sizes[i].events, size));
    return largest;
}

double roast__chunk_model_wall(const struct roast_chunk_model *model, double size)
{
    double chunks = roast__chunk_model_chunks(model, size);
    double fixed_s = roast__chunk_model_fixed(model, chunks) / chunks;
    double largest_s = fixed_s + model->per_event_s * largest_chunk(model, size);
    struct roast_wall_time_model wall = {
        .chunks = chunks,
        .threads = model->threads,
        .mean_s = fixed_s + model->per_event_s * model->events / chunks,
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

    merged.sizes = model->merged_sizes;
    merged.size_count = model->merged_count;
    merged.files = model->datasets;
    /* small files limit the current chunks below the chunksize */
    merged.current_size = largest_chunk(model, model->current_size);
    return merged;
}

/* ---- round numbers --------------------------------------------------------------- */

static const double heads[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
enum { HEADS = sizeof(heads) / sizeof(heads[0]), MOST_DIGITS = 15 };

double roast__round_size(double value)
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

/* The smallest round number that is not below a value. */
static double round_size_up(double value)
{
    double below = roast__round_size(value), scale = 1;

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

    /* a smaller chunksize always fits */
    return size <= model->current_size ||
           (!model->is_memory_short && !(bytes > MOST_OF_LIMIT * limit));
}

/* The round size with the shortest wall time; with a limit of the wall time, the size
 * closest to the current one within that limit. */
static double search(const struct roast_chunk_model *model, double most_wall_s)
{
    double largest_file = 1, best = model->current_size;
    double best_rank = INFINITY, scale = 1;

    for (size_t i = 0; i < model->size_count; i++)
        largest_file = fmax(largest_file, model->sizes[i].events);
    double last = 2 * largest_file;
    for (int digits = 1; scale <= last && digits <= MOST_DIGITS; digits++) {
        for (int i = 0; i < HEADS; i++) {
            double size = heads[i] * scale;
            if (size != nearbyint(size) || size > last ||
                !roast__chunk_model_fits(model, size))
                continue;
            double wall_s = roast__chunk_model_wall(model, size);
            double rank = isnan(most_wall_s) ? wall_s
                          : wall_s <= most_wall_s
                              ? fabs(log(size / model->current_size))
                              : INFINITY;
            best = rank < best_rank ? size : best;
            best_rank = fmin(rank, best_rank);
        }
        scale *= 10;
    }
    return best;
}

double roast__chunk_model_best(const struct roast_chunk_model *model)
{
    double shortest = roast__chunk_model_wall(model, search(model, NAN));
    double best = search(model, shortest * ALMOST);

    if (best == model->current_size)
        return best;
    /* a smaller size that splits every file in the same way is closer to the chunks */
    double tight = round_size_up(largest_chunk(model, best));
    bool is_as_good = roast__chunk_model_fits(model, tight);
    for (size_t i = 0; i < model->size_count; i++) {
        double events = model->sizes[i].events;
        is_as_good &= chunks_of_file(events, tight) == chunks_of_file(events, best);
    }
    return is_as_good ? tight : best;
}
