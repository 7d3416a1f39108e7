/* SPDX-License-Identifier: BSD-3-Clause */
/* chunksize.c - how long a run takes with chunks of another size.
 *
 * Opening a file, building events and packing the output are per chunk; reading and
 * computing are per event, unless chunks of different sizes show that a part of them is
 * not. What it takes to hand over a chunk and to merge its output comes on top. */
#include "aggregate/chunksize.h"

#include <stdlib.h>

#include "aggregate/budget.h"
#include "aggregate/timeline.h"
#include "base/mem.h"
#include "roast/ladder.h"
#include "store/rest.h"

enum {
    FEWEST_TO_FIT = 8,
    WAVES_COUNTED = 4, /* with more of them it does not matter that they are whole */
};

static const double LEAST_VARIATION = 0.05; /* of sizes, for a fit; squared, relative */
static const double LEAST_R2 = 0.5;
static const double ALMOST = 1.05;       /* as good as the best */
static const double LEAST_SPREAD = 0.1;  /* chunks are never all alike */
static const double MOST_OF_LIMIT = 0.7; /* of memory, that a chunk may make use of */
static const double USUAL_BYTES = 2e9;   /* what batch systems give to a thread */

/* Sums over chunks for a straight line through (events, seconds). */
struct line {
    double count;
    double x, y, xx, xy, yy;
};

struct fitting {
    double per_chunk_s; /* sum of what does not depend on events */
    double largest;     /* chunk, in events */
    struct line rest;   /* seconds that may depend on them */
    struct line all;
    double before_bytes;
    struct line memory; /* bytes that its process took meanwhile */
};

/* ---- chunks ---------------------------------------------------------------------- */

static void line_add(struct line *line, double x, double y)
{
    line->count++;
    line->x += x;
    line->y += y;
    line->xx += x * x;
    line->xy += x * y;
    line->yy += y * y;
}

/* Seconds that belong to the chunk and to its events; false: nobody knows. */
static bool split_chunk(const struct roast_study *study, size_t row, double split[2])
{
    const struct roast_column *columns = study->run->attempts.columns;
    const uint64_t wanted = UINT64_C(1) << ROAST_FIELD_ladder;
    struct roast_ladder ladder;
    roast_record rec;

    (void)roast__attempt_fields(study->run, row, wanted, &rec);
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

static double events_of(const struct roast_attempts *attempts, size_t row)
{
    const struct roast_column *columns = attempts->columns;
    int64_t first = roast__column_get(&columns[ROAST_COLUMN_entry_start], row, 0);
    int64_t stop = roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, 0);

    return (double)roast__column_get(&columns[ROAST_COLUMN_num_events], row,
                                     stop > first ? roast__sat_sub(stop, first) : 0);
}

static void add_memory(struct fitting *fitting, const struct roast_attempts *attempts,
                       size_t row, double events)
{
    const struct roast_column *columns = attempts->columns;
    double before =
        (double)roast__column_get(&columns[ROAST_COLUMN_rss_before_bytes], row, 0);
    double peak =
        (double)roast__column_get(&columns[ROAST_COLUMN_rss_peak_bytes], row, 0);

    if (!(before > 0) || !(peak > 0))
        return;
    fitting->before_bytes += before;
    line_add(&fitting->memory, events, peak > before ? peak - before : 0);
}

static void add_chunk(struct fitting *fitting, const struct roast_study *study,
                      size_t row)
{
    double events = events_of(&study->run->attempts, row);
    double split[2];

    if (!(events > 0) || !split_chunk(study, row, split))
        return;
    fitting->per_chunk_s += split[0];
    fitting->largest = fmax(fitting->largest, events);
    line_add(&fitting->rest, events, split[1]);
    line_add(&fitting->all, events, split[0] + split[1]);
    add_memory(fitting, &study->run->attempts, row, events);
}

/* ---- the fit --------------------------------------------------------------------- */

/* The part of the mean that does not depend on x; 0 unless the values show it. */
static double constant_of(const struct line *line)
{
    double n = line->count, mean_x = line->x / n, mean_y = line->y / n;
    double var_x = line->xx / n - mean_x * mean_x;
    double var_y = line->yy / n - mean_y * mean_y;
    double both = line->xy / n - mean_x * mean_y;

    if (n < FEWEST_TO_FIT || !(var_x > LEAST_VARIATION * mean_x * mean_x) ||
        !(both > 0) || !(both * both > LEAST_R2 * var_x * var_y))
        return 0;
    return fmax(0, mean_y - both / var_x * mean_x);
}

/* How far chunks are off what their events say, relative to the mean. */
static double spread_of(const struct line *line)
{
    double n = line->count, mean_x = line->x / n, mean_y = line->y / n;
    double var_x = line->xx / n - mean_x * mean_x;
    double var_y = fmax(0, line->yy / n - mean_y * mean_y);
    double both = line->xy / n - mean_x * mean_y;
    double explained = var_x > 0 ? both * both / var_x : 0;

    return mean_y > 0 ? sqrt(fmax(0, var_y - explained)) / mean_y : 0;
}

/* The chunksize that the Runner was given; NaN: nobody told. */
static double told_size(const struct roast_run *run)
{
    struct roast_str told = roast__notes_get(&run->notes, ROAST_NOTES_provenance,
                                             roast_str_of("runner.chunksize"));
    double size = 0;

    for (size_t i = 0; i < told.size_bytes; i++) {
        if (told.data[i] < '0' || told.data[i] > '9')
            return NAN;
        size = size * 10 + (told.data[i] - '0');
    }
    return size > 0 && size < 1e15 ? size : NAN;
}

/* The smallest limit, and the threads, of workers of a cluster. */
static void find_workers(struct roast_chunk_model *model, const struct roast_run *run)
{
    const struct roast_stays *stays = &run->scheduler.stays;

    model->limit_bytes = NAN;
    model->threads_per_worker = 1;
    for (size_t i = 0; i < stays->count; i++) {
        const struct roast_stay *stay = &stays->items[i];
        if (stay->memory_limit_bytes > 0)
            model->limit_bytes =
                fmin(model->limit_bytes, (double)stay->memory_limit_bytes);
        model->threads_per_worker =
            fmax(model->threads_per_worker, (double)stay->threads);
    }
}

/* Files are put together with those of almost their size: a run may have a million. */
enum { SIZES = 1024 };

static size_t size_class(double events)
{
    double number = log(events) * (SIZES / log(0x1p64)); /* each 4 % wide */

    return number < SIZES ? (size_t)number : SIZES - 1;
}

static bool find_files(struct roast_chunk_model *model, const struct roast_study *study)
{
    const struct roast_totals *totals = study->totals;

    model->sizes = roast__alloc(SIZES * sizeof(model->sizes[0]));
    if (!model->sizes)
        return false;
    for (size_t i = 0; i <= study->run->attempts.source_count; i++) {
        double events = totals->of_source[i].sums[ROAST_EVENTS];
        if (!(events >= 1))
            continue;
        struct roast_file_sizes *own = &model->sizes[size_class(events)];
        own->events = (own->events * own->count + events) / (own->count + 1);
        own->count++;
        model->files++;
    }
    for (size_t i = 0; i < SIZES; i++) {
        if (model->sizes[i].count > 0)
            model->sizes[model->size_count++] = model->sizes[i];
    }
    return true;
}

/* Memory is that of processes: what other threads of one took meanwhile is in it. */
static void settle_memory(struct roast_chunk_model *model,
                          const struct fitting *fitting)
{
    const struct line *memory = &fitting->memory;
    double constant = memory->count > 0 ? constant_of(memory) : NAN;

    model->base_bytes = fitting->before_bytes / memory->count + constant;
    model->per_event_bytes = (memory->y - memory->count * constant) / memory->x;
}

static void settle(struct roast_chunk_model *model, const struct fitting *fitting,
                   const struct roast_study *study)
{
    const struct roast_budget *budget = study->budget;
    double wall_s = roast__seconds_between(budget->start_ns, budget->end_ns);
    double n = fitting->rest.count, told = told_size(study->run);
    double constant_s = constant_of(&fitting->rest);
    double handling_s = 0;

    if (budget->schedule.has_scheduler)
        handling_s =
            budget->total[ROAST_SLICE_dispatch] + budget->total[ROAST_SLICE_reduce];
    model->chunks = n;
    model->events = fitting->rest.x;
    model->per_chunk_s = (fitting->per_chunk_s + handling_s) / n + constant_s;
    model->per_event_s = (fitting->rest.y - n * constant_s) / fitting->rest.x;
    model->spread = fmax(LEAST_SPREAD, spread_of(&fitting->all));
    model->threads = fmax(1, budget->offered_s / wall_s);
    model->now_events = isnan(told) ? fitting->largest : told;
    settle_memory(model, fitting);
    find_workers(model, study->run);
}

bool roast__chunk_model_fit(struct roast_chunk_model *model,
                            const struct roast_study *study)
{
    struct fitting fitting = {0};

    *model = (struct roast_chunk_model){0};
    if (!study->budget || !(study->budget->offered_s > 0))
        return true;
    for (size_t row = 0; row < study->run->attempts.count; row++) {
        unsigned role = study->totals->roles.of_row[row];
        if (role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE)
            add_chunk(&fitting, study, row);
    }
    if (fitting.rest.count == 0)
        return true;
    settle(model, &fitting, study);
    if (!find_files(model, study))
        return false;
    if (model->size_count == 0) { /* nobody told of which file the chunks are */
        model->sizes[model->size_count++] = (struct roast_file_sizes){1, model->events};
        model->files = 1;
    }
    return true;
}

void roast__chunk_model_release(struct roast_chunk_model *model)
{
    roast__free(model->sizes);
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
    double work_s = model->per_chunk_s * chunks + model->per_event_s * model->events;
    double threads = model->threads;
    double together = fmin(chunks, threads);
    double longest_s =
        model->per_chunk_s + model->per_event_s * largest_chunk(model, size);

    /* of many that vary, the last one is late */
    longest_s *= 1 + model->spread * sqrt(2 * log(fmax(1, together)));
    if (chunks <= threads)
        return longest_s;
    double wall_s = work_s / threads + longest_s * (1 - 1 / threads) / 2;
    if (chunks < WAVES_COUNTED * threads)
        wall_s = fmax(wall_s, ceil(chunks / threads) * work_s / chunks);
    return wall_s;
}

double roast__chunk_model_bytes(const struct roast_chunk_model *model, double size)
{
    return model->base_bytes + model->per_event_bytes * largest_chunk(model, size);
}

struct roast_chunk_model roast__chunk_model_merged(
    const struct roast_chunk_model *model, struct roast_file_sizes *room)
{
    struct roast_chunk_model merged = *model;

    *room = (struct roast_file_sizes){1, model->events};
    merged.sizes = room;
    merged.size_count = 1;
    merged.files = 1;
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

bool roast__chunk_model_fits(const struct roast_chunk_model *model, double size)
{
    double bytes = roast__chunk_model_bytes(model, size);
    double limit = isnan(model->limit_bytes) ? USUAL_BYTES * model->threads_per_worker
                                             : model->limit_bytes;

    /* a smaller chunk is never too large, whatever else takes memory */
    return size <= model->now_events || !(bytes > MOST_OF_LIMIT * limit);
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

double roast__chunk_model_best(const struct roast_chunk_model *model)
{
    double shortest = roast__chunk_model_wall(model, search(model, NAN));

    return search(model, shortest * ALMOST);
}
