/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - a run in memory: life cycle, clock, timed events, facts, losses, progress.
 *
 * Offers, counts and marks arrive nearly in order of time. Each is inserted by its
 * time, after those of the same time. */
#include "run/run.h"

#include <math.h>

#include "base/array.h"
#include "base/mem.h"
#include "run/journal/write.h"
#include "run/put.h"

enum { NAME_MAX_BYTES = 1024 }; /* as much of a file name as records keep */

void roast__run_lock(struct roast_run *run)
{
    (void)pthread_mutex_lock(&run->lock);
}

void roast__run_unlock(struct roast_run *run)
{
    (void)pthread_mutex_unlock(&run->lock);
}

int roast_run_new(roast_run **out, int64_t start_mono_ns, int64_t start_epoch_ns,
                  roast_error *err)
{
    struct roast_run *run = roast__alloc(sizeof(*run));

    *out = NULL;
    if (!run || pthread_mutex_init(&run->lock, NULL) != 0) {
        roast__free(run);
        return roast_error_set(err, ROAST_NO_MEMORY, "a run of %zu bytes",
                               sizeof(*run));
    }
    run->start_ns = start_epoch_ns;
    run->epoch_minus_mono_ns = roast__sat_sub(start_epoch_ns, start_mono_ns);
    run->host = ROAST_NO_STRING;
    run->budget_bytes = ROAST_BUDGET_BYTES;
    *out = run;
    return ROAST_OK;
}

void roast_run_free(roast_run *run)
{
    if (!run)
        return;
    roast__free(run->accepted);
    roast__strings_release(&run->strings);
    roast__names_release(&run->names);
    roast__attempts_release(&run->attempts);
    roast__samples_release(&run->samples);
    roast__samples_release(&run->client_samples);
    roast__samples_release(&run->gpu_samples);
    roast__free(run->offers);
    roast__free(run->moments);
    roast__free(run->counts);
    roast__scheduler_view_release(&run->scheduler);
    roast__notes_release(&run->notes);
    (void)pthread_mutex_destroy(&run->lock);
    roast__free(run);
}

void roast_run_finish(roast_run *run, int64_t end_mono_ns)
{
    roast__run_lock(run);
    run->end_ns = roast__sat_add(end_mono_ns, run->epoch_minus_mono_ns);
    roast__journal_write_finish(run->journal, end_mono_ns);
    roast__run_unlock(run);
}

int roast_run_set_host(roast_run *run, struct roast_str host, roast_error *err)
{
    int status = ROAST_OK;

    roast__run_lock(run);
    int32_t number = roast__strings_put(&run->strings, host);
    if (number == ROAST_STRING_NO_MEMORY) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "the name of the host");
        goto out;
    }
    run->host = number;
    for (size_t i = 0; i < run->attempts.process_count; i++) {
        struct roast_worker_process *process = &run->attempts.processes[i];
        process->shares_clock =
            process->host != ROAST_NO_STRING && process->host == number;
    }
    roast__journal_write_host(run->journal, host);
out:
    roast__run_unlock(run);
    return status;
}

int roast__run_put_name(struct roast_run *run, struct roast_str clean, roast_error *err)
{
    int status = ROAST_OK;

    roast__run_lock(run);
    size_t known = run->names.count;
    int32_t number = roast__strings_put(&run->strings, clean);
    if (number < 0 || !roast__names_add(&run->names, &run->strings, number))
        status = roast_error_set(err, ROAST_NO_MEMORY, "a name of %zu bytes",
                                 clean.size_bytes);
    else if (run->names.count > known)
        roast__journal_write_text(run->journal, clean, true);
    roast__run_unlock(run);
    return status;
}

int roast_run_add_name(roast_run *run, struct roast_str name, roast_error *err)
{
    char clean[NAME_MAX_BYTES];

    if (!name.data)
        return ROAST_OK;
    size_t size = roast_str_redact_name(clean, sizeof(clean), name, NULL);
    return roast__run_put_name(run, (struct roast_str){clean, size}, err);
}

void roast__run_resolve_pending(struct roast_run *run)
{
    roast__sources_resolve(&run->attempts, &run->names);
    roast__clock_offsets_apply(run);
    roast__processes_share(&run->attempts);
}

/* ---- timed events ---------------------------------------------------------------- */

int roast_run_offer(roast_run *run, int64_t time_ns, uint64_t workers, uint64_t threads,
                    roast_error *err)
{
    int status = ROAST_OK;

    roast__run_lock(run);
    struct roast_offer *offers = roast__array_room(run->offers, &run->offer_cap,
                                                   run->offer_count, sizeof(*offers));
    if (!offers) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "offer %zu", run->offer_count);
        goto out;
    }
    run->offers = offers;
    size_t at = run->offer_count++;
    for (; at > 0 && offers[at - 1].time_ns > time_ns; at--)
        offers[at] = offers[at - 1];
    offers[at] = (struct roast_offer){time_ns, workers, threads};
    roast__journal_write_offer(run->journal, &offers[at]);
out:
    roast__run_unlock(run);
    return status;
}

const struct roast_offer *roast__run_offer_at(const struct roast_run *run,
                                              int64_t time_ns)
{
    size_t low = 0;
    size_t high = run->offer_count; /* all from here on are later */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->offers[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (run->offer_count == 0)
        return NULL;
    return low > 0 ? &run->offers[low - 1] : &run->offers[0];
}

int roast_run_add_count(roast_run *run, int64_t time_ns, uint64_t workers,
                        roast_error *err)
{
    int status = ROAST_OK;

    roast__run_lock(run);
    struct roast_count *counts = roast__array_room(run->counts, &run->count_cap,
                                                   run->count_count, sizeof(*counts));
    if (!counts) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "count %zu", run->count_count);
        goto out;
    }
    run->counts = counts;
    size_t at = run->count_count++;
    for (; at > 0 && counts[at - 1].time_ns > time_ns; at--)
        counts[at] = counts[at - 1];
    counts[at] = (struct roast_count){time_ns, workers};
    roast__journal_write_count(run->journal, &counts[at]);
out:
    roast__run_unlock(run);
    return status;
}

int roast_run_mark(roast_run *run, enum roast_mark mark, int64_t mono_ns,
                   roast_error *err)
{
    int64_t time_ns = roast__sat_add(mono_ns, run->epoch_minus_mono_ns);
    int status = ROAST_OK;

    roast__run_lock(run);
    struct roast_moment *moments = roast__array_room(
        run->moments, &run->moment_cap, run->moment_count, sizeof(*moments));
    if (!moments) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "mark %zu", run->moment_count);
        goto out;
    }
    run->moments = moments;
    size_t at = run->moment_count++;
    for (; at > 0 && moments[at - 1].time_ns > time_ns; at--)
        moments[at] = moments[at - 1];
    moments[at] = (struct roast_moment){mark, time_ns};
    roast__journal_write_mark(run->journal, mark, mono_ns);
out:
    roast__run_unlock(run);
    return status;
}

/* ---- facts, losses and progress -------------------------------------------------- */

static const char *const fact_names[ROAST_FACT_COUNT] = {
#define N(name, unit, text) #name,
#include "roast/run_facts.def"
#undef N
};

static const char *const loss_names[ROAST_RUN_LOSS_COUNT] = {
#define K(name, text) #name,
#include "roast/run_losses.def"
#undef K
};

static const char *const loss_texts[ROAST_RUN_LOSS_COUNT] = {
#define K(name, text) (text),
#include "roast/run_losses.def"
#undef K
};

const char *roast_fact_name(enum roast_fact fact)
{
    return fact_names[fact];
}

const char *roast_run_loss_name(enum roast_run_loss loss)
{
    return loss_names[loss];
}

const char *roast_run_loss_text(enum roast_run_loss loss)
{
    return loss_texts[loss];
}

void roast_run_set_fact(roast_run *run, enum roast_fact fact, double value)
{
    if (!isfinite(value))
        return;
    roast__run_lock(run);
    run->facts[fact] = value;
    run->fact_known[fact] = true;
    roast__journal_write_fact(run->journal, fact, run->facts[fact]);
    roast__run_unlock(run);
}

void roast_run_add_fact(roast_run *run, enum roast_fact fact, double value)
{
    if (!isfinite(value))
        return;
    roast__run_lock(run);
    run->facts[fact] += value; /* 0 while unknown */
    run->fact_known[fact] = true;
    roast__journal_write_fact(run->journal, fact, run->facts[fact]);
    roast__run_unlock(run);
}

bool roast_run_fact(roast_run *run, enum roast_fact fact, double *value)
{
    roast__run_lock(run);
    bool known = run->fact_known[fact];
    if (known)
        *value = run->facts[fact];
    roast__run_unlock(run);
    return known;
}

void roast__run_lose(struct roast_run *run, enum roast_run_loss loss, uint64_t count)
{
    run->losses[loss] = roast__sat_count(run->losses[loss], count);
}

void roast_run_lose(roast_run *run, enum roast_run_loss loss, uint64_t count)
{
    roast__run_lock(run);
    roast__run_lose(run, loss, count);
    roast__journal_write_loss(run->journal, loss, count);
    roast__run_unlock(run);
}

uint64_t roast_run_lost(roast_run *run, enum roast_run_loss loss)
{
    roast__run_lock(run);
    uint64_t count = run->losses[loss];
    roast__run_unlock(run);
    return count;
}

static uint64_t column_value(const struct roast_run *run,
                             enum roast_attempt_column column, size_t row)
{
    return (uint64_t)roast__column_get(&run->attempts.columns[column], row, 0);
}

void roast_run_first_error(roast_run *run, char *out, size_t out_bytes)
{
    if (out_bytes == 0)
        return;
    roast__run_lock(run);
    struct roast_str text =
        roast_str_cut(roast_str_of(run->first_error), out_bytes - 1);
    memcpy(out, text.data, text.size_bytes);
    out[text.size_bytes] = '\0';
    roast__run_unlock(run);
}

static bool ran_attempts(const struct roast_attempts *attempts, uint64_t pid)
{
    for (size_t i = 0; i < attempts->process_count; i++) {
        if (attempts->processes[i].pid == pid)
            return true;
    }
    return false;
}

static int64_t start_of(const struct roast_attempts *attempts, size_t row)
{
    const struct roast_column *columns = attempts->columns;
    int64_t start_ns =
        roast__column_get(&columns[ROAST_COLUMN_start_ns], row, INT64_MAX);

    return roast__column_get(&columns[ROAST_COLUMN_task_start_ns], row, start_ns);
}

/* Memory of the workers that were sampled at the last moment. */
static uint64_t latest_rss_bytes(const struct roast_run *run)
{
    const struct roast_samples *samples = &run->samples;
    int64_t latest_us = INT64_MIN;
    uint64_t sum = 0;

    for (size_t i = 0; i < samples->count; i++) {
        if (samples->workers[i].last_time_us > latest_us)
            latest_us = samples->workers[i].last_time_us;
    }
    for (size_t i = 0; i < samples->count; i++) {
        const struct roast_worker_samples *worker = &samples->workers[i];
        const struct roast_packed_series *memory =
            roast__series_of(worker, ROAST_SERIES_memory);
        if (worker->last_time_us == latest_us && memory->known && memory->last > 0 &&
            (worker->pid == 0 || ran_attempts(&run->attempts, worker->pid)))
            sum = roast__sat_count(sum, (uint64_t)memory->last);
    }
    return sum;
}

void roast_run_progress(roast_run *run, struct roast_progress *out)
{
    const struct roast_attempts *attempts = &run->attempts;
    int64_t first_ns = INT64_MAX;

    *out = (struct roast_progress){0};
    roast__run_lock(run);
    double planned = run->facts[ROAST_FACT_planned_chunks];
    out->planned = planned > 0 && planned < 1e15 ? (uint64_t)planned : 0;
    out->begun = attempts->count;
    out->workers = run->offer_count ? run->offers[run->offer_count - 1].workers : 0;
    out->rss_bytes = latest_rss_bytes(run);
    for (size_t row = 0; row < attempts->count; row++) {
        int64_t start_ns = start_of(attempts, row);
        first_ns = start_ns < first_ns ? start_ns : first_ns;
        out->failed += attempts->status[row] == ROAST_CHUNK_FAILED;
        if (attempts->status[row] != ROAST_CHUNK_OK)
            continue;
        out->done++;
        out->events = roast__sat_count(out->events,
                                       column_value(run, ROAST_COLUMN_num_events, row));
        out->bytes = roast__sat_count(out->bytes,
                                      column_value(run, ROAST_COLUMN_bytes_read, row));
        out->bytes = roast__sat_count(
            out->bytes, column_value(run, ROAST_COLUMN_bytes_before, row));
    }
    int64_t after_ns = roast__sat_sub(first_ns, run->start_ns);
    out->first_s = first_ns == INT64_MAX ? NAN : (double)after_ns / 1e9;
    roast__run_unlock(run);
}
