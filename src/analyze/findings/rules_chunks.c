/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_chunks.c - rules about how the work is split: chunks, files, tasks, threads.
 *
 * Every suggested chunksize comes from the same wall-time model (chunksize.c). */
#include "analyze/calls.h"
#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/reads/ladder.h"
#include "analyze/recorded.h"

/* The slices of what the model counts as the fixed cost of a chunk. */
static void add_cost_per_chunk(const struct roast_rule_input *input,
                               struct roast_finding *finding)
{
    roast__add_cost(input, finding, ROAST_SLICE_open);
    roast__add_cost(input, finding, ROAST_SLICE_form);
    roast__add_cost(input, finding, ROAST_SLICE_result);
    roast__add_cost(input, finding, ROAST_SLICE_dispatch);
    if (input->on_cluster)
        roast__add_cost(input, finding, ROAST_SLICE_reduce);
}

/* Whether the fixed cost is a large part of a chunk. */
static bool is_fixed_cost_large(const struct roast_chunk_model *model)
{
    double fixed_s = roast__chunk_model_fixed(model, model->chunks);
    double all_s = fixed_s + model->per_event_s * model->events;

    return model->chunks > 0 && fixed_s * 100 > LIMIT_PER_CHUNK_PERCENT * all_s;
}

static void set_chunk_costs(const struct roast_rule_input *input,
                            struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;
    double events = model->events / model->chunks;
    double per_chunk_s = roast__chunk_model_fixed(model, model->chunks) / model->chunks;
    double again_s = per_chunk_s - model->per_chunk_s;

    roast__set_number(finding, "per_chunk", per_chunk_s, "s");
    roast__set_number(finding, "per_events", model->per_event_s * events, "s");
    roast__set_integer(finding, "events", events);
    if (!(again_s * 100 >= LIMIT_PER_CHUNK_PERCENT * per_chunk_s))
        return;
    finding->cost_slices |= UINT64_C(1) << ROAST_SLICE_fetch |
                            UINT64_C(1) << ROAST_SLICE_decompress |
                            UINT64_C(1) << ROAST_SLICE_interpret;
    roast__set_number(finding, "both", again_s, "s");
    roast__set_from_pattern(finding, "again",
                            "; {both} of it reading what its neighbours read, too");
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

/* Reading a column takes some time per chunk, too. How much of its bookkeeping that is
 * cannot be told from chunks of one size, so the model has it as per event. */
static bool may_save_more(const struct roast_rule_input *input, double fewer,
                          double saves_s)
{
    const struct roast_chunk_model *model = &input->model;
    double bookkeeping_s = input->slices[ROAST_SLICE_read_other] / model->threads;

    return bookkeeping_s * fewer / model->chunks * 100 >=
           LIMIT_SAVES_MORE_PERCENT * saves_s;
}

void roast__rule_chunks_too_small(const struct roast_rule_input *input,
                                  struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;

    if (!is_fixed_cost_large(model))
        return;
    double best = input->best_size, saves_s = saved_by(input, input->best_size);
    double fewer = model->chunks - roast__chunk_model_chunks(model, best);
    add_cost_per_chunk(input, finding);
    finding->cost_s = fewer * (model->per_chunk_s + model->per_border_s);
    finding->saves_s = saves_s;
    finding->saves_how = may_save_more(input, fewer, saves_s) ? "at least" : NULL;
    finding->found = best > model->current_size &&
                     roast__saves_enough(input, saves_s) &&
                     roast__is_significant(input, finding->cost_s);
    set_chunk_costs(input, finding);
    set_chunksizes(input, finding, best);
    set_memory_change(finding, model, model, best);
}

static const char *tool_that_merges(const struct roast_rule_input *input)
{
    const roast_table *files = input->ctx->summary->tables[ROAST_TABLE_file_metadata];

    if (roast__reads_parquet(input->ctx->summary))
        return "pyarrow";
    if (roast__table_count(files, ROAST_COL_file_metadata_kind, "rntuple") > 0)
        return "hadd";
    return "hadd; haddnano.py for NanoAOD";
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
    finding->found = chunks < model->chunks && roast__saves_enough(input, saves_s) &&
                     roast__is_significant(input, finding->cost_s);
    set_chunk_costs(input, finding);
    roast__set_integer(finding, "files", model->files);
    roast__set_text(finding, "tool", roast_str_of(tool_that_merges(input)));
    roast__set_integer(finding, "suggested", best);
    set_memory_change(finding, model, &merged, best);
}

/* Neither larger chunks nor larger files are possible: a small input, or memory. */
void roast__rule_small_input(const struct roast_rule_input *input,
                             struct roast_finding *finding)
{
    struct roast_finding others[2] = {{.saves_s = NAN}, {.saves_s = NAN}};
    double storage_s = roast__input_metric(input, ROAST_METRIC_storage_wait_seconds);
    double gil_s = roast__input_metric(input, ROAST_METRIC_gil_wait_seconds);

    roast__add_cost(input, finding, ROAST_SLICE_open);
    roast__add_cost(input, finding, ROAST_SLICE_form);
    roast__add_cost(input, finding, ROAST_SLICE_result);
    /* waits have findings of their own */
    finding->cost_s = fmin(finding->cost_s, input->model.fixed_s) -
                      (storage_s > 0 ? storage_s : 0) - (gil_s > 0 ? gil_s : 0);
    double percent = finding->cost_s / input->offered_s * 100;
    if (!(percent >= LIMIT_SHORT_COST_PERCENT) ||
        !roast__is_significant(input, finding->cost_s))
        return;
    roast__rule_chunks_too_small(input, &others[0]);
    roast__rule_files_too_small(input, &others[1]);
    if (others[0].found || others[1].found)
        return;
    finding->found = true;
    finding->saves_s = NAN;
    roast__set_number(finding, "seconds", finding->cost_s, "s");
    roast__set_number(finding, "percent", percent, "%");
    roast__set_number(finding, "each", finding->cost_s / input->model.chunks, "s");
    roast__set_count(finding, "chunks", input->model.chunks, "chunk");
    if (input->model.is_memory_short)
        finding->advice = "more memory per worker, and then larger chunks";
}

/* ---- short tasks ----------------------------------------------------------------- */

/* Tasks of chunks, or of what else the run sent to its workers. */
struct short_tasks {
    enum roast_slice kind;
    double count;
    double seconds; /* of one */
    double cost_s;  /* threads that waited for them, while there were any */
};

static struct short_tasks tasks_of_kind(const struct roast_rule_input *input,
                                        enum roast_slice kind)
{
    const struct roast_schedule *schedule = &input->ctx->budget->schedule;
    struct short_tasks tasks = {.kind = kind};
    double worked_s = 0;

    for (size_t i = 0; i < schedule->job_count; i++) {
        const struct roast_job *job = &schedule->jobs[i];
        if (job->kind != kind || job->start_ns == job->stop_ns)
            continue; /* moved to another worker before it began */
        tasks.count++;
        worked_s += roast__seconds_between(job->start_ns, job->stop_ns);
    }
    tasks.seconds = worked_s / tasks.count;
    return tasks;
}

/* Whether tasks are so short that sending them costs more than it should. */
static bool are_tasks_short(const struct roast_rule_input *input,
                            struct short_tasks *tasks)
{
    static const enum roast_slice kinds[] = {ROAST_SLICE_unexplained,
                                             ROAST_SLICE_other};
    const struct roast_budget *budget = input->ctx->budget;
    const roast_slices *by_phase = budget->by_phase;

    *tasks = (struct short_tasks){0};
    if (!roast__is_significant(
            input, by_phase[ROAST_PHASE_CHUNKS][ROAST_SLICE_dispatch] +
                       by_phase[ROAST_PHASE_TAIL][ROAST_SLICE_dispatch] +
                       by_phase[ROAST_PHASE_CHUNKS][ROAST_SLICE_idle_starved]))
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct short_tasks own = tasks_of_kind(input, kinds[i]);
        if (!(own.seconds * 1e3 < LIMIT_SHORT_TASK_MS) ||
            own.count < LIMIT_MANY_CHUNKS * peak_threads(input))
            continue;
        own.cost_s = roast__waits_for(input, kinds[i]);
        if (own.cost_s > tasks->cost_s)
            *tasks = own;
    }
    return roast__is_significant(input, tasks->cost_s);
}

void roast__rule_tasks_too_short(const struct roast_rule_input *input,
                                 struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;
    struct short_tasks tasks;

    if (!are_tasks_short(input, &tasks))
        return;
    finding->cost_slices =
        UINT64_C(1) << ROAST_SLICE_dispatch | UINT64_C(1) << ROAST_SLICE_idle_starved;
    finding->cost_s = tasks.cost_s;
    roast__set_number(finding, "waited", tasks.cost_s, "s");
    roast__set_number(finding, "seconds", tasks.seconds, "s");
    roast__set_count(finding, "tasks", tasks.count, "task");
    if (tasks.kind == ROAST_SLICE_other) { /* the user's own */
        double per_thread = ceil(tasks.count / peak_threads(input));
        double together = fmin(ceil(LIMIT_TARGET_TASK_S / tasks.seconds), per_thread);
        const struct roast_schedule_change fewer = {.slices = finding->cost_slices,
                                                    .part = 1 - 1 / together};
        finding->saves_s = roast__saves(input, &fewer);
        finding->found = roast__saves_enough(input, finding->saves_s);
        roast__set_integer(finding, "together", together);
        roast__set_number(finding, "lasting", together * tasks.seconds, "s");
        finding->advice = "more work in each task: {together} of these calls in one "
                          "take about {lasting}";
        return;
    }
    /* Where the model has no better size: tasks of the usual length, at most one per
     * thread. */
    double usual = model->current_size * LIMIT_TARGET_TASK_S / tasks.seconds;
    double size = input->best_size != model->current_size
                      ? input->best_size
                      : roast__round_size(fmin(usual, model->events / model->threads));
    finding->saves_s = saved_by(input, size);
    finding->found = size > model->current_size &&
                     roast__saves_enough(input, finding->saves_s) &&
                     roast__chunk_model_fits(model, size);
    roast__set_count(finding, "chunks", tasks.count, "chunk");
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
    if (best < model->current_size && roast__saves_enough(input, saves_s))
        return;
    finding->saves_s = 0;
    finding->advice = "smaller chunks would not be faster: request fewer threads, "
                      "{chunks} cannot use more";
}

void roast__rule_no_work_sent(const struct roast_rule_input *input,
                              struct roast_finding *finding)
{
    struct short_tasks tasks;

    roast__add_cost(input, finding, ROAST_SLICE_idle_starved);
    if (!input->on_cluster || !has_many_chunks(input) ||
        !roast__is_significant(input, finding->cost_s) ||
        are_tasks_short(input, &tasks)) /* that is the reason then */
        return;
    finding->found = true;
    finding->saves_s = roast__saves_cost(input, finding);
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
    double chunks; /* running when it began */
    double median_s;
    double last_s;
    size_t last_row;
    struct roast_str file, host, cause; /* of the last chunk */
};

static struct tail read_tail(const struct roast_rule_input *input)
{
    const roast_table *table = input->ctx->summary->tables[ROAST_TABLE_tail];

    return (struct tail){
        .seconds = roast_table_number(table, 0, ROAST_COL_tail_seconds),
        .chunks = roast_table_number(table, 0, ROAST_COL_tail_chunks),
        .median_s = roast_table_number(table, 0, ROAST_COL_tail_median_seconds),
        .last_s = roast_table_number(table, 0, ROAST_COL_tail_last_seconds),
        .last_row = input->ctx->budget->phases.last_row,
        .file = roast_table_text(table, 0, ROAST_COL_tail_last_file),
        .host = roast_table_text(table, 0, ROAST_COL_tail_last_host),
        .cause = roast_table_text(table, 0, ROAST_COL_tail_last_cause),
    };
}

/* The chunks of one dataset against all others: whole attempts. */
struct dataset_share {
    int32_t dataset;  /* a string */
    double chunks[2]; /* of it, of others */
    double seconds[2];
    double tail_s[2]; /* inside the tail */
};

static struct dataset_share share_of_dataset(const struct roast_rule_input *input,
                                             const struct tail *tail)
{
    const struct roast_attempts *attempts = &input->ctx->run->attempts;
    const struct roast_phases *phases = &input->ctx->budget->phases;
    bool any = tail->last_row < attempts->count;
    int32_t source = any ? attempts->source[tail->last_row] : -1;
    struct dataset_share share = {
        .dataset = source >= 0 ? attempts->sources[source].dataset : ROAST_NO_STRING};
    int64_t times[2], last_ns = INT64_MIN;

    if (share.dataset == ROAST_NO_STRING)
        return share;
    if (roast__attempt_times(attempts, tail->last_row, &times[0], &times[1]))
        last_ns = times[1];
    const struct roast_tail *own = NULL; /* the tail that ends with the last chunk */
    for (size_t i = 0; i < phases->tail_count && !own; i++) {
        if (phases->tails[i].from_ns < last_ns)
            own = phases->tails[i].to_ns >= last_ns ? &phases->tails[i] : NULL;
    }
    for (size_t row = 0; own && row < attempts->count; row++) {
        if (!roast__is_chunk(input->ctx, row) ||
            !roast__attempt_times(attempts, row, &times[0], &times[1]))
            continue;
        int32_t of = attempts->source[row];
        int other = of < 0 || attempts->sources[of].dataset != share.dataset;
        share.chunks[other]++;
        share.seconds[other] += roast__seconds_between(times[0], times[1]);
        share.tail_s[other] +=
            roast__seconds_between(times[0] > own->from_ns ? times[0] : own->from_ns,
                                   times[1] < own->to_ns ? times[1] : own->to_ns);
    }
    return share;
}

/* Whether the chunks of one dataset are the tail, and would not be if they came first. */
static bool is_dataset_the_tail(const struct roast_rule_input *input,
                                const struct tail *tail, struct dataset_share *share,
                                double *saves_s)
{
    *share = share_of_dataset(input, tail);
    double tail_s = share->tail_s[0] + share->tail_s[1];
    double slow_s = share->seconds[0] / share->chunks[0];
    double others_s = share->seconds[1] / share->chunks[1];

    if (!(share->chunks[0] > 1) || !(slow_s > LIMIT_UNEVEN_TIMES * others_s) ||
        share->tail_s[0] * 100 < LIMIT_TAIL_PERCENT * tail_s)
        return false;
    const struct roast_schedule_change first = {.first_dataset = share->dataset + 1};
    *saves_s = roast__saves(input, &first);
    return roast__saves_enough(input, *saves_s);
}

void roast__rule_uneven_datasets(const struct roast_rule_input *input,
                                 struct roast_finding *finding)
{
    struct tail tail = read_tail(input);
    struct dataset_share share;

    roast__add_cost(input, finding, ROAST_SLICE_idle_tail);
    if (!roast__is_significant(input, finding->cost_s) ||
        !is_dataset_the_tail(input, &tail, &share, &finding->saves_s))
        return;
    finding->found = true;
    roast__set_text(finding, "dataset",
                    roast__strings_get(&input->ctx->run->strings, share.dataset));
    roast__set_number(finding, "slow", share.seconds[0] / share.chunks[0], "s");
    roast__set_number(finding, "others", share.seconds[1] / share.chunks[1], "s");
    roast__set_number(finding, "tail", tail.seconds, "s");
}

/* What the last chunk costs: first because it started late, or else because it is slow.
 * 0: neither saves enough. */
static double saves_of_last(const struct roast_rule_input *input,
                            const struct tail *tail, bool *starts_late)
{
    const struct roast_schedule_change first = {.first_row = tail->last_row + 1};
    const struct roast_schedule_change faster = {.longest_s = tail->median_s};
    double saves_s = roast__saves(input, &first);

    *starts_late = roast__saves_enough(input, saves_s);
    if (!*starts_late)
        saves_s = roast__saves(input, &faster);
    return roast__saves_enough(input, saves_s) ? saves_s : 0;
}

void roast__rule_last_chunks(const struct roast_rule_input *input,
                             struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &input->model;
    struct tail tail = read_tail(input);
    struct dataset_share share;
    bool starts_late = false;
    double saves_s;

    roast__add_cost(input, finding, ROAST_SLICE_idle_tail);
    if (model->chunks < peak_threads(input) ||
        !roast__is_significant(input, finding->cost_s) ||
        is_dataset_the_tail(input, &tail, &share, &saves_s))
        return;
    double slow_s = tail.last_s > LIMIT_SLOW_TIMES * tail.median_s
                        ? saves_of_last(input, &tail, &starts_late)
                        : 0;
    /* some threads always end before others */
    double smaller_s =
        input->best_size < model->current_size ? saved_by(input, input->best_size) : 0;
    bool is_slow = slow_s > 0;
    finding->saves_s = is_slow ? slow_s : smaller_s;
    finding->found = is_slow || roast__saves_enough(input, smaller_s);
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
            starts_late
                ? "put {file} first in the fileset; see why it took so long on "
                  "{host}{?cause}: get_metrics()['stragglers'] // start the slow chunk "
                  "first: get_metrics()['stragglers']"
                : "see why {file} took so long on {host}{?cause}: "
                  "get_metrics()['stragglers'] // see why the last chunk took so long: "
                  "get_metrics()['stragglers']";
}
