/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_passes.c - where the sections of bytes of a record were.
 *
 * They are in no list of a record, but their passes are among its intervals, which come in
 * the order of their ends. So, from the last one back, a pass lies inside the nearest one
 * that began before it: that gives its depth and its parent. Passes of sections of the
 * same name that are in a list are taken off. */
#include <math.h>

#include "base/checksum.h"
#include "collect/measurement_tree.h"

enum { OUTSIDE = -1 };

static bool is_before(const struct roast_passes *passes, size_t a, size_t b)
{
    const struct roast_section_interval *left = &passes->all[a];
    const struct roast_section_interval *right = &passes->all[b];

    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns;
    return passes->depth[a] < passes->depth[b];
}

uint64_t roast__path_below(uint64_t path, struct roast_str name)
{
    return (path + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
           roast__hash64(name.data, name.size_bytes);
}

static void nest(struct roast_passes *passes, const struct roast_texts *texts)
{
    size_t open[ROAST_DRAFT_MAX_INTERVALS];
    size_t depth = 0;

    for (size_t i = passes->count; i-- > 0;) {
        while (depth > 0 &&
               passes->all[open[depth - 1]].start_ns > passes->all[i].start_ns)
            depth--;
        passes->parent[i] = depth > 0 ? (int)open[depth - 1] : OUTSIDE;
        passes->depth[i] = (uint32_t)depth;
        passes->path[i] =
            roast__path_below(depth > 0 ? passes->path[open[depth - 1]] : 0,
                              roast__texts_get(texts, passes->all[i].name));
        open[depth++] = i;
    }
}

static void sort_by_start(struct roast_passes *passes)
{
    for (size_t i = 0; i < passes->count; i++) {
        size_t at = i;
        for (; at > 0 && is_before(passes, i, passes->by_start[at - 1]); at--)
            passes->by_start[at] = passes->by_start[at - 1];
        passes->by_start[at] = i;
    }
}

static bool same_place(const struct roast_texts *texts,
                       const struct roast_section_row *a,
                       const struct roast_section_row *b)
{
    return a->depth == b->depth &&
           roast__str_equal(roast__texts_get(texts, a->name),
                            roast__texts_get(texts, b->name)) &&
           (a->depth == 0 || roast__str_equal(roast__texts_get(texts, a->parent),
                                              roast__texts_get(texts, b->parent)));
}

bool roast__passes_match(const struct roast_passes *passes, uint64_t path,
                         const struct roast_section_row *row)
{
    uint64_t count = 0;
    uint64_t total_ns = 0;

    for (size_t i = 0; i < passes->count; i++) {
        if (passes->path[i] != path)
            continue;
        count++;
        total_ns += passes->all[i].duration_ns;
    }
    return count > 0 && count == row->count && total_ns == row->total_ns;
}

/* Adds a pass to the row of its path. */
static void add_pass(struct roast_buf *rows, const struct roast_section_row *pass)
{
    struct roast_section_row *all = (void *)rows->data;
    size_t count = rows->size_bytes / sizeof(*all);

    for (size_t i = 0; i < count; i++) {
        if (all[i].path != pass->path)
            continue;
        all[i].count++;
        all[i].total_ns += pass->total_ns;
        return;
    }
    if (count < ROAST_DRAFT_MAX_SECTIONS)
        roast__buf_put(rows, pass, sizeof(*pass));
}

/* Takes off what a section of the same name and place in a list has told. */
static void take_off(struct roast_section_row *row, const struct roast_texts *texts,
                     const struct roast_buf *list)
{
    const struct roast_section_row *told = (const void *)list->data;
    size_t count = list->size_bytes / sizeof(*told);

    for (size_t i = 0; i < count; i++) {
        if (!same_place(texts, row, &told[i]))
            continue;
        row->count -= told[i].count < row->count ? told[i].count : row->count;
        row->total_ns -=
            told[i].total_ns < row->total_ns ? told[i].total_ns : row->total_ns;
    }
}

static bool can_be_told(const struct roast_section_sum *sum)
{
    return sum->value >= 0 && nearbyint(sum->value) == sum->value;
}

static struct roast_section_sum *sum_of(const struct roast_section_draft *draft,
                                        const struct roast_texts *texts,
                                        struct roast_kept name)
{
    const struct roast_buf *buf = &draft->sums[ROAST_SUMS_BYTES];
    struct roast_section_sum *sums = (void *)buf->data;
    size_t count = buf->size_bytes / sizeof(*sums);

    for (size_t i = 0; i < count; i++) {
        if (can_be_told(&sums[i]) &&
            roast__str_equal(roast__texts_get(texts, name),
                             roast__texts_get(texts, sums[i].name)))
            return &sums[i];
    }
    return NULL;
}

/* Rows without passes go. Bytes are only told as a sum: the first row of a name has
 * it. */
static void keep_rows(struct roast_section_draft *draft,
                      const struct roast_texts *texts)
{
    struct roast_section_row *all = (void *)draft->byte_rows.data;
    size_t count = draft->byte_rows.size_bytes / sizeof(*all);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct roast_section_sum *sum = sum_of(draft, texts, all[i].name);
        take_off(&all[i], texts, &draft->times);
        take_off(&all[i], texts, &draft->memories);
        if (all[i].count == 0)
            continue;
        all[kept] = all[i];
        all[kept++].bytes = sum->told ? 0 : roast__whole_of(sum->value, 1);
        sum->told = true;
    }
    draft->byte_rows.size_bytes = kept * sizeof(*all);
}

void roast__passes_find_bytes(const struct roast_passes *passes,
                              struct roast_section_draft *draft,
                              const struct roast_texts *texts)
{
    for (size_t i = 0; i < passes->count; i++) {
        size_t pass = passes->by_start[i];
        int parent = passes->parent[pass];
        struct roast_section_row row = {
            .name = passes->all[pass].name,
            .parent = parent >= 0 ? passes->all[parent].name : roast__kept_none,
            .depth = passes->depth[pass],
            .count = 1,
            .total_ns = passes->all[pass].duration_ns,
            .path = passes->path[pass],
        };
        if (sum_of(draft, texts, row.name))
            add_pass(&draft->byte_rows, &row);
    }
    if (roast__buf_ok(&draft->byte_rows) && draft->byte_rows.data)
        keep_rows(draft, texts);
}

void roast__passes_find(struct roast_passes *passes,
                        const struct roast_section_draft *draft,
                        const struct roast_texts *texts)
{
    passes->all = (const void *)draft->intervals.data;
    passes->count = draft->intervals.size_bytes / sizeof(*passes->all);
    nest(passes, texts);
    sort_by_start(passes);
}
