/* SPDX-License-Identifier: BSD-3-Clause */
/* array.c - arrays that grow by doubling. */
#include "base/array.h"

#include <string.h>

#include "base/mem.h"

enum { SMALLEST_CAP = 16 };

void *roast__array_room(void *items, size_t *cap, size_t count, size_t item_bytes)
{
    size_t more = *cap > 0 ? *cap * 2 : SMALLEST_CAP;

    if (count < *cap)
        return items;
    if (more > SIZE_MAX / 2 / item_bytes)
        return NULL;
    void *moved = roast__realloc(items, more * item_bytes);
    if (moved)
        *cap = more;
    return moved;
}

bool roast__array_resize(void *array, size_t cap, size_t item_bytes)
{
    void *items;

    memcpy(&items, array, sizeof(items)); /* a pointer of any type */
    items =
        cap <= SIZE_MAX / item_bytes ? roast__realloc(items, cap * item_bytes) : NULL;
    if (items)
        memcpy(array, &items, sizeof(items));
    return items != NULL;
}
