/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.c - words that are known of a run, by group and name.
 *
 * A run has some dozens of them: searching from the first one is quick enough. */
#include "run/notes.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/array.h"

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

static void drop(struct roast_notes *notes, struct roast_note *note)
{
    size_t behind = notes->count - (size_t)(note - notes->items) - 1;

    roast__free(note->bytes);
    memmove(note, note + 1, behind * sizeof(*note));
    notes->count--;
}

/* Name and text one behind the other; NULL when out of memory. */
static char *join(struct roast_str name, struct roast_str text)
{
    char *bytes = roast__realloc(NULL, name.size_bytes + text.size_bytes + 1);

    if (!bytes)
        return NULL;
    if (name.size_bytes > 0)
        memcpy(bytes, name.data, name.size_bytes);
    if (text.size_bytes > 0)
        memcpy(bytes + name.size_bytes, text.data, text.size_bytes);
    return bytes;
}

static struct roast_note *add(struct roast_notes *notes, enum roast_note_group group)
{
    struct roast_note *items =
        roast__array_room(notes->items, &notes->cap, notes->count, sizeof(*items));

    if (!items)
        return NULL;
    notes->items = items;
    items[notes->count] = (struct roast_note){.group = group};
    return &items[notes->count++];
}

bool roast__notes_set(struct roast_notes *notes, enum roast_note_group group,
                      struct roast_str name, struct roast_str text)
{
    struct roast_note *note = find(notes, group, name);

    if (!text.data) {
        if (note)
            drop(notes, note);
        return true;
    }
    char *bytes = join(name, text);
    if (bytes && !note)
        note = add(notes, group);
    if (!bytes || !note) {
        roast__free(bytes);
        return false;
    }
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

/* Puts "name=text" behind what is there; false where it does not fit, or where a reader
 * could not tell it from its neighbours. */
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

int64_t roast__notes_labels(const struct roast_notes *notes, char *out,
                            size_t out_bytes)
{
    size_t used = 0;
    int64_t count = 0;
    bool told = true;

    for (size_t i = 0; i < notes->count; i++) {
        if (notes->items[i].group != ROAST_NOTES_label)
            continue;
        count++;
        told = put_label(out, out_bytes, &used, &notes->items[i]) && told;
    }
    out[used] = '\0';
    return told ? count : -1;
}

void roast__notes_release(struct roast_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        roast__free(notes->items[i].bytes);
    roast__free(notes->items);
    memset(notes, 0, sizeof(*notes));
}
