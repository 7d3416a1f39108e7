/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_outputs.c - the rule about outputs that make the client grow.
 *
 * Its memory is compared with what has arrived: the packed bytes of the outputs, or their
 * number where they are not packed. Chunks in the client's own process grow it by what
 * process() keeps, which is another rule. */
#include <stdlib.h>

#include "analyze/calls.h"
#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/recorded.h"
#include "base/mem.h"
#include "run/series.h"

/* The output of a chunk. */
struct arrival {
    int64_t end_ns;
    double size; /* packed bytes, or 1 */
};

static int by_end(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;

    return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

/* Zeroed = empty. */
struct arrivals {
    struct arrival *all; /* owned */
    size_t count;
    double total;
    bool packed; /* sizes are bytes */
    bool in_client;
};

static bool find_arrivals(struct arrivals *found, const struct roast_rule_input *input)
{
    const struct roast_run *run = input->ctx->run;
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_column *sizes = &attempts->columns[ROAST_COLUMN_output_bytes];

    found->all = roast__alloc(attempts->count * sizeof(found->all[0]));
    found->packed = true;
    for (size_t row = 0; found->all && row < attempts->count; row++) {
        int64_t start_ns;
        struct arrival *next = &found->all[found->count];
        if (!roast__is_chunk(input->ctx, row) ||
            !roast__attempt_times(attempts, row, &start_ns, &next->end_ns))
            continue;
        next->size = roast__column_number(sizes, row);
        found->packed = found->packed && !isnan(next->size);
        found->in_client |=
            roast__is_client_process(run, &attempts->processes[attempts->process[row]]);
        found->count++;
    }
    for (size_t i = 0; found->all && i < found->count; i++) {
        if (!found->packed)
            found->all[i].size = 1;
        found->total += found->all[i].size;
    }
    if (found->count > 1)
        qsort(found->all, found->count, sizeof(found->all[0]), by_end);
    return found->all != NULL;
}

/* The memory of the client over what has arrived, while outputs arrive. */
static void fit_growth(struct roast_growth *growth, const struct arrivals *arrivals,
                       const struct roast_worker_samples *client)
{
    struct roast_series_cursor cursor;
    size_t next = 0;
    double arrived = 0, bytes;
    int64_t time_ns;
    bool known;

    roast__series_open(&cursor, client, ROAST_SERIES_client_memory);
    while (roast__series_next(&cursor, &time_ns, &bytes, &known) > 0) {
        while (next < arrivals->count && arrivals->all[next].end_ns <= time_ns)
            arrived += arrivals->all[next++].size;
        if (!known || next == 0)
            continue;
        roast__fit_add(&growth->all, arrived, bytes);
        if (arrived * 2 > arrivals->total)
            roast__fit_add(&growth->later, arrived, bytes);
        if (next == arrivals->count)
            return; /* afterwards the result is made ready, or freed */
    }
}

void roast__rule_client_memory(const struct roast_rule_input *input,
                               struct roast_finding *finding)
{
    const struct roast_samples *samples = &input->ctx->run->client_samples;
    double first = roast__input_metric(input, ROAST_METRIC_client_memory_start_bytes);
    struct arrivals arrivals = {.all = NULL};
    struct roast_growth growth = {.all = {.count = 0}};

    finding->cost_s = NAN;
    if (samples->count == 0)
        return;
    if (!find_arrivals(&arrivals, input)) {
        input->ctx->summary->failed = true;
        return;
    }
    if (!arrivals.in_client)
        fit_growth(&growth, &arrivals, &samples->workers[0]);
    double grown = roast__fit_slope(&growth.all) * arrivals.total;
    finding->found = growth.all.count >= LIMIT_CLIENT_SAMPLES &&
                     roast__grows(&growth) && grown >= LIMIT_CLIENT_GROWTH_MB * 1e6 &&
                     grown * 100 >= LIMIT_GROWTH_PERCENT * first;
    finding->risk = true;
    roast__set_client(input, finding);
    roast__set_number(finding, "growth", grown, "B");
    roast__set_number(finding, "first", first, "B");
    roast__set_count(finding, "chunks", (double)arrivals.count, "chunk");
    if (arrivals.packed) {
        roast__set_number(finding, "bytes", arrivals.total, "B");
        roast__set_from_pattern(finding, "packed", " ({bytes} packed)");
    }
    roast__free(arrivals.all);
}
