/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - which part of each job of a shift had a thread.
 *
 * Jobs take threads in the order in which they began, each the one that is free longest,
 * and what does not fit is cut off. Then come those whose begin is not known: when such a
 * job stops it has had the thread that was free longest, for as long as that was free.
 * So it never takes time from a job whose times are known. */
#include "analyze/budget/threads.h"

#include <stdlib.h>

#include "analyze/timeline.h"
#include "base/mem.h"

/* What happens to a thread at a time, in the order in which it does at one time. */
enum turn_kind { JOB_ENDS, GUESSED_ENDS, JOB_BEGINS };

struct turn {
    int64_t time_ns;
    enum turn_kind kind;
    uint32_t job;
};

bool roast__threads_reserve(struct roast_threads *threads, size_t jobs,
                            bool any_guessed)
{
    size_t turns = any_guessed ? 2 * jobs : 0;

    threads->free_ns = roast__realloc(NULL, jobs * sizeof(threads->free_ns[0]));
    threads->turns = roast__realloc(NULL, turns * sizeof(threads->turns[0]));
    return threads->free_ns && threads->turns;
}

void roast__threads_release(struct roast_threads *threads)
{
    roast__free(threads->free_ns);
    roast__free(threads->turns);
    *threads = (struct roast_threads){.free_ns = NULL};
}

/* More threads than jobs are all alike. */
static size_t useful_threads(const struct roast_crowd *crowd)
{
    return crowd->shift->threads < crowd->count ? (size_t)crowd->shift->threads
                                                : crowd->count;
}

static void free_all(struct roast_threads *threads, const struct roast_crowd *crowd)
{
    for (size_t i = 0; i < useful_threads(crowd); i++)
        threads->free_ns[i] = crowd->shift->from_ns;
}

/* ---- jobs that were seen to begin ------------------------------------------------ */

static void sink(int64_t *heap, size_t count)
{
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < count && heap[child] < heap[least])
                least = child;
        }
        if (least == at)
            return;
        int64_t held = heap[at];
        heap[at] = heap[least];
        heap[least] = held;
        at = least;
    }
}

/* free_ns is a heap, the soonest first. */
static void fit(struct roast_threads *threads, const struct roast_crowd *crowd,
                size_t number)
{
    const struct roast_shift *shift = crowd->shift;
    const struct roast_job *job = &crowd->jobs[number];
    size_t count = useful_threads(crowd);
    int64_t free_ns = count > 0 ? threads->free_ns[0] : INT64_MAX;
    int64_t to_ns = roast__time_clamp(job->stop_ns, shift->from_ns, shift->to_ns);
    int64_t from_ns = roast__time_clamp(job->start_ns, shift->from_ns, to_ns);

    if (free_ns > from_ns)
        from_ns = free_ns < to_ns ? free_ns : to_ns;
    crowd->fitted[number][0] = from_ns;
    crowd->fitted[number][1] = to_ns;
    if (to_ns > from_ns) {
        threads->free_ns[0] = to_ns;
        sink(threads->free_ns, count);
    }
}

/* The seconds of a job within the run that it did not get. */
static double cut_off(const struct roast_job *job, const int64_t fitted[2],
                      const int64_t run[2])
{
    int64_t to_ns = roast__time_clamp(job->stop_ns, run[0], run[1]);
    int64_t from_ns = roast__time_clamp(job->start_ns, run[0], to_ns);
    int64_t cut_ns =
        roast__time_between(from_ns, to_ns) - roast__time_between(fitted[0], fitted[1]);

    return cut_ns > 0 ? (double)cut_ns / 1e9 : 0;
}

/* ---- those that were not --------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct turn *left = a, *right = b;

    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return (left->job > right->job) - (left->job < right->job);
}

static size_t list_turns(struct roast_threads *threads, const struct roast_crowd *crowd)
{
    const struct roast_shift *shift = crowd->shift;
    struct turn *turns = threads->turns;
    size_t count = 0;

    for (uint32_t i = 0; i < crowd->count; i++) {
        const int64_t *fitted = crowd->fitted[i];
        if (crowd->jobs[i].guessed) {
            int64_t stop_ns =
                roast__time_clamp(crowd->jobs[i].stop_ns, shift->from_ns, shift->to_ns);
            turns[count++] = (struct turn){stop_ns, GUESSED_ENDS, i};
        } else if (fitted[1] > fitted[0]) {
            turns[count++] = (struct turn){fitted[0], JOB_BEGINS, i};
            turns[count++] = (struct turn){fitted[1], JOB_ENDS, i};
        }
    }
    if (count > 1)
        qsort(turns, count, sizeof(turns[0]), by_time);
    return count;
}

/* Threads that are free, by since when: free_ns as a ring. */
struct waiting_line {
    int64_t *since_ns;
    size_t cap;
    size_t first;
    size_t count;
};

static void step_back(struct waiting_line *line, int64_t time_ns)
{
    line->since_ns[(line->first + line->count++) % line->cap] = time_ns;
}

/* The thread that is free longest, from then on to the end of the job. */
static void guess(const struct roast_crowd *crowd, const struct turn *turn,
                  struct waiting_line *line)
{
    const struct roast_job *job = &crowd->jobs[turn->job];
    int64_t *fitted = crowd->fitted[turn->job];

    fitted[0] = fitted[1] = turn->time_ns;
    if (line->count == 0)
        return;
    fitted[0] =
        roast__time_clamp(job->start_ns, line->since_ns[line->first], fitted[1]);
    line->first = (line->first + 1) % line->cap;
    line->count--;
    step_back(line, turn->time_ns);
}

static void guess_all(struct roast_threads *threads, const struct roast_crowd *crowd)
{
    size_t count = useful_threads(crowd);
    struct waiting_line line = {.since_ns = threads->free_ns,
                                .cap = count > 0 ? count : 1, /* a ring has no end */
                                .count = count};
    size_t turns = list_turns(threads, crowd);

    free_all(threads, crowd);
    for (size_t i = 0; i < turns; i++) {
        const struct turn *turn = &threads->turns[i];
        switch (turn->kind) {
        case JOB_BEGINS:
            line.count--;
            break;
        case JOB_ENDS:
            step_back(&line, turn->time_ns);
            break;
        case GUESSED_ENDS:
            guess(crowd, turn, &line);
        }
    }
}

/* ---- all ------------------------------------------------------------------------- */

double roast__threads_fit(struct roast_threads *threads,
                          const struct roast_crowd *crowd, const int64_t run[2])
{
    double cut_s = 0;
    bool any_guessed = false;

    free_all(threads, crowd);
    for (size_t i = 0; i < crowd->count; i++) {
        any_guessed |= crowd->jobs[i].guessed;
        if (crowd->jobs[i].guessed)
            continue;
        fit(threads, crowd, i);
        cut_s += cut_off(&crowd->jobs[i], crowd->fitted[i], run);
    }
    if (any_guessed)
        guess_all(threads, crowd);
    return cut_s;
}
