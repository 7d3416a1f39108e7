/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.c - the tables `sections` and `chunk_sections`.
 *
 * Sections of the same name are kept apart by where they are nested: only then can the
 * totals of one level be added up. A number of the name table stands for a section
 * within its parent within a file of a dataset. */
#include "record/sections.h"
#include "analyze/name_table.h"
#include "analyze/record_iter.h"
#include "analyze/tables/job.h"
#include "analyze/totals/groups.h"
#include "base/array.h"
#include "base/mem.h"

#define AT(name) ROAST_COL_sections_##name

/* The sections of one chunk. Zeroed = empty and valid; everything is owned. */
struct tree {
    struct roast_section *all;
    uint32_t *node; /* numbers of the name table */
    size_t count;
    size_t cap;
};

static void release_tree(struct tree *tree)
{
    roast__free(tree->all);
    roast__free(tree->node);
    *tree = (struct tree){0};
}

static bool make_room(struct tree *tree, size_t count)
{
    if (count <= tree->cap)
        return true;
    release_tree(tree);
    tree->all = roast__alloc(count * sizeof(tree->all[0]));
    tree->node = roast__alloc(count * sizeof(tree->node[0]));
    if (!tree->all || !tree->node)
        return false;
    tree->cap = count;
    return true;
}

/* Reads the sections of a record; none if it is damaged. False when out of memory. */
static bool read_tree(struct tree *tree, const roast_record *rec)
{
    struct roast_str blob = rec->values[ROAST_FIELD_sections].str;
    int64_t count = 0;

    tree->count = 0;
    if (roast_record_has(rec, ROAST_FIELD_sections))
        count = roast_sections_read(tree->all, tree->cap, blob, NULL);
    if (count <= 0)
        return true;
    if ((size_t)count > tree->cap) {
        if (!make_room(tree, (size_t)count))
            return false;
        count = roast_sections_read(tree->all, tree->cap, blob, NULL);
    }
    tree->count = (size_t)count;
    return true;
}

/* "time+memory"; texts of every set of kinds. */
static struct roast_str kind_text(unsigned kinds, char room[32])
{
    static const struct {
        unsigned kind;
        const char *name;
    } all[] = {
        {ROAST_SECTION_TIME, "+time"},
        {ROAST_SECTION_MEMORY, "+memory"},
        {ROAST_SECTION_BYTES, "+bytes"},
        {ROAST_SECTION_CALL, "+call"},
    };
    size_t used = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (!(kinds & all[i].kind))
            continue;
        memcpy(room + used, all[i].name, strlen(all[i].name));
        used += strlen(all[i].name);
    }
    if (used == 0)
        return (struct roast_str){NULL, 0};
    return (struct roast_str){room + 1, used - 1};
}

/* ---- added up -------------------------------------------------------------------- */

/* A section within its parent within a file. */
struct node {
    int32_t key; /* of the file */
    int64_t parent;
    unsigned depth;
    unsigned kinds;
    uint64_t chunks;
    uint64_t count;
    bool has_time;
    double total_ns;
    double self_ns;
    double memory_bytes;
    double bytes;
};

struct sums {
    struct roast_keys files;
    struct roast_name_table names;
    struct node *nodes; /* owned; by number of the name */
    size_t cap;
    struct tree tree;
};

/* The node of section i, added when it is new; -1: out of memory. */
static int64_t node_of(struct sums *sums, size_t i, int32_t key, int64_t guess)
{
    const struct roast_section *section = &sums->tree.all[i];
    size_t known = sums->names.count;
    int64_t parent =
        section->parent < 0 ? INT64_C(-1) : (int64_t)sums->tree.node[section->parent];
    uint32_t group =
        parent < 0 ? (uint32_t)key : (uint32_t)(sums->files.count + (size_t)parent);
    struct node *nodes =
        roast__array_room(sums->nodes, &sums->cap, known, sizeof(nodes[0]));

    if (!nodes)
        return -1;
    sums->nodes = nodes;
    int64_t number = roast__name_number(
        &sums->names, (struct roast_name_key){section->name, group}, guess);
    if (number == (int64_t)known)
        nodes[number] =
            (struct node){.key = key, .parent = parent, .depth = section->depth};
    return number;
}

/* False when out of memory. */
static bool add_tree(struct sums *sums, int32_t key)
{
    struct tree *tree = &sums->tree;
    int64_t number = ROAST_NO_GUESS;

    for (size_t i = 0; i < tree->count; i++) {
        number = node_of(sums, i, key, number + 1);
        if (number < 0)
            return false;
        tree->node[i] = (uint32_t)number;
        struct node *node = &sums->nodes[number];
        const struct roast_section *section = &tree->all[i];
        node->kinds |= section->kinds;
        node->chunks++;
        node->count = roast__sat_count(node->count, section->count);
        node->has_time |= roast__section_has_time(section);
        node->total_ns += (double)section->total_ns;
        node->self_ns += (double)section->self_ns;
        if (section->kinds & ROAST_SECTION_MEMORY)
            node->memory_bytes += (double)section->memory_delta_bytes;
        if (section->kinds & ROAST_SECTION_BYTES)
            node->bytes += (double)section->bytes;
    }
    return true;
}

static bool add_all(struct sums *sums, const struct roast_summary_context *ctx)
{
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(sections), .roles = ROAST_ROLES_COUNT};

    if (!roast__join_dataset_files(&sums->files, ctx))
        return false;
    while (roast__record_iter_next(&iter)) {
        int32_t source = ctx->run->attempts.source[iter.row];
        if (!read_tree(&sums->tree, &iter.rec) ||
            !add_tree(sums, sums->files.key_of[source + 1]))
            return false;
    }
    return true;
}

static void put_node(const struct roast_table_job *job, const struct sums *sums,
                     size_t number)
{
    const struct node *node = &sums->nodes[number];
    roast_table *to = job->to;
    char room[32];

    roast__table_row(to);
    roast__put_dataset_file(job, AT(dataset), AT(file),
                            sums->files.first_item[node->key] - 1);
    roast__fill_text(to, AT(name), sums->names.keys[number].name);
    if (node->parent >= 0)
        roast__fill_text(to, AT(parent), sums->names.keys[node->parent].name);
    roast__fill_int(to, AT(depth), node->depth);
    roast__fill_text(to, AT(kind), kind_text(node->kinds, room));
    roast__fill_count(to, AT(chunks), node->chunks);
    roast__fill_count(to, AT(count), node->count);
    if (node->has_time) {
        roast__fill_number(to, AT(total), node->total_ns / 1e9);
        roast__fill_number(to, AT(self), node->self_ns / 1e9);
    }
    if (node->kinds & ROAST_SECTION_MEMORY)
        roast__fill_sum(to, AT(memory_delta_bytes), node->memory_bytes);
    if (node->kinds & ROAST_SECTION_BYTES)
        roast__fill_sum(to, AT(bytes), node->bytes);
}

void roast__make_sections(const struct roast_table_job *job)
{
    struct sums sums = {0};

    if (!add_all(&sums, job->ctx))
        roast__table_fail(job->to);
    for (size_t i = 0; i < sums.names.count && roast__table_ok(job->to); i++)
        put_node(job, &sums, i);
    roast__keys_release(&sums.files);
    roast__name_table_release(&sums.names);
    roast__free(sums.nodes);
    release_tree(&sums.tree);
}

/* ---- by chunk -------------------------------------------------------------------- */

#undef AT
#define AT(name) ROAST_COL_chunk_sections_##name

void roast__make_chunk_sections(const struct roast_table_job *job)
{
    struct roast_chunk_iter iter = {.job = job};
    unsigned char identity[ROAST_IDENTITY_BYTES];
    struct tree tree = {0};
    roast_record rec;

    if (!(job->run->attempts.fields & ROAST_FIELD_BIT(sections)))
        return;
    while (roast__table_ok(job->to) && roast__chunk_iter_next(&iter)) {
        (void)roast__attempt_record(job->run, iter.row, &rec, identity);
        if (!read_tree(&tree, &rec))
            roast__table_fail(job->to);
        for (size_t i = 0; i < tree.count; i++) {
            const struct roast_section *section = &tree.all[i];
            char room[32];
            roast__table_row(job->to);
            roast__fill_count(job->to, AT(chunk_id), iter.chunk_id);
            roast__fill_text(job->to, AT(name), section->name);
            if (section->parent >= 0)
                roast__fill_text(job->to, AT(parent), tree.all[section->parent].name);
            roast__fill_int(job->to, AT(depth), section->depth);
            roast__fill_text(job->to, AT(kind), kind_text(section->kinds, room));
            roast__fill_count(job->to, AT(count), section->count);
            if (roast__section_has_time(section)) {
                roast__fill_number(job->to, AT(total), (double)section->total_ns / 1e9);
                roast__fill_number(job->to, AT(self), (double)section->self_ns / 1e9);
            }
            if (section->kinds & ROAST_SECTION_MEMORY)
                roast__fill_int(job->to, AT(memory_delta_bytes),
                                section->memory_delta_bytes);
            if (section->kinds & ROAST_SECTION_BYTES)
                roast__fill_count(job->to, AT(bytes), section->bytes);
        }
    }
    release_tree(&tree);
}
