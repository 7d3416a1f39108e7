/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_files.c - the sizes of the input files, as the calls of the Runner read them.
 *
 * A file that two calls read counts as two files of its size, not as one with twice the
 * events. Datasets are separate: only files of one dataset can be merged. */
#include "analyze/calls.h"
#include "analyze/findings/chunksize.h"
#include "analyze/recorded.h"
#include "base/mem.h"
#include "base/sort.h"

/* Classes of file sizes, each 4 % wide: a run may have a million files. */
enum { SIZES = 1024 };

struct dataset_events {
    double per_pass; /* events of one pass over its files */
    double total;
};

struct file_counts {
    const struct roast_summary_context *ctx;
    uint32_t *passes;                /* owned; per source + 1: calls that read it */
    struct dataset_events *datasets; /* owned; per string + 1, the first: no name */
};

/* Counts the calls per source; false when out of memory. */
static bool count_passes(struct file_counts *counts)
{
    const struct roast_attempts *attempts = &counts->ctx->run->attempts;
    struct roast_calls calls = {0};
    struct roast_keyed *keyed = NULL;
    bool done = roast__calls_find(&calls, counts->ctx->run);

    if (!done || calls.count <= 1)
        goto out;
    keyed = roast__keyed_new(attempts->count);
    done = keyed != NULL;
    if (!done)
        goto out;
    int64_t per_source = (int64_t)calls.count + 1;
    size_t count = 0;
    for (size_t row = 0; row < attempts->count; row++) {
        int64_t source = (int64_t)attempts->source[row] + 1;
        if (roast__is_chunk(counts->ctx, row))
            keyed[count++] = (struct roast_keyed){
                source * per_source + calls.of_row[row] + 1, (uint32_t)source};
    }
    roast__keyed_sort(keyed, keyed + attempts->count, count);
    for (size_t i = 0; i < count; i++)
        counts->passes[keyed[i].item] += i == 0 || keyed[i].key != keyed[i - 1].key;
out:
    roast__free(keyed);
    roast__calls_release(&calls);
    return done;
}

static void add_size(struct roast_file_sizes sizes[SIZES], double events, double count)
{
    double number = log(events) * (SIZES / log(0x1p64));
    struct roast_file_sizes *size = &sizes[number < SIZES ? (size_t)number : SIZES - 1];

    size->count += count;
    size->events += (events - size->events) * count / size->count;
}

/* Removes empty classes; returns the number of classes kept. */
static size_t compact(struct roast_file_sizes sizes[SIZES])
{
    size_t count = 0;

    for (size_t i = 0; i < SIZES; i++) {
        if (sizes[i].count > 0)
            sizes[count++] = sizes[i];
    }
    return count;
}

static void add_files(struct roast_chunk_model *model, const struct file_counts *counts)
{
    const struct roast_summary_context *ctx = counts->ctx;
    const struct roast_attempts *attempts = &ctx->run->attempts;

    for (size_t i = 0; i <= attempts->source_count; i++) {
        double passes = counts->passes[i] > 1 ? counts->passes[i] : 1;
        const struct roast_group *group = &ctx->totals->of_source[i];
        double events = (group->sums[ROAST_EVENTS] + group->bare_events) / passes;
        int32_t name = i > 0 ? attempts->sources[i - 1].dataset : ROAST_NO_STRING;
        struct dataset_events *dataset =
            &counts->datasets[name >= 0 ? (size_t)name + 1 : 0];
        if (!(events >= 1))
            continue;
        add_size(model->sizes, events, passes);
        model->files++;
        model->file_passes += passes;
        dataset->per_pass += events;
        dataset->total += events * passes;
    }
    for (size_t i = 0; i <= ctx->run->strings.count; i++) {
        const struct dataset_events *dataset = &counts->datasets[i];
        if (!(dataset->per_pass >= 1))
            continue;
        add_size(model->merged_sizes, dataset->per_pass,
                 dataset->total / dataset->per_pass);
        model->datasets++;
    }
}

bool roast__chunk_model_find_files(struct roast_chunk_model *model,
                                   const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    struct file_counts counts = {.ctx = ctx};

    model->sizes = roast__alloc(SIZES * sizeof(model->sizes[0]));
    model->merged_sizes = roast__alloc(SIZES * sizeof(model->merged_sizes[0]));
    counts.passes =
        roast__alloc((run->attempts.source_count + 1) * sizeof(counts.passes[0]));
    counts.datasets =
        roast__alloc((run->strings.count + 1) * sizeof(counts.datasets[0]));
    bool done = model->sizes && model->merged_sizes && counts.passes &&
                counts.datasets && count_passes(&counts);
    if (done) {
        add_files(model, &counts);
        if (model->files == 0) { /* the files of the chunks are not known */
            add_size(model->sizes, fmax(1, model->events), 1);
            add_size(model->merged_sizes, fmax(1, model->events), 1);
            model->files = model->file_passes = model->datasets = 1;
        }
        model->size_count = compact(model->sizes);
        model->merged_count = compact(model->merged_sizes);
    }
    roast__free(counts.passes);
    roast__free(counts.datasets);
    return done;
}
