/* SPDX-License-Identifier: BSD-3-Clause */
/* nearest.c - the word that a mistyped one was perhaps meant to be. */
#include <string.h>

#include "cmd.h"

enum { MAX_BYTES = 64 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;

    return smaller < c ? smaller : c;
}

/* How many letters have to be put, taken or changed to make one word of the other; both
 * are shorter than MAX_BYTES. */
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
            size_t change = diagonal + (from[n - 1] != to[i - 1]);
            diagonal = row[i];
            row[i] = least(row[i] + 1, row[i - 1] + 1, change);
        }
    }
    return row[size];
}

const char *nearest(const char *word, const char *const *words, size_t count)
{
    size_t size = strlen(word);
    size_t best = size / 3 + 2; /* that far is no typing mistake any more */
    const char *found = NULL;

    if (size == 0 || size >= MAX_BYTES)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) >= MAX_BYTES)
            continue;
        bool begins = size > 2 && strncmp(words[i], word, size) == 0;
        size_t far = begins ? 1 : distance(word, words[i]);
        if (far < best) {
            best = far;
            found = words[i];
        }
    }
    return found;
}
