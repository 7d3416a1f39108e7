/* SPDX-License-Identifier: BSD-3-Clause */
/* told.c - numbers of records that others made, back into fields.
 *
 * The reverse of view.c, for every reader of such records: Python's dicts and the files
 * of measurements. A double that no field can hold is absent, never cut. */
#include <math.h>

#include "roast/view.h"

/* From the unit of a view to that of its field; 0: there is no way back. */
static double scale_of(enum roast_view_kind kind)
{
    switch (kind) {
    case ROAST_VIEW_COUNT:
    case ROAST_VIEW_FLAG:
        return 1;
    case ROAST_VIEW_SECONDS:
    case ROAST_VIEW_EPOCH_S:
    case ROAST_VIEW_GB:
        return 1e9;
    case ROAST_VIEW_MIB:
        return 1024.0 * 1024.0;
    default: /* made from several fields, or no number */
        return 0;
    }
}

static void set_rounded(roast_record *rec, enum roast_field field, double value)
{
    double rounded = nearbyint(value);
    bool is_time = roast_field_info(field)->type == ROAST_TYPE_TIME;

    if (is_time && fabs(rounded) < 9e18)
        roast_record_set_i64(rec, field, (int64_t)rounded);
    else if (!is_time && rounded >= 0 && rounded < 9e18)
        roast_record_set_u64(rec, field, (uint64_t)rounded);
}

void roast_view_set(roast_record *rec, const struct roast_view *view, double number)
{
    double scale = scale_of(view->kind);

    if (scale > 0)
        set_rounded(rec, view->field, number * scale);
}

void roast_record_set_times(roast_record *rec, const struct roast_told_times *told)
{
    double end_s = isnan(told->end_s) ? told->stamp_s : told->end_s;

    if (!roast_record_has(rec, ROAST_FIELD_duration_ns) && told->end_s >= told->start_s)
        set_rounded(rec, ROAST_FIELD_duration_ns, (told->end_s - told->start_s) * 1e9);
    if (roast_record_has(rec, ROAST_FIELD_start_epoch_ns) || isnan(end_s))
        return;
    double took_s = roast_seconds(rec->values[ROAST_FIELD_duration_ns].u64);
    set_rounded(rec, ROAST_FIELD_start_epoch_ns, (end_s - took_s) * 1e9);
}
