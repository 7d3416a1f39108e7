/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c - the file of every row, and which files may have two attempts at a chunk.
 *
 * In most files the first entry grows from row to row, which excludes repeats without
 * the hash set of same_chunks.c. */
#include "analyze/totals/files.h"

#include <stdlib.h>

#include "base/mem.h"

struct numbered_source {
    struct roast_source source;
    int32_t number;
};

static int compare(int32_t a, int32_t b)
{
    return (a > b) - (a < b);
}

static int by_dataset_file_tree(const void *a, const void *b)
{
    const struct roast_source *left = &((const struct numbered_source *)a)->source;
    const struct roast_source *right = &((const struct numbered_source *)b)->source;
    int order = compare(left->dataset, right->dataset);

    if (order == 0)
        order = compare(left->file, right->file);
    return order != 0 ? order : compare(left->tree, right->tree);
}

static bool same_file(const struct roast_source *a, const struct roast_source *b)
{
    return a->dataset == b->dataset && a->file == b->file;
}

static void number_files(int32_t *of_source, const struct numbered_source *sources,
                         size_t count)
{
    for (size_t first = 0, last; first < count; first = last + 1) {
        last = first;
        while (last + 1 < count &&
               same_file(&sources[first].source, &sources[last + 1].source))
            last++;
        /* An attempt that failed before process() does not know its tree: if the file
         * was read with one tree only, it belongs to that one. */
        size_t known = first; /* ROAST_NO_STRING sorts before all trees */
        while (known < last && sources[known].source.tree == ROAST_NO_STRING)
            known++;
        bool one_tree = sources[known].source.tree == sources[last].source.tree;
        int32_t number = sources[first].number;
        for (size_t i = first; i <= last; i++) {
            const struct numbered_source *own = &sources[i];
            if (!one_tree && i > first &&
                own->source.tree != sources[i - 1].source.tree)
                number = own->number;
            of_source[own->number] = number;
            if (own->source.file ==
                ROAST_NO_STRING) /* known by its id, or not at all */
                of_source[own->number] =
                    own->source.by_id ? own->number : ROAST_NO_FILE;
        }
    }
}

bool roast__files_find(struct roast_files *files, const struct roast_attempts *attempts)
{
    size_t count = attempts->source_count;
    struct numbered_source *sources = roast__alloc(count * sizeof(sources[0]));
    uint64_t *next = roast__alloc(count * sizeof(next[0])); /* per file: entry */
    const int64_t *starts = attempts->columns[ROAST_COLUMN_entry_start].values;

    files->of_source = roast__alloc(count * sizeof(files->of_source[0]));
    files->may_repeat = roast__alloc(count * sizeof(files->may_repeat[0]));
    bool found = sources && next && files->of_source && files->may_repeat;
    for (size_t i = 0; found && i < count; i++)
        sources[i] = (struct numbered_source){attempts->sources[i], (int32_t)i};
    if (found && count > 0) {
        qsort(sources, count, sizeof(sources[0]), by_dataset_file_tree);
        number_files(files->of_source, sources, count);
    }
    for (size_t row = 0; found && row < attempts->count; row++) {
        int32_t file = roast__file_of_row(files, attempts, row);
        if (file < 0 || !roast__has_entries(attempts, row))
            continue;
        if ((uint64_t)starts[row] < next[file])
            files->may_repeat[file] = files->any_may_repeat = true;
        else
            next[file] = (uint64_t)starts[row] + 1;
    }
    roast__free(sources);
    roast__free(next);
    return found;
}

void roast__files_release(struct roast_files *files)
{
    roast__free(files->of_source);
    roast__free(files->may_repeat);
    *files = (struct roast_files){0};
}
