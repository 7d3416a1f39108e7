/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_memory.c - the memory that a worker takes with chunks of another size.
 *
 * Resident memory is that of a process: it holds the chunks of all its threads, so all
 * that is above its lowest is theirs together. The first chunks of a process bring
 * imports and caches with them and are left out. Where all chunks have one size,
 * the part per event cannot be separated and is estimated. */
#include "analyze/calls.h"
#include "analyze/findings/chunksize.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/linear_fit.h"
#include "base/mem.h"

static const double USUAL_PER_CHUNK_BYTES = 1e8; /* buffers, whatever it holds */
static const double USUAL_PER_EVENT_BYTES = 5e4;
static const double SURE_SIGMAS = 2; /* a limit is for the highest, not for the mean */

struct process {
    bool any;
    int64_t first_ns;     /* start of its first chunk */
    int64_t first_end_ns; /* chunks that begin later find what it left */
    double lowest_bytes;
};

struct memory_scan {
    const struct roast_summary_context *ctx;
    struct process *processes;    /* owned */
    struct roast_linear_fit line; /* bytes above the lowest over events */
    double lowest_sum;            /* over the same chunks */
};

static double column_of(const struct memory_scan *scan,
                        enum roast_attempt_column column, size_t row)
{
    return roast__column_number(&scan->ctx->run->attempts.columns[column], row);
}

static bool is_recorded(const struct memory_scan *scan, size_t row, int64_t times[2])
{
    return scan->ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS &&
           column_of(scan, ROAST_COLUMN_rss_before_bytes, row) > 0 &&
           column_of(scan, ROAST_COLUMN_rss_peak_bytes, row) > 0 &&
           column_of(scan, ROAST_COLUMN_num_events, row) > 0 &&
           roast__attempt_times(&scan->ctx->run->attempts, row, &times[0], &times[1]);
}

static void find_first(struct process *own, const int64_t times[2])
{
    if (own->any && own->first_ns <= times[0])
        return;
    *own = (struct process){true, times[0], times[1], INFINITY};
}

/* Workers that were killed for their memory had none left, whatever was sampled last. */
static bool is_memory_short(const struct roast_summary_context *ctx)
{
    const roast_table *lost =
        roast_summary_table(ctx->summary, ROAST_TABLE_lost_workers);
    double most_percent = roast__summary_metric(
        ctx->summary, ROAST_METRIC_memory_utilization_max_percent);

    return most_percent > LIMIT_ADVISED_PERCENT ||
           roast__table_count(lost, ROAST_COL_lost_workers_ended,
                              roast_leave_reason_info(ROAST_LEAVE_memory)->ended) > 0;
}

bool roast__chunk_model_fit_memory(struct roast_chunk_model *model,
                                   const struct roast_summary_context *ctx)
{
    size_t count = ctx->run->attempts.process_count;
    struct memory_scan scan = {
        .ctx = ctx, .processes = roast__alloc(count * sizeof(scan.processes[0]))};

    model->base_bytes = model->per_event_bytes = NAN;
    model->is_memory_short = is_memory_short(ctx);
    if (!scan.processes)
        return false;
    /* Three passes: the first chunk of each process, its lowest memory, what is
     * above. */
    const struct roast_attempts *attempts = &scan.ctx->run->attempts;
    for (int pass = 0; pass < 3; pass++) {
        for (size_t row = 0; row < attempts->count; row++) {
            struct process *own = &scan.processes[attempts->process[row]];
            int64_t times[2];
            if (!is_recorded(&scan, row, times))
                continue;
            if (pass == 0)
                find_first(own, times);
            else if (times[0] < own->first_end_ns)
                continue;
            else if (pass == 1) {
                own->lowest_bytes =
                    fmin(own->lowest_bytes,
                         column_of(&scan, ROAST_COLUMN_rss_before_bytes, row));
            } else {
                double above = column_of(&scan, ROAST_COLUMN_rss_peak_bytes, row) -
                               own->lowest_bytes;
                scan.lowest_sum += own->lowest_bytes;
                roast__fit_add(&scan.line,
                               column_of(&scan, ROAST_COLUMN_num_events, row),
                               above > 0 ? above : 0);
            }
        }
    }
    const struct roast_linear_fit *line = &scan.line;
    double left = line->yy;
    if (line->count != 0) {
        if (roast__fit_is_clear(line)) {
            model->memory_known = ROAST_MEMORY_FITTED;
            model->per_event_bytes = roast__fit_each(line);
            left = roast__fit_residual(line);
        } else {
            /* What an event takes, where chunks do not show it: no more than all
             * that they took, no less than what buffers do not explain, and as usual
             * in between. */
            double threads = model->threads_per_worker;
            double least =
                (line->mean_y - USUAL_PER_CHUNK_BYTES * threads) / line->mean_x;
            model->per_event_bytes = fmin(line->mean_y / line->mean_x,
                                          fmax(least, USUAL_PER_EVENT_BYTES * threads));
            if (model->per_event_bytes * line->mean_x >= line->mean_y)
                model->memory_known = ROAST_MEMORY_AT_MOST;
        }
        model->base_bytes =
            scan.lowest_sum / line->count +
            fmax(0, line->mean_y - model->per_event_bytes * line->mean_x) +
            SURE_SIGMAS * sqrt(left / line->count);
    }
    roast__free(scan.processes);
    return true;
}
