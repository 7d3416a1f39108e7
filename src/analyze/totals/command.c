/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c - what a command used, and what the control group and host of any run counted.
 *
 * The sources of these facts are in src/collect; the command is sampled as one worker. A
 * cluster has other hosts, and may be connected after this one was counted for a while. */
#include "analyze/formulas.h"
#include "analyze/totals/sweep.h"

struct recorded {
    enum roast_metric metric;
    enum roast_fact fact;
};

static const struct recorded of_host[] = {
#define SAME(name) \
    { \
        ROAST_METRIC_##name, ROAST_FACT_##name \
    }
    SAME(cgroup_cpu_seconds),
    SAME(throttled_seconds),
    SAME(oom_kills),
    SAME(cpu_pressure_seconds),
    SAME(memory_pressure_seconds),
    SAME(io_pressure_seconds),
    SAME(network_received_bytes),
    SAME(network_sent_bytes),
};

static const struct recorded of_command[] = {
    SAME(command_system_seconds),
    SAME(command_peak_process_bytes),
    SAME(command_read_bytes),
    SAME(command_written_bytes),
    SAME(command_storage_read_bytes),
    SAME(command_storage_written_bytes),
    SAME(command_exit_code),
#undef SAME
    {ROAST_METRIC_command_cpu_seconds, ROAST_FACT_children_cpu_seconds},
    {ROAST_METRIC_command_monitor_seconds, ROAST_FACT_own_cpu_seconds},
    {ROAST_METRIC_processes_seen, ROAST_FACT_command_processes},
};

static const struct {
    enum roast_metric metric;
    enum roast_series series;
} peaks[] = {
    {ROAST_METRIC_command_peak_pss_bytes, ROAST_SERIES_pss},
    {ROAST_METRIC_command_peak_uss_bytes, ROAST_SERIES_uss},
    {ROAST_METRIC_command_peak_processes, ROAST_SERIES_processes},
    {ROAST_METRIC_command_peak_threads, ROAST_SERIES_threads},
};

static void set_recorded(const struct roast_summary_context *ctx,
                         const struct recorded *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        roast__context_set(ctx, rows[i].metric, roast__context_fact(ctx, rows[i].fact));
}

void roast__summarize_command(const struct roast_summary_context *ctx)
{
    const struct roast_lanes lanes = {.samples = &ctx->run->samples};
    double sampled_bytes =
        roast__summary_metric(ctx->summary, ROAST_METRIC_peak_memory_bytes);
    double process_bytes =
        roast__context_fact(ctx, ROAST_FACT_command_peak_process_bytes);

    if (ctx->run->scheduler.sessions.count == 0)
        set_recorded(ctx, of_host, sizeof(of_host) / sizeof(of_host[0]));
    if (!roast__run_is_command(ctx->run))
        return;
    set_recorded(ctx, of_command, sizeof(of_command) / sizeof(of_command[0]));
    for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++) {
        struct roast_sweep sweep;
        if (!roast__sweep(&sweep, &lanes, peaks[i].series))
            ctx->summary->failed = true;
        if (sweep.known)
            roast__context_set(ctx, peaks[i].metric, sweep.peak);
    }
    /* between two samples one process may have had more than all together in each */
    roast__context_set(ctx, ROAST_METRIC_peak_memory_bytes,
                       fmax(sampled_bytes, process_bytes));
}
