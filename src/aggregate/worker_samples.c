/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_samples.c - memory, CPU, disk and network of the workers.
 *
 * Four series of a worker are read side by side. A limit of memory counts where it was
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
    const struct roast_offer *offer = roast__run_offer_at(run, time_ns);

    if (cores >= 1)
        return cores;
    if (!offer || offer->workers == 0 || offer->threads < offer->workers)
        return 1;
    uint64_t shares =
        processes > 0 && processes < offer->workers ? processes : offer->workers;
    return (double)offer->threads / (double)shares;
}

static void add_memory(struct use *use, const struct roast_worker_samples *worker,
                       int64_t time_ns, double bytes)
{
    roast__moments_add(&use->memory_bytes, &bytes, 1);
    if (!(bytes > use->peak_bytes))
        return;
    use->peak_bytes = bytes;
    use->peak_worker = worker->name;
    use->peak_time_ns = time_ns;
}

/* ---- one worker ------------------------------------------------------------------ */

enum { MEMORY, LIMIT, CPU, CORES, SIDE_BY_SIDE };

static const enum roast_series read_series[SIDE_BY_SIDE] = {
    [MEMORY] = ROAST_SERIES_memory,
    [LIMIT] = ROAST_SERIES_memory_limit,
    [CPU] = ROAST_SERIES_cpu,
    [CORES] = ROAST_SERIES_cores,
};

/* A series that was never known needs no reading, except for its moments. */
struct readers {
    struct roast_series_cursor cursors[SIDE_BY_SIDE];
    bool reads[SIDE_BY_SIDE];
    double values[SIDE_BY_SIDE]; /* NaN: not known */
    int64_t time_ns;
};

static void open_readers(struct readers *readers,
                         const struct roast_worker_samples *worker)
{
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        const struct roast_packed_series *series = &worker->series[read_series[i]];
        readers->reads[i] = i == MEMORY || series->changes.size_bytes > 0;
        readers->values[i] = NAN;
        if (readers->reads[i])
            roast__series_open(&readers->cursors[i], worker, read_series[i]);
    }
}

static bool read_next(struct readers *readers)
{
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        bool known = false;
        if (!readers->reads[i])
            continue;
        if (roast__series_next(&readers->cursors[i], &readers->time_ns,
                               &readers->values[i], &known) != 1)
            return false;
        if (!known)
            readers->values[i] = NAN;
    }
    return true;
}

static void add_worker(struct use *use, const struct roast_run *run,
                       const struct roast_worker_samples *worker)
{
    struct area area = {.last_bytes = NAN};
    struct roast_moments own = {0};
    struct readers readers;
    bool limited = false;

    open_readers(&readers, worker);
    while (read_next(&readers)) {
        double memory = readers.values[MEMORY], limit = readers.values[LIMIT];
        double percent = limit > 0 ? memory / limit * 100 : NAN;
        double busy =
            readers.values[CPU] /
            threads_at(run, readers.time_ns, readers.values[CORES], use->processes);
        limited = limited || limit > 0;
        add_to_area(&area, readers.time_ns, memory);
        add_memory(use, worker, readers.time_ns, memory);
        roast__moments_add(&own, &memory, 1);
        roast__moments_add(&use->memory_percent, &percent, 1);
        roast__moments_add(&use->cpu_percent, &busy, 1);
    }
    double weighted = area.seconds > 0 ? area.byte_seconds / area.seconds
                                       : roast__spread_mean(&own.spread);
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

/* Series that are summed over workers; those of a whole machine count once for it. */
struct flow {
    enum roast_series series;
    bool of_machine;
    enum roast_metric mean;
    enum roast_metric peak;
};

static const struct flow flows[] = {
    {ROAST_SERIES_disk_read, false, ROAST_METRIC_disk_read_bps_avg,
     ROAST_METRIC_disk_read_bps_peak},
    {ROAST_SERIES_disk_write, false, ROAST_METRIC_disk_write_bps_avg,
     ROAST_METRIC_disk_write_bps_peak},
    {ROAST_SERIES_net_read, true, ROAST_METRIC_net_read_bps_avg,
     ROAST_METRIC_net_read_bps_peak},
    {ROAST_SERIES_net_write, true, ROAST_METRIC_net_write_bps_avg,
     ROAST_METRIC_net_write_bps_peak},
    {ROAST_SERIES_spilled_disk, false, ROAST_METRIC_spilled_bytes_avg,
     ROAST_METRIC_spilled_bytes_peak},
};

static void set_flows(const struct roast_study *study, const struct roast_crew *crew)
{
    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
        struct roast_lanes lanes = {
            .samples = &study->run->samples,
            .wanted = crew->is_worker,
            .group = flows[i].of_machine ? crew->machine : NULL,
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
            add_worker(&use, run, &run->samples.workers[i]);
    }
    set_use(study, &use);
    set_peak(study, &use);
    set_flows(study, &crew);
out:
    roast__crew_release(&crew);
}
