/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_inside.c - the inside of an attempt, of a chunk record that is being read.
 *
 * Of a file roastcoffea 0.1.2 had `total_branches`, `total_tree_bytes` and
 * `compression_ratio`; ours say more. */
#include "collect/measurement_inside.h"

#include <string.h>

#include "base/bytes.h"
#include "roast/view.h"

enum { MOST_VIEWS = 128 };

void roast__inside_draft_clear(struct roast_inside_draft *draft)
{
    struct roast_rows_blob endpoints = draft->endpoints;

    memset(draft, 0, sizeof(*draft));
    draft->endpoints = endpoints;
    roast__rows_clear(&draft->endpoints);
}

void roast__inside_draft_release(struct roast_inside_draft *draft)
{
    roast__buf_release(&draft->endpoints.bytes);
}

/* ---- ladder and split ------------------------------------------------------------ */

int roast__inside_draft_ladder(struct roast_inside_draft *draft,
                               const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    double seconds;
    int got;

    draft->ladder = (struct roast_ladder){0}; /* of equal keys the last one counts */
    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        bool known = roast__value_number(&value, &seconds) && seconds >= 0;
        for (int i = 0; known && i < ROAST_SLICE_COUNT; i++) {
            enum roast_ladder_item slice = (enum roast_ladder_item)i;
            if (roast__str_is(key, roast_ladder_info(slice)->name))
                roast_ladder_set(&draft->ladder, slice, roast__whole_of(seconds, 1e9));
        }
        int status = roast__part_skip(part, &value);
        if (status < 0)
            return status;
    }
    return got;
}

int roast__inside_draft_split(struct roast_inside_draft *draft,
                              const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    double seconds;
    int got;

    draft->has_split = true;
    draft->has_fetch_wait = false;
    draft->split = (struct roast_split){0};
    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        uint64_t ns =
            roast__value_number(&value, &seconds) ? roast__whole_of(seconds, 1e9) : 0;
        if (roast__str_is(key, "on_cpu"))
            draft->split.on_cpu_ns = ns;
        else if (roast__str_is(key, "runqueue"))
            draft->split.runqueue_ns = ns;
        else if (roast__str_is(key, "fetch_wait"))
            draft->split.fetch_wait_ns = ns;
        draft->has_fetch_wait |= roast__str_is(key, "fetch_wait");
        int status = roast__part_skip(part, &value);
        if (status < 0)
            return status;
    }
    return got;
}

/* The reverse of roast_ladder_split(). */
void roast__inside_draft_explain(struct roast_inside_draft *draft, roast_record *rec)
{
    struct roast_ladder *ladder = &draft->ladder;
    uint64_t fetch_ns = ladder->values[ROAST_ITEM_fetch];
    uint64_t waited_ns = draft->split.fetch_wait_ns;
    uint64_t elsewhere_ns = ladder->values[ROAST_ITEM_storage_wait];

    if (!draft->has_split)
        return;
    roast_record_set_u64(rec, ROAST_FIELD_task_cpu_ns, draft->split.on_cpu_ns);
    roast_ladder_set(ladder, ROAST_ITEM_runqueue, draft->split.runqueue_ns);
    if (!draft->has_fetch_wait)
        return;
    waited_ns -= waited_ns < elsewhere_ns ? waited_ns : elsewhere_ns;
    roast_ladder_set(ladder, ROAST_ITEM_fetch_cpu,
                     fetch_ns - (waited_ns < fetch_ns ? waited_ns : fetch_ns));
}

void roast__inside_draft_put_ladder(struct roast_inside_draft *draft, roast_record *rec)
{
    int64_t size = roast_ladder_write(draft->ladder_blob, sizeof(draft->ladder_blob),
                                      &draft->ladder, NULL);

    if (draft->ladder.present != 0 && size >= 0)
        roast_record_set_str(
            rec, ROAST_FIELD_ladder,
            (struct roast_str){(const char *)draft->ladder_blob, (size_t)size});
}

/* ---- endpoints ------------------------------------------------------------------- */

static int read_endpoint(struct roast_endpoint *row, const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    double number;
    int got;

    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        if (!roast__value_number(&value, &number))
            number = 0;
        if (roast__str_is(key, "requests"))
            row->requests = roast__whole_of(number, 1);
        else if (roast__str_is(key, "ranges"))
            row->ranges = roast__whole_of(number, 1);
        else if (roast__str_is(key, "bytes"))
            row->bytes = roast__whole_of(number, 1);
        else if (roast__str_is(key, "wait"))
            row->wait_ns = roast__whole_of(number, 1e9);
        else if (roast__str_is(key, "errors"))
            row->errors = roast__whole_of(number, 1);
        int status = roast__part_skip(part, &value);
        if (status < 0)
            return status;
    }
    return got;
}

int roast__inside_draft_endpoints(struct roast_inside_draft *draft,
                                  const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    int got;

    draft->has_endpoints = true;
    roast__rows_clear(&draft->endpoints);
    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        struct roast_endpoint row = {.requests = 0};
        struct roast_kept name = roast__texts_keep(part->texts, key);
        bool is_row = value.kind == ROAST_JSON_DICT;
        int status =
            is_row ? read_endpoint(&row, part) : roast__part_skip(part, &value);
        if (status < 0)
            return status;
        row.name = roast__texts_get(part->texts, name);
        if (!row.name.data)
            continue;
        if (is_row)
            roast__rows_endpoint(&draft->endpoints, &row);
        part->texts->bytes.size_bytes = name.at; /* it has its place now */
    }
    return got;
}

/* ---- files ----------------------------------------------------------------------- */

/* The number of a word; 0, which is unknown, for others. */
static unsigned word_of(struct roast_str word, unsigned count,
                        const char *(*name)(unsigned number))
{
    for (unsigned i = 1; i < count; i++) {
        if (roast__str_is(word, name(i)))
            return i;
    }
    return 0;
}

static void set_file_number(struct roast_inside_draft *draft, struct roast_str key,
                            double number)
{
    const struct {
        const char *key;
        double *value;
        bool *known;
    } sizes[] = {
        {"compressed_bytes", &draft->compressed, &draft->has_compressed},
        {"uncompressed_bytes", &draft->uncompressed, &draft->has_uncompressed},
        {"total_tree_bytes", &draft->tree_bytes, &draft->has_tree_bytes},
        {"compression_ratio", &draft->ratio, &draft->has_ratio},
    };

    if (roast__str_is(key, "total_branches"))
        draft->file.branches = roast__whole_of(number, 1);
    else if (roast__str_is(key, "num_entries"))
        draft->file.entries = roast__whole_of(number, 1);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (!roast__str_is(key, sizes[i].key))
            continue;
        *sizes[i].value = number;
        *sizes[i].known = true;
    }
}

static int read_file_entry(struct roast_inside_draft *draft,
                           struct roast_branch_draft *branches, struct roast_str key,
                           const struct roast_part *part)
{
    double number;

    if (roast__str_is(key, "branch_bytes"))
        return roast__branch_draft_sizes(branches, part);
    if (roast__value_number(part->value, &number))
        set_file_number(draft, key, number);
    else if (part->value->kind == ROAST_JSON_TEXT && roast__str_is(key, "kind"))
        draft->file.kind = (enum roast_file_kind)word_of(
            part->value->text, ROAST_FILE_KIND_COUNT, roast_file_kind_name);
    else if (part->value->kind == ROAST_JSON_TEXT && roast__str_is(key, "codec"))
        draft->file.codec = (enum roast_codec)word_of(
            part->value->text, ROAST_CODEC_COUNT, roast_codec_name);
    return roast__part_skip(part, part->value);
}

int roast__inside_draft_file(struct roast_inside_draft *draft,
                             struct roast_branch_draft *branches,
                             const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    int got;

    draft->has_file = true;
    draft->file = (struct roast_file_facts){.kind = ROAST_FILE_UNKNOWN};
    draft->has_compressed = draft->has_uncompressed = false;
    draft->has_tree_bytes = draft->has_ratio = false;
    branches->has_sizes = false;
    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        const struct roast_part entry = {part->in, &value, part->texts, part->err};
        int status = read_file_entry(draft, branches, key, &entry);
        if (status < 0)
            return status;
    }
    return got;
}

/* Without the uncompressed bytes the ratio tells them. */
static void set_file_sizes(struct roast_inside_draft *draft)
{
    struct roast_file_facts *file = &draft->file;
    double compressed = draft->has_compressed ? draft->compressed : draft->tree_bytes;
    bool by_ratio = !draft->has_uncompressed && draft->has_ratio && draft->ratio > 0;

    if (!draft->has_compressed && !draft->has_tree_bytes)
        return;
    file->sizes_known = draft->has_uncompressed || by_ratio;
    if (!file->sizes_known)
        return;
    file->compressed_bytes = roast__whole_of(compressed, 1);
    file->uncompressed_bytes = by_ratio ? roast__whole_of(compressed, 1 / draft->ratio)
                                        : roast__whole_of(draft->uncompressed, 1);
}

/* ---- losses and reasons ---------------------------------------------------------- */

int roast__inside_draft_losses(struct roast_inside_draft *draft,
                               const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    double count;
    int got;

    memset(draft->losses, 0, sizeof(draft->losses));
    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        for (unsigned loss = 1; loss < ROAST_LOSS_END; loss++) {
            if (roast__str_is(key, roast_loss_name(loss)) &&
                roast__value_number(&value, &count))
                draft->losses[loss] += roast__whole_of(count, 1);
        }
        int status = roast__part_skip(part, &value);
        if (status < 0)
            return status;
    }
    return got;
}

static unsigned reason_of(struct roast_str text)
{
    for (unsigned reason = 1; reason < ROAST_WHY_END; reason++) {
        if (roast__str_is(text, roast_reason_text(reason)))
            return reason;
    }
    return 0;
}

/* A field is told absent by all the keys that are made of it. The one that is made of it
 * alone has its reason. */
int roast__inside_draft_unavailable(struct roast_inside_draft *draft,
                                    const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);
    bool absent[MOST_VIEWS] = {false};
    int got;

    memset(draft->reasons, 0, sizeof(draft->reasons));
    draft->unexplained = 0;
    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        unsigned why = value.kind == ROAST_JSON_TEXT ? reason_of(value.text) : 0;
        for (size_t i = 0; why != 0 && i < count && i < MOST_VIEWS; i++) {
            if (!roast__str_is(key, views[i].key))
                continue;
            absent[i] = true;
            if (views[i].field == views[i].other || draft->reasons[views[i].field] == 0)
                draft->reasons[views[i].field] = (unsigned char)why;
            if (draft->reasons[views[i].other] == 0)
                draft->reasons[views[i].other] = (unsigned char)why;
        }
        int status = roast__part_skip(part, &value);
        if (status < 0)
            return status;
    }
    for (size_t i = 0; i < count && i < MOST_VIEWS; i++) {
        if (!absent[i])
            draft->unexplained |= UINT64_C(1) << views[i].field | UINT64_C(1)
                                                                      << views[i].other;
    }
    return got;
}

static void put_gaps(struct roast_inside_draft *draft, roast_record *rec)
{
    unsigned char *losses = draft->loss_blob;
    unsigned char *reasons = draft->reason_blob;

    for (unsigned loss = 1; loss < ROAST_LOSS_END; loss++) {
        if (draft->losses[loss] == 0)
            continue;
        *losses++ = (unsigned char)loss;
        losses = roast__store_varint(losses, draft->losses[loss]);
    }
    for (int field = 0; field < ROAST_FIELD_COUNT; field++) {
        if (draft->reasons[field] == 0 || (draft->unexplained >> field) & 1)
            continue;
        *reasons++ = (unsigned char)roast_field_info((enum roast_field)field)->number;
        *reasons++ = draft->reasons[field];
    }
    if (losses > draft->loss_blob)
        roast_record_set_str(rec, ROAST_FIELD_losses,
                             (struct roast_str){(const char *)draft->loss_blob,
                                                (size_t)(losses - draft->loss_blob)});
    if (reasons > draft->reason_blob)
        roast_record_set_str(
            rec, ROAST_FIELD_absences,
            (struct roast_str){(const char *)draft->reason_blob,
                               (size_t)(reasons - draft->reason_blob)});
}

/* ---- the record ------------------------------------------------------------------ */

bool roast__inside_draft_put(struct roast_inside_draft *draft, roast_record *rec)
{
    if (draft->has_endpoints)
        roast_record_set_str(rec, ROAST_FIELD_endpoints,
                             roast__rows_blob(&draft->endpoints));
    put_gaps(draft, rec);
    if (draft->has_file) {
        set_file_sizes(draft);
        int64_t size = roast_file_facts_write(
            draft->file_blob, sizeof(draft->file_blob), &draft->file, NULL);
        if (size >= 0)
            roast_record_set_str(
                rec, ROAST_FIELD_file_facts,
                (struct roast_str){(const char *)draft->file_blob, (size_t)size});
    }
    return roast__buf_ok(&draft->endpoints.bytes);
}
