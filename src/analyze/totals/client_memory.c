/* SPDX-License-Identifier: BSD-3-Clause */
/* client_memory.c - memory of the client, and whether a process is the client. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "base/str.h"
#include "run/series.h"

void roast__summarize_client_memory(const struct roast_summary_context *ctx)
{
    const struct roast_samples *samples = &ctx->run->client_samples;
    struct roast_moments bytes = {0};

    if (samples->count == 0)
        return;
    struct roast_series_cursor cursor;
    double block[ROAST_SERIES_BLOCK];
    size_t count;
    roast__series_open(&cursor, &samples->workers[0], ROAST_SERIES_client_memory);
    while ((count = roast__series_block(&cursor, NULL, block)) > 0)
        roast__moments_add(&bytes, block, count);
    if (bytes.count == 0)
        return;
    roast__context_set(ctx, ROAST_METRIC_client_memory_start_bytes, bytes.origin);
    roast__context_set(ctx, ROAST_METRIC_client_memory_peak_bytes, bytes.max);
}

bool roast__is_client_process(const struct roast_run *run,
                              const struct roast_worker_process *process)
{
    const struct roast_samples *samples = &run->client_samples;
    char name[32];

    if (samples->count == 0 || process->pid == 0 || process->host != run->host)
        return false;
    (void)snprintf(name, sizeof(name), "pid-%" PRIu64, process->pid);
    return roast__str_is(roast__strings_get(&run->strings, samples->workers[0].name),
                         name);
}
