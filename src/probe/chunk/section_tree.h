/* SPDX-License-Identifier: BSD-3-Clause */
/* section_tree.h - the sections of one chunk, added up per (parent, name, kind).
 *
 * Everything is preallocated and capped: a loop that opens a section a million times
 * costs two clock readings each and no memory. Names are found in a small hash table,
 * which is cleared node by node: the cost is proportional to the sections in use. */
#ifndef ROAST_PROBE_CHUNK_SECTION_TREE_H
#define ROAST_PROBE_CHUNK_SECTION_TREE_H

#include "base/buf.h"
#include "roast/probe.h"

enum {
    ROAST_SECTION_TREE_SLOTS = 1024,
    ROAST_SECTION_TREE_NAME_BYTES = 16 * 1024,
    ROAST_SECTION_TREE_ERROR_BYTES = 512,
    ROAST_SECTION_NO_NODE = -1,
};

struct roast_section_node {
    struct roast_section sum; /* name borrows the tree's own memory */
    unsigned kind;            /* 0: "(other)" */
    uint64_t hash;
    uint32_t slot;
};

struct roast_open_section {
    uint64_t serial;
    int32_t node; /* ROAST_SECTION_NO_NODE: too deep, or already under "(other)" */
    enum roast_section_kind kind;
    int64_t start_ns;
    uint64_t start_rss_bytes;
    uint64_t outer_peak_bytes; /* of what is around it, when it began */
    bool rss_known;
};

/* Zeroed = empty and valid. */
struct roast_section_tree {
    struct roast_section_node nodes[ROAST_SECTION_MAX_NODES];
    struct roast_open_section open[ROAST_SECTION_MAX_DEPTH];
    struct roast_interval intervals[ROAST_SECTION_MAX_INTERVALS];
    uint16_t slots[ROAST_SECTION_TREE_SLOTS]; /* node + 1 */
    char names[ROAST_SECTION_TREE_NAME_BYTES];
    char error_path[ROAST_SECTION_TREE_ERROR_BYTES];
    size_t error_path_bytes;
    const void *error_token;
    size_t names_bytes;
    size_t node_count;
    size_t depth;
    size_t interval_count;
    uint64_t serial; /* of the section opened last; never reset */
    uint64_t losses[ROAST_LOSS_END];
};

void roast__section_tree_clear(struct roast_section_tree *tree);

/* The node of name and kind under the innermost open section, added if it is new. */
int32_t roast__section_tree_node(struct roast_section_tree *tree, struct roast_str name,
                                 enum roast_section_kind kind);

/* Stores the path to the innermost open section, once per exception. */
void roast__section_tree_failed(struct roast_section_tree *tree,
                                const void *error_token);

/* Append the blobs of record.h; nothing where they would be empty. */
void roast__section_tree_put_sections(struct roast_buf *out,
                                      const struct roast_section_tree *tree);
void roast__section_tree_put_intervals(struct roast_buf *out,
                                       const struct roast_section_tree *tree);

#endif
