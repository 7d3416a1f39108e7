/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c - which file a row is of, and which files surely have no chunk twice.
 *
 * Two cheap proofs, because nearly all files pass one of them. The first: from row to
 * row the entries of the file only grow. The second, for files whose chunks came back
 * in another order: every chunk sets a bit of its own, start / length. Two that meet at
 * one bit prove nothing, and distinct.c has to look. */
#include "analyze/totals/files.h"

#include <stdlib.h>

#include "base/mem.h"

/* ---- numbers --------------------------------------------------------------------- */

struct numbered_source {
    struct roast_source source;
    int32_t number;
};

static int compare(int32_t a, int32_t b)
{
    return (a > b) - (a < b);
}

static int by_name(const void *a, const void *b)
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

bool roast__files_number(struct roast_files *files,
                         const struct roast_attempts *attempts)
{
    size_t count = attempts->source_count;
    struct numbered_source *sources = roast__alloc(count * sizeof(sources[0]));

    files->of_source = roast__alloc(count * sizeof(files->of_source[0]));
    files->doubtful = roast__alloc(count);
    bool got = sources && files->of_source && files->doubtful;
    if (got && count > 0) {
        for (size_t i = 0; i < count; i++)
            sources[i] = (struct numbered_source){attempts->sources[i], (int32_t)i};
        qsort(sources, count, sizeof(sources[0]), by_name);
        for (size_t first = 0, last; first < count; first = last + 1) {
            last = first;
            while (last + 1 < count &&
                   same_file(&sources[first].source, &sources[last + 1].source))
                last++;
            if (sources[first].source.file == ROAST_NO_STRING) {
                /* Without the name of the file: one that is only known by its id is still a file. */
                for (size_t i = first; i <= last; i++)
                    files->of_source[sources[i].number] =
                        sources[i].source.by_id ? sources[i].number : ROAST_NO_FILE;
            } else {
                /* Sources first ... last are one file. An attempt that never came to process() does
                 * not know its tree: it belongs to the only one there is. */
                size_t known = first; /* ROAST_NO_STRING sorts before all trees */
                while (known < last && sources[known].source.tree == ROAST_NO_STRING)
                    known++;
                bool one_tree = sources[known].source.tree == sources[last].source.tree;
                int32_t number = sources[first].number;
                for (size_t i = first; i <= last; i++) {
                    if (!one_tree && i > first &&
                        sources[i].source.tree != sources[i - 1].source.tree)
                        number = sources[i].number;
                    files->of_source[sources[i].number] = number;
                }
            }
        }
    }
    roast__free(sources);
    return got;
}

void roast__files_release(struct roast_files *files)
{
    roast__free(files->of_source);
    roast__free(files->doubtful);
    *files = (struct roast_files){0};
}

/* ---- entries that grow ----------------------------------------------------------- */

/* What the loops over rows read. Kept in one place of their own: bytes are written in
 * them, which might be anything, so the compiler would read all of it again. */
struct rows {
    size_t count;
    bool all_have; /* entries */
    const struct roast_attempts *attempts;
    const int32_t *sources;
    const int32_t *of_source;
    const unsigned char *doubtful;
    const int64_t *starts;
    const int64_t *stops;
};

static struct rows rows_of(const struct roast_files *files,
                           const struct roast_attempts *attempts)
{
    const struct roast_column *start = &attempts->columns[ROAST_COLUMN_entry_start];
    const struct roast_column *stop = &attempts->columns[ROAST_COLUMN_entry_stop];

    return (struct rows){
        .count = attempts->count,
        .all_have = start->known == attempts->count && stop->known == attempts->count,
        .attempts = attempts,
        .sources = attempts->source,
        .of_source = files->of_source,
        .doubtful = files->doubtful,
        .starts = start->values,
        .stops = stop->values,
    };
}

/* The file of a row with entries; ROAST_NO_FILE where one or the other is missing. */
static inline int32_t file_of(const struct rows *rows, size_t row)
{
    int32_t source = rows->sources[row];

    if (source < 0 || (!rows->all_have && !roast__has_entries(rows->attempts, row)))
        return ROAST_NO_FILE;
    return rows->of_source[source];
}

static inline bool grows(uint64_t *next, int64_t start)
{
    bool grown = (uint64_t)start >= *next;

    if (grown)
        *next = (uint64_t)start + 1;
    return grown;
}

/* next: one past the highest first entry so far, per file. */
static void find_growing(struct roast_files *files, const struct rows rows,
                         uint64_t *next)
{
    files->any_doubtful = false;
    for (size_t row = 0; row < rows.count; row++) {
        int32_t file = file_of(&rows, row);
        if (file < 0 || grows(&next[file], rows.starts[row]))
            continue;
        files->doubtful[file] = 1;
        files->any_doubtful = true;
    }
}

/* ---- a bit for every chunk ------------------------------------------------------- */

enum { MOST_BITS_PER_ROW = 64 };

/* The bits of a file. */
struct range {
    uint64_t rows;
    uint64_t shortest; /* length of a chunk; UINT64_MAX: none */
    uint64_t last;     /* highest first entry */
    uint64_t first_bit;
    uint64_t bit_count;
    double per_entry; /* bits */
};

static void measure(struct range *ranges, const struct rows rows)
{
    for (size_t row = 0; row < rows.count; row++) {
        int32_t file = file_of(&rows, row);
        if (file < 0 || !rows.doubtful[file])
            continue;
        struct range *range = &ranges[file];
        uint64_t start = (uint64_t)rows.starts[row];
        uint64_t stop = (uint64_t)rows.stops[row];
        uint64_t length = stop > start ? stop - start : 1;
        range->rows++;
        range->shortest = length < range->shortest ? length : range->shortest;
        range->last = start > range->last ? start : range->last;
    }
}

/* Gives every file its bits; returns how many there are in all. */
static uint64_t lay_out(struct range *ranges, size_t count)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        struct range *range = &ranges[i];
        if (range->rows == 0)
            continue;
        uint64_t most = range->rows * MOST_BITS_PER_ROW;
        range->bit_count = range->last / range->shortest + 2;
        range->per_entry = 1 / (double)range->shortest;
        if (range->bit_count > most) {
            range->bit_count = most;
            range->per_entry = (double)(most - 1) / ((double)range->last + 1);
        }
        range->first_bit = bits;
        bits += range->bit_count;
    }
    return bits;
}

static uint64_t bit_of(const struct range *range, uint64_t start)
{
    uint64_t bit = (uint64_t)((double)start * range->per_entry + 0.5);

    return range->first_bit + (bit < range->bit_count ? bit : range->bit_count - 1);
}

/* meets: per file, whether two of its rows have the same bit. */
static void set_bits(unsigned char *meets, unsigned char *bits,
                     const struct range *ranges, const struct rows rows)
{
    for (size_t row = 0; row < rows.count; row++) {
        int32_t file = file_of(&rows, row);
        if (file < 0 || !rows.doubtful[file])
            continue;
        uint64_t bit = bit_of(&ranges[file], (uint64_t)rows.starts[row]);
        unsigned char mask = (unsigned char)(1u << (bit & 7));
        if (bits[bit >> 3] & mask)
            meets[file] = 1;
        bits[bit >> 3] |= mask;
    }
}

static bool find_separate(struct roast_files *files,
                          const struct roast_attempts *attempts)
{
    size_t count = attempts->source_count;
    struct range *ranges = roast__alloc(count * sizeof(ranges[0]));
    unsigned char *meets = roast__alloc(count);
    unsigned char *bits = NULL;

    if (!ranges || !meets)
        goto out;
    for (size_t i = 0; i < count; i++)
        ranges[i].shortest = UINT64_MAX;
    measure(ranges, rows_of(files, attempts));
    bits = roast__alloc((size_t)(lay_out(ranges, count) / 8 + 1));
    if (!bits)
        goto out;
    set_bits(meets, bits, ranges, rows_of(files, attempts));
    files->any_doubtful = false;
    for (size_t i = 0; i < count; i++) {
        files->doubtful[i] = meets[i];
        files->any_doubtful |= meets[i] != 0;
    }
out:
    roast__free(ranges);
    roast__free(meets);
    roast__free(bits);
    return bits != NULL;
}

bool roast__files_doubt(struct roast_files *files,
                        const struct roast_attempts *attempts)
{
    uint64_t *next = roast__alloc(attempts->source_count * sizeof(next[0]));

    if (!next)
        return false;
    find_growing(files, rows_of(files, attempts), next);
    roast__free(next);
    return !files->any_doubtful || find_separate(files, attempts);
}
