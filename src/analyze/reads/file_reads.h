/* SPDX-License-Identifier: BSD-3-Clause */
/* file_reads.h - the facts of every file, and which of its branches were read. */
#ifndef ROAST_ANALYZE_READS_FILE_READS_H
#define ROAST_ANALYZE_READS_FILE_READS_H

#include "analyze/summary.h"
#include "roast/ladder.h"

/* A branch of a file that some chunk read. */
struct roast_file_branch {
    struct roast_str name; /* borrows the run */
    uint32_t file;
    unsigned flags;      /* roast_branch_flag bits, of all chunks */
    bool sized;          /* file_bytes is known */
    uint64_t file_bytes; /* compressed, in the whole file */
};

/* A tree of a file. */
struct roast_file_read {
    int32_t name; /* numbers of strings, as tree */
    int32_t tree;
    bool among_trees; /* other trees of the file were read too */
    bool has_facts;
    struct roast_file_facts facts;
    struct roast_str
        sizes;      /* blob of all its branches, borrows the run; absent: none */
    bool has_reads; /* some chunk recorded its reads; the fields below are valid then */
    bool has_bytes;
    double requested_bytes;
    double seeks; /* 0: not known */
    size_t first_branch;
    size_t branch_count;
};

/* Zeroed = empty and valid; everything is owned. */
struct roast_file_reads {
    struct roast_file_read *files;
    size_t count;
    struct roast_file_branch *branches; /* by file, then by name */
    size_t branch_count;
};

/* Reads the records of the chunks that count; false when out of memory. */
bool roast__file_reads_find(struct roast_file_reads *reads,
                            const struct roast_summary_context *ctx);
void roast__file_reads_release(struct roast_file_reads *reads);

#endif
