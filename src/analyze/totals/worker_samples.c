/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_samples.c - memory, CPU, disk and network of the workers.
 *
 * Four series of a worker are read side by side, in blocks that loops go through at full
 * speed. A limit of memory counts where it was
 * sampled with the memory; the threads that CPU is measured against are those that the
 * worker reports, else an equal share of what was offered at that moment. */
#include "analyze/budget/worker_match.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "analyze/totals/sweep.h"
#include "base/mem.h"

/* Sums over all samples of all workers. */
struct use {
    double memory_samples;
    double memory_sum;
    struct roast_moments memory_percent;
    struct roast_moments cpu_percent;
    struct roast_moments weighted_bytes; /* one value per worker */
    uint64_t without_limit;
    uint64_t processes; /* among which the offered threads are shared */
    double peak_bytes;
    int32_t peak_worker; /* number of its name */
    int64_t peak_time_ns;
};

/* A worker's memory over time. */
struct memory {
    uint64_t samples; /* that know it */
    double sum;
    double highest;    /* negative: none knew */
    double byte_ns;    /* area below the line through the samples, twice as much */
    double ns;         /* that it stands on */
    double last_bytes; /* NaN: no sample before, or it did not know */
    int64_t last_ns;
};

/* ---- one sample ------------------------------------------------------------------ */

/* One that does not know its memory, or follows such a one. */
static void add_odd_sample(struct memory *own, double bytes)
{
    own->last_bytes = bytes;
    if (isnan(bytes))
        return;
    own->samples++;
    own->sum += bytes;
    own->highest = bytes > own->highest ? bytes : own->highest;
}

/* The threads of one process: workers may be threads of the same one. */
static double threads_at(const struct roast_run *run, int64_t time_ns, double cores,
                         uint64_t processes)
{
    if (cores >= 1)
        return cores;
    const struct roast_offer *offer = roast__run_offer_at(run, time_ns);
    if (!offer || offer->workers == 0 || offer->threads < offer->workers)
        return 1;
    uint64_t shares =
        processes > 0 && processes < offer->workers ? processes : offer->workers;
    return (double)offer->threads / (double)shares;
}

/* ---- one worker ------------------------------------------------------------------ */

enum { MEMORY, LIMIT, CPU, CORES, SIDE_BY_SIDE };

static const enum roast_series read_series[SIDE_BY_SIDE] = {
    [MEMORY] = ROAST_SERIES_memory,
    [LIMIT] = ROAST_SERIES_memory_limit,
    [CPU] = ROAST_SERIES_cpu,
    [CORES] = ROAST_SERIES_cores,
};

/* Some moments of a worker. */
struct block {
    struct roast_series_cursor cursors[SIDE_BY_SIDE];
    bool reads[SIDE_BY_SIDE]; /* a series that was never known needs no reading */
    size_t count;
    int64_t times_ns[ROAST_SERIES_BLOCK];
    double values[SIDE_BY_SIDE][ROAST_SERIES_BLOCK]; /* NaN: not known */
    double percent[ROAST_SERIES_BLOCK];              /* of memory in its limit */
    double busy[ROAST_SERIES_BLOCK];                 /* CPU percent of a thread */
};

static bool read_block(struct block *block)
{
    block->count = roast__series_block(&block->cursors[MEMORY], block->times_ns,
                                       block->values[MEMORY]);
    for (int i = MEMORY + 1; i < SIDE_BY_SIDE; i++)
        if (block->reads[i])
            (void)roast__series_block(&block->cursors[i], NULL, block->values[i]);
    return block->count > 0;
}

/* All sums in one loop: they do not wait for each other. */
static void add_memory(struct memory *own, const struct block *block)
{
    struct memory now = *own; /* a copy that the compiler can keep in registers */

    for (size_t i = 0; i < block->count; i++) {
        double bytes = block->values[MEMORY][i];
        double ends = now.last_bytes + bytes;
        int64_t before_ns = now.last_ns;
        now.last_ns = block->times_ns[i];
        if (isnan(ends)) {
            add_odd_sample(&now, bytes);
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

/* After the block was added: the highest of all seldom moves. */
static void find_peak(struct use *use, const struct roast_worker_samples *worker,
                      const struct memory *own, const struct block *block)
{
    if (!(own->highest > use->peak_bytes))
        return;
    for (size_t i = 0; i < block->count; i++) {
        if (!(block->values[MEMORY][i] > use->peak_bytes))
            continue;
        use->peak_bytes = block->values[MEMORY][i];
        use->peak_worker = worker->name;
        use->peak_time_ns = block->times_ns[i];
    }
}

static bool is_limited(const struct block *block)
{
    size_t i = block->reads[LIMIT] ? 0 : block->count;

    while (i < block->count && !(block->values[LIMIT][i] > 0))
        i++;
    return i < block->count;
}

/* Gives the highest memory; NaN: not known. */
static double add_worker(struct use *use, const struct roast_run *run,
                         const struct roast_worker_samples *worker, struct block *block)
{
    struct memory own = {.last_bytes = NAN, .highest = -1};
    bool limited = false;

    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        const struct roast_packed_series *series =
            roast__series_of(worker, read_series[i]);
        block->reads[i] = i == MEMORY || series->changes.size_bytes > 0;
        if (i == CORES) /* they only matter to CPU */
            block->reads[i] = block->reads[i] && block->reads[CPU];
        if (block->reads[i])
            roast__series_open(&block->cursors[i], worker, read_series[i]);
        for (int k = 0; !block->reads[i] && k < ROAST_SERIES_BLOCK; k++)
            block->values[i][k] = NAN;
    }
    while (read_block(block)) {
        /* Nothing is related to a series that was never known. */
        for (size_t i = 0; block->reads[LIMIT] && i < block->count; i++) {
            double limit = block->values[LIMIT][i];
            double percent = block->values[MEMORY][i] / limit * 100;
            block->percent[i] = limit > 0 ? percent : NAN;
        }
        for (size_t i = 0; block->reads[CPU] && i < block->count; i++)
            block->busy[i] = block->values[CPU][i] / threads_at(run, block->times_ns[i],
                                                                block->values[CORES][i],
                                                                use->processes);
        add_memory(&own, block);
        find_peak(use, worker, &own, block);
        limited = limited || is_limited(block);
        if (block->reads[LIMIT])
            roast__moments_add(&use->memory_percent, block->percent, block->count);
        if (block->reads[CPU])
            roast__moments_add(&use->cpu_percent, block->busy, block->count);
    }
    /* By time; where none passed between samples they are all alike. */
    double weighted =
        own.ns > 0 ? own.byte_ns / 2 / own.ns : own.sum / (double)own.samples;
    roast__moments_add(&use->weighted_bytes, &weighted, 1);
    use->memory_samples += (double)own.samples;
    use->memory_sum += own.sum;
    use->without_limit += !limited;
    return own.samples > 0 ? own.highest : NAN;
}

/* False when out of memory. */
static bool add_workers(struct use *use, const struct roast_summary_context *ctx,
                        const struct roast_worker_match *match)
{
    const struct roast_samples *samples = &ctx->run->samples;
    double *peaks = roast__realloc(NULL, samples->count * sizeof(peaks[0]));
    struct block block;

    ctx->totals->sampled_peaks = peaks;
    for (size_t i = 0; peaks && i < samples->count; i++)
        peaks[i] = match->is_worker[i]
                       ? add_worker(use, ctx->run, &samples->workers[i], &block)
                       : -1;
    return peaks != NULL;
}

/* ---- metrics --------------------------------------------------------------------- */

static void set_peak(const struct roast_summary_context *ctx, const struct use *use)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_peak_memory);

    if (!(use->peak_bytes > 0))
        return;
    roast__table_row(table);
    roast__fill_text(table, ROAST_COL_peak_memory_worker,
                     roast__context_text(ctx, use->peak_worker));
    roast__fill_int(table, ROAST_COL_peak_memory_time, use->peak_time_ns);
}

static void set_use(const struct roast_summary_context *ctx, const struct use *use)
{
    const struct roast_moments *memory = &use->memory_percent;

    if (use->memory_samples > 0) {
        roast__context_set(ctx, ROAST_METRIC_peak_memory_bytes, use->peak_bytes);
        roast__context_set(ctx, ROAST_METRIC_workers_without_limit,
                           (double)use->without_limit);
    }
    roast__context_set(ctx, ROAST_METRIC_avg_memory_per_worker_bytes,
                       use->memory_sum / use->memory_samples);
    roast__context_set(ctx, ROAST_METRIC_avg_memory_per_worker_weighted_bytes,
                       roast__moments_mean(&use->weighted_bytes));
    if (memory->count > 0) {
        roast__context_set(ctx, ROAST_METRIC_memory_utilization_avg_percent,
                           roast__moments_mean(memory));
        roast__context_set(ctx, ROAST_METRIC_memory_utilization_min_percent,
                           memory->min);
        roast__context_set(ctx, ROAST_METRIC_memory_utilization_max_percent,
                           memory->max);
    }
    if (use->cpu_percent.count > 0) {
        roast__context_set(ctx, ROAST_METRIC_cpu_utilization_avg_percent,
                           roast__moments_mean(&use->cpu_percent));
        roast__context_set(ctx, ROAST_METRIC_cpu_utilization_max_percent,
                           use->cpu_percent.max);
    }
}

/* Series that are summed over workers; those of a whole machine count once for it: on
 * Dask workers report the disks of their host, here what the process did. */
struct flow {
    enum roast_series series;
    bool of_machine;
    bool of_disk;
    enum roast_metric mean;
    enum roast_metric peak;
};

static const struct flow flows[] = {
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
    struct use use = {.peak_worker = ROAST_NO_STRING};
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
    use.processes = match.seen;
    if (!add_workers(&use, ctx, &match)) {
        ctx->summary->failed = true;
        goto out;
    }
    set_use(ctx, &use);
    set_peak(ctx, &use);
    bool on_dask = ctx->run->scheduler.sessions.count > 0;
    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
        bool once = flows[i].of_machine || (flows[i].of_disk && on_dask);
        struct roast_lanes lanes = {
            .samples = &ctx->run->samples,
            .wanted = match.is_worker,
            .group = once ? match.machine : NULL,
        };
        struct roast_sweep sweep;
        if (!roast__sweep(&sweep, &lanes, flows[i].series))
            ctx->summary->failed = true;
        if (!sweep.known)
            continue;
        roast__context_set(ctx, flows[i].mean, sweep.mean);
        roast__context_set(ctx, flows[i].peak, sweep.peak);
    }
out:
    roast__worker_match_release(&match);
}
