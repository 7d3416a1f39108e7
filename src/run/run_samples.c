/* SPDX-License-Identifier: BSD-3-Clause */
/* run_samples.c - samples of workers into a run, and those of processes of this
 * machine.
 *
 * The kernel counts totals; rates are the difference to the sample before. A counter
 * that went back, or a clock that stood, gives no rate: nothing is ever negative. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "run/apply.h"
#include "run/clean.h"
#include "run/journal_write.h"

static const double ns_per_s = 1e9;

/* The lock is held. */
static int add(struct roast_run *run, struct roast_worker_samples *worker,
               const struct roast_tick *tick, roast_error *err)
{
    uint64_t thinned = 0;
    bool added = roast__samples_put(worker, tick, &thinned);

    roast__run_lose(run, ROAST_RUN_LOSS_samples_thinned, thinned);
    if (!added)
        return roast_error_set(err, ROAST_NO_MEMORY, "sample %" PRIu64, worker->ticks);
    return ROAST_OK;
}

static struct roast_worker_samples *named_worker(struct roast_run *run,
                                                 struct roast_str name)
{
    int32_t number = roast__strings_put(&run->strings, name);
    return number < 0 ? NULL : roast__samples_worker(&run->samples, number);
}

/* The lock is held; a negative name is one that found no memory. */
static int put_tick(struct roast_run *run, int32_t name, const struct roast_tick *tick,
                    roast_error *err)
{
    struct roast_worker_samples *worker =
        name < 0 ? NULL : roast__samples_worker(&run->samples, name);
    int status = worker ? add(run, worker, tick, err)
                        : roast_error_set(err, ROAST_NO_MEMORY, "a worker");

    if (status == ROAST_OK)
        roast__journal_write_sample(run->journal, name, tick);
    return status;
}

int roast__run_put_tick(struct roast_run *run, int32_t worker,
                        const struct roast_tick *tick, roast_error *err)
{
    roast__run_lock(run);
    int status = put_tick(run, worker, tick, err);
    roast__run_unlock(run);
    return status;
}

int roast_run_add_sample(roast_run *run, const roast_sample *sample, roast_error *err)
{
    char room[ROAST_NAME_BYTES];
    struct roast_str name = roast__clean(room, sizeof(room), sample->worker);
    if (!name.data)
        name = roast_str_of(""); /* still a worker */
    struct roast_tick tick = roast__tick_of(sample);

    roast__run_lock(run);
    int status = put_tick(run, roast__strings_put(&run->strings, name), &tick, err);
    roast__run_unlock(run);
    return status;
}

/* ---- processes of this machine ------------------------------------------------ */

static bool is_process(const struct roast_worker_samples *worker,
                       const struct roast_process_use *use)
{
    return worker->pid == 0 ||
           (worker->pid == use->pid && worker->started_ticks == use->started_ticks);
}

/* The first process with a pid has its plain name; a later one with the same pid is
 * told apart by its start. */
static struct roast_worker_samples *process_worker(struct roast_run *run,
                                                   const struct roast_process_use *use)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "pid-%" PRIu64, use->pid);
    struct roast_worker_samples *worker = named_worker(run, roast_str_of(name));
    if (!worker || is_process(worker, use))
        return worker;
    (void)snprintf(name, sizeof(name), "pid-%" PRIu64 "-%" PRIu64, use->pid,
                   use->started_ticks);
    return named_worker(run, roast_str_of(name));
}

static void set_rate(roast_sample *sample, enum roast_series series, uint64_t now,
                     uint64_t before, double per)
{
    if (now >= before && per > 0)
        roast_sample_set(sample, series, (double)(now - before) / per);
}

/* Rates since the last use of the same process. */
static void set_rates(roast_sample *sample, const struct roast_worker_samples *worker,
                      const struct roast_process_use *use)
{
    double seconds =
        (double)roast__sat_sub(use->time_ns, worker->last_use_ns) / ns_per_s;

    if (worker->pid == 0)
        return; /* there was none */
    set_rate(sample, ROAST_SERIES_cpu, use->cpu_ns, worker->last_cpu_ns,
             seconds * ns_per_s / 100);
    if (!use->io_known || !worker->last_io_known)
        return;
    set_rate(sample, ROAST_SERIES_disk_read, use->read_bytes, worker->last_read_bytes,
             seconds);
    set_rate(sample, ROAST_SERIES_disk_write, use->write_bytes,
             worker->last_write_bytes, seconds);
}

static void set_totals(roast_sample *sample, const struct roast_process_use *use)
{
    roast_sample_set(sample, ROAST_SERIES_memory, (double)use->rss_bytes);
    roast_sample_set(sample, ROAST_SERIES_threads, (double)use->threads);
    roast_sample_set(sample, ROAST_SERIES_cpu_seconds, (double)use->cpu_ns / ns_per_s);
    roast_sample_set(sample, ROAST_SERIES_last_seen, (double)use->time_ns / ns_per_s);
}

static void remember(struct roast_worker_samples *worker,
                     const struct roast_process_use *use)
{
    worker->pid = use->pid;
    worker->parent_pid = use->parent_pid;
    worker->started_ticks = use->started_ticks;
    worker->last_use_ns = use->time_ns;
    worker->last_cpu_ns = use->cpu_ns;
    worker->last_io_known = use->io_known;
    worker->last_read_bytes = use->read_bytes;
    worker->last_write_bytes = use->write_bytes;
}

int roast_run_add_use(roast_run *run, const struct roast_process_use *use,
                      roast_error *err)
{
    roast_sample sample = {.time_ns = use->time_ns};
    int status;

    roast__run_lock(run);
    struct roast_worker_samples *worker = process_worker(run, use);
    if (!worker) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "process %" PRIu64, use->pid);
        goto out;
    }
    set_totals(&sample, use);
    set_rates(&sample, worker, use);
    struct roast_tick tick = roast__tick_of(&sample);
    status = add(run, worker, &tick, err);
    if (status == ROAST_OK) {
        remember(worker, use);
        roast__journal_write_use(run->journal, use);
    }
out:
    roast__run_unlock(run);
    return status;
}
