/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_tree.h - what the two files about sections share. */
#ifndef ROAST_COLLECT_MEASUREMENT_TREE_H
#define ROAST_COLLECT_MEASUREMENT_TREE_H

#include "collect/measurement_sections.h"

/* An entry of one of the lists. */
struct roast_section_row {
    struct roast_kept name;
    struct roast_kept parent;
    bool has_time; /* time_delta is a number */
    uint32_t depth;
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t memory_start_bytes;
    uint64_t memory_end_bytes;
    int64_t memory_delta_bytes;
    uint64_t bytes;
    uint64_t path; /* of sections of bytes */
};

struct roast_section_interval {
    struct roast_kept name;
    uint64_t start_ns;
    uint64_t duration_ns;
};

/* The intervals of a record as a tree of passes. */
struct roast_passes {
    const struct roast_section_interval *all; /* borrowed */
    size_t count;
    int parent[ROAST_DRAFT_MAX_INTERVALS];
    uint32_t depth[ROAST_DRAFT_MAX_INTERVALS];
    uint64_t path[ROAST_DRAFT_MAX_INTERVALS]; /* hash of its name and all above */
    size_t by_start[ROAST_DRAFT_MAX_INTERVALS];
};

void roast__passes_find(struct roast_passes *passes,
                        const struct roast_section_draft *draft,
                        const struct roast_texts *texts);

/* The path of a name below another one; 0 is that of process(). */
uint64_t roast__path_below(uint64_t path, struct roast_str name);

/* Whether the passes of a path are as many and took as long as a row says. */
bool roast__passes_match(const struct roast_passes *passes, uint64_t path,
                         const struct roast_section_row *row);

/* Fills byte_rows: sections of bytes as far as passes tell where they were. */
void roast__passes_find_bytes(const struct roast_passes *passes,
                              struct roast_section_draft *draft,
                              const struct roast_texts *texts);

/* Puts the nodes into the record; false when out of memory. */
bool roast__section_draft_blob(struct roast_section_draft *draft, roast_record *rec);

#endif
