/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_samples.c - memory, CPU, disk and network of the workers.
 *
 * The series of a worker are read side by side, in blocks. CPU utilization is relative
 * to the threads that the worker reports, else to an equal share of the threads offered
 * at that time. The peak of memory is that of samples and of records. */
#include "analyze/budget/worker_match.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "analyze/totals/sweep.h"
#include "base/mem.h"

/* Sums over all samples of all workers. */
struct sample_sums {
    double memory_samples;
    double memory_sum;
    struct roast_moments memory_percent;
    struct roast_moments cpu_percent;
    struct roast_moments unmanaged_bytes;
    struct roast_moments weighted_bytes; /* one value per worker */
    uint64_t without_limit;
    uint64_t processes; /* among which the offered threads are shared */
    double peak_bytes;
    int32_t peak_worker; /* number of its name */
    int64_t peak_time_ns;
    int32_t peak_process; /* of the chunk with the peak, between samples; -1: none */
};

/* A worker's memory over time. */
struct memory {
    uint64_t samples; /* with a value */
    double sum;
    double highest;    /* negative: no value */
    double byte_ns;    /* twice the integral of the line through the samples */
    double ns;         /* the length of that integral */
    double last_bytes; /* NaN: no previous value */
    int64_t last_ns;
};

/* ---- one sample ------------------------------------------------------------------ */

/* A sample without a value, or without a previous one. */
static void add_first_sample(struct memory *own, double bytes)
{
    own->last_bytes = bytes;
    if (isnan(bytes))
        return;
    own->samples++;
    own->sum += bytes;
    own->highest = bytes > own->highest ? bytes : own->highest;
}

/* The threads of one process; several workers may be threads of one process. */
static double threads_at(const struct roast_run *run, int64_t time_ns, double cores,
                         uint64_t processes)
{
    if (cores >= 1)
        return cores;
    const struct roast_offer *offer = roast__run_offer_at(run, time_ns);
    if (!offer || offer->workers == 0 || offer->threads < offer->workers)
        return 1;
    uint64_t parts =
        processes > 0 && processes < offer->workers ? processes : offer->workers;
    return (double)offer->threads / (double)parts;
}

/* ---- one worker ------------------------------------------------------------------ */

enum { MEMORY, LIMIT, CPU, CORES, NBYTES, SPILLED, SERIES_READ };

static const enum roast_series read_series[SERIES_READ] = {
    [MEMORY] = ROAST_SERIES_memory, [LIMIT] = ROAST_SERIES_memory_limit,
    [CPU] = ROAST_SERIES_cpu,       [CORES] = ROAST_SERIES_cores,
    [NBYTES] = ROAST_SERIES_nbytes, [SPILLED] = ROAST_SERIES_spilled_memory,
};

/* Some samples of a worker. */
struct block {
    struct roast_series_cursor cursors[SERIES_READ];
    bool reads[SERIES_READ]; /* the series has values */
    size_t count;
    int64_t times_ns[ROAST_SERIES_BLOCK];
    double values[SERIES_READ][ROAST_SERIES_BLOCK]; /* NaN: not known */
    double percent[ROAST_SERIES_BLOCK];             /* memory of its limit */
    double busy[ROAST_SERIES_BLOCK];                /* CPU percent of a thread */
    double unmanaged[ROAST_SERIES_BLOCK];           /* bytes */
};

static bool read_block(struct block *block)
{
    block->count = roast__series_block(&block->cursors[MEMORY], block->times_ns,
                                       block->values[MEMORY]);
    for (int i = MEMORY + 1; i < SERIES_READ; i++)
        if (block->reads[i])
            (void)roast__series_block(&block->cursors[i], NULL, block->values[i]);
    return block->count > 0;
}

/* All sums in one loop, which is fastest. */
static void add_memory(struct memory *own, const struct block *block)
{
    struct memory now = *own; /* a copy that the compiler can keep in registers */

    for (size_t i = 0; i < block->count; i++) {
        double bytes = block->values[MEMORY][i];
        double ends = now.last_bytes + bytes;
        int64_t before_ns = now.last_ns;
        now.last_ns = block->times_ns[i];
        if (isnan(ends)) {
            add_first_sample(&now, bytes);
            continue;
        }
        double ns = (double)roast__time_between(before_ns, now.last_ns);
        now.byte_ns += ends * ns;
        now.ns += ns;
        now.samples++;
        now.sum += bytes;
        now.highest = bytes > now.highest ? bytes : now.highest;
        now.last_bytes = bytes;
    }
    *own = now;
}

/* Call it after the block was added: the peak rarely changes. */
static void find_peak(struct sample_sums *sums,
                      const struct roast_worker_samples *worker,
                      const struct memory *own, const struct block *block)
{
    if (!(own->highest > sums->peak_bytes))
        return;
    for (size_t i = 0; i < block->count; i++) {
        if (!(block->values[MEMORY][i] > sums->peak_bytes))
            continue;
        sums->peak_bytes = block->values[MEMORY][i];
        sums->peak_worker = worker->name;
        sums->peak_time_ns = block->times_ns[i];
    }
}

static bool is_limited(const struct block *block)
{
    size_t i = block->reads[LIMIT] ? 0 : block->count;

    while (i < block->count && !(block->values[LIMIT][i] > 0))
        i++;
    return i < block->count;
}

/* Returns the highest memory; NaN: not known. */
static double add_worker(struct sample_sums *sums, const struct roast_run *run,
                         const struct roast_worker_samples *worker, struct block *block)
{
    struct memory own = {.last_bytes = NAN, .highest = -1};
    bool limited = false;

    for (int i = 0; i < SERIES_READ; i++) {
        const struct roast_packed_series *series =
            roast__series_of(worker, read_series[i]);
        block->reads[i] = i == MEMORY || series->changes.size_bytes > 0;
        if (i == CORES) /* used for CPU only */
            block->reads[i] = block->reads[i] && block->reads[CPU];
        if (block->reads[i])
            roast__series_open(&block->cursors[i], worker, read_series[i]);
        for (int k = 0; !block->reads[i] && k < ROAST_SERIES_BLOCK; k++)
            block->values[i][k] = NAN;
    }
    while (read_block(block)) {
        for (size_t i = 0; block->reads[LIMIT] && i < block->count; i++) {
            double limit = block->values[LIMIT][i];
            double percent = block->values[MEMORY][i] / limit * 100;
            block->percent[i] = limit > 0 ? percent : NAN;
        }
        for (size_t i = 0; block->reads[CPU] && i < block->count; i++)
            block->busy[i] = block->values[CPU][i] / threads_at(run, block->times_ns[i],
                                                                block->values[CORES][i],
                                                                sums->processes);
        for (size_t i = 0; block->reads[NBYTES] && i < block->count; i++)
            block->unmanaged[i] = roast__unmanaged_bytes(block->values[MEMORY][i],
                                                         block->values[NBYTES][i],
                                                         block->values[SPILLED][i]);
        add_memory(&own, block);
        find_peak(sums, worker, &own, block);
        limited = limited || is_limited(block);
        if (block->reads[LIMIT])
            roast__moments_add(&sums->memory_percent, block->percent, block->count);
        if (block->reads[CPU])
            roast__moments_add(&sums->cpu_percent, block->busy, block->count);
        if (block->reads[NBYTES])
            roast__moments_add(&sums->unmanaged_bytes, block->unmanaged, block->count);
    }
    /* Weighted by time; the plain mean if no time passed between samples. */
    double weighted =
        own.ns > 0 ? own.byte_ns / 2 / own.ns : own.sum / (double)own.samples;
    roast__moments_add(&sums->weighted_bytes, &weighted, 1);
    sums->memory_samples += (double)own.samples;
    sums->memory_sum += own.sum;
    sums->without_limit += !limited;
    return own.samples > 0 ? own.highest : NAN;
}

/* False when out of memory. */
static bool add_workers(struct sample_sums *sums,
                        const struct roast_summary_context *ctx,
                        const struct roast_worker_match *match)
{
    const struct roast_samples *samples = &ctx->run->samples;
    double *peaks = roast__realloc(NULL, samples->count * sizeof(peaks[0]));
    struct block block;

    ctx->totals->sampled_peaks = peaks;
    for (size_t i = 0; peaks && i < samples->count; i++)
        peaks[i] = match->is_worker[i]
                       ? add_worker(sums, ctx->run, &samples->workers[i], &block)
                       : -1;
    return peaks != NULL;
}

/* ---- chunks ---------------------------------------------------------------------- */

/* Chunks are sampled more often than workers. */
static void add_chunk_peaks(struct sample_sums *sums,
                            const struct roast_attempts *attempts)
{
    const struct roast_column *peaks = &attempts->columns[ROAST_COLUMN_rss_peak_bytes];

    for (size_t row = 0; peaks->known > 0 && row < attempts->count; row++) {
        double bytes = roast__column_number(peaks, row);
        if (!(bytes > sums->peak_bytes))
            continue;
        sums->peak_bytes = bytes;
        sums->peak_process = attempts->process[row];
    }
}

/* ---- metrics --------------------------------------------------------------------- */

static void set_peak(const struct roast_summary_context *ctx,
                     const struct sample_sums *sums)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_peak_memory);

    if (!(sums->peak_bytes > 0))
        return;
    roast__table_row(table);
    if (sums->peak_process >= 0) {
        roast__fill_worker(table, ROAST_COL_peak_memory_worker, ctx,
                           (size_t)sums->peak_process);
        return;
    }
    roast__fill_text(table, ROAST_COL_peak_memory_worker,
                     roast__context_text(ctx, sums->peak_worker));
    roast__fill_int(table, ROAST_COL_peak_memory_time, sums->peak_time_ns);
}

static void set_metrics(const struct roast_summary_context *ctx,
                        const struct sample_sums *sums)
{
    const struct roast_moments *memory = &sums->memory_percent;

    if (sums->memory_samples > 0 || sums->peak_process >= 0)
        roast__context_set(ctx, ROAST_METRIC_peak_memory_bytes, sums->peak_bytes);
    if (sums->memory_samples > 0)
        roast__context_set(ctx, ROAST_METRIC_workers_without_limit,
                           (double)sums->without_limit);
    roast__context_set(ctx, ROAST_METRIC_avg_memory_per_worker_bytes,
                       sums->memory_sum / sums->memory_samples);
    roast__context_set(ctx, ROAST_METRIC_avg_memory_per_worker_weighted_bytes,
                       roast__moments_mean(&sums->weighted_bytes));
    if (memory->count > 0) {
        roast__context_set(ctx, ROAST_METRIC_memory_utilization_avg_percent,
                           roast__moments_mean(memory));
        roast__context_set(ctx, ROAST_METRIC_memory_utilization_min_percent,
                           memory->min);
        roast__context_set(ctx, ROAST_METRIC_memory_utilization_max_percent,
                           memory->max);
    }
    if (sums->unmanaged_bytes.count > 0) {
        roast__context_set(ctx, ROAST_METRIC_unmanaged_memory_avg_bytes,
                           roast__moments_mean(&sums->unmanaged_bytes));
        roast__context_set(ctx, ROAST_METRIC_unmanaged_memory_max_bytes,
                           sums->unmanaged_bytes.max);
    }
    if (sums->cpu_percent.count > 0) {
        roast__context_set(ctx, ROAST_METRIC_cpu_utilization_avg_percent,
                           roast__moments_mean(&sums->cpu_percent));
        roast__context_set(ctx, ROAST_METRIC_cpu_utilization_max_percent,
                           sums->cpu_percent.max);
    }
}

/* Series that are summed over workers. Values of a machine count once per machine: Dask
 * workers report the disk traffic of their host, our own samples that of the process. */
struct summed_series {
    enum roast_series series;
    bool of_machine;
    bool of_disk;
    enum roast_metric mean;
    enum roast_metric peak;
};

static const struct summed_series summed[] = {
    {ROAST_SERIES_disk_read, false, true, ROAST_METRIC_disk_read_bps_avg,
     ROAST_METRIC_disk_read_bps_peak},
    {ROAST_SERIES_disk_write, false, true, ROAST_METRIC_disk_write_bps_avg,
     ROAST_METRIC_disk_write_bps_peak},
    {ROAST_SERIES_net_read, true, false, ROAST_METRIC_net_read_bps_avg,
     ROAST_METRIC_net_read_bps_peak},
    {ROAST_SERIES_net_write, true, false, ROAST_METRIC_net_write_bps_avg,
     ROAST_METRIC_net_write_bps_peak},
    {ROAST_SERIES_spilled_disk, false, false, ROAST_METRIC_spilled_bytes_avg,
     ROAST_METRIC_spilled_bytes_peak},
};

void roast__summarize_worker_samples(const struct roast_summary_context *ctx)
{
    const struct roast_run *run = ctx->run;
    struct sample_sums sums = {.peak_worker = ROAST_NO_STRING, .peak_process = -1};
    struct roast_worker_match match = {0};

    if (!roast__worker_match_find(&match, run)) {
        ctx->summary->failed = true;
        goto out;
    }
    if (match.seen > 0) {
        roast__context_set(ctx, ROAST_METRIC_processes_seen, (double)match.seen);
        roast__context_set(ctx, ROAST_METRIC_processes_unsampled,
                           (double)match.unsampled);
    }
    sums.processes = match.seen;
    if (!add_workers(&sums, ctx, &match)) {
        ctx->summary->failed = true;
        goto out;
    }
    add_chunk_peaks(&sums, &run->attempts);
    set_metrics(ctx, &sums);
    set_peak(ctx, &sums);
    bool has_scheduler = ctx->run->scheduler.sessions.count > 0;
    for (size_t i = 0; i < sizeof(summed) / sizeof(summed[0]); i++) {
        bool once = summed[i].of_machine || (summed[i].of_disk && has_scheduler);
        struct roast_lanes lanes = {
            .samples = &ctx->run->samples,
            .wanted = match.is_worker,
            .group = once ? match.machine : NULL,
        };
        struct roast_sweep sweep;
        if (!roast__sweep(&sweep, &lanes, summed[i].series))
            ctx->summary->failed = true;
        if (!sweep.known)
            continue;
        roast__context_set(ctx, summed[i].mean, sweep.mean);
        roast__context_set(ctx, summed[i].peak, sweep.peak);
    }
out:
    roast__worker_match_release(&match);
}
