/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict_health.c - rules about what disturbs chunks: threads in each other's way,
 * foreign load, garbage collection, failures, dead workers.
 *
 * The first two follow from the second way to split a chunk's seconds: on a core, waiting
 * for one, waiting for data, blocked. */
#include <stdio.h>

#include "aggregate/verdict_limits.h"
#include "aggregate/verdict_text.h"

/* What seconds of any step of a chunk are taken from. */
static uint64_t all_of_chunks(void)
{
    uint64_t claims = 0;

    for (int i = 0; i <= ROAST_SLICE_result; i++)
        claims |= UINT64_C(1) << i;
    return claims;
}

/* Seconds of one part of the split, and of all of it. */
static double split_part(const struct roast_case *at, const char *part, double *all)
{
    const struct roast_table *split = roast__case_table(at, "chunk_split");
    static const char *const parts[] = {"on_cpu", "runqueue", "fetch_wait", "blocked"};

    *all = 0;
    for (int i = 0; i < 4; i++) {
        double seconds = roast__case_number(split, 0, parts[i]);
        *all += isnan(seconds) ? 0 : seconds;
    }
    return roast__case_number(split, 0, part);
}

/* ---- threads --------------------------------------------------------------------- */

static double threads_per_worker(const struct roast_case *at)
{
    const struct roast_stays *stays = &at->study->run->scheduler.stays;
    double threads = 0, workers = 0;

    for (size_t i = 0; i < stays->count; i++) {
        threads += (double)stays->items[i].threads;
        workers++;
    }
    return workers > 0 ? threads / workers : 1;
}

/* The lock is held by a thread that runs, or would: what chunks wait for beyond that is
 * something else. */
static double most_in_lock(const struct roast_case *at, double threads)
{
    const struct roast_table *split = roast__case_table(at, "chunk_split");

    return (threads - 1) * (roast__case_number(split, 0, "on_cpu") +
                            roast__case_number(split, 0, "runqueue"));
}

void roast__rule_gil(const struct roast_case *at, struct roast_finding *finding)
{
    double all, blocked = split_part(at, "blocked", &all);
    const struct roast_table *split = roast__case_table(at, "chunk_split");
    double threads = threads_per_worker(at);

    if (isnan(roast__case_number(split, 0, "fetch_wait")))
        blocked -= at->slices[ROAST_SLICE_fetch]; /* nobody told it apart */
    blocked = fmin(blocked, most_in_lock(at, threads));
    finding->claims = all_of_chunks();
    finding->cost_s = blocked;
    finding->found = threads > 1 && blocked * 100 >= LIMIT_BLOCKED_PERCENT * all &&
                     roast__is_worth(at, blocked);
    roast__say(finding, "blocked", blocked, "s");
    roast__say(finding, "percent", blocked / all * 100, "%");
    roast__say(finding, "threads", threads, "");
    roast__say_size(
        finding, "workers",
        nearbyint(roast__case_metric(at, ROAST_METRIC_peak_workers) * threads));
}

/* The only host there is needs no name. */
static void tell_host(const struct roast_case *at, struct roast_finding *finding)
{
    const struct roast_table *hosts = roast__case_table(at, "per_host");

    if (!hosts || hosts->row_count < 2)
        return;
    roast__say(finding, "hosts", (double)hosts->row_count, "");
    roast__say_made(finding, "host", ", on {hosts} hosts");
}

void roast__rule_overloaded(const struct roast_case *at, struct roast_finding *finding)
{
    double all, runqueue = split_part(at, "runqueue", &all);

    finding->claims = all_of_chunks();
    finding->cost_s = runqueue;
    finding->found =
        runqueue * 100 >= LIMIT_RUNQUEUE_PERCENT * all && roast__is_worth(at, runqueue);
    roast__say(finding, "runqueue", runqueue, "s");
    roast__say(finding, "percent", runqueue / all * 100, "%");
    tell_host(at, finding);
}

void roast__rule_garbage_collection(const struct roast_case *at,
                                    struct roast_finding *finding)
{
    double seconds = roast__case_metric(at, ROAST_METRIC_gc_seconds);
    double runs = roast__case_metric(at, ROAST_METRIC_gc_runs);
    double percent = roast__percent_inside(at, seconds);

    finding->claims = all_of_chunks();
    finding->cost_s = seconds;
    finding->found = percent >= LIMIT_GC_PERCENT && roast__is_worth(at, seconds);
    roast__say(finding, "seconds", seconds, "s");
    roast__say(finding, "percent", percent, "%");
    if (runs > 0) {
        roast__say(finding, "runs", runs, "");
        roast__say_made(finding, "often", " ({runs} runs)");
    }
}

/* ---- failures -------------------------------------------------------------------- */

static bool same_text(struct roast_str a, struct roast_str b)
{
    return a.size_bytes == b.size_bytes &&
           (a.size_bytes == 0 || memcmp(a.data, b.data, a.size_bytes) == 0);
}

static bool is_failed(const struct roast_table *failures, size_t row)
{
    return same_text(roast__case_text(failures, row, "status"), roast_str_of("failed"));
}

/* " in a.root (3 of 5 failures)" */
static void tell_file(struct roast_finding *finding, const struct roast_table *failures,
                      size_t first, double attempts)
{
    struct roast_str file = roast__case_text(failures, first, "file");
    double same = 0;

    for (size_t row = 0; row < failures->row_count; row++)
        same += is_failed(failures, row) &&
                same_text(roast__case_text(failures, row, "file"), file);
    roast__say_file(finding, "file", file);
    roast__say(finding, "same", same, "");
    roast__say(finding, "of", attempts, "");
    roast__say_made(finding, "where",
                    same < attempts ? " in {file} ({same} of {of} failures)"
                                    : " in {file}");
}

void roast__rule_failures(const struct roast_case *at, struct roast_finding *finding)
{
    const struct roast_table *failures = roast__case_table(at, "failures");
    double attempts = 0, unresolved = 0;
    size_t first = 0;

    for (size_t row = 0; failures && row < failures->row_count; row++) {
        bool open = !roast__case_flag(failures, row, "resolved");
        if (!is_failed(failures, row))
            continue;
        if (attempts == 0 || (open && unresolved == 0))
            first = row; /* what is still missing is told rather */
        attempts++;
        unresolved += open;
    }
    finding->found = attempts > 0;
    finding->failure = true;
    if (!failures || !finding->found)
        return;
    roast__claim(at, finding, ROAST_SLICE_failed);
    struct roast_str error = roast__case_text(failures, first, "error");
    double missing = roast__case_metric(at, ROAST_METRIC_num_failed_or_lost);
    roast__say_count(finding, "attempts", attempts, "attempt");
    roast__say(finding, "missing", missing, "");
    roast__say_text(finding, "error",
                    error.data ? error : roast_str_of("no exception told"));
    tell_file(finding, failures, first, attempts);
    if (unresolved == 0)
        finding->advice = "they were tried again and ended well; see whether {file} or "
                          "its storage is at fault";
}

/* ---- dead workers ---------------------------------------------------------------- */

static double count_ended(const struct roast_table *lost, const char *how)
{
    double count = 0;

    for (size_t row = 0; row < lost->row_count; row++)
        count += same_text(roast__case_text(lost, row, "ended"), roast_str_of(how));
    return count;
}

/* "2 killed for memory, 1 closed" */
static void tell_causes(struct roast_finding *finding, const struct roast_table *lost)
{
    static const char *const ways[] = {"killed for memory", "no heartbeat", "closed",
                                       "told to go", "unknown"};
    char text[ROAST_BLANK_BYTES] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        double count = count_ended(lost, ways[i]);
        if (count > 0 && used < 100)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.0f %s",
                                     used > 0 ? ", " : "", count, ways[i]);
    }
    roast__say_text(finding, "causes", roast_str_of(text));
}

static void tell_last_memory(struct roast_finding *finding,
                             const struct roast_table *lost)
{
    double memory = NAN, limit = NAN;

    for (size_t row = 0; row < lost->row_count; row++) {
        double own = roast__case_number(lost, row, "memory_bytes");
        if (isnan(memory) || own > memory) {
            memory = own;
            limit = roast__case_number(lost, row, "memory_limit_bytes");
        }
    }
    if (isnan(memory) || isnan(limit))
        return;
    roast__say(finding, "held", memory, "B");
    roast__say(finding, "limit", limit, "B");
    roast__say_made(finding, "memory", "; memory at the last look {held} of {limit}");
    roast__say_memory(finding, "suggested_memory",
                      fmax(memory, limit) / LIMIT_ADVISED_PERCENT * 100);
}

void roast__rule_workers_died(const struct roast_case *at,
                              struct roast_finding *finding)
{
    const struct roast_table *lost = roast__case_table(at, "lost_workers");
    double attempts = 0, seconds = 0;

    finding->found = lost && lost->row_count > 0;
    finding->failure = true;
    if (!finding->found)
        return;
    for (size_t row = 0; row < lost->row_count; row++) {
        attempts += roast__case_number(lost, row, "attempts");
        seconds += roast__case_number(lost, row, "seconds_lost");
    }
    finding->claims = UINT64_C(1) << ROAST_SLICE_lost | UINT64_C(1)
                                                            << ROAST_SLICE_skipped;
    finding->cost_s = fmax(seconds, at->slices[ROAST_SLICE_lost]);
    roast__say_count(finding, "workers", (double)lost->row_count, "worker");
    roast__say_count(finding, "attempts", attempts, "attempt");
    tell_causes(finding, lost);
    tell_last_memory(finding, lost);
    roast__say_text(finding, "host", roast__case_text(lost, 0, "host"));
    if (count_ended(lost, "killed for memory") > 0)
        finding->advice = "memory_limit={suggested_memory} per worker, fewer threads "
                          "per worker, or smaller chunks";
    else if (count_ended(lost, "no heartbeat") > 0)
        finding->advice = "the workers of {host} were cut off or killed from outside: "
                          "see the batch system's limits of time and memory";
}
