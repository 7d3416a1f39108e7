/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule_model.c - how long the chunks of a run would take after a change.
 *
 * The chunks of each call of Runner.run have a window of time: the phases `chunks` and
 * `tail`; so has its preprocessing. Two replays of a window begin with its threads and end
 * with its last chunk, or the last file that was preprocessed; their quotient times the
 * measured length is what the change leaves of it. Other jobs (merging, tasks of others)
 * take threads in between. */
#include "analyze/findings/schedule_model.h"

#include "analyze/formulas.h"
#include "analyze/heap.h"
#include "analyze/record_iter.h"
#include "analyze/timeline.h"
#include "base/mem.h"

enum { MOST_THREADS = 1 << 20 };

/* The slices of a chunk are the first ones, and are items of its ladder. */
static const uint64_t ladder_slices = (UINT64_C(2) << ROAST_SLICE_result) - 1;

struct window {
    int64_t from_ns;
    int64_t to_ns;
    size_t first; /* of its jobs, in `order` */
    size_t count;
    int64_t replayed_ns; /* without any change */
    bool has_chunks;
};

/* A thread without a job before the job, by reason. */
struct gap {
    int64_t dispatch_ns;
    int64_t starved_ns;
    bool first; /* the first job of its shift */
};

struct roast_schedule_model {
    const struct roast_summary_context *ctx;
    struct window *windows; /* owned */
    size_t window_count;
    struct roast_keyed *order; /* owned; jobs by window, then by start in it */
    struct gap *gaps;          /* owned; per job of the budget */
    struct roast_keyed *slots; /* owned; of all shifts: when each thread is free */
    size_t slot_count;
    double wall_s;
};

/* ---- windows --------------------------------------------------------------------- */

static bool has_chunks(enum roast_phase phase)
{
    return phase == ROAST_PHASE_CHUNKS || phase == ROAST_PHASE_TAIL;
}

/* False when out of memory. */
static bool find_windows(struct roast_schedule_model *model)
{
    const struct roast_phases *phases = &model->ctx->budget->phases;

    model->windows = roast__alloc(phases->count * sizeof(model->windows[0]));
    for (size_t i = 0; model->windows && i < phases->count; i++) {
        const struct roast_phase_interval *interval = &phases->intervals[i];
        int64_t to_ns =
            i + 1 < phases->count ? interval[1].from_ns : model->ctx->budget->end_ns;
        bool chunks = has_chunks(interval->phase);
        if ((!chunks && interval->phase != ROAST_PHASE_PREPROCESS) ||
            to_ns <= interval->from_ns)
            continue;
        if (interval->phase == ROAST_PHASE_TAIL && i > 0 &&
            has_chunks(interval[-1].phase) && model->window_count > 0)
            model->windows[model->window_count - 1].to_ns = to_ns;
        else
            model->windows[model->window_count++] = (struct window){
                .from_ns = interval->from_ns, .to_ns = to_ns, .has_chunks = chunks};
    }
    return model->windows != NULL;
}

/* The last window that begins until then; NULL: none. */
static struct window *window_until(const struct roast_schedule_model *model,
                                   int64_t time_ns)
{
    size_t begun =
        roast__count_until(&model->windows[0].from_ns, sizeof(model->windows[0]),
                           model->window_count, time_ns);

    return begun > 0 ? &model->windows[begun - 1] : NULL;
}

static bool has_times(const struct roast_job *job)
{
    return job->stop_ns > job->start_ns && !job->start_unknown;
}

/* The window in which a job started; NULL: in none. */
static struct window *window_of(const struct roast_schedule_model *model,
                                const struct roast_job *job)
{
    struct window *window = window_until(model, job->start_ns);

    return window && job->start_ns < window->to_ns && has_times(job) ? window : NULL;
}

/* The last window that a job reaches which started before it; NULL: none. */
static struct window *reached_window(const struct roast_schedule_model *model,
                                     const struct roast_job *job)
{
    struct window *window = window_until(model, roast__sat_sub(job->stop_ns, 1));

    return window && window->from_ns > job->start_ns && has_times(job) ? window : NULL;
}

/* ---- gaps ------------------------------------------------------------------------ */

static bool is_chunk_job(const struct roast_job *job)
{
    return job->kind == ROAST_SLICE_unexplained || job->kind == ROAST_SLICE_other;
}

/* What a thread did from `free_ns` to the start of a job. Without a scheduler
 * the pool has all jobs from the beginning. */
static struct gap gap_before(const struct roast_schedule *schedule,
                             const struct roast_job *job, int64_t free_ns)
{
    int64_t sent_ns = schedule->has_scheduler
                          ? roast__time_clamp(job->assigned_ns, free_ns, job->start_ns)
                          : free_ns;

    return (struct gap){.dispatch_ns = roast__time_between(sent_ns, job->start_ns),
                        .starved_ns = schedule->has_scheduler
                                          ? roast__time_between(free_ns, sent_ns)
                                          : 0};
}

/* Jobs of a shift take its threads as in the replay: the one that is free first. */
static void find_gaps(struct roast_schedule_model *model)
{
    const struct roast_schedule *schedule = &model->ctx->budget->schedule;
    size_t job = 0;

    for (size_t i = 0; i < schedule->shift_count; i++) {
        const struct roast_shift *shift = &schedule->shifts[i];
        size_t threads = (size_t)shift->threads, first = job;
        for (size_t k = 0; k < threads; k++)
            model->slots[k] = (struct roast_keyed){shift->from_ns, 0};
        for (; job < schedule->job_count && schedule->jobs[job].shift == i; job++) {
            const struct roast_job *own = &schedule->jobs[job];
            const struct window *window = window_of(model, own);
            if (threads == 0 || !has_times(own))
                continue;
            int64_t free_ns = model->slots[0].key;
            if (window && window->from_ns > free_ns)
                free_ns = window->from_ns;
            model->gaps[job] = gap_before(schedule, own, free_ns);
            model->gaps[job].first = job == first;
            model->slots[0].key = own->stop_ns;
            roast__heap_sift_down(model->slots, threads);
        }
    }
}

/* ---- making it ------------------------------------------------------------------- */

/* False when out of memory. */
static bool order_jobs(struct roast_schedule_model *model)
{
    const struct roast_schedule *schedule = &model->ctx->budget->schedule;
    size_t count = 0, number = 0;

    model->order = roast__keyed_new(2 * schedule->job_count);
    if (!model->order)
        return false;
    for (uint32_t job = 0; job < schedule->job_count; job++) {
        const struct roast_job *own = &schedule->jobs[job];
        const struct window *reached = reached_window(model, own);
        if (window_of(model, own))
            model->order[count++] = (struct roast_keyed){own->start_ns, job};
        if (reached)
            model->order[count++] = (struct roast_keyed){reached->from_ns, job};
    }
    roast__keyed_sort(model->order, model->order + 2 * schedule->job_count, count);
    for (size_t i = 0; i < model->window_count; i++) {
        struct window *window = &model->windows[i];
        window->first = number;
        while (number < count && model->order[number].key < window->to_ns)
            number++;
        window->count = number - window->first;
    }
    return true;
}

static int64_t replay(const struct roast_schedule_model *model,
                      const struct window *window,
                      const struct roast_schedule_change *change);

struct roast_schedule_model *roast__schedule_model_new(
    const struct roast_summary_context *ctx)
{
    static const struct roast_schedule_change none = {0};
    const struct roast_schedule *schedule = &ctx->budget->schedule;
    struct roast_schedule_model *model = roast__alloc(sizeof(*model));
    uint64_t threads = 0;

    if (!model)
        return NULL;
    model->ctx = ctx;
    for (size_t i = 0; i < schedule->shift_count; i++) {
        if (__builtin_add_overflow(threads, schedule->shifts[i].threads, &threads) ||
            threads > MOST_THREADS)
            return model; /* times of so many threads come from a damaged file */
    }
    model->slot_count = (size_t)threads;
    model->slots =
        roast__alloc(ROAST_MOST_TIMES * model->slot_count * sizeof(model->slots[0]));
    model->gaps = roast__alloc(schedule->job_count * sizeof(model->gaps[0]));
    bool done = model->slots && model->gaps && find_windows(model);
    if (done) {
        find_gaps(model);
        done = order_jobs(model);
    }
    for (size_t i = 0; done && i < model->window_count; i++) {
        struct window *window = &model->windows[i];
        window->replayed_ns = replay(model, window, &none);
        if (window->has_chunks)
            model->wall_s += roast__seconds_between(window->from_ns, window->to_ns);
    }
    if (done)
        return model;
    roast__schedule_model_free(model);
    return NULL;
}

void roast__schedule_model_free(struct roast_schedule_model *model)
{
    if (!model)
        return;
    roast__free(model->windows);
    roast__free(model->order);
    roast__free(model->gaps);
    roast__free(model->slots);
    roast__free(model);
}

/* ---- changes --------------------------------------------------------------------- */

static bool goes(const struct roast_schedule_change *change, enum roast_slice slice)
{
    return (change->slices >> slice) & 1;
}

/* The seconds of an attempt that go, before `part` is taken of them. */
static double goes_of_row(const struct roast_schedule_model *model, size_t row,
                          const struct roast_schedule_change *change)
{
    const uint64_t items = (change->slices & ladder_slices) | change->times;
    enum roast_role role = (enum roast_role)model->ctx->totals->roles.of_row[row];
    struct roast_ladder ladder;
    roast_record rec;
    double seconds = 0;

    if (role == ROAST_ROLE_FAILED || role == ROAST_ROLE_REPEAT) {
        double took_s = roast__attempt_seconds(&model->ctx->run->attempts, row);
        bool whole = goes(change, role == ROAST_ROLE_FAILED ? ROAST_SLICE_failed
                                                            : ROAST_SLICE_skipped);
        return whole && took_s > 0 ? took_s : 0;
    }
    if (items == 0)
        return 0;
    (void)roast__attempt_fields(model->ctx->run, row, ROAST_FIELD_BIT(ladder), &rec);
    if (!roast_record_has(&rec, ROAST_FIELD_ladder) ||
        roast_ladder_read(&ladder, rec.values[ROAST_FIELD_ladder].str, NULL) < 0)
        return 0;
    for (uint64_t left = items & ladder.present; left != 0; left &= left - 1)
        seconds += (double)ladder.values[__builtin_ctzll(left)] / 1e9;
    return seconds;
}

/* Times come from untrusted files. */
static int64_t whole_ns(double ns)
{
    return ns > 0 ? (int64_t)fmin(ns, 9e18) : 0;
}

/* How long a job takes after the change. */
static int64_t length_of(const struct roast_schedule_model *model,
                         const struct roast_job *job,
                         const struct roast_schedule_change *change)
{
    const uint32_t *rows = model->ctx->budget->schedule.rows;
    double length_s = roast__seconds_between(job->start_ns, job->stop_ns), going_s = 0;

    if (job->row_count == 0)
        going_s = goes(change, (enum roast_slice)job->slice) ? length_s : 0;
    for (uint32_t i = 0; i < job->row_count && (change->slices | change->times); i++)
        going_s += goes_of_row(model, rows[job->first_row + i], change);
    length_s -= going_s * (change->part > 0 ? change->part : 1);
    if (change->longest_s > 0 && is_chunk_job(job))
        length_s = fmin(length_s, change->longest_s);
    return whole_ns(length_s * 1e9);
}

static int64_t length_of_gap(const struct gap *gap,
                             const struct roast_schedule_change *change)
{
    enum roast_slice sending =
        gap->first ? ROAST_SLICE_dispatch_first : ROAST_SLICE_dispatch;
    double stays = 1 - (change->part > 0 ? change->part : 1);

    return whole_ns((double)gap->dispatch_ns * (goes(change, sending) ? stays : 1) +
                    (double)gap->starved_ns *
                        (goes(change, ROAST_SLICE_idle_starved) ? stays : 1));
}

/* A job that a window began with waited before it, and is shorter in it. */
static struct gap gap_in(const struct roast_schedule_model *model,
                         const struct window *window, size_t position)
{
    uint32_t item = model->order[window->first + position].item;
    const struct roast_job *job = &model->ctx->budget->schedule.jobs[item];

    return job->start_ns < window->from_ns ? (struct gap){0} : model->gaps[item];
}

static int64_t length_in(const struct roast_schedule_model *model,
                         const struct window *window, const struct roast_job *job,
                         const struct roast_schedule_change *change)
{
    double length_ns = (double)length_of(model, job, change);

    if (job->start_ns < window->from_ns)
        length_ns *= roast__seconds_between(window->from_ns, job->stop_ns) /
                     roast__seconds_between(job->start_ns, job->stop_ns);
    return (int64_t)length_ns;
}

static bool starts_first(const struct roast_schedule_model *model,
                         const struct roast_job *job,
                         const struct roast_schedule_change *change)
{
    const struct roast_attempts *attempts = &model->ctx->run->attempts;

    if (job->row_count == 0)
        return false;
    size_t row = model->ctx->budget->schedule.rows[job->first_row];
    int32_t source = attempts->source[row];
    return (change->first_row > 0 && row == change->first_row - 1) ||
           (change->first_dataset > 0 && source >= 0 &&
            attempts->sources[source].dataset == change->first_dataset - 1);
}

/* ---- the replay ------------------------------------------------------------------ */

/* Fills the threads of a window; returns their number. */
static size_t open_slots(const struct roast_schedule_model *model,
                         const struct window *window,
                         const struct roast_schedule_change *change)
{
    const struct roast_schedule *schedule = &model->ctx->budget->schedule;
    double times = change->threads > 0 ? change->threads : 1, owed = 0;
    size_t count = 0;

    for (size_t i = 0; i < schedule->shift_count; i++) {
        const struct roast_shift *shift = &schedule->shifts[i];
        int64_t from_ns = window->from_ns;
        if (shift->from_ns >= window->to_ns || shift->to_ns <= window->from_ns)
            continue;
        if (shift->from_ns > from_ns && !change->all_threads_from_start)
            from_ns = shift->from_ns;
        /* parts of a thread add up over the shifts, but for rounding */
        owed += (double)shift->threads * times;
        while (owed > 1 - 1e-6) {
            roast__heap_push(model->slots, &count,
                             (struct roast_keyed){from_ns, (uint32_t)i});
            owed -= 1;
        }
    }
    return count;
}

/* The jobs in front of a chunk that is the first of its fileset. A scheduler sends each
 * worker more chunks than it has threads, in another order: each thread of the begin may
 * have one before. */
static size_t jobs_in_front(const struct roast_schedule_model *model,
                            const struct window *window, size_t threads,
                            const struct roast_schedule_change *change)
{
    size_t count = 0;

    if (change->first_row == 0 || !model->ctx->budget->schedule.has_scheduler)
        return 0;
    for (size_t i = 0; i < threads; i++)
        count += model->slots[i].key == window->from_ns;
    return count;
}

/* The pass of a replay in which a job goes: 0 in front, 1 first, 2 after that. */
static int pass_of(const struct roast_schedule_model *model,
                   const struct roast_job *job, bool is_in_front,
                   const struct roast_schedule_change *change)
{
    if (is_in_front)
        return 0;
    return starts_first(model, job, change) ? 1 : 2;
}

/* Whether the thread that is free first has left. With fewer threads a window is longer:
 * those that stayed to its end stay. */
static bool has_left(const struct roast_schedule_model *model,
                     const struct window *window,
                     const struct roast_schedule_change *change)
{
    int64_t left_ns = model->ctx->budget->schedule.shifts[model->slots[0].item].to_ns;

    return model->slots[0].key >= left_ns &&
           (change->threads == 0 || left_ns < window->to_ns);
}

/* Time from the begin of a window to the end of its last chunk. */
static int64_t replay(const struct roast_schedule_model *model,
                      const struct window *window,
                      const struct roast_schedule_change *change)
{
    const struct roast_schedule *schedule = &model->ctx->budget->schedule;
    const struct roast_keyed *order = model->order + window->first;
    bool reorders = change->first_row > 0 || change->first_dataset > 0;
    size_t threads = open_slots(model, window, change), position = 0;
    const size_t in_front = jobs_in_front(model, window, threads, change);
    size_t begins = change->threads > 0 ? threads : SIZE_MAX;
    int64_t end_ns = window->from_ns;

    for (int pass = reorders ? 0 : 2; threads > 0 && pass <= 2; pass++) {
        for (size_t i = 0; i < window->count; i++) {
            const struct roast_job *job = &schedule->jobs[order[i].item];
            if (reorders && pass_of(model, job, i < in_front, change) != pass)
                continue;
            /* a thread that left gets no more jobs, unless it is the last one */
            while (threads > 1 && has_left(model, window, change))
                (void)roast__heap_pop(model->slots, &threads);
            /* gaps stay in their places when jobs change theirs */
            struct gap gap = gap_in(model, window, position++);
            if (gap.first && begins == 0)
                gap = (struct gap){0}; /* a thread begins once */
            begins -= gap.first;
            int64_t start_ns =
                roast__sat_add(model->slots[0].key, length_of_gap(&gap, change));
            int64_t stop_ns =
                roast__sat_add(start_ns, length_in(model, window, job, change));
            bool ends = window->has_chunks ? is_chunk_job(job)
                                           : job->kind == ROAST_SLICE_preprocess;
            if (ends && stop_ns > end_ns)
                end_ns = stop_ns;
            model->slots[0].key = stop_ns;
            roast__heap_sift_down(model->slots, threads);
        }
    }
    return roast__time_between(window->from_ns, end_ns);
}

double roast__schedule_model_waits(const struct roast_schedule_model *model,
                                   enum roast_slice kind)
{
    double seconds = 0;

    for (size_t i = 0; i < model->window_count; i++) {
        const struct window *window = &model->windows[i];
        for (size_t k = 0; window->has_chunks && k < window->count; k++) {
            uint32_t job = model->order[window->first + k].item;
            const struct gap gap = gap_in(model, window, k);
            if (model->ctx->budget->schedule.jobs[job].kind == kind && !gap.first)
                seconds += (double)(gap.dispatch_ns + gap.starved_ns) / 1e9;
        }
    }
    return seconds;
}

double roast__schedule_model_wall(const struct roast_schedule_model *model)
{
    return model->wall_s;
}

double roast__schedule_model_replayed(const struct roast_schedule_model *model)
{
    double seconds = 0;

    for (size_t i = 0; i < model->window_count; i++)
        seconds += model->windows[i].has_chunks
                       ? (double)model->windows[i].replayed_ns / 1e9
                       : 0;
    return seconds;
}

double roast__schedule_model_saves(const struct roast_schedule_model *model,
                                   const struct roast_schedule_change *change)
{
    double saves_s = 0;

    for (size_t i = 0; i < model->window_count; i++) {
        const struct window *window = &model->windows[i];
        double before = (double)window->replayed_ns;
        double after = before > 0 ? (double)replay(model, window, change) : 0;
        if (before > 0)
            saves_s += roast__seconds_between(window->from_ns, window->to_ns) *
                       (1 - after / before);
    }
    return saves_s;
}
