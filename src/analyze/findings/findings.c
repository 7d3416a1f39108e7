/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.c - what to change: all rules over one run, ranked, and one paragraph.
 *
 * What failed comes first, then what saves the most wall time, or may save it where
 * nobody can say. Seconds of threads that go away shorten the run by their share of all
 * threads: what they did could be done by any of them. Where two findings claim the same
 * seconds, each names the other. */
#include "analyze/findings/findings.h"

#include <stdlib.h>

#include "analyze/findings/paragraph.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/findings/text.h"
#include "base/mem.h"

enum cell { ID, SEVERITY, TITLE, EVIDENCE, COST, SAVES, OVERLAPS, ADVICE, CELLS };

static const char *const columns[CELLS] = {
    [ID] = "id",
    [SEVERITY] = "severity",
    [TITLE] = "title",
    [EVIDENCE] = "evidence",
    [COST] = "cost_thread_seconds",
    [SAVES] = "saves_wall_seconds",
    [OVERLAPS] = "overlaps",
    [ADVICE] = "advice",
};

static const struct rule {
    const char *id;
    void (*check)(const struct roast_case *at, struct roast_finding *finding);
    const char *title;
    const char *evidence;
    const char *advice;
} rules[] = {
#define R(id, title, evidence, advice) {#id, roast__rule_##id, title, evidence, advice},
#include "roast/verdict_rules.def"
#undef R
};
enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* What is left of a finding when its texts are in the summary. */
struct ranked {
    const char *id;
    bool failure;
    uint64_t claims;
    double cost_s;
    double saves_s; /* at most, where nobody can say */
    struct roast_cell cells[CELLS];
};

struct ranking {
    struct ranked all[RULES];
    size_t count;
};

/* ---- the case -------------------------------------------------------------------- */

void roast__claim(const struct roast_case *at, struct roast_finding *finding,
                  enum roast_slice slice)
{
    finding->claims |= UINT64_C(1) << slice;
    finding->cost_s += at->slices[slice];
}

bool roast__is_worth(const struct roast_case *at, double seconds)
{
    return at->offered_s > 0 && seconds >= LIMIT_COST_S &&
           seconds * 100 >= LIMIT_COST_PERCENT * at->offered_s;
}

double roast__percent_inside(const struct roast_case *at, double seconds)
{
    return at->inside_s > 0 ? seconds / at->inside_s * 100 : NAN;
}

double roast__case_metric(const struct roast_case *at, enum roast_metric metric)
{
    return roast__summary_metric(at->study->summary, metric);
}

const struct roast_table *roast__case_table(const struct roast_case *at,
                                            const char *name)
{
    return roast_summary_table(at->study->summary, name);
}

struct roast_str roast__case_text(const struct roast_table *table, size_t row,
                                  const char *column)
{
    const struct roast_cell *cell = roast__table_cell(table, row, column);

    return cell->type == ROAST_CELL_TEXT ? cell->text : (struct roast_str){NULL, 0};
}

bool roast__case_flag(const struct roast_table *table, size_t row, const char *column)
{
    const struct roast_cell *cell = roast__table_cell(table, row, column);

    return cell->type == ROAST_CELL_BOOL && cell->count != 0;
}

static struct roast_case open_case(const struct roast_study *study)
{
    const struct roast_budget *budget = study->budget;
    struct roast_case at = {
        .study = study,
        .slices = budget->total,
        .offered_s = budget->offered_s,
        .wall_s = roast__seconds_between(budget->start_ns, budget->end_ns),
        .on_cluster = budget->schedule.has_scheduler,
    };

    at.threads = at.wall_s > 0 ? at.offered_s / at.wall_s : 0;
    for (int i = 0; i <= ROAST_SLICE_result; i++)
        at.inside_s += at.slices[i];
    if (!roast__chunk_model_fit(&at.model, study))
        study->summary->failed = true;
    at.best_size = at.model.size_count > 0 ? roast__chunk_model_best(&at.model) : NAN;
    return at;
}

/* ---- findings -------------------------------------------------------------------- */

static const char *severity_of(const struct roast_case *at,
                               const struct roast_finding *finding)
{
    double percent = at->offered_s > 0 ? finding->cost_s / at->offered_s * 100 : 0;

    if (finding->failure || percent >= LIMIT_HIGH_PERCENT)
        return "high";
    return finding->risk || percent >= LIMIT_COST_PERCENT ? "medium" : "low";
}

/* Of the finding's own pattern, if it has one and its blanks are told, or the rule's. */
static struct roast_cell made_text(const struct roast_case *at,
                                   const struct roast_finding *finding, const char *own,
                                   const char *of_rule)
{
    char text[ROAST_FINDING_TEXT_BYTES];
    size_t size = roast__fill_pattern(text, own, finding);

    if (size == 0)
        size = roast__fill_pattern(text, of_rule, finding);
    return roast__cell_text(at->study->summary,
                            size > 0 ? (struct roast_str){text, size}
                                     : roast_str_of("its numbers are not known"));
}

static struct ranked keep(const struct roast_case *at, const struct rule *rule,
                          const struct roast_finding *finding)
{
    struct ranked kept = {.id = rule->id,
                          .failure = finding->failure,
                          .claims = finding->claims,
                          .cost_s = finding->cost_s,
                          .saves_s = finding->saves_s};

    kept.cells[ID] = roast__cell_text(at->study->summary, roast_str_of(rule->id));
    kept.cells[SEVERITY] =
        roast__cell_text(at->study->summary, roast_str_of(severity_of(at, finding)));
    kept.cells[TITLE] = made_text(at, finding, NULL, rule->title);
    kept.cells[EVIDENCE] = made_text(at, finding, finding->evidence, rule->evidence);
    kept.cells[ADVICE] = made_text(at, finding, finding->advice, rule->advice);
    kept.cells[COST] = roast__cell_number(finding->cost_s);
    kept.cells[SAVES] =
        roast__cell_number(finding->saves_unknown ? NAN : finding->saves_s);
    return kept;
}

static void apply(const struct roast_case *at, const struct rule *rule,
                  struct ranking *ranking)
{
    struct roast_finding finding = {.saves_s = NAN};

    rule->check(at, &finding);
    if (!finding.found)
        return;
    if (isnan(finding.saves_s) && at->threads > 0)
        finding.saves_s = finding.cost_s / at->threads;
    if (isnan(finding.cost_s))
        finding.saves_s = NAN;
    if (finding.saves_s > at->wall_s)
        finding.saves_s = at->wall_s;
    ranking->all[ranking->count++] = keep(at, rule, &finding);
}

/* ---- ranks ----------------------------------------------------------------------- */

static int larger_first(double left, double right)
{
    left = isnan(left) ? 0 : left;
    right = isnan(right) ? 0 : right;
    return (left < right) - (left > right);
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    int order = (int)right->failure - (int)left->failure;

    if (order == 0)
        order = larger_first(left->saves_s, right->saves_s);
    if (order == 0)
        order = larger_first(left->cost_s, right->cost_s);
    return order != 0 ? order : strcmp(left->id, right->id);
}

/* The ids of those that claim the same seconds. */
static struct roast_cell overlaps_of(const struct roast_case *at,
                                     const struct ranking *ranking, size_t own)
{
    struct roast_cell *items;
    size_t count = 0, next = 0;

    for (size_t i = 0; i < ranking->count; i++)
        count += i != own && ranking->all[i].claims & ranking->all[own].claims;
    struct roast_cell list = roast__cell_list(at->study->summary, &items, count);
    for (size_t i = 0; i < ranking->count && next < list.list.count; i++) {
        if (i != own && ranking->all[i].claims & ranking->all[own].claims)
            items[next++] = ranking->all[i].cells[ID];
    }
    return list;
}

static void put_findings(const struct roast_case *at, struct ranking *ranking)
{
    struct roast_summary *summary = at->study->summary;
    size_t table =
        roast__table_open(summary, "findings", ROAST_TABLE_LIST, columns, CELLS);

    for (size_t i = 0; i < ranking->count; i++)
        ranking->all[i].cells[OVERLAPS] = overlaps_of(at, ranking, i);
    for (size_t i = 0; i < ranking->count; i++)
        memcpy(roast__table_row(summary, table), ranking->all[i].cells,
               sizeof(ranking->all[i].cells));
}

void roast__study_verdict(const struct roast_study *study)
{
    struct roast_case at = open_case(study);
    struct ranking ranking = {.count = 0};

    for (size_t i = 0; i < RULES && !study->summary->failed; i++)
        apply(&at, &rules[i], &ranking);
    qsort(ranking.all, ranking.count, sizeof(ranking.all[0]), by_rank);
    put_findings(&at, &ranking);
    roast__put_verdict(&at);
    roast__chunk_model_release(&at.model);
}
