/* SPDX-License-Identifier: BSD-3-Clause */
/* visit.c - passes everything in a record to a sink.
 *
 * Single values follow record_views.def; sections, ladder, branches, endpoints, file,
 * losses, reasons and free-form values are maps and lists, called parts here. A part
 * with broken bytes is left out, and the call returns the first such failure at the
 * end: a sink always gets balanced maps and lists.
 *
 * A key of the user never replaces a built-in one: entries of a map are added to the
 * built-in map of that name unless they exist there, other values move to
 * custom_metrics. */
#include "record/visit.h"

#include <stdio.h>

enum { MAX_NAMES = 4096 }; /* of a part, compared with keys of the user */

void roast__visit_fail(struct roast_visit *v, int status, const roast_error *err)
{
    if (v->status < 0)
        return;
    v->status = status;
    if (v->err && err)
        *v->err = *err;
}

void roast__visit_no_memory(struct roast_visit *v, const char *what)
{
    roast_error err = {0};

    roast__visit_fail(v, roast_error_set(&err, ROAST_NO_MEMORY, "%s", what), &err);
}

/* ---- free-form values ---------------------------------------------------------- */

/* Reads one value with everything in it off a checked blob. sink NULL: it is
 * skipped. */
static void take_value(const struct roast_value_sink *sink, struct roast_str *blob)
{
    struct {
        uint64_t left;
        bool is_map;
    } levels[ROAST_VALUE_MAX_DEPTH + 1] = {{1, false}};
    size_t depth = 1;

    for (;;) {
        struct roast_value value;
        struct roast_str key;
        levels[depth - 1].left--;
        if (levels[depth - 1].is_map && roast_value_next_key(&key, blob, NULL) == 1 &&
            sink)
            sink->key(sink->context, key);
        (void)roast_value_next(&value, blob, NULL);
        if (value.type == ROAST_VALUE_LIST || value.type == ROAST_VALUE_DICT) {
            levels[depth].left = value.count;
            levels[depth++].is_map = value.type == ROAST_VALUE_DICT;
            if (sink)
                sink->open(sink->context, value.type == ROAST_VALUE_DICT);
        } else if (sink) {
            sink->value(sink->context, &value);
        }
        while (depth > 1 && levels[depth - 1].left == 0) {
            depth--;
            if (sink)
                sink->close(sink->context, levels[depth].is_map);
        }
        if (depth == 1)
            return;
    }
}

/* The blob of a field, or an absent one where it is not well formed. */
static struct roast_str checked_values(struct roast_visit *v, enum roast_field field)
{
    struct roast_str blob = roast__blob_of(v, field);
    roast_error err = {0};
    int status = roast_values_check(blob, &err);

    if (status == ROAST_OK)
        return blob;
    roast__visit_fail(v, status, &err);
    return (struct roast_str){NULL, 0};
}

/* ---- parts --------------------------------------------------------------------- */

/* The entries of the map that the user set under this name, as a blob of keys and
 * values; absent where there is none. */
static struct roast_str user_map(const struct roast_visit *v, const char *name)
{
    struct roast_str blob = v->user_keys;
    struct roast_str found = {NULL, 0};
    struct roast_str key;

    while (roast_value_next_key(&key, &blob, NULL) == 1) {
        struct roast_str inner = blob;
        struct roast_value value;
        take_value(NULL, &blob);
        if (!roast__same_str(key, roast_str_of(name)) ||
            roast_value_next(&value, &inner, NULL) != 1)
            continue;
        found = (struct roast_str){NULL, 0};
        if (value.type == ROAST_VALUE_DICT)
            found = (struct roast_str){inner.data, (size_t)(blob.data - inner.data)};
    }
    return found;
}

void roast__part_open(struct roast_visit *v, const char *name)
{
    roast__put_key(v, name);
    roast__open(v, ROAST_MAP);
    v->parts[v->part_count++] = name;
    v->names.size_bytes = 0;
    v->joining = user_map(v, name);
}

/* The key of an entry of a part. */
void roast__part_key(struct roast_visit *v, struct roast_str name)
{
    v->sink->key(v->sink->context, name);
    if (v->joining.size_bytes > 0 && v->names.size_bytes < MAX_NAMES * sizeof(name))
        roast__buf_put(&v->names, &name, sizeof(name));
}

void roast__part_put(struct roast_visit *v, const char *name, struct roast_value value)
{
    roast__part_key(v, roast_str_of(name));
    v->sink->value(v->sink->context, &value);
}

static bool has_name(const struct roast_visit *v, struct roast_str name)
{
    const struct roast_str *names = (const void *)v->names.data;

    for (size_t i = 0; i < v->names.size_bytes / sizeof(name); i++) {
        if (roast__same_str(names[i], name))
            return true;
    }
    return false;
}

static void join_user_entries(struct roast_visit *v)
{
    struct roast_str left = v->joining;
    struct roast_str key;

    if (!roast__buf_ok(&v->names)) {
        roast__visit_no_memory(v, "names of a part");
        return;
    }
    while (roast_value_next_key(&key, &left, NULL) == 1) {
        bool is_known = has_name(v, key);
        if (!is_known)
            v->sink->key(v->sink->context, key);
        take_value(is_known ? NULL : v->sink, &left);
    }
}

void roast__part_close(struct roast_visit *v)
{
    join_user_entries(v);
    roast__close(v, ROAST_MAP);
}

/* ---- single values -------------------------------------------------------------- */

static void visit_views(struct roast_visit *v, const struct roast_record_parts *parts)
{
    size_t view_count = 0;
    const struct roast_view *views = roast_views(&view_count);

    for (size_t i = 0; i < view_count; i++) {
        struct roast_value value = roast__view_value(&views[i], v->rec, parts);
        bool is_shown = value.type != ROAST_VALUE_NULL || views[i].always;
        if (is_shown &&
            !(views[i].kind == ROAST_VIEW_NONE && roast__has(v, views[i].field)))
            roast__put(v, views[i].key, value);
    }
}

static void visit_identity(struct roast_visit *v)
{
    static const unsigned char no_run[ROAST_RUN_ID_BYTES];
    struct roast_identity id;
    char hex[2 * ROAST_RUN_ID_BYTES + 1];

    if (roast_identity_unpack(&id, roast__blob_of(v, ROAST_FIELD_identity), NULL) < 0)
        return;
    for (int i = 0; i < ROAST_RUN_ID_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", id.run_id[i]);
    if (memcmp(id.run_id, no_run, sizeof(no_run)) != 0)
        roast__put(v, "run_id", roast__text_of(hex));
    roast__put(v, "process_id", roast__count(id.process_id));
    roast__put(v, "sequence", roast__count(id.sequence));
}

/* The type of the exception, its message and its section; and "Type: message". */
static void visit_error(struct roast_visit *v)
{
    struct roast_str type = roast__blob_of(v, ROAST_FIELD_error_type);
    struct roast_str message = roast__blob_of(v, ROAST_FIELD_error_message);
    struct roast_buf both = {NULL, 0, 0, false};

    if (type.data)
        roast__put(v, "error_type", roast__text(type));
    if (message.data)
        roast__put(v, "error_message", roast__text(message));
    if (roast__has(v, ROAST_FIELD_error_section))
        roast__put(v, "error_section",
                   roast__text(roast__blob_of(v, ROAST_FIELD_error_section)));
    if (!type.data)
        return;
    roast__buf_put(&both, type.data, type.size_bytes);
    if (message.data) {
        roast__buf_put(&both, ": ", 2);
        roast__buf_put(&both, message.data, message.size_bytes);
    }
    if (roast__buf_ok(&both))
        roast__put(
            v, "error",
            roast__text((struct roast_str){(const char *)both.data, both.size_bytes}));
    else
        roast__visit_no_memory(v, "the text of an error");
    roast__buf_release(&both);
}

/* ---- losses and reasons ---------------------------------------------------------- */

static void visit_losses(struct roast_visit *v)
{
    struct roast_str blob = roast__blob_of(v, ROAST_FIELD_losses);
    struct roast_pair pair;
    roast_error err = {0};
    int got;

    roast__part_open(v, "losses");
    while ((got = roast_pair_next(&pair, &blob, &err)) == 1) {
        const char *name =
            pair.key < ROAST_LOSS_END ? roast_loss_name((unsigned)pair.key) : NULL;
        roast__part_put(v, name ? name : "unknown", roast__count(pair.value));
    }
    if (got < 0)
        roast__visit_fail(v, got, &err);
    roast__part_close(v);
}

/* A reason, under every name that readers use for the field. */
static void visit_absences(struct roast_visit *v)
{
    struct roast_str blob = roast__blob_of(v, ROAST_FIELD_absences);
    size_t view_count = 0;
    const struct roast_view *views = roast_views(&view_count);
    struct roast_pair pair;
    roast_error err = {0};
    int got;

    roast__part_open(v, "unavailable");
    while ((got = roast_pair_next(&pair, &blob, &err)) == 1) {
        const char *why =
            pair.value < ROAST_WHY_END ? roast_reason_text((unsigned)pair.value) : NULL;
        for (size_t i = 0; i < view_count; i++) {
            if (roast_field_info(views[i].field)->number == pair.key ||
                roast_field_info(views[i].other)->number == pair.key)
                roast__part_put(v, views[i].key,
                                roast__text_of(why ? why : "unknown reason"));
        }
    }
    if (got < 0)
        roast__visit_fail(v, got, &err);
    roast__part_close(v);
}

/* ---- values of the user ----------------------------------------------------------- */

static void visit_entries(struct roast_visit *v, struct roast_str blob)
{
    struct roast_str key;

    while (roast_value_next_key(&key, &blob, NULL) == 1) {
        roast__part_key(v, key);
        take_value(v->sink, &blob);
    }
}

static bool is_shown_map(const struct roast_visit *v, struct roast_str name)
{
    for (size_t i = 0; i < v->part_count; i++) {
        if (roast__same_str(name, roast_str_of(v->parts[i])))
            return true;
    }
    return false;
}

/* Whether a key is a built-in one, present in this record or not. */
static bool is_ours(const struct roast_visit *v, struct roast_str key)
{
    static const char *const others[] = {
        "error",     "error_type",      "error_message", "error_section", "run_id",
        "sequence",  "process_id",      "process",       "ladder",        "split",
        "branches",  "offset_branches", "endpoints",     "file_metadata", "sections",
        "intervals", "memory_sections"};
    size_t view_count = 0;
    const struct roast_view *views = roast_views(&view_count);

    for (size_t i = 0; i < view_count; i++) {
        if (roast__same_str(key, roast_str_of(views[i].key)))
            return true;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (roast__same_str(key, roast_str_of(others[i])))
            return true;
    }
    return is_shown_map(v, key);
}

/* The user's keys with a built-in name (and no map to be added to), or the others. */
static void visit_user_keys(struct roast_visit *v, bool with_our_names)
{
    struct roast_str blob = v->user_keys;
    struct roast_str key;

    while (roast_value_next_key(&key, &blob, NULL) == 1) {
        bool ours = is_ours(v, key);
        bool joined = ours && blob.size_bytes > 0 &&
                      blob.data[0] == (char)ROAST_VALUE_DICT && is_shown_map(v, key);
        bool is_wanted = ours == with_our_names && !joined;
        if (is_wanted)
            v->sink->key(v->sink->context, key);
        take_value(is_wanted ? v->sink : NULL, &blob);
    }
}

/* ---- all of it --------------------------------------------------------------------- */

/* Numbers as they were stored, of the fields that no view shows under the same name. */
static void visit_stored(struct roast_visit *v, const struct roast_record_parts *parts)
{
    for (int i = 0; i < ROAST_FIELD_COUNT; i++) {
        enum roast_field field = (enum roast_field)i;
        const struct roast_field_info *info = roast_field_info(field);
        bool is_number = info->type != ROAST_TYPE_TEXT && info->type != ROAST_TYPE_BLOB;
        if (!roast__has(v, field) || !is_number || is_ours(v, roast_str_of(info->name)))
            continue;
        if (info->type == ROAST_TYPE_U64)
            roast__put(v, info->name, roast__count(v->rec->values[field].u64));
        else
            roast__put(v, info->name,
                       (struct roast_value){.type = ROAST_VALUE_INT,
                                            .integer = v->rec->values[field].i64});
    }
    if (!parts->ladder_known)
        return;
    roast__put_key(v, "ladder_items");
    roast__open(v, ROAST_MAP);
    for (int i = ROAST_SLICE_COUNT; i < ROAST_ITEM_COUNT; i++) {
        enum roast_ladder_item item = (enum roast_ladder_item)i;
        char name[64];
        if (!roast_ladder_has(&parts->ladder, item))
            continue;
        (void)snprintf(name, sizeof(name), "%s%s", roast_ladder_info(item)->name,
                       roast_ladder_info(item)->kind == ROAST_LADDER_TIME ? "_ns" : "");
        roast__put(v, name, roast__count(parts->ladder.values[i]));
    }
    roast__close(v, ROAST_MAP);
}

int roast_record_visit(const roast_record *rec, const struct roast_value_sink *sink,
                       roast_error *err)
{
    struct roast_visit v = {.rec = rec, .sink = sink, .err = err};
    struct roast_record_parts parts;
    roast_error bad = {0};
    int status = roast__record_parts_read(&parts, rec, &bad);

    if (status < 0)
        roast__visit_fail(&v, status, &bad);
    v.user_keys = checked_values(&v, ROAST_FIELD_user_keys);
    visit_views(&v, &parts);
    visit_identity(&v);
    visit_error(&v);
    roast__visit_sections(&v);
    if (parts.ladder_known)
        roast__visit_ladder(&v, &parts.ladder);
    if (roast__has(&v, ROAST_FIELD_branches))
        roast__visit_branches(&v);
    if (roast__has(&v, ROAST_FIELD_endpoints))
        roast__visit_endpoints(&v);
    if (parts.facts_known)
        roast__visit_file(&v, &parts.facts);
    visit_losses(&v);
    visit_absences(&v);
    if (roast__has(&v, ROAST_FIELD_process)) {
        roast__part_open(&v, "process");
        visit_entries(&v, checked_values(&v, ROAST_FIELD_process));
        roast__part_close(&v);
    }
    roast__part_open(&v, "custom_metrics");
    visit_entries(&v, checked_values(&v, ROAST_FIELD_custom_metrics));
    join_user_entries(&v);
    visit_user_keys(&v, true);
    roast__close(&v, ROAST_MAP);
    visit_user_keys(&v, false);
    if (sink->wants_stored)
        visit_stored(&v, &parts);
    roast__buf_release(&v.names);
    return v.status;
}
