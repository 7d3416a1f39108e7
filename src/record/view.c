/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c - raw facts under the names and units their readers know. */
#include "roast/view.h"

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
double roast_epoch_seconds(int64_t ns)
{
    int64_t whole_s = ns / 1000000000;

    return (double)whole_s + (double)(ns % 1000000000) / 1e9;
}

static struct roast_cell absent(void)
{
    return (struct roast_cell){.type = ROAST_CELL_ABSENT};
}

static struct roast_cell percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? number(100.0 * (double)part / (double)whole) : absent();
}

static struct roast_cell item_cell(enum roast_ladder_item item, struct roast_str blob)
{
    struct roast_ladder ladder;

    if (roast_ladder_read(&ladder, blob, NULL) < 0 || !roast_ladder_has(&ladder, item))
        return absent();
    if (roast_ladder_info(item)->kind == ROAST_LADDER_SLICE ||
        roast_ladder_info(item)->kind == ROAST_LADDER_TIME)
        return number(roast_seconds(ladder.values[item]));
    return count(ROAST_CELL_COUNT, ladder.values[item]);
}

/* What was looked at. Its bytes are those of the branches whose sizes are known, and
 * unknown when none of them is. */
static struct roast_cell access_cell(enum roast_view_kind kind,
                                     struct roast_str branches, struct roast_str file)
{
    struct roast_access access;
    struct roast_file_facts facts;

    if (roast_access_read(&access, branches, NULL) < 0)
        return absent();
    if (kind == ROAST_VIEW_ACCESSED)
        return count(ROAST_CELL_COUNT, access.branches);
    bool has_bytes = access.branches == 0 || access.sized_branches > 0;
    if (kind == ROAST_VIEW_ACCESSED_BYTES && has_bytes)
        return count(ROAST_CELL_COUNT, access.file_bytes);
    if (kind == ROAST_VIEW_ACCESSED_UNCOMPRESSED && has_bytes)
        return count(ROAST_CELL_COUNT, access.file_uncompressed_bytes);
    bool is_percent = kind == ROAST_VIEW_ACCESSED_PERCENT ||
                      (kind == ROAST_VIEW_ACCESSED_BYTES_PERCENT && has_bytes);
    if (!is_percent || roast_file_facts_read(&facts, file, NULL) < 0)
        return absent();
    return kind == ROAST_VIEW_ACCESSED_PERCENT
               ? percent(access.branches, facts.branches)
               : percent(access.file_bytes, facts.compressed_bytes);
}

struct roast_cell roast_view_cell(const struct roast_view *view,
                                  const roast_record *rec)
{
    union roast_field_value a = rec->values[view->field];
    union roast_field_value b = rec->values[view->other];

    if (!roast_record_has(rec, view->field) || !roast_record_has(rec, view->other))
        return absent();
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
        return number(roast_epoch_seconds(a.i64));
    case ROAST_VIEW_EPOCH_END_S:
        return number(roast_epoch_seconds((int64_t)((uint64_t)a.i64 + b.u64)));
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
    case ROAST_VIEW_ITEM:
        return item_cell(view->item, a.str);
    case ROAST_VIEW_ACCESSED:
    case ROAST_VIEW_ACCESSED_BYTES:
    case ROAST_VIEW_ACCESSED_UNCOMPRESSED:
    case ROAST_VIEW_ACCESSED_PERCENT:
    case ROAST_VIEW_ACCESSED_BYTES_PERCENT:
        return access_cell(view->kind, a.str, b.str);
    }
    return absent();
}
