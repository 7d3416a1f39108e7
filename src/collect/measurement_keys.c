/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_keys.c - reads one key of a chunk record into its draft.
 *
 * Parts with a shape of their own are in a table here, values with a unit in
 * record_views.def; what is in neither is the user's. */
#include "collect/measurement_keys.h"

#include <string.h>

#include "roast/view.h"

typedef int part_reader(struct roast_record_draft *draft,
                        const struct roast_part *part);

static bool is_dict(const struct roast_part *part)
{
    return part->value->kind == ROAST_JSON_DICT;
}

static int skip(struct roast_record_draft *draft, const struct roast_part *part)
{
    (void)draft;
    return roast__part_skip(part, part->value);
}

/* ---- who ------------------------------------------------------------------------- */

static int read_process_id(struct roast_record_draft *draft,
                           const struct roast_part *part)
{
    bool known = part->value->kind == ROAST_JSON_INT && !part->value->negative;

    draft->has_process = known;
    draft->process_id = known ? part->value->size : 0;
    return skip(draft, part);
}

static int read_sequence(struct roast_record_draft *draft,
                         const struct roast_part *part)
{
    const struct roast_json_token *value = part->value;
    bool known = value->kind == ROAST_JSON_INT && !value->negative && value->size > 0 &&
                 value->size <= UINT32_MAX;

    draft->has_sequence = known;
    draft->sequence = known ? value->size : 0;
    return skip(draft, part);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_run_id(struct roast_record_draft *draft, const struct roast_part *part)
{
    unsigned char id[ROAST_RUN_ID_BYTES] = {0};
    struct roast_str text = part->value->text;
    bool known =
        part->value->kind == ROAST_JSON_TEXT && text.size_bytes == 2 * sizeof(id);

    for (size_t i = 0; known && i < sizeof(id); i++) {
        int high = hex_digit(text.data[2 * i]);
        int low = hex_digit(text.data[2 * i + 1]);
        known = high >= 0 && low >= 0;
        if (known)
            id[i] = (unsigned char)(high << 4 | low);
    }
    if (known)
        memcpy(draft->run_id, id, sizeof(id));
    return skip(draft, part);
}

static int read_error(struct roast_record_draft *draft, const struct roast_part *part,
                      size_t which)
{
    draft->errors[which] = roast__texts_keep_value(&draft->texts, part->value);
    return skip(draft, part);
}

static int read_error_type(struct roast_record_draft *draft,
                           const struct roast_part *part)
{
    return read_error(draft, part, 0);
}

static int read_error_message(struct roast_record_draft *draft,
                              const struct roast_part *part)
{
    return read_error(draft, part, 1);
}

static int read_error_text(struct roast_record_draft *draft,
                           const struct roast_part *part)
{
    return read_error(draft, part, 2);
}

static int read_error_section(struct roast_record_draft *draft,
                              const struct roast_part *part)
{
    return read_error(draft, part, 3);
}

/* ---- parts ----------------------------------------------------------------------- */

static int read_sums(struct roast_record_draft *draft, const struct roast_part *part,
                     enum roast_sums which)
{
    return roast__section_draft_sums(&draft->sections, which, part);
}

static int read_timing(struct roast_record_draft *draft, const struct roast_part *part)
{
    return read_sums(draft, part, ROAST_SUMS_TIME);
}

static int read_memory(struct roast_record_draft *draft, const struct roast_part *part)
{
    return read_sums(draft, part, ROAST_SUMS_MEMORY);
}

static int read_bytes(struct roast_record_draft *draft, const struct roast_part *part)
{
    return read_sums(draft, part, ROAST_SUMS_BYTES);
}

static int read_sections(struct roast_record_draft *draft,
                         const struct roast_part *part)
{
    return roast__section_draft_rows(&draft->sections, false, part);
}

static int read_memory_sections(struct roast_record_draft *draft,
                                const struct roast_part *part)
{
    return roast__section_draft_rows(&draft->sections, true, part);
}

static int read_intervals(struct roast_record_draft *draft,
                          const struct roast_part *part)
{
    return roast__section_draft_intervals(&draft->sections, part);
}

static int read_inside(struct roast_record_draft *draft, const struct roast_part *part,
                       roast_inside_reader *read)
{
    return is_dict(part) ? read(&draft->inside, part) : skip(draft, part);
}

static int read_ladder(struct roast_record_draft *draft, const struct roast_part *part)
{
    return read_inside(draft, part, roast__inside_draft_ladder);
}

static int read_split(struct roast_record_draft *draft, const struct roast_part *part)
{
    return read_inside(draft, part, roast__inside_draft_split);
}

static int read_endpoints(struct roast_record_draft *draft,
                          const struct roast_part *part)
{
    return read_inside(draft, part, roast__inside_draft_endpoints);
}

static int read_losses(struct roast_record_draft *draft, const struct roast_part *part)
{
    return read_inside(draft, part, roast__inside_draft_losses);
}

static int read_unavailable(struct roast_record_draft *draft,
                            const struct roast_part *part)
{
    return read_inside(draft, part, roast__inside_draft_unavailable);
}

static int read_file(struct roast_record_draft *draft, const struct roast_part *part)
{
    if (!is_dict(part))
        return skip(draft, part);
    return roast__inside_draft_file(&draft->inside, &draft->branches, part);
}

static int read_branches(struct roast_record_draft *draft,
                         const struct roast_part *part)
{
    return roast__branch_draft_costs(&draft->branches, part);
}

static int read_accessed(struct roast_record_draft *draft,
                         const struct roast_part *part)
{
    return roast__branch_draft_names(&draft->branches, ROAST_BRANCHES_ACCESSED, part);
}

static int read_offsets(struct roast_record_draft *draft, const struct roast_part *part)
{
    return roast__branch_draft_names(&draft->branches, ROAST_BRANCHES_OFFSETS, part);
}

/* {key: value} of anything. */
static int read_values(struct roast_record_draft *draft, const struct roast_part *part,
                       struct roast_values *out)
{
    struct roast_json_token value;
    struct roast_str key;
    int got;

    if (!is_dict(part))
        return skip(draft, part);
    roast__values_clear(out);
    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        const struct roast_part entry = {part->in, &value, part->texts, part->err};
        int status = roast__values_take(out, key, &entry, &draft->value_losses);
        if (status < 0)
            return status;
    }
    return got;
}

static int read_custom(struct roast_record_draft *draft, const struct roast_part *part)
{
    return read_values(draft, part, &draft->custom);
}

static int read_process(struct roast_record_draft *draft, const struct roast_part *part)
{
    return read_values(draft, part, &draft->process);
}

/* chunk_id and attempt are told anew by whoever reads the run. */
static const struct {
    const char *key;
    part_reader *read;
} parts[] = {
    {"timing", read_timing},
    {"memory", read_memory},
    {"bytes", read_bytes},
    {"sections", read_sections},
    {"memory_sections", read_memory_sections},
    {"intervals", read_intervals},
    {"ladder", read_ladder},
    {"split", read_split},
    {"branches", read_branches},
    {"accessed_branches", read_accessed},
    {"offset_branches", read_offsets},
    {"endpoints", read_endpoints},
    {"file_metadata", read_file},
    {"custom_metrics", read_custom},
    {"process", read_process},
    {"losses", read_losses},
    {"unavailable", read_unavailable},
    {"run_id", read_run_id},
    {"process_id", read_process_id},
    {"sequence", read_sequence},
    {"error_type", read_error_type},
    {"error_message", read_error_message},
    {"error", read_error_text},
    {"error_section", read_error_section},
    {"chunk_id", skip},
    {"attempt", skip},
};

/* ---- views ----------------------------------------------------------------------- */

static size_t find_view(const struct roast_record_draft *draft, struct roast_str key,
                        size_t *count)
{
    const struct roast_view *views = roast_views(count);

    if (draft->next_view < *count && roast__str_is(key, views[draft->next_view].key))
        return draft->next_view;
    size_t i = 0;
    while (i < *count && !roast__str_is(key, views[i].key))
        i++;
    return i;
}

static int read_view(struct roast_record_draft *draft, const struct roast_part *part,
                     size_t view)
{
    size_t count = 0;
    const struct roast_view *known = &roast_views(&count)[view];
    struct roast_draft_value *kept = &draft->views[view];
    bool is_text = part->value->kind == ROAST_JSON_TEXT;

    kept->token = *part->value;
    kept->token.text = (struct roast_str){NULL, 0};
    kept->text = roast__kept_none;
    if (is_text && known->field == ROAST_FIELD_file)
        kept->text = roast__texts_keep_file(&draft->texts, part->value->text);
    else if (is_text || known->kind == ROAST_VIEW_TEXT)
        kept->text = roast__texts_keep_value(&draft->texts, part->value);
    draft->next_view = view + 1;
    return skip(draft, part);
}

int roast__record_draft_key(struct roast_record_draft *draft,
                            struct roast_json_reader *in, struct roast_str key,
                            const struct roast_json_token *value, roast_error *err)
{
    const struct roast_part part = {in, value, &draft->texts, err};
    size_t count = 0;
    size_t view = find_view(draft, key, &count);
    bool is_view = view < count && view < ROAST_DRAFT_MAX_VIEWS;

    if (is_view && roast_views(&count)[view].kind != ROAST_VIEW_NONE)
        return read_view(draft, &part, view);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (roast__str_is(key, parts[i].key))
            return parts[i].read(draft, &part);
    }
    if (is_view)
        return skip(draft, &part);
    return roast__values_take(&draft->user_keys, key, &part, &draft->value_losses);
}
