/* SPDX-License-Identifier: BSD-3-Clause */
/* budget_rows.c - adds the seconds of a job, or of any interval, to the budget.
 *
 * A ladder has the duration of each slice, not its times: seconds are spread evenly over
 * the attempt. A ladder longer than its attempt, of which a part may have been cut off,
 * is scaled down. */
#include "analyze/budget/budget_rows.h"

#include "analyze/calls.h"
#include "analyze/record_iter.h"
#include "analyze/timeline.h"

/* ---- intervals of time ----------------------------------------------------------- */

void roast__budget_set_bins(struct roast_budget *budget)
{
    double length = (double)roast__time_between(budget->start_ns, budget->end_ns);

    for (int bin = 0; bin < ROAST_BUDGET_BINS; bin++)
        budget->bin_from_ns[bin] =
            budget->start_ns + (int64_t)(length * bin / ROAST_BUDGET_BINS);
    budget->bin_from_ns[ROAST_BUDGET_BINS] = INT64_MAX;
}

static int64_t interval_end(const struct roast_phases *phases, size_t number)
{
    return number + 1 < phases->count ? phases->intervals[number + 1].from_ns
                                      : INT64_MAX;
}

static size_t find_bin(const struct roast_budget *budget, int64_t time_ns)
{
    double length = (double)roast__time_between(budget->start_ns, budget->end_ns);
    double passed = (double)roast__time_between(budget->start_ns, time_ns);
    size_t bin = length > 0 ? (size_t)(passed / length * ROAST_BUDGET_BINS) : 0;

    bin = bin < ROAST_BUDGET_BINS ? bin : ROAST_BUDGET_BINS - 1;
    while (bin > 0 && budget->bin_from_ns[bin] > time_ns) /* rounding */
        bin--;
    while (budget->bin_from_ns[bin + 1] <= time_ns)
        bin++;
    return bin;
}

bool roast__cut_next(struct roast_budget *budget, struct roast_cut *cut)
{
    const struct roast_phases *phases = &budget->phases;

    if (cut->from_ns >= cut->to_ns)
        return false;
    /* Nearly always phase and bin are those of the previous call. */
    size_t last = budget->last_interval, bin = budget->last_bin;
    if (cut->from_ns < phases->intervals[last].from_ns ||
        cut->from_ns >= interval_end(phases, last)) {
        size_t begun = roast__count_until(&phases->intervals[0].from_ns,
                                          sizeof(phases->intervals[0]), phases->count,
                                          cut->from_ns);
        budget->last_interval = begun > 0 ? begun - 1 : 0;
    }
    if (cut->from_ns < budget->bin_from_ns[bin] ||
        cut->from_ns >= budget->bin_from_ns[bin + 1])
        budget->last_bin = find_bin(budget, cut->from_ns);
    int64_t phase_end_ns = interval_end(phases, budget->last_interval);
    int64_t bin_end_ns = budget->bin_from_ns[budget->last_bin + 1];
    int64_t until_ns = phase_end_ns < bin_end_ns ? phase_end_ns : bin_end_ns;
    cut->phase = phases->intervals[budget->last_interval].phase;
    cut->bin = budget->last_bin;
    cut->part_from_ns = cut->from_ns;
    cut->part_to_ns = cut->from_ns = until_ns < cut->to_ns ? until_ns : cut->to_ns;
    return true;
}

void roast__cut_add(struct roast_budget *budget, const struct roast_cut *cut,
                    roast_slices own, enum roast_slice slice, double seconds)
{
    budget->by_phase[cut->phase][slice] += seconds;
    budget->by_bin[cut->bin][slice] += seconds;
    own[slice] += seconds;
}

/* Adds seconds by slice, spread over [from, to). */
static void spread(struct roast_budget *budget, int64_t from_ns, int64_t to_ns,
                   const roast_slices slices, roast_slices own)
{
    double length = (double)roast__time_between(from_ns, to_ns);
    struct roast_cut cut = {.from_ns = from_ns, .to_ns = to_ns};

    while (roast__cut_next(budget, &cut)) {
        double share =
            (double)roast__time_between(cut.part_from_ns, cut.part_to_ns) / length;
        for (int i = 0; i < ROAST_SLICES; i++) {
            if (slices[i] > 0)
                roast__cut_add(budget, &cut, own, (enum roast_slice)i,
                               slices[i] * share);
        }
    }
}

/* ---- attempts -------------------------------------------------------------------- */

/* The slices of a ladder are the first slices of the budget, in the same order. */
_Static_assert((int)ROAST_SLICE_import == (int)ROAST_ITEM_import &&
                   (int)ROAST_SLICE_result == (int)ROAST_ITEM_result &&
                   (int)ROAST_ITEM_unnamed == (int)ROAST_ITEM_result + 1,
               "budget_slices.def begins with the slices of ladder_items.def");

enum { LADDER_SLICES = ROAST_ITEM_result + 1 };

/* Clocks count whole nanoseconds: less is a rounding error. */
static const double SHORTEST_S = 0.5e-9;

static void read_ladder(roast_slices slices, const struct roast_summary_context *ctx,
                        size_t row, double length_s)
{
    const uint64_t wanted = ROAST_FIELD_BIT(monitor_ns) | ROAST_FIELD_BIT(ladder);
    struct roast_ladder ladder;
    roast_record rec;
    double monitor_s = 0;

    (void)roast__attempt_fields(ctx->run, row, wanted, &rec);
    if (roast_record_has(&rec, ROAST_FIELD_monitor_ns))
        monitor_s = (double)rec.values[ROAST_FIELD_monitor_ns].u64 / 1e9;
    if (!roast_record_has(&rec, ROAST_FIELD_ladder) ||
        roast_ladder_read(&ladder, rec.values[ROAST_FIELD_ladder].str, NULL) < 0) {
        /* Without a ladder only the duration of process() is known. */
        const struct roast_column *durations =
            &ctx->run->attempts.columns[ROAST_COLUMN_duration_ns];
        int64_t inside_ns = roast__column_get(durations, row, 0);
        slices[ROAST_SLICE_compute] = inside_ns > 0 ? (double)inside_ns / 1e9 : 0;
    } else {
        for (int i = 0; i < LADDER_SLICES; i++)
            slices[i] = (double)ladder.values[i] / 1e9; /* 0 where not known */
        monitor_s += (double)ladder.values[ROAST_ITEM_hook_cost] / 1e9;
    }
    /* The cost of monitoring is part of all measured slices: it is subtracted from them
     * proportionally. Then they are scaled to fit into length_s. */
    double sum = 0;
    for (int i = 0; i < LADDER_SLICES; i++)
        sum += slices[i];
    double taken = monitor_s < sum ? monitor_s : sum;
    double fit = sum > length_s ? length_s / sum : 1;
    double scale = sum > 0 ? (1 - taken / sum) * fit : 1;
    for (int i = 0; i < LADDER_SLICES; i++)
        slices[i] *= scale;
    slices[ROAST_SLICE_monitor] = taken * fit;
    if (length_s - sum > SHORTEST_S)
        slices[ROAST_SLICE_unexplained] = length_s - sum;
}

static void read_row(roast_slices slices, const struct roast_summary_context *ctx,
                     size_t row, double length_s)
{
    switch ((enum roast_role)ctx->totals->roles.of_row[row]) {
    case ROAST_ROLE_COUNTS:
    case ROAST_ROLE_BARE:
        read_ladder(slices, ctx, row, length_s);
        break;
    case ROAST_ROLE_REPEAT:
        slices[ROAST_SLICE_skipped] = length_s;
        break;
    case ROAST_ROLE_FAILED:
        slices[ROAST_SLICE_failed] = length_s;
        break;
    case ROAST_ROLE_LOST:
        slices[ROAST_SLICE_lost] = length_s;
        break;
    case ROAST_ROLE_CANCELLED:
        slices[ROAST_SLICE_cancelled] = length_s;
        break;
    case ROAST_ROLE_OPEN:
    case ROAST_ROLE_COUNT:
        slices[ROAST_SLICE_unexplained] = length_s;
    }
}

/* ---- jobs ------------------------------------------------------------------------ */

/* Time of a job outside its attempts. */
static void add_outside(struct roast_budget *budget, const struct roast_job *job,
                        int64_t from_ns, int64_t to_ns, roast_slices own)
{
    roast_slices slices = {0};

    slices[job->slice] = roast__seconds_between(from_ns, to_ns);
    spread(budget, from_ns, to_ns, slices, own);
}

void roast__budget_add_job(struct roast_budget *budget,
                           const struct roast_summary_context *ctx,
                           const struct roast_job *job, const int64_t fitted[2],
                           roast_slices own)
{
    int64_t left[2] = {fitted[0], fitted[1]};

    for (uint32_t i = 0; i < job->row_count; i++) {
        uint32_t row = budget->schedule.rows[job->first_row + i];
        int64_t times[2];
        /* an attempt that never ended lasts to the end of its job */
        int64_t start_ns = left[0], stop_ns = left[1];
        bool is_last = i + 1 == job->row_count;
        bool known =
            roast__attempt_times(&ctx->run->attempts, row, &start_ns, &stop_ns);
        if (!known || (is_last && stop_ns <= start_ns))
            stop_ns = left[1];
        times[0] = roast__time_clamp(start_ns, left[0], left[1]);
        times[1] = roast__time_clamp(stop_ns, times[0], left[1]);
        add_outside(budget, job, left[0], times[0], own);
        const struct roast_attempts *attempts = &ctx->run->attempts;
        int32_t source = attempts->source[row];
        roast_slices slices = {0};
        read_row(slices, ctx, row, roast__seconds_between(times[0], times[1]));
        spread(budget, times[0], times[1], slices, own);
        size_t of = source >= 0 ? (size_t)source : attempts->source_count;
        for (int slice = 0; slice < ROAST_SLICES; slice++)
            budget->by_source[of][slice] += slices[slice];
        left[0] = times[1];
    }
    add_outside(budget, job, left[0], left[1], own);
}
