/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder.h - details of an attempt: seconds by slice, bytes by branch and endpoint.
 *
 * Readers and writers of four blobs of a frame. Readers check every length, skip
 * unknown items and never allocate; names borrow the blob. */
#ifndef ROAST_LADDER_H
#define ROAST_LADDER_H

#include "roast/endpoint.h"
#include "roast/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- items -------------------------------------------------------------------- */

enum roast_ladder_kind {
    ROAST_LADDER_SLICE,
    ROAST_LADDER_TIME,
    ROAST_LADDER_COUNT,
    ROAST_LADDER_BYTES,
    ROAST_LADDER_HOOKS,
};

/* Positions in ladder_items.def; slices are the first. */
enum roast_ladder_item {
#define I(number, name, kind, shown, text) ROAST_ITEM_##name,
#include "roast/ladder_items.def"
#undef I
    ROAST_ITEM_COUNT
};
enum { ROAST_SLICE_COUNT = ROAST_ITEM_unnamed + 1 };

struct roast_ladder_info {
    unsigned number;
    enum roast_ladder_kind kind;
    const char *name;
    const char *shown;
    const char *text;
};

/* The row of an item. Borrows static memory. */
const struct roast_ladder_info *roast_ladder_info(enum roast_ladder_item item);

/* Zeroed = nothing known. */
struct roast_ladder {
    uint32_t present; /* bit n: values[n] is known */
    uint64_t values[ROAST_ITEM_COUNT];
};

static inline bool roast_ladder_has(const struct roast_ladder *ladder,
                                    enum roast_ladder_item item)
{
    return (ladder->present >> item) & 1;
}

static inline void roast_ladder_set(struct roast_ladder *ladder,
                                    enum roast_ladder_item item, uint64_t value)
{
    ladder->values[item] = value;
    ladder->present |= UINT32_C(1) << item;
}

/* Writes a `ladder` blob: (number, value) pairs in the order of the list. Returns its
 * size; ROAST_LADDER_BOUND_BYTES is always enough. */
enum { ROAST_LADDER_BOUND_BYTES = 12 * ROAST_ITEM_COUNT };
int64_t roast_ladder_write(void *out, size_t out_bytes,
                           const struct roast_ladder *ladder, roast_error *err);

/* Reads a `ladder` blob; unknown items are skipped. When it fails, out is empty. */
int roast_ladder_read(struct roast_ladder *out, struct roast_str blob,
                      roast_error *err);

/* Another division of the time of an attempt; the four add up to task_ns. */
struct roast_split {
    uint64_t on_cpu_ns;
    uint64_t runqueue_ns;   /* ready to run, but without a core */
    uint64_t fetch_wait_ns; /* waited for data; 0 unless fetch_known */
    uint64_t blocked_ns;    /* the remaining time: the GIL, locks, sleep */
    bool fetch_known;       /* false: waiting for data is in blocked_ns */
};

/* False, and *out unchanged, when the time in the run queue is not known. */
bool roast_ladder_split(struct roast_split *out, uint64_t task_ns, uint64_t task_cpu_ns,
                        const struct roast_ladder *ladder);

/* ---- hooks -------------------------------------------------------------------- */

/* Functions of other packages that the ladder wraps (hooks.def). */
enum roast_hook {
#define H(number, name, where, slices, text) ROAST_HOOK_##name = (number),
#include "roast/hooks.def"
#undef H
    ROAST_HOOK_END
};

struct roast_hook_info {
    const char *name;
    const char *where;
    uint32_t slices; /* bit n: slice n cannot be measured without it */
    const char *text;
};

/* The row of a hook; NULL if unknown. Borrows static memory. */
const struct roast_hook_info *roast_hook_info(unsigned hook);

/* ---- branches ----------------------------------------------------------------- */

enum roast_branch_flag {
    ROAST_BRANCH_DATA = 1,      /* its values were used */
    ROAST_BRANCH_OFFSETS = 2,   /* it was read for offsets */
    ROAST_BRANCH_PRELOADED = 4, /* it was read in bulk, before it was needed */
};

/* One branch, column or field of a chunk. */
struct roast_branch {
    struct roast_str name;
    unsigned flags; /* roast_branch_flag bits */
    uint64_t reads; /* passes that were not served by a cache */
    uint64_t bytes; /* requested from storage */
    uint64_t uncompressed_bytes;
    uint64_t ns;
    bool sizes_known;    /* the two below */
    uint64_t file_bytes; /* compressed bytes of the branch in the whole file */
    uint64_t file_uncompressed_bytes;
    uint64_t baskets; /* that it has in the whole file; 0: not known */
};

/* Write and read a `branches` or `file_branches` blob, like roast_sections_write() and
 * roast_sections_read(). One ROAST_BRANCH_BOUND_BYTES, and that and its name for each
 * branch, is always enough. */
enum { ROAST_BRANCH_BOUND_BYTES = 100 };
int64_t roast_branches_write(void *out, size_t out_bytes,
                             const struct roast_branch *all, size_t count,
                             roast_error *err);
int64_t roast_branches_read(struct roast_branch *out, size_t max, struct roast_str blob,
                            roast_error *err);

/* What was accessed, summed over a `branches` blob. */
struct roast_access {
    uint64_t branches;        /* whose values were used */
    uint64_t offset_branches; /* that were read for offsets only */
    uint64_t
        sized_branches;  /* of `branches`, those whose sizes in the file are known */
    uint64_t file_bytes; /* compressed bytes of those in the whole file */
    uint64_t file_uncompressed_bytes;
};

static inline bool roast_flags_accessed(unsigned flags)
{
    return flags & ROAST_BRANCH_DATA;
}

static inline bool roast_flags_offsets_only(unsigned flags)
{
    return !roast_flags_accessed(flags) && flags & ROAST_BRANCH_OFFSETS;
}

static inline bool roast_branch_is_accessed(const struct roast_branch *branch)
{
    return roast_flags_accessed(branch->flags);
}

static inline bool roast_branch_is_offsets_only(const struct roast_branch *branch)
{
    return roast_flags_offsets_only(branch->flags);
}

int roast_access_read(struct roast_access *out, struct roast_str blob,
                      roast_error *err);

/* ---- files -------------------------------------------------------------------- */

enum roast_codec {
    ROAST_CODEC_UNKNOWN,
    ROAST_CODEC_NONE,
    ROAST_CODEC_ZLIB,
    ROAST_CODEC_LZMA,
    ROAST_CODEC_LZ4,
    ROAST_CODEC_ZSTD,
    ROAST_CODEC_SNAPPY,
    ROAST_CODEC_GZIP,
    ROAST_CODEC_BROTLI,
    ROAST_CODEC_COUNT
};

const char *roast_codec_name(unsigned codec); /* NULL if unknown */

enum roast_file_kind {
    ROAST_FILE_UNKNOWN,
    ROAST_FILE_TTREE,
    ROAST_FILE_RNTUPLE,
    ROAST_FILE_PARQUET,
    ROAST_FILE_KIND_COUNT
};

const char *roast_file_kind_name(unsigned kind); /* NULL if unknown */

/* The tree that a chunk reads. */
struct roast_file_facts {
    enum roast_file_kind kind;
    enum roast_codec codec;
    uint64_t branches; /* 0: not known (an empty tree is never read) */
    uint64_t entries;
    bool sizes_known; /* the two below */
    uint64_t compressed_bytes;
    uint64_t uncompressed_bytes;
};

/* Write and read a `file_facts` blob. ROAST_FILE_FACTS_BOUND_BYTES is enough. */
enum { ROAST_FILE_FACTS_BOUND_BYTES = 64 };
int64_t roast_file_facts_write(void *out, size_t out_bytes,
                               const struct roast_file_facts *facts, roast_error *err);
int roast_file_facts_read(struct roast_file_facts *out, struct roast_str blob,
                          roast_error *err);

/* compressed / uncompressed bytes, and the other way round; NaN when not known. */
double roast_file_ratio(const struct roast_file_facts *facts);
double roast_file_factor(const struct roast_file_facts *facts);

#ifdef __cplusplus
}
#endif

#endif
