/* SPDX-License-Identifier: BSD-3-Clause */
/* anonymise.c - a copy of a run in which names are tokens.
 *
 * The journal of the run, or of its file, is applied to another one. On the way each
 * text is kept, replaced or left out by its place in the journal: what is not listed here
 * as harmless is not kept. A token is the role of a name and its number in order of first
 * use, so that one name has one token in all places of the same role, and in every
 * copy. */
#include <stdio.h>
#include <string.h>

#include "analyze/rerun/fileset.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "export/export.h"
#include "file/runfile.h"
#include "record/values.h"
#include "roast/ladder.h"
#include "run/field_set.h"
#include "run/journal/apply.h"
#include "run/put.h"

enum role {
    KEPT, /* as it is */
    OUT,  /* left out */
    DATASET,
    SOURCE_FILE,
    HOST,
    WORKER,
    WORKER_NAME,
    PROCESSOR, /* also prefixes of tasks, which are named after it */
    CODE_FILE,
    FUNCTION,
    ENDPOINT,
    LABEL,
    LABEL_TEXT,
    LEAVE_REASON,
    FAILURE,
    CALL,
    ROLE_COUNT
};

static const char *const role_names[ROLE_COUNT] = {
    [DATASET] = "dataset", [SOURCE_FILE] = "file",  [HOST] = "host",
    [WORKER] = "worker",   [WORKER_NAME] = "name",  [PROCESSOR] = "processor",
    [CODE_FILE] = "code",  [FUNCTION] = "function", [ENDPOINT] = "endpoint",
    [LABEL] = "label",     [LABEL_TEXT] = "value",
};

/* Of the texts of entries, in their order. */
static const unsigned char entry_roles[ROAST_ENTRY_END][4] = {
    [ROAST_ENTRY_start] = {HOST},
    [ROAST_ENTRY_host] = {HOST},
    [ROAST_ENTRY_offset] = {HOST},
    [ROAST_ENTRY_record] = {WORKER},
    [ROAST_ENTRY_sample] = {WORKER},
    [ROAST_ENTRY_series] = {WORKER},
    [ROAST_ENTRY_member] = {WORKER, WORKER_NAME, HOST},
    [ROAST_ENTRY_session] = {WORKER, WORKER_NAME, HOST, LEAVE_REASON},
    [ROAST_ENTRY_departure] = {WORKER, LEAVE_REASON},
    [ROAST_ENTRY_task] = {PROCESSOR, WORKER},
    [ROAST_ENTRY_activity] = {KEPT, PROCESSOR, KEPT, KEPT},
    [ROAST_ENTRY_hot_line] = {CODE_FILE, FUNCTION, OUT},
    [ROAST_ENTRY_first_error] = {OUT},
};

/* Of notes; a name ending in a point stands for all that begin with it. What is not here
 * is left out. */
static const struct {
    const char *name; /* NULL: all */
    enum roast_note_group group;
    enum role role;
} note_roles[] = {
    {"id", ROAST_NOTES_run, KEPT},
    {"processor", ROAST_NOTES_run, PROCESSOR},
    {"executor", ROAST_NOTES_run, KEPT},
    {"failure", ROAST_NOTES_run, FAILURE},
    {"why_off", ROAST_NOTES_run, KEPT},
    {"partial", ROAST_NOTES_run, KEPT},
    {NULL, ROAST_NOTES_label, LABEL_TEXT},
    {"version.", ROAST_NOTES_provenance, KEPT},
    {"platform", ROAST_NOTES_provenance, KEPT},
    {"client", ROAST_NOTES_provenance, KEPT},
    {"gpu.", ROAST_NOTES_provenance, KEPT},
    {"worker_tracking", ROAST_NOTES_provenance, KEPT},
    {"runner.chunksize", ROAST_NOTES_provenance, KEPT},
    {"runner.maxchunks", ROAST_NOTES_provenance, KEPT},
    {NULL, ROAST_NOTES_death, KEPT},
    {NULL, ROAST_NOTES_unknowable, KEPT},
    {NULL, ROAST_NOTES_call, CALL},
};

enum { TOKEN_BYTES = 80, TOKENS = 8 };

struct anonymiser {
    struct roast_rewrite rewrite;
    struct roast_string_table names[ROLE_COUNT]; /* in order of first use */
    char tokens[TOKENS][TOKEN_BYTES]; /* the last ones: enough for an entry */
    unsigned next_token;
    enum roast_note_group group; /* of the note that is read */
    enum role note_role;
    bool is_items;               /* it is the note `N items` */
    struct roast_buf text;       /* of a note */
    struct roast_buf endpoints;  /* of a record */
    struct roast_values process; /* of a record */
    struct roast_values custom;  /* of a record */
    unsigned char place[ROAST_PLACE_BYTES];
    bool failed; /* out of memory */
};

static const struct roast_str absent = {NULL, 0};

/* ---- names ----------------------------------------------------------------------- */

static struct roast_str token(struct anonymiser *own, enum role role,
                              struct roast_str name)
{
    char *room = own->tokens[own->next_token++ % TOKENS];
    int32_t number = roast__strings_put(&own->names[role], name);

    own->failed |= number == ROAST_STRING_NO_MEMORY;
    if (number < 0)
        return absent;
    int size = snprintf(room, TOKEN_BYTES, "%s-%d", role_names[role], number + 1);
    return (struct roast_str){room, (size_t)size};
}

static bool consists_of(struct roast_str text, const char *characters)
{
    size_t i = 0;

    while (i < text.size_bytes && text.data[i] != '\0' &&
           strchr(characters, text.data[i]))
        i++;
    return i > 0 && i == text.size_bytes;
}

/* Of an address like tcp://10.0.0.7:4321 only the host is replaced; absent: it is none. */
static struct roast_str address_token(struct anonymiser *own, struct roast_str name)
{
    static const char *const schemes[] = {"tcp", "tls", "ws", "wss", "ucx", NULL};
    struct roast_str scheme = roast__fileset_next(&name, ':');
    const char *colon = name.data ? memrchr(name.data, ':', name.size_bytes) : NULL;

    if (!colon || !roast__str_begins(name, "//") ||
        !roast__str_is_one_of(scheme, schemes))
        return absent;
    struct roast_str host = {name.data + 2, (size_t)(colon - name.data) - 2};
    struct roast_str port = {colon + 1, name.size_bytes - host.size_bytes - 3};
    if (!consists_of(port, "0123456789") || port.size_bytes > 5)
        return absent;
    host = token(own, HOST, host);
    char *room = own->tokens[own->next_token++ % TOKENS];
    int size = snprintf(room, TOKEN_BYTES, "%.*s://%.*s:%.*s", (int)scheme.size_bytes,
                        scheme.data, (int)host.size_bytes, host.data,
                        (int)port.size_bytes, port.data);
    return (struct roast_str){room, (size_t)size};
}

/* A process or GPU of the client's machine is called after its number, which is no
 * secret. */
static struct roast_str worker_token(struct anonymiser *own, struct roast_str name)
{
    struct roast_str address = address_token(own, name);

    if ((roast__str_begins(name, "pid-") || roast__str_begins(name, "gpu-")) &&
        consists_of((struct roast_str){name.data + 4, name.size_bytes - 4},
                    "0123456789-"))
        return name;
    return address.data ? address : token(own, WORKER, name);
}

/* What coffea calls its own tasks is kept: kinds of tasks follow from it. */
static struct roast_str processor_token(struct anonymiser *own, struct roast_str name)
{
    static const char *const coffeas[] = {"automatic_retries", "get_metadata", "reduce",
                                          "lambda", NULL};

    return roast__str_is_one_of(name, coffeas) ? name : token(own, PROCESSOR, name);
}

/* One of ours without its details. */
static struct roast_str leave_reason(struct roast_str reason)
{
    for (int i = 0; i < ROAST_LEAVE_COUNT; i++) {
        const char *known = roast_leave_reason_info((enum roast_leave_reason)i)->text;
        if (roast__str_begins(reason, known))
            return roast_str_of(known);
    }
    return absent;
}

static struct roast_str rewrite_call(struct anonymiser *own, struct roast_str text);

static struct roast_str replace(struct anonymiser *own, enum role role,
                                struct roast_str text)
{
    if (!text.data || role == KEPT)
        return text;
    switch (role) {
    case OUT:
        return absent;
    case WORKER:
        return worker_token(own, text);
    case PROCESSOR:
        return processor_token(own, text);
    case LEAVE_REASON:
        return leave_reason(text);
    case FAILURE: /* the class of the exception */
        text = roast__fileset_next(&text, ':');
        return memchr(text.data, ' ', text.size_bytes) ? roast_str_of("failure") : text;
    case CALL:
        return rewrite_call(own, text);
    default:
        return token(own, role, text);
    }
}

/* ---- notes ----------------------------------------------------------------------- */

static void put(struct roast_buf *out, struct roast_str text)
{
    roast__buf_put(out, text.data, text.size_bytes);
}

/* A line of a note of a call; src/analyze/rerun/plan.c has them all. */
static void rewrite_line(struct anonymiser *own, struct roast_str line)
{
    struct roast_str rest = line;
    struct roast_str kind = roast__fileset_next(&rest, '\t');
    static const char *const kept[] = {"run",      "postprocess", "maxchunks", "part",
                                       "reruns",   "inexact",     "items",     "in",
                                       "unlisted", "records",     "unknown",   NULL};
    bool is_file = roast__str_is(kind, "file");
    enum role role = is_file                            ? SOURCE_FILE
                     : roast__str_is(kind, "dataset")   ? DATASET
                     : roast__str_is(kind, "processor") ? PROCESSOR
                                                        : KEPT;

    if (role == KEPT && !roast__str_is_one_of(kind, kept))
        return;
    if (own->text.size_bytes > 0)
        roast__buf_put(&own->text, "\n", 1);
    if (role == KEPT) {
        put(&own->text, line);
        return;
    }
    put(&own->text, kind);
    roast__buf_put(&own->text, "\t", 1);
    put(&own->text, replace(own, role, roast__fileset_next(&rest, '\t')));
    if (is_file && own->is_items) {
        (void)roast__fileset_next(&rest, '\t'); /* the UUID of the file */
        roast__buf_put(&own->text, "\t", 1);
    }
    if (is_file && rest.data) { /* its tree */
        roast__buf_put(&own->text, "\t", 1);
        put(&own->text, rest);
    }
}

static struct roast_str rewrite_call(struct anonymiser *own, struct roast_str text)
{
    roast__buf_clear(&own->text);
    roast__buf_reserve(&own->text, 1); /* empty is not absent */
    while (text.data)
        rewrite_line(own, roast__fileset_next(&text, '\n'));
    own->failed |= !roast__buf_ok(&own->text);
    return (struct roast_str){(const char *)own->text.data, own->text.size_bytes};
}

static bool is_note(const char *known, struct roast_str name)
{
    if (!known || roast__str_is(name, known))
        return true;
    return known[strlen(known) - 1] == '.' && roast__str_begins(name, known);
}

static enum role role_of_note(enum roast_note_group group, struct roast_str name)
{
    for (size_t i = 0; i < sizeof(note_roles) / sizeof(note_roles[0]); i++) {
        if (note_roles[i].group == group && is_note(note_roles[i].name, name))
            return note_roles[i].role;
    }
    return OUT;
}

/* Group, name and text of a note; without a name or a text there is none. */
static struct roast_str rewrite_note(struct anonymiser *own, unsigned n,
                                     struct roast_str text)
{
    static const char items[] = " items";
    size_t size = sizeof(items) - 1;

    switch (n) {
    case 0:
        own->group = ROAST_NOTE_GROUP_COUNT;
        for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
            if (roast__str_is(text, roast_note_group_name((enum roast_note_group)i)))
                own->group = (enum roast_note_group)i;
        }
        return text;
    case 1:
        own->note_role = role_of_note(own->group, text);
        own->is_items = text.size_bytes > size &&
                        memcmp(text.data + text.size_bytes - size, items, size) == 0;
        if (own->note_role == OUT)
            return absent;
        return own->note_role == LABEL_TEXT ? token(own, LABEL, text) : text;
    default:
        return replace(own, own->note_role, text);
    }
}

static struct roast_str rewrite_text(void *context, enum roast_entry kind, unsigned n,
                                     struct roast_str text)
{
    struct anonymiser *own = context;

    if (kind == ROAST_ENTRY_note)
        return rewrite_note(own, n, text);
    return replace(own, n < 4 ? (enum role)entry_roles[kind][n] : OUT, text);
}

/* ---- records --------------------------------------------------------------------- */

/* The names of dataset and file as ids, see record/identity.c. Their tokens must be names
 * of the copy: nothing else may mention them. */
static void rewrite_place(struct anonymiser *own, roast_run *run, roast_record *rec)
{
    static const enum role roles[] = {DATASET, SOURCE_FILE};
    struct roast_str place = rec->values[ROAST_FIELD_place].str;

    if (place.size_bytes != ROAST_PLACE_BYTES)
        return;
    memcpy(own->place, place.data, ROAST_PLACE_BYTES);
    for (size_t i = 0; i < 2; i++) {
        uint32_t id = (uint32_t)roast__load_fixed(own->place + 4 * i, 4);
        struct roast_str name =
            replace(own, roles[i],
                    roast__strings_get(&own->rewrite.announced,
                                       roast__names_find(&own->rewrite.names, id)));
        if (!name.data)
            continue; /* nothing knows its name */
        roast__store_fixed(own->place + 4 * i, roast_name_id(name), 4);
        own->failed |= roast__run_put_name(run, name, NULL) < 0;
    }
    rec->values[ROAST_FIELD_place].str =
        (struct roast_str){(const char *)own->place, ROAST_PLACE_BYTES};
}

/* False: they are damaged. */
static bool rewrite_endpoints(struct anonymiser *own, struct roast_str *blob)
{
    int64_t count = roast_endpoints_read(NULL, 0, *blob, NULL);
    size_t many = count > 0 ? (size_t)count : 0;
    struct roast_endpoint *all = roast__alloc(many * sizeof(*all));
    char(*rooms)[TOKEN_BYTES] = roast__alloc(many * sizeof(*rooms));
    int64_t size = -1;

    roast__buf_clear(&own->endpoints);
    roast__buf_reserve(&own->endpoints,
                       many * (ROAST_ENDPOINT_BOUND_BYTES + TOKEN_BYTES) + 16);
    own->failed |= !all || !rooms || !roast__buf_ok(&own->endpoints);
    if (count >= 0 && !own->failed) {
        (void)roast_endpoints_read(all, many, *blob, NULL);
        for (size_t i = 0; i < many; i++) {
            struct roast_str name = token(own, ENDPOINT, all[i].name);
            if (name.data)
                memcpy(rooms[i], name.data, name.size_bytes);
            all[i].name = (struct roast_str){rooms[i], name.size_bytes};
        }
        size = roast_endpoints_write(own->endpoints.data, own->endpoints.cap_bytes, all,
                                     many, NULL);
    }
    roast__free(all);
    roast__free(rooms);
    *blob = (struct roast_str){(const char *)own->endpoints.data,
                               size > 0 ? (size_t)size : 0};
    return size > 0;
}

/* The numbers of a blob of values; what else is in it is null. False: it is empty. */
static bool keep_numbers(struct anonymiser *own, struct roast_values *out,
                         struct roast_str *blob)
{
    struct roast_str rest = *blob, key;

    roast__values_clear(out);
    while (roast_value_next_key(&key, &rest, NULL) == 1) {
        struct roast_str whole = rest;
        struct roast_value value;
        if (roast_value_next(&value, &whole, NULL) != 1 ||
            roast_value_skip(&rest, NULL) < 0)
            break;
        roast_values_put_key(out, key);
        if (value.type == ROAST_VALUE_INT)
            roast_values_put_int(out, value.integer);
        else if (value.type == ROAST_VALUE_DOUBLE)
            roast_values_put_double(out, value.number);
        else if (value.type == ROAST_VALUE_TRUE || value.type == ROAST_VALUE_FALSE)
            roast_values_put_bool(out, value.type == ROAST_VALUE_TRUE);
        else
            roast_values_put_null(out);
    }
    own->failed |= !roast_values_ok(out);
    *blob = roast_values_blob(out);
    return blob->data != NULL;
}

/* A damaged file is recognised by the beginning of a message of zlib. */
static struct roast_str message_without_names(struct roast_str message)
{
    static const char zlib[] = "Error -";

    return roast__str_begins(message, zlib) ? roast_str_of(zlib) : absent;
}

static void rewrite_record(void *context, roast_run *run, roast_record *rec)
{
    static const struct {
        enum roast_field field;
        enum role role;
    } names[] = {
        {ROAST_FIELD_dataset, DATASET},
        {ROAST_FIELD_file, SOURCE_FILE},
        {ROAST_FIELD_host, HOST},
        {ROAST_FIELD_worker, WORKER},
    };
    struct anonymiser *own = context;
    struct roast_str *message = &rec->values[ROAST_FIELD_error_message].str;

    rec->present &=
        ~(ROAST_BIT(uuid) | ROAST_BIT(user_keys) | ROAST_BIT(monitor_first_error));
    if (roast_record_has(rec, ROAST_FIELD_error_message)) {
        *message = message_without_names(*message);
        if (!message->data)
            rec->present &= ~ROAST_BIT(error_message);
    }
    if (roast_record_has(rec, ROAST_FIELD_place))
        rewrite_place(own, run, rec);
    if (roast_record_has(rec, ROAST_FIELD_endpoints) &&
        !rewrite_endpoints(own, &rec->values[ROAST_FIELD_endpoints].str))
        rec->present &= ~ROAST_BIT(endpoints);
    if (roast_record_has(rec, ROAST_FIELD_process) &&
        !keep_numbers(own, &own->process, &rec->values[ROAST_FIELD_process].str))
        rec->present &= ~ROAST_BIT(process);
    if (roast_record_has(rec, ROAST_FIELD_custom_metrics) &&
        !keep_numbers(own, &own->custom, &rec->values[ROAST_FIELD_custom_metrics].str))
        rec->present &= ~ROAST_BIT(custom_metrics);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]);
         i++) { /* last: see tokens */
        struct roast_str *name = &rec->values[names[i].field].str;
        if (roast_record_has(rec, names[i].field))
            *name = replace(own, names[i].role, *name);
    }
}

/* ---- the copy -------------------------------------------------------------------- */

static struct anonymiser *anonymiser_new(roast_error *err)
{
    struct anonymiser *own = roast__alloc(sizeof(*own));

    if (!own)
        (void)roast_error_set(err, ROAST_NO_MEMORY, "a copy of a run");
    else
        own->rewrite = (struct roast_rewrite){
            .text = rewrite_text, .record = rewrite_record, .context = own};
    return own;
}

/* Releases everything; the copy too, after a failure. */
static int finish(struct anonymiser *own, roast_run **copy, int status,
                  roast_error *err)
{
    if (status == ROAST_OK && own->failed)
        status = roast_error_set(err, ROAST_NO_MEMORY, "a copy of a run");
    if (status < 0) {
        roast_run_free(*copy);
        *copy = NULL;
    }
    for (int i = 0; i < ROLE_COUNT; i++)
        roast__strings_release(&own->names[i]);
    roast__strings_release(&own->rewrite.announced);
    roast__names_release(&own->rewrite.names);
    roast__buf_release(&own->text);
    roast__buf_release(&own->endpoints);
    roast__values_release(&own->process);
    roast__values_release(&own->custom);
    roast__free(own);
    return status;
}

static int apply_block(void *context, struct roast_block *block, roast_error *err)
{
    const char *entries = (const char *)block->bytes + ROAST_BLOCK_HEAD_BYTES;

    return roast__apply_block(context, (struct roast_str){entries, block->size_bytes},
                              false, err);
}

int roast_run_anonymise(roast_run **out, roast_run *run, roast_error *err)
{
    struct anonymiser *own = anonymiser_new(err);
    struct roast_apply apply = {0};

    *out = NULL;
    if (!own)
        return ROAST_NO_MEMORY;
    apply.rewrite = &own->rewrite;
    int64_t mono_ns = roast__sat_sub(run->start_ns, run->epoch_minus_mono_ns);
    int status = roast__apply_start(&apply, mono_ns, run->start_ns, err);
    if (status == ROAST_OK)
        status = roast__journal_dump(run, apply_block, &apply, err);
    *out = apply.run;
    apply.run = NULL; /* moved to the caller */
    roast__apply_release(&apply);
    return finish(own, out, status, err);
}

/* Names come before what mentions their ids in a finished file, and not in a live one. */
int roast_runfile_anonymise(roast_run **out, roast_runfile *file, roast_error *err)
{
    roast_run *whole = NULL;

    *out = NULL;
    if (file->header.live) {
        int status = roast_runfile_run(file, true, &whole, err);
        return status < 0 ? status : roast_run_anonymise(out, whole, err);
    }
    struct anonymiser *own = anonymiser_new(err);
    if (!own)
        return ROAST_NO_MEMORY;
    int status = roast__runfile_rewritten(file, &own->rewrite, out, err);
    return finish(own, out, status, err);
}
