/* SPDX-License-Identifier: BSD-3-Clause */
/* gpus.c - GPUs of the machine, and the memory that the run used there.
 *
 * A driver reports a device for all its processes, and memory for each process. */
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/totals/sweep.h"
#include "base/mem.h"

static const uint32_t of_processes = UINT32_C(1) << ROAST_SERIES_gpu_process_memory;

/* Values of one device, over all of them. */
struct highest {
    struct roast_moments utilization;
    struct roast_moments memory;
    struct roast_moments memory_share; /* percent */
};

static void add_gpu(struct highest *all, const struct roast_worker_samples *gpu)
{
    struct roast_series_cursor utilization, memory, limit;
    double busy[ROAST_SERIES_BLOCK], used[ROAST_SERIES_BLOCK], most[ROAST_SERIES_BLOCK];
    size_t count;

    roast__series_open(&utilization, gpu, ROAST_SERIES_gpu_utilization);
    roast__series_open(&memory, gpu, ROAST_SERIES_gpu_memory);
    roast__series_open(&limit, gpu, ROAST_SERIES_gpu_memory_limit);
    while ((count = roast__series_block(&utilization, NULL, busy)) > 0) {
        (void)roast__series_block(&memory, NULL, used);
        (void)roast__series_block(&limit, NULL, most);
        roast__moments_add(&all->utilization, busy, count);
        roast__moments_add(&all->memory, used, count);
        for (size_t i = 0; i < count; i++)
            most[i] = most[i] > 0 ? used[i] / most[i] * 100 : NAN;
        roast__moments_add(&all->memory_share, most, count);
    }
}

static struct roast_sweep sweep_of(const struct roast_summary_context *ctx,
                                   enum roast_series series, const uint32_t *group)
{
    const struct roast_lanes lanes = {.samples = &ctx->run->gpu_samples,
                                      .group = group};
    struct roast_sweep sweep = {0};

    if (!roast__sweep(&sweep, &lanes, series))
        ctx->summary->failed = true;
    return sweep;
}

static void set_highest(const struct roast_summary_context *ctx,
                        enum roast_metric metric, const struct roast_moments *moments)
{
    if (moments->count > 0)
        roast__context_set(ctx, metric, moments->max);
}

void roast__summarize_gpus(const struct roast_summary_context *ctx)
{
    const struct roast_samples *samples = &ctx->run->gpu_samples;
    struct highest highest = {0};
    size_t gpus = 0;

    if (samples->count == 0 || ctx->run->scheduler.sessions.count > 0)
        return; /* those of the client were sampled until it was connected */
    uint32_t *one_group = roast__alloc(samples->count * sizeof(*one_group));
    if (!one_group) {
        ctx->summary->failed = true;
        return;
    }
    for (size_t i = 0; i < samples->count; i++) {
        gpus += (samples->workers[i].has & ~of_processes) != 0;
        add_gpu(&highest, &samples->workers[i]);
    }
    roast__context_set(ctx, ROAST_METRIC_num_gpus, (double)gpus);
    set_highest(ctx, ROAST_METRIC_gpu_utilization_max_percent, &highest.utilization);
    set_highest(ctx, ROAST_METRIC_gpu_memory_peak_bytes, &highest.memory);
    set_highest(ctx, ROAST_METRIC_gpu_memory_utilization_max_percent,
                &highest.memory_share);
    struct roast_sweep busy = sweep_of(ctx, ROAST_SERIES_gpu_utilization, one_group);
    struct roast_sweep own = sweep_of(ctx, ROAST_SERIES_gpu_process_memory, NULL);
    struct roast_sweep power = sweep_of(ctx, ROAST_SERIES_gpu_power, NULL);
    if (busy.known)
        roast__context_set(ctx, ROAST_METRIC_gpu_utilization_avg_percent, busy.mean);
    if (own.known)
        roast__context_set(ctx, ROAST_METRIC_gpu_process_memory_peak_bytes, own.peak);
    if (power.known) {
        roast__context_set(ctx, ROAST_METRIC_gpu_power_avg_watts, power.mean);
        roast__context_set(ctx, ROAST_METRIC_gpu_power_peak_watts, power.peak);
    }
    roast__free(one_group);
}
