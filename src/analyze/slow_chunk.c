/* SPDX-License-Identifier: BSD-3-Clause */
/* slow_chunk.c - why a chunk took longer than the others. */
#include "analyze/slow_chunk.h"

#include "analyze/formulas.h"
#include "analyze/record_iter.h"

/* ---- the parts of a chunk -------------------------------------------------------- */

static double column_of(const struct roast_summary_context *ctx,
                        enum roast_attempt_column column, size_t row)
{
    return roast__column_number(&ctx->run->attempts.columns[column], row);
}

static void read_ladder(double parts[ROAST_CHUNK_PARTS],
                        const struct roast_summary_context *ctx, size_t row,
                        bool inside_process)
{
    struct roast_ladder ladder;
    roast_record rec;

    (void)roast__attempt_fields(ctx->run, row, ROAST_FIELD_BIT(ladder), &rec);
    if (!roast_record_has(&rec, ROAST_FIELD_ladder) ||
        roast_ladder_read(&ladder, rec.values[ROAST_FIELD_ladder].str, NULL) < 0)
        return;
    double inside_s = 0;
    for (int i = 0; i < ROAST_SLICE_COUNT; i++) {
        bool outside =
            i == ROAST_ITEM_open || i == ROAST_ITEM_form || i == ROAST_ITEM_result;
        if (!roast_ladder_has(&ladder, (enum roast_ladder_item)i) ||
            (outside && inside_process))
            continue;
        parts[i] = (double)ladder.values[i] / 1e9;
        inside_s += parts[i];
    }
    /* Columns in bulk are read before process(): what remains of each read is inside. */
    double before_s =
        inside_process ? inside_s - column_of(ctx, ROAST_COLUMN_duration_ns, row) / 1e9
                       : 0;
    for (int i = ROAST_ITEM_fetch; before_s > 0 && i <= ROAST_ITEM_read_other; i++)
        parts[i] = fmax(0, parts[i] - before_s);
    if (roast_ladder_has(&ladder, ROAST_ITEM_runqueue))
        parts[ROAST_PART_waiting_for_core] =
            (double)ladder.values[ROAST_ITEM_runqueue] / 1e9;
    if (roast_ladder_has(&ladder, ROAST_ITEM_gil_wait))
        parts[ROAST_PART_waiting_for_gil] =
            (double)ladder.values[ROAST_ITEM_gil_wait] / 1e9;
    parts[ROAST_PART_waiting_for_data] = parts[ROAST_ITEM_fetch];
    if (!inside_process)
        parts[ROAST_PART_waiting_for_data] +=
            (double)ladder.values[ROAST_ITEM_storage_wait] / 1e9;
}

static void read_parts(double parts[ROAST_CHUNK_PARTS],
                       const struct roast_summary_context *ctx, size_t row,
                       bool inside_process)
{
    double took_s = inside_process ? column_of(ctx, ROAST_COLUMN_duration_ns, row) / 1e9
                                   : roast__attempt_seconds(&ctx->run->attempts, row);
    double cpu_s = column_of(ctx, ROAST_COLUMN_cpu_ns, row) / 1e9;

    for (int i = 0; i < ROAST_CHUNK_PARTS; i++)
        parts[i] = NAN;
    read_ladder(parts, ctx, row, inside_process);
    parts[ROAST_PART_all] = took_s;
    if (!inside_process) { /* CPU time before and after process() is not kept */
        double inside_s = column_of(ctx, ROAST_COLUMN_duration_ns, row) / 1e9;
        took_s = isnan(inside_s) ? took_s : inside_s;
    }
    parts[ROAST_PART_on_cpu] = cpu_s;
    parts[ROAST_PART_off_cpu] = fmax(0, took_s - cpu_s);
}

bool roast__typical_chunk_find(struct roast_typical_chunk *typical,
                               const struct roast_summary_context *ctx,
                               bool (*is_member)(const void *of, size_t row),
                               const void *of)
{
    struct roast_quantiles all[ROAST_CHUNK_PARTS + 1] = {{0}}; /* the last: events */
    bool found = true;

    for (size_t row = 0; row < ctx->run->attempts.count; row++) {
        double parts[ROAST_CHUNK_PARTS];
        double events = column_of(ctx, ROAST_COLUMN_num_events, row);
        if (!is_member(of, row) || (typical->inside_process && !(events > 0)))
            continue;
        read_parts(parts, ctx, row, typical->inside_process);
        for (int i = 0; i < ROAST_CHUNK_PARTS; i++)
            roast__quantiles_add(&all[i], typical->inside_process ? parts[i] / events
                                                                  : parts[i]);
        roast__quantiles_add(&all[ROAST_CHUNK_PARTS], events);
    }
    for (int i = 0; i <= ROAST_CHUNK_PARTS; i++) {
        double *median =
            i < ROAST_CHUNK_PARTS ? &typical->medians[i] : &typical->events;
        *median = roast__quantiles_get(&all[i], 0.5);
        found &= !all[i].failed;
        roast__quantiles_release(&all[i]);
    }
    return found;
}

/* ---- the cause ------------------------------------------------------------------- */

/* Process() itself took longer: by its CPU time, or by waits that no slice has. */
static const char *cause_in_process(const double excess[ROAST_CHUNK_PARTS], double half,
                                    const struct roast_summary_context *ctx, size_t row,
                                    struct roast_hosts_seen *hosts)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    int32_t host = attempts->processes[attempts->process[row]].host;

    if (excess[ROAST_PART_on_cpu] > half)
        return roast__is_slow_host(hosts, ctx, host) ? "slow host"
                                                     : "more work per event";
    return excess[ROAST_PART_off_cpu] > half ? "waited inside process()" : NULL;
}

const char *roast__slow_chunk_cause(const struct roast_typical_chunk *typical,
                                    const struct roast_summary_context *ctx, size_t row,
                                    double excess_s, struct roast_hosts_seen *hosts)
{
    static const char *const words[ROAST_CHUNK_PARTS] = {
        [ROAST_ITEM_import] = "imports",
        [ROAST_ITEM_open] = "opening its file",
        [ROAST_ITEM_form] = "building NanoEvents",
        [ROAST_ITEM_decompress] = "decompressing",
        [ROAST_ITEM_interpret] = "bytes to arrays",
        [ROAST_ITEM_read_other] = "read bookkeeping",
        [ROAST_ITEM_write] = "writing files",
        [ROAST_ITEM_result] = "packing its output",
        [ROAST_PART_waiting_for_core] = "waited for a core",
        [ROAST_PART_waiting_for_gil] = "waited for the GIL",
        [ROAST_PART_waiting_for_data] = "waited for data",
    };
    /* waits are inside the slices, so they come first */
    static const int order[] = {ROAST_PART_waiting_for_data,
                                ROAST_PART_waiting_for_core,
                                ROAST_PART_waiting_for_gil,
                                ROAST_ITEM_import,
                                ROAST_ITEM_open,
                                ROAST_ITEM_form,
                                ROAST_ITEM_decompress,
                                ROAST_ITEM_interpret,
                                ROAST_ITEM_read_other,
                                ROAST_ITEM_write,
                                ROAST_ITEM_result};
    double excess[ROAST_CHUNK_PARTS];
    double half = excess_s / 2;
    double times =
        typical->inside_process ? column_of(ctx, ROAST_COLUMN_num_events, row) : 1;

    read_parts(excess, ctx, row, typical->inside_process);
    for (int i = 0; i < ROAST_CHUNK_PARTS; i++)
        excess[i] -= typical->medians[i] * times;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (excess[order[i]] > half)
            return words[order[i]];
    }
    /* without a ladder the time of process() is all of it */
    if (isnan(excess[ROAST_ITEM_compute]) || excess[ROAST_ITEM_compute] > half)
        return cause_in_process(excess, half, ctx, row, hosts);
    return NULL;
}
