/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_chunks.c - rules about how the work is split: chunks, files, tasks, threads.
 *
 * Every suggested chunksize comes from the same wall-time model (chunksize.c). */
#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "base/str.h"

/* The slices of what the model counts as the fixed cost of a chunk. */
static void add_cost_per_chunk(const struct roast_rule_input *input,
                               struct roast_finding *finding)
{
    roast__add_cost(input, finding, ROAST_SLICE_open);
    roast__add_cost(input, finding, ROAST_SLICE_form);
    roast__add_cost(input, finding, ROAST_SLICE_result);
    if (!input->on_cluster)
        return;
    roast__add_cost(input, finding, ROAST_SLICE_dispatch);
    roast__add_cost(input, finding, ROAST_SLICE_reduce);
}

/* Whether the fixed cost is a large part of a chunk. */
static bool is_fixed_cost_large(const struct roast_chunk_model *model)
{
    double per_events_s = model->per_event_s * model->events / model->chunks;

    return model->chunks > 0 &&
           model->per_chunk_s * 100 >
               LIMIT_PER_CHUNK_PERCENT * (model->per_chunk_s + per_events_s);
}

static void set_chunk_costs(const struct roast_rule_input *input,
                            struct roast_finding *finding)
{
    double events = input->model.events / input->model.chunks;

    roast__set_number(finding, "per_chunk", input->model.per_chunk_s, "s");
    roast__set_number(finding, "per_events", input->model.per_event_s * events, "s");
    roast__set_integer(finding, "events", events);
}

static void set_chunksizes(const struct roast_rule_input *input,
                           struct roast_finding *finding, double suggested)
{
    roast__set_integer(finding, "suggested", suggested);
    roast__set_integer(finding, "now", input->model.current_size);
}

/* "; memory per worker about 900 MB -> about 1.6 GB of 4 GB". Both values are the
 * model's: the measured peak may have another cause. */
static void set_memory_change(struct roast_finding *finding,
                              const struct roast_chunk_model *now,
                              const struct roast_chunk_model *after, double suggested)
{
    static const char *const patterns[][2] = {
        [ROAST_MEMORY_ASSUMED] = {"; memory per worker about {before} of {limit} now, "
                                  "check it after the change",
                                  "; memory per worker about {before} now, check it "
                                  "after the change"},
        [ROAST_MEMORY_UPPER_BOUND] =
            {"; memory per worker about {before} -> at most about "
             "{after} of {limit}",
             "; memory per worker about {before} -> at most about "
             "{after}"},
        [ROAST_MEMORY_FITTED] = {"; memory per worker about {before} -> about {after} "
                                 "of {limit}",
                                 "; memory per worker about {before} -> about {after}"},
    };
    bool unlimited = isnan(now->limit_bytes);

    roast__set_number(finding, "before",
                      roast__chunk_model_bytes(now, now->current_size), "B");
    roast__set_number(finding, "after", roast__chunk_model_bytes(after, suggested),
                      "B");
    roast__set_number(finding, "limit", now->limit_bytes, "B");
    roast__set_from_pattern(finding, "memory", patterns[now->memory_source][unlimited]);
}

/* Wall time that another chunksize saves. */
static double saved_by(const struct roast_rule_input *input, double size)
{
    return roast__chunk_model_wall(&input->model, input->model.current_size) -
           roast__chunk_model_wall(&input->model, size);
}

static bool saves_enough(const struct roast_rule_input *input, double saves_s)
{
    return saves_s * 100 >= LIMIT_SAVES_PERCENT * input->wall_s;
}

/* The largest number of threads that the run had for some time. */
static double peak_threads(const struct roast_rule_input *input)
{
    double threads = roast_table_number(
        input->ctx->summary->tables[ROAST_TABLE_ramp_up], 0, ROAST_COL_ramp_up_threads);

    return threads > 0 ? threads : input->threads;
}

/* With few chunks per thread a run is mostly start and end. */
static bool has_many_chunks(const struct roast_rule_input *input)
{
    return input->model.chunks >= LIMIT_MANY_CHUNKS * peak_threads(input);
}

/* ---- too small ------------------------------------------------------------------- */

void roast__rule_chunks_too_small(const struct roast_rule_input *input,
                                  struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;

    if (!is_fixed_cost_large(model))
        return;
    double best = input->best_size, saves_s = saved_by(input, input->best_size);
    double fewer = model->chunks - roast__chunk_model_chunks(model, best);
    add_cost_per_chunk(input, finding);
    finding->cost_s = fewer * model->per_chunk_s;
    finding->saves_s = saves_s;
    finding->found = best > model->current_size && saves_enough(input, saves_s) &&
                     roast__is_significant(input, finding->cost_s);
    set_chunk_costs(input, finding);
    set_chunksizes(input, finding, best);
    set_memory_change(finding, model, model, best);
}

/* Only files of the same dataset can be merged. */
void roast__rule_files_too_small(const struct roast_rule_input *input,
                                 struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;

    if (!is_fixed_cost_large(model) || model->chunks > 1.2 * model->file_passes ||
        model->files <= model->datasets)
        return;
    struct roast_chunk_model merged = roast__chunk_model_merged(model);
    double best = roast__chunk_model_best(&merged);
    double chunks = roast__chunk_model_chunks(&merged, best);
    double saves_s = roast__chunk_model_wall(model, INFINITY) -
                     roast__chunk_model_wall(&merged, best);
    add_cost_per_chunk(input, finding);
    finding->cost_s = (model->chunks - chunks) * model->per_chunk_s;
    finding->saves_s = saves_s;
    finding->found = chunks < model->chunks && saves_enough(input, saves_s) &&
                     roast__is_significant(input, finding->cost_s);
    set_chunk_costs(input, finding);
    roast__set_integer(finding, "files", model->files);
    roast__set_integer(finding, "suggested", best);
    set_memory_change(finding, model, &merged, best);
}

void roast__rule_tasks_too_short(const struct roast_rule_input *input,
                                 struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;
    double events_s = model->per_event_s * model->events;
    double chunk_s = input->chunk_time_s / model->chunks;

    roast__add_cost(input, finding, ROAST_SLICE_dispatch);
    finding->cost_s = model->dispatch_s; /* without preprocessing and merging */
    if (!input->on_cluster || !has_many_chunks(input) || !(events_s > 0) ||
        !(chunk_s * 1e3 < LIMIT_SHORT_TASK_MS) ||
        !roast__is_significant(input, finding->cost_s))
        return;
    /* Where the model has no better size: tasks of the usual length, at most one per
     * thread. */
    double usual = model->current_size * LIMIT_TARGET_TASK_S / chunk_s;
    double size = input->best_size != model->current_size
                      ? input->best_size
                      : roast__round_size(fmin(usual, model->events / model->threads));
    finding->saves_s = saved_by(input, size);
    finding->found = size > model->current_size && finding->saves_s > 0 &&
                     roast__chunk_model_fits(model, size);
    roast__set_number(finding, "dispatch", finding->cost_s, "s");
    roast__set_count(finding, "chunks", model->chunks, "chunk");
    roast__set_number(finding, "seconds", chunk_s, "s");
    set_chunksizes(input, finding, size);
    set_memory_change(finding, model, model, size);
}

/* ---- too few --------------------------------------------------------------------- */

void roast__rule_few_threads_busy(const struct roast_rule_input *input,
                                  struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;
    double threads = peak_threads(input);

    roast__add_cost(input, finding, ROAST_SLICE_idle_tail);
    roast__add_cost(input, finding, ROAST_SLICE_idle_starved);
    if (!(model->chunks > 0) || model->chunks >= threads ||
        !roast__is_significant(input, finding->cost_s))
        return;
    double best = input->best_size, saves_s = saved_by(input, input->best_size);
    finding->found = true;
    finding->saves_s = saves_s;
    roast__set_count(finding, "chunks", model->chunks, "chunk");
    roast__set_count(finding, "threads", threads, "thread");
    set_chunksizes(input, finding, best);
    roast__set_integer(finding, "new_chunks", roast__chunk_model_chunks(model, best));
    if (best < model->current_size && saves_enough(input, saves_s))
        return;
    finding->saves_s = 0;
    finding->advice = "smaller chunks would not be faster: request fewer threads, "
                      "{chunks} cannot use more";
}

void roast__rule_no_work_sent(const struct roast_rule_input *input,
                              struct roast_finding *finding)
{
    roast__add_cost(input, finding, ROAST_SLICE_idle_starved);
    if (!input->on_cluster || !has_many_chunks(input) ||
        !roast__is_significant(input, finding->cost_s))
        return;
    finding->found = true;
    roast__set_number(finding, "idle", finding->cost_s, "s");
    roast__set_count(finding, "chunks", input->model.chunks, "chunk");
    roast__set_count(finding, "threads", peak_threads(input), "thread");
    if (input->model.is_memory_short) /* larger tasks need more memory */
        finding->advice = "a scheduler with a core of its own, or "
                          "distributed.scheduler.worker-saturation=2";
}

/* ---- the tail -------------------------------------------------------------------- */

/* The tail of the call whose last chunks cost most (tail.c). */
struct tail {
    double seconds;
    double lost_s;
    double chunks; /* running when it began */
    double median_s;
    double last_s;
    struct roast_str dataset, file, host, cause; /* of the last chunk */
};

static struct tail read_tail(const struct roast_rule_input *input)
{
    const roast_table *table = input->ctx->summary->tables[ROAST_TABLE_tail];

    return (struct tail){
        .seconds = roast_table_number(table, 0, ROAST_COL_tail_seconds),
        .lost_s = roast_table_number(table, 0, ROAST_COL_tail_thread_seconds_lost),
        .chunks = roast_table_number(table, 0, ROAST_COL_tail_chunks),
        .median_s = roast_table_number(table, 0, ROAST_COL_tail_median_seconds),
        .last_s = roast_table_number(table, 0, ROAST_COL_tail_last_seconds),
        .dataset = roast_table_text(table, 0, ROAST_COL_tail_last_dataset),
        .file = roast_table_text(table, 0, ROAST_COL_tail_last_file),
        .host = roast_table_text(table, 0, ROAST_COL_tail_last_host),
        .cause = roast_table_text(table, 0, ROAST_COL_tail_last_cause),
    };
}

/* The wall time saved if the last chunk is as fast as the others, or starts earlier: the
 * time that threads waited for it, at most its time above the median. */
static void set_tail_saving(const struct roast_rule_input *input,
                            struct roast_finding *finding, const struct tail *tail)
{
    double waited_s = tail->lost_s / input->threads;
    double longer_s = tail->last_s - tail->median_s;

    finding->saves_unknown = isnan(waited_s) || isnan(longer_s);
    finding->saves_s = finding->saves_unknown ? NAN : fmax(0, fmin(waited_s, longer_s));
}

void roast__rule_last_chunks(const struct roast_rule_input *input,
                             struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;
    struct tail tail = read_tail(input);

    roast__add_cost(input, finding, ROAST_SLICE_idle_tail);
    if (model->chunks < peak_threads(input) ||
        !roast__is_significant(input, finding->cost_s))
        return;
    bool is_slow = tail.last_s > LIMIT_SLOW_TIMES * tail.median_s;
    finding->saves_s = saved_by(input, input->best_size);
    if (is_slow)
        set_tail_saving(input, finding, &tail);
    /* some threads always end before others */
    finding->found = is_slow || (input->best_size < model->current_size &&
                                 saves_enough(input, finding->saves_s));
    roast__set_number(finding, "tail", tail.seconds, "s");
    roast__set_count(finding, "count", tail.chunks, "chunk");
    roast__set_number(finding, "seconds", tail.last_s, "s");
    roast__set_number(finding, "median", tail.median_s, "s");
    roast__set_file(finding, "file", tail.file);
    roast__set_text(finding, "host", tail.host);
    roast__set_text(finding, "why", tail.cause);
    roast__set_from_pattern(finding, "cause", " ({why})");
    set_chunksizes(input, finding, input->best_size);
    if (is_slow)
        finding->advice =
            "see why {file} took so long on {host}{?cause}: "
            "get_metrics()['stragglers']; "
            "put it first in the fileset // see why the last chunk took so long: "
            "get_metrics()['stragglers']";
}

/* ---- datasets -------------------------------------------------------------------- */

void roast__rule_uneven_datasets(const struct roast_rule_input *input,
                                 struct roast_finding *finding)
{
    struct tail tail = read_tail(input);
    double means[2];

    roast__add_cost(input, finding, ROAST_SLICE_idle_tail);
    if (!roast__is_significant(input, finding->cost_s) || !tail.dataset.data)
        return;
    /* The mean time in process() of the chunks of this dataset, and of all others. */
    const struct roast_run *run = input->ctx->run;
    double sums[2] = {0, 0}, chunks[2] = {0, 0};
    for (size_t i = 0; i < run->attempts.source_count; i++) {
        const struct roast_group *group = &input->ctx->totals->of_source[i + 1];
        struct roast_str dataset =
            roast__strings_get(&run->strings, run->attempts.sources[i].dataset);
        int other = !dataset.data || !roast__str_equal(dataset, tail.dataset);
        sums[other] += group->sums[ROAST_DURATION_NS] / 1e9;
        chunks[other] += group->chunks - group->without[ROAST_DURATION_NS];
    }
    for (int i = 0; i < 2; i++)
        means[i] = chunks[i] > 0 ? sums[i] / chunks[i] : NAN;
    finding->found = means[0] > LIMIT_UNEVEN_TIMES * means[1];
    if (!finding->found)
        return;
    double size = input->model.current_size * means[1] / means[0];
    set_tail_saving(input, finding, &tail);
    roast__set_text(finding, "dataset", tail.dataset);
    roast__set_number(finding, "slow", means[0], "s");
    roast__set_number(finding, "others", means[1], "s");
    roast__set_number(finding, "tail", tail.seconds, "s");
    roast__set_integer(finding, "suggested", roast__round_size(size));
}
