/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_sections.c - reads the sections of a chunk record, and puts those of
 * hand-made ones; measurement_tree.c has the tree of ours. */
#include "collect/measurement_sections.h"

#include <math.h>

#include "collect/measurement_tree.h"
#include "record/sections.h"

static const double mib_bytes = 1024.0 * 1024.0;

void roast__section_draft_clear(struct roast_section_draft *draft)
{
    for (int i = 0; i < ROAST_SUMS_COUNT; i++)
        roast__buf_clear(&draft->sums[i]);
    roast__buf_clear(&draft->times);
    roast__buf_clear(&draft->memories);
    roast__buf_clear(&draft->byte_rows);
    roast__buf_clear(&draft->intervals);
    roast__buf_clear(&draft->nodes);
    roast__buf_clear(&draft->blob);
    roast__buf_clear(&draft->interval_blob);
    draft->lost = 0;
}

void roast__section_draft_release(struct roast_section_draft *draft)
{
    for (int i = 0; i < ROAST_SUMS_COUNT; i++)
        roast__buf_release(&draft->sums[i]);
    roast__buf_release(&draft->times);
    roast__buf_release(&draft->memories);
    roast__buf_release(&draft->byte_rows);
    roast__buf_release(&draft->intervals);
    roast__buf_release(&draft->nodes);
    roast__buf_release(&draft->blob);
    roast__buf_release(&draft->interval_blob);
}

/* ---- {name: number} -------------------------------------------------------------- */

static void put_sum(struct roast_section_draft *draft, enum roast_sums which,
                    struct roast_texts *texts, struct roast_str name, double value)
{
    struct roast_buf *sums = &draft->sums[which];
    struct roast_section_sum *all = (void *)sums->data;
    size_t count = sums->size_bytes / sizeof(*all);
    struct roast_str clean = roast__texts_clean(texts, name);

    for (size_t i = 0; i < count; i++) {
        if (roast__str_equal(roast__texts_get(texts, all[i].name), clean)) {
            all[i].value = value;
            return;
        }
    }
    if (count == ROAST_DRAFT_MAX_SECTIONS) {
        draft->lost++;
        return;
    }
    struct roast_section_sum sum = {.name = roast__texts_keep(texts, clean),
                                    .value = value};
    roast__buf_put(sums, &sum, sizeof(sum));
}

int roast__section_draft_sums(struct roast_section_draft *draft, enum roast_sums which,
                              const struct roast_part *part)
{
    struct roast_json_token amount;
    struct roast_str name;
    double number;
    int got;

    if (part->value->kind != ROAST_JSON_DICT)
        return roast__part_skip(part, part->value);
    roast__buf_clear(&draft->sums[which]); /* of equal keys the last one counts */
    while ((got = roast__part_entry(part, &name, &amount)) == 1) {
        if (roast__value_number(&amount, &number))
            put_sum(draft, which, part->texts, name, number);
        int status = roast__part_skip(part, &amount);
        if (status < 0)
            return status;
    }
    return got;
}

/* ---- [{section_name, ...}] ------------------------------------------------------- */

static int64_t signed_of(double number, double scale)
{
    double scaled = nearbyint(number * scale);

    return fabs(scaled) < 9e18 ? (int64_t)scaled : 0;
}

static void set_number(struct roast_section_row *row, struct roast_str key,
                       double number)
{
    if (roast__str_is(key, "time_delta")) {
        row->has_time = true;
        row->total_ns = roast__whole_of(number, 1e9);
    } else if (roast__str_is(key, "self_time")) {
        row->self_ns = roast__whole_of(number, 1e9);
    } else if (roast__str_is(key, "count")) {
        row->count = roast__whole_of(number, 1);
    } else if (roast__str_is(key, "depth")) {
        row->depth = number > 0 && number < 1e6 ? (uint32_t)number : 0;
    } else if (roast__str_is(key, "memory_start_gb")) {
        row->memory_start_bytes = roast__whole_of(number, 1e9);
    } else if (roast__str_is(key, "memory_end_gb")) {
        row->memory_end_bytes = roast__whole_of(number, 1e9);
    } else if (roast__str_is(key, "memory_delta_gb")) {
        row->memory_delta_bytes = signed_of(number, 1e9);
    }
}

static int read_row(struct roast_section_row *row, const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    double number;
    int got;

    *row = (struct roast_section_row){
        .name = roast__kept_none, .parent = roast__kept_none, .count = 1};
    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        if (roast__str_is(key, "section_name"))
            row->name = roast__texts_keep_value(part->texts, &value);
        else if (roast__str_is(key, "parent"))
            row->parent = roast__texts_keep_value(part->texts, &value);
        else if (roast__value_number(&value, &number))
            set_number(row, key, number);
        int status = roast__part_skip(part, &value);
        if (status < 0)
            return status;
    }
    return got;
}

int roast__section_draft_rows(struct roast_section_draft *draft, bool memory,
                              const struct roast_part *part)
{
    struct roast_buf *rows = memory ? &draft->memories : &draft->times;
    struct roast_section_row row;
    struct roast_json_token item;
    int got;

    if (part->value->kind != ROAST_JSON_LIST)
        return roast__part_skip(part, part->value);
    roast__buf_clear(rows);
    while ((got = roast__part_item(part, &item)) == 1) {
        bool is_row = item.kind == ROAST_JSON_DICT;
        int status = is_row ? read_row(&row, part) : roast__part_skip(part, &item);
        if (status < 0)
            return status;
        if (!is_row || row.name.size_bytes == UINT32_MAX)
            continue;
        if (rows->size_bytes / sizeof(row) < ROAST_DRAFT_MAX_SECTIONS)
            roast__buf_put(rows, &row, sizeof(row));
        else
            draft->lost++;
    }
    return got;
}

/* ---- [[name, start, duration]] --------------------------------------------------- */

static int read_interval(struct roast_section_interval *interval, size_t *count,
                         const struct roast_part *part)
{
    struct roast_json_token item;
    double number;
    int got;

    for (*count = 0; (got = roast__part_item(part, &item)) == 1; (*count)++) {
        if (*count == 0 && item.kind == ROAST_JSON_TEXT)
            interval->name = roast__texts_keep(part->texts, item.text);
        else if (*count == 1 && roast__value_number(&item, &number))
            interval->start_ns = roast__whole_of(number, 1e9);
        else if (*count == 2 && roast__value_number(&item, &number))
            interval->duration_ns = roast__whole_of(number, 1e9);
        int status = roast__part_skip(part, &item);
        if (status < 0)
            return status;
    }
    return got;
}

int roast__section_draft_intervals(struct roast_section_draft *draft,
                                   const struct roast_part *part)
{
    struct roast_json_token item;
    int got;

    if (part->value->kind != ROAST_JSON_LIST)
        return roast__part_skip(part, part->value);
    roast__buf_clear(&draft->intervals);
    while ((got = roast__part_item(part, &item)) == 1) {
        struct roast_section_interval interval = {.name = roast__kept_none};
        size_t count = 0;
        int status = item.kind == ROAST_JSON_LIST
                         ? read_interval(&interval, &count, part)
                         : roast__part_skip(part, &item);
        if (status < 0)
            return status;
        if (count == 3 && interval.name.size_bytes != UINT32_MAX &&
            draft->intervals.size_bytes / sizeof(interval) < ROAST_DRAFT_MAX_INTERVALS)
            roast__buf_put(&draft->intervals, &interval, sizeof(interval));
    }
    return got;
}

/* ---- of hand-made records -------------------------------------------------------- */

static void put_section(struct roast_section_draft *draft,
                        const struct roast_section *s)
{
    size_t count = draft->nodes.size_bytes / sizeof(*s);

    if (count < ROAST_DRAFT_MAX_SECTIONS)
        roast__buf_put(&draft->nodes, s, sizeof(*s));
    else
        draft->lost++;
}

static void put_sums(struct roast_section_draft *draft, enum roast_sums which,
                     const struct roast_texts *texts)
{
    static const unsigned kinds[ROAST_SUMS_COUNT] = {
        ROAST_SECTION_TIME, ROAST_SECTION_MEMORY, ROAST_SECTION_BYTES};
    const struct roast_section_sum *sums = (void *)draft->sums[which].data;
    size_t count = draft->sums[which].size_bytes / sizeof(*sums);

    for (size_t i = 0; i < count; i++) {
        struct roast_section section = {.name = roast__texts_get(texts, sums[i].name),
                                        .parent = -1,
                                        .kinds = kinds[which],
                                        .count = 1};
        if (which == ROAST_SUMS_TIME)
            section.total_ns = roast__whole_of(sums[i].value, 1e9);
        else if (which == ROAST_SUMS_BYTES)
            section.bytes = roast__whole_of(sums[i].value, 1);
        else if (fabs(sums[i].value) < 1e12)
            section.memory_delta_bytes = signed_of(sums[i].value, mib_bytes);
        put_section(draft, &section);
    }
}

static void put_times(struct roast_section_draft *draft,
                      const struct roast_texts *texts)
{
    const struct roast_section_row *rows = (void *)draft->times.data;
    size_t count = draft->times.size_bytes / sizeof(*rows);

    for (size_t i = 0; i < count; i++) {
        struct roast_section section = {.name = roast__texts_get(texts, rows[i].name),
                                        .parent = -1,
                                        .kinds = ROAST_SECTION_TIME,
                                        .count = 1,
                                        .total_ns = rows[i].total_ns};
        if (rows[i].has_time)
            put_section(draft, &section);
    }
}

bool roast__section_draft_blob(struct roast_section_draft *draft, roast_record *rec)
{
    const struct roast_section *nodes = (void *)draft->nodes.data;
    size_t count = draft->nodes.size_bytes / sizeof(*nodes);
    struct roast_buf *blob = &draft->blob;

    if (count > 0) {
        roast__buf_put_varint(blob, count);
        for (size_t i = 0; i < count; i++)
            roast__section_put(blob, &nodes[i]);
        roast_record_set_str(
            rec, ROAST_FIELD_sections,
            (struct roast_str){(const char *)blob->data, blob->size_bytes});
    }
    return roast__buf_ok(blob) && roast__buf_ok(&draft->nodes);
}

bool roast__section_draft_put(struct roast_section_draft *draft,
                              const struct roast_texts *texts, roast_record *rec)
{
    put_sums(draft, ROAST_SUMS_TIME, texts);
    if (draft->nodes.size_bytes == 0)
        put_times(draft, texts);
    put_sums(draft, ROAST_SUMS_MEMORY, texts);
    put_sums(draft, ROAST_SUMS_BYTES, texts);
    return roast__section_draft_blob(draft, rec);
}
