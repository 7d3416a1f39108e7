/* SPDX-License-Identifier: BSD-3-Clause */
/* blob_json.c - the packed fields of a record as JSON: one row per layout.
 *
 * Half of them are lists of one kind of thing: how to read it and how to put one is all
 * that they differ in. Units are in the names, as in docs/format.md; nothing is
 * computed. */
#include <inttypes.h>
#include <stdio.h>

#include "out.h"
#include "record_json.h"
#include "roast/ladder.h"

static void put_count(struct roast_json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    roast_json_count(json, value);
}

static void put_name(struct roast_json *json, struct roast_str name)
{
    json_key(json, "name");
    roast_json_text(json, name);
}

/* ---- identity and place ------------------------------------------------------- */

static void put_identity(struct roast_json *json, struct roast_str blob)
{
    struct roast_identity id;

    if (roast_identity_unpack(&id, blob, NULL) < 0) {
        roast_json_null(json);
        return;
    }
    roast_json_open(json, '{');
    json_key(json, "run_id");
    put_hex(json, (struct roast_str){(const char *)id.run_id, ROAST_RUN_ID_BYTES});
    put_count(json, "process_id", id.process_id);
    put_count(json, "sequence", id.sequence);
    roast_json_close(json, '}');
}

static void put_place(struct roast_json *json, struct roast_str blob)
{
    static const char *const names[] = {"dataset_id", "file_id", "entry_start",
                                        "entries"};
    const unsigned char *at = (const unsigned char *)blob.data;

    if (blob.size_bytes != ROAST_PLACE_BYTES) {
        roast_json_null(json);
        return;
    }
    roast_json_open(json, '{');
    for (size_t i = 0; i < 4; i++, at += 4)
        put_count(json, names[i],
                  at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
                      (uint64_t)at[3] << 24);
    roast_json_close(json, '}');
}

/* ---- sections ----------------------------------------------------------------- */

static int64_t read_sections(void *out, size_t max, struct roast_str blob)
{
    return roast_sections_read(out, max, blob, NULL);
}

static void put_section(struct roast_json *json, const void *item)
{
    const struct roast_section *section = item;

    roast_json_open(json, '{');
    put_name(json, section->name);
    json_key(json, "parent");
    roast_json_integer(json, section->parent);
    put_count(json, "depth", section->depth);
    put_count(json, "kinds", section->kinds);
    put_count(json, "count", section->count);
    put_count(json, "total_ns", section->total_ns);
    put_count(json, "self_ns", section->self_ns);
    if (section->kinds & ROAST_SECTION_MEMORY) {
        put_count(json, "memory_start_bytes", section->memory_start_bytes);
        put_count(json, "memory_end_bytes", section->memory_end_bytes);
        json_key(json, "memory_delta_bytes");
        roast_json_integer(json, section->memory_delta_bytes);
    }
    if (section->kinds & ROAST_SECTION_BYTES)
        put_count(json, "bytes", section->bytes);
    roast_json_close(json, '}');
}

static int64_t read_intervals(void *out, size_t max, struct roast_str blob)
{
    return roast_intervals_read(out, max, blob, NULL);
}

static void put_interval(struct roast_json *json, const void *item)
{
    const struct roast_interval *interval = item;

    roast_json_open(json, '{');
    put_count(json, "section", interval->section);
    put_count(json, "start_ns", interval->start_ns);
    put_count(json, "duration_ns", interval->duration_ns);
    roast_json_close(json, '}');
}

/* ---- losses and absences ------------------------------------------------------ */

static void put_losses(struct roast_json *json, struct roast_str blob)
{
    struct roast_pair pair;
    char number[24];

    roast_json_open(json, '{');
    while (roast_pair_next(&pair, &blob, NULL) == 1) {
        const char *name =
            pair.key < ROAST_LOSS_END ? roast_loss_name((unsigned)pair.key) : NULL;
        (void)snprintf(number, sizeof(number), "%" PRIu64, pair.key);
        put_count(json, name ? name : number, pair.value);
    }
    roast_json_close(json, '}');
}

static const char *field_name(uint64_t number)
{
    for (int i = 0; i < ROAST_FIELD_COUNT; i++)
        if (roast_field_info((enum roast_field)i)->number == number)
            return roast_field_info((enum roast_field)i)->name;
    return NULL;
}

static void put_absences(struct roast_json *json, struct roast_str blob)
{
    struct roast_pair pair;
    char number[24];

    roast_json_open(json, '{');
    while (roast_pair_next(&pair, &blob, NULL) == 1) {
        const char *name = field_name(pair.key);
        const char *why =
            pair.value < ROAST_WHY_END ? roast_reason_text((unsigned)pair.value) : NULL;
        (void)snprintf(number, sizeof(number), "%" PRIu64, pair.key);
        json_text(json, name ? name : number, why ? why : "unknown reason");
    }
    roast_json_close(json, '}');
}

/* ---- the inside --------------------------------------------------------------- */

static void put_ladder(struct roast_json *json, struct roast_str blob)
{
    struct roast_ladder ladder;

    if (roast_ladder_read(&ladder, blob, NULL) < 0) {
        roast_json_null(json);
        return;
    }
    roast_json_open(json, '{');
    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        const struct roast_ladder_info *info =
            roast_ladder_info((enum roast_ladder_item)i);
        bool is_time =
            info->kind == ROAST_LADDER_SLICE || info->kind == ROAST_LADDER_TIME;
        char name[64];
        if (!roast_ladder_has(&ladder, (enum roast_ladder_item)i))
            continue;
        (void)snprintf(name, sizeof(name), "%s%s", info->name, is_time ? "_ns" : "");
        put_count(json, name, ladder.values[i]);
    }
    roast_json_close(json, '}');
}

static int64_t read_branches(void *out, size_t max, struct roast_str blob)
{
    return roast_branches_read(out, max, blob, NULL);
}

static void put_branch(struct roast_json *json, const void *item)
{
    const struct roast_branch *branch = item;

    roast_json_open(json, '{');
    put_name(json, branch->name);
    put_count(json, "flags", branch->flags);
    put_count(json, "reads", branch->reads);
    put_count(json, "bytes", branch->bytes);
    put_count(json, "uncompressed_bytes", branch->uncompressed_bytes);
    put_count(json, "ns", branch->ns);
    if (branch->sizes_known) {
        put_count(json, "file_bytes", branch->file_bytes);
        put_count(json, "file_uncompressed_bytes", branch->file_uncompressed_bytes);
    }
    roast_json_close(json, '}');
}

static int64_t read_endpoints(void *out, size_t max, struct roast_str blob)
{
    return roast_endpoints_read(out, max, blob, NULL);
}

static void put_endpoint(struct roast_json *json, const void *item)
{
    const struct roast_endpoint *endpoint = item;

    roast_json_open(json, '{');
    put_name(json, endpoint->name);
    put_count(json, "requests", endpoint->requests);
    put_count(json, "ranges", endpoint->ranges);
    put_count(json, "bytes", endpoint->bytes);
    put_count(json, "wait_ns", endpoint->wait_ns);
    put_count(json, "errors", endpoint->errors);
    roast_json_close(json, '}');
}

static void put_file_facts(struct roast_json *json, struct roast_str blob)
{
    struct roast_file_facts facts;

    if (roast_file_facts_read(&facts, blob, NULL) < 0) {
        roast_json_null(json);
        return;
    }
    roast_json_open(json, '{');
    json_text(json, "kind", roast_file_kind_name(facts.kind));
    json_text(json, "codec", roast_codec_name(facts.codec));
    if (facts.branches > 0)
        put_count(json, "branches", facts.branches);
    if (facts.entries > 0)
        put_count(json, "entries", facts.entries);
    if (facts.sizes_known) {
        put_count(json, "compressed_bytes", facts.compressed_bytes);
        put_count(json, "uncompressed_bytes", facts.uncompressed_bytes);
    }
    roast_json_close(json, '}');
}

/* ---- all of them -------------------------------------------------------------- */

/* A list has a reader for its items, everything else is put at once. */
struct layout {
    void (*put)(struct roast_json *json, struct roast_str blob);
    int64_t (*read)(void *out, size_t max, struct roast_str blob);
    void (*put_item)(struct roast_json *json, const void *item);
    size_t item_bytes;
};

static const struct layout layouts[ROAST_FIELD_COUNT] = {
    [ROAST_FIELD_identity] = {.put = put_identity},
    [ROAST_FIELD_place] = {.put = put_place},
    [ROAST_FIELD_losses] = {.put = put_losses},
    [ROAST_FIELD_absences] = {.put = put_absences},
    [ROAST_FIELD_user_keys] = {.put = put_values},
    [ROAST_FIELD_custom_metrics] = {.put = put_values},
    [ROAST_FIELD_process] = {.put = put_values},
    [ROAST_FIELD_ladder] = {.put = put_ladder},
    [ROAST_FIELD_file_facts] = {.put = put_file_facts},
    [ROAST_FIELD_sections] = {NULL, read_sections, put_section,
                              sizeof(struct roast_section)},
    [ROAST_FIELD_intervals] = {NULL, read_intervals, put_interval,
                               sizeof(struct roast_interval)},
    [ROAST_FIELD_branches] = {NULL, read_branches, put_branch,
                              sizeof(struct roast_branch)},
    [ROAST_FIELD_file_branches] = {NULL, read_branches, put_branch,
                                   sizeof(struct roast_branch)},
    [ROAST_FIELD_endpoints] = {NULL, read_endpoints, put_endpoint,
                               sizeof(struct roast_endpoint)},
};

static void put_list(struct roast_json *json, const struct layout *layout,
                     struct roast_str blob, struct unpacked *room)
{
    int64_t count = layout->read(NULL, 0, blob);

    if (count < 0) {
        roast_json_null(json);
        return;
    }
    char *items = unpack_room(room, (size_t)count, layout->item_bytes);
    (void)layout->read(items, (size_t)count, blob);
    roast_json_open(json, '[');
    for (size_t i = 0; i < (size_t)count; i++)
        layout->put_item(json, items + i * layout->item_bytes);
    roast_json_close(json, ']');
}

void put_blob(struct roast_json *json, enum roast_field field, struct roast_str blob,
              struct unpacked *room)
{
    const struct layout *layout = &layouts[field];

    if (layout->put)
        layout->put(json, blob);
    else if (layout->read)
        put_list(json, layout, blob, room);
    else /* a field that nobody has told how to read yet */
        put_hex(json, blob);
}
