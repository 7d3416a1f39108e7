/* SPDX-License-Identifier: BSD-3-Clause */
/* add_run.c - what a run adds to the accounting: its names, core-seconds, datasets and
 * findings. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "analyze/accounting/accounting.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "roast/environment.h"
#include "run/notes.h"
#include "run/run.h"
#include "table/table.h"

enum { DAY_S = 24 * 60 * 60, NAME_BYTES = 64 };

const struct roast_account_group *roast_account_group(enum roast_account_by by)
{
    static const struct roast_account_group groups[ROAST_BY_COUNT] = {
#define B(name, text, otherwise) {#name, (text), (otherwise)},
#include "roast/account_groups.def"
#undef B
    };
    return &groups[by];
}

int roast_accounting_new(roast_accounting **out, int64_t since_ns, int64_t until_ns,
                         roast_error *err)
{
    roast_accounting *accounting = roast__alloc(sizeof(*accounting));

    *out = accounting;
    if (!accounting)
        return roast_error_set(err, ROAST_NO_MEMORY, "the sums of runs");
    accounting->since_ns = since_ns;
    accounting->until_ns = until_ns;
    return ROAST_OK;
}

void roast_accounting_free(roast_accounting *accounting)
{
    if (!accounting)
        return;
    roast__strings_release(&accounting->ids);
    roast__strings_release(&accounting->words);
    roast__free(accounting->runs);
    roast__free(accounting->parts);
    roast__free(accounting->findings);
    roast__free(accounting);
}

size_t roast_accounting_repeated(const roast_accounting *accounting)
{
    return accounting->repeated;
}

/* ---- names ----------------------------------------------------------------------- */

/* The number of a word; an empty one is not known. */
static int32_t word_of(roast_accounting *accounting, struct roast_str text)
{
    if (text.size_bytes == 0)
        return ROAST_NO_STRING;
    int32_t word = roast__strings_put(&accounting->words, text);
    accounting->failed |= word == ROAST_STRING_NO_MEMORY;
    return word;
}

static int32_t name_of(roast_accounting *accounting, const roast_run *run,
                       enum roast_note_group group, const char *name)
{
    return word_of(accounting,
                   roast__notes_get(&run->notes, group, roast_str_of(name)));
}

static int32_t site_of(roast_accounting *accounting, const roast_run *run)
{
    const struct roast_environment_variable *variable;
    int32_t site = name_of(accounting, run, ROAST_NOTES_label, "site");
    char name[NAME_BYTES];

    for (size_t i = 0; site < 0 && (variable = roast_environment_variable(i)); i++) {
        (void)snprintf(name, sizeof(name), "environment.%s", variable->name);
        if (variable->is_site)
            site = name_of(accounting, run, ROAST_NOTES_provenance, name);
    }
    return site;
}

/* "2025-W46": a week belongs to the year of its Thursday. */
static int32_t week_of(roast_accounting *accounting, int64_t start_ns)
{
    int64_t day = start_ns / INT64_C(1000000000) / DAY_S; /* 1 Jan 1970: a Thursday */
    time_t thursday = (time_t)((day - (day + 3) % 7 + 3) * DAY_S);
    char name[NAME_BYTES];
    struct tm utc;

    if (start_ns <= 0 || !gmtime_r(&thursday, &utc))
        return ROAST_NO_STRING;
    (void)snprintf(name, sizeof(name), "%04d-W%02d", utc.tm_year + 1900,
                   utc.tm_yday / 7 + 1);
    return word_of(accounting, roast_str_of(name));
}

static void fill_names(struct roast_counted_run *out, roast_accounting *accounting,
                       const roast_run *run, int64_t start_ns, const char *owner)
{
    int32_t user = name_of(accounting, run, ROAST_NOTES_label, "user");

    out->names[ROAST_BY_total] = word_of(accounting, roast_str_of("all"));
    out->names[ROAST_BY_user] =
        user >= 0 ? user : word_of(accounting, roast_str_of(owner));
    out->names[ROAST_BY_processor] =
        name_of(accounting, run, ROAST_NOTES_run, "processor");
    out->names[ROAST_BY_dataset] = ROAST_NO_STRING;
    out->names[ROAST_BY_site] = site_of(accounting, run);
    out->names[ROAST_BY_week] = week_of(accounting, start_ns);
}

/* ---- numbers --------------------------------------------------------------------- */

static double metric(const roast_summary *summary, enum roast_metric metric)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    return values->known[metric] ? values->value[metric] : NAN;
}

static void fill_numbers(struct roast_counted_run *out, roast_accounting *accounting,
                         const roast_summary *summary)
{
    static const enum roast_metric metrics[ROAST_HOURS_COUNT] = {
        [ROAST_HOURS_OFFERED] = ROAST_METRIC_offered_thread_seconds,
        [ROAST_HOURS_USED] = ROAST_METRIC_cpu_time_seconds,
        [ROAST_HOURS_WASTED] = ROAST_METRIC_wasted_thread_seconds};

    for (int i = 0; i < ROAST_HOURS_COUNT; i++) {
        const char *why = "its live file is too large to be read for this";
        if (summary) {
            out->seconds[i] = metric(summary, metrics[i]);
            why = roast_summary_metrics(summary)->why[metrics[i]];
        }
        out->why[i] = word_of(accounting, roast_str_of(why));
    }
    if (!summary)
        return;
    if (isnan(out->seconds[ROAST_HOURS_USED]))
        out->seconds[ROAST_HOURS_USED] =
            metric(summary, ROAST_METRIC_command_cpu_seconds);
    out->wall_s = metric(summary, ROAST_METRIC_wall_time);
    out->failed_attempts = metric(summary, ROAST_METRIC_num_failed_attempts) +
                           metric(summary, ROAST_METRIC_num_lost_attempts);
}

/* ---- datasets -------------------------------------------------------------------- */

/* The thread-seconds of all attempts at the chunks of a dataset, and of those that are
 * wasted. A run whose threads are not known has no budget, but time inside process(). */
static void weigh(struct roast_run_part *part, const roast_summary *summary, size_t row)
{
    const roast_table *datasets = roast_summary_table(summary, ROAST_TABLE_datasets);
    const roast_table *budget =
        roast_summary_table(summary, ROAST_TABLE_budget_by_dataset);
    struct roast_str name = roast_table_text(datasets, row, ROAST_COL_datasets_dataset);
    double all = 0, wasted = 0;

    if (roast_table_rows(budget) == 0)
        all = roast_table_number(datasets, row, ROAST_COL_datasets_total_duration);
    if (part->dataset == ROAST_NO_STRING)
        name = roast_str_of("(unknown)"); /* as the budget calls it */
    row = roast__table_find(budget, ROAST_COL_budget_by_dataset_dataset, name);
    for (size_t i = 1; i < roast_table_width(budget); i++) { /* after the dataset */
        int col = roast_table_col(budget, i);
        double seconds = roast_table_number(budget, row, col);
        if (isnan(seconds))
            continue;
        all += seconds;
        if (col == ROAST_COL_budget_by_dataset_failed ||
            col == ROAST_COL_budget_by_dataset_lost ||
            col == ROAST_COL_budget_by_dataset_skipped)
            wasted += seconds;
    }
    part->share[ROAST_HOURS_OFFERED] = part->share[ROAST_HOURS_USED] = all;
    part->share[ROAST_HOURS_WASTED] = wasted;
}

static struct roast_run_part *new_part(roast_accounting *accounting)
{
    struct roast_run_part *parts =
        roast__array_room(accounting->parts, &accounting->part_cap,
                          accounting->part_count, sizeof(*parts));

    accounting->failed |= !parts;
    if (!parts)
        return NULL;
    accounting->parts = parts;
    return &parts[accounting->part_count++];
}

/* Makes shares of the seconds: those of one dataset are 1, those of a sum of 0 are not
 * known. Where no attempt has a dataset that it is wasted for, all datasets share. */
static void divide(struct roast_run_part *parts, size_t count)
{
    double sums[ROAST_HOURS_COUNT] = {0};

    for (size_t i = 0; i < count; i++)
        for (int hours = 0; hours < ROAST_HOURS_COUNT; hours++)
            sums[hours] += parts[i].share[hours];
    for (size_t i = 0; i < count; i++) {
        double *share = parts[i].share;
        for (int hours = 0; hours < ROAST_HOURS_COUNT; hours++)
            share[hours] = count == 1 ? 1 : share[hours] / sums[hours];
        if (!(sums[ROAST_HOURS_WASTED] > 0))
            share[ROAST_HOURS_WASTED] = share[ROAST_HOURS_OFFERED];
    }
}

static void add_parts(struct roast_counted_run *out, roast_accounting *accounting,
                      const roast_summary *summary)
{
    const roast_table *datasets =
        summary ? roast_summary_table(summary, ROAST_TABLE_datasets) : NULL;
    size_t count = roast_table_rows(datasets);
    size_t first = accounting->part_count;

    for (size_t row = 0; row < (count > 0 ? count : 1); row++) {
        struct roast_str name =
            roast_table_text(datasets, row, ROAST_COL_datasets_dataset);
        struct roast_run_part *part = new_part(accounting);
        if (!part)
            return;
        *part = (struct roast_run_part){
            .dataset = roast__str_is(name, "unknown") ? ROAST_NO_STRING
                                                      : word_of(accounting, name),
            .failed_attempts =
                count > 0
                    ? roast_table_number(datasets, row, ROAST_COL_datasets_failures)
                    : out->failed_attempts};
        if (count > 1)
            weigh(part, summary, row);
    }
    out->first_part = first;
    out->part_count = accounting->part_count - first;
    divide(&accounting->parts[first], out->part_count);
}

/* ---- findings -------------------------------------------------------------------- */

static void add_findings(struct roast_counted_run *out, roast_accounting *accounting,
                         const roast_summary *summary)
{
    const roast_table *table =
        summary ? roast_summary_table(summary, ROAST_TABLE_findings) : NULL;

    out->first_finding = accounting->finding_count;
    for (size_t row = 0; row < roast_table_rows(table); row++) {
        struct roast_run_finding *items =
            roast__array_room(accounting->findings, &accounting->finding_cap,
                              accounting->finding_count, sizeof(*items));
        accounting->failed |= !items;
        if (!items)
            return;
        accounting->findings = items;
        items[accounting->finding_count++] = (struct roast_run_finding){
            word_of(accounting, roast_table_text(table, row, ROAST_COL_findings_id)),
            roast_table_number(table, row, ROAST_COL_findings_cost_thread_seconds)};
    }
    out->finding_count = accounting->finding_count - out->first_finding;
}

/* ---- the run --------------------------------------------------------------------- */

/* The entry of a run; NULL: out of memory. A run without an id is a run of its own. */
static struct roast_counted_run *entry_of(roast_accounting *accounting,
                                          const roast_run *run)
{
    struct roast_str id =
        roast__notes_get(&run->notes, ROAST_NOTES_run, roast_str_of("id"));
    char name[NAME_BYTES];

    if (id.size_bytes == 0) {
        (void)snprintf(name, sizeof(name), "run %zu", accounting->run_count);
        id = roast_str_of(name);
    }
    struct roast_counted_run *runs = roast__array_room(
        accounting->runs, &accounting->run_cap, accounting->run_count, sizeof(*runs));
    if (!runs)
        return NULL;
    accounting->runs = runs;
    int32_t number = roast__strings_put(&accounting->ids, id);
    if (number < 0)
        return NULL;
    if ((size_t)number == accounting->run_count)
        runs[accounting->run_count++] =
            (struct roast_counted_run){.state = ROAST_STATE_COUNT};
    else
        accounting->repeated++;
    return &runs[number];
}

/* Whether more is known of a run than of the same run before. */
static bool knows_more(const struct roast_counted_run *run,
                       const struct roast_counted_run *before)
{
    if (before->state == ROAST_STATE_COUNT) /* a new one */
        return true;
    return before->state == ROAST_IS_unfinished &&
           (run->state != ROAST_IS_unfinished || run->wall_s > before->wall_s);
}

int roast_accounting_add(roast_accounting *accounting, roast_run *run,
                         const roast_summary *summary, const char *owner,
                         roast_error *err)
{
    struct roast_counted_run counted = {.state = roast_run_state(run),
                                        .wall_s = NAN,
                                        .seconds = {NAN, NAN, NAN},
                                        .failed_attempts = NAN};
    int64_t start_ns = roast_run_span(run).start_ns;

    if (start_ns < accounting->since_ns || start_ns >= accounting->until_ns)
        return ROAST_OK;
    roast__run_lock(run);
    struct roast_counted_run *entry = entry_of(accounting, run);
    fill_names(&counted, accounting, run, start_ns, owner);
    roast__run_unlock(run);
    fill_numbers(&counted, accounting, summary);
    accounting->failed |= !entry;
    if (entry && knows_more(&counted, entry)) {
        add_parts(&counted, accounting, summary);
        add_findings(&counted, accounting, summary);
        *entry = counted;
    }
    return accounting->failed
               ? roast_error_set(err, ROAST_NO_MEMORY, "the sums of runs")
               : ROAST_OK;
}
