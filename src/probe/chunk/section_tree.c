/* SPDX-License-Identifier: BSD-3-Clause */
/* section_tree.c - finds the node of a section; encodes all as the blobs of a record.
 *
 * Above the limits every new name counts for the node "(other)" under process(): the
 * time is kept, the names are counted as lost. */
#include "probe/chunk/section_tree.h"

#include "base/checksum.h"
#include "record/sections.h"

static const struct roast_str other_name = {"(other)", 7};

void roast__section_tree_clear(struct roast_section_tree *tree)
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

struct key {
    uint64_t hash;
    int32_t parent;
    unsigned kind; /* 0 for "(other)" */
    struct roast_str name;
};

static struct key make_key(int32_t parent, unsigned kind, struct roast_str name)
{
    uint64_t place = (uint64_t)(parent + 2) << 4 | kind;
    uint64_t hash = roast__hash64(name.data, name.size_bytes);
    struct key key = {hash ^ place * UINT64_C(0x9e3779b97f4a7c15), parent, kind, name};
    return key;
}

static bool matches(const struct roast_section_node *node, const struct key *key)
{
    return node->hash == key->hash && node->sum.parent == key->parent &&
           node->kind == key->kind &&
           node->sum.name.size_bytes == key->name.size_bytes &&
           memcmp(node->sum.name.data, key->name.data, key->name.size_bytes) == 0;
}

/* The slot that holds the node, or the free one where it belongs. There are four times
 * more slots than nodes, so the search ends. */
static uint32_t find_slot(const struct roast_section_tree *tree, const struct key *key)
{
    uint32_t slot =
        (uint32_t)(key->hash ^ (key->hash >> 32)) % ROAST_SECTION_TREE_SLOTS;

    while (tree->slots[slot] != 0 && !matches(&tree->nodes[tree->slots[slot] - 1], key))
        slot = (slot + 1) % ROAST_SECTION_TREE_SLOTS;
    return slot;
}

static int32_t add_node(struct roast_section_tree *tree, uint32_t slot,
                        const struct key *key)
{
    struct roast_section_node *node = &tree->nodes[tree->node_count];
    char *kept = tree->names + tree->names_bytes;

    memcpy(kept, key->name.data, key->name.size_bytes);
    tree->names_bytes += key->name.size_bytes;
    node->sum = (struct roast_section){.name = {kept, key->name.size_bytes},
                                       .parent = key->parent};
    node->hash = key->hash;
    node->kind = key->kind;
    node->slot = slot;
    tree->slots[slot] = (uint16_t)++tree->node_count;
    return (int32_t)tree->node_count - 1;
}

/* No node if "(other)" is open: its time is already counted. */
static int32_t other_node(struct roast_section_tree *tree)
{
    struct key key = make_key(ROAST_SECTION_NO_NODE, 0, other_name);
    uint32_t slot = find_slot(tree, &key);

    tree->losses[ROAST_LOSS_section_names]++;
    if (tree->slots[slot] == 0)
        return add_node(tree, slot, &key);
    int32_t node = tree->slots[slot] - 1;
    for (size_t i = 0; i < tree->depth; i++) {
        if (tree->open[i].node == node)
            return ROAST_SECTION_NO_NODE;
    }
    return node;
}

int32_t roast__section_tree_node(struct roast_section_tree *tree, struct roast_str name,
                                 enum roast_section_kind kind)
{
    int32_t parent =
        tree->depth > 0 ? tree->open[tree->depth - 1].node : ROAST_SECTION_NO_NODE;

    if (tree->depth > 0 && parent == ROAST_SECTION_NO_NODE) {
        tree->losses[ROAST_LOSS_section_names]++; /* "(other)" counts its time */
        return ROAST_SECTION_NO_NODE;
    }
    if (!name.data)
        name = roast_str_of("");
    if (name.size_bytes > ROAST_SECTION_MAX_NAME_BYTES) {
        name = roast_str_cut(name, ROAST_SECTION_MAX_NAME_BYTES);
        tree->losses[ROAST_LOSS_text_cut]++;
    }
    struct key key = make_key(parent, kind, name);
    uint32_t slot = find_slot(tree, &key);
    if (tree->slots[slot] != 0)
        return tree->slots[slot] - 1;
    if (tree->node_count >= ROAST_SECTION_MAX_NODES - 1 || /* one for "(other)" */
        tree->names_bytes + name.size_bytes + other_name.size_bytes >
            ROAST_SECTION_TREE_NAME_BYTES)
        return other_node(tree);
    return add_node(tree, slot, &key);
}

static void path_put(struct roast_section_tree *tree, const char *bytes,
                     size_t size_bytes)
{
    size_t room = ROAST_SECTION_TREE_ERROR_BYTES - tree->error_path_bytes;
    size_t fit = size_bytes < room ? size_bytes : room;

    memcpy(tree->error_path + tree->error_path_bytes, bytes, fit);
    tree->error_path_bytes += fit;
}

void roast__section_tree_failed(struct roast_section_tree *tree,
                                const void *error_token)
{
    if (tree->error_token == error_token)
        return; /* an inner section saw the same exception first */
    tree->error_token = error_token;
    tree->error_path_bytes = 0;
    for (size_t i = 0; i < tree->depth; i++) {
        if (tree->open[i].node == ROAST_SECTION_NO_NODE)
            continue;
        const struct roast_section *sum = &tree->nodes[tree->open[i].node].sum;
        if (tree->error_path_bytes > 0)
            path_put(tree, "/", 1);
        path_put(tree, sum->name.data, sum->name.size_bytes);
    }
}

void roast__section_tree_put_sections(struct roast_buf *out,
                                      const struct roast_section_tree *tree)
{
    if (tree->node_count == 0)
        return;
    roast__buf_put_varint(out, tree->node_count);
    for (size_t i = 0; i < tree->node_count; i++)
        roast__section_put(out, &tree->nodes[i].sum);
}

void roast__section_tree_put_intervals(struct roast_buf *out,
                                       const struct roast_section_tree *tree)
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
