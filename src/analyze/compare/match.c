/* SPDX-License-Identifier: BSD-3-Clause */
/* match.c - finds the datasets, files and chunks that are in both runs.
 *
 * Every table numbers its own words, so words are matched first, then chunks by these
 * numbers. Repeated chunks are matched in order of their start. */
#include <math.h>
#include <stdlib.h>

#include "analyze/compare/compare.h"
#include "base/mem.h"
#include "base/redact.h"
#include "base/str.h"

double roast__measured_at(const roast_table *chunks, enum roast_measure measure,
                          size_t row)
{
    const struct roast_measure_info *info = roast_measure_info(measure);
    double value = roast_table_number(chunks, row, info->column);

    if (info->minus >= 0)
        value -= roast_table_number(chunks, row, info->minus);
    if (info->per >= 0)
        value /= roast_table_number(chunks, row, info->per);
    return value > 0 && isfinite(value) ? value : NAN;
}

/* ---- words ----------------------------------------------------------------------- */

struct word {
    struct roast_str text;
    int32_t number;
};

/* Names of two runs. Where a secret was in them, each run marks them with a key of its
 * own: marks are left out. */
static int by_name(const void *a, const void *b)
{
    struct roast_str left = ((const struct word *)a)->text;
    struct roast_str right = ((const struct word *)b)->text;

    while (left.size_bytes > 0 && right.size_bytes > 0) {
        size_t masked[2] = {roast__mask_bytes(left), roast__mask_bytes(right)};
        bool both = masked[0] > 0 && masked[1] > 0;
        if (!both && left.data[0] != right.data[0])
            break;
        left = roast__str_from(left, both ? masked[0] : 1);
        right = roast__str_from(right, both ? masked[1] : 1);
    }
    return roast__str_compare(left, right);
}

static struct word word_at(const struct roast_table_column *data, size_t number)
{
    int64_t start = number > 0 ? data->ends[number - 1] : 0;

    return (struct word){{data->words + start, (size_t)(data->ends[number] - start)},
                         (int32_t)number};
}

/* Returns owned: the word of A of each word of B. */
static int32_t *match_words(const struct roast_table_column *a,
                            const struct roast_table_column *b)
{
    struct word *words = roast__realloc(NULL, (a->word_count + 1) * sizeof(words[0]));
    int32_t *numbers = roast__realloc(NULL, (b->word_count + 1) * sizeof(numbers[0]));

    if (!words || !numbers) {
        roast__free(words);
        roast__free(numbers);
        return NULL;
    }
    for (size_t i = 0; i < a->word_count; i++)
        words[i] = word_at(a, i);
    if (a->word_count > 1)
        qsort(words, a->word_count, sizeof(words[0]), by_name);
    for (size_t i = 0; i < b->word_count; i++) {
        struct word wanted = word_at(b, i);
        const struct word *found =
            a->word_count > 0
                ? bsearch(&wanted, words, a->word_count, sizeof(words[0]), by_name)
                : NULL;
        numbers[i] = found ? found->number : -1;
    }
    roast__free(words);
    return numbers;
}

int32_t roast__data_word(const struct roast_table_column *data, size_t row)
{
    const int32_t *numbers = data->values;
    bool known = !data->valid || (data->valid[row / 8] >> (row % 8)) & 1;

    return known ? numbers[row] : -1;
}

/* ---- chunks ---------------------------------------------------------------------- */

struct chunk_key {
    int32_t dataset;
    int32_t file;
    double first;
    double stop;
    uint32_t row;
};

static int order_of(const struct chunk_key *a, const struct chunk_key *b)
{
    if (a->dataset != b->dataset)
        return a->dataset < b->dataset ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->stop > b->stop) - (a->stop < b->stop);
}

static int by_key(const void *a, const void *b)
{
    const struct chunk_key *left = a, *right = b;
    int order = order_of(left, right);

    return order ? order : (left->row > right->row) - (left->row < right->row);
}

/* The chunks with dataset, file and entries, in words of A; *count is their number. */
static struct chunk_key *keys_of(const struct roast_match *match, int side,
                                 size_t *count)
{
    const roast_table *chunks = match->chunks[side];
    size_t rows = roast_table_rows(chunks);
    struct chunk_key *keys = roast__realloc(NULL, (rows + 1) * sizeof(keys[0]));
    const struct roast_table_column *datasets =
        roast__chunk_column(chunks, ROAST_COL_chunks_dataset);
    const struct roast_table_column *files =
        roast__chunk_column(chunks, ROAST_COL_chunks_file);

    *count = 0;
    for (size_t row = 0; keys && row < rows; row++) {
        struct chunk_key key = {
            roast__data_word(datasets, row), roast__data_word(files, row),
            roast_table_number(chunks, row, ROAST_COL_chunks_entry_start),
            roast_table_number(chunks, row, ROAST_COL_chunks_entry_stop),
            (uint32_t)row};
        if (side == 1 && key.dataset >= 0)
            key.dataset = match->datasets[key.dataset];
        if (side == 1 && key.file >= 0)
            key.file = match->files[key.file];
        if (key.dataset >= 0 && key.file >= 0 && !isnan(key.first) && !isnan(key.stop))
            keys[(*count)++] = key;
    }
    if (*count > 1)
        qsort(keys, *count, sizeof(keys[0]), by_key);
    return keys;
}

static int match_chunks(struct roast_match *match, roast_error *err)
{
    size_t rows = roast_table_rows(match->chunks[0]);
    size_t counts[2];
    struct chunk_key *a = keys_of(match, 0, &counts[0]);
    struct chunk_key *b = keys_of(match, 1, &counts[1]);

    match->b_row = roast__realloc(NULL, (rows + 1) * sizeof(match->b_row[0]));
    bool ok = a && b && match->b_row;
    for (size_t i = 0; ok && i < rows; i++)
        match->b_row[i] = UINT32_MAX;
    for (size_t i = 0, j = 0; ok && i < counts[0] && j < counts[1];) {
        int order = order_of(&a[i], &b[j]);
        if (order == 0)
            match->b_row[a[i].row] = b[j].row;
        i += order <= 0;
        j += order >= 0;
    }
    roast__free(a);
    roast__free(b);
    if (!ok)
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu chunks", rows);
    return ROAST_OK;
}

int roast__match_find(struct roast_match *match, const roast_table *a,
                      const roast_table *b, roast_error *err)
{
    const struct roast_table_column *of_a =
        roast__chunk_column(a, ROAST_COL_chunks_dataset);
    const struct roast_table_column *datasets =
        roast__chunk_column(b, ROAST_COL_chunks_dataset);

    *match = (struct roast_match){.chunks = {a, b}};
    match->datasets = match_words(of_a, datasets);
    match->shared = roast__alloc(of_a->word_count * sizeof(match->shared[0]));
    match->files = match_words(roast__chunk_column(a, ROAST_COL_chunks_file),
                               roast__chunk_column(b, ROAST_COL_chunks_file));
    if (!match->datasets || !match->files || !match->shared)
        return roast_error_set(err, ROAST_NO_MEMORY, "names of %zu datasets",
                               datasets->word_count);
    for (size_t i = 0; i < datasets->word_count; i++) {
        if (match->datasets[i] < 0)
            continue;
        match->shared[match->datasets[i]] = true;
        match->any_shared = true;
    }
    match->by_dataset = of_a->word_count > 0 && datasets->word_count > 0;
    return match_chunks(match, err);
}

void roast__match_release(struct roast_match *match)
{
    roast__free(match->datasets);
    roast__free(match->files);
    roast__free(match->b_row);
    roast__free(match->shared);
    *match = (struct roast_match){.by_dataset = false};
}
