/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.c - all access to the heap. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct roast_heap libc_heap = {realloc, free};
static const struct roast_heap *current = &libc_heap;

void roast__heap_set(const struct roast_heap *heap)
{
    current = heap ? heap : &libc_heap;
}

void *roast__alloc(size_t size_bytes)
{
    void *ptr = roast__realloc(NULL, size_bytes);

    if (ptr)
        memset(ptr, 0, size_bytes);
    return ptr;
}

void *roast__realloc(void *ptr, size_t size_bytes)
{
    return current->resize(ptr, size_bytes > 0 ? size_bytes : 1);
}

void roast__free(void *ptr)
{
    current->release(ptr);
}
