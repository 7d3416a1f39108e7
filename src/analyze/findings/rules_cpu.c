/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_cpu.c - rules about chunks that do not get a core or the GIL, and about garbage
 * collection. */
#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/record_iter.h"
#include "analyze/recorded.h"
#include "base/str.h"

/* All slices of a chunk. */
static const uint64_t chunk_slices = (UINT64_C(2) << ROAST_SLICE_result) - 1;

/* ---- threads --------------------------------------------------------------------- */

/* CPUs that a process may use, from its facts; NaN: not known. */
static double cpus_of(struct roast_str facts)
{
    struct roast_str key;
    struct roast_value value;
    double cpus = NAN, limit = NAN;

    while (roast_value_next_key(&key, &facts, NULL) == 1 &&
           roast_value_next(&value, &facts, NULL) == 1) {
        if (roast__str_is(key, "cpus_allowed"))
            cpus = (double)value.integer;
        if (roast__str_is(key, "cpu_limit_millicores"))
            limit = (double)value.integer / 1000;
    }
    return fmin(cpus, limit);
}

/* The same over all hosts that ran chunks. */
static double cpus_of_hosts(const struct roast_summary_context *ctx)
{
    enum { MOST_HOSTS = 256 };
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(process), .roles = ROAST_ROLES_ALL};
    const struct roast_attempts *attempts = &ctx->run->attempts;
    int32_t hosts[MOST_HOSTS];
    size_t count = 0;
    double cpus = 0;

    while (roast__record_iter_next(&iter)) {
        int32_t host = attempts->processes[attempts->process[iter.row]].host;
        size_t i = 0;
        while (i < count && hosts[i] != host)
            i++;
        if (i < count || count == MOST_HOSTS)
            continue;
        hosts[count++] = host;
        cpus += cpus_of(iter.rec.values[ROAST_FIELD_process].str);
    }
    return cpus > 0 ? cpus : NAN;
}

/* What chunks that wait for no GIL save: cores must be free for them. */
static double saves_without_gil(const struct roast_rule_input *input)
{
    const struct roast_schedule_change change = {.times = UINT64_C(1)
                                                          << ROAST_ITEM_gil_wait};
    double all, on_cpu_s = roast__split_part(input, ROAST_COL_chunk_split_on_cpu, &all);
    double saves_s = roast__saves(input, &change);
    double chunks_s =
        *input->schedule ? roast__schedule_model_wall(*input->schedule) : 0;

    return fmin(saves_s, chunks_s - on_cpu_s / cpus_of_hosts(input->ctx));
}

void roast__rule_gil(const struct roast_rule_input *input,
                     struct roast_finding *finding)
{
    double waited_s = roast__input_metric(input, ROAST_METRIC_gil_wait_seconds);
    double percent = roast__percent_of_chunk_time(input, waited_s);
    double workers = roast__input_metric(input, ROAST_METRIC_peak_workers);
    double all,
        runqueue_s = roast__split_part(input, ROAST_COL_chunk_split_runqueue, &all);

    /* a thread without a core does not run into the GIL */
    if (!(waited_s * 100 >= LIMIT_GIL_PERCENT * (all - runqueue_s)) ||
        !roast__is_significant(input, waited_s))
        return;
    double threads = roast__threads_per_worker(input->ctx);
    if (threads <= 1)
        return;
    finding->cost_slices = chunk_slices;
    finding->cost_s = waited_s;
    finding->saves_s = saves_without_gil(input);
    finding->found = roast__saves_enough(input, finding->saves_s) &&
                     (input->on_cluster || finding->saves_s >= LIMIT_PROCESSES_START_S);
    roast__set_number(finding, "waited", waited_s, "s");
    roast__set_number(finding, "percent", percent, "%");
    roast__set_number(finding, "threads", threads, "");
    if (input->on_cluster) {
        roast__set_integer(finding, "workers", nearbyint(workers * threads));
        return;
    }
    roast__set_integer(finding, "workers", workers); /* of a pool: its threads */
    finding->evidence =
        "{waited} waiting for the GIL inside chunks, {percent} of their time, with "
        "{threads} threads in one process";
    finding->advice =
        "processes in place of threads: FuturesExecutor(workers={workers}) "
        "without pool=ThreadPoolExecutor // processes in place of threads";
}

bool roast__is_overloaded(const struct roast_rule_input *input)
{
    double all,
        runqueue = roast__split_part(input, ROAST_COL_chunk_split_runqueue, &all);

    return runqueue * 100 >= LIMIT_RUNQUEUE_PERCENT * all &&
           roast__is_significant(input, runqueue);
}

void roast__rule_overloaded(const struct roast_rule_input *input,
                            struct roast_finding *finding)
{
    double all,
        runqueue = roast__split_part(input, ROAST_COL_chunk_split_runqueue, &all);
    const roast_table *hosts = input->ctx->summary->tables[ROAST_TABLE_per_host];
    const struct roast_run *run = input->ctx->run;
    bool on_client_host =
        roast_table_rows(hosts) == 1 &&
        roast__str_equal(roast_table_text(hosts, 0, ROAST_COL_per_host_host),
                         roast__strings_get(&run->strings, run->host));

    finding->cost_slices = chunk_slices;
    finding->cost_s = runqueue;
    finding->found = roast__is_overloaded(input);
    roast__set_number(finding, "runqueue", runqueue, "s");
    roast__set_number(finding, "percent", runqueue / all * 100, "%");
    if (roast_table_rows(hosts) > 1) {
        roast__set_number(finding, "hosts", (double)roast_table_rows(hosts), "");
        roast__set_from_pattern(finding, "host", ", on {hosts} hosts");
    }
    if (input->on_cluster && !on_client_host)
        roast__set_text(finding, "nodes", roast_str_of("nodes"));
}

void roast__rule_other_threads(const struct roast_rule_input *input,
                               struct roast_finding *finding)
{
    const struct roast_column *columns = input->ctx->run->attempts.columns;
    double other_s = roast__input_metric(input, ROAST_METRIC_other_threads_cpu_seconds);
    double own_s = 0;

    if (!(other_s >= LIMIT_OTHER_CPU_S))
        return;
    for (size_t row = 0; row < input->ctx->run->attempts.count; row++) {
        double ns = roast__column_number(&columns[ROAST_COLUMN_task_cpu_ns], row);
        own_s += roast__is_chunk(input->ctx, row) && ns > 0 ? ns / 1e9 : 0;
    }
    /* threads of a worker may have run other tasks meanwhile */
    if (roast__threads_per_worker(input->ctx) > 1)
        other_s -=
            input->slices[ROAST_SLICE_reduce] + input->slices[ROAST_SLICE_preprocess] +
            input->slices[ROAST_SLICE_other] + input->slices[ROAST_SLICE_foreign];
    finding->cost_s = NAN;
    /* threads of Dask and of the monitor always use some: little of the time, but much
     * of the CPU time of chunks that wait */
    finding->found =
        other_s >= LIMIT_OTHER_CPU_S &&
        other_s * 100 >= LIMIT_OTHER_CPU_PERCENT * own_s &&
        roast__percent_of_chunk_time(input, other_s) >= LIMIT_OTHER_CPU_TIME_PERCENT;
    roast__set_number(finding, "other", other_s, "s");
    roast__set_number(finding, "own", own_s, "s");
}

void roast__rule_garbage_collection(const struct roast_rule_input *input,
                                    struct roast_finding *finding)
{
    double seconds = roast__input_metric(input, ROAST_METRIC_gc_seconds);
    double runs = roast__input_metric(input, ROAST_METRIC_gc_runs);
    double percent = roast__percent_of_chunk_time(input, seconds);

    finding->cost_slices = chunk_slices;
    finding->cost_s = seconds;
    finding->found =
        percent >= LIMIT_GC_PERCENT && roast__is_significant(input, seconds);
    roast__set_number(finding, "seconds", seconds, "s");
    roast__set_number(finding, "percent", percent, "%");
    /* what ran in process() is in its time: most of it did not */
    if (seconds > 2 * input->slices[ROAST_SLICE_compute])
        finding->advice = "gc.freeze() after the imports, so that the collector skips "
                          "them: most of it ran outside of your process()";
    if (runs > 0) {
        roast__set_number(finding, "runs", runs, "");
        roast__set_from_pattern(finding, "count", " ({runs} runs)");
    }
}
