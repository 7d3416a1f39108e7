/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c - raw facts under the names and units their readers know. */
#include "roast/view.h"

static const struct roast_view views[] = {
#define V(key, kind, field, other, always) \
    {(key), ROAST_VIEW_##kind, ROAST_FIELD_##field, ROAST_FIELD_##other, (always)},
#include "roast/record_views.def"
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

static struct roast_cell number(double value)
{
    struct roast_cell cell = {.type = ROAST_CELL_NUMBER, .number = value};
    return cell;
}

static struct roast_cell text(struct roast_str str)
{
    struct roast_cell cell = {.type = ROAST_CELL_TEXT, .text = str};
    return cell;
}

static struct roast_cell count(enum roast_cell_type type, uint64_t value)
{
    struct roast_cell cell = {.type = type, .count = value};
    return cell;
}

/* Epoch nanoseconds do not fit a double; whole seconds and the rest do. */
static double epoch_seconds(int64_t ns)
{
    int64_t whole_s = ns / 1000000000;

    return (double)whole_s + (double)(ns % 1000000000) / 1e9;
}

struct roast_cell roast_view_cell(const struct roast_view *view,
                                  const roast_record *rec)
{
    union roast_field_value a = rec->values[view->field];
    union roast_field_value b = rec->values[view->other];

    if (!roast_record_has(rec, view->field) || !roast_record_has(rec, view->other))
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    switch (view->kind) {
    case ROAST_VIEW_NONE:
        break;
    case ROAST_VIEW_TEXT:
        return text(a.str);
    case ROAST_VIEW_COUNT:
        return count(ROAST_CELL_COUNT, a.u64);
    case ROAST_VIEW_FLAG:
        return count(ROAST_CELL_BOOL, a.u64);
    case ROAST_VIEW_SECONDS:
        return number(roast_seconds(a.u64));
    case ROAST_VIEW_EPOCH_S:
        return number(epoch_seconds(a.i64));
    case ROAST_VIEW_EPOCH_END_S:
        return number(epoch_seconds((int64_t)((uint64_t)a.i64 + b.u64)));
    case ROAST_VIEW_MIB:
        return number(roast_mib((int64_t)a.u64));
    case ROAST_VIEW_MIB_DELTA:
        return number(roast_mib((int64_t)(a.u64 - b.u64)));
    case ROAST_VIEW_GB:
        return number(roast_gb((int64_t)a.u64));
    case ROAST_VIEW_GB_DELTA:
        return number(roast_gb((int64_t)(a.u64 - b.u64)));
    case ROAST_VIEW_STATUS:
        return text(roast_str_of(a.u64 == ROAST_CHUNK_OK ? "ok" : "failed"));
    case ROAST_VIEW_PEAK_KIND:
        return text(roast_str_of(a.u64 == ROAST_PEAK_EXACT ? "exact" : "sampled"));
    }
    return (struct roast_cell){.type = ROAST_CELL_ABSENT};
}
