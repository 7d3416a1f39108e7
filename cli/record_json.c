/* SPDX-License-Identifier: BSD-3-Clause */
/* record_json.c - a chunk record as JSON, with everything that is in it.
 *
 * First the names and units that readers know from Python (record_views.def), then every
 * field of record_fields.def that has no such name, as it was stored. What is absent is
 * left out; "absences" says why. */
#include "record_json.h"

#include <stdlib.h>

#include "out.h"
#include "roast/view.h"

void *unpack_room(struct unpacked *room, size_t count, size_t item_bytes)
{
    size_t size = (count > 0 ? count : 1) * item_bytes;

    if (room->cap_bytes < size) {
        room->items = need_memory(room->items, size);
        room->cap_bytes = size;
    }
    return room->items;
}

static bool is_view(const char *name)
{
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count; i++)
        if (views[i].kind != ROAST_VIEW_NONE && strcmp(views[i].key, name) == 0)
            return true;
    return false;
}

/* Which fields have a name among the views, as bits; found once. */
static uint64_t viewed_fields(void)
{
    static uint64_t viewed;

    if (viewed == 0)
        for (int i = 0; i < ROAST_FIELD_COUNT; i++)
            if (is_view(roast_field_info((enum roast_field)i)->name))
                viewed |= UINT64_C(1) << i;
    return viewed;
}

static void put_views(struct roast_json *json, const roast_record *rec)
{
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count; i++) {
        struct roast_cell cell = roast_view_cell(&views[i], rec);
        if (cell.type == ROAST_CELL_ABSENT)
            continue;
        json_key(json, views[i].key);
        roast_json_cell(json, &cell);
    }
}

static void put_field(struct roast_json *json, const roast_record *rec,
                      enum roast_field field, struct unpacked *room)
{
    const union roast_field_value *value = &rec->values[field];

    json_key(json, roast_field_info(field)->name);
    switch (roast_field_info(field)->type) {
    case ROAST_TYPE_U64:
        roast_json_count(json, value->u64);
        break;
    case ROAST_TYPE_I64:
    case ROAST_TYPE_TIME:
        roast_json_integer(json, value->i64);
        break;
    case ROAST_TYPE_TEXT:
        roast_json_text(json, value->str);
        break;
    case ROAST_TYPE_BLOB:
        put_blob(json, field, value->str, room);
        break;
    }
}

void put_record(struct roast_json *json, const roast_record *rec, struct unpacked *room)
{
    uint64_t left = rec->present & ~viewed_fields();

    put_views(json, rec);
    for (int i = 0; i < ROAST_FIELD_COUNT; i++)
        if (left >> i & 1)
            put_field(json, rec, (enum roast_field)i, room);
}
