/* SPDX-License-Identifier: BSD-3-Clause */
/* sums.c - the sums over the runs of the accounting, by one of their names. */
#include <math.h>
#include <stdlib.h>

#include "analyze/accounting/accounting.h"
#include "analyze/key_table.h"
#include "base/mem.h"
#include "base/str.h"

static const double hour_s = 3600;

struct sums {
    struct roast_account row; /* hours are seconds, and so is the cost of the finding */
    double used_s;            /* of the runs that have both */
    double offered_s;
};

struct finding_sums {
    size_t runs;
    double cost_s; /* NaN: not known of any */
};

struct grouping {
    const roast_accounting *accounting;
    struct roast_key_table groups; /* of sums; the key is the word of the name */
    struct roast_key_table
        findings; /* of finding_sums; group and word of the finding */
};

/* NaN counts as nothing, two of them are NaN. */
static double add(double sum, double value)
{
    if (isnan(value))
        return sum;
    return isnan(sum) ? value : sum + value;
}

static void add_seconds(struct sums *sums, const roast_accounting *accounting,
                        const struct roast_counted_run *run, const double *share)
{
    struct roast_account *row = &sums->row;
    double offered_s = run->seconds[ROAST_HOURS_OFFERED] * share[ROAST_HOURS_OFFERED];
    double used_s = run->seconds[ROAST_HOURS_USED] * share[ROAST_HOURS_USED];

    for (int i = 0; i < ROAST_HOURS_COUNT; i++) {
        double seconds = run->seconds[i] * share[i];
        row->hours[i] = add(row->hours[i], seconds);
        if (isnan(seconds) && row->without[i]++ == 0)
            row->why[i] = isnan(run->seconds[i])
                              ? roast__strings_get(&accounting->words, run->why[i])
                              : roast_str_of("the time of its chunks is not known");
    }
    if (isnan(used_s) || isnan(offered_s))
        return;
    sums->used_s += used_s;
    sums->offered_s += offered_s;
}

static bool add_findings(struct grouping *grouping, uint64_t group,
                         const struct roast_counted_run *run, double share)
{
    for (size_t i = 0; i < run->finding_count; i++) {
        const struct roast_run_finding *one =
            &grouping->accounting->findings[run->first_finding + i];
        struct roast_key key = {.a = group, .b = (uint32_t)one->id};
        size_t before = grouping->findings.count;
        int64_t number = roast__key_number(&grouping->findings, key, ROAST_NO_HINT);
        if (number < 0)
            return false;
        struct finding_sums *sums =
            (struct finding_sums *)grouping->findings.values + number;
        if (before < grouping->findings.count)
            sums->cost_s = NAN;
        sums->runs++;
        sums->cost_s = add(sums->cost_s, one->cost_s * share);
    }
    return true;
}

/* Adds a run, or the part of a dataset in it; false: out of memory. */
static bool add_run(struct grouping *grouping, const struct roast_counted_run *run,
                    int32_t name, const struct roast_run_part *part)
{
    struct roast_key key = {.a = (uint32_t)name};
    size_t before = grouping->groups.count;
    int64_t number = roast__key_number(&grouping->groups, key, ROAST_NO_HINT);

    if (number < 0)
        return false;
    struct sums *sums = (struct sums *)grouping->groups.values + number;
    if (before < grouping->groups.count)
        sums->row = (struct roast_account){
            .name = roast__strings_get(&grouping->accounting->words, name),
            .hours = {NAN, NAN, NAN},
            .failed_attempts = NAN,
            .finding_hours = NAN};
    sums->row.runs++;
    sums->row.failed_runs +=
        run->state == ROAST_IS_failed || run->state == ROAST_IS_interrupted;
    sums->row.unfinished_runs += run->state == ROAST_IS_unfinished;
    sums->row.failed_attempts = add(sums->row.failed_attempts, part->failed_attempts);
    add_seconds(sums, grouping->accounting, run, part->share);
    return add_findings(grouping, (uint64_t)number, run,
                        part->share[ROAST_HOURS_OFFERED]);
}

static bool add_runs(struct grouping *grouping, enum roast_account_by by)
{
    const roast_accounting *accounting = grouping->accounting;
    bool done = true;

    for (size_t i = 0; i < accounting->run_count && done; i++) {
        const struct roast_counted_run *run = &accounting->runs[i];
        const struct roast_run_part *parts = &accounting->parts[run->first_part];
        const struct roast_run_part whole = {
            ROAST_NO_STRING, {1, 1, 1}, run->failed_attempts};
        for (size_t part = 0; by == ROAST_BY_dataset && part < run->part_count; part++)
            done = done && add_run(grouping, run, parts[part].dataset, &parts[part]);
        if (by != ROAST_BY_dataset)
            done = add_run(grouping, run, run->names[by], &whole);
    }
    return done;
}

/* ---- rows ------------------------------------------------------------------------ */

static void choose_findings(struct grouping *grouping)
{
    for (size_t i = 0; i < grouping->findings.count; i++) {
        const struct finding_sums *one =
            (const struct finding_sums *)grouping->findings.values + i;
        struct roast_key key = grouping->findings.keys[i];
        struct roast_account *row =
            &((struct sums *)grouping->groups.values + key.a)->row;
        if (one->runs < row->finding_runs ||
            (one->runs == row->finding_runs && !(one->cost_s > row->finding_hours)))
            continue;
        row->finding = roast__strings_get(&grouping->accounting->words, (int32_t)key.b);
        row->finding_runs = one->runs;
        row->finding_hours = one->cost_s;
    }
}

static struct roast_account row_of(const struct sums *sums)
{
    struct roast_account row = sums->row;

    for (int i = 0; i < ROAST_HOURS_COUNT; i++)
        row.hours[i] /= hour_s;
    row.finding_hours /= hour_s;
    row.efficiency = sums->offered_s > 0 ? sums->used_s / sums->offered_s : NAN;
    return row;
}

static int by_name(const void *a, const void *b)
{
    const struct roast_account *left = a, *right = b;

    if ((left->name.data == NULL) != (right->name.data == NULL))
        return left->name.data ? -1 : 1;
    return roast__str_compare(left->name, right->name);
}

static int by_hours(const void *a, const void *b)
{
    const struct roast_account *left = a, *right = b;

    for (int i = 0; i < ROAST_HOURS_COUNT && left->name.data && right->name.data; i++) {
        double more = isnan(left->hours[i]) ? -1 : left->hours[i];
        double less = isnan(right->hours[i]) ? -1 : right->hours[i];
        if (more != less)
            return more > less ? -1 : 1;
    }
    return by_name(a, b);
}

int roast_accounting_sum(struct roast_accounts *out, const roast_accounting *accounting,
                         enum roast_account_by by, roast_error *err)
{
    struct grouping grouping = {
        .accounting = accounting,
        .groups = {.value_bytes = sizeof(struct sums)},
        .findings = {.value_bytes = sizeof(struct finding_sums)},
    };
    bool done = add_runs(&grouping, by);
    size_t count = grouping.groups.count;

    *out = (struct roast_accounts){.items = NULL};
    if (done && count > 0) {
        out->items = roast__alloc(count * sizeof(out->items[0]));
        done = out->items != NULL;
    }
    if (done && count > 0) {
        choose_findings(&grouping);
        for (size_t i = 0; i < count; i++)
            out->items[i] = row_of((const struct sums *)grouping.groups.values + i);
        out->count = count;
        qsort(out->items, count, sizeof(out->items[0]),
              by == ROAST_BY_week ? by_name : by_hours);
    }
    roast__key_table_release(&grouping.groups);
    roast__key_table_release(&grouping.findings);
    return done ? ROAST_OK : roast_error_set(err, ROAST_NO_MEMORY, "the sums of runs");
}

void roast_accounts_release(struct roast_accounts *accounts)
{
    roast__free(accounts->items);
    *accounts = (struct roast_accounts){.items = NULL};
}
