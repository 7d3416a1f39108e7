/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk_memory.c - the memory of a worker with another chunksize.
 *
 * Resident memory is per process: what is above its lowest value belongs to the chunks of
 * all its threads. The first chunks of a process are left out. Where all chunks have the
 * same size, the part per event cannot be fitted and is estimated. */
#include "analyze/calls.h"
#include "analyze/findings/chunksize.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/linear_fit.h"
#include "base/mem.h"

static const double USUAL_PER_CHUNK_BYTES = 1e8; /* buffers, independent of events */
static const double USUAL_PER_EVENT_BYTES = 5e4;
static const double SURE_SIGMAS = 2; /* the limit applies to the peak, not the mean */

struct memory_scan {
    const struct roast_summary_context *ctx;
    int64_t *first_end_ns;       /* owned; per process */
    double *lowest_bytes;        /* owned; per process */
    struct roast_linear_fit fit; /* bytes above the lowest over events */
    double lowest_sum;           /* over the same chunks */
};

static double column_of(const struct memory_scan *scan,
                        enum roast_attempt_column column, size_t row)
{
    return roast__column_number(&scan->ctx->run->attempts.columns[column], row);
}

/* Whether the chunk counts and its memory and times are known; fills start and end. */
static bool is_recorded(const struct memory_scan *scan, size_t row, int64_t times[2])
{
    return scan->ctx->totals->roles.of_row[row] == ROAST_ROLE_COUNTS &&
           column_of(scan, ROAST_COLUMN_rss_before_bytes, row) > 0 &&
           column_of(scan, ROAST_COLUMN_rss_peak_bytes, row) > 0 &&
           column_of(scan, ROAST_COLUMN_num_events, row) > 0 &&
           roast__attempt_times(&scan->ctx->run->attempts, row, &times[0], &times[1]);
}

bool roast__chunk_model_fit_memory(struct roast_chunk_model *model,
                                   const struct roast_summary_context *ctx)
{
    size_t count = ctx->run->attempts.process_count;
    struct memory_scan scan = {.ctx = ctx,
                               .first_end_ns = roast__first_chunk_ends(ctx),
                               .lowest_bytes =
                                   roast__alloc(count * sizeof(scan.lowest_bytes[0]))};
    bool done = scan.first_end_ns && scan.lowest_bytes;

    model->base_bytes = model->per_event_bytes = NAN;
    /* workers killed for their memory had none left, even if no sample shows it */
    model->is_memory_short =
        roast__summary_metric(ctx->summary,
                              ROAST_METRIC_memory_utilization_max_percent) >
            LIMIT_ADVISED_PERCENT ||
        roast__table_count(roast_summary_table(ctx->summary, ROAST_TABLE_lost_workers),
                           ROAST_COL_lost_workers_ended,
                           roast_leave_reason_info(ROAST_LEAVE_memory)->ended) > 0;
    /* Two passes: the lowest memory of each process, the fit. */
    const struct roast_attempts *attempts = &ctx->run->attempts;
    for (size_t i = 0; done && i < count; i++)
        scan.lowest_bytes[i] = INFINITY;
    for (int pass = 0; done && pass < 2; pass++) {
        for (size_t row = 0; row < attempts->count; row++) {
            int32_t process = attempts->process[row];
            double *lowest_bytes = &scan.lowest_bytes[process];
            int64_t times[2];
            if (!is_recorded(&scan, row, times) ||
                times[0] < scan.first_end_ns[process])
                continue;
            if (pass == 0) {
                *lowest_bytes =
                    fmin(*lowest_bytes,
                         column_of(&scan, ROAST_COLUMN_rss_before_bytes, row));
            } else {
                double above =
                    column_of(&scan, ROAST_COLUMN_rss_peak_bytes, row) - *lowest_bytes;
                scan.lowest_sum += *lowest_bytes;
                roast__fit_add(&scan.fit,
                               column_of(&scan, ROAST_COLUMN_num_events, row),
                               above > 0 ? above : 0);
            }
        }
    }
    const struct roast_linear_fit *fit = &scan.fit;
    double residual = fit->yy;
    if (fit->count != 0) {
        if (roast__fit_is_clear(fit)) {
            model->memory_source = ROAST_MEMORY_FITTED;
            model->per_event_bytes = roast__fit_each(fit);
            residual = roast__fit_residual(fit);
        } else {
            /* The usual value, at most all memory of the chunks, at least what buffers
             * do not explain. */
            double threads = model->threads_per_worker;
            double least =
                (fit->mean_y - USUAL_PER_CHUNK_BYTES * threads) / fit->mean_x;
            model->per_event_bytes = fmin(fit->mean_y / fit->mean_x,
                                          fmax(least, USUAL_PER_EVENT_BYTES * threads));
            if (model->per_event_bytes * fit->mean_x >= fit->mean_y)
                model->memory_source = ROAST_MEMORY_UPPER_BOUND;
        }
        model->base_bytes =
            scan.lowest_sum / fit->count +
            fmax(0, fit->mean_y - model->per_event_bytes * fit->mean_x) +
            SURE_SIGMAS * sqrt(residual / fit->count);
    }
    roast__free(scan.first_end_ns);
    roast__free(scan.lowest_bytes);
    return done;
}
