/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.c - compares two runs: chunk by chunk, and metric by metric. */
#include "analyze/compare/compare.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/compare/first_difference.h"
#include "analyze/summary.h"
#include "base/mem.h"

/* Chunks are compared in pairs if this share of them is in both runs. */
static const double paired_share = 0.8;

static const struct roast_measure_info measures[ROAST_MEASURE_COUNT] = {
#define COL(name) ROAST_COL_chunks_##name
#define M(name, column, minus, per, unit, shown, text) \
    {#name, (column), (minus), (per), (unit), (shown), (text)},
#include "roast/compare_measures.def"
#undef M
#undef COL
};

const struct roast_measure_info *roast_measure_info(enum roast_measure measure)
{
    return &measures[measure];
}

const char *roast_change_name(enum roast_change change)
{
    static const char *const names[] = {"unknown", "none", "more", "less"};

    return names[change];
}

static const char *const slice_names[ROAST_COMPARED_SLICES] = {
#define S(name, shown, text) #name,
#include "roast/budget_slices.def"
#undef S
};

const char *roast_slice_name(enum roast_compared_slice slice)
{
    return slice_names[slice];
}

const char *roast_slice_shown(enum roast_compared_slice slice)
{
    static const char *const shown_as[ROAST_COMPARED_SLICES] = {
#define S(name, shown, text) (shown),
#include "roast/budget_slices.def"
#undef S
    };

    return shown_as[slice];
}

enum roast_measure roast_compare_main(const struct roast_comparison *comparison)
{
    const struct roast_contrast *attempt =
        &comparison->measures[ROAST_MEASURE_task_cpu_per_event];
    const struct roast_contrast *process =
        &comparison->measures[ROAST_MEASURE_cpu_per_event];

    bool has_fewer =
        attempt->a_chunks < process->a_chunks || attempt->b_chunks < process->b_chunks;

    return attempt->why && has_fewer ? ROAST_MEASURE_cpu_per_event
                                     : ROAST_MEASURE_task_cpu_per_event;
}

bool roast_contrast_exceeds(const struct roast_contrast *contrast, double percent)
{
    return contrast->change == ROAST_CHANGE_MORE && contrast->low > 1 + percent / 100;
}

/* ---- samples --------------------------------------------------------------------- */

/* The dataset in words of A; -1: the other run does not have it. 0 for all chunks if a
 * run has no datasets. */
static int32_t stratum_of(const struct roast_match *match, int side,
                          const struct roast_table_column *datasets, size_t row)
{
    int32_t word = roast__data_word(datasets, row);

    if (!match->by_dataset)
        return 0;
    if (side == 1 && word >= 0)
        return match->datasets[word];
    return word >= 0 && match->shared[word] ? word : -1;
}

/* The chunks with a value, in datasets of both runs. */
static int fill_sample(struct roast_sample_set *set, const struct roast_match *match,
                       int side, enum roast_measure measure, roast_error *err)
{
    const roast_table *chunks = match->chunks[side];
    const struct roast_table_column *datasets =
        roast__chunk_column(chunks, ROAST_COL_chunks_dataset);
    size_t rows = roast_table_rows(chunks);

    set->all = roast__realloc(NULL, (rows + 1) * sizeof(set->all[0]));
    if (!set->all)
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu chunks", rows);
    for (size_t row = 0; row < rows; row++) {
        double value = roast__measured_at(chunks, measure, row);
        int32_t stratum = stratum_of(match, side, datasets, row);
        if (isnan(value) || stratum < 0)
            continue;
        set->all[set->count++] =
            (struct roast_chunk_value){log(value), stratum, (uint32_t)row};
    }
    roast__sample_sort(set);
    return ROAST_OK;
}

/* log B - log A of the chunks in both runs. */
static int fill_differences(struct roast_sample_set *set,
                            const struct roast_match *match, enum roast_measure measure,
                            roast_error *err)
{
    size_t rows = roast_table_rows(match->chunks[0]);

    set->all = roast__realloc(NULL, (rows + 1) * sizeof(set->all[0]));
    if (!set->all)
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu chunks", rows);
    for (size_t row = 0; row < rows; row++) {
        if (match->b_row[row] == UINT32_MAX)
            continue;
        double ratio =
            roast__measured_at(match->chunks[1], measure, match->b_row[row]) /
            roast__measured_at(match->chunks[0], measure, row);
        if (isfinite(ratio) && ratio > 0) /* it may overflow */
            set->all[set->count++] =
                (struct roast_chunk_value){log(ratio), 0, (uint32_t)row};
    }
    roast__sample_sort(set);
    return ROAST_OK;
}

static int by_value(const void *a, const void *b)
{
    const struct roast_chunk_value *left = a, *right = b;

    return (left->value > right->value) - (left->value < right->value);
}

/* Leaves the set sorted by value alone. */
static double median_of(struct roast_sample_set *set)
{
    size_t half = set->count / 2;

    if (set->count == 0)
        return NAN;
    qsort(set->all, set->count, sizeof(set->all[0]), by_value);
    double upper = exp(set->all[half].value);
    return set->count % 2 ? upper : (exp(set->all[half - 1].value) + upper) / 2;
}

/* ---- a measure ------------------------------------------------------------------- */

/* Outside process() none of the user's code runs. */
static bool is_of_process(enum roast_measure measure)
{
    return measure != ROAST_MEASURE_outside_cpu_per_event;
}

static const char *why_not(const struct roast_contrast *contrast,
                           const struct roast_match *match,
                           const struct roast_offset *offset)
{
    if (match->by_dataset && !match->any_shared)
        return "the runs have no dataset in common";
    if (contrast->a_chunks == 0 || contrast->b_chunks == 0)
        return "it is not known for any chunk of a run";
    if (contrast->a_chunks < ROAST_FEWEST_CHUNKS ||
        contrast->b_chunks < ROAST_FEWEST_CHUNKS)
        return "fewer than 8 chunks in a run";
    if (isinf(offset->low))
        return "successive chunks are too similar";
    return NULL;
}

static bool are_paired(size_t pairs, size_t a_chunks, size_t b_chunks)
{
    size_t most = a_chunks > b_chunks ? a_chunks : b_chunks;

    return pairs >= ROAST_FEWEST_CHUNKS && (double)pairs >= paired_share * (double)most;
}

/* Keeps the medians alone. */
static void forget(struct roast_contrast *contrast, const char *why)
{
    contrast->ratio = contrast->low = contrast->high = NAN;
    contrast->change = ROAST_CHANGE_UNKNOWN;
    contrast->why = why;
}

static int contrast_measure(struct roast_contrast *out, const struct roast_match *match,
                            enum roast_measure measure, roast_error *err)
{
    struct roast_sample_set a = {NULL, 0};
    struct roast_sample_set b = {NULL, 0};
    struct roast_sample_set differences = {NULL, 0};
    struct roast_offset offset = {NAN, -INFINITY, INFINITY};
    int status = fill_sample(&a, match, 0, measure, err);

    *out = (struct roast_contrast){.a_chunks = a.count};
    if (status == ROAST_OK)
        status = fill_sample(&b, match, 1, measure, err);
    if (status == ROAST_OK)
        status = fill_differences(&differences, match, measure, err);
    if (status < 0)
        goto out;
    out->b_chunks = b.count;
    if (are_paired(differences.count, a.count, b.count)) {
        out->pairs = differences.count;
        status = roast__offset_of(&offset, &differences, match->b_row, err);
    } else {
        status = roast__offset_between(&offset, &a, &b, err);
    }
    out->a_median = median_of(&a);
    out->b_median = median_of(&b);
    out->why = why_not(out, match, &offset);
    forget(out, out->why);
    if (!out->why) {
        out->ratio = exp(offset.value);
        out->low = exp(offset.low);
        out->high = exp(offset.high);
        out->change = ROAST_CHANGE_NONE;
        if (out->low > 1)
            out->change = ROAST_CHANGE_MORE;
        else if (out->high < 1)
            out->change = ROAST_CHANGE_LESS;
    }
out:
    roast__free(a.all);
    roast__free(b.all);
    roast__free(differences.all);
    return status;
}

/* ---- metric by metric ------------------------------------------------------------ */

static struct roast_compared compared(double a, double b)
{
    double ratio = b / a;

    return (struct roast_compared){a, b, isfinite(ratio) ? ratio : NAN};
}

static double metric_of(const struct roast_side *side, int metric)
{
    return roast__summary_metric(side->summary, (enum roast_metric)metric);
}

static double slice_of(const struct roast_side *side, int slice)
{
    return roast_table_number(roast_summary_table(side->summary, ROAST_TABLE_budget), 0,
                              ROAST_COL_budget_import + slice);
}

int roast_compare(struct roast_comparison *out, const struct roast_side *a,
                  const struct roast_side *b, roast_error *err)
{
    const struct roast_side sides[2] = {*a, *b};
    struct roast_match match;
    int status = roast__match_find(&match, a->chunks, b->chunks, err);

    *out = (struct roast_comparison){.first = ""};
    for (int i = 0; i < ROAST_METRIC_COUNT; i++)
        out->metrics[i] = compared(metric_of(a, i), metric_of(b, i));
    for (int i = 0; i < ROAST_COMPARED_SLICES; i++)
        out->slices[i] = compared(slice_of(a, i), slice_of(b, i));
    if (status == ROAST_OK)
        roast__find_differences(out, &match, sides);
    for (int i = 0; status == ROAST_OK && i < ROAST_MEASURE_COUNT; i++) {
        enum roast_measure measure = (enum roast_measure)i;
        status = contrast_measure(&out->measures[i], &match, measure, err);
        if (*out->differs[ROAST_DIFFERS_processor] && is_of_process(measure))
            forget(&out->measures[i], "the runs are of different processors");
    }
    if (status == ROAST_OK)
        roast__compare_first(out);
    roast__match_release(&match);
    return status;
}
