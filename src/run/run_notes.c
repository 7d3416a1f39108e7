/* SPDX-License-Identifier: BSD-3-Clause */
/* run_notes.c - words into a run, without secrets.
 *
 * What has a name like `token` is not kept at all. Any other text is redacted behind its
 * name, as `name=text`: a name may end in what announces a secret. Documents are JSON,
 * which redacting would break: whoever makes them redacts every text in them. */
#include "base/mem.h"
#include "run/array.h"
#include "run/apply.h"
#include "run/journal_write.h"

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

/* Redacts a text as it stands behind its name. *joined gets owned memory that *text points
 * into; false when out of memory. */
static bool redact_behind(char **joined, struct roast_str *text, struct roast_str name)
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
    size_t behind = name.size_bytes + 1;
    if (size >= behind && memcmp(clean, plain, behind) == 0) {
        *text = (struct roast_str){clean + behind, size - behind};
    } else { /* the name lost something too: a URL */
        size = roast_str_redact(clean, room_bytes, *text);
        *text = (struct roast_str){clean, size};
    }
    return true;
}

/* What stands under a name like `password` goes as a whole, however many words it has. */
static bool redact(char **joined, struct roast_str *text, struct roast_str name)
{
    if (!roast_str_names_secret(name))
        return redact_behind(joined, text, name);
    *text = roast_str_of("***");
    return true;
}

int roast__run_put_note(struct roast_run *run, enum roast_note_group group,
                        struct roast_str name, struct roast_str clean, roast_error *err)
{
    roast__run_lock(run);
    bool kept = roast__notes_set(&run->notes, group, name, clean);
    if (kept)
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
    if (text.data && group != ROAST_NOTES_document && !redact(&joined, &text, name))
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
    int64_t count = roast__notes_labels(&run->notes, out, out_bytes);
    roast__run_unlock(run);
    return count;
}

/* ---- how it ended -------------------------------------------------------- */

/* A failure without words is one too. */
enum roast_run_state roast__run_state(const struct roast_run *run)
{
    struct roast_str failure =
        roast__notes_get(&run->notes, ROAST_NOTES_run, roast_str_of("failure"));

    if (failure.data)
        return ROAST_IS_failed;
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
    return state == ROAST_IS_finished ? "finished"
           : state == ROAST_IS_failed ? "failed"
                                      : "unfinished";
}

struct roast_span roast_run_span(roast_run *run)
{
    roast__run_lock(run);
    struct roast_span span = {run->start_ns, run->end_ns};
    roast__run_unlock(run);
    return span;
}
