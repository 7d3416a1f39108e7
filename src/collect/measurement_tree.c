/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_tree.c - the section tree of a record of ours, from its lists.
 *
 * An entry names its parent and its depth. Where several nodes fit, that one does below
 * which the intervals have as many passes (measurement_passes.c), else the latest one that
 * has as much time left for children as the entry took. Sections of bytes are in no list:
 * intervals tell where they were, or else a node whose children do not explain its own
 * time. */
#include "collect/measurement_tree.h"

#include <math.h>
#include <string.h>

enum { NO_PARENT = -1, BEST_FIT = 7 };

static const char *const other_name = "(other)"; /* all kinds in one node */

struct tree {
    struct roast_section_draft *draft;
    const struct roast_texts *texts;
    struct roast_section *nodes;
    size_t count;
    uint64_t spare_ns[ROAST_DRAFT_MAX_SECTIONS]; /* for children that are not known */
    uint64_t path[ROAST_DRAFT_MAX_SECTIONS];
    struct roast_passes passes;
};

/* ---- nodes ----------------------------------------------------------------------- */

static int32_t add_node(struct tree *tree, const struct roast_section *node,
                        uint64_t spare_ns)
{
    if (tree->count == ROAST_DRAFT_MAX_SECTIONS) {
        tree->draft->lost++;
        return NO_PARENT;
    }
    roast__buf_put(&tree->draft->nodes, node, sizeof(*node));
    if (!roast__buf_ok(&tree->draft->nodes))
        return NO_PARENT;
    tree->nodes = (void *)tree->draft->nodes.data;
    if (node->parent >= 0) {
        uint64_t *spare = &tree->spare_ns[node->parent];
        *spare -= node->total_ns < *spare ? node->total_ns : *spare;
    }
    tree->spare_ns[tree->count] = spare_ns;
    tree->path[tree->count] =
        roast__path_below(node->parent >= 0 ? tree->path[node->parent] : 0, node->name);
    return (int32_t)tree->count++;
}

/* ---- sections of time and memory ------------------------------------------------- */

/* How well a row fits below a node, 0 not at all. The passes of its path say most; then
 * the time that the node has left: a section of time says itself how much its children
 * took, of others that is only known to be less than all. */
static unsigned fit(const struct tree *tree, const struct roast_section_row *row,
                    size_t node)
{
    struct roast_str parent = roast__texts_get(tree->texts, row->parent);
    struct roast_str name = roast__texts_get(tree->texts, row->name);
    unsigned fits = 1;

    if (tree->nodes[node].depth + 1 != row->depth ||
        !roast__str_equal(tree->nodes[node].name, parent))
        return 0;
    if (roast__passes_match(&tree->passes, roast__path_below(tree->path[node], name),
                            row))
        fits += 4;
    if (tree->spare_ns[node] >= row->total_ns)
        fits += tree->nodes[node].kinds & ROAST_SECTION_TIME ? 2 : 1;
    return fits;
}

/* The parent of a row; *best says how well it fits. */
static int32_t find_parent(const struct tree *tree, const struct roast_section_row *row,
                           unsigned *best)
{
    int32_t found = NO_PARENT;

    *best = 0;
    for (size_t i = tree->count; row->depth > 0 && i-- > 0;) {
        unsigned fits = fit(tree, row, i);
        if (fits > *best) {
            *best = fits;
            found = (int32_t)i;
        }
    }
    if (row->depth == 0)
        *best = BEST_FIT;
    return found;
}

/* The node that takes all kinds is told once for each of them. */
static bool joins_other(const struct tree *tree, const struct roast_section *node)
{
    for (size_t i = 0; i < tree->count && roast__str_is(node->name, other_name); i++) {
        struct roast_section *known = &tree->nodes[i];
        if (known->parent != NO_PARENT || node->parent != NO_PARENT ||
            !roast__str_equal(known->name, node->name))
            continue;
        known->kinds |= node->kinds;
        known->memory_start_bytes |= node->memory_start_bytes;
        known->memory_end_bytes |= node->memory_end_bytes;
        known->memory_delta_bytes |= node->memory_delta_bytes;
        known->bytes |= node->bytes;
        return true;
    }
    return false;
}

static void place(struct tree *tree, const struct roast_section_row *row, unsigned kind,
                  int32_t parent)
{
    struct roast_section node = {
        .name = roast__texts_get(tree->texts, row->name),
        .parent = parent,
        .depth = parent >= 0 ? row->depth : 0,
        .kinds = kind,
        .count = row->count,
        .total_ns = row->total_ns,
        .memory_start_bytes = row->memory_start_bytes,
        .memory_end_bytes = row->memory_end_bytes,
        .memory_delta_bytes = row->memory_delta_bytes,
        .bytes = row->bytes,
    };
    bool is_time = kind == ROAST_SECTION_TIME; /* others do not tell their own time */
    uint64_t own_ns = is_time && row->self_ns <= row->total_ns ? row->self_ns : 0;

    if (is_time || !joins_other(tree, &node))
        (void)add_node(tree, &node, row->total_ns - own_ns);
}

/* The rows of one kind, and which comes next. */
struct queue {
    const struct roast_section_row *rows;
    size_t count;
    size_t next;
    unsigned kind;
};

static struct queue queue_of(const struct roast_buf *rows, unsigned kind)
{
    return (struct queue){
        .rows = (const void *)rows->data,
        .count = rows->size_bytes / sizeof(struct roast_section_row),
        .kind = kind,
    };
}

/* All lists are in the order of first use; a child comes behind its parent, which may be
 * in another one. Of the first ones the one that fits best is placed; one that fits
 * nowhere goes to the root. */
static void place_rows(struct tree *tree)
{
    struct queue queues[] = {
        queue_of(&tree->draft->times, ROAST_SECTION_TIME),
        queue_of(&tree->draft->memories, ROAST_SECTION_MEMORY),
        queue_of(&tree->draft->byte_rows, ROAST_SECTION_BYTES),
    };

    for (;;) {
        struct queue *first = NULL;
        int32_t parent = NO_PARENT;
        unsigned best = 0;
        for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
            struct queue *queue = &queues[i];
            unsigned fits;
            if (queue->next == queue->count)
                continue;
            int32_t found = find_parent(tree, &queue->rows[queue->next], &fits);
            if (first && fits <= best)
                continue;
            first = queue;
            parent = found;
            best = fits;
        }
        if (!first)
            return;
        place(tree, &first->rows[first->next++], first->kind, parent);
    }
}

/* ---- sections of bytes ----------------------------------------------------------- */

/* How long the sections of a name took that are in no list, by the intervals. */
static uint64_t time_of(const struct tree *tree, struct roast_str name,
                        uint64_t *passes)
{
    const struct roast_section_interval *all = (void *)tree->draft->intervals.data;
    size_t count = tree->draft->intervals.size_bytes / sizeof(*all);
    uint64_t sum_ns = 0;
    uint64_t known_ns = 0;

    *passes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!roast__str_equal(roast__texts_get(tree->texts, all[i].name), name))
            continue;
        sum_ns += all[i].duration_ns;
        (*passes)++;
    }
    for (size_t i = 0; i < tree->count; i++) {
        if (!roast__str_equal(tree->nodes[i].name, name))
            continue;
        known_ns += tree->nodes[i].total_ns;
        *passes -= tree->nodes[i].count < *passes ? tree->nodes[i].count : *passes;
    }
    return sum_ns > known_ns ? sum_ns - known_ns : 0;
}

static void place_bytes(struct tree *tree, const struct roast_section_sum *sum,
                        bool is_only_one)
{
    struct roast_section node = {.name = roast__texts_get(tree->texts, sum->name),
                                 .parent = NO_PARENT,
                                 .kinds = ROAST_SECTION_BYTES,
                                 .bytes = roast__whole_of(sum->value, 1)};
    size_t known = tree->count;
    bool placed = joins_other(tree, &node);

    node.total_ns = time_of(tree, node.name, &node.count);
    node.count += node.count == 0;
    for (size_t i = 0; i < known && !placed; i++) {
        if (node.total_ns == 0 || tree->spare_ns[i] != node.total_ns)
            continue;
        node.parent = (int32_t)i;
        (void)add_node(tree, &node, 0);
        placed = true;
    }
    for (size_t i = 0; i < known && !placed && is_only_one; i++) {
        if (tree->nodes[i].kinds != ROAST_SECTION_TIME || tree->spare_ns[i] == 0)
            continue;
        node.parent = (int32_t)i;
        node.total_ns = tree->spare_ns[i];
        (void)add_node(tree, &node, 0);
        node.bytes = 0; /* all of them are with the first one */
    }
    if (!placed && tree->count == known)
        (void)add_node(tree, &node, 0);
}

/* Those that no interval tells of. */
static void place_other_bytes(struct tree *tree)
{
    struct roast_section_sum *sums = (void *)tree->draft->sums[ROAST_SUMS_BYTES].data;
    size_t count = tree->draft->sums[ROAST_SUMS_BYTES].size_bytes / sizeof(*sums);

    for (size_t i = 0; i < count; i++) {
        bool may_be_told =
            sums[i].value >= 0 && nearbyint(sums[i].value) == sums[i].value;
        if (!sums[i].told && may_be_told)
            place_bytes(tree, &sums[i], count == 1);
        sums[i].told = may_be_told;
    }
}

/* Intervals beyond the first 256 are lost: what a section of time says that its children
 * took, and they do not, was of a section of bytes. */
static void fill_up(struct tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        int32_t parent = tree->nodes[i].parent;
        if (tree->nodes[i].kinds != ROAST_SECTION_BYTES || parent < 0 ||
            !(tree->nodes[parent].kinds & ROAST_SECTION_TIME))
            continue;
        tree->nodes[i].total_ns += tree->spare_ns[parent];
        tree->spare_ns[parent] = 0;
    }
}

/* ---- the rest -------------------------------------------------------------------- */

static void mark_told(struct tree *tree, enum roast_sums which, unsigned kind)
{
    struct roast_section_sum *sums = (void *)tree->draft->sums[which].data;
    size_t count = tree->draft->sums[which].size_bytes / sizeof(*sums);

    for (size_t i = 0; i < count; i++) {
        struct roast_str name = roast__texts_get(tree->texts, sums[i].name);
        for (size_t k = 0; k < tree->count && !sums[i].told; k++)
            sums[i].told = tree->nodes[k].kinds & kind &&
                           roast__str_equal(tree->nodes[k].name, name);
    }
}

/* The node that an interval is of; -1: none has its name. */
static int32_t node_of(struct tree *tree, const struct roast_section_interval *interval)
{
    struct roast_str name = roast__texts_get(tree->texts, interval->name);
    int32_t found = NO_PARENT;

    for (size_t i = 0; i < tree->count; i++) {
        if (!roast__str_equal(tree->nodes[i].name, name))
            continue;
        found = (int32_t)i;
        if (tree->spare_ns[i] >= interval->duration_ns) {
            tree->spare_ns[i] -= interval->duration_ns;
            break;
        }
    }
    return found;
}

static bool put_intervals(struct tree *tree, roast_record *rec)
{
    const struct roast_section_interval *all = (void *)tree->draft->intervals.data;
    size_t count = tree->draft->intervals.size_bytes / sizeof(*all);
    struct roast_buf *blob = &tree->draft->interval_blob;

    for (size_t i = 0; i < tree->count; i++)
        tree->spare_ns[i] = tree->nodes[i].total_ns; /* now for intervals */
    if (count == 0 || tree->count == 0)
        return true;
    roast__buf_put_varint(blob, count);
    for (size_t i = 0; i < count; i++) {
        int32_t node = node_of(tree, &all[i]);
        /* one that no node has is left out by whoever reads it */
        roast__buf_put_varint(blob, node < 0 ? tree->count : (uint64_t)node);
        roast__buf_put_varint(blob, all[i].start_ns);
        roast__buf_put_varint(blob, all[i].duration_ns);
    }
    roast_record_set_str(
        rec, ROAST_FIELD_intervals,
        (struct roast_str){(const char *)blob->data, blob->size_bytes});
    return roast__buf_ok(blob);
}

bool roast__section_draft_put_tree(struct roast_section_draft *draft,
                                   const struct roast_texts *texts, roast_record *rec)
{
    struct tree tree = {.draft = draft, .texts = texts};

    roast__passes_find(&tree.passes, draft, texts);
    roast__passes_find_bytes(&tree.passes, draft, texts);
    place_rows(&tree);
    mark_told(&tree, ROAST_SUMS_TIME, ROAST_SECTION_TIME);
    mark_told(&tree, ROAST_SUMS_MEMORY, ROAST_SECTION_MEMORY);
    place_other_bytes(&tree);
    fill_up(&tree);
    return roast__buf_ok(&draft->byte_rows) && roast__section_draft_blob(draft, rec) &&
           put_intervals(&tree, rec);
}
