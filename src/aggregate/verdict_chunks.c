/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict_chunks.c - rules about how the work is cut: chunks, files, tasks, threads.
 *
 * All suggest a chunksize of the same wall-time model (chunksize.c). */
#include "aggregate/verdict_limits.h"
#include "aggregate/verdict_text.h"

/* Seconds that a chunk costs whatever it holds, as the model counts them. */
static void claim_per_chunk(const struct roast_case *at, struct roast_finding *finding)
{
    roast__claim(at, finding, ROAST_SLICE_open);
    roast__claim(at, finding, ROAST_SLICE_form);
    roast__claim(at, finding, ROAST_SLICE_result);
    if (!at->on_cluster)
        return;
    roast__claim(at, finding, ROAST_SLICE_dispatch);
    roast__claim(at, finding, ROAST_SLICE_reduce);
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

static void tell_costs(const struct roast_case *at, struct roast_finding *finding)
{
    double events = events_per_chunk(&at->model);

    roast__say(finding, "per_chunk", at->model.per_chunk_s, "s");
    roast__say(finding, "per_events", at->model.per_event_s * events, "s");
    roast__say_size(finding, "events", events);
}

static void tell_sizes(const struct roast_case *at, struct roast_finding *finding,
                       double suggested)
{
    roast__say_size(finding, "suggested", suggested);
    roast__say_size(finding, "now", at->model.now_events);
}

/* "; memory 0.9 -> ~1.6 of 4 GB" */
static void tell_memory(const struct roast_case *at, struct roast_finding *finding,
                        double suggested)
{
    double before = roast__chunk_model_bytes(&at->model, at->model.now_events);
    double after = roast__chunk_model_bytes(&at->model, suggested);

    if (isnan(before) || isnan(after))
        return;
    roast__say(finding, "before", before, "B");
    roast__say(finding, "after", after, "B");
    roast__say(finding, "limit", at->model.limit_bytes, "B");
    roast__say_made(finding, "memory",
                    isnan(at->model.limit_bytes)
                        ? "; memory per worker {before} -> about {after}"
                        : "; memory per worker {before} -> about {after} of {limit}");
}

static bool saves_enough(const struct roast_case *at, double saves_s)
{
    return saves_s * 100 >= LIMIT_SAVES_PERCENT * at->wall_s;
}

static double peak_threads(const struct roast_case *at)
{
    const struct roast_schedule *schedule = &at->study->budget->schedule;
    double threads = 0;

    if (at->study->run->offer_count == 0) {
        for (size_t i = 0; i < schedule->shift_count; i++)
            threads += (double)schedule->shifts[i].threads;
        return threads;
    }
    for (size_t i = 0; i < at->study->run->offer_count; i++)
        threads = fmax(threads, (double)at->study->run->offers[i].threads);
    return threads;
}

/* With few chunks per thread a run is all beginning and end. */
static bool are_many(const struct roast_case *at)
{
    return at->model.chunks >= LIMIT_MANY_CHUNKS * peak_threads(at);
}

/* ---- too small ------------------------------------------------------------------- */

void roast__rule_chunks_too_small(const struct roast_case *at,
                                  struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;

    if (!is_dominated(model))
        return;
    double best = at->best_size;
    double fewer = model->chunks - roast__chunk_model_chunks(model, best);
    double saves_s = roast__chunk_model_wall(model, model->now_events) -
                     roast__chunk_model_wall(model, best);
    claim_per_chunk(at, finding);
    finding->cost_s = fewer * model->per_chunk_s;
    finding->saves_s = saves_s;
    finding->found = best > model->now_events && saves_enough(at, saves_s) &&
                     roast__is_worth(at, finding->cost_s);
    tell_costs(at, finding);
    tell_sizes(at, finding, best);
    tell_memory(at, finding, best);
}

void roast__rule_files_too_small(const struct roast_case *at,
                                 struct roast_finding *finding)
{
    const struct roast_chunk_model model = at->model;
    struct roast_file_sizes room;

    if (!is_dominated(&model) || model.chunks > 1.2 * model.files)
        return;
    struct roast_chunk_model merged = roast__chunk_model_merged(&model, &room);
    double best = roast__chunk_model_best(&merged);
    double made = roast__chunk_model_chunks(&merged, best);
    double saves_s = roast__chunk_model_wall(&model, INFINITY) -
                     roast__chunk_model_wall(&merged, best);
    claim_per_chunk(at, finding);
    finding->cost_s = (model.chunks - made) * model.per_chunk_s;
    finding->saves_s = saves_s;
    finding->found = made < model.chunks && saves_enough(at, saves_s) &&
                     roast__is_worth(at, finding->cost_s);
    tell_costs(at, finding);
    roast__say_size(finding, "files", model.files);
    roast__say_size(finding, "suggested", best);
}

void roast__rule_tasks_too_short(const struct roast_case *at,
                                 struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;
    double events_s = model->per_event_s * model->events;
    double chunk_s = at->inside_s / model->chunks;

    roast__claim(at, finding, ROAST_SLICE_dispatch);
    if (!at->on_cluster || !are_many(at) || !(events_s > 0) ||
        !(chunk_s * 1e3 < LIMIT_SHORT_TASK_MS) || !roast__is_worth(at, finding->cost_s))
        return;
    double long_enough = model->now_events * LIMIT_TARGET_TASK_S / chunk_s;
    double most = model->events / model->threads; /* one chunk for each thread */
    double size = at->best_size;
    if (size <= model->now_events)
        size = roast__friendly(fmin(long_enough, most));
    finding->found = size > model->now_events && roast__chunk_model_fits(model, size);
    roast__say(finding, "dispatch", finding->cost_s, "s");
    roast__say_count(finding, "chunks", model->chunks, "chunk");
    roast__say(finding, "seconds", chunk_s, "s");
    tell_sizes(at, finding, size);
}

/* ---- too few --------------------------------------------------------------------- */

void roast__rule_few_threads_busy(const struct roast_case *at,
                                  struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;
    double threads = peak_threads(at);

    roast__claim(at, finding, ROAST_SLICE_idle_tail);
    roast__claim(at, finding, ROAST_SLICE_idle_starved);
    if (!(model->chunks > 0) || model->chunks >= threads ||
        !roast__is_worth(at, finding->cost_s))
        return;
    double best = at->best_size;
    double saves_s = roast__chunk_model_wall(model, model->now_events) -
                     roast__chunk_model_wall(model, best);
    finding->found = true;
    finding->saves_s = fmax(0, saves_s);
    roast__say_count(finding, "chunks", model->chunks, "chunk");
    roast__say_count(finding, "threads", threads, "thread");
    tell_sizes(at, finding, best);
    roast__say_size(finding, "made", roast__chunk_model_chunks(model, best));
    if (!(best < model->now_events) || !saves_enough(at, saves_s))
        finding->advice = "smaller chunks would not be faster: ask for fewer threads, "
                          "{chunks} cannot "
                          "use more";
}

void roast__rule_no_work_sent(const struct roast_case *at,
                              struct roast_finding *finding)
{
    double chunks = at->model.chunks, threads = peak_threads(at);

    roast__claim(at, finding, ROAST_SLICE_idle_starved);
    /* what a worker took with it was not there to be sent meanwhile */
    finding->cost_s -= at->slices[ROAST_SLICE_lost] * (threads - 1);
    if (!at->on_cluster || !are_many(at) || !roast__is_worth(at, finding->cost_s))
        return;
    finding->found = true;
    roast__say(finding, "idle", finding->cost_s, "s");
    roast__say_count(finding, "chunks", chunks, "chunk");
    roast__say_count(finding, "threads", threads, "thread");
}

/* ---- the tail -------------------------------------------------------------------- */

/* The longest stretch in which the last chunks of a call ran. */
struct tail {
    int64_t from_ns;
    int64_t to_ns;
    double seconds; /* of all such stretches */
    double running; /* chunks that ended in it */
    double median_s;
    const struct roast_job *last; /* of chunks; NULL: there is none */
};

static void find_stretch(struct tail *tail, const struct roast_budget *budget)
{
    const struct roast_phases *phases = &budget->phases;

    for (size_t i = 0; i < phases->count; i++) {
        if (phases->steps[i].phase != ROAST_PHASE_TAIL)
            continue;
        int64_t from_ns = phases->steps[i].from_ns;
        int64_t to_ns =
            i + 1 < phases->count ? phases->steps[i + 1].from_ns : budget->end_ns;
        tail->seconds += roast__seconds_between(from_ns, to_ns);
        if (roast__time_between(from_ns, to_ns) >
            roast__time_between(tail->from_ns, tail->to_ns)) {
            tail->from_ns = from_ns;
            tail->to_ns = to_ns;
        }
    }
}

static struct tail find_tail(const struct roast_case *at)
{
    const struct roast_schedule *schedule = &at->study->budget->schedule;
    struct roast_quantiles seconds = {0};
    struct tail tail = {.median_s = NAN};

    find_stretch(&tail, at->study->budget);
    for (size_t i = 0; i < schedule->job_count; i++) {
        const struct roast_job *job = &schedule->jobs[i];
        double own_s = roast__seconds_between(job->start_ns, job->stop_ns);
        if (job->row_count == 0)
            continue;
        roast__quantiles_add(&seconds, &own_s, 1);
        if (job->stop_ns <= tail.from_ns || job->stop_ns > tail.to_ns)
            continue;
        tail.running++;
        if (!tail.last || job->stop_ns > tail.last->stop_ns)
            tail.last = job;
    }
    tail.median_s = roast__quantiles_get(&seconds, 0.5);
    at->study->summary->failed |= seconds.failed;
    roast__quantiles_release(&seconds);
    return tail;
}

static uint32_t last_row(const struct roast_case *at, const struct tail *tail)
{
    return at->study->budget->schedule
        .rows[tail->last->first_row + tail->last->row_count - 1];
}

static struct roast_str text_of(const struct roast_case *at, int32_t number)
{
    return roast__strings_get(&at->study->run->strings, number);
}

static int32_t dataset_of_last(const struct roast_case *at, const struct tail *tail)
{
    const struct roast_attempts *attempts = &at->study->run->attempts;
    int32_t source = attempts->source[last_row(at, tail)];

    return source >= 0 ? attempts->sources[source].dataset : ROAST_NO_STRING;
}

static void tell_last(const struct roast_case *at, struct roast_finding *finding,
                      const struct tail *tail)
{
    const struct roast_attempts *attempts = &at->study->run->attempts;
    uint32_t row = last_row(at, tail);
    int32_t source = attempts->source[row];
    int32_t host = attempts->processes[attempts->process[row]].host;

    roast__say_file(
        finding, "file",
        text_of(at, source >= 0 ? attempts->sources[source].file : ROAST_NO_STRING));
    roast__say_text(finding, "host",
                    text_of(at, host != ROAST_NO_STRING ? host : at->study->run->host));
}

/* " (waited longer)": why the last one came so late, where that is known. */
static void tell_cause(const struct roast_case *at, struct roast_finding *finding)
{
    const struct roast_table *stragglers = roast__case_table(at, "stragglers");
    struct roast_str cause = roast__case_text(stragglers, 0, "cause");

    if (!cause.data)
        return;
    roast__say_text(finding, "why", cause);
    roast__say_made(finding, "cause", " ({why})");
}

void roast__rule_last_chunks(const struct roast_case *at, struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;

    roast__claim(at, finding, ROAST_SLICE_idle_tail);
    if (model->chunks < peak_threads(at) || !roast__is_worth(at, finding->cost_s))
        return;
    struct tail tail = find_tail(at);
    if (!tail.last)
        return;
    double last_s = roast__seconds_between(tail.last->start_ns, tail.last->stop_ns);
    double best = at->best_size;
    bool is_slow = last_s > LIMIT_SLOW_TIMES * tail.median_s;
    /* some threads end before others, whatever is done */
    finding->found = is_slow || best < model->now_events;
    roast__say(finding, "tail", tail.seconds, "s");
    roast__say_count(finding, "count", tail.running, "chunk");
    roast__say(finding, "seconds", last_s, "s");
    roast__say(finding, "median", tail.median_s, "s");
    tell_last(at, finding, &tail);
    tell_sizes(at, finding, best);
    if (is_slow)
        finding->advice = "see why {file} took so long on {host}{cause}: get_metrics()"
                          "['stragglers']; put it first in the fileset";
    tell_cause(at, finding);
}

/* ---- datasets -------------------------------------------------------------------- */

/* The mean chunk of one dataset, and of all others, in seconds inside process(). */
static void compare_dataset(const struct roast_case *at, int32_t dataset,
                            double means[2])
{
    const struct roast_attempts *attempts = &at->study->run->attempts;
    const struct roast_totals *totals = at->study->totals;
    double sums[2] = {0, 0}, chunks[2] = {0, 0};

    for (size_t i = 0; i < attempts->source_count; i++) {
        const struct roast_group *group = &totals->of_source[i + 1];
        int other = attempts->sources[i].dataset != dataset;
        sums[other] += group->sums[ROAST_DURATION_NS] / 1e9;
        chunks[other] += group->chunks - group->without[ROAST_DURATION_NS];
    }
    for (int i = 0; i < 2; i++)
        means[i] = chunks[i] > 0 ? sums[i] / chunks[i] : NAN;
}

void roast__rule_uneven_datasets(const struct roast_case *at,
                                 struct roast_finding *finding)
{
    double means[2];

    roast__claim(at, finding, ROAST_SLICE_idle_tail);
    if (!roast__is_worth(at, finding->cost_s))
        return;
    struct tail tail = find_tail(at);
    if (!tail.last || dataset_of_last(at, &tail) == ROAST_NO_STRING)
        return;
    compare_dataset(at, dataset_of_last(at, &tail), means);
    finding->found = means[0] > LIMIT_UNEVEN_TIMES * means[1];
    if (!finding->found)
        return;
    double size = at->model.now_events * means[1] / means[0];
    roast__say_text(finding, "dataset", text_of(at, dataset_of_last(at, &tail)));
    roast__say(finding, "slow", means[0], "s");
    roast__say(finding, "others", means[1], "s");
    roast__say(finding, "tail", tail.seconds, "s");
    roast__say_size(finding, "suggested", roast__friendly(size));
}
