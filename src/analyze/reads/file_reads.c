/* SPDX-License-Identifier: BSD-3-Clause */
/* file_reads.c - what is known of every file, and which of its branches were read.
 *
 * A file is a tree of a file, whatever datasets it is in. Chunks of one file mostly read
 * the same branches in the same order, so each looks first where the last one was. */
#include "analyze/reads/file_reads.h"

#include <stdlib.h>

#include "analyze/name_table.h"
#include "analyze/record_iter.h"
#include "analyze/totals/groups.h"
#include "base/array.h"
#include "base/mem.h"

struct search {
    const struct roast_summary_context *ctx;
    struct roast_file_reads *found;
    struct roast_keys trees;       /* of sources + 1 */
    struct roast_name_table names; /* of branches; the group is the file */
    size_t cap;
    bool failed;
};

/* ---- files ----------------------------------------------------------------------- */

static const struct roast_source *source_at(const void *attempts, size_t item)
{
    static const struct roast_source none = {.file = ROAST_NO_STRING,
                                             .tree = ROAST_NO_STRING};

    return item > 0 ? &((const struct roast_attempts *)attempts)->sources[item - 1]
                    : &none;
}

static bool same_tree(const void *attempts, size_t a, size_t b)
{
    const struct roast_source *left = source_at(attempts, a);
    const struct roast_source *right = source_at(attempts, b);

    return left->file == right->file && left->tree == right->tree;
}

static uint64_t hash_tree(const void *attempts, size_t item)
{
    const struct roast_source *source = source_at(attempts, item);

    return roast__hash_number((uint64_t)(uint32_t)source->file << 32 |
                              (uint32_t)source->tree);
}

static bool find_files(struct search *search)
{
    const struct roast_attempts *attempts = &search->ctx->run->attempts;
    const struct roast_key_rule by_tree = {attempts, same_tree, hash_tree};
    struct roast_file_reads *found = search->found;

    if (!roast__keys_join(&search->trees, search->ctx->totals->of_source,
                          attempts->source_count + 1, &by_tree))
        return false;
    found->files = roast__alloc(search->trees.count * sizeof(found->files[0]));
    found->count = found->files ? search->trees.count : 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct roast_source *source =
            source_at(attempts, (size_t)search->trees.first_item[i]);
        found->files[i].name = source->file;
        found->files[i].tree = source->tree;
    }
    return found->files != NULL;
}

/* Files without recorded facts or reads do not count. */
static bool has_content(const struct roast_file_read *file)
{
    return file->has_facts || file->has_reads;
}

static bool mark_trees(struct search *search)
{
    const struct roast_attempts *attempts = &search->ctx->run->attempts;
    const struct roast_key_rule by_file = roast__by_file(attempts);
    const int32_t *items = search->trees.first_item;
    struct roast_file_reads *found = search->found;
    struct roast_keys files = {0};
    uint32_t *trees = roast__alloc((attempts->source_count + 1) * sizeof(trees[0]));
    bool done = trees && roast__keys_join(&files, search->ctx->totals->of_source,
                                          attempts->source_count + 1, &by_file);

    for (size_t i = 0; done && i < found->count; i++)
        trees[files.key_of[items[i]]] += has_content(&found->files[i]);
    for (size_t i = 0; done && i < found->count; i++)
        found->files[i].among_trees = trees[files.key_of[items[i]]] > 1;
    roast__keys_release(&files);
    roast__free(trees);
    return done;
}

/* ---- branches -------------------------------------------------------------------- */

/* A branch of a file, added when it is new. Its number, -1: out of memory. */
static int64_t number_of(struct search *search, struct roast_name_key key,
                         int64_t guess)
{
    struct roast_file_reads *found = search->found;
    struct roast_file_branch *branches = roast__array_room(
        found->branches, &search->cap, found->branch_count, sizeof(branches[0]));

    if (!branches)
        return -1;
    found->branches = branches;
    int64_t number = roast__name_number(&search->names, key, guess);
    if (number == (int64_t)found->branch_count)
        branches[found->branch_count++] =
            (struct roast_file_branch){.name = key.name, .file = key.group};
    return number;
}

static void add_branch(struct roast_file_branch *known,
                       const struct roast_branch *branch)
{
    known->flags |= branch->flags;
    if (branch->sizes_known) {
        known->sized = true;
        known->file_bytes = branch->file_bytes;
    }
}

static void add_branches(struct search *search, uint32_t file,
                         const struct roast_branch_list *list)
{
    struct roast_file_read *own = &search->found->files[file];
    int64_t guess = own->branch_count > 0 ? (int64_t)own->first_branch : ROAST_NO_GUESS;

    for (size_t i = 0; i < list->count; i++) {
        const struct roast_branch *branch = &list->all[i];
        struct roast_name_key key = {branch->name, file};
        size_t known = search->found->branch_count;
        int64_t number = number_of(search, key, guess);
        if (number < 0) {
            search->failed = true;
            return;
        }
        if (own->branch_count == 0)
            own->first_branch = (size_t)number;
        own->branch_count += search->found->branch_count - known;
        own->requested_bytes += (double)branch->bytes;
        add_branch(&search->found->branches[number], branch);
        guess = number + 1;
    }
}

/* A chunk that read something knows the codec, another one does not. */
static void learn_facts(struct roast_file_read *file,
                        const struct roast_record_iter *iter)
{
    struct roast_file_facts facts;
    bool whole = file->has_facts && file->facts.codec != ROAST_CODEC_UNKNOWN &&
                 file->facts.sizes_known;

    if (whole || !roast__record_iter_facts(iter, &facts))
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

static int by_file_and_name(const void *a, const void *b)
{
    const struct roast_file_branch *left = a, *right = b;

    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return roast__compare_names(left->name, right->name);
}

/* ---- all ------------------------------------------------------------------------- */

bool roast__file_reads_find(struct roast_file_reads *reads,
                            const struct roast_summary_context *ctx)
{
    struct search search = {.ctx = ctx, .found = reads};

    if (!(ctx->run->attempts.fields & ROAST_FIELDS_OF_READS))
        return true;
    if (find_files(&search)) {
        struct roast_record_iter iter = {.ctx = search.ctx,
                                         .fields = ROAST_FIELDS_OF_READS,
                                         .roles = ROAST_ROLES_COUNT};
        const int32_t *source = search.ctx->run->attempts.source;
        struct roast_branch_list list = {0};
        while (!search.failed && roast__record_iter_next(&iter)) {
            int32_t file = search.trees.key_of[source[iter.row] + 1];
            struct roast_file_read *own = &search.found->files[file];
            learn_facts(own, &iter);
            if (!roast__record_iter_branches(&iter, &list))
                continue;
            own->has_reads = true;
            own->has_bytes |= roast__record_iter_knows_bytes(&iter);
            add_branches(&search, (uint32_t)file, &list);
        }
        roast__free(list.all);
    } else
        search.failed = true;
    if (!search.failed)
        search.failed = !mark_trees(&search);
    size_t first = 0;
    if (reads->branch_count > 0)
        qsort(reads->branches, reads->branch_count, sizeof(reads->branches[0]),
              by_file_and_name);
    for (size_t i = 0; i < reads->count; i++) {
        reads->files[i].first_branch = first;
        first += reads->files[i].branch_count;
    }
    roast__keys_release(&search.trees);
    roast__name_table_release(&search.names);
    return !search.failed;
}

void roast__file_reads_release(struct roast_file_reads *reads)
{
    roast__free(reads->files);
    roast__free(reads->branches);
    *reads = (struct roast_file_reads){0};
}
