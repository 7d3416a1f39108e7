/* SPDX-License-Identifier: BSD-3-Clause */
/* concurrency.c - how many attempts run in the process of a sampled worker at a moment.
 *
 * Samplers of this machine know pids, records know pids: that joins them. An attempt
 * runs from its begin to its end, or, while the run is open and no end came, until
 * now. */
#include "run/concurrency.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"

/* A pid and where it is. */
struct place {
    uint64_t pid;
    size_t index;
};

static int by_pid(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int by_worker_and_time(const void *left, const void *right)
{
    const struct roast_edge *a = left;
    const struct roast_edge *b = right;

    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* The sampled workers that have a pid, by pid; NULL when out of memory. */
static struct place *pids_of_workers(const struct roast_samples *samples, size_t *count)
{
    struct place *places = roast__alloc(samples->count * sizeof(*places));

    *count = 0;
    for (size_t i = 0; places && i < samples->count; i++) {
        if (samples->workers[i].pid != 0)
            places[(*count)++] = (struct place){samples->workers[i].pid, i};
    }
    if (*count > 1)
        qsort(places, *count, sizeof(*places), by_pid);
    return places;
}

/* The worker that is a process of the records, or SIZE_MAX. A pid that was used again
 * means the newest of its processes. Pids of other hosts are not ours. */
static size_t worker_of(const struct roast_run *run,
                        const struct roast_worker_process *process,
                        const struct place *places, size_t count)
{
    size_t low = 0;
    size_t high = count;

    if (process->pid == 0 ||
        (process->host != ROAST_NO_STRING && process->host != run->host))
        return SIZE_MAX;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].pid <= process->pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && places[low - 1].pid == process->pid ? places[low - 1].index
                                                          : SIZE_MAX;
}

/* By process: its worker or SIZE_MAX; NULL when out of memory. */
static size_t *workers_of_processes(const struct roast_run *run)
{
    size_t process_count = run->attempts.process_count;
    size_t count;
    struct place *places = pids_of_workers(&run->samples, &count);
    size_t *workers = roast__alloc(process_count * sizeof(*workers));

    for (size_t i = 0; places && workers && i < process_count; i++)
        workers[i] = worker_of(run, &run->attempts.processes[i], places, count);
    if (!places) {
        roast__free(workers);
        workers = NULL;
    }
    roast__free(places);
    return workers;
}

struct span {
    int64_t begin_ns;
    int64_t end_ns;
    bool ended;
};

static bool read_span(const struct roast_attempts *attempts, size_t row,
                      enum roast_attempt_column begin, enum roast_attempt_column length,
                      struct span *span)
{
    const struct roast_column *begins = &attempts->columns[begin];
    const struct roast_column *lengths = &attempts->columns[length];

    if (!roast__column_has(begins, row))
        return false;
    span->begin_ns = begins->values[row];
    span->ended = roast__column_has(lengths, row);
    if (span->ended)
        span->end_ns = roast__sat_add(span->begin_ns, lengths->values[row]);
    return true;
}

/* The whole attempt where it is known, else the time inside process(). */
static bool span_of(const struct roast_run *run, size_t row, struct span *span)
{
    const struct roast_attempts *attempts = &run->attempts;

    if (read_span(attempts, row, ROAST_COLUMN_task_start_ns, ROAST_COLUMN_task_ns,
                  span) &&
        span->ended)
        return true;
    if (read_span(attempts, row, ROAST_COLUMN_start_ns, ROAST_COLUMN_duration_ns,
                  span) &&
        span->ended)
        return true;
    return run->end_ns == 0 && attempts->parts[row] == ROAST_PART_BEGIN &&
           read_span(attempts, row, ROAST_COLUMN_task_start_ns, ROAST_COLUMN_task_ns,
                     span);
}

static void add_edges(struct roast_concurrency *out, const struct roast_run *run,
                      const size_t *workers)
{
    for (size_t row = 0; row < run->attempts.count; row++) {
        size_t worker = workers[run->attempts.process[row]];
        struct span span;
        if (worker == SIZE_MAX)
            continue;
        out->is_worker[worker] = true;
        if (!span_of(run, row, &span))
            continue;
        out->begins[out->begin_count++] = (struct roast_edge){worker, span.begin_ns};
        if (span.ended)
            out->ends[out->end_count++] = (struct roast_edge){worker, span.end_ns};
    }
}

static void sort_edges(struct roast_edge *edges, size_t count)
{
    if (count > 1)
        qsort(edges, count, sizeof(*edges), by_worker_and_time);
}

bool roast__concurrency_make(struct roast_concurrency *out, const struct roast_run *run)
{
    size_t rows = run->attempts.count;
    size_t *workers = workers_of_processes(run);

    *out = (struct roast_concurrency){
        .is_worker = roast__alloc(run->samples.count * sizeof(bool)),
        .begins = roast__alloc(rows * sizeof(struct roast_edge)),
        .ends = roast__alloc(rows * sizeof(struct roast_edge)),
    };
    bool ok = workers && out->is_worker && out->begins && out->ends;
    if (ok) {
        add_edges(out, run, workers);
        sort_edges(out->begins, out->begin_count);
        sort_edges(out->ends, out->end_count);
    }
    roast__free(workers);
    if (!ok)
        roast__concurrency_release(out);
    return ok;
}

/* How many edges are not later than this one, those of earlier workers included. */
static size_t count_until(const struct roast_edge *edges, size_t count,
                          struct roast_edge until)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_worker_and_time(&edges[middle], &until) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Edges of one worker up to a time. */
static size_t count_edges(const struct roast_edge *edges, size_t count, size_t worker,
                          int64_t time_ns)
{
    size_t before = 0;

    if (worker > 0)
        before = count_until(edges, count, (struct roast_edge){worker - 1, INT64_MAX});
    return count_until(edges, count, (struct roast_edge){worker, time_ns}) - before;
}

uint64_t roast__concurrency_at(const struct roast_concurrency *running, size_t worker,
                               int64_t time_ns)
{
    size_t begun = count_edges(running->begins, running->begin_count, worker, time_ns);
    size_t ended = count_edges(running->ends, running->end_count, worker, time_ns);

    return begun > ended ? begun - ended : 0;
}

void roast__concurrency_release(struct roast_concurrency *running)
{
    roast__free(running->is_worker);
    roast__free(running->begins);
    roast__free(running->ends);
    *running = (struct roast_concurrency){NULL, NULL, 0, NULL, 0};
}
