/* SPDX-License-Identifier: BSD-3-Clause */
/* closest_word.c - the word closest to a mistyped one. */
#include <string.h>

#include "out.h"

enum { MAX_BYTES = 64 };

/* The edit distance: letters inserted, removed or changed. Both words are shorter than
 * MAX_BYTES. */
static size_t distance(const char *from, const char *to)
{
    size_t row[MAX_BYTES + 1];
    size_t size = strlen(to);

    for (size_t i = 0; i <= size; i++)
        row[i] = i;
    for (size_t n = 1; from[n - 1]; n++) {
        size_t diagonal = row[0];
        row[0] = n;
        for (size_t i = 1; i <= size; i++) {
            size_t best = diagonal + (from[n - 1] != to[i - 1]);
            diagonal = row[i];
            best = row[i] + 1 < best ? row[i] + 1 : best;
            row[i] = row[i - 1] + 1 < best ? row[i - 1] + 1 : best;
        }
    }
    return row[size];
}

const char *closest_word(const char *word, const char *const *words, size_t count)
{
    size_t size = strlen(word);
    size_t best = size / 3 + 2; /* a larger distance is no typing mistake */
    const char *found = NULL;

    if (size == 0 || size >= MAX_BYTES)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) >= MAX_BYTES)
            continue;
        bool begins = size > 2 && strncmp(words[i], word, size) == 0;
        size_t edits = begins ? 1 : distance(word, words[i]);
        if (edits < best) {
            best = edits;
            found = words[i];
        }
    }
    return found;
}

int fail_unknown(const char *kind, const char *name, const char *const *names,
                 size_t count, const char *help)
{
    const char *closest = closest_word(name, names, count);

    if (closest)
        return fail(CODE_USAGE, name, "no such %s; did you mean %s?", kind, closest);
    return fail(CODE_USAGE, name, "no such %s; %s", kind, help);
}
