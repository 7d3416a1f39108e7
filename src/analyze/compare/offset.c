/* SPDX-License-Identifier: BSD-3-Clause */
/* offset.c - the offset between two samples, with a confidence interval.
 *
 * The estimate is the median of all pairwise differences; the interval has the offsets
 * that a rank test does not reject. No distribution is assumed, and 10 % of outliers
 * change neither. The k-th of n x m differences is found without computing them: two
 * sorted lists give the number of differences below any value.
 *
 * A rank test assumes independent chunks, but the machine may be slow for a while. So the
 * variance is multiplied by the design effect: the variance of block means relative to
 * that of independent chunks. */
#include <math.h>
#include <stdlib.h>

#include "analyze/compare/compare.h"
#include "base/mem.h"

enum {
    BISECTIONS = 100,
    ENOUGH = 4096,         /* of a longer list, evenly spaced items are used */
    FEWEST_IN_BLOCKS = 32, /* with fewer, blocks are too short */
};

static int by_stratum_and_value(const void *a, const void *b)
{
    const struct roast_chunk_value *left = a, *right = b;

    if (left->stratum != right->stratum)
        return left->stratum < right->stratum ? -1 : 1;
    if (left->value != right->value)
        return left->value < right->value ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

void roast__sample_sort(struct roast_sample_set *set)
{
    if (set->count > 1)
        qsort(set->all, set->count, sizeof(set->all[0]), by_stratum_and_value);
}

/* ---- design effect --------------------------------------------------------------- */

struct ranked {
    uint32_t row;
    double score; /* relative rank in its stratum, -0.5 ... 0.5 */
};

static int by_row(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;

    return (left->row > right->row) - (left->row < right->row);
}

/* The mean of the scores is 0. */
static double effect_of(const struct ranked *ranked, size_t count)
{
    size_t blocks = (size_t)sqrt((double)count);
    size_t length = count / blocks;
    double squares = 0;
    double block_squares = 0;

    for (size_t i = 0; i < count; i++)
        squares += ranked[i].score * ranked[i].score;
    for (size_t block = 0; block < blocks; block++) {
        double sum = 0;
        for (size_t i = 0; i < length; i++)
            sum += ranked[block * length + i].score;
        block_squares += sum * sum;
    }
    double expected = squares / (double)count * (double)length * (double)blocks;
    return expected > 0 ? fmax(1, block_squares / expected) : 1;
}

static int find_effect(double *effect, const struct roast_sample_set *set,
                       const uint32_t *b_row, roast_error *err)
{
    if (set->count < FEWEST_IN_BLOCKS)
        return ROAST_OK;
    struct ranked *ranked = roast__realloc(NULL, set->count * sizeof(ranked[0]));
    if (!ranked)
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu chunks", set->count);
    for (size_t i = 0; i < set->count;) {
        size_t end = i;
        while (end < set->count && set->all[end].stratum == set->all[i].stratum)
            end++;
        size_t first = i;
        for (; i < end; i++) {
            uint32_t row = set->all[i].row;
            ranked[i].row = b_row ? b_row[row] : row;
            ranked[i].score = ((double)(i - first) + 0.5) / (double)(end - first) - 0.5;
        }
    }
    qsort(ranked, set->count, sizeof(ranked[0]), by_row);
    *effect = fmax(*effect, effect_of(ranked, set->count));
    roast__free(ranked);
    return ROAST_OK;
}

/* ---- the k-th difference --------------------------------------------------------- */

/* The share of all pairs with a difference up to `most`. */
typedef double share_below(const void *pairs, double most);

/* The smallest difference with this share of pairs up to it. */
static double find_difference(share_below *share, const void *pairs, double wanted,
                              double widest)
{
    double low = -widest;
    double high = widest;

    for (int i = 0; i < BISECTIONS && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (share(pairs, middle) >= wanted)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static struct roast_offset find_offset(share_below *share, const void *pairs,
                                       double sigma, double widest)
{
    static const double tiny = 1e-9;
    double margin = ROAST_SURE_SIGMAS * sigma;
    double reach = widest * 1.000001 + tiny; /* all differences are within */
    struct roast_offset offset = {0, -INFINITY, INFINITY};

    offset.value = (find_difference(share, pairs, 0.5 - tiny, reach) +
                    find_difference(share, pairs, 0.5 + tiny, reach)) /
                   2;
    if (margin < 0.5) {
        offset.low = find_difference(share, pairs, 0.5 - margin, reach);
        offset.high = find_difference(share, pairs, 0.5 + margin, reach);
    }
    return offset;
}

static double widest_of(const struct roast_sample_set *a,
                        const struct roast_sample_set *b)
{
    double low = INFINITY;
    double high = -INFINITY;

    for (size_t i = 0; i < a->count; i++) {
        low = fmin(low, a->all[i].value);
        high = fmax(high, a->all[i].value);
    }
    for (size_t i = 0; i < b->count; i++) {
        low = fmin(low, b->all[i].value);
        high = fmax(high, b->all[i].value);
    }
    return high - low;
}

/* ---- two samples ----------------------------------------------------------------- */

/* A list, or every step-th item of it. */
struct thinned {
    const struct roast_chunk_value *all;
    size_t count; /* of the whole list */
    size_t step;
};

struct stratum {
    struct thinned part[2];
};

struct strata {
    struct stratum *all; /* owned; those that both samples have */
    size_t count;
};

/* The end of the stratum that begins at `first`. */
static size_t stratum_end(const struct roast_sample_set *set, size_t first)
{
    size_t end = first;

    while (end < set->count && set->all[end].stratum == set->all[first].stratum)
        end++;
    return end;
}

static struct thinned thin(const struct roast_sample_set *set, size_t first, size_t end,
                           size_t step)
{
    size_t count = end - first;

    return (struct thinned){&set->all[first], count, step < count ? step : count};
}

/* Fills `all` (NULL: only counts). */
static size_t find_strata(struct stratum *all, const struct roast_sample_set *a,
                          const struct roast_sample_set *b)
{
    size_t step = (a->count + b->count) / (2 * ENOUGH) + 1;
    size_t count = 0;

    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        int32_t in_a = a->all[i].stratum;
        int32_t in_b = b->all[j].stratum;
        size_t a_end = in_a <= in_b ? stratum_end(a, i) : i;
        size_t b_end = in_b <= in_a ? stratum_end(b, j) : j;
        if (in_a == in_b && all)
            all[count] =
                (struct stratum){{thin(a, i, a_end, step), thin(b, j, b_end, step)}};
        count += in_a == in_b;
        i = a_end;
        j = b_end;
    }
    return count;
}

/* The share of the pairs of one stratum with b - a <= most. */
static double share_in(const struct thinned part[2], double most)
{
    size_t used_a = 0;
    size_t used_b = 0;
    size_t below = 0; /* of b, for the current one of a */
    double pairs = 0;

    for (size_t i = part[1].step / 2; i < part[1].count; i += part[1].step)
        used_b++;
    for (size_t i = part[0].step / 2; i < part[0].count; i += part[0].step) {
        used_a++;
        for (; below < used_b; below++) {
            size_t other = part[1].step / 2 + below * part[1].step;
            if (part[1].all[other].value - part[0].all[i].value > most)
                break;
        }
        pairs += (double)below;
    }
    return pairs / ((double)used_a * (double)used_b);
}

/* Van Elteren's weight of a stratum. */
static double weight_of(const struct stratum *stratum)
{
    double a = (double)stratum->part[0].count;
    double b = (double)stratum->part[1].count;

    return a * b / (a + b + 1);
}

static double share_between(const void *pairs, double most)
{
    const struct strata *strata = pairs;
    double below = 0;
    double all = 0;

    for (size_t i = 0; i < strata->count; i++) {
        double weight = weight_of(&strata->all[i]);
        below += weight * share_in(strata->all[i].part, most);
        all += weight;
    }
    return below / all;
}

/* The standard deviation of the share of pairs below 0, if the samples do not differ. */
static double sigma_between(const struct strata *strata, double effect)
{
    double all = 0;

    for (size_t i = 0; i < strata->count; i++)
        all += weight_of(&strata->all[i]);
    return sqrt(effect / 12 / all); /* the variance is 1/12 of the weights */
}

int roast__offset_between(struct roast_offset *out, const struct roast_sample_set *a,
                          const struct roast_sample_set *b, roast_error *err)
{
    struct strata strata = {NULL, find_strata(NULL, a, b)};
    double effect = 1;
    int status = find_effect(&effect, a, NULL, err);

    *out = (struct roast_offset){NAN, -INFINITY, INFINITY};
    if (status == ROAST_OK)
        status = find_effect(&effect, b, NULL, err);
    if (status < 0 || strata.count == 0)
        return status;
    strata.all = roast__realloc(NULL, strata.count * sizeof(strata.all[0]));
    if (!strata.all)
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu datasets", strata.count);
    (void)find_strata(strata.all, a, b);
    *out = find_offset(share_between, &strata, sigma_between(&strata, effect),
                       widest_of(a, b));
    roast__free(strata.all);
    return ROAST_OK;
}

/* ---- pairs ----------------------------------------------------------------------- */

/* The same for the means of two differences, including each with itself. */
static double share_of_means(const void *pairs, double most)
{
    const struct thinned *list = pairs;
    size_t used = 0;
    size_t alone = 0;
    double both = 0;

    for (size_t i = list->step / 2; i < list->count; i += list->step)
        used++;
    size_t below = used; /* items whose mean with the current one is <= most */
    for (size_t i = 0; i < used; i++) {
        double own = list->all[list->step / 2 + i * list->step].value;
        alone += own <= most;
        while (below > 0 &&
               own + list->all[list->step / 2 + (below - 1) * list->step].value >
                   2 * most)
            below--;
        both += (double)below;
    }
    return (both + (double)alone) / ((double)used * ((double)used + 1));
}

int roast__offset_of(struct roast_offset *out,
                     const struct roast_sample_set *differences, const uint32_t *b_row,
                     roast_error *err)
{
    double n = (double)differences->count;
    struct thinned list = {differences->all, differences->count,
                           differences->count / ENOUGH + 1};
    double effect = 1;
    int status = find_effect(&effect, differences, NULL, err);

    *out = (struct roast_offset){NAN, -INFINITY, INFINITY};
    if (status == ROAST_OK)
        status = find_effect(&effect, differences, b_row, err);
    if (status < 0 || n == 0)
        return status;
    struct roast_chunk_value zero = {.value = 0};
    struct roast_sample_set origin = {&zero, 1};
    double sigma = sqrt((2 * n + 1) / (6 * n * (n + 1)) * effect);
    *out = find_offset(share_of_means, &list, sigma, widest_of(differences, &origin));
    return ROAST_OK;
}
