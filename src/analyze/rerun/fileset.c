/* SPDX-License-Identifier: BSD-3-Clause */
/* fileset.c - stores, sorts and writes files of datasets for coffea's Runner.
 *
 * The Runner accepts one tree per dataset, or one per file. The first is usual, so it is
 * written where possible. */
#include "analyze/rerun/fileset.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "roast/json_write.h"

void roast__fileset_release(struct roast_fileset *fileset)
{
    roast__buf_release(&fileset->texts);
    roast__free(fileset->files);
    roast__free(fileset->others);
    *fileset = (struct roast_fileset){0};
}

struct roast_fileset_text roast__fileset_keep(struct roast_fileset *fileset,
                                              struct roast_str text)
{
    size_t at = fileset->texts.size_bytes + 1;

    if (!text.data)
        return (struct roast_fileset_text){0};
    if (at <= UINT32_MAX && text.size_bytes <= UINT32_MAX - at)
        roast__buf_put(&fileset->texts, text.data, text.size_bytes);
    else
        fileset->failed = true;
    if (fileset->failed || !roast__buf_ok(&fileset->texts)) {
        fileset->failed = true;
        return (struct roast_fileset_text){0};
    }
    return (struct roast_fileset_text){(uint32_t)at, (uint32_t)text.size_bytes};
}

struct roast_str roast__fileset_text(const struct roast_fileset *fileset,
                                     struct roast_fileset_text text)
{
    if (text.at == 0)
        return (struct roast_str){NULL, 0};
    if (text.size_bytes == 0)
        return (struct roast_str){"", 0};
    return (struct roast_str){(const char *)fileset->texts.data + text.at - 1,
                              text.size_bytes};
}

void roast__fileset_add(struct roast_fileset *fileset,
                        struct roast_fileset_text dataset, struct roast_str file,
                        struct roast_str tree)
{
    struct roast_fileset_file added = {dataset, roast__fileset_keep(fileset, file),
                                       roast__fileset_keep(fileset, tree)};

    void *files =
        roast__array_room(fileset->files, &fileset->cap, fileset->count, sizeof(added));

    if (!files) {
        fileset->failed = true;
        return;
    }
    fileset->files = files;
    fileset->files[fileset->count++] = added;
}

void roast__fileset_add_other(struct roast_fileset *fileset,
                              struct roast_fileset_text dataset, struct roast_str json)
{
    struct roast_fileset_other added = {dataset, roast__fileset_keep(fileset, json)};
    void *others = roast__array_room(fileset->others, &fileset->other_cap,
                                     fileset->other_count, sizeof(added));

    if (!others) {
        fileset->failed = true;
        return;
    }
    fileset->others = others;
    fileset->others[fileset->other_count++] = added;
}

/* ---- order -------------------------------------------------------------------- */

int roast__fileset_compare(const struct roast_str a[2], const struct roast_str b[2])
{
    int order = roast__str_compare(a[0], b[0]);

    return order != 0 ? order : roast__str_compare(a[1], b[1]);
}

static int compare_names(const struct roast_fileset *fileset,
                         const struct roast_fileset_file *a,
                         const struct roast_fileset_file *b)
{
    const struct roast_str left[2] = {roast__fileset_text(fileset, a->dataset),
                                      roast__fileset_text(fileset, a->file)};
    const struct roast_str right[2] = {roast__fileset_text(fileset, b->dataset),
                                       roast__fileset_text(fileset, b->file)};

    return roast__fileset_compare(left, right);
}

static int compare_files(const void *a, const void *b, void *fileset)
{
    const struct roast_fileset_file *left = a, *right = b;
    int order = compare_names(fileset, left, right);
    bool both = left->tree.at != 0 && right->tree.at != 0;

    if (order != 0 || !both) /* known trees first */
        return order != 0 ? order : (left->tree.at == 0) - (right->tree.at == 0);
    return roast__str_compare(roast__fileset_text(fileset, left->tree),
                              roast__fileset_text(fileset, right->tree));
}

static int compare_others(const void *a, const void *b, void *fileset)
{
    const struct roast_fileset_other *left = a, *right = b;

    return roast__str_compare(roast__fileset_text(fileset, left->dataset),
                              roast__fileset_text(fileset, right->dataset));
}

void roast__fileset_sort(struct roast_fileset *fileset)
{
    size_t kept = 0;

    if (fileset->failed)
        return;
    if (fileset->other_count > 0)
        qsort_r(fileset->others, fileset->other_count, sizeof(*fileset->others),
                compare_others, fileset);
    if (fileset->count > 0)
        qsort_r(fileset->files, fileset->count, sizeof(*fileset->files), compare_files,
                fileset);
    for (size_t i = 0; i < fileset->count; i++)
        if (kept == 0 ||
            compare_names(fileset, &fileset->files[kept - 1], &fileset->files[i]) != 0)
            fileset->files[kept++] = fileset->files[i];
    fileset->count = kept;
}

bool roast__fileset_has(const struct roast_fileset *sorted,
                        const struct roast_str names[2])
{
    size_t low = 0, high = sorted->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct roast_fileset_file *file = &sorted->files[middle];
        const struct roast_str here[2] = {roast__fileset_text(sorted, file->dataset),
                                          roast__fileset_text(sorted, file->file)};
        int order = roast__fileset_compare(here, names);
        if (order == 0)
            return true;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

/* ---- writing ------------------------------------------------------------------ */

static struct roast_str tree_of(const struct roast_fileset *fileset, size_t i)
{
    return roast__fileset_text(fileset, fileset->files[i].tree);
}

static bool same(struct roast_str a, struct roast_str b)
{
    return (a.data != NULL) == (b.data != NULL) && roast__str_compare(a, b) == 0;
}

static void put_other(struct roast_json *json, const struct roast_fileset *given,
                      struct roast_str dataset)
{
    size_t low = 0;
    size_t high = given->other_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct roast_fileset_other *other = &given->others[middle];
        int order =
            roast__str_compare(roast__fileset_text(given, other->dataset), dataset);
        if (order == 0) {
            roast_json_raw(json, roast__fileset_text(given, other->json));
            return;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
}

/* Writes the files of one dataset. */
static void put_files(struct roast_json *json, const struct roast_fileset *fileset,
                      size_t first, size_t end)
{
    struct roast_str tree = tree_of(fileset, first);
    bool all_same = true;
    bool all_known = true;

    for (size_t i = first; i < end; i++) {
        all_same = all_same && same(tree, tree_of(fileset, i));
        all_known = all_known && tree_of(fileset, i).data;
    }
    bool by_name = all_known && !all_same;
    if (all_known && all_same) {
        roast_json_key(json, roast_str_of("treename"));
        roast_json_text(json, tree);
    }
    roast_json_key(json, roast_str_of("files"));
    roast_json_open(json, by_name ? '{' : '[');
    for (size_t i = first; i < end; i++) {
        struct roast_str file = roast__fileset_text(fileset, fileset->files[i].file);
        if (by_name)
            roast_json_key(json, file);
        roast_json_text(json, by_name ? tree_of(fileset, i) : file);
    }
    roast_json_close(json, by_name ? '}' : ']');
}

void roast__fileset_write(struct roast_json *json, const struct roast_fileset *fileset,
                          const struct roast_fileset *given)
{
    roast_json_open(json, '{');
    for (size_t first = 0, end; first < fileset->count; first = end) {
        struct roast_str dataset =
            roast__fileset_text(fileset, fileset->files[first].dataset);
        for (end = first + 1; end < fileset->count; end++) {
            if (!same(dataset,
                      roast__fileset_text(fileset, fileset->files[end].dataset)))
                break;
        }
        roast_json_key(json, dataset);
        roast_json_open(json, '{');
        put_files(json, fileset, first, end);
        put_other(json, given, dataset);
        roast_json_close(json, '}');
    }
    roast_json_close(json, '}');
}
