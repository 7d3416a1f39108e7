/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_cluster.c - rules about worker time outside chunks: late workers, merging, waiting
 * for the client, imports, tasks of other users. */
#include "analyze/calls.h"
#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/formulas.h"
#include "analyze/record_iter.h"
#include "analyze/recorded.h"
#include "base/mem.h"
#include "roast/ladder.h"

static double phase_seconds(const struct roast_rule_input *input,
                            enum roast_phase phase)
{
    const struct roast_budget *budget = input->ctx->budget;
    const struct roast_phases *phases = &budget->phases;
    double seconds = 0;

    for (size_t i = 0; i < phases->count; i++) {
        int64_t to_ns =
            i + 1 < phases->count ? phases->intervals[i + 1].from_ns : budget->end_ns;
        if (phases->intervals[i].phase == phase)
            seconds += roast__seconds_between(phases->intervals[i].from_ns, to_ns);
    }
    return seconds;
}

/* ---- late workers ---------------------------------------------------------------- */

void roast__rule_waiting_for_workers(const struct roast_rule_input *input,
                                     struct roast_finding *finding)
{
    const roast_table *ramp_up = input->ctx->summary->tables[ROAST_TABLE_ramp_up];
    double missing_s =
        roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_thread_seconds_missing);
    double threads = roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_threads);

    finding->found = input->on_cluster && roast__is_significant(input, missing_s);
    if (!finding->found)
        return;
    finding->cost_s = missing_s;
    const struct roast_schedule_change at_once = {.all_threads_from_start = true};
    double first_s =
        roast_table_number(input->ctx->summary->tables[ROAST_TABLE_wall_account], 0,
                           ROAST_COL_wall_account_wait_first_worker);
    first_s -= input->ctx->budget->held_s; /* there were workers, of others */
    finding->saves_s = roast__saves(input, &at_once) + (first_s > 0 ? first_s : 0);
    roast__set_number(finding, "missing", missing_s, "s");
    roast__set_number(
        finding, "seconds",
        roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_seconds_to_90_percent), "s");
    roast__set_number(finding, "first",
                      roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_first_threads),
                      "");
    roast__set_number(finding, "threads", threads, "");
    roast__set_integer(finding, "workers",
                       roast_table_number(ramp_up, 0, ROAST_COL_ramp_up_workers));
}

/* ---- merging --------------------------------------------------------------------- */

void roast__rule_merging(const struct roast_rule_input *input,
                         struct roast_finding *finding)
{
    roast__add_cost(input, finding, ROAST_SLICE_reduce);
    roast__add_cost(input, finding, ROAST_SLICE_idle_reduce);
    /* workers merge in parallel, the client alone */
    bool by_workers = input->slices[ROAST_SLICE_reduce] > 0;
    double phase_s = phase_seconds(input, ROAST_PHASE_REDUCE);
    double client_cpu_s = roast__context_fact(input->ctx, ROAST_FACT_own_cpu_seconds);
    /* a client with little CPU time waited for the processes of its pool to end */
    bool client_merged = input->on_cluster || isnan(client_cpu_s) ||
                         client_cpu_s * 100 >= LIMIT_CLIENT_CPU_PERCENT * phase_s;
    finding->found =
        roast__is_significant(input, finding->cost_s) && (by_workers || client_merged);
    if (!finding->found)
        return;
    finding->saves_s = phase_s + roast__saves_cost(input, finding);
    finding->saves_how = "at most";
    roast__set_number(finding, "reduce",
                      by_workers ? input->slices[ROAST_SLICE_reduce] : phase_s, "s");
    roast__set_text(finding, "time_kind",
                    roast_str_of(by_workers ? "worker time" : "wall time"));
    roast__set_number(finding, "idle", input->slices[ROAST_SLICE_idle_reduce], "s");
    const struct roast_chunk_model *model = &input->model;
    if (model->chunks > roast__chunk_model_chunks(model, INFINITY) &&
        !model->is_memory_short)
        roast__set_text(finding, "fewer",
                        roast_str_of("; or fewer of them: larger chunks"));
}

/* ---- the client ------------------------------------------------------------------ */

/* "notebook" where the client runs in a kernel; without it the titles say "script". */
void roast__set_client(const struct roast_rule_input *input,
                       struct roast_finding *finding)
{
    roast__set_text(finding, "client",
                    roast__notes_get(&input->ctx->run->notes, ROAST_NOTES_provenance,
                                     roast_str_of("client")));
}

/* Whether a phase without chunks is worth a change: threads are idle in it, but no longer
 * than it lasts. The limit is higher where the `with` block may do other work. */
static bool is_long_phase(const struct roast_rule_input *input,
                          const struct roast_finding *finding, double least_percent)
{
    return roast__is_significant(input, finding->cost_s) &&
           finding->cost_s * 100 >= least_percent * input->offered_s &&
           finding->saves_s * 1e3 >= LIMIT_PHASE_MS;
}

void roast__rule_client_imports(const struct roast_rule_input *input,
                                struct roast_finding *finding)
{
    if (input->ctx->budget->schedule.job_count == 0)
        return; /* there is no first task */
    roast__add_cost(input, finding, ROAST_SLICE_idle_client_before);
    finding->saves_s = phase_seconds(input, ROAST_PHASE_BEFORE);
    finding->found = is_long_phase(input, finding, LIMIT_COST_PERCENT);
    roast__set_number(finding, "seconds", finding->saves_s, "s");
    roast__set_client(input, finding);
    if (input->on_cluster) {
        roast__set_number(finding, "threads", input->threads, "");
        return;
    }
    finding->saves_s = NAN; /* its workers are not there yet: no thread waits */
    finding->advice =
        "that is code of your own, before the Runner: import less, or keep "
        "what it computes for the next run";
}

/* What passes inside calls of the Runner between preprocessing and the first chunk: coffea
 * packs the processor and plans. */
struct planning {
    double wall_s;
    double idle_s; /* of threads */
};

static struct planning find_planning(const struct roast_rule_input *input)
{
    const struct roast_phases *phases = &input->ctx->budget->phases;
    struct planning planning = {0};
    struct roast_calls calls = {0};

    if (!roast__calls_find(&calls, input->ctx->run))
        input->ctx->summary->failed = true;
    for (size_t i = 0; i + 1 < phases->count; i++) {
        const struct roast_phase_interval *interval = &phases->intervals[i];
        double length_s =
            roast__seconds_between(interval->from_ns, interval[1].from_ns);
        for (size_t k = 0; interval->phase == ROAST_PHASE_BETWEEN && k < calls.count;
             k++) {
            const struct roast_call *call = &calls.calls[k];
            int64_t from_ns = roast__time_clamp(call->preprocess_end_ns,
                                                interval->from_ns, interval[1].from_ns);
            int64_t to_ns =
                roast__time_clamp(call->end_ns, from_ns, interval[1].from_ns);
            double inside_s = roast__seconds_between(from_ns, to_ns);
            planning.wall_s += inside_s;
            if (inside_s > 0)
                planning.idle_s += interval->idle_s * inside_s / length_s;
        }
    }
    roast__calls_release(&calls);
    return planning;
}

void roast__rule_client_busy(const struct roast_rule_input *input,
                             struct roast_finding *finding)
{
    struct planning planning = find_planning(input);

    roast__add_cost(input, finding, ROAST_SLICE_idle_client_between);
    roast__add_cost(input, finding, ROAST_SLICE_idle_client_after);
    finding->cost_s -= planning.idle_s;
    finding->saves_s = phase_seconds(input, ROAST_PHASE_BETWEEN) - planning.wall_s +
                       phase_seconds(input, ROAST_PHASE_AFTER);
    finding->found = is_long_phase(input, finding, LIMIT_CLIENT_PERCENT);
    roast__set_number(finding, "seconds", finding->saves_s, "s");
    roast__set_client(input, finding);
    if (input->on_cluster)
        return;
    finding->saves_s = NAN; /* no thread waits */
    roast__set_text(finding, "place", roast_str_of("outside of the Runner"));
    finding->advice =
        "that is code of your own: see what it does between and after the "
        "calls of the Runner";
}

void roast__rule_postprocess(const struct roast_rule_input *input,
                             struct roast_finding *finding)
{
    roast__add_cost(input, finding, ROAST_SLICE_postprocess);
    finding->saves_s = phase_seconds(input, ROAST_PHASE_POSTPROCESS);
    finding->saves_how = "at most";
    finding->found = is_long_phase(input, finding, LIMIT_COST_PERCENT);
    roast__set_number(finding, "seconds", finding->saves_s, "s");
    if (!input->on_cluster)
        return; /* its workers have ended */
    roast__set_text(finding, "idle", roast_str_of("; workers wait meanwhile"));
    roast__set_text(finding, "later",
                    roast_str_of(", or do its work after the block, on the output"));
}

/* One pool that is kept has to start once, and does not stop in the block. */
void roast__rule_pools(const struct roast_rule_input *input,
                       struct roast_finding *finding)
{
    const struct roast_client_times *client = &input->ctx->budget->phases.client;
    double first_s = 0;

    for (size_t i = client->count; i > 0; i--) {
        const struct roast_client_time *own = &client->items[i - 1];
        if (own->work == ROAST_CLIENT_POOL_START)
            first_s = roast__seconds_between(own->from_ns, own->to_ns);
    }
    double starts_s = phase_seconds(input, ROAST_PHASE_POOL_START);
    double stops_s = phase_seconds(input, ROAST_PHASE_POOL_STOP);
    roast__add_cost(input, finding, ROAST_SLICE_pool_start);
    roast__add_cost(input, finding, ROAST_SLICE_pool_stop);
    finding->saves_s = starts_s - first_s + stops_s;
    finding->found = is_long_phase(input, finding, LIMIT_COST_PERCENT);
    roast__set_number(finding, "starts", starts_s, "s");
    roast__set_number(finding, "stops", stops_s, "s");
    roast__set_count(finding, "pools", (double)client->pool_count, "pool");
    roast__set_integer(finding, "workers",
                       roast__input_metric(input, ROAST_METRIC_peak_workers));
}

void roast__rule_preprocessing(const struct roast_rule_input *input,
                               struct roast_finding *finding)
{
    roast__add_cost(input, finding, ROAST_SLICE_preprocess);
    roast__add_cost(input, finding, ROAST_SLICE_idle_preprocess);
    finding->saves_s = phase_seconds(input, ROAST_PHASE_PREPROCESS);
    finding->found = is_long_phase(input, finding, LIMIT_CLIENT_PERCENT);
    finding->saves_next_run = true;
    roast__set_number(finding, "seconds", finding->saves_s, "s");
    roast__set_number(finding, "idle", input->slices[ROAST_SLICE_idle_preprocess], "s");
}

/* ---- workers --------------------------------------------------------------------- */

/* Chunks that are not the first of their process have nothing to import any more: these
 * seconds of theirs only unpack the processor. */
struct unpacking {
    double seconds;
    double chunks;
};

static struct unpacking find_unpacking(const struct roast_rule_input *input)
{
    const struct roast_run *run = input->ctx->run;
    int64_t *ends_ns = roast__first_chunk_ends(input->ctx);
    struct unpacking unpacking = {0};

    input->ctx->summary->failed |= !ends_ns;
    for (size_t row = 0; ends_ns && row < run->attempts.count; row++) {
        struct roast_ladder ladder;
        roast_record rec;
        int64_t times[2];
        if (!roast__is_chunk(input->ctx, row) ||
            !roast__attempt_times(&run->attempts, row, &times[0], &times[1]) ||
            times[0] < ends_ns[run->attempts.process[row]])
            continue;
        (void)roast__attempt_fields(run, row, ROAST_FIELD_BIT(ladder), &rec);
        if (!roast_record_has(&rec, ROAST_FIELD_ladder) ||
            roast_ladder_read(&ladder, rec.values[ROAST_FIELD_ladder].str, NULL) < 0)
            continue;
        unpacking.seconds += (double)ladder.values[ROAST_ITEM_import] / 1e9;
        unpacking.chunks++;
    }
    roast__free(ends_ns);
    return unpacking;
}

void roast__rule_large_processor(const struct roast_rule_input *input,
                                 struct roast_finding *finding)
{
    struct unpacking unpacking = find_unpacking(input);
    struct planning planning = find_planning(input);

    finding->cost_slices = UINT64_C(1) << ROAST_SLICE_import;
    finding->cost_s = unpacking.seconds;
    finding->found = roast__is_significant(input, unpacking.seconds);
    if (!finding->found)
        return;
    const struct roast_schedule_change small = {
        .slices = finding->cost_slices,
        .part = fmin(1, unpacking.seconds / input->slices[ROAST_SLICE_import])};
    finding->saves_s = roast__saves(input, &small);
    roast__set_number(finding, "unpack", unpacking.seconds, "s");
    roast__set_count(finding, "chunks", unpacking.chunks, "chunk");
    if (planning.wall_s * 1e3 < LIMIT_PHASE_MS)
        return;
    roast__set_number(finding, "before", planning.wall_s, "s");
    roast__set_from_pattern(finding, "packing",
                            "; {before} without any task before the first chunk, in "
                            "which coffea packs and sends it");
}

/* Whether all chunks ran in the process of the script: it has no workers to prepare. */
static bool is_in_client(const struct roast_rule_input *input)
{
    const struct roast_attempts *attempts = &input->ctx->run->attempts;

    for (size_t i = 0; i < attempts->process_count; i++) {
        if (!roast__is_client_process(input->ctx->run, &attempts->processes[i]))
            return false;
    }
    return attempts->process_count > 0;
}

void roast__rule_worker_imports(const struct roast_rule_input *input,
                                struct roast_finding *finding)
{
    double unpack_s = find_unpacking(input).seconds;
    double imports_s = input->slices[ROAST_SLICE_import] - unpack_s;

    roast__add_cost(input, finding, ROAST_SLICE_import);
    roast__add_cost(input, finding, ROAST_SLICE_dispatch_first);
    double all_s = finding->cost_s;
    finding->cost_s -= unpack_s;
    finding->found = roast__is_significant(input, finding->cost_s) &&
                     finding->cost_s * 100 >= LIMIT_CLIENT_PERCENT * input->offered_s &&
                     !is_in_client(input) && !roast__is_overloaded(input);
    if (!finding->found)
        return;
    const struct roast_schedule_change imported = {.slices = finding->cost_slices,
                                                   .part = finding->cost_s / all_s};
    finding->saves_s = roast__saves(input, &imported);
    finding->saves_next_run = true;
    roast__set_number(finding, "imports", imports_s, "s");
    roast__set_number(finding, "contact", input->slices[ROAST_SLICE_dispatch_first],
                      "s");
    roast__set_count(finding, "workers",
                     roast__input_metric(input, ROAST_METRIC_peak_workers), "worker");
    if (!input->on_cluster)
        finding->advice =
            "FuturesExecutor(pool=concurrent.futures.ProcessPoolExecutor) "
            "starts processes that have the imports of this one (not from Python "
            "3.14 on); or keep one pool: loky.get_reusable_executor()";
}

void roast__rule_foreign_tasks(const struct roast_rule_input *input,
                               struct roast_finding *finding)
{
    roast__add_cost(input, finding, ROAST_SLICE_foreign);
    finding->found = roast__is_significant(input, finding->cost_s);
    if (!finding->found)
        return;
    finding->saves_s = roast__saves_cost(input, finding) + input->ctx->budget->held_s;
    roast__set_number(finding, "seconds", finding->cost_s, "s");
    roast__set_number(finding, "percent", finding->cost_s / input->offered_s * 100,
                      "%");
}

void roast__rule_own_cost(const struct roast_rule_input *input,
                          struct roast_finding *finding)
{
    roast__add_cost(input, finding, ROAST_SLICE_monitor);
    /* waiting for a scheduler is a cost of each block, which no change of chunks saves */
    finding->cost_s -=
        input->ctx->budget->by_phase[ROAST_PHASE_MONITOR][ROAST_SLICE_monitor];
    finding->found = finding->cost_s >= LIMIT_COST_S &&
                     finding->cost_s * 100 >= LIMIT_OWN_PERCENT * input->offered_s;
    roast__set_number(finding, "seconds", finding->cost_s, "s");
    roast__set_number(finding, "percent", finding->cost_s / input->offered_s * 100,
                      "%");
    if (input->model.is_memory_short) /* larger chunks need more memory */
        finding->advice = "fewer sections inside loops; or more memory per worker, and "
                          "then larger chunks";
}
