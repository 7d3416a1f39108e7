/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.c - texts that describe a run, by group and name.
 *
 * A run has some dozens of them: linear search is fast enough.
 *
 * A text under a name like `token` is not kept at all. Any other text is redacted
 * together with its name, as `name=text`: the end of the name may mark a secret.
 * Documents and calls have JSON in them, which redaction would break: their authors
 * redact every text in them. */
#include "run/notes.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/journal/write.h"
#include "run/put.h"

struct roast_str roast__note_name(const struct roast_note *note)
{
    return (struct roast_str){note->bytes, note->name_bytes};
}

struct roast_str roast__note_text(const struct roast_note *note)
{
    return (struct roast_str){note->bytes + note->name_bytes, note->text_bytes};
}

static struct roast_note *find(const struct roast_notes *notes,
                               enum roast_note_group group, struct roast_str name)
{
    for (size_t i = 0; i < notes->count; i++) {
        struct roast_note *note = &notes->items[i];
        if (note->group == group && roast__str_equal(roast__note_name(note), name))
            return note;
    }
    return NULL;
}

/* Stores a text as it is; absent removes. False when out of memory; nothing changes then. */
static bool set_note(struct roast_notes *notes, enum roast_note_group group,
                     struct roast_str name, struct roast_str text)
{
    struct roast_note *note = find(notes, group, name);

    if (!text.data && note) {
        size_t later = notes->count - (size_t)(note - notes->items) - 1;
        roast__free(note->bytes);
        memmove(note, note + 1, later * sizeof(*note));
        notes->count--;
    }
    if (!text.data)
        return true;
    char *bytes = roast__realloc(NULL, name.size_bytes + text.size_bytes + 1);
    if (!bytes)
        return false;
    if (!note) {
        struct roast_note *items =
            roast__array_room(notes->items, &notes->cap, notes->count, sizeof(*items));
        if (!items) {
            roast__free(bytes);
            return false;
        }
        notes->items = items;
        note = &items[notes->count++];
        *note = (struct roast_note){.group = group};
    }
    if (name.size_bytes > 0)
        memcpy(bytes, name.data, name.size_bytes);
    if (text.size_bytes > 0)
        memcpy(bytes + name.size_bytes, text.data, text.size_bytes);
    roast__free(note->bytes);
    note->bytes = bytes;
    note->name_bytes = name.size_bytes;
    note->text_bytes = text.size_bytes;
    return true;
}

struct roast_str roast__notes_get(const struct roast_notes *notes,
                                  enum roast_note_group group, struct roast_str name)
{
    const struct roast_note *note = find(notes, group, name);

    return note ? roast__note_text(note) : (struct roast_str){NULL, 0};
}

/* Appends "name=text"; false if it does not fit or could not be parsed again. */
static bool put_label(char *out, size_t out_bytes, size_t *used,
                      const struct roast_note *note)
{
    struct roast_str name = roast__note_name(note);
    struct roast_str text = roast__note_text(note);
    size_t joint = *used > 0 ? 2 : 0;
    size_t size = name.size_bytes + 1 + text.size_bytes;

    if (joint + size >= out_bytes - *used)
        return false;
    memcpy(out + *used, ", ", joint);
    char *label = out + *used + joint;
    memcpy(label, name.data, name.size_bytes);
    label[name.size_bytes] = '=';
    memcpy(label + name.size_bytes + 1, text.data, text.size_bytes);
    *used += joint + size;
    return !memmem(label, size, ", ", 2) && !memchr(label, '\0', size);
}

/* roast_run_labels(); the lock is held. */
static int64_t put_labels(const struct roast_notes *notes, char *out, size_t out_bytes)
{
    size_t used = 0;
    int64_t count = 0;
    bool complete = true;

    for (size_t i = 0; i < notes->count; i++) {
        if (notes->items[i].group != ROAST_NOTES_label)
            continue;
        count++;
        complete = put_label(out, out_bytes, &used, &notes->items[i]) && complete;
    }
    out[used] = '\0';
    return complete ? count : -1;
}

void roast__notes_release(struct roast_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        roast__free(notes->items[i].bytes);
    roast__free(notes->items);
    memset(notes, 0, sizeof(*notes));
}

/* ---- into a run, without secrets ------------------------------------------------- */

enum { LONGEST_TEXT_BYTES = 64 << 20 };

static const char *const group_names[ROAST_NOTE_GROUP_COUNT] = {
#define G(name, text) #name,
#include "roast/run_note_groups.def"
#undef G
};

const char *roast_note_group_name(enum roast_note_group group)
{
    return group_names[group];
}

/* Redacts a text together with its name. *joined gets owned memory that *text points
 * into; false when out of memory. */
static bool redact_with_name(char **joined, struct roast_str *text,
                             struct roast_str name)
{
    size_t plain_bytes = name.size_bytes + 1 + text->size_bytes;
    size_t room_bytes = roast_str_redact_bound(plain_bytes);
    char *plain = roast__realloc(NULL, plain_bytes + room_bytes);

    if (!plain)
        return false;
    *joined = plain;
    memcpy(plain, name.data, name.size_bytes);
    plain[name.size_bytes] = '=';
    memcpy(plain + name.size_bytes + 1, text->data, text->size_bytes);
    char *clean = plain + plain_bytes;
    size_t size =
        roast_str_redact(clean, room_bytes, (struct roast_str){plain, plain_bytes});
    size_t text_at = name.size_bytes + 1;
    if (size >= text_at && memcmp(clean, plain, text_at) == 0) {
        *text = (struct roast_str){clean + text_at, size - text_at};
    } else { /* the name was redacted too: a URL */
        size = roast_str_redact(clean, room_bytes, *text);
        *text = (struct roast_str){clean, size};
    }
    return true;
}

/* A text under a name like `password` is replaced as a whole. */
static bool redact(char **joined, struct roast_str *text, struct roast_str name)
{
    if (!roast_str_is_secret(name, *text))
        return redact_with_name(joined, text, name);
    *text = roast_str_of("***");
    return true;
}

int roast__run_put_note(struct roast_run *run, enum roast_note_group group,
                        struct roast_str name, struct roast_str clean, roast_error *err)
{
    roast__run_lock(run);
    struct roast_str old = roast__notes_get(&run->notes, group, name);
    bool changed = !old.data != !clean.data || !roast__str_equal(old, clean);
    bool kept = !changed || set_note(&run->notes, group, name, clean);
    /* after a dropped change the file may not have it */
    if (kept && (changed || (run->journal && run->journal->dropped > 0)))
        roast__journal_write_note(run->journal, group, name, clean);
    roast__run_unlock(run);
    if (!kept)
        return roast_error_set(err, ROAST_NO_MEMORY, "a note of %zu bytes",
                               clean.size_bytes);
    return ROAST_OK;
}

int roast_run_set_note(roast_run *run, enum roast_note_group group,
                       struct roast_str name, struct roast_str text, roast_error *err)
{
    char *joined = NULL;
    int status = ROAST_OK;

    if (!name.data || name.size_bytes > ROAST_NOTE_NAME_BYTES)
        return roast_error_set(err, ROAST_LIMIT, "a note's name has 0 to %d bytes",
                               ROAST_NOTE_NAME_BYTES);
    if (text.size_bytes > LONGEST_TEXT_BYTES)
        return roast_error_set(err, ROAST_LIMIT, "a note of %zu bytes, at most %d",
                               text.size_bytes, LONGEST_TEXT_BYTES);
    bool is_redacted = group == ROAST_NOTES_document || group == ROAST_NOTES_call;
    if (text.data && !is_redacted && !redact(&joined, &text, name))
        status = roast_error_set(err, ROAST_NO_MEMORY, "a note of %zu bytes",
                                 text.size_bytes);
    if (status == ROAST_OK)
        status = roast__run_put_note(run, group, name, text, err);
    roast__free(joined);
    return status;
}

int64_t roast_run_note(roast_run *run, enum roast_note_group group, const char *name,
                       char *out, size_t out_bytes)
{
    int64_t size = -1;

    roast__run_lock(run);
    struct roast_str text = roast__notes_get(&run->notes, group, roast_str_of(name));
    if (out_bytes > 0)
        out[0] = '\0';
    if (text.data) {
        size = (int64_t)text.size_bytes;
        text = roast_str_cut(text, out_bytes > 0 ? out_bytes - 1 : 0);
    }
    if (text.data && out_bytes > 0) {
        memcpy(out, text.data, text.size_bytes);
        out[text.size_bytes] = '\0';
    }
    roast__run_unlock(run);
    return size;
}

void roast_run_notes(roast_run *run, enum roast_note_group group,
                     roast_note_visitor *note, void *context)
{
    roast__run_lock(run);
    for (size_t i = 0; i < run->notes.count; i++) {
        const struct roast_note *item = &run->notes.items[i];
        if (item->group == group)
            note(context, roast__note_name(item), roast__note_text(item));
    }
    roast__run_unlock(run);
}

int64_t roast_run_labels(roast_run *run, char *out, size_t out_bytes)
{
    roast__run_lock(run);
    int64_t count = put_labels(&run->notes, out, out_bytes);
    roast__run_unlock(run);
    return count;
}

/* ---- state ----------------------------------------------------------------------- */

/* An empty failure text counts too; it begins with the class of the exception. */
enum roast_run_state roast__run_state(const struct roast_run *run)
{
    struct roast_str failure =
        roast__notes_get(&run->notes, ROAST_NOTES_run, roast_str_of("failure"));

    if (failure.data) {
        const char *colon = memchr(failure.data, ':', failure.size_bytes);
        size_t size = colon ? (size_t)(colon - failure.data) : failure.size_bytes;
        return roast__str_is((struct roast_str){failure.data, size},
                             ROAST_INTERRUPT_CLASS)
                   ? ROAST_IS_interrupted
                   : ROAST_IS_failed;
    }
    return run->end_ns != 0 ? ROAST_IS_finished : ROAST_IS_unfinished;
}

enum roast_run_state roast_run_state(roast_run *run)
{
    roast__run_lock(run);
    enum roast_run_state state = roast__run_state(run);
    roast__run_unlock(run);
    return state;
}

const char *roast_run_state_name(enum roast_run_state state)
{
    static const char *const names[ROAST_STATE_COUNT] = {
#define S(name, text) #name,
#include "roast/run_states.def"
#undef S
    };
    return names[state];
}

struct roast_span roast_run_span(roast_run *run)
{
    roast__run_lock(run);
    struct roast_span span = {run->start_ns, run->end_ns};
    roast__run_unlock(run);
    return span;
}
