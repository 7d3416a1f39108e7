/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - which part of each job of a shift had a thread.
 *
 * Jobs take threads in order of their start, each the one that has been free longest;
 * what does not fit is cut off. Jobs with an unknown start come last: such a job gets, up
 * to its stop, the thread that has been free longest, for as long as it was free. So it
 * never takes time from a job with known times. */
#include "analyze/budget/threads.h"

#include <stdlib.h>

#include "analyze/heap.h"
#include "analyze/timeline.h"
#include "base/mem.h"

/* In the order in which events of the same time are handled. */
enum event_kind { JOB_STOPS, UNKNOWN_STOPS, JOB_STARTS };

struct thread_event {
    int64_t time_ns;
    enum event_kind kind;
    uint32_t job;
};

bool roast__threads_reserve(struct roast_threads *threads,
                            const struct roast_schedule *schedule, size_t most_jobs)
{
    size_t events = schedule->any_start_unknown ? 2 * most_jobs : 0;
    size_t most = 0; /* threads that can be busy in a shift */

    for (size_t i = 0; i < schedule->shift_count; i++) {
        uint64_t own = schedule->shifts[i].threads;
        own = own < most_jobs ? own : most_jobs;
        most = own > most ? (size_t)own : most;
    }
    threads->free_at = roast__realloc(NULL, most * sizeof(threads->free_at[0]));
    threads->events = roast__realloc(NULL, events * sizeof(threads->events[0]));
    return threads->free_at && threads->events;
}

void roast__threads_release(struct roast_threads *threads)
{
    roast__free(threads->free_at);
    roast__free(threads->events);
    *threads = (struct roast_threads){.free_at = NULL};
}

/* More threads than jobs make no difference. Returns their number. */
static size_t free_all(struct roast_threads *threads,
                       const struct roast_shift_jobs *shift_jobs)
{
    const struct roast_shift *shift = shift_jobs->shift;
    size_t count =
        shift->threads < shift_jobs->count ? (size_t)shift->threads : shift_jobs->count;

    for (size_t i = 0; i < count; i++)
        threads->free_at[i] = (struct roast_keyed){shift->from_ns, 0};
    return count;
}

/* ---- jobs with a known start ----------------------------------------------------- */

/* free_at is a heap, the earliest first. */
static void fit_job(struct roast_threads *threads, size_t thread_count,
                    const struct roast_shift_jobs *shift_jobs, size_t number)
{
    const struct roast_shift *shift = shift_jobs->shift;
    const struct roast_job *job = &shift_jobs->jobs[number];
    int64_t free_ns = thread_count > 0 ? threads->free_at[0].key : INT64_MAX;
    int64_t to_ns = roast__time_clamp(job->stop_ns, shift->from_ns, shift->to_ns);
    int64_t from_ns = roast__time_clamp(job->start_ns, shift->from_ns, to_ns);

    if (free_ns > from_ns)
        from_ns = free_ns < to_ns ? free_ns : to_ns;
    shift_jobs->fitted[number][0] = from_ns;
    shift_jobs->fitted[number][1] = to_ns;
    if (to_ns > from_ns) {
        threads->free_at[0].key = to_ns;
        roast__heap_sift_down(threads->free_at, thread_count);
    }
}

/* The seconds of a job within the run without a thread. */
static double cut_off_s(const struct roast_job *job, const int64_t fitted[2],
                        const int64_t run[2])
{
    int64_t to_ns = roast__time_clamp(job->stop_ns, run[0], run[1]);
    int64_t from_ns = roast__time_clamp(job->start_ns, run[0], to_ns);
    int64_t cut_ns =
        roast__time_between(from_ns, to_ns) - roast__time_between(fitted[0], fitted[1]);

    return cut_ns > 0 ? (double)cut_ns / 1e9 : 0;
}

/* ---- jobs with an unknown start -------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct thread_event *left = a, *right = b;

    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return (left->job > right->job) - (left->job < right->job);
}

static size_t list_events(struct thread_event *events,
                          const struct roast_shift_jobs *shift_jobs)
{
    const struct roast_shift *shift = shift_jobs->shift;
    size_t count = 0;

    for (uint32_t i = 0; i < shift_jobs->count; i++) {
        const struct roast_job *job = &shift_jobs->jobs[i];
        const int64_t *fitted = shift_jobs->fitted[i];
        if (job->start_unknown) {
            int64_t stop_ns =
                roast__time_clamp(job->stop_ns, shift->from_ns, shift->to_ns);
            events[count++] = (struct thread_event){stop_ns, UNKNOWN_STOPS, i};
        } else if (fitted[1] > fitted[0]) {
            events[count++] = (struct thread_event){fitted[0], JOB_STARTS, i};
            events[count++] = (struct thread_event){fitted[1], JOB_STOPS, i};
        }
    }
    if (count > 1)
        qsort(events, count, sizeof(events[0]), by_time);
    return count;
}

/* free_at is a ring of the free threads, the one that has been free longest first. */
static void fit_unknown_starts(struct roast_threads *threads,
                               const struct roast_shift_jobs *shift_jobs)
{
    size_t thread_count = free_all(threads, shift_jobs);
    size_t first = 0, free_count = thread_count;
    size_t event_count = list_events(threads->events, shift_jobs);

    for (size_t i = 0; i < event_count; i++) {
        const struct thread_event *event = &threads->events[i];
        int64_t *fitted = shift_jobs->fitted[event->job];
        if (event->kind == JOB_STARTS) {
            free_count--;
            continue;
        }
        if (event->kind == UNKNOWN_STOPS) {
            fitted[0] = fitted[1] = event->time_ns;
            if (free_count == 0)
                continue;
            fitted[0] = roast__time_clamp(shift_jobs->jobs[event->job].start_ns,
                                          threads->free_at[first].key, fitted[1]);
            first = (first + 1) % thread_count;
            free_count--;
        }
        threads->free_at[(first + free_count++) % thread_count].key = event->time_ns;
    }
}

/* ---- all ------------------------------------------------------------------------- */

double roast__threads_fit(struct roast_threads *threads,
                          const struct roast_shift_jobs *shift_jobs,
                          const int64_t run[2])
{
    size_t thread_count = free_all(threads, shift_jobs);
    bool any_start_unknown = false;
    double cut_s = 0;

    for (size_t i = 0; i < shift_jobs->count; i++) {
        any_start_unknown |= shift_jobs->jobs[i].start_unknown;
        if (shift_jobs->jobs[i].start_unknown)
            continue;
        fit_job(threads, thread_count, shift_jobs, i);
        cut_s += cut_off_s(&shift_jobs->jobs[i], shift_jobs->fitted[i], run);
    }
    if (any_start_unknown)
        fit_unknown_starts(threads, shift_jobs);
    return cut_s;
}
