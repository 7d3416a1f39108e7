/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_health.c - rules about what disturbs chunks: threads in each other's way,
 * foreign load, garbage collection.
 *
 * The first two follow from the second way to split a chunk's seconds: on a core, waiting
 * for one, waiting for data, blocked. */
#include "analyze/findings/rule_limits.h"
#include "analyze/findings/text.h"
#include "analyze/record_iter.h"
#include "base/str.h"

/* What seconds of any step of a chunk are taken from. */
static uint64_t all_of_chunks(void)
{
    uint64_t claims = 0;

    for (int i = 0; i <= ROAST_SLICE_result; i++)
        claims |= UINT64_C(1) << i;
    return claims;
}

/* Seconds of one part of the split, and of all of it. */
static double split_part(const struct roast_rule_input *at, int part, double *all)
{
    const roast_table *split = at->ctx->summary->tables[ROAST_TABLE_chunk_split];

    *all = 0;
    for (int col = ROAST_COL_chunk_split_on_cpu; col <= ROAST_COL_chunk_split_waiting;
         col++) {
        double seconds = roast_table_number(split, 0, col);
        *all += isnan(seconds) ? 0 : seconds;
    }
    return roast_table_number(split, 0, part);
}

/* ---- threads --------------------------------------------------------------------- */

/* Chunks that one process had at most at the same time: a pool may be of threads. */
static double most_at_once(const struct roast_summary_context *ctx)
{
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(concurrency), .roles = ROAST_ROLES_COUNT};
    double most = 1;

    while (roast__record_iter_next(&iter))
        most = fmax(most, (double)iter.rec.values[ROAST_FIELD_concurrency].u64);
    return most;
}

static double threads_per_worker(const struct roast_rule_input *at)
{
    const struct roast_worker_sessions *stays = &at->ctx->run->scheduler.sessions;
    double threads = 0;

    for (size_t i = 0; i < stays->count; i++)
        threads += (double)stays->items[i].threads;
    return stays->count > 0 ? threads / (double)stays->count : most_at_once(at->ctx);
}

/* The lock is held by a thread that runs, or would: what chunks wait for beyond that is
 * something else. */
static double most_in_lock(const struct roast_rule_input *at, double threads)
{
    const roast_table *split = at->ctx->summary->tables[ROAST_TABLE_chunk_split];

    return (threads - 1) *
           (roast_table_number(split, 0, ROAST_COL_chunk_split_on_cpu) +
            roast_table_number(split, 0, ROAST_COL_chunk_split_runqueue));
}

static bool is_blocked(const struct roast_rule_input *at, double blocked, double all)
{
    return blocked * 100 >= LIMIT_BLOCKED_PERCENT * all && roast__is_worth(at, blocked);
}

void roast__rule_gil(const struct roast_rule_input *at, struct roast_finding *finding)
{
    double all, blocked = split_part(at, ROAST_COL_chunk_split_blocked, &all);
    double workers = roast__input_metric(at, ROAST_METRIC_peak_workers);

    if (!is_blocked(at, blocked, all))
        return;
    double threads = threads_per_worker(at);
    blocked = fmin(blocked, most_in_lock(at, threads));
    finding->cost_slices = all_of_chunks();
    finding->cost_s = blocked;
    finding->saves_unknown = true; /* a thread without the lock may still lack a core */
    finding->found = threads > 1 && is_blocked(at, blocked, all);
    roast__blank_number(finding, "blocked", blocked, "s");
    roast__blank_number(finding, "percent", blocked / all * 100, "%");
    roast__blank_number(finding, "threads", threads, "");
    if (at->on_cluster) {
        roast__blank_size(finding, "workers", nearbyint(workers * threads));
        return;
    }
    roast__blank_size(finding, "workers", workers); /* each of which is a thread */
    finding->evidence =
        "{blocked} blocked inside chunks, {percent} of their time, with "
        "{threads} threads in one process";
    finding->advice =
        "processes in place of threads: FuturesExecutor(workers={workers}) "
        "without pool=ThreadPoolExecutor // processes in place of threads";
}

/* Whether all chunks ran on the machine of the client. */
static bool is_client_alone(const struct roast_run *run, const roast_table *hosts)
{
    return roast_table_rows(hosts) == 1 &&
           roast__str_equal(roast_table_text(hosts, 0, ROAST_COL_per_host_host),
                            roast__strings_get(&run->strings, run->host));
}

void roast__rule_overloaded(const struct roast_rule_input *at,
                            struct roast_finding *finding)
{
    double all, runqueue = split_part(at, ROAST_COL_chunk_split_runqueue, &all);
    const roast_table *hosts = at->ctx->summary->tables[ROAST_TABLE_per_host];

    finding->cost_slices = all_of_chunks();
    finding->cost_s = runqueue;
    finding->saves_unknown = true; /* fewer threads do not give them back */
    finding->found =
        runqueue * 100 >= LIMIT_RUNQUEUE_PERCENT * all && roast__is_worth(at, runqueue);
    roast__blank_number(finding, "runqueue", runqueue, "s");
    roast__blank_number(finding, "percent", runqueue / all * 100, "%");
    if (roast_table_rows(hosts) > 1) {
        roast__blank_number(finding, "hosts", (double)roast_table_rows(hosts), "");
        roast__blank_pattern(finding, "host", ", on {hosts} hosts");
    }
    if (at->on_cluster && !is_client_alone(at->ctx->run, hosts))
        roast__blank_text(finding, "nodes", roast_str_of("nodes"));
}

void roast__rule_garbage_collection(const struct roast_rule_input *at,
                                    struct roast_finding *finding)
{
    double seconds = roast__input_metric(at, ROAST_METRIC_gc_seconds);
    double runs = roast__input_metric(at, ROAST_METRIC_gc_runs);
    double percent = roast__percent_inside(at, seconds);

    finding->cost_slices = all_of_chunks();
    finding->cost_s = seconds;
    finding->saves_unknown = true; /* some of it is needed */
    finding->found = percent >= LIMIT_GC_PERCENT && roast__is_worth(at, seconds);
    roast__blank_number(finding, "seconds", seconds, "s");
    roast__blank_number(finding, "percent", percent, "%");
    if (runs > 0) {
        roast__blank_number(finding, "runs", runs, "");
        roast__blank_pattern(finding, "often", " ({runs} runs)");
    }
}
