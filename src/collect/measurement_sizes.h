/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_sizes.h - the sizes of the branches of files, found by name.
 *
 * Records of ours have them with the first chunk of a file in each process alone, so
 * what one record said of a file is kept for those that come later. */
#ifndef ROAST_COLLECT_MEASUREMENT_SIZES_H
#define ROAST_COLLECT_MEASUREMENT_SIZES_H

#include "collect/measurement_part.h"
#include "collect/measurement_rows.h"

/* A `file_branches` blob and its rows in the order of their names. */
struct roast_size_table {
    struct roast_str blob; /* borrowed */
    const uint32_t *rows;  /* borrowed: where they begin */
    size_t count;
};

/* Sorts the rows of a blob. *rows gets owned memory; false when out of memory. */
bool roast__sizes_sort(struct roast_size_table *table, uint32_t **rows,
                       struct roast_str blob);

/* The bytes of a branch in the file; false if the table does not say. */
bool roast__sizes_find(const struct roast_size_table *table, struct roast_str name,
                       uint64_t *file_bytes);

/* Tables of files. Zeroed = empty and valid. */
struct roast_size_memory {
    struct roast_buf blobs;
    struct roast_buf rows;  /* of uint32_t */
    struct roast_buf files; /* of struct known_file, see the .c */
    struct roast_buf slots; /* of uint32_t: file + 1 by hash */
};

/* Keeps a table unless there is one; nothing is kept when out of memory. */
void roast__sizes_remember(struct roast_size_memory *memory, uint64_t file_hash,
                           const struct roast_size_table *table);

/* What was kept, borrowed until the next is; an empty table for none. */
struct roast_size_table roast__sizes_recall(const struct roast_size_memory *memory,
                                            uint64_t file_hash);
void roast__sizes_release(struct roast_size_memory *memory);

/* By their bytes: < 0, 0 or > 0. */
int roast__compare_str(struct roast_str a, struct roast_str b);

/* Puts `count` items in order, in place: no memory, and no worst case. */
typedef int roast_order(const void *context, uint32_t a, uint32_t b);
void roast__sort_u32(uint32_t *items, size_t count, roast_order *order,
                     const void *context);

#endif
