/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_memory.c - rules about memory: pressure, growth, spilling.
 *
 * What is suggested as a limit is what was used at most, so that it is a healthy part of
 * the limit. */
#include "analyze/findings/rule_limits.h"
#include "analyze/findings/text.h"
#include "analyze/linear_fit.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/series.h"

/* A limit for a worker that used so much and had its part of what is on disk. */
static void blank_limit(const struct roast_rule_input *at,
                        struct roast_finding *finding, double used_bytes)
{
    double spilled = roast__input_metric(at, ROAST_METRIC_spilled_bytes_peak);
    double workers = roast__input_metric(at, ROAST_METRIC_peak_workers);

    if (spilled > 0 && workers > 0)
        used_bytes += spilled / workers;
    roast__blank_memory(finding, "suggested_memory",
                        used_bytes / LIMIT_ADVISED_PERCENT * 100);
}

/* ---- pressure -------------------------------------------------------------------- */

/* The moment at which a worker was nearest to its limit. */
struct fullest {
    double percent;
    double bytes;
    double limit_bytes;
    int32_t worker; /* number of its name */
};

static void look_at(struct fullest *fullest, const struct roast_worker_samples *worker)
{
    double held[ROAST_SERIES_BLOCK], limits[ROAST_SERIES_BLOCK];
    struct roast_series_cursor memory, limit;
    size_t count;

    roast__series_open(&memory, worker, ROAST_SERIES_memory);
    roast__series_open(&limit, worker, ROAST_SERIES_memory_limit);
    while ((count = roast__series_block(&memory, NULL, held)) > 0) {
        (void)roast__series_block(&limit, NULL, limits);
        for (size_t i = 0; i < count; i++) {
            double percent = limits[i] > 0 ? held[i] / limits[i] * 100 : NAN;
            if (percent > fullest->percent)
                *fullest = (struct fullest){percent, held[i], limits[i], worker->name};
        }
    }
}

void roast__rule_memory_pressure(const struct roast_rule_input *at,
                                 struct roast_finding *finding)
{
    double percent =
        roast__input_metric(at, ROAST_METRIC_memory_utilization_max_percent);
    double peak = roast__input_metric(at, ROAST_METRIC_peak_memory_bytes);

    finding->found = percent > LIMIT_MEMORY_PERCENT;
    if (!finding->found)
        return;
    /* Of all workers: the sampled processes with a known peak. */
    const struct roast_samples *samples = &at->ctx->run->samples;
    const double *peaks = at->ctx->totals->sampled_peaks;
    struct fullest fullest = {.bytes = NAN, .limit_bytes = NAN};
    for (size_t i = 0; peaks && i < samples->count; i++) {
        if (peaks[i] >= 0)
            look_at(&fullest, &samples->workers[i]);
    }
    finding->risk = true;
    finding->cost_s = NAN;
    roast__blank_number(finding, "percent", percent, "%");
    if (fullest.percent > 0) {
        roast__blank_number(finding, "held", fullest.bytes, "B");
        roast__blank_number(finding, "limit", fullest.limit_bytes, "B");
        roast__blank_text(finding, "worker",
                          roast__strings_get(&at->ctx->run->strings, fullest.worker));
        blank_limit(at, finding, fullest.bytes);
        /* elsewhere a worker may need more, and has it */
        roast__blank_pattern(finding, "which",
                             peak > fullest.limit_bytes ? "for {worker}"
                                                        : "per worker");
    }
    /* The chunksize with which a worker stays well below its limit, where one would
     * help. */
    const struct roast_chunk_model *model = &at->model;
    double room = model->limit_bytes * LIMIT_ADVISED_PERCENT / 100 - model->base_bytes;
    double size = room / model->per_event_bytes;
    if (model->memory_known == ROAST_MEMORY_GUESSED || !(size >= 1) ||
        !(size < model->now_events))
        return;
    roast__blank_size(finding, "size", roast__friendly(size));
    roast__blank_size(finding, "now", model->now_events);
    roast__blank_pattern(finding, "smaller", ", or chunksize={size} (now {now})");
}

/* ---- growth ---------------------------------------------------------------------- */

/* Memory of one process over the number of its chunks so far. Time would not do: the
 * first chunk takes long, because it imports. */
struct growing {
    uint32_t chunks;
    uint32_t seen;
    struct roast_linear_fit all;
    struct roast_linear_fit
        later; /* of the second half: caches that fill up come to rest */
};

/* Whether the memory of a process after an attempt is known and counts. */
static bool has_memory(const struct roast_rule_input *at, size_t row)
{
    const struct roast_column *columns = at->ctx->run->attempts.columns;

    return at->ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS &&
           roast__column_has(&columns[ROAST_COLUMN_rss_after_bytes], row);
}

static bool grows(const struct growing *own)
{
    double slope = roast__fit_slope(&own->all);

    return slope > 0 && roast__fit_r2(&own->all) * 100 >= LIMIT_GROWTH_R2_PERCENT &&
           roast__fit_slope(&own->later) * 100 >= LIMIT_GROWTH_LATER_PERCENT * slope;
}

/* What a process gained from its first chunk to its last. */
static double growth_of(const struct growing *own)
{
    return roast__fit_slope(&own->all) * (own->all.count - 1);
}

/* Processes with enough chunks, and those of them that grow. */
struct growth {
    double processes;
    double growing;
    const struct growing *largest; /* NULL: none grows */
};

static struct growth find_growth(const struct growing *processes, size_t count)
{
    struct growth found = {.largest = NULL};

    for (size_t i = 0; i < count; i++) {
        const struct growing *own = &processes[i];
        if (own->chunks < LIMIT_GROWTH_CHUNKS)
            continue;
        found.processes++;
        if (!grows(own))
            continue;
        found.growing++;
        if (!found.largest || growth_of(own) > growth_of(found.largest))
            found.largest = own;
    }
    return found;
}

/* One of many processes may grow by chance: what is kept is kept in most of them. */
static bool is_leak(const struct growth *found)
{
    const struct growing *largest = found->largest;

    return largest && found->growing * 2 >= found->processes &&
           growth_of(largest) >= LIMIT_GROWTH_MB * 1e6 &&
           growth_of(largest) * 100 >=
               LIMIT_GROWTH_PERCENT * roast__fit_at(&largest->all, 0);
}

void roast__rule_memory_leak(const struct roast_rule_input *at,
                             struct roast_finding *finding)
{
    size_t count = at->ctx->run->attempts.process_count;
    struct growing *processes = roast__alloc(count * sizeof(processes[0]));

    finding->cost_s = NAN;
    if (!processes) {
        at->ctx->summary->failed = true;
        return;
    }
    const struct roast_attempts *attempts = &at->ctx->run->attempts;
    const struct roast_column *after = &attempts->columns[ROAST_COLUMN_rss_after_bytes];
    for (size_t row = 0; row < attempts->count; row++)
        processes[attempts->process[row]].chunks += has_memory(at, row);
    for (size_t row = 0; row < attempts->count; row++) {
        struct growing *own = &processes[attempts->process[row]];
        if (!has_memory(at, row))
            continue;
        double number = own->seen++, bytes = (double)after->values[row];
        roast__fit_add(&own->all, number, bytes);
        if (own->seen * 2 > own->chunks)
            roast__fit_add(&own->later, number, bytes);
    }
    struct growth found = find_growth(processes, count);
    if (is_leak(&found)) {
        const struct growing *largest = found.largest;
        finding->found = true;
        finding->risk = true;
        roast__blank_number(finding, "rate", roast__fit_slope(&largest->all), "B");
        roast__blank_number(finding, "growth", growth_of(largest), "B");
        roast__blank_number(finding, "first", roast__fit_at(&largest->all, 0), "B");
        roast__blank_number(finding, "growing", found.growing, "");
        roast__blank_number(finding, "processes", found.processes, "");
    }
    roast__free(processes);
}

/* ---- spilling -------------------------------------------------------------------- */

static bool is_text(const struct roast_run *run, int32_t number, const char *text)
{
    return roast__str_is(roast__strings_get(&run->strings, number), text);
}

void roast__rule_spilling(const struct roast_rule_input *at,
                          struct roast_finding *finding)
{
    double peak = roast__input_metric(at, ROAST_METRIC_spilled_bytes_peak);
    double written = roast__input_metric(at, ROAST_METRIC_disk_write_bytes);
    double spilled = fmax(isnan(peak) ? 0 : peak, isnan(written) ? 0 : written);
    /* Seconds of Dask on its spill files, outside of task threads. */
    const struct roast_run *run = at->ctx->run;
    double seconds = 0;
    for (size_t i = 0; i < run->scheduler.activity_count; i++) {
        const struct roast_activity_row *row = &run->scheduler.activities[i];
        if (is_text(run, row->unit, "seconds") &&
            (is_text(run, row->activity, "disk-read") ||
             is_text(run, row->activity, "disk-write")))
            seconds += row->value;
    }

    finding->found = spilled >= LIMIT_SPILLED_MB * 1e6;
    if (!finding->found)
        return;
    finding->risk = true;
    finding->cost_s = seconds > 0 ? seconds : NAN;
    finding->saves_unknown = true; /* the waiting threads are not known */
    roast__blank_number(finding, "spilled", spilled, "B");
    roast__blank_text(finding, "when",
                      roast_str_of(peak >= spilled ? "on disk at the peak"
                                                   : "written to disk in all"));
    if (seconds > 0) {
        roast__blank_number(finding, "disk", seconds, "s");
        roast__blank_pattern(finding, "seconds", ", {disk} reading and writing it");
    }
    blank_limit(at, finding, roast__input_metric(at, ROAST_METRIC_peak_memory_bytes));
}
