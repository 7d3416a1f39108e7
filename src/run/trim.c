/* SPDX-License-Identifier: BSD-3-Clause */
/* trim.c - what a run has no room for; trim.h says why. */
#include "run/trim.h"

static const enum roast_field tables[] = {ROAST_FIELD_branches,
                                          ROAST_FIELD_file_branches};
enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]) };

bool roast__has_room(const struct roast_run *run, const roast_record *rec)
{
    size_t held_bytes = run->attempts.packed.size_bytes + run->strings.bytes_used;
    size_t left_bytes =
        run->budget_bytes > held_bytes ? run->budget_bytes - held_bytes : 0;

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (!roast_record_has(rec, tables[i]))
            continue;
        size_t table_bytes = rec->values[tables[i]].str.size_bytes;
        if (table_bytes > left_bytes)
            return false;
        left_bytes -= table_bytes;
    }
    return true;
}

bool roast__trim(roast_record *rec, struct roast_buf *absences)
{
    struct roast_str said = rec->values[ROAST_FIELD_absences].str;

    if (roast_record_has(rec, ROAST_FIELD_absences))
        roast__buf_put(absences, said.data, said.size_bytes);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (!roast_record_has(rec, tables[i]))
            continue;
        rec->present &= ~(UINT64_C(1) << tables[i]);
        roast__buf_put_varint(absences, roast_field_info(tables[i])->number);
        roast__buf_put_varint(absences, ROAST_WHY_NO_ROOM);
    }
    if (!roast__buf_ok(absences))
        return false;
    roast_record_set_str(
        rec, ROAST_FIELD_absences,
        (struct roast_str){(const char *)absences->data, absences->size_bytes});
    return true;
}
