/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_metrics.c - reads metrics.json; measurement_tell.c says what it means. */
#include "collect/measurement_metrics.h"

#include <string.h>

static const char *const told_names[ROAST_TOLD_COUNT] = {
#define T(name) #name,
#include "collect/measurement_told.def"
#undef T
};

void roast__metrics_init(struct roast_metrics_draft *draft)
{
    memset(draft, 0, sizeof(*draft));
    roast__record_draft_init(&draft->records);
    draft->rest.max_bytes = ROAST_IMPORT_DOCUMENT_BYTES;
    draft->tracking_rest.max_bytes = ROAST_IMPORT_DOCUMENT_BYTES;
    draft->chunk_info.max_bytes = ROAST_IMPORT_DOCUMENT_BYTES;
    draft->custom.max_bytes = ROAST_IMPORT_DOCUMENT_BYTES;
    draft->sections.max_bytes = ROAST_IMPORT_DOCUMENT_BYTES;
    draft->first_error = roast__kept_none;
}

void roast__metrics_release(struct roast_metrics_draft *draft)
{
    roast__record_draft_release(&draft->records);
    roast__tracking_release(&draft->tracking);
    roast__json_copy_release(&draft->rest);
    roast__json_copy_release(&draft->tracking_rest);
    roast__json_copy_release(&draft->chunk_info);
    roast__json_copy_release(&draft->custom);
    roast__json_copy_release(&draft->sections);
    roast__texts_release(&draft->texts);
    roast__buf_release(&draft->labels);
}

/* ---- single keys ----------------------------------------------------------------- */

static void note_number(struct roast_metrics_draft *draft, struct roast_str key,
                        const struct roast_json_token *value)
{
    double number;

    for (int i = 0; i < ROAST_TOLD_COUNT; i++) {
        if (!roast__str_is(key, told_names[i]))
            continue;
        draft->known[i] = roast__json_is_number(value) &&
                          roast__value_number(value, &number) && number >= 0;
        draft->numbers[i] = draft->known[i] ? number : 0;
    }
}

/* {name: text}; what is no text is shown as str() would. */
static int read_labels(struct roast_metrics_draft *draft, struct roast_json_reader *in,
                       roast_error *err)
{
    struct roast_json_token value;
    struct roast_str key;
    int got;

    roast__buf_clear(&draft->labels);
    while ((got = roast__json_entry(in, &key, &value, err)) == 1) {
        struct roast_label label = {.name = roast__texts_keep(&draft->texts, key)};
        label.text = roast__texts_keep_value(&draft->texts, &value);
        if (label.text.size_bytes != UINT32_MAX)
            roast__buf_put(&draft->labels, &label, sizeof(label));
        int status = roast__json_skip(in, &value, err);
        if (status < 0)
            return status;
    }
    return got;
}

static int read_records(struct roast_metrics_draft *draft, struct roast_json_reader *in,
                        const struct roast_json_token *value,
                        const struct roast_measurement_sink *sink, roast_error *err)
{
    const struct roast_record_sink frames = {sink->frames, sink->context};
    int status = ROAST_OK;

    if (draft->has_records) {
        roast__record_draft_release(&draft->records);
        roast__record_draft_init(&draft->records);
        status = sink->restart(sink->context, err);
    }
    draft->has_records = true;
    return status < 0 ? status
                      : roast__records_read(&draft->records, in, value, &frames, err);
}

/* Copied whole, of equal keys the last one. */
static int copy_alone(struct roast_json_copy *copy, struct roast_json_reader *in,
                      const struct roast_json_token *value, roast_error *err)
{
    roast__buf_clear(&copy->out);
    return roast__json_copy(copy, in, value, err);
}

static int read_key(struct roast_metrics_draft *draft, struct roast_str key,
                    const struct roast_part *part,
                    const struct roast_measurement_sink *sink)
{
    const struct roast_json_token *value = part->value;
    struct roast_json_reader *in = part->in;
    roast_error *err = part->err;
    bool is_list = value->kind == ROAST_JSON_LIST;
    bool is_dict = value->kind == ROAST_JSON_DICT;

    if (is_list && roast__str_is(key, "raw_chunk_metrics"))
        return read_records(draft, in, value, sink, err);
    if (is_dict && roast__str_is(key, "tracking_data")) {
        roast__buf_clear(&draft->tracking_rest.out);
        return roast__tracking_read(&draft->tracking, in, value, &draft->tracking_rest,
                                    err);
    }
    if (is_dict && roast__str_is(key, "chunk_info"))
        return copy_alone(&draft->chunk_info, in, value, err);
    if (is_dict && roast__str_is(key, "custom_metrics"))
        return copy_alone(&draft->custom, in, value, err);
    if (is_list && roast__str_is(key, "raw_section_metrics"))
        return copy_alone(&draft->sections, in, value, err);
    if (is_dict && roast__str_is(key, "labels"))
        return read_labels(draft, in, err);
    if (is_dict && roast__str_is(key, "__roastcoffea__"))
        draft->is_ours = true;
    if (value->kind == ROAST_JSON_TEXT && roast__str_is(key, "monitor_first_error"))
        draft->first_error = roast__texts_keep(&draft->texts, value->text);
    note_number(draft, key, value);
    bool may_be_spans = is_dict && roast__str_is(key, "raw_span_metrics");
    int got = roast__json_copy_entry(&draft->rest, in, key, value, err);
    if (may_be_spans && got >= 0) {
        size_t size = draft->rest.out.size_bytes;
        draft->has_spans =
            got == 0 || (size > 2 && draft->rest.out.data[size - 2] != '{');
    }
    return got;
}

/* ---- the document ---------------------------------------------------------------- */

static int read_document(struct roast_metrics_draft *draft,
                         struct roast_json_reader *in,
                         const struct roast_measurement_sink *sink, roast_error *err)
{
    struct roast_json_token value;
    struct roast_str key;
    int got = roast__json_next(in, &value, err);

    if (got < 0)
        return got;
    if (value.kind != ROAST_JSON_DICT)
        return roast_error_set(err, ROAST_BAD_DATA,
                               "Metrics in %.150s are no JSON object", in->name);
    while ((got = roast__json_entry(in, &key, &value, err)) == 1) {
        const struct roast_part part = {in, &value, &draft->texts, err};
        int status = read_key(draft, key, &part, sink);
        if (status < 0)
            return status;
    }
    return got < 0 ? got : roast__json_next(in, &value, err);
}

int roast__metrics_read(struct roast_metrics_draft *draft,
                        struct roast_json_source source, const char *name,
                        const struct roast_measurement_sink *sink, roast_error *err)
{
    struct roast_json_reader in;
    int status = roast__json_open(&in, source, name, true, err);

    if (status == ROAST_OK)
        status = read_document(draft, &in, sink, err);
    draft->replaced += in.replaced;
    roast__json_release(&in);
    if (status >= 0 && (draft->texts.bytes.failed || !roast__buf_ok(&draft->labels)))
        status = roast_error_set(err, ROAST_NO_MEMORY, "labels of a run");
    return status < 0 ? status : ROAST_OK;
}
