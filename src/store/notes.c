/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.c - words that are known of a run, by group and name.
 *
 * A run has some dozens of them: searching from the first one is quick enough. */
#include "store/notes.h"

#include <string.h>

#include "base/mem.h"
#include "store/array.h"

static bool same(struct roast_str a, struct roast_str b)
{
    return a.size_bytes == b.size_bytes &&
           (a.size_bytes == 0 || memcmp(a.data, b.data, a.size_bytes) == 0);
}

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
        if (note->group == group && same(roast__note_name(note), name))
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

void roast__notes_labels(const struct roast_notes *notes, char *out, size_t out_bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < notes->count; i++) {
        struct roast_str name = roast__note_name(&notes->items[i]);
        struct roast_str text = roast__note_text(&notes->items[i]);
        size_t joint = used > 0 ? 2 : 0;
        if (notes->items[i].group != ROAST_NOTES_label ||
            joint + name.size_bytes + 1 + text.size_bytes >= out_bytes - used)
            continue;
        memcpy(out + used, ", ", joint);
        memcpy(out + used + joint, name.data, name.size_bytes);
        used += joint + name.size_bytes;
        out[used++] = '=';
        memcpy(out + used, text.data, text.size_bytes);
        used += text.size_bytes;
    }
    out[used] = '\0';
}

void roast__notes_release(struct roast_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        roast__free(notes->items[i].bytes);
    roast__free(notes->items);
    memset(notes, 0, sizeof(*notes));
}
