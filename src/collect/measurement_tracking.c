/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_tracking.c - reads the samples of workers that a measurement holds.
 *
 * A file has one series after the other, a run wants one moment after the other: points
 * are kept, 16 bytes each, until all series were read. */
#include "collect/measurement_tracking.h"

#include <math.h>

#include "collect/json_bytes.h"
#include "collect/measurement_points.h"
#include "collect/measurement_time.h"

void roast__tracking_clear(struct roast_tracking_draft *draft)
{
    roast__buf_clear(&draft->points);
    roast__buf_clear(&draft->runs);
    roast__buf_clear(&draft->counts);
    draft->unplaced = 0;
    draft->any = false;
}

void roast__tracking_release(struct roast_tracking_draft *draft)
{
    roast__buf_release(&draft->points);
    roast__buf_release(&draft->runs);
    roast__buf_release(&draft->counts);
    roast__name_set_release(&draft->workers);
}

/* A point that is being read from its two halves. */
struct half_point {
    bool has_time, naive, has_value;
    int64_t time_us;
    double value;
};

static void set_time(struct half_point *half, struct roast_str text)
{
    half->has_time = roast__iso_time(text, &half->time_us, &half->naive);
}

static void set_value(struct half_point *half, const struct roast_json_token *value)
{
    half->has_value = roast__value_number(value, &half->value) && half->value >= 0;
}

static void keep(struct roast_tracking_draft *draft, struct roast_buf *points,
                 const struct half_point *half)
{
    double value = fabs(half->value);
    struct point point = {half->time_us, half->naive ? -value : value};

    if (!half->has_time || !half->has_value) {
        draft->unplaced++;
        return;
    }
    roast__json_room(points, sizeof(point));
    roast__buf_put(points, &point, sizeof(point));
}

/* [time, value] */
static int read_pair(struct half_point *half, struct roast_json_reader *in,
                     roast_error *err)
{
    struct roast_json_token part;
    size_t parts = 0;
    int got;

    for (; (got = roast__json_item(in, &part, err)) == 1; parts++) {
        if (parts == 0 && part.kind == ROAST_JSON_TEXT)
            set_time(half, part.text);
        else if (parts == 1)
            set_value(half, &part);
        int status = roast__json_skip(in, &part, err);
        if (status < 0)
            return status;
    }
    half->has_time = half->has_time && parts == 2;
    return got;
}

/* {"timestamp": time, what it is: value} */
static int read_object(struct half_point *half, struct roast_json_reader *in,
                       roast_error *err)
{
    struct roast_json_token value;
    struct roast_str key;
    int got;

    while ((got = roast__json_entry(in, &key, &value, err)) == 1) {
        if (roast__str_is(key, "timestamp"))
            set_time(half,
                     value.kind == ROAST_JSON_TEXT ? value.text : roast_str_of(""));
        else if (!half->has_value)
            set_value(half, &value);
        int status = roast__json_skip(in, &value, err);
        if (status < 0)
            return status;
    }
    return got;
}

/* A list of either. */
static int read_points(struct roast_tracking_draft *draft, struct roast_buf *points,
                       struct roast_json_reader *in, roast_error *err)
{
    struct roast_json_token item;
    int got;

    while ((got = roast__json_item(in, &item, err)) == 1) {
        struct half_point half = {.has_time = false};
        int status = ROAST_OK;
        if (item.kind == ROAST_JSON_LIST)
            status = read_pair(&half, in, err);
        else if (item.kind == ROAST_JSON_DICT)
            status = read_object(&half, in, err);
        if (status < 0)
            return status;
        keep(draft, points, &half);
    }
    return got;
}

/* {time: number} or a list of points. */
static int read_counts(struct roast_tracking_draft *draft, struct roast_json_reader *in,
                       const struct roast_json_token *value, roast_error *err)
{
    struct roast_json_token count;
    struct roast_str key;
    int got;

    roast__buf_clear(&draft->counts);
    if (value->kind == ROAST_JSON_LIST)
        return read_points(draft, &draft->counts, in, err);
    while ((got = roast__json_entry(in, &key, &count, err)) == 1) {
        struct half_point half = {.has_time = false};
        set_time(&half, key);
        set_value(&half, &count);
        keep(draft, &draft->counts, &half);
        int status = roast__json_skip(in, &count, err);
        if (status < 0)
            return status;
    }
    return got;
}

/* {worker: [points]} */
static int read_series(struct roast_tracking_draft *draft, uint32_t series,
                       struct roast_json_reader *in, roast_error *err)
{
    struct roast_json_token line;
    struct roast_str worker;
    int got;

    while ((got = roast__json_entry(in, &worker, &line, err)) == 1) {
        int64_t number = roast__name_set_number(&draft->workers, worker);
        struct run run = {.series = series};
        size_t before = draft->points.size_bytes;
        int status = line.kind == ROAST_JSON_LIST
                         ? read_points(draft, &draft->points, in, err)
                         : roast__json_skip(in, &line, err);
        draft->unplaced += line.kind != ROAST_JSON_LIST;
        if (status < 0)
            return status;
        if (number < 0)
            return roast_error_set(err, ROAST_NO_MEMORY, "a worker");
        run.worker = (uint32_t)number;
        run.first = before / sizeof(struct point);
        run.count = (draft->points.size_bytes - before) / sizeof(struct point);
        if (run.count == 0)
            continue;
        roast__json_room(&draft->runs, sizeof(run));
        roast__buf_put(&draft->runs, &run, sizeof(run));
    }
    return got;
}

static int find_series(struct roast_str key)
{
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        if (roast__str_is(key, roast_series_info((enum roast_series)i)->key))
            return i;
    }
    return -1;
}

int roast__tracking_read(struct roast_tracking_draft *draft,
                         struct roast_json_reader *in,
                         const struct roast_json_token *value,
                         struct roast_json_copy *rest, roast_error *err)
{
    struct roast_json_token series;
    struct roast_str key;
    int got;

    roast__tracking_clear(draft);
    draft->any = true;
    if (value->kind != ROAST_JSON_DICT)
        return roast__json_skip(in, value, err);
    while ((got = roast__json_entry(in, &key, &series, err)) == 1) {
        bool is_container = roast__json_is_container(&series);
        int known = find_series(key);
        int status;
        if (is_container && roast__str_is(key, "worker_counts"))
            status = read_counts(draft, in, &series, err);
        else if (series.kind == ROAST_JSON_DICT && known >= 0)
            status = read_series(draft, (uint32_t)known, in, err);
        else
            status = roast__json_copy_entry(rest, in, key, &series, err);
        if (status < 0)
            return status;
    }
    if (!roast__buf_ok(&draft->points) || !roast__buf_ok(&draft->runs) ||
        !roast__buf_ok(&draft->counts))
        return roast_error_set(err, ROAST_NO_MEMORY, "samples of workers");
    return got;
}
