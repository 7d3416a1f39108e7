/* SPDX-License-Identifier: BSD-3-Clause */
/* run_facts.c - single numbers of a run, what it lost, and how far it is. */
#include <math.h>

#include "base/array.h"
#include "run/journal_write.h"
#include "run/run.h"

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

/* Of workers; those that are gone were not sampled at the last moment. */
static uint64_t rss_now(const struct roast_run *run)
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

    *out = (struct roast_progress){0};
    roast__run_lock(run);
    out->begun = attempts->count;
    out->workers = run->offer_count ? run->offers[run->offer_count - 1].workers : 0;
    out->rss_bytes = rss_now(run);
    for (size_t row = 0; row < attempts->count; row++) {
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
    roast__run_unlock(run);
}
