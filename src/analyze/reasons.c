/* SPDX-License-Identifier: BSD-3-Clause */
/* reasons.c - why metrics are not known, and what to do about it.
 *
 * Each row of metric_defs.def has what the metric needs first of all, and the reason
 * when that was there. What the backend declared as unknowable comes before both. */
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/reads/ladder.h"
#include "analyze/timeline.h"
#include "base/mem.h"

enum need {
    NEED_NOTHING,  /* the text of the row is the reason */
    NEED_OTHERS,   /* other metrics: it takes over the reason of the missing one */
    NEED_ATTEMPTS, /* any attempt */
    NEED_RECORDS,  /* a successful chunk with a record */
    NEED_REPORT,   /* that, or coffea's report */
    NEED_INTERVAL, /* that, and a run as long as the interval */
    NEED_LADDER,   /* a successful chunk with a ladder */
    NEED_BYTES,    /* the bytes of every chunk */
    NEED_POOL,     /* offers or counts of workers */
    NEED_SAMPLES,
    NEED_SPANS,     /* of Dask, that account the tasks of this run */
    NEED_SCHEDULER, /* the text of the row is the reason */
    NEED_COMMAND,   /* roast run -- COMMAND */
    NEED_HOST,      /* that, or a run on this machine that is sampled */
    NEED_GPU,       /* the text of the row is the reason */
    NEED_COUNT
};

/* The names of the notes in which a backend declares what it cannot know. */
static const char *const note_names[NEED_COUNT] = {
    [NEED_POOL] = "workers",        [NEED_SAMPLES] = "samples", [NEED_SPANS] = "spans",
    [NEED_SCHEDULER] = "scheduler", [NEED_GPU] = "gpu",
};

struct reason {
    enum need need;
    const char *otherwise;
};

static const struct reason reasons[ROAST_METRIC_COUNT] = {
#define M(id, level, unit, count, kind, formula, need, otherwise) \
    {NEED_##need, (otherwise)},
#include "roast/metric_defs.def"
#undef M
};

static const char *const not_decorated =
    "process() is not decorated with @track_metrics";

static const char *const not_reported =
    "neither savemetrics=True nor @track_metrics was used";

/* Whether a successful attempt has no record: its process() was not measured. */
static bool any_without_record(const struct roast_attempts *attempts)
{
    for (size_t row = 0; row < attempts->count; row++) {
        if (attempts->status[row] == ROAST_CHUNK_OK &&
            !(attempts->parts[row] & ROAST_PART_CHUNK))
            return true;
    }
    return false;
}

/* Without attempts: either nothing ran, or its records did not arrive. */
static const char *without_attempts(const struct roast_summary_context *ctx,
                                    const char *otherwise)
{
    const struct roast_run *run = ctx->run;

    if (roast__run_is_command(run))
        return "a command was run, no coffea analysis";
    if (run->fact_known[ROAST_FACT_processed_chunks] &&
        run->facts[ROAST_FACT_processed_chunks] > 0)
        return "the workers sent no records: is roastcoffea installed there?";
    if (!run->fact_known[ROAST_FACT_runner_calls])
        return "no call of coffea's Runner was recorded";
    return otherwise;
}

static const char *without_records(const struct roast_summary_context *ctx,
                                   const char *otherwise)
{
    if (ctx->totals->all.chunks > 0)
        return NULL;
    if (ctx->run->attempts.count == 0)
        return without_attempts(ctx, otherwise);
    if (!any_without_record(&ctx->run->attempts))
        return "no chunk was successful";
    /* On a cluster records are sent with the results, unlike the ends of attempts. */
    return ctx->run->scheduler.sessions.count > 0 &&
                   roast__run_returned(ctx->run) == ROAST_RETURNED_NOTHING
               ? "records are sent with the output, and the run returned none"
               : otherwise;
}

static double interval_seconds(enum roast_metric metric)
{
    switch (metric) {
    case ROAST_METRIC_data_rate_gbps_best_10s:
    case ROAST_METRIC_event_rate_khz_best_10s:
        return 10;
    case ROAST_METRIC_data_rate_gbps_best_60s:
    case ROAST_METRIC_event_rate_khz_best_60s:
        return 60;
    default:
        return 300;
    }
}

/* The number of ladders is known, unless the summary is a quick one. */
static const char *without_ladder(const struct roast_summary_context *ctx)
{
    const struct roast_metric_values *values = &ctx->summary->values;

    if (ctx->totals->roles.successful_chunks == 0)
        return without_records(ctx, "no chunk was successful");
    return values->value[ROAST_METRIC_ladder_chunks] > 0
               ? NULL
               : "the time inside the chunks was not measured";
}

/* Of successful chunks, whose bytes are not known for all of them; NULL: no reason was
 * recorded. */
static const char *without_bytes(const struct roast_summary_context *ctx)
{
    roast_table *const *tables = ctx->summary->tables;

    if (roast__reads_parquet(ctx->summary))
        return "parquet reads are not counted";
    if (ctx->totals->all.bare > 0)
        return "some chunks sent no record";
    if (roast__table_count(tables[ROAST_TABLE_hooks_missing],
                           ROAST_COL_hooks_missing_hook,
                           roast_hook_info(ROAST_HOOK_source)->name) > 0)
        return "the hook that counts them does not exist: see hooks_missing";
    if (roast__table_count(tables[ROAST_TABLE_absent_fields],
                           ROAST_COL_absent_fields_field, "bytes_read") > 0)
        return "the events of some chunks do not count the bytes that were read";
    return NULL;
}

static bool is_host_counted(const struct roast_run *run)
{
    bool any = false;

    for (int i = ROAST_FACT_cgroup_cpu_seconds; i <= ROAST_FACT_network_sent_bytes; i++)
        any = any || run->fact_known[i];
    return any;
}

/* Why the data that a metric needs are missing; NULL: they exist. */
static const char *missing(const struct roast_summary_context *ctx,
                           enum roast_metric metric)
{
    const struct roast_run *run = ctx->run;
    const char *why;

    switch (reasons[metric].need) {
    case NEED_NOTHING:
    case NEED_OTHERS:
    case NEED_SCHEDULER:
    case NEED_GPU:
    case NEED_COUNT:
        break;
    case NEED_ATTEMPTS:
        return run->attempts.count > 0 ? NULL
                                       : without_attempts(ctx, "no chunk was started");
    case NEED_RECORDS:
        return without_records(ctx, not_decorated);
    case NEED_REPORT:
        return without_records(ctx, not_reported);
    case NEED_INTERVAL:
        if (roast__seconds_between(run->start_ns, ctx->end_ns) <
            interval_seconds(metric))
            return "the run was shorter than the interval";
        return without_records(ctx, not_decorated);
    case NEED_LADDER:
        return without_ladder(ctx);
    case NEED_BYTES:
        why = metric == ROAST_METRIC_total_bytes_read
                  ? without_records(ctx, not_reported)
                  : without_ladder(ctx);
        return why ? why : without_bytes(ctx);
    case NEED_POOL:
        return run->offer_count + run->count_count > 0 ? NULL
                                                       : "no executor was recorded";
    case NEED_SAMPLES:
        return run->samples.count > 0 ? NULL : "no worker was sampled";
    case NEED_SPANS:
        return roast__without_spans(ctx);
    case NEED_COMMAND:
        return roast__run_is_command(run) ? NULL
                                          : "only of commands: roast run -- COMMAND";
    case NEED_HOST:
        if (run->scheduler.sessions.count > 0)
            return "not counted on a cluster";
        return is_host_counted(run) ? NULL
                                    : "the control group and the network were not read";
    }
    return NULL;
}

/* Copies what the backend declared into the summary, by need; the summary outlives the
 * notes. */
static void read_unknowable(const struct roast_summary_context *ctx,
                            const char *texts[NEED_COUNT])
{
    struct roast_str notes[NEED_COUNT] = {{0}};
    size_t bytes = 0;

    for (int i = 0; i < NEED_COUNT; i++) {
        if (note_names[i])
            notes[i] = roast__notes_get(&ctx->run->notes, ROAST_NOTES_unknowable,
                                        roast_str_of(note_names[i]));
        bytes += notes[i].data ? notes[i].size_bytes + 1 : 0;
    }
    if (bytes == 0)
        return;
    char *at = ctx->summary->reasons = roast__alloc(bytes);
    ctx->summary->failed |= !at;
    for (int i = 0; at && i < NEED_COUNT; i++) {
        if (!notes[i].data)
            continue;
        texts[i] = memcpy(at, notes[i].data, notes[i].size_bytes);
        at += notes[i].size_bytes + 1; /* the memory is zeroed */
    }
}

void roast__reasons_fill(const struct roast_summary_context *ctx)
{
    struct roast_metric_values *values = &ctx->summary->values;
    const char *unknowable[NEED_COUNT] = {NULL};

    read_unknowable(ctx, unknowable);
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        enum need need = reasons[i].need;
        if (values->known[i] || values->why[i] || need == NEED_OTHERS)
            continue;
        const char *why = unknowable[need];
        if (!why)
            why = missing(ctx, (enum roast_metric)i);
        values->why[i] = why ? why : reasons[i].otherwise;
    }
}
