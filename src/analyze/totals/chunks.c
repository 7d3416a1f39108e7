/* SPDX-License-Identifier: BSD-3-Clause */
/* chunks.c - the metrics of chunks and attempts, from what totals.c summed up.
 *
 * Also what was done in vain: failed attempts, repeated ones, and those that were lost,
 * up to the last sign of life of their process. */
#include "analyze/budget/session_times.h"
#include "analyze/budget/wasted_time.h"
#include "analyze/budget/worker_match.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "base/mem.h"

static const double mib = 1024.0 * 1024.0;

static void set_counts(const struct roast_study *study)
{
    const struct roast_roles *roles = &study->totals->roles;

    if (study->run->attempts.count == 0)
        return;
    roast__study_set(study, ROAST_METRIC_num_attempts,
                     (double)study->run->attempts.count);
    roast__study_set(study, ROAST_METRIC_num_successful_chunks,
                     (double)roles->successful_chunks);
    roast__study_set(study, ROAST_METRIC_num_failed_chunks,
                     (double)roles->failed_chunks);
    roast__study_set(study, ROAST_METRIC_num_lost_chunks, (double)roles->lost_chunks);
    roast__study_set(study, ROAST_METRIC_num_running_chunks,
                     (double)roles->running_chunks);
    roast__study_set(study, ROAST_METRIC_num_failed_files, (double)roles->failed_files);
    roast__study_set(
        study, ROAST_METRIC_num_failed_or_lost,
        (double)(roles->failed_chunks + roles->lost_chunks + roles->failed_files));
    roast__study_set(study, ROAST_METRIC_num_retried_chunks,
                     (double)roles->retried_chunks);
    roast__study_set(study, ROAST_METRIC_num_failed_attempts,
                     (double)roles->rows[ROAST_ROLE_FAILED]);
    roast__study_set(study, ROAST_METRIC_num_lost_attempts,
                     (double)roles->rows[ROAST_ROLE_LOST]);
}

/* A quantile from buckets may lie beyond the extremes by its error. */
static double quantile_s(struct roast_totals *totals, double share)
{
    double ns = roast__quantiles_get(&totals->durations_ns, share);

    return fmin(fmax(ns, totals->all.shortest_ns), totals->all.longest_ns) / 1e9;
}

static void set_quantile(const struct roast_study *study, enum roast_metric metric,
                         const struct roast_quantiles *source, double value)
{
    roast__study_set(study, metric, value);
    if (source->buckets)
        roast__metric_mark(&study->summary->values, metric, ROAST_ESTIMATED);
}

static void set_durations(const struct roast_study *study)
{
    struct roast_totals *totals = study->totals;
    const struct roast_spread *spread = &totals->sums.duration_ns;

    if (spread->count == 0)
        return;
    roast__study_set(study, ROAST_METRIC_chunk_duration_mean,
                     roast__spread_mean(spread) / 1e9);
    roast__study_set(study, ROAST_METRIC_chunk_duration_min,
                     totals->all.shortest_ns / 1e9);
    roast__study_set(study, ROAST_METRIC_chunk_duration_max,
                     totals->all.longest_ns / 1e9);
    roast__study_set(study, ROAST_METRIC_chunk_duration_std,
                     roast__spread_std(spread) / 1e9);
    set_quantile(study, ROAST_METRIC_chunk_duration_p50, &totals->durations_ns,
                 quantile_s(totals, 0.5));
    set_quantile(study, ROAST_METRIC_chunk_duration_p90, &totals->durations_ns,
                 quantile_s(totals, 0.9));
    set_quantile(study, ROAST_METRIC_chunk_duration_p99, &totals->durations_ns,
                 quantile_s(totals, 0.99));
}

static void set_memory(const struct roast_study *study)
{
    const struct roast_totals *totals = study->totals;
    const struct roast_moments *delta = &totals->sums.memory_delta_bytes;

    if (delta->spread.count > 0) {
        roast__study_set(study, ROAST_METRIC_chunk_mem_delta_mean_mb,
                         roast__spread_mean(&delta->spread) / mib);
        roast__study_set(study, ROAST_METRIC_chunk_mem_delta_min_mb,
                         delta->extremes.min / mib);
        roast__study_set(study, ROAST_METRIC_chunk_mem_delta_max_mb,
                         delta->extremes.max / mib);
        roast__study_set(study, ROAST_METRIC_chunk_mem_delta_std_mb,
                         roast__spread_std(&delta->spread) / mib);
    }
    if (totals->sums.memory_peak_bytes >= 0)
        roast__study_set(study, ROAST_METRIC_chunk_mem_peak_max_mb,
                         (double)totals->sums.memory_peak_bytes / mib);
    if (totals->sums.delta_events > 0)
        roast__study_set(study, ROAST_METRIC_memory_per_event_mean_bytes,
                         totals->sums.paired_delta_bytes / totals->sums.delta_events);
}

static void set_events(const struct roast_study *study)
{
    struct roast_totals *totals = study->totals;
    const struct roast_group *all = &totals->all;
    struct roast_quantiles *per_event = &totals->ns_per_event;
    double known = (double)(all->chunks - all->without[ROAST_EVENTS]);
    double events = all->sums[ROAST_EVENTS];

    if (!(known > 0))
        return;
    roast__study_set(study, ROAST_METRIC_chunk_events_mean, events / known);
    roast__study_set(study, ROAST_METRIC_chunk_events_min, totals->sums.events.min);
    roast__study_set(study, ROAST_METRIC_chunk_events_max, totals->sums.events.max);
    roast__study_set(study, ROAST_METRIC_total_events_from_chunks, events);
    if (totals->sums.paired_events > 0)
        roast__study_set(study, ROAST_METRIC_time_per_event_mean_us,
                         totals->sums.paired_duration_ns / totals->sums.paired_events /
                             1e3);
    set_quantile(study, ROAST_METRIC_time_per_event_p50_us, per_event,
                 roast__quantiles_get(per_event, 0.5) / 1e3);
    set_quantile(study, ROAST_METRIC_time_per_event_p99_us, per_event,
                 roast__quantiles_get(per_event, 0.99) / 1e3);
}

/* ---- waste ----------------------------------------------------------------------- */

double roast__attempt_seconds(const struct roast_attempts *attempts, size_t row)
{
    const struct roast_column *columns = attempts->columns;
    int64_t ns = roast__column_get(&columns[ROAST_COLUMN_task_ns], row, -1);

    if (ns < 0)
        ns = roast__column_get(&columns[ROAST_COLUMN_duration_ns], row, -1);
    return ns < 0 ? NAN : (double)ns / 1e9;
}

/* The last moment at which anything was sampled: who was there then lives on. */
static int64_t last_round(const struct roast_samples *samples)
{
    int64_t latest = INT64_MIN;

    for (size_t i = 0; i < samples->count; i++) {
        if (samples->workers[i].last_use_ns > latest)
            latest = samples->workers[i].last_use_ns;
    }
    return latest;
}

/* When a process of this machine that is gone was sampled for the last time. */
static void see_process(int64_t *last, const struct roast_run *run,
                        const struct roast_hash_table *by_pid, uint64_t pid,
                        int64_t latest)
{
    for (size_t at = roast__hash_first(by_pid, roast__hash_number(pid));
         roast__hash_holds(by_pid, at); at = roast__hash_next(by_pid, at)) {
        const struct roast_worker_samples *worker =
            &run->samples.workers[roast__hash_item(by_pid, at)];
        if (worker->pid == pid && worker->last_use_ns > *last &&
            worker->last_use_ns < latest)
            *last = worker->last_use_ns;
    }
}

static bool see_samples(int64_t *last, const struct roast_run *run)
{
    struct roast_hash_table by_pid = {0};
    bool done = roast__index_pids(&by_pid, &run->samples);
    int64_t latest = last_round(&run->samples);

    for (size_t i = 0; done && i < run->attempts.process_count; i++) {
        const struct roast_worker_process *process = &run->attempts.processes[i];
        if (process->pid != 0 && roast__may_be_here(run, process))
            see_process(&last[i], run, &by_pid, process->pid, latest);
    }
    roast__hash_release(&by_pid);
    return done;
}

int64_t *roast__last_signs(const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;
    int64_t *last = roast__alloc(attempts->process_count * sizeof(last[0]));

    for (size_t i = 0; last && i < attempts->process_count; i++)
        last[i] = INT64_MIN;
    for (size_t row = 0; last && row < attempts->count; row++) {
        int64_t start, end;
        if (roast__attempt_times(attempts, row, &start, &end) &&
            end > last[attempts->process[row]])
            last[attempts->process[row]] = end;
    }
    if (last && !see_samples(last, run)) {
        roast__free(last);
        last = NULL;
    }
    if (last)
        roast__see_departures(last, run);
    return last;
}

double roast__lost_seconds(const struct roast_attempts *attempts, size_t row,
                           const int64_t *last_signs)
{
    int64_t start, end;

    if (!roast__attempt_times(attempts, row, &start, &end) ||
        last_signs[attempts->process[row]] <= start)
        return NAN;
    return roast__seconds_between(start, last_signs[attempts->process[row]]);
}

static void set_waste(const struct roast_study *study)
{
    const struct roast_attempts *attempts = &study->run->attempts;
    const struct roast_roles *roles = &study->totals->roles;
    uint64_t lost = roles->rows[ROAST_ROLE_LOST];
    int64_t *last_signs = lost > 0 ? roast__last_signs(study->run) : NULL;
    double seconds = 0;

    if (lost > 0 && !last_signs) {
        study->summary->failed = true;
        return;
    }
    bool any =
        lost + roles->rows[ROAST_ROLE_FAILED] + roles->rows[ROAST_ROLE_REPEAT] > 0;
    for (size_t row = 0; any && row < attempts->count; row++) {
        unsigned role = roles->of_row[row];
        double own = NAN;
        if (role == ROAST_ROLE_FAILED || role == ROAST_ROLE_REPEAT)
            own = roast__attempt_seconds(attempts, row);
        else if (role == ROAST_ROLE_LOST && last_signs)
            own = roast__lost_seconds(attempts, row, last_signs);
        seconds += isnan(own) ? 0 : own;
    }
    if (attempts->count > 0)
        roast__study_set(study, ROAST_METRIC_wasted_thread_seconds, seconds);
    if (lost > 0) /* their end was not recorded */
        roast__metric_mark(&study->summary->values, ROAST_METRIC_wasted_thread_seconds,
                           ROAST_ESTIMATED);
    roast__free(last_signs);
}

void roast__study_chunks(const struct roast_study *study)
{
    set_counts(study);
    set_durations(study);
    set_memory(study);
    set_events(study);
    set_waste(study);
}
