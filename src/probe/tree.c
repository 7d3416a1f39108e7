/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - finds and adds up sections; writes them as the blobs of a record.
 *
 * Past the caps every new name goes to one node, "(other)", directly under process():
 * the seconds stay, the names are counted as lost. */
#include "probe/tree.h"

#include "base/checksum.h"

static const struct roast_str other_name = {"(other)", 7};

void roast__tree_clear(struct roast_tree *tree)
{
    for (size_t i = 0; i < tree->node_count; i++)
        tree->slots[tree->nodes[i].slot] = 0;
    tree->node_count = 0;
    tree->names_bytes = 0;
    tree->depth = 0;
    tree->interval_count = 0;
    tree->error_token = NULL;
    tree->error_path_bytes = 0;
    memset(tree->losses, 0, sizeof(tree->losses));
}

static int32_t innermost(const struct roast_tree *tree)
{
    return tree->depth > 0 ? tree->open[tree->depth - 1].node : ROAST_TREE_NO_NODE;
}

static bool same_node(const struct roast_node *node, uint64_t hash, int32_t parent,
                      struct roast_str name)
{
    return node->hash == hash && node->sum.parent == parent &&
           node->sum.name.size_bytes == name.size_bytes &&
           memcmp(node->sum.name.data, name.data, name.size_bytes) == 0;
}

/* The slot that holds (parent, name), or the free one where it belongs. There are four
 * times more slots than nodes, so the search ends. */
static uint32_t find_slot(const struct roast_tree *tree, uint64_t hash, int32_t parent,
                          struct roast_str name)
{
    uint32_t slot = (uint32_t)(hash ^ (hash >> 32)) % ROAST_TREE_SLOTS;

    while (tree->slots[slot] != 0 &&
           !same_node(&tree->nodes[tree->slots[slot] - 1], hash, parent, name))
        slot = (slot + 1) % ROAST_TREE_SLOTS;
    return slot;
}

static int32_t add_node(struct roast_tree *tree, uint32_t slot, uint64_t hash,
                        struct roast_section sum)
{
    struct roast_node *node = &tree->nodes[tree->node_count];
    char *kept = tree->names + tree->names_bytes;

    memcpy(kept, sum.name.data, sum.name.size_bytes);
    tree->names_bytes += sum.name.size_bytes;
    sum.name.data = kept;
    node->sum = sum;
    node->hash = hash;
    node->slot = slot;
    tree->slots[slot] = (uint16_t)++tree->node_count;
    return (int32_t)tree->node_count - 1;
}

/* One node is kept free for "(other)". */
static bool is_full(const struct roast_tree *tree, size_t name_bytes)
{
    return tree->node_count >= ROAST_SECTION_MAX_NODES - 1 ||
           tree->names_bytes + name_bytes + other_name.size_bytes >
               ROAST_TREE_NAME_BYTES;
}

static uint64_t hash_of(int32_t parent, struct roast_str name)
{
    uint64_t hash = roast__hash64(name.data, name.size_bytes);
    return hash ^ ((uint64_t)(parent + 2) * UINT64_C(0x9e3779b97f4a7c15));
}

static int32_t other_node(struct roast_tree *tree)
{
    uint64_t hash = hash_of(ROAST_TREE_NO_NODE, other_name);
    uint32_t slot = find_slot(tree, hash, ROAST_TREE_NO_NODE, other_name);

    tree->losses[ROAST_LOSS_section_names]++;
    if (tree->slots[slot] != 0) {
        int32_t node = tree->slots[slot] - 1;
        for (size_t i = 0; i < tree->depth; i++) {
            if (tree->open[i].node == node)
                return ROAST_TREE_NO_NODE; /* its time is being counted already */
        }
        return node;
    }
    struct roast_section sum = {.name = other_name, .parent = ROAST_TREE_NO_NODE};
    return add_node(tree, slot, hash, sum);
}

int32_t roast__tree_node(struct roast_tree *tree, struct roast_str name)
{
    int32_t parent = innermost(tree);

    if (tree->depth > 0 && parent == ROAST_TREE_NO_NODE) {
        tree->losses[ROAST_LOSS_section_names]++; /* "(other)" counts its time */
        return ROAST_TREE_NO_NODE;
    }
    if (!name.data)
        name = roast_str_of("");
    if (name.size_bytes > ROAST_SECTION_MAX_NAME_BYTES) {
        name = roast_str_cut(name, ROAST_SECTION_MAX_NAME_BYTES);
        tree->losses[ROAST_LOSS_text_cut]++;
    }
    uint64_t hash = hash_of(parent, name);
    uint32_t slot = find_slot(tree, hash, parent, name);
    if (tree->slots[slot] != 0)
        return tree->slots[slot] - 1;
    if (is_full(tree, name.size_bytes))
        return other_node(tree);
    struct roast_section sum = {.name = name, .parent = parent};
    return add_node(tree, slot, hash, sum);
}

static void path_put(struct roast_tree *tree, const char *bytes, size_t size_bytes)
{
    size_t room = ROAST_TREE_ERROR_BYTES - tree->error_path_bytes;
    size_t fit = size_bytes < room ? size_bytes : room;

    memcpy(tree->error_path + tree->error_path_bytes, bytes, fit);
    tree->error_path_bytes += fit;
}

void roast__tree_failed(struct roast_tree *tree, const void *error_token)
{
    if (tree->error_token == error_token)
        return; /* an inner section saw the same exception first */
    tree->error_token = error_token;
    tree->error_path_bytes = 0;
    for (size_t i = 0; i < tree->depth; i++) {
        if (tree->open[i].node == ROAST_TREE_NO_NODE)
            continue;
        const struct roast_section *sum = &tree->nodes[tree->open[i].node].sum;
        if (tree->error_path_bytes > 0)
            path_put(tree, "/", 1);
        path_put(tree, sum->name.data, sum->name.size_bytes);
    }
}

static void put_section(struct roast_buf *out, const struct roast_section *sum)
{
    roast__buf_put_varint(out, (uint64_t)((int64_t)sum->parent + 1));
    roast__buf_put_varint(out, sum->kinds);
    roast__buf_put_varint(out, sum->name.size_bytes);
    roast__buf_put(out, sum->name.data, sum->name.size_bytes);
    roast__buf_put_varint(out, sum->count);
    roast__buf_put_varint(out, sum->total_ns);
    if (sum->kinds & ROAST_SECTION_MEMORY) {
        roast__buf_put_varint(out, sum->memory_start_bytes);
        roast__buf_put_varint(out, sum->memory_end_bytes);
        roast__buf_put_signed(out, sum->memory_delta_bytes);
    }
    if (sum->kinds & ROAST_SECTION_BYTES)
        roast__buf_put_varint(out, sum->bytes);
}

void roast__tree_put_sections(struct roast_buf *out, const struct roast_tree *tree)
{
    if (tree->node_count == 0)
        return;
    roast__buf_put_varint(out, tree->node_count);
    for (size_t i = 0; i < tree->node_count; i++)
        put_section(out, &tree->nodes[i].sum);
}

void roast__tree_put_intervals(struct roast_buf *out, const struct roast_tree *tree)
{
    if (tree->interval_count == 0)
        return;
    roast__buf_put_varint(out, tree->interval_count);
    for (size_t i = 0; i < tree->interval_count; i++) {
        roast__buf_put_varint(out, tree->intervals[i].section);
        roast__buf_put_varint(out, tree->intervals[i].start_ns);
        roast__buf_put_varint(out, tree->intervals[i].duration_ns);
    }
}
