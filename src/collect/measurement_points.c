/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_points.c - samples of workers: their zone, their order, one moment after
 * the other. */
#include "collect/measurement_points.h"

#include <math.h>
#include <stdlib.h>

static const double us_per_s = 1e6;
static const double most_workers = 2147483648.0;
static const int64_t quarter_us = INT64_C(15) * 60 * 1000000; /* zones differ by them */
static const int64_t furthest_us = INT64_C(15) * 3600 * 1000000;
static const int64_t slack_us = INT64_C(5) * 60 * 1000000;

/* ---- zone ------------------------------------------------------------------------ */

static bool is_naive(const struct point *point)
{
    return signbit(point->value);
}

/* By how much a clock is ahead of UTC; false if it is no zone. */
static bool zone_of(int64_t ahead_us, int64_t *zone_us)
{
    int64_t half = ahead_us < 0 ? -quarter_us / 2 : quarter_us / 2;

    *zone_us = (ahead_us + half) / quarter_us * quarter_us;
    return *zone_us >= -furthest_us && *zone_us <= furthest_us;
}

static bool zone_of_last_seen(const struct roast_tracking_draft *draft,
                              int64_t *zone_us)
{
    size_t count, point_count;
    const struct run *runs = roast__runs(draft, &count);
    const struct point *points = roast__points(&draft->points, &point_count);

    for (size_t i = 0; i < count; i++) {
        if (runs[i].series != ROAST_SERIES_last_seen)
            continue;
        const struct point *point = &points[runs[i].first];
        double seen_us = fabs(point->value) * us_per_s;
        if (!is_naive(point) || !(seen_us < 9e18))
            continue;
        int64_t ahead_us = point->time_us - (int64_t)seen_us;
        if (zone_of(ahead_us, zone_us) && llabs(ahead_us - *zone_us) <= slack_us)
            return true;
    }
    return false;
}

static void find_ends(const struct point *points, size_t count, int64_t *first_us,
                      int64_t *last_us)
{
    for (size_t i = 0; i < count; i++) {
        if (points[i].time_us < *first_us)
            *first_us = points[i].time_us;
        if (points[i].time_us > *last_us)
            *last_us = points[i].time_us;
    }
}

static void all_ends(const struct roast_tracking_draft *draft, int64_t *first_us,
                     int64_t *last_us)
{
    const struct roast_buf *both[] = {&draft->counts, &draft->points};

    *first_us = INT64_MAX;
    *last_us = INT64_MIN;
    for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
        size_t count;
        const struct point *points = roast__points(both[i], &count);
        find_ends(points, count, first_us, last_us);
    }
}

/* The last chunk ended soon before the last sample, and after the first one. */
static bool zone_of_chunks(const struct roast_tracking_draft *draft,
                           int64_t last_end_ns, int64_t *zone_us)
{
    int64_t last_end_us = last_end_ns / 1000;
    int64_t first_us, last_us;

    all_ends(draft, &first_us, &last_us);
    if (last_end_ns == INT64_MIN || first_us > last_us ||
        !zone_of(last_us - last_end_us, zone_us))
        return false;
    int64_t end_us = last_end_us + *zone_us;
    return end_us >= first_us - slack_us && end_us <= last_us + slack_us;
}

static void shift(const struct roast_buf *buf, int64_t zone_us)
{
    size_t count;
    struct point *points = roast__points(buf, &count);

    for (size_t i = 0; i < count; i++) {
        if (is_naive(&points[i]))
            points[i].time_us -= zone_us;
        points[i].value = fabs(points[i].value);
    }
}

void roast__tracking_find_zone(struct roast_tracking_draft *draft, int64_t last_end_ns)
{
    int64_t zone_us = 0;

    if (!zone_of_last_seen(draft, &zone_us) &&
        !zone_of_chunks(draft, last_end_ns, &zone_us))
        zone_us = 0;
    shift(&draft->points, zone_us);
    shift(&draft->counts, zone_us);
}

bool roast__tracking_span(const struct roast_tracking_draft *draft, int64_t *first_ns,
                          int64_t *last_ns)
{
    int64_t first_us, last_us;

    all_ends(draft, &first_us, &last_us);
    if (first_us > last_us)
        return false;
    *first_ns = first_us * 1000;
    *last_ns = last_us * 1000;
    return true;
}

/* ---- order ----------------------------------------------------------------------- */

static bool is_before(const struct point *a, const struct point *b)
{
    return a->time_us != b->time_us ? a->time_us < b->time_us : a->value < b->value;
}

static void sift_down(struct point *points, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(&points[child], &points[child + 1]))
            child++;
        if (!is_before(&points[at], &points[child]))
            return;
        struct point moved = points[at];
        points[at] = points[child];
        points[child] = moved;
    }
}

void roast__points_sort(struct point *points, size_t count)
{
    bool sorted = true;

    for (size_t i = 1; i < count && sorted; i++)
        sorted = !is_before(&points[i], &points[i - 1]);
    if (sorted)
        return;
    for (size_t i = count / 2; i-- > 0;)
        sift_down(points, i, count);
    for (size_t end = count; end-- > 1;) {
        struct point last = points[end];
        points[end] = points[0];
        points[0] = last;
        sift_down(points, 0, end);
    }
}

/* By worker and series; the later of equal ones last. */
static int by_worker(const void *a, const void *b)
{
    const struct run *left = a, *right = b;

    if (left->worker != right->worker)
        return left->worker < right->worker ? -1 : 1;
    if (left->series != right->series)
        return left->series < right->series ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

/* ---- telling --------------------------------------------------------------------- */

/* The series of one worker, each at its next point. */
struct merge {
    const struct point *next[ROAST_SERIES_COUNT];
    const struct point *end[ROAST_SERIES_COUNT];
};

/* Puts all values of the earliest moment into the sample; false at the end. */
static bool next_moment(struct merge *merge, roast_sample *sample)
{
    int64_t time_us = INT64_MAX;

    sample->present = 0;
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        if (merge->next[i] != merge->end[i] && merge->next[i]->time_us < time_us)
            time_us = merge->next[i]->time_us;
    }
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        for (; merge->next[i] != merge->end[i] && merge->next[i]->time_us == time_us;
             merge->next[i]++)
            roast_sample_set(sample, (enum roast_series)i, merge->next[i]->value);
    }
    if (sample->present == 0)
        return false;
    sample->time_ns = time_us * 1000;
    return true;
}

static int tell_worker(struct merge *merge, struct roast_str name,
                       const struct roast_measurement_sink *sink, roast_error *err)
{
    roast_sample sample = {.worker = name};

    while (next_moment(merge, &sample)) {
        int status = sink->sample(sink->context, &sample, err);
        if (status < 0)
            return status;
    }
    return ROAST_OK;
}

static int tell_samples(struct roast_tracking_draft *draft,
                        const struct roast_measurement_sink *sink, roast_error *err)
{
    size_t count, point_count;
    struct run *runs = roast__runs(draft, &count);
    struct point *points = roast__points(&draft->points, &point_count);

    if (count > 0)
        qsort(runs, count, sizeof(runs[0]), by_worker);
    for (size_t i = 0; i < count;) {
        struct merge merge = {{NULL}, {NULL}};
        uint32_t worker = runs[i].worker;
        for (; i < count && runs[i].worker == worker; i++) {
            struct point *first = points + runs[i].first;
            roast__points_sort(first, runs[i].count);
            merge.next[runs[i].series] = first;
            merge.end[runs[i].series] = first + runs[i].count;
        }
        int status = tell_worker(&merge, roast__name_set_get(&draft->workers, worker),
                                 sink, err);
        if (status < 0)
            return status;
    }
    return ROAST_OK;
}

int roast__tracking_tell(struct roast_tracking_draft *draft,
                         const struct roast_measurement_sink *sink, roast_error *err)
{
    size_t count;
    struct point *counts = roast__points(&draft->counts, &count);

    roast__points_sort(counts, count);
    for (size_t i = 0; i < count; i++) {
        bool fits = counts[i].value < most_workers;
        int status = fits ? sink->count(sink->context, counts[i].time_us * 1000,
                                        (uint64_t)counts[i].value, err)
                          : ROAST_OK;
        draft->unplaced += !fits;
        if (status < 0)
            return status;
    }
    return tell_samples(draft, sink, err);
}
