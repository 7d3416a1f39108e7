/* SPDX-License-Identifier: BSD-3-Clause */
/* file_reads.c - the facts of every file, and which of its branches were read.
 *
 * A file here is one tree of a file, in any dataset. */
#include "analyze/reads/file_reads.h"

#include <stdlib.h>

#include "analyze/record_iter.h"
#include "analyze/totals/groups.h"
#include "base/mem.h"
#include "base/str.h"

struct search {
    const struct roast_summary_context *ctx;
    struct roast_file_reads *found;
    struct roast_keys trees;         /* of sources + 1 */
    struct roast_key_table branches; /* by name and file */
};

/* ---- files ----------------------------------------------------------------------- */

static struct roast_key key_of_tree(const void *attempts, size_t item)
{
    const struct roast_source *source = roast__source_item(attempts, item);

    return (struct roast_key){.a = (uint32_t)source->file, .b = (uint32_t)source->tree};
}

static bool find_files(struct search *search)
{
    struct roast_file_reads *found = search->found;

    if (!roast__join_sources(&search->trees, search->ctx, key_of_tree))
        return false;
    found->files = roast__alloc(search->trees.count * sizeof(found->files[0]));
    found->count = found->files ? search->trees.count : 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct roast_source *source = roast__source_item(
            &search->ctx->run->attempts, (size_t)search->trees.first_item[i]);
        found->files[i].name = source->file;
        found->files[i].tree = source->tree;
    }
    return found->files != NULL;
}

/* Sets among_trees; trees without recorded facts or reads do not count. */
static bool mark_trees(struct search *search)
{
    const int32_t *items = search->trees.first_item;
    struct roast_file_reads *found = search->found;
    struct roast_keys files = {0};
    uint32_t *trees = roast__alloc(found->count * sizeof(trees[0])); /* per file */
    bool done = trees && roast__join_sources(&files, search->ctx, roast__key_of_file);

    for (size_t i = 0; done && i < found->count; i++)
        trees[files.key_of[items[i]]] +=
            found->files[i].has_facts || found->files[i].has_reads;
    for (size_t i = 0; done && i < found->count; i++)
        found->files[i].among_trees = trees[files.key_of[items[i]]] > 1;
    roast__keys_release(&files);
    roast__free(trees);
    return done;
}

/* ---- branches -------------------------------------------------------------------- */

/* False when out of memory. */
static bool add_branches(struct search *search, uint32_t file,
                         const struct roast_branch_list *list)
{
    struct roast_file_read *own = &search->found->files[file];
    int64_t hint = own->branch_count > 0 ? (int64_t)own->first_branch : ROAST_NO_HINT;

    for (size_t i = 0; i < list->count; i++) {
        const struct roast_branch *branch = &list->all[i];
        size_t before = search->branches.count;
        struct roast_key key = {.name = branch->name, .a = file};
        int64_t number = roast__key_number(&search->branches, key, hint);
        if (number < 0)
            return false;
        if (own->branch_count == 0)
            own->first_branch = (size_t)number;
        own->branch_count += search->branches.count - before;
        own->requested_bytes += (double)branch->bytes;
        struct roast_file_branch *known =
            (struct roast_file_branch *)search->branches.values + number;
        known->name = branch->name;
        known->file = file;
        known->flags |= branch->flags;
        if (branch->sizes_known) {
            known->sized = true;
            known->file_bytes = branch->file_bytes;
        }
        hint = number + 1;
    }
    return true;
}

/* Only a chunk that read something has the codec. */
static void merge_facts(struct roast_file_read *file,
                        const struct roast_record_iter *iter)
{
    struct roast_file_facts facts;
    bool complete = file->has_facts && file->facts.codec != ROAST_CODEC_UNKNOWN &&
                    file->facts.sizes_known;

    if (complete || !roast__record_iter_facts(iter, &facts))
        return;
    if (!file->has_facts)
        file->facts = facts;
    file->has_facts = true;
    if (facts.codec != ROAST_CODEC_UNKNOWN)
        file->facts.codec = facts.codec;
    if (facts.sizes_known) {
        file->facts.sizes_known = true;
        file->facts.compressed_bytes = facts.compressed_bytes;
        file->facts.uncompressed_bytes = facts.uncompressed_bytes;
    }
}

/* Only ranges of the chunk's file count as seeks. */
static void add_seeks(struct roast_file_read *file, const roast_record *rec)
{
    enum { MOST_ENDPOINTS = 16 };
    struct roast_endpoint all[MOST_ENDPOINTS];
    int64_t count = 0;

    if (roast_record_has(rec, ROAST_FIELD_endpoints))
        count = roast_endpoints_read(all, MOST_ENDPOINTS,
                                     rec->values[ROAST_FIELD_endpoints].str, NULL);
    for (int64_t i = 0; i < count && i < MOST_ENDPOINTS; i++)
        file->seeks += (double)all[i].seeks;
}

static int by_file_and_name(const void *a, const void *b)
{
    const struct roast_file_branch *left = a, *right = b;

    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return roast__str_compare(left->name, right->name);
}

/* ---- all ------------------------------------------------------------------------- */

bool roast__file_reads_find(struct roast_file_reads *reads,
                            const struct roast_summary_context *ctx)
{
    struct search search = {.ctx = ctx,
                            .found = reads,
                            .branches = {.value_bytes = sizeof(reads->branches[0])}};
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELDS_OF_READS, .roles = ROAST_ROLES_COUNT};
    struct roast_branch_list list = {0};

    if (!(ctx->run->attempts.fields & ROAST_FIELDS_OF_READS))
        return true;
    bool done = find_files(&search);
    while (done && roast__record_iter_next(&iter)) {
        int32_t file = search.trees.key_of[ctx->run->attempts.source[iter.row] + 1];
        struct roast_file_read *own = &reads->files[file];
        merge_facts(own, &iter);
        if (!own->sizes.data && roast_record_has(&iter.rec, ROAST_FIELD_file_branches))
            own->sizes = iter.rec.values[ROAST_FIELD_file_branches].str;
        if (!roast__record_iter_branches(&iter, &list))
            continue;
        own->has_reads = true;
        add_seeks(own, &iter.rec);
        own->has_bytes |= roast__record_iter_has_bytes(&iter);
        done = add_branches(&search, (uint32_t)file, &list);
    }
    done = done && mark_trees(&search);
    reads->branches = search.branches.values;
    reads->branch_count = search.branches.count;
    search.branches.values = NULL; /* moved */
    if (reads->branch_count > 0)
        qsort(reads->branches, reads->branch_count, sizeof(reads->branches[0]),
              by_file_and_name);
    for (size_t i = 0, first = 0; i < reads->count; i++) {
        reads->files[i].first_branch = first;
        first += reads->files[i].branch_count;
    }
    roast__free(list.all);
    roast__keys_release(&search.trees);
    roast__key_table_release(&search.branches);
    return done;
}

void roast__file_reads_release(struct roast_file_reads *reads)
{
    roast__free(reads->files);
    roast__free(reads->branches);
    *reads = (struct roast_file_reads){0};
}
