/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_samples.c - memory, CPU, disk and network of the workers.
 *
 * Four series of a worker are read side by side, in blocks that loops go through at full
 * speed. A limit of memory counts where it was
 * sampled with the memory; the threads that CPU is measured against are those that the
 * worker reports, else an equal share of what was offered at that moment. */
#include "aggregate/crew.h"
#include "aggregate/formulas.h"
#include "aggregate/sweep.h"
#include "aggregate/timeline.h"

/* Sums over all samples of all workers. */
struct use {
    struct roast_moments memory_bytes;
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
struct area {
    double byte_seconds;
    double seconds;
    double last_bytes; /* NaN: no sample before, or none that knew */
    int64_t last_ns;
};

/* ---- one sample ------------------------------------------------------------------ */

static void add_to_area(struct area *area, int64_t time_ns, double bytes)
{
    double seconds = roast__seconds_between(area->last_ns, time_ns);
    double pair = area->last_bytes + bytes;

    if (!isnan(pair)) {
        area->byte_seconds += pair / 2 * seconds;
        area->seconds += seconds;
    }
    area->last_bytes = bytes;
    area->last_ns = time_ns;
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

static void open_block(struct block *block, const struct roast_worker_samples *worker)
{
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        const struct roast_packed_series *series =
            roast__series_of(worker, read_series[i]);
        block->reads[i] = i == MEMORY || series->changes.size_bytes > 0;
        if (block->reads[i])
            roast__series_open(&block->cursors[i], worker, read_series[i]);
        for (int k = 0; !block->reads[i] && k < ROAST_SERIES_BLOCK; k++)
            block->values[i][k] = NAN;
    }
}

static bool read_block(struct block *block)
{
    block->count = roast__series_block(&block->cursors[MEMORY], block->times_ns,
                                       block->values[MEMORY]);
    for (int i = MEMORY + 1; i < SIDE_BY_SIDE; i++)
        if (block->reads[i])
            (void)roast__series_block(&block->cursors[i], NULL, block->values[i]);
    return block->count > 0;
}

/* Nothing is related to a series that was never known. */
static void relate(struct block *block, const struct roast_run *run, uint64_t processes)
{
    for (size_t i = 0; block->reads[LIMIT] && i < block->count; i++) {
        double limit = block->values[LIMIT][i];
        double percent = block->values[MEMORY][i] / limit * 100;
        block->percent[i] = limit > 0 ? percent : NAN;
    }
    for (size_t i = 0; block->reads[CPU] && i < block->count; i++)
        block->busy[i] =
            block->values[CPU][i] /
            threads_at(run, block->times_ns[i], block->values[CORES][i], processes);
}

/* After the block was added to the extremes, which seldom move. */
static void find_peak(struct use *use, const struct roast_worker_samples *worker,
                      const struct block *block)
{
    if (!(use->memory_bytes.extremes.max > use->peak_bytes))
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

/* Of samples between which no time passed. */
static double plain_mean(const struct roast_worker_samples *worker, struct block *block)
{
    struct roast_moments own = {0};

    open_block(block, worker);
    while (read_block(block))
        roast__moments_add(&own, block->values[MEMORY], block->count);
    return roast__spread_mean(&own.spread);
}

static void add_worker(struct use *use, const struct roast_run *run,
                       const struct roast_worker_samples *worker, struct block *block)
{
    struct area area = {.last_bytes = NAN};
    bool limited = false;

    open_block(block, worker);
    while (read_block(block)) {
        relate(block, run, use->processes);
        for (size_t i = 0; i < block->count; i++)
            add_to_area(&area, block->times_ns[i], block->values[MEMORY][i]);
        limited = limited || is_limited(block);
        roast__moments_add(&use->memory_bytes, block->values[MEMORY], block->count);
        find_peak(use, worker, block);
        if (block->reads[LIMIT])
            roast__moments_add(&use->memory_percent, block->percent, block->count);
        if (block->reads[CPU])
            roast__moments_add(&use->cpu_percent, block->busy, block->count);
    }
    double weighted =
        area.seconds > 0 ? area.byte_seconds / area.seconds : plain_mean(worker, block);
    roast__moments_add(&use->weighted_bytes, &weighted, 1);
    use->without_limit += !limited;
}

/* ---- metrics --------------------------------------------------------------------- */

static void set_peak(const struct roast_study *study, const struct use *use)
{
    static const char *const columns[] = {"worker", "time"};
    size_t table = roast__table_open(study->summary, "peak_memory", ROAST_TABLE_SINGLE,
                                     columns, 2);

    if (use->memory_bytes.spread.count == 0 || !(use->peak_bytes > 0))
        return;
    struct roast_cell *row = roast__table_row(study->summary, table);
    row[0] = roast__study_text(study, use->peak_worker);
    row[1] = roast__cell_number(roast__epoch_seconds(use->peak_time_ns));
}

static void set_use(const struct roast_study *study, const struct use *use)
{
    const struct roast_moments *memory = &use->memory_percent;

    if (use->memory_bytes.spread.count > 0) {
        roast__study_set(study, ROAST_METRIC_peak_memory_bytes,
                         use->memory_bytes.extremes.max);
        roast__study_set(study, ROAST_METRIC_workers_without_limit,
                         (double)use->without_limit);
    }
    roast__study_set(study, ROAST_METRIC_avg_memory_per_worker_bytes,
                     roast__spread_mean(&use->memory_bytes.spread));
    roast__study_set(study, ROAST_METRIC_avg_memory_per_worker_weighted_bytes,
                     roast__spread_mean(&use->weighted_bytes.spread));
    if (memory->spread.count > 0) {
        roast__study_set(study, ROAST_METRIC_memory_utilization_avg_percent,
                         roast__spread_mean(&memory->spread));
        roast__study_set(study, ROAST_METRIC_memory_utilization_min_percent,
                         memory->extremes.min);
        roast__study_set(study, ROAST_METRIC_memory_utilization_max_percent,
                         memory->extremes.max);
    }
    if (use->cpu_percent.spread.count > 0) {
        roast__study_set(study, ROAST_METRIC_cpu_utilization_avg_percent,
                         roast__spread_mean(&use->cpu_percent.spread));
        roast__study_set(study, ROAST_METRIC_cpu_utilization_max_percent,
                         use->cpu_percent.extremes.max);
    }
}

/* Series that are summed over workers; those of a whole machine count once for it: on
 * Dask workers say what the disks of their host do, here what the process did. */
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

static void set_flows(const struct roast_study *study, const struct roast_crew *crew)
{
    bool on_dask = study->run->scheduler.stays.count > 0;

    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
        bool once = flows[i].of_machine || (flows[i].of_disk && on_dask);
        struct roast_lanes lanes = {
            .samples = &study->run->samples,
            .wanted = crew->is_worker,
            .group = once ? crew->machine : NULL,
        };
        struct roast_sweep sweep;
        if (!roast__sweep(&sweep, &lanes, flows[i].series))
            study->summary->failed = true;
        if (!sweep.known)
            continue;
        roast__study_set(study, flows[i].mean, sweep.mean);
        roast__study_set(study, flows[i].peak, sweep.peak);
    }
}

void roast__study_worker_samples(const struct roast_study *study)
{
    const struct roast_run *run = study->run;
    struct use use = {.peak_worker = ROAST_NO_STRING};
    struct roast_crew crew = {0};
    struct block block;

    if (!roast__crew_find(&crew, run)) {
        study->summary->failed = true;
        goto out;
    }
    if (crew.seen > 0) {
        roast__study_set(study, ROAST_METRIC_processes_seen, (double)crew.seen);
        roast__study_set(study, ROAST_METRIC_processes_unsampled,
                         (double)crew.unsampled);
    }
    use.processes = crew.seen;
    for (size_t i = 0; i < run->samples.count; i++) {
        if (crew.is_worker[i])
            add_worker(&use, run, &run->samples.workers[i], &block);
    }
    set_use(study, &use);
    set_peak(study, &use);
    set_flows(study, &crew);
out:
    roast__crew_release(&crew);
}
