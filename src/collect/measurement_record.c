/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_record.c - a chunk record of metrics.json as frames.
 *
 * What our records got with the end of their attempt goes into an end frame of its own,
 * as it was. */
#include "collect/measurement_record.h"

#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "collect/json_bytes.h"
#include "collect/measurement_keys.h"
#include "collect/measurement_making.h"

/* ---- life ------------------------------------------------------------------------ */

void roast__record_draft_init(struct roast_record_draft *draft)
{
    memset(draft, 0, sizeof(*draft));
    draft->times = (struct roast_record_times){INT64_MAX, INT64_MIN};
}

static void clear(struct roast_record_draft *draft)
{
    roast__texts_clear(&draft->texts);
    memset(draft->views, 0, sizeof(draft->views));
    draft->next_view = 0;
    for (size_t i = 0; i < sizeof(draft->errors) / sizeof(draft->errors[0]); i++)
        draft->errors[i] = roast__kept_none;
    draft->has_process = false;
    draft->has_sequence = false;
    memset(draft->run_id, 0, sizeof(draft->run_id));
    roast__section_draft_clear(&draft->sections);
    roast__branch_draft_clear(&draft->branches);
    roast__inside_draft_clear(&draft->inside);
    roast__values_clear(&draft->user_keys);
    roast__values_clear(&draft->custom);
    roast__values_clear(&draft->process);
    draft->value_losses = (struct roast_value_losses){0, 0};
}

void roast__record_draft_release(struct roast_record_draft *draft)
{
    roast__texts_release(&draft->texts);
    roast__section_draft_release(&draft->sections);
    roast__branch_draft_release(&draft->branches);
    roast__inside_draft_release(&draft->inside);
    roast__values_release(&draft->user_keys);
    roast__values_release(&draft->custom);
    roast__values_release(&draft->process);
    roast__sizes_release(&draft->sizes);
    roast__buf_release(&draft->frame);
    roast__buf_release(&draft->host);
}

/* ---- of all records -------------------------------------------------------------- */

static void note_times(struct roast_record_times *times, const roast_record *rec)
{
    int64_t start_ns = rec->values[ROAST_FIELD_start_epoch_ns].i64;
    uint64_t took_ns = rec->values[ROAST_FIELD_duration_ns].u64;

    if (!roast_record_has(rec, ROAST_FIELD_start_epoch_ns) ||
        start_ns < ROAST_PLAUSIBLE_EPOCH_NS || start_ns > INT64_MAX / 2 ||
        took_ns > INT64_MAX / 2)
        return;
    if (start_ns < times->first_start_ns)
        times->first_start_ns = start_ns;
    if (start_ns + (int64_t)took_ns > times->last_end_ns)
        times->last_end_ns = start_ns + (int64_t)took_ns;
}

static void note_host(struct roast_record_draft *draft, const roast_record *rec)
{
    struct roast_str host = rec->values[ROAST_FIELD_host].str;
    struct roast_str known = {(const char *)draft->host.data, draft->host.size_bytes};

    if (!roast_record_has(rec, ROAST_FIELD_host) || host.size_bytes == 0)
        return;
    if (known.size_bytes == 0)
        roast__buf_put(&draft->host, host.data, host.size_bytes);
    else if (!roast__str_equal(host, known))
        draft->many_hosts = true;
}

/* ---- parts ----------------------------------------------------------------------- */

static void set_identity(struct making *making)
{
    const struct roast_record_draft *draft = making->draft;
    bool is_numbered = draft->has_process && draft->has_sequence;
    struct roast_identity id = {
        .process_id = making->is_ours ? draft->process_id : 0,
        .sequence = (uint32_t)(is_numbered ? draft->sequence : draft->records),
    };

    if (making->is_ours)
        memcpy(id.run_id, draft->run_id, sizeof(id.run_id));
    roast_identity_pack(making->identity, &id);
    struct roast_str packed = {(const char *)making->identity, ROAST_IDENTITY_BYTES};
    roast_record_set_str(&making->rec, ROAST_FIELD_identity, packed);
    roast_record_set_str(&making->end, ROAST_FIELD_identity, packed);
}

static void set_error(struct making *making)
{
    static const enum roast_field fields[] = {
        ROAST_FIELD_error_type,
        ROAST_FIELD_error_message,
        ROAST_FIELD_error_message, /* `error`, of hand-made records */
        ROAST_FIELD_error_section,
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        bool composed = making->is_ours && i == 2; /* of type and message */
        if (!composed && !roast_record_has(&making->rec, fields[i]))
            roast_record_set_str(
                &making->rec, fields[i],
                roast__texts_get(&making->draft->texts, making->draft->errors[i]));
    }
    if (roast_record_has(&making->rec, ROAST_FIELD_error_type))
        roast_record_set_u64(&making->rec, ROAST_FIELD_status, ROAST_CHUNK_FAILED);
}

/* Sums that no section explains are the user's own: under the key they were found. */
static void return_sums(struct making *making, enum roast_sums which, const char *key)
{
    struct roast_record_draft *draft = making->draft;
    const struct roast_section_sum *sums = (void *)draft->sections.sums[which].data;
    size_t count = draft->sections.sums[which].size_bytes / sizeof(*sums);
    size_t mark = roast_values_mark(&draft->user_keys);
    uint64_t left = 0;

    for (size_t i = 0; i < count; i++)
        left += !sums[i].told;
    if (left == 0)
        return;
    roast_values_put_key(&draft->user_keys, roast_str_of(key));
    roast_values_put_dict(&draft->user_keys, left);
    for (size_t i = 0; i < count; i++) {
        if (sums[i].told)
            continue;
        roast_values_put_key(&draft->user_keys,
                             roast__texts_get(&draft->texts, sums[i].name));
        roast_values_put_double(&draft->user_keys, sums[i].value);
    }
    if (draft->user_keys.too_large) {
        roast_values_rewind(&draft->user_keys, mark);
        draft->value_losses.dropped++;
    }
}

static bool set_sections(struct making *making)
{
    struct roast_record_draft *draft = making->draft;

    if (!making->is_ours)
        return roast__section_draft_put(&draft->sections, &draft->texts, &making->rec);
    if (!roast__section_draft_put_tree(&draft->sections, &draft->texts, &making->rec))
        return false;
    return_sums(making, ROAST_SUMS_TIME, "timing");
    return_sums(making, ROAST_SUMS_MEMORY, "memory");
    return_sums(making, ROAST_SUMS_BYTES, "bytes");
    return true;
}

static uint64_t file_hash(const roast_record *rec)
{
    struct roast_str file = rec->values[ROAST_FIELD_file].str;
    struct roast_str tree = rec->values[ROAST_FIELD_treename].str;
    uint64_t hash = 0;

    if (roast_record_has(rec, ROAST_FIELD_file))
        hash = roast__hash64(file.data, file.size_bytes);
    if (roast_record_has(rec, ROAST_FIELD_treename))
        hash ^= roast__hash64(tree.data, tree.size_bytes) * 31;
    return hash;
}

/* Whether the first record of the file looked at the same branches and found the same
 * sum: then both may have it with the same branch. */
static bool is_same_reading(struct roast_record_draft *draft, uint64_t file,
                            uint64_t file_bytes)
{
    const uint64_t reading[2] = {roast__branch_draft_hash(&draft->branches),
                                 file_bytes};
    const struct roast_str said = {(const char *)reading, sizeof(reading)};
    const struct roast_size_table table = {.blob = said};

    roast__sizes_remember(&draft->sizes, ~file, &table);
    return roast__str_equal(roast__sizes_recall(&draft->sizes, ~file).blob, said);
}

static void set_sums(struct making *making, struct roast_branch_sizes *sizes)
{
    struct roast_record_draft *draft = making->draft;
    uint64_t file = file_hash(&making->rec);
    double file_bytes = 0;
    double uncompressed = 0;

    sizes->sums_known =
        roast__making_number(draft, "accessed_bytes", &file_bytes) &&
        roast__making_number(draft, "accessed_uncompressed_bytes", &uncompressed);
    sizes->file_bytes = roast__whole_of(file_bytes, 1);
    sizes->file_uncompressed_bytes = roast__whole_of(uncompressed, 1);
    if (making->is_ours && !draft->branches.has_sizes)
        sizes->table = roast__sizes_recall(&draft->sizes, file);
    sizes->by_sums =
        making->is_ours || (sizes->sums_known && !draft->branches.has_sizes &&
                            is_same_reading(draft, file, sizes->file_bytes));
}

static bool set_branches(struct making *making)
{
    struct roast_record_draft *draft = making->draft;
    struct roast_branch_sizes sizes = {.by_sums = false};
    uint32_t *rows = NULL;

    if (draft->branches.has_sizes) {
        struct roast_str blob = roast__rows_blob(&draft->branches.sizes);
        if (!blob.data || !roast__sizes_sort(&sizes.table, &rows, blob))
            return false;
        if (making->is_ours)
            roast__sizes_remember(&draft->sizes, file_hash(&making->rec), &sizes.table);
    }
    set_sums(making, &sizes);
    bool put = roast__branch_draft_put(&draft->branches, &sizes, &making->rec);
    roast__free(rows);
    return put;
}

static bool set_values(struct making *making)
{
    struct roast_record_draft *draft = making->draft;
    roast_record *rec = &making->rec;

    roast_record_set_str(rec, ROAST_FIELD_user_keys,
                         roast_values_blob(&draft->user_keys));
    roast_record_set_str(rec, ROAST_FIELD_custom_metrics,
                         roast_values_blob(&draft->custom));
    roast_record_set_str(rec, ROAST_FIELD_process, roast_values_blob(&draft->process));
    return roast_values_ok(&draft->user_keys);
}

/* Our records have these from the end frame. */
static void move_to_end(struct making *making)
{
    static const enum roast_field fields[] = {ROAST_FIELD_task_ns,
                                              ROAST_FIELD_task_cpu_ns};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (!roast_record_has(&making->rec, fields[i]))
            continue;
        roast_record_set_u64(&making->end, fields[i],
                             making->rec.values[fields[i]].u64);
        making->rec.present &= ~(UINT64_C(1) << fields[i]);
    }
    roast__inside_draft_put_ladder(&making->draft->inside, &making->end);
}

static bool set_inside(struct making *making)
{
    const struct roast_record_draft *draft = making->draft;
    struct roast_inside_draft *inside = &making->draft->inside;

    inside->losses[ROAST_LOSS_values_dropped] += draft->value_losses.dropped;
    inside->losses[ROAST_LOSS_values_repr] += draft->value_losses.as_text;
    inside->losses[ROAST_LOSS_section_names] += draft->sections.lost;
    if (making->is_ours) {
        roast__inside_draft_explain(inside, &making->rec);
        move_to_end(making);
    } else {
        roast__inside_draft_put_ladder(inside, &making->rec);
    }
    return roast__inside_draft_put(inside, &making->rec);
}

/* ---- frames ---------------------------------------------------------------------- */

static bool put_frame(struct roast_buf *out, const roast_record *rec)
{
    size_t bound = roast_record_bound(rec) + ROAST_FRAME_OVERHEAD_BYTES;

    roast__json_room(out, bound);
    if (!roast__buf_ok(out))
        return false;
    int64_t size = roast_record_encode(out->data + out->size_bytes, bound, rec, NULL);
    if (size > 0)
        out->size_bytes += (size_t)size;
    return size > 0;
}

static bool make(struct making *making)
{
    struct roast_record_draft *draft = making->draft;
    const uint64_t said_by_end =
        UINT64_C(1) << ROAST_FIELD_task_ns | UINT64_C(1) << ROAST_FIELD_ladder;

    making->rec.kind = ROAST_FRAME_CHUNK;
    making->end.kind = ROAST_FRAME_END;
    making->is_ours =
        draft->has_process && draft->process_id != 0 && draft->has_sequence;
    set_identity(making);
    roast__making_views(making);
    roast__making_times(making);
    if (making->is_ours)
        roast__making_narrow_start(making);
    set_error(making);
    if (draft->texts.bytes.failed || !set_sections(making) || !set_branches(making) ||
        !set_inside(making) || !set_values(making))
        return false;
    note_times(&draft->times, &making->rec);
    note_host(draft, &making->rec);
    draft->monitor_errors += (double)making->rec.values[ROAST_FIELD_monitor_errors].u64;
    roast__buf_clear(&draft->frame);
    if (!put_frame(&draft->frame, &making->rec))
        return false;
    if (!(making->end.present & said_by_end))
        return true;
    roast_record_set_u64(&making->end, ROAST_FIELD_status,
                         making->rec.values[ROAST_FIELD_status].u64);
    return put_frame(&draft->frame, &making->end);
}

static int read_record(struct roast_record_draft *draft, struct roast_json_reader *in,
                       const struct roast_record_sink *sink, roast_error *err)
{
    struct making making = {.draft = draft};
    struct roast_json_token value;
    struct roast_str key;
    int got;

    clear(draft);
    draft->records++;
    while ((got = roast__json_entry(in, &key, &value, err)) == 1) {
        int status = roast__record_draft_key(draft, in, key, &value, err);
        if (status < 0)
            return status;
    }
    if (got < 0)
        return got;
    if (!make(&making))
        return roast_error_set(err, ROAST_NO_MEMORY, "record %llu",
                               (unsigned long long)draft->records);
    return sink->frames(
        sink->context,
        (struct roast_str){(const char *)draft->frame.data, draft->frame.size_bytes},
        err);
}

int roast__records_read(struct roast_record_draft *draft, struct roast_json_reader *in,
                        const struct roast_json_token *value,
                        const struct roast_record_sink *sink, roast_error *err)
{
    struct roast_json_token item;
    int got;

    if (value->kind != ROAST_JSON_LIST)
        return roast__json_skip(in, value, err);
    while ((got = roast__json_item(in, &item, err)) == 1) {
        bool is_record = item.kind == ROAST_JSON_DICT;
        draft->no_records += !is_record;
        int status = is_record ? read_record(draft, in, sink, err)
                               : roast__json_skip(in, &item, err);
        if (status < 0)
            return status;
    }
    return got;
}
