/* SPDX-License-Identifier: BSD-3-Clause */
/* deaths.c - processes of a pool that died, from the notes of the client:
 * "-9 1731964800000000000" under the name "4711"; "?" for an unknown exit code. */
#include "analyze/deaths.h"

#include "base/str.h"

/* Reads a number and the blank after it; false: not a number. */
static bool take_number(struct roast_str *text, int64_t *out)
{
    bool negative = text->size_bytes > 0 && *text->data == '-';
    size_t at = negative, digits = 0;
    int64_t value = 0;

    for (; at < text->size_bytes && text->data[at] >= '0' && text->data[at] <= '9';
         at++, digits++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text->data[at] - '0', &value))
            return false;
    }
    if (at < text->size_bytes && text->data[at] != ' ')
        return false;
    at += at < text->size_bytes;
    *text = (struct roast_str){text->data + at, text->size_bytes - at};
    *out = negative ? -value : value;
    return digits > 0;
}

bool roast__death_read(struct roast_death *death, const struct roast_note *note)
{
    struct roast_str name = roast__note_name(note), text = roast__note_text(note);
    int64_t pid = 0;

    *death = (struct roast_death){.code_known = true};
    if (note->group != ROAST_NOTES_death || !take_number(&name, &pid) || pid <= 0)
        return false;
    death->pid = (uint64_t)pid;
    if (text.size_bytes > 1 && memcmp(text.data, "? ", 2) == 0) {
        death->code_known = false;
        text = (struct roast_str){text.data + 2, text.size_bytes - 2};
    } else if (!take_number(&text, &death->code)) {
        return false;
    }
    return take_number(&text, &death->time_ns);
}

bool roast__death_find(struct roast_death *death, const struct roast_run *run,
                       uint64_t pid)
{
    for (size_t i = 0; i < run->notes.count; i++) {
        if (roast__death_read(death, &run->notes.items[i]) && death->pid == pid)
            return true;
    }
    return false;
}
