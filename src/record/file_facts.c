/* SPDX-License-Identifier: BSD-3-Clause */
/* file_facts.c - the tree that a chunk reads.
 *
 *     mask, numbers (entries.h): kind, codec, branches, entries, compressed bytes,
 *     uncompressed bytes; the last two are there together or not at all, zero or not
 *
 * A TTree of unknown codec with 300 branches: 05 01 AC 02 */
#include <math.h>

#include "record/entries.h"
#include "roast/ladder.h"

enum { KIND, CODEC, BRANCHES, ENTRIES, COMPRESSED, UNCOMPRESSED, NUMBERS };
static const uint64_t sizes_mask = 1 << COMPRESSED | 1 << UNCOMPRESSED;

static const char *const codec_names[ROAST_CODEC_COUNT] = {
    [ROAST_CODEC_NONE] = "none", [ROAST_CODEC_ZLIB] = "zlib",
    [ROAST_CODEC_LZMA] = "lzma", [ROAST_CODEC_LZ4] = "lz4",
    [ROAST_CODEC_ZSTD] = "zstd", [ROAST_CODEC_SNAPPY] = "snappy",
    [ROAST_CODEC_GZIP] = "gzip", [ROAST_CODEC_BROTLI] = "brotli",
};

static const char *const kind_names[ROAST_FILE_KIND_COUNT] = {
    [ROAST_FILE_TTREE] = "ttree",
    [ROAST_FILE_RNTUPLE] = "rntuple",
    [ROAST_FILE_PARQUET] = "parquet",
};

const char *roast_codec_name(unsigned codec)
{
    return codec < ROAST_CODEC_COUNT ? codec_names[codec] : NULL;
}

const char *roast_file_kind_name(unsigned kind)
{
    return kind < ROAST_FILE_KIND_COUNT ? kind_names[kind] : NULL;
}

int64_t roast_file_facts_write(void *out, size_t out_bytes,
                               const struct roast_file_facts *facts, roast_error *err)
{
    const uint64_t numbers[NUMBERS] = {
        [KIND] = facts->kind,
        [CODEC] = facts->codec,
        [BRANCHES] = facts->branches,
        [ENTRIES] = facts->entries,
        [COMPRESSED] = facts->compressed_bytes,
        [UNCOMPRESSED] = facts->uncompressed_bytes,
    };
    struct roast_byte_writer sink = roast__byte_writer(out, out_bytes);
    uint64_t mask = roast__numbers_mask(numbers, COMPRESSED);

    roast__numbers_put(&sink, numbers, facts->sizes_known ? mask | sizes_mask : mask);
    return roast__written_bytes(&sink, out, "facts about a file", err);
}

/* A kind or codec of a later version is unknown. */
static unsigned known(uint64_t number, unsigned count)
{
    return number < count ? (unsigned)number : 0;
}

int roast_file_facts_read(struct roast_file_facts *out, struct roast_str blob,
                          roast_error *err)
{
    struct roast_cursor cur = roast__cursor(blob.data, blob.size_bytes);
    uint64_t numbers[NUMBERS];
    uint64_t mask = roast__numbers_read(&cur, numbers, NUMBERS);

    memset(out, 0, sizeof(*out));
    if (cur.failed)
        return roast_error_set(err, ROAST_BAD_DATA, "facts about a file of %zu bytes",
                               blob.size_bytes);
    out->kind = (enum roast_file_kind)known(numbers[KIND], ROAST_FILE_KIND_COUNT);
    out->codec = (enum roast_codec)known(numbers[CODEC], ROAST_CODEC_COUNT);
    out->branches = numbers[BRANCHES];
    out->entries = numbers[ENTRIES];
    out->sizes_known = (mask & sizes_mask) == sizes_mask;
    if (out->sizes_known) {
        out->compressed_bytes = numbers[COMPRESSED];
        out->uncompressed_bytes = numbers[UNCOMPRESSED];
    }
    return ROAST_OK;
}

static double quotient(const struct roast_file_facts *facts, uint64_t a, uint64_t b)
{
    return facts->sizes_known && b > 0 ? (double)a / (double)b : NAN;
}

double roast_file_ratio(const struct roast_file_facts *facts)
{
    return quotient(facts, facts->compressed_bytes, facts->uncompressed_bytes);
}

double roast_file_factor(const struct roast_file_facts *facts)
{
    return quotient(facts, facts->uncompressed_bytes, facts->compressed_bytes);
}
