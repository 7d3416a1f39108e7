/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_memory.c - rules about memory: pressure, growth, spilling.
 *
 * A suggested limit is the largest memory used / LIMIT_ADVISED_PERCENT. */
#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/recorded.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/series.h"

/* The limit for a worker that used so much, with its share of the spilled bytes. */
static void set_suggested_memory(const struct roast_rule_input *input,
                                 struct roast_finding *finding, double used_bytes)
{
    double spilled = roast__input_metric(input, ROAST_METRIC_spilled_bytes_peak);
    double workers = roast__input_metric(input, ROAST_METRIC_peak_workers);

    if (spilled > 0 && workers > 0)
        used_bytes += spilled / workers;
    roast__set_memory_limit(finding, "suggested_memory",
                            used_bytes / LIMIT_ADVISED_PERCENT * 100);
}

/* ---- pressure -------------------------------------------------------------------- */

/* The sample of a worker closest to its limit. */
struct fullest {
    double percent;
    double bytes;
    double limit_bytes;
    int32_t worker; /* string id of its name */
};

static void find_fullest(struct fullest *fullest,
                         const struct roast_worker_samples *worker)
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

void roast__rule_memory_pressure(const struct roast_rule_input *input,
                                 struct roast_finding *finding)
{
    double percent =
        roast__input_metric(input, ROAST_METRIC_memory_utilization_max_percent);
    double peak = roast__input_metric(input, ROAST_METRIC_peak_memory_bytes);

    finding->found = percent > LIMIT_MEMORY_PERCENT && !(peak < LIMIT_GROWTH_MB * 1e6);
    if (!finding->found)
        return;
    /* workers are the sampled processes with a known peak */
    const struct roast_samples *samples = &input->ctx->run->samples;
    const double *peaks = input->ctx->totals->sampled_peaks;
    struct fullest fullest = {.bytes = NAN, .limit_bytes = NAN};
    for (size_t i = 0; peaks && i < samples->count; i++) {
        if (peaks[i] >= 0)
            find_fullest(&fullest, &samples->workers[i]);
    }
    finding->risk = true;
    finding->cost_s = NAN;
    roast__set_number(finding, "percent", percent, "%");
    if (fullest.percent > 0) {
        roast__set_number(finding, "held", fullest.bytes, "B");
        roast__set_number(finding, "limit", fullest.limit_bytes, "B");
        roast__set_text(finding, "worker",
                        roast__strings_get(&input->ctx->run->strings, fullest.worker));
        set_suggested_memory(input, finding, fullest.bytes);
        /* another worker may need more, and has it */
        roast__set_from_pattern(finding, "scope",
                                peak > fullest.limit_bytes ? "for {worker}"
                                                           : "per worker");
    }
    /* the chunksize that keeps a worker well below its limit */
    const struct roast_chunk_model *model = &input->model;
    double room = model->limit_bytes * LIMIT_ADVISED_PERCENT / 100 - model->base_bytes;
    double size = room / model->per_event_bytes;
    if (model->memory_source == ROAST_MEMORY_ASSUMED || !(size >= 1) ||
        !(size < model->current_size))
        return;
    roast__set_integer(finding, "size", roast__round_size(size));
    roast__set_integer(finding, "now", model->current_size);
    roast__set_from_pattern(finding, "smaller", ", or chunksize={size} (now {now})");
}

/* ---- growth ---------------------------------------------------------------------- */

/* Memory of one process over the number of its chunks so far. Not over time: the first
 * chunk is slow, because it imports. */
struct process_memory {
    uint32_t chunks;
    uint32_t seen;
    double output_bytes; /* packed */
    struct roast_growth growth;
};

/* Whether the attempt counts and has the memory of its process after it. */
static bool has_memory(const struct roast_rule_input *input, size_t row)
{
    const struct roast_column *columns = input->ctx->run->attempts.columns;

    return input->ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS &&
           roast__column_has(&columns[ROAST_COLUMN_rss_after_bytes], row);
}

/* Outputs are merged in the client, and wait on workers of Dask until they are merged. */
static void set_what_grows(const struct roast_rule_input *input,
                           struct roast_finding *finding,
                           const struct process_memory *process, bool is_client)
{
    double growth =
        roast__fit_slope(&process->growth.all) * (process->growth.all.count - 1);

    if (is_client) {
        finding->advice =
            "outputs are merged in this process: if they grow with the events, write "
            "columns to files in process() and return their names; else keep no data "
            "of "
            "a chunk after it: no lists or caches on self";
    } else if (input->on_cluster &&
               process->output_bytes * 100 >= LIMIT_GROWTH_OUTPUTS_PERCENT * growth) {
        roast__set_number(finding, "bytes", process->output_bytes, "B");
        roast__set_from_pattern(finding, "outputs",
                                "; the outputs of its chunks are {bytes} packed");
        finding->advice = "smaller outputs: fewer bins and axes, no columns; workers "
                          "keep them until they are merged";
    }
}

void roast__rule_memory_leak(const struct roast_rule_input *input,
                             struct roast_finding *finding)
{
    size_t count = input->ctx->run->attempts.process_count;
    struct process_memory *processes = roast__alloc(count * sizeof(processes[0]));

    finding->cost_s = NAN;
    if (!processes) {
        input->ctx->summary->failed = true;
        return;
    }
    const struct roast_attempts *attempts = &input->ctx->run->attempts;
    const struct roast_column *after = &attempts->columns[ROAST_COLUMN_rss_after_bytes];
    const struct roast_column *outputs = &attempts->columns[ROAST_COLUMN_output_bytes];
    for (size_t row = 0; row < attempts->count; row++)
        processes[attempts->process[row]].chunks += has_memory(input, row);
    for (size_t row = 0; row < attempts->count; row++) {
        struct process_memory *process = &processes[attempts->process[row]];
        if (!has_memory(input, row))
            continue;
        double number = process->seen++, bytes = (double)after->values[row];
        double output_bytes = roast__column_number(outputs, row);
        process->output_bytes += output_bytes > 0 ? output_bytes : 0;
        roast__fit_add(&process->growth.all, number, bytes);
        if (process->seen * 2 > process->chunks)
            roast__fit_add(&process->growth.later, number, bytes);
    }
    double with_chunks = 0, growing = 0, growth = -INFINITY, slope = 0, first = 0;
    size_t largest = 0; /* growth */
    for (size_t i = 0; i < count; i++) {
        const struct roast_linear_fit *all = &processes[i].growth.all;
        if (processes[i].chunks < LIMIT_GROWTH_CHUNKS)
            continue;
        with_chunks++;
        if (!roast__grows(&processes[i].growth))
            continue;
        growing++;
        if (roast__fit_slope(all) * (all->count - 1) > growth) {
            slope = roast__fit_slope(all);
            growth = slope * (all->count - 1);
            first = roast__fit_at(all, 0);
            largest = i;
        }
    }
    /* One of many processes may grow by chance; a leak shows in most of them. */
    finding->found = growing > 0 && growing * 2 >= with_chunks &&
                     growth >= LIMIT_GROWTH_MB * 1e6 &&
                     growth * 100 >= LIMIT_GROWTH_PERCENT * first;
    finding->risk = true;
    roast__set_number(finding, "rate", slope, "B");
    roast__set_number(finding, "growth", growth, "B");
    roast__set_number(finding, "first", first, "B");
    roast__set_number(finding, "growing", growing, "");
    roast__set_number(finding, "processes", with_chunks, "");
    if (finding->found)
        set_what_grows(
            input, finding, &processes[largest],
            roast__is_client_process(input->ctx->run, &attempts->processes[largest]));
    roast__free(processes);
}

/* ---- spilling -------------------------------------------------------------------- */

static bool is_text(const struct roast_run *run, int32_t string, const char *text)
{
    return roast__str_is(roast__strings_get(&run->strings, string), text);
}

void roast__rule_spilling(const struct roast_rule_input *input,
                          struct roast_finding *finding)
{
    double peak = roast__input_metric(input, ROAST_METRIC_spilled_bytes_peak);
    double written = roast__input_metric(input, ROAST_METRIC_disk_write_bytes);
    double spilled = fmax(isnan(peak) ? 0 : peak, isnan(written) ? 0 : written);
    /* Seconds of Dask on its spill files, outside task threads. */
    const struct roast_run *run = input->ctx->run;
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
    roast__set_number(finding, "spilled", spilled, "B");
    roast__set_text(finding, "when",
                    roast_str_of(peak >= spilled ? "on disk at the peak"
                                                 : "written to disk in all"));
    if (seconds > 0) {
        roast__set_number(finding, "disk", seconds, "s");
        roast__set_from_pattern(finding, "seconds", ", {disk} reading and writing it");
    }
    set_suggested_memory(input, finding,
                         roast__input_metric(input, ROAST_METRIC_peak_memory_bytes));
}
