/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_sizes.c - the sizes of the branches of files, found by name. */
#include "collect/measurement_sizes.h"

#include <string.h>

#include "base/mem.h"
#include "collect/json_bytes.h"
#include "record/branches.h"

struct known_file {
    uint64_t hash;
    size_t blob_at;
    size_t blob_bytes;
    size_t rows_at; /* index */
    size_t count;
};

enum { FIRST_SLOTS = 16 };

/* ---- order ----------------------------------------------------------------------- */

static void sift_down(uint32_t *items, size_t at, size_t count, roast_order *order,
                      const void *context)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && order(context, items[child], items[child + 1]) < 0)
            child++;
        if (order(context, items[at], items[child]) >= 0)
            return;
        uint32_t moved = items[at];
        items[at] = items[child];
        items[child] = moved;
    }
}

static bool in_order(const uint32_t *items, size_t count, roast_order *order,
                     const void *context)
{
    for (size_t i = 1; i < count; i++) {
        if (order(context, items[i - 1], items[i]) > 0)
            return false;
    }
    return true;
}

void roast__sort_u32(uint32_t *items, size_t count, roast_order *order,
                     const void *context)
{
    if (in_order(items, count, order, context))
        return;
    for (size_t i = count / 2; i-- > 0;)
        sift_down(items, i, count, order, context);
    for (size_t end = count; end-- > 1;) {
        uint32_t last = items[end];
        items[end] = items[0];
        items[0] = last;
        sift_down(items, 0, end, order, context);
    }
}

int roast__compare_str(struct roast_str a, struct roast_str b)
{
    size_t shorter = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;

    return order != 0 ? order
                      : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/* ---- one table ------------------------------------------------------------------- */

static struct roast_branch row_at(const struct roast_str *blob, uint32_t at)
{
    struct roast_cursor cur = roast__cursor(blob->data + at, blob->size_bytes - at);

    return roast__branch_read(&cur);
}

/* Of equal names the later one comes last. */
static int by_name(const void *context, uint32_t a, uint32_t b)
{
    const struct roast_str *blob = context;
    int order = roast__compare_str(row_at(blob, a).name, row_at(blob, b).name);

    return order != 0 ? order : (a > b) - (a < b);
}

bool roast__sizes_sort(struct roast_size_table *table, uint32_t **rows,
                       struct roast_str blob)
{
    struct roast_cursor cur = roast__cursor(blob.data, blob.size_bytes);
    uint64_t count = roast__cursor_varint(&cur);

    *table = (struct roast_size_table){.blob = blob};
    *rows = NULL;
    if (count > blob.size_bytes || blob.size_bytes > UINT32_MAX)
        return true; /* none of ours */
    *rows = roast__realloc(NULL, (size_t)count * sizeof(**rows));
    if (!*rows)
        return false;
    for (; table->count < count; table->count++) {
        (*rows)[table->count] = (uint32_t)(cur.at - (const unsigned char *)blob.data);
        (void)roast__branch_read(&cur);
    }
    roast__sort_u32(*rows, table->count, by_name, &blob);
    table->rows = *rows;
    return true;
}

bool roast__sizes_find(const struct roast_size_table *table, struct roast_str name,
                       uint64_t *file_bytes)
{
    size_t low = 0;
    size_t high = table->count; /* from here on names are greater */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (roast__compare_str(row_at(&table->blob, table->rows[middle]).name, name) <=
            0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    struct roast_branch row = row_at(&table->blob, table->rows[low - 1]);
    if (roast__compare_str(row.name, name) != 0 || !row.sizes_known)
        return false;
    *file_bytes = row.file_bytes;
    return true;
}

/* ---- tables of files ------------------------------------------------------------- */

static const struct known_file *file_at(const struct roast_size_memory *memory,
                                        size_t number)
{
    return (const struct known_file *)(const void *)memory->files.data + number;
}

static size_t slot_count(const struct roast_size_memory *memory)
{
    return memory->slots.size_bytes / sizeof(uint32_t);
}

static uint32_t *find_slot(const struct roast_size_memory *memory, uint64_t hash)
{
    uint32_t *slots = (uint32_t *)(void *)memory->slots.data;
    size_t mask = slot_count(memory) - 1;
    size_t at = (size_t)hash & mask;

    while (slots[at] != 0 && file_at(memory, slots[at] - 1)->hash != hash)
        at = (at + 1) & mask;
    return &slots[at];
}

static bool grow_slots(struct roast_size_memory *memory, size_t files)
{
    size_t want = slot_count(memory);

    if (want >= 2 * (files + 1))
        return true;
    want = want > 0 ? 2 * want : FIRST_SLOTS;
    roast__buf_reserve(&memory->slots,
                       want * sizeof(uint32_t) - memory->slots.size_bytes);
    if (!roast__buf_ok(&memory->slots))
        return false;
    memory->slots.size_bytes = want * sizeof(uint32_t);
    memset(memory->slots.data, 0, memory->slots.size_bytes);
    for (size_t i = 0; i < files; i++)
        *find_slot(memory, file_at(memory, i)->hash) = (uint32_t)(i + 1);
    return true;
}

void roast__sizes_remember(struct roast_size_memory *memory, uint64_t file_hash,
                           const struct roast_size_table *table)
{
    size_t files = memory->files.size_bytes / sizeof(struct known_file);
    struct known_file file = {
        .hash = file_hash,
        .blob_at = memory->blobs.size_bytes,
        .blob_bytes = table->blob.size_bytes,
        .rows_at = memory->rows.size_bytes / sizeof(uint32_t),
        .count = table->count,
    };

    if (files >= UINT32_MAX || !grow_slots(memory, files))
        return;
    uint32_t *slot = find_slot(memory, file_hash);
    if (*slot != 0)
        return;
    roast__json_room(&memory->blobs, table->blob.size_bytes);
    roast__buf_put(&memory->blobs, table->blob.data, table->blob.size_bytes);
    roast__json_room(&memory->rows, table->count * sizeof(uint32_t));
    roast__buf_put(&memory->rows, table->rows, table->count * sizeof(uint32_t));
    roast__buf_put(&memory->files, &file, sizeof(file));
    if (roast__buf_ok(&memory->blobs) && roast__buf_ok(&memory->rows) &&
        roast__buf_ok(&memory->files))
        *slot = (uint32_t)(files + 1);
}

struct roast_size_table roast__sizes_recall(const struct roast_size_memory *memory,
                                            uint64_t file_hash)
{
    struct roast_size_table table = {.blob = {NULL, 0}};

    if (slot_count(memory) == 0)
        return table;
    uint32_t number = *find_slot(memory, file_hash);
    if (number == 0)
        return table;
    const struct known_file *file = file_at(memory, number - 1);
    table.blob = (struct roast_str){(const char *)memory->blobs.data + file->blob_at,
                                    file->blob_bytes};
    table.count = file->count;
    if (file->count > 0)
        table.rows = (const uint32_t *)(const void *)memory->rows.data + file->rows_at;
    return table;
}

void roast__sizes_release(struct roast_size_memory *memory)
{
    roast__buf_release(&memory->blobs);
    roast__buf_release(&memory->rows);
    roast__buf_release(&memory->files);
    roast__buf_release(&memory->slots);
}
