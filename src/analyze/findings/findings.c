/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.c - what to change: runs all rules on one run and ranks the findings.
 *
 * Failures come first, then what saves the most wall time; where that is not known, what
 * it would save if its cost were spread over all threads. Where the costs of two findings
 * share a slice, each names the other. */
#include "analyze/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/record_iter.h"
#include "base/mem.h"
#include "roast/number.h"

static const struct rule {
    const char *id;
    void (*check)(const struct roast_rule_input *input, struct roast_finding *finding);
    const char *title;
    const char *evidence;
    const char *advice;
} rules[] = {
#define R(id, title, evidence, advice) {#id, roast__rule_##id, title, evidence, advice},
#include "roast/finding_rules.def"
#undef R
};
enum { RULES = sizeof(rules) / sizeof(rules[0]) };

struct ranking {
    struct ranked {
        const struct rule *rule;
        struct roast_finding finding;
        double weight_s; /* wall time for ranking */
    } all[RULES];
    size_t count;
};

void roast__add_cost(const struct roast_rule_input *input,
                     struct roast_finding *finding, enum roast_slice slice)
{
    finding->cost_slices |= UINT64_C(1) << slice;
    finding->cost_s += input->slices[slice];
}

bool roast__is_significant(const struct roast_rule_input *input, double seconds)
{
    double percent = seconds / input->offered_s * 100;

    return input->offered_s > 0 &&
           ((seconds >= LIMIT_COST_S && percent >= LIMIT_COST_PERCENT) ||
            (seconds * 1e3 >= LIMIT_SHORT_COST_MS &&
             percent >= LIMIT_SHORT_COST_PERCENT));
}

bool roast__saves_enough(const struct roast_rule_input *input, double seconds)
{
    return seconds * 100 >= LIMIT_SAVES_PERCENT * input->wall_s &&
           seconds * 1e3 >= LIMIT_SAVES_MS;
}

/* NULL when out of memory. */
static const struct roast_schedule_model *schedule_of(
    const struct roast_rule_input *input)
{
    if (!*input->schedule)
        *input->schedule = roast__schedule_model_new(input->ctx);
    input->ctx->summary->failed |= !*input->schedule;
    return *input->schedule;
}

double roast__saves(const struct roast_rule_input *input,
                    const struct roast_schedule_change *change)
{
    const struct roast_schedule_model *model = schedule_of(input);

    return model ? roast__schedule_model_saves(model, change) : NAN;
}

double roast__waits_for(const struct roast_rule_input *input, enum roast_slice kind)
{
    const struct roast_schedule_model *model = schedule_of(input);

    return model ? roast__schedule_model_waits(model, kind) : NAN;
}

double roast__saves_cost(const struct roast_rule_input *input,
                         const struct roast_finding *finding)
{
    const struct roast_schedule_change change = {.slices = finding->cost_slices};

    return roast__saves(input, &change);
}

double roast__percent_of_chunk_time(const struct roast_rule_input *input,
                                    double seconds)
{
    return input->chunk_time_s > 0 ? seconds / input->chunk_time_s * 100 : NAN;
}

double roast__split_part(const struct roast_rule_input *input, int part, double *all)
{
    const roast_table *split = input->ctx->summary->tables[ROAST_TABLE_chunk_split];

    *all = 0;
    for (int col = ROAST_COL_chunk_split_on_cpu; col <= ROAST_COL_chunk_split_waiting;
         col++) {
        double seconds = roast_table_number(split, 0, col);
        *all += isnan(seconds) ? 0 : seconds;
    }
    return roast_table_number(split, 0, part);
}

double roast__input_metric(const struct roast_rule_input *input,
                           enum roast_metric metric)
{
    return roast__summary_metric(input->ctx->summary, metric);
}

bool roast__grows(const struct roast_growth *growth)
{
    double slope = roast__fit_slope(&growth->all);

    return slope > 0 && roast__fit_r2(&growth->all) * 100 >= LIMIT_GROWTH_R2_PERCENT &&
           roast__fit_slope(&growth->later) * 100 >= LIMIT_GROWTH_LATER_PERCENT * slope;
}

double roast__threads_per_worker(const struct roast_summary_context *ctx)
{
    const struct roast_worker_sessions *sessions = &ctx->run->scheduler.sessions;
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(concurrency), .roles = ROAST_ROLES_ALL};
    double threads = 0, most = 1;

    for (size_t i = 0; i < sessions->count; i++)
        threads += (double)sessions->items[i].threads;
    if (sessions->count > 0)
        return threads / (double)sessions->count;
    while (roast__record_iter_next(&iter))
        most = fmax(most, (double)iter.rec.values[ROAST_FIELD_concurrency].u64);
    return most;
}

/* ---- ranking --------------------------------------------------------------------- */

static int larger_first(double left, double right)
{
    left = isnan(left) ? 0 : left;
    right = isnan(right) ? 0 : right;
    return (left < right) - (left > right);
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    int order = (int)right->finding.failure - (int)left->finding.failure;

    if (order == 0)
        order = larger_first(left->weight_s, right->weight_s);
    if (order == 0)
        order = larger_first(left->finding.cost_s, right->finding.cost_s);
    return order != 0 ? order : strcmp(left->rule->id, right->rule->id);
}

/* ---- the table ------------------------------------------------------------------- */

/* Uses the finding's own pattern, if it has a complete one, else that of the rule. */
static void put_pattern(roast_table *table, int col,
                        const struct roast_finding *finding, const char *own,
                        const char *of_rule)
{
    char text[ROAST_FINDING_TEXT_BYTES];
    size_t size = roast__fill_pattern(text, own, finding);

    if (size == 0)
        size = roast__fill_pattern(text, of_rule, finding);
    roast__fill_string(table, col, size > 0 ? text : "its numbers are not known");
}

static void put_finding(roast_table *table, const struct roast_rule_input *input,
                        const struct ranking *ranking, size_t number)
{
    const struct rule *rule = ranking->all[number].rule;
    const struct roast_finding *finding = &ranking->all[number].finding;
    double percent =
        input->offered_s > 0 ? finding->cost_s / input->offered_s * 100 : 0;
    bool is_high = finding->failure || percent >= LIMIT_HIGH_PERCENT;
    bool is_medium = finding->risk || percent >= LIMIT_COST_PERCENT;
    struct roast_buf overlaps = {0};
    char saving[ROAST_NUMBER_BYTES + 32];

    roast__table_row(table);
    roast__fill_string(table, ROAST_COL_findings_id, rule->id);
    roast__fill_string(table, ROAST_COL_findings_severity,
                       is_high     ? "high"
                       : is_medium ? "medium"
                                   : "low");
    put_pattern(table, ROAST_COL_findings_title, finding, NULL, rule->title);
    put_pattern(table, ROAST_COL_findings_evidence, finding, finding->evidence,
                rule->evidence);
    put_pattern(table, ROAST_COL_findings_advice, finding, finding->advice,
                rule->advice);
    roast__fill_number(table, ROAST_COL_findings_cost_thread_seconds, finding->cost_s);
    roast__fill_number(table, ROAST_COL_findings_saves_wall_seconds, finding->saves_s);
    if (!isnan(finding->saves_s)) {
        (void)snprintf(saving, sizeof(saving), "%s %s%s",
                       finding->saves_how ? finding->saves_how : "about",
                       roast_number(finding->saves_s, "s").text,
                       finding->saves_next_run ? " on the next run" : "");
        roast__fill_string(table, ROAST_COL_findings_saving, saving);
    }
    for (size_t i = 0; i < ranking->count; i++) {
        if (i != number && ranking->all[i].finding.cost_slices & finding->cost_slices)
            roast__list_add(&overlaps, roast_str_of(ranking->all[i].rule->id));
    }
    roast__fill_list(table, ROAST_COL_findings_overlaps, &overlaps);
}

void roast__summarize_findings(const struct roast_summary_context *ctx)
{
    const struct roast_budget *budget = ctx->budget;
    struct roast_schedule_model *schedule = NULL;
    struct roast_rule_input input = {
        .ctx = ctx,
        .schedule = &schedule,
        .slices = budget->total,
        .offered_s = budget->offered_s,
        .wall_s = roast__seconds_between(budget->start_ns, budget->end_ns),
        .on_cluster = budget->schedule.has_scheduler,
    };
    input.threads = input.wall_s > 0 ? input.offered_s / input.wall_s : 0;
    for (int i = 0; i <= ROAST_SLICE_result; i++)
        input.chunk_time_s += input.slices[i];
    if (!roast__chunk_model_fit(&input.model, ctx))
        ctx->summary->failed = true;
    input.best_size =
        input.model.size_count > 0 ? roast__chunk_model_best(&input.model) : NAN;
    struct ranking *ranking = roast__alloc(sizeof(*ranking));
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_findings);

    ctx->summary->failed |= !ranking;
    for (size_t i = 0; i < RULES && !ctx->summary->failed; i++) {
        struct ranked *ranked = &ranking->all[ranking->count];
        struct roast_finding *finding = &ranked->finding;
        *ranked = (struct ranked){.rule = &rules[i], .finding = {.saves_s = NAN}};
        rules[i].check(&input, finding);
        if (!finding->found)
            continue;
        if (finding->saves_s > input.wall_s)
            finding->saves_s = input.wall_s;
        ranked->weight_s = isnan(finding->saves_s) && input.threads > 0
                               ? finding->cost_s / input.threads
                               : finding->saves_s;
        if (finding->saves_s * 100 < LIMIT_SHOWN_PERCENT * input.wall_s)
            finding->saves_s = NAN; /* too little to promise */
        ranking->count++;
    }
    if (ranking && ranking->count > 0)
        qsort(ranking->all, ranking->count, sizeof(ranking->all[0]), by_rank);
    for (size_t i = 0; ranking && i < ranking->count; i++)
        put_finding(table, &input, ranking, i);
    roast__write_verdict(&input);
    roast__chunk_model_release(&input.model);
    roast__schedule_model_free(schedule);
    roast__free(ranking);
}
