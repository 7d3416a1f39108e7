/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c - raw fields under the names and units of readers, and the reverse.
 *
 * The reverse is for records made by users. A number that its field cannot hold leaves
 * the field absent. */
#include "record/view.h"

#include <math.h>

static const struct roast_view views[] = {
#define V(name, view, of, and_of, is_always) \
    {.key = (name), \
     .kind = ROAST_VIEW_##view, \
     .field = ROAST_FIELD_##of, \
     .other = ROAST_FIELD_##and_of, \
     .always = (is_always)},
#define VI(name, of) \
    {.key = (name), \
     .kind = ROAST_VIEW_ITEM, \
     .field = ROAST_FIELD_ladder, \
     .other = ROAST_FIELD_ladder, \
     .item = ROAST_ITEM_##of},
#include "roast/record_views.def"
#undef VI
#undef V
};

const struct roast_view *roast_views(size_t *count)
{
    *count = sizeof(views) / sizeof(views[0]);
    return views;
}

double roast_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

double roast_mib(int64_t bytes)
{
    return (double)bytes / (1024.0 * 1024.0);
}

double roast_gb(int64_t bytes)
{
    return (double)bytes / 1e9;
}

const char *roast_peak_of(uint64_t concurrency)
{
    return concurrency > 1 ? "process" : "chunk";
}

/* Epoch nanoseconds do not fit a double; whole seconds and their fraction do. */
double roast_epoch_seconds(int64_t ns)
{
    int64_t whole_s = ns / 1000000000;

    return (double)whole_s + (double)(ns % 1000000000) / 1e9;
}

static struct roast_value absent(void)
{
    return (struct roast_value){.type = ROAST_VALUE_NULL};
}

static struct roast_value percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? roast__number(100.0 * (double)part / (double)whole) : absent();
}

static struct roast_value item_value(enum roast_ladder_item item,
                                     const struct roast_record_parts *parts)
{
    if (!parts->ladder_known || !roast_ladder_has(&parts->ladder, item))
        return absent();
    if (roast_ladder_info(item)->kind == ROAST_LADDER_SLICE ||
        roast_ladder_info(item)->kind == ROAST_LADDER_TIME)
        return roast__seconds(parts->ladder.values[item]);
    return roast__count(parts->ladder.values[item]);
}

/* The accessed branches. Bytes are summed over branches with known sizes, and absent
 * when no size is known. */
static struct roast_value access_value(enum roast_view_kind kind,
                                       const struct roast_record_parts *parts)
{
    const struct roast_access *access = &parts->access;

    if (!parts->access_known)
        return absent();
    bool has_bytes = access->branches == 0 || access->sized_branches > 0;
    if (kind == ROAST_VIEW_ACCESSED)
        return roast__count(access->branches);
    if (kind == ROAST_VIEW_ACCESSED_BYTES && has_bytes)
        return roast__count(access->file_bytes);
    if (kind == ROAST_VIEW_ACCESSED_UNCOMPRESSED && has_bytes)
        return roast__count(access->file_uncompressed_bytes);
    if (kind == ROAST_VIEW_ACCESSED_PERCENT && parts->facts_known)
        return percent(access->branches, parts->facts.branches);
    if (kind == ROAST_VIEW_ACCESSED_BYTES_PERCENT && has_bytes && parts->facts_known)
        return percent(access->file_bytes, parts->facts.compressed_bytes);
    return absent();
}

int roast__record_parts_read(struct roast_record_parts *parts, const roast_record *rec,
                             roast_error *err)
{
    const union roast_field_value *values = rec->values;
    int status = ROAST_OK;

    parts->ladder_known = parts->access_known = parts->facts_known = false;
    if (roast_record_has(rec, ROAST_FIELD_ladder)) {
        status = roast_ladder_read(&parts->ladder, values[ROAST_FIELD_ladder].str, err);
        parts->ladder_known = status == ROAST_OK;
    }
    if (roast_record_has(rec, ROAST_FIELD_branches)) {
        int got = roast_access_read(&parts->access, values[ROAST_FIELD_branches].str,
                                    status < 0 ? NULL : err);
        parts->access_known = got == ROAST_OK;
        status = status < 0 ? status : got;
    }
    if (roast_record_has(rec, ROAST_FIELD_file_facts)) {
        int got = roast_file_facts_read(
            &parts->facts, values[ROAST_FIELD_file_facts].str, status < 0 ? NULL : err);
        parts->facts_known = got == ROAST_OK;
        status = status < 0 ? status : got;
    }
    return status;
}

struct roast_value roast__view_value(const struct roast_view *view,
                                     const roast_record *rec,
                                     const struct roast_record_parts *parts)
{
    union roast_field_value a = rec->values[view->field];
    union roast_field_value b = rec->values[view->other];

    if (!roast_record_has(rec, view->field) || !roast_record_has(rec, view->other))
        return absent();
    switch (view->kind) {
    case ROAST_VIEW_NONE:
        break;
    case ROAST_VIEW_TEXT:
        return roast__text(a.str);
    case ROAST_VIEW_COUNT:
        return roast__count(a.u64);
    case ROAST_VIEW_FLAG:
        return (struct roast_value){.type =
                                        a.u64 ? ROAST_VALUE_TRUE : ROAST_VALUE_FALSE};
    case ROAST_VIEW_SECONDS:
        return roast__seconds(a.u64);
    case ROAST_VIEW_EPOCH_S:
        return roast__number(roast_epoch_seconds(a.i64));
    case ROAST_VIEW_EPOCH_END_S:
        return roast__number(roast_epoch_seconds((int64_t)((uint64_t)a.i64 + b.u64)));
    case ROAST_VIEW_MIB:
        return roast__number(roast_mib((int64_t)a.u64));
    case ROAST_VIEW_MIB_DELTA:
        return roast__number(roast_mib((int64_t)(a.u64 - b.u64)));
    case ROAST_VIEW_GB:
        return roast__number(roast_gb((int64_t)a.u64));
    case ROAST_VIEW_GB_DELTA:
        return roast__number(roast_gb((int64_t)(a.u64 - b.u64)));
    case ROAST_VIEW_STATUS:
        return roast__text(roast_str_of(a.u64 == ROAST_CHUNK_OK ? "ok" : "failed"));
    case ROAST_VIEW_PEAK_KIND:
        return roast__text(
            roast_str_of(a.u64 == ROAST_PEAK_EXACT ? "exact" : "sampled"));
    case ROAST_VIEW_PEAK_OF:
        return roast__text(roast_str_of(roast_peak_of(b.u64)));
    case ROAST_VIEW_ITEM:
        return item_value(view->item, parts);
    case ROAST_VIEW_ACCESSED:
    case ROAST_VIEW_ACCESSED_BYTES:
    case ROAST_VIEW_ACCESSED_UNCOMPRESSED:
    case ROAST_VIEW_ACCESSED_PERCENT:
    case ROAST_VIEW_ACCESSED_BYTES_PERCENT:
        return access_value(view->kind, parts);
    }
    return absent();
}

/* ---- from views to fields ------------------------------------------------------- */

/* From the unit of a view to that of its field; 0: not supported. */
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

void roast_record_set_times(roast_record *rec, const struct roast_record_times *given)
{
    double end_s = isnan(given->end_s) ? given->stamp_s : given->end_s;

    if (!roast_record_has(rec, ROAST_FIELD_duration_ns) &&
        given->end_s >= given->start_s)
        set_rounded(rec, ROAST_FIELD_duration_ns,
                    (given->end_s - given->start_s) * 1e9);
    if (roast_record_has(rec, ROAST_FIELD_start_epoch_ns) || isnan(end_s))
        return;
    double took_s = roast_seconds(rec->values[ROAST_FIELD_duration_ns].u64);
    set_rounded(rec, ROAST_FIELD_start_epoch_ns, (end_s - took_s) * 1e9);
}
