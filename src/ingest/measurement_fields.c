/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_fields.c - the fields of a record that stand under names of
 * record_views.def.
 *
 * Seconds of the epoch have steps of 238 ns as doubles. The start of a record of ours is
 * the moment that gives both its t_start and its t_end again, which narrows it down. */
#include <math.h>
#include <string.h>

#include "ingest/measurement_making.h"
#include "roast/view.h"

/* ---- views ----------------------------------------------------------------------- */

/* A whole number keeps all its digits; one that 64 bits do not hold is absent. */
static void set_count(roast_record *rec, const struct roast_view *view,
                      const struct roast_json_token *value)
{
    double number;

    if (value->kind == ROAST_JSON_INT && !value->negative)
        roast_record_set_u64(rec, view->field, value->size);
    else if (value->kind != ROAST_JSON_INT && value->kind != ROAST_JSON_BIG &&
             roast__value_number(value, &number))
        roast_view_set(rec, view, number);
}

static void set_peak_kind(roast_record *rec, enum roast_field field,
                          struct roast_str word)
{
    if (roast__str_is(word, "exact"))
        roast_record_set_u64(rec, field, ROAST_PEAK_EXACT);
    else if (roast__str_is(word, "sampled"))
        roast_record_set_u64(rec, field, ROAST_PEAK_SAMPLED);
}

static void set_view(struct making *making, const struct roast_view *view,
                     const struct roast_draft_value *value)
{
    struct roast_str text = roast__texts_get(&making->draft->texts, value->text);
    roast_record *rec = &making->rec;
    double number = 0;
    bool is_number = roast__value_number(&value->token, &number);

    switch (view->kind) {
    case ROAST_VIEW_TEXT:
        roast_record_set_str(rec, view->field, text);
        break;
    case ROAST_VIEW_COUNT:
    case ROAST_VIEW_FLAG:
        set_count(rec, view, &value->token);
        break;
    case ROAST_VIEW_SECONDS:
    case ROAST_VIEW_EPOCH_S:
    case ROAST_VIEW_GB:
    case ROAST_VIEW_MIB:
        if (is_number)
            roast_view_set(rec, view, number);
        break;
    case ROAST_VIEW_STATUS:
        roast_record_set_u64(rec, view->field,
                             roast__str_is(text, "failed") ? ROAST_CHUNK_FAILED
                                                           : ROAST_CHUNK_OK);
        break;
    case ROAST_VIEW_PEAK_KIND:
        if (making->is_ours)
            set_peak_kind(rec, view->field, text);
        break;
    default: /* made from other fields */
        break;
    }
}

/* Items that stand beside the ladder, by their kind: seconds or a number. */
static void set_item(struct roast_ladder *ladder, enum roast_ladder_item item,
                     const struct roast_json_token *value)
{
    enum roast_ladder_kind kind = roast_ladder_info(item)->kind;
    bool is_time = kind == ROAST_LADDER_SLICE || kind == ROAST_LADDER_TIME;
    double number;

    if (roast__value_number(value, &number) && number >= 0)
        roast_ladder_set(ladder, item, roast__whole_of(number, is_time ? 1e9 : 1));
}

/* Several keys may stand for one field; the first that says something counts. */
void roast__making_views(struct making *making)
{
    struct roast_record_draft *draft = making->draft;
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count && i < ROAST_DRAFT_MAX_VIEWS; i++) {
        const struct roast_draft_value *value = &draft->views[i];
        if (value->token.kind == ROAST_JSON_NULL)
            continue;
        if (views[i].kind == ROAST_VIEW_ITEM)
            set_item(&draft->inside.ladder, views[i].item, &value->token);
        else if (!roast_record_has(&making->rec, views[i].field))
            set_view(making, &views[i], value);
    }
    if (!roast_record_has(&making->rec, ROAST_FIELD_status))
        roast_record_set_u64(&making->rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
}

/* ---- times ----------------------------------------------------------------------- */

/* The number under a key that is a view. */
bool roast__making_number(const struct roast_record_draft *draft, const char *key,
                          double *number)
{
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count && i < ROAST_DRAFT_MAX_VIEWS; i++) {
        if (strcmp(views[i].key, key) == 0)
            return roast__value_number(&draft->views[i].token, number);
    }
    return false;
}

static double told_number(const struct roast_record_draft *draft, const char *key)
{
    double number = NAN;

    return roast__making_number(draft, key, &number) ? number : NAN;
}

void roast__making_times(struct making *making)
{
    const struct roast_given_times told = {told_number(making->draft, "t_start"),
                                           told_number(making->draft, "t_end"),
                                           told_number(making->draft, "timestamp")};

    roast_record_set_times(&making->rec, &told);
}

/* Moments from `low` on, before `high`. */
struct moments {
    int64_t low;
    int64_t high;
};

/* The first start within 2 us of the record's whose view is `least` or more. */
static int64_t first_start(const roast_record *rec, const struct roast_view *view,
                           double least, bool or_equal)
{
    roast_record tried = *rec;
    int64_t *start_ns = &tried.values[ROAST_FIELD_start_epoch_ns].i64;
    int64_t low = *start_ns - 1024;
    int64_t high = *start_ns + 1024;

    while (low < high) {
        *start_ns = low + (high - low) / 2;
        double seen = roast_view_value(view, &tried).number;
        if (seen > least || (or_equal && seen >= least))
            high = *start_ns;
        else
            low = *start_ns + 1;
    }
    return low;
}

/* The starts that a view shows as this number. */
static struct moments starts_of(const roast_record *rec, enum roast_view_kind kind,
                                double shown)
{
    size_t count = 0;
    const struct roast_view *view = roast_views(&count);

    while (view->kind != kind)
        view++;
    return (struct moments){first_start(rec, view, shown, true),
                            first_start(rec, view, shown, false)};
}

void roast__making_narrow_start(struct making *making)
{
    roast_record *rec = &making->rec;
    int64_t *start_ns = &rec->values[ROAST_FIELD_start_epoch_ns].i64;
    double start_s;
    double end_s;

    if (!roast_record_has(rec, ROAST_FIELD_start_epoch_ns) ||
        *start_ns < -INT64_MAX / 2 || *start_ns > INT64_MAX / 2 ||
        !roast__making_number(making->draft, "t_start", &start_s))
        return;
    struct moments fit = starts_of(rec, ROAST_VIEW_EPOCH_S, start_s);
    if (roast_record_has(rec, ROAST_FIELD_duration_ns) &&
        rec->values[ROAST_FIELD_duration_ns].u64 < INT64_MAX / 2 &&
        roast__making_number(making->draft, "t_end", &end_s)) {
        struct moments by_end = starts_of(rec, ROAST_VIEW_EPOCH_END_S, end_s);
        struct moments both = {by_end.low > fit.low ? by_end.low : fit.low,
                               by_end.high < fit.high ? by_end.high : fit.high};
        if (both.low < both.high)
            fit = both;
    }
    if (fit.low < fit.high && (*start_ns < fit.low || *start_ns >= fit.high))
        *start_ns = fit.low + (fit.high - fit.low) / 2;
}
