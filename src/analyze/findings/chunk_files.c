/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_files.c - the files that chunks are cut from, as calls of the Runner saw them.
 *
 * A file that two calls went over is two files of its size, not one of twice as many
 * events. Datasets are kept apart: only files of one dataset can be merged. */
#include "analyze/calls.h"
#include "analyze/findings/chunksize.h"
#include "analyze/recorded.h"
#include "base/mem.h"
#include "base/sort.h"

/* Files are put together with those of almost their size: a run may have a million. */
enum { SIZES = 1024 };

struct dataset {
    double once; /* events of one pass over its files */
    double all;
};

struct counting {
    const struct roast_summary_context *ctx;
    uint32_t *passes;         /* owned; per source + 1: calls that went over it */
    struct dataset *datasets; /* owned; per text + 1, the first: of no name */
};

/* ---- passes ---------------------------------------------------------------------- */

/* Every source of a chunk with its call; false when out of memory. */
static bool count_passes(struct counting *counting, const struct roast_calls *calls)
{
    const struct roast_attempts *attempts = &counting->ctx->run->attempts;
    int64_t per_source = (int64_t)calls->count + 1;
    struct roast_keyed *keyed = roast__keyed_new(attempts->count);
    size_t count = 0;

    for (size_t row = 0; keyed && row < attempts->count; row++) {
        int64_t source = (int64_t)attempts->source[row] + 1;
        if (roast__is_chunk(counting->ctx, row))
            keyed[count++] = (struct roast_keyed){
                source * per_source + calls->of_row[row] + 1, (uint32_t)source};
    }
    if (!keyed)
        return false;
    roast__keyed_sort(keyed, keyed + attempts->count, count);
    for (size_t i = 0; i < count; i++)
        counting->passes[keyed[i].item] += i == 0 || keyed[i].key != keyed[i - 1].key;
    roast__free(keyed);
    return true;
}

static bool find_passes(struct counting *counting)
{
    struct roast_calls calls = {0};
    bool found = roast__calls_find(&calls, counting->ctx->run);

    if (found && calls.count > 1)
        found = count_passes(counting, &calls);
    roast__calls_release(&calls);
    return found;
}

/* ---- sizes ----------------------------------------------------------------------- */

static size_t size_class(double events)
{
    double number = log(events) * (SIZES / log(0x1p64)); /* each 4 % wide */

    return number < SIZES ? (size_t)number : SIZES - 1;
}

static void add_size(struct roast_file_sizes sizes[SIZES], double events, double count)
{
    struct roast_file_sizes *own = &sizes[size_class(events)];

    own->count += count;
    own->events += (events - own->events) * count / own->count;
}

/* Puts those that there are one behind the other; how many. */
static size_t close_ranks(struct roast_file_sizes sizes[SIZES])
{
    size_t count = 0;

    for (size_t i = 0; i < SIZES; i++) {
        if (sizes[i].count > 0)
            sizes[count++] = sizes[i];
    }
    return count;
}

static void add_files(struct roast_chunk_model *model, const struct counting *counting)
{
    const struct roast_summary_context *ctx = counting->ctx;

    for (size_t i = 0; i <= ctx->run->attempts.source_count; i++) {
        double passes = counting->passes[i] > 1 ? counting->passes[i] : 1;
        const struct roast_group *group = &ctx->totals->of_source[i];
        double events = (group->sums[ROAST_EVENTS] + group->bare_events) / passes;
        const struct roast_source *sources = counting->ctx->run->attempts.sources;
        int32_t name = i > 0 ? sources[i - 1].dataset : ROAST_NO_STRING;
        struct dataset *dataset = &counting->datasets[name >= 0 ? (size_t)name + 1 : 0];
        if (!(events >= 1))
            continue;
        add_size(model->sizes, events, passes);
        model->files++;
        model->opened += passes;
        dataset->once += events;
        dataset->all += events * passes;
    }
    for (size_t i = 0; i <= ctx->run->strings.count; i++) {
        const struct dataset *dataset = &counting->datasets[i];
        if (!(dataset->once >= 1))
            continue;
        add_size(model->whole, dataset->once, dataset->all / dataset->once);
        model->datasets++;
    }
}

bool roast__chunk_model_find_files(struct roast_chunk_model *model,
                                   const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    struct counting counting = {.ctx = ctx};

    model->sizes = roast__alloc(SIZES * sizeof(model->sizes[0]));
    model->whole = roast__alloc(SIZES * sizeof(model->whole[0]));
    counting.passes =
        roast__alloc((run->attempts.source_count + 1) * sizeof(counting.passes[0]));
    counting.datasets =
        roast__alloc((run->strings.count + 1) * sizeof(counting.datasets[0]));
    bool found = model->sizes && model->whole && counting.passes && counting.datasets &&
                 find_passes(&counting);
    if (found) {
        add_files(model, &counting);
        if (model->files == 0) { /* the files of the chunks are not known */
            add_size(model->sizes, fmax(1, model->events), 1);
            add_size(model->whole, fmax(1, model->events), 1);
            model->files = model->opened = model->datasets = 1;
        }
        model->size_count = close_ranks(model->sizes);
        model->whole_count = close_ranks(model->whole);
    }
    roast__free(counting.passes);
    roast__free(counting.datasets);
    return found;
}
