/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - rows of cells, in one of the formats of formats.def. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "out.h"

static const struct row_writer *const writers[] = {
#define F(NAME, name) [FORMAT_##NAME] = &rows_##name,
#include "formats.def"
#undef F
};

/* The names are copied: whoever gave them may be gone when the widths are known. */
static void keep_names(struct rows *rows, const char *const *names, size_t count)
{
    size_t size = count * sizeof(*names);

    for (size_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    rows->names = need_memory(NULL, size);
    rows->count = count;
    char *at = (char *)&rows->names[count];
    for (size_t i = 0; i < count; i++) {
        rows->names[i] = at;
        at = stpcpy(at, names[i]) + 1;
    }
}

void rows_begin(struct rows *rows, const char *const *names, size_t count)
{
    keep_names(rows, names, count);
    if (writers[rows->format]->begin)
        writers[rows->format]->begin(rows);
}

void rows_put(struct rows *rows, const struct roast_cell *cells)
{
    writers[rows->format]->put(rows, cells);
}

void rows_end(struct rows *rows)
{
    if (writers[rows->format]->end)
        writers[rows->format]->end(rows);
    free(rows->names);
    *rows = (struct rows){.format = rows->format};
}
