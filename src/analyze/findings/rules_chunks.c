/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_chunks.c - rules about how the work is cut: chunks, files, tasks, threads.
 *
 * All suggest a chunksize of the same wall-time model (chunksize.c). */
#include "analyze/findings/rule_limits.h"
#include "analyze/findings/text.h"
#include "base/str.h"

/* Seconds that a chunk costs whatever it holds, as the model counts them. */
static void add_cost_per_chunk(const struct roast_rule_input *at,
                               struct roast_finding *finding)
{
    roast__add_cost(at, finding, ROAST_SLICE_open);
    roast__add_cost(at, finding, ROAST_SLICE_form);
    roast__add_cost(at, finding, ROAST_SLICE_result);
    if (!at->on_cluster)
        return;
    roast__add_cost(at, finding, ROAST_SLICE_dispatch);
    roast__add_cost(at, finding, ROAST_SLICE_reduce);
}

static double events_per_chunk(const struct roast_chunk_model *model)
{
    return model->events / model->chunks;
}

/* Whether the cost per chunk is a large part of a chunk. */
static bool is_dominated(const struct roast_chunk_model *model)
{
    double per_events_s = model->per_event_s * events_per_chunk(model);

    return model->chunks > 0 &&
           model->per_chunk_s * 100 >
               LIMIT_PER_CHUNK_PERCENT * (model->per_chunk_s + per_events_s);
}

static void blank_costs(const struct roast_rule_input *at,
                        struct roast_finding *finding)
{
    double events = events_per_chunk(&at->model);

    roast__blank_number(finding, "per_chunk", at->model.per_chunk_s, "s");
    roast__blank_number(finding, "per_events", at->model.per_event_s * events, "s");
    roast__blank_size(finding, "events", events);
}

static void blank_sizes(const struct roast_rule_input *at,
                        struct roast_finding *finding, double suggested)
{
    roast__blank_size(finding, "suggested", suggested);
    roast__blank_size(finding, "now", at->model.now_events);
}

/* "; memory per worker about 900 MB -> about 1.6 GB of 4 GB": what the model gives for
 * both, the highest that was seen may be of another moment. */
static void blank_memory(struct roast_finding *finding,
                         const struct roast_chunk_model *now,
                         const struct roast_chunk_model *after, double suggested)
{
    static const char *const patterns[][2] = {
        [ROAST_MEMORY_GUESSED] = {"; memory per worker about {before} of {limit} now, "
                                  "look again after the change",
                                  "; memory per worker about {before} now, look again "
                                  "after the change"},
        [ROAST_MEMORY_AT_MOST] = {"; memory per worker about {before} -> at most about "
                                  "{after} of {limit}",
                                  "; memory per worker about {before} -> at most about "
                                  "{after}"},
        [ROAST_MEMORY_FITTED] = {"; memory per worker about {before} -> about {after} "
                                 "of {limit}",
                                 "; memory per worker about {before} -> about {after}"},
    };
    bool unlimited = isnan(now->limit_bytes);

    roast__blank_number(finding, "before",
                        roast__chunk_model_bytes(now, now->now_events), "B");
    roast__blank_number(finding, "after", roast__chunk_model_bytes(after, suggested),
                        "B");
    roast__blank_number(finding, "limit", now->limit_bytes, "B");
    roast__blank_pattern(finding, "memory", patterns[now->memory_known][unlimited]);
}

/* Wall time that another size saves. */
static double saved_by(const struct roast_rule_input *at, double size)
{
    return roast__chunk_model_wall(&at->model, at->model.now_events) -
           roast__chunk_model_wall(&at->model, size);
}

static bool saves_enough(const struct roast_rule_input *at, double saves_s)
{
    return saves_s * 100 >= LIMIT_SAVES_PERCENT * at->wall_s;
}

/* The largest number of threads that was there for a while. */
static double peak_threads(const struct roast_rule_input *at)
{
    double threads = roast_table_number(at->ctx->summary->tables[ROAST_TABLE_ramp_up],
                                        0, ROAST_COL_ramp_up_threads);

    return threads > 0 ? threads : at->threads;
}

/* With few chunks per thread a run is mostly start and end. */
static bool are_many(const struct roast_rule_input *at)
{
    return at->model.chunks >= LIMIT_MANY_CHUNKS * peak_threads(at);
}

/* ---- too small ------------------------------------------------------------------- */

void roast__rule_chunks_too_small(const struct roast_rule_input *at,
                                  struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;

    if (!is_dominated(model))
        return;
    double best = at->best_size, saves_s = saved_by(at, at->best_size);
    double fewer = model->chunks - roast__chunk_model_chunks(model, best);
    add_cost_per_chunk(at, finding);
    finding->cost_s = fewer * model->per_chunk_s;
    finding->saves_s = saves_s;
    finding->found = best > model->now_events && saves_enough(at, saves_s) &&
                     roast__is_worth(at, finding->cost_s);
    blank_costs(at, finding);
    blank_sizes(at, finding, best);
    blank_memory(finding, model, model, best);
}

/* Files are those of datasets, and only within one of them can they be merged. */
void roast__rule_files_too_small(const struct roast_rule_input *at,
                                 struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;

    if (!is_dominated(model) || model->chunks > 1.2 * model->opened ||
        model->files <= model->datasets)
        return;
    struct roast_chunk_model merged = roast__chunk_model_merged(model);
    double best = roast__chunk_model_best(&merged);
    double made = roast__chunk_model_chunks(&merged, best);
    double saves_s = roast__chunk_model_wall(model, INFINITY) -
                     roast__chunk_model_wall(&merged, best);
    add_cost_per_chunk(at, finding);
    finding->cost_s = (model->chunks - made) * model->per_chunk_s;
    finding->saves_s = saves_s;
    finding->found = made < model->chunks && saves_enough(at, saves_s) &&
                     roast__is_worth(at, finding->cost_s);
    blank_costs(at, finding);
    roast__blank_size(finding, "files", model->files);
    roast__blank_size(finding, "suggested", best);
    blank_memory(finding, model, &merged, best);
}

/* The best size, unless that is the present one: then tasks as long as is usual, or one
 * for each thread. Where smaller ones are best none is longer. */
static double longer_tasks(const struct roast_rule_input *at, double chunk_s)
{
    const struct roast_chunk_model *model = &at->model;
    double usual = model->now_events * LIMIT_TARGET_TASK_S / chunk_s;

    if (at->best_size != model->now_events)
        return at->best_size;
    return roast__friendly(fmin(usual, model->events / model->threads));
}

void roast__rule_tasks_too_short(const struct roast_rule_input *at,
                                 struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;
    double events_s = model->per_event_s * model->events;
    double chunk_s = at->inside_s / model->chunks;

    roast__add_cost(at, finding, ROAST_SLICE_dispatch);
    finding->cost_s = model->dispatch_s; /* not of files that are asked, or of merges */
    if (!at->on_cluster || !are_many(at) || !(events_s > 0) ||
        !(chunk_s * 1e3 < LIMIT_SHORT_TASK_MS) || !roast__is_worth(at, finding->cost_s))
        return;
    double size = longer_tasks(at, chunk_s);
    finding->saves_s = saved_by(at, size);
    finding->found = size > model->now_events && finding->saves_s > 0 &&
                     roast__chunk_model_fits(model, size);
    roast__blank_number(finding, "dispatch", finding->cost_s, "s");
    roast__blank_count(finding, "chunks", model->chunks, "chunk");
    roast__blank_number(finding, "seconds", chunk_s, "s");
    blank_sizes(at, finding, size);
    blank_memory(finding, model, model, size);
}

/* ---- too few --------------------------------------------------------------------- */

void roast__rule_few_threads_busy(const struct roast_rule_input *at,
                                  struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;
    double threads = peak_threads(at);

    roast__add_cost(at, finding, ROAST_SLICE_idle_tail);
    roast__add_cost(at, finding, ROAST_SLICE_idle_starved);
    if (!(model->chunks > 0) || model->chunks >= threads ||
        !roast__is_worth(at, finding->cost_s))
        return;
    double best = at->best_size, saves_s = saved_by(at, at->best_size);
    finding->found = true;
    finding->saves_s = saves_s;
    roast__blank_count(finding, "chunks", model->chunks, "chunk");
    roast__blank_count(finding, "threads", threads, "thread");
    blank_sizes(at, finding, best);
    roast__blank_size(finding, "made", roast__chunk_model_chunks(model, best));
    if (best < model->now_events && saves_enough(at, saves_s))
        return;
    finding->saves_s = 0;
    finding->advice = "smaller chunks would not be faster: ask for fewer threads, "
                      "{chunks} cannot use more";
}

void roast__rule_no_work_sent(const struct roast_rule_input *at,
                              struct roast_finding *finding)
{
    double chunks = at->model.chunks, threads = peak_threads(at);

    roast__add_cost(at, finding, ROAST_SLICE_idle_starved);
    if (!at->on_cluster || !are_many(at) || !roast__is_worth(at, finding->cost_s))
        return;
    finding->found = true;
    roast__blank_number(finding, "idle", finding->cost_s, "s");
    roast__blank_count(finding, "chunks", chunks, "chunk");
    roast__blank_count(finding, "threads", threads, "thread");
    if (at->model.is_memory_short) /* larger tasks would need more of it */
        finding->advice = "a scheduler with a core of its own, or "
                          "distributed.scheduler.worker-saturation=2";
}

/* ---- the tail -------------------------------------------------------------------- */

/* The end of the call whose last chunks cost most (tail.c). */
struct tail {
    double seconds;
    double lost_s;
    double chunks; /* that still ran when it began */
    double median_s;
    double last_s;
    struct roast_str dataset, file, host, cause; /* of the last one */
};

static struct tail read_tail(const struct roast_rule_input *at)
{
    const roast_table *table = at->ctx->summary->tables[ROAST_TABLE_tail];

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

/* Wall time that is saved if the last chunk is as quick as others, or begins with them:
 * what threads waited for it, and no more than it took longer. */
static void save_last(const struct roast_rule_input *at, struct roast_finding *finding,
                      const struct tail *tail)
{
    double waited_s = tail->lost_s / at->threads;
    double longer_s = tail->last_s - tail->median_s;

    finding->saves_unknown = isnan(waited_s) || isnan(longer_s);
    finding->saves_s = finding->saves_unknown ? NAN : fmax(0, fmin(waited_s, longer_s));
}

void roast__rule_last_chunks(const struct roast_rule_input *at,
                             struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;
    struct tail tail = read_tail(at);

    roast__add_cost(at, finding, ROAST_SLICE_idle_tail);
    if (model->chunks < peak_threads(at) || !roast__is_worth(at, finding->cost_s))
        return;
    bool is_slow = tail.last_s > LIMIT_SLOW_TIMES * tail.median_s;
    finding->saves_s = saved_by(at, at->best_size);
    if (is_slow)
        save_last(at, finding, &tail);
    /* some threads end before others, whatever is done */
    finding->found = is_slow || (at->best_size < model->now_events &&
                                 saves_enough(at, finding->saves_s));
    roast__blank_number(finding, "tail", tail.seconds, "s");
    roast__blank_count(finding, "count", tail.chunks, "chunk");
    roast__blank_number(finding, "seconds", tail.last_s, "s");
    roast__blank_number(finding, "median", tail.median_s, "s");
    roast__blank_file(finding, "file", tail.file);
    roast__blank_text(finding, "host", tail.host);
    roast__blank_text(finding, "why", tail.cause);
    roast__blank_pattern(finding, "cause", " ({why})");
    blank_sizes(at, finding, at->best_size);
    if (is_slow)
        finding->advice =
            "see why {file} took so long on {host}{?cause}: "
            "get_metrics()['stragglers']; "
            "put it first in the fileset // see why the last chunk took so long: "
            "get_metrics()['stragglers']";
}

/* ---- datasets -------------------------------------------------------------------- */

static bool is_dataset(const struct roast_rule_input *at, size_t source,
                       struct roast_str name)
{
    struct roast_str own = roast__strings_get(
        &at->ctx->run->strings, at->ctx->run->attempts.sources[source].dataset);

    return own.data && roast__str_equal(own, name);
}

void roast__rule_uneven_datasets(const struct roast_rule_input *at,
                                 struct roast_finding *finding)
{
    struct tail tail = read_tail(at);
    double means[2];

    roast__add_cost(at, finding, ROAST_SLICE_idle_tail);
    if (!roast__is_worth(at, finding->cost_s) || !tail.dataset.data)
        return;
    /* The mean chunk of one dataset, and of all others, in seconds inside process(). */
    const struct roast_totals *totals = at->ctx->totals;
    double sums[2] = {0, 0}, chunks[2] = {0, 0};
    for (size_t i = 0; i < at->ctx->run->attempts.source_count; i++) {
        const struct roast_group *group = &totals->of_source[i + 1];
        int other = !is_dataset(at, i, tail.dataset);
        sums[other] += group->sums[ROAST_DURATION_NS] / 1e9;
        chunks[other] += group->chunks - group->without[ROAST_DURATION_NS];
    }
    for (int i = 0; i < 2; i++)
        means[i] = chunks[i] > 0 ? sums[i] / chunks[i] : NAN;
    finding->found = means[0] > LIMIT_UNEVEN_TIMES * means[1];
    if (!finding->found)
        return;
    double size = at->model.now_events * means[1] / means[0];
    save_last(at, finding, &tail);
    roast__blank_text(finding, "dataset", tail.dataset);
    roast__blank_number(finding, "slow", means[0], "s");
    roast__blank_number(finding, "others", means[1], "s");
    roast__blank_number(finding, "tail", tail.seconds, "s");
    roast__blank_size(finding, "suggested", roast__friendly(size));
}
