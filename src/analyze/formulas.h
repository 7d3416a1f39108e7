/* SPDX-License-Identifier: BSD-3-Clause */
/* formulas.h - the functions that fill parts of a summary.
 *
 * Each reads the context and sets metrics or fills tables. Running out of memory is noted
 * in the summary (summary.h); unknown metrics are left absent (reasons.c). */
#ifndef ROAST_ANALYZE_FORMULAS_H
#define ROAST_ANALYZE_FORMULAS_H

#include "analyze/summary.h"

#define F(name, quick) \
    void roast__summarize_##name(const struct roast_summary_context *ctx);
#include "analyze/formulas.def"
#undef F

/* Sets the reason of every unknown metric without one. */
void roast__reasons_fill(const struct roast_summary_context *ctx);

/* A pool with less than this share of its peak counts as incomplete. */
#define ROAST_NEAR_PEAK 0.9

/* Why the spans of Dask cannot be used; NULL: they can. Call it after
 * roast__summarize_fine(). */
const char *roast__without_spans(const struct roast_summary_context *ctx);

/* Duration of an attempt, opening the file included if that was measured; NaN: not
 * known. */
double roast__attempt_seconds(const struct roast_attempts *attempts, size_t row);

/* A fact of the run, or NaN. */
static inline double roast__context_fact(const struct roast_summary_context *ctx,
                                         enum roast_fact fact)
{
    return ctx->run->fact_known[fact] ? ctx->run->facts[fact] : NAN;
}

static inline void roast__context_set(const struct roast_summary_context *ctx,
                                      enum roast_metric metric, double value)
{
    roast__metric_set(&ctx->summary->values, metric, value);
}

/* The run is a command: it has no chunks. */
static inline bool roast__run_is_command(const struct roast_run *run)
{
    return run->fact_known[ROAST_FACT_command_processes];
}

/* A text of the run. */
static inline struct roast_str roast__context_text(
    const struct roast_summary_context *ctx, int32_t number)
{
    return roast__strings_get(&ctx->run->strings, number);
}

/* The name of a process to show: its worker's, else "pid-<pid>" in `room`; NULL data if
 * neither is known. */
enum { ROAST_PROCESS_NAME_BYTES = 32 };
struct roast_str roast__process_name(const struct roast_run *run,
                                     const struct roast_worker_process *process,
                                     char room[ROAST_PROCESS_NAME_BYTES]);

/* The key of a process in the table per worker; on other hosts than the client's it
 * contains the host. It is put into the empty `room`; absent when out of memory. */
struct roast_str roast__worker_key(const struct roast_run *run, size_t process,
                                   struct roast_buf *room);

#endif
