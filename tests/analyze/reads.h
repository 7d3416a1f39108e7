/* SPDX-License-Identifier: BSD-3-Clause */
/* reads.h - runs whose chunks say what they read. */
#ifndef ROAST_TESTS_ANALYZE_READS_H
#define ROAST_TESTS_ANALYZE_READS_H

#include "blobs.h"
#include "runs.h"

enum {
    DATA = ROAST_BRANCH_DATA,
    OFFSETS = ROAST_BRANCH_OFFSETS,
    PRELOADED = ROAST_BRANCH_PRELOADED,
};

static inline struct roast_branch branch(const char *name, unsigned flags,
                                         uint64_t bytes, uint64_t file_bytes)
{
    return (struct roast_branch){.name = roast_str_of(name),
                                 .flags = flags,
                                 .reads = 1,
                                 .bytes = bytes,
                                 .uncompressed_bytes = 3 * bytes,
                                 .ns = bytes * 1000000,
                                 .sizes_known = file_bytes > 0,
                                 .file_bytes = file_bytes,
                                 .file_uncompressed_bytes = 2 * file_bytes};
}

static const struct roast_file_facts ttree = {
    .kind = ROAST_FILE_TTREE,
    .codec = ROAST_CODEC_ZSTD,
    .branches = 8,
    .entries = 200,
    .sizes_known = true,
    .compressed_bytes = 1000,
    .uncompressed_bytes = 2500,
};

static inline void add_chunk(roast_run *run, const char *file, uint64_t first,
                             struct roast_str branches, struct roast_str facts)
{
    add_frame(run, (struct frame){.file = file,
                                  .first = first,
                                  .stop = first + 1,
                                  .start = 1,
                                  .duration = 1,
                                  .branches = branches,
                                  .file_facts = facts});
}

/* Two chunks of a.root, one of b.root, a failed one. */
static inline roast_run *reading_run(void)
{
    struct roast_branch one[] = {branch("Jet_pt", DATA, 100, 300),
                                 branch("nJet", OFFSETS, 10, 20),
                                 branch("Jet_eta", PRELOADED, 40, 90)};
    struct roast_branch two[] = {branch("Jet_pt", DATA, 50, 300),
                                 branch("MET_pt", DATA | PRELOADED, 7, 80)};
    struct roast_branch other[] = {branch("nJet", DATA | OFFSETS, 10, 25)};
    struct roast_str facts = facts_blob(&ttree);
    roast_run *run = run_new();

    add_chunk(run, "a.root", 0, branches_blob(one, 3), facts);
    add_chunk(run, "b.root", 0, branches_blob(other, 1), facts);
    add_chunk(run, "a.root", 1, branches_blob(two, 2), facts);
    add_frame(run, (struct frame){.file = "b.root",
                                  .first = 5,
                                  .stop = 6,
                                  .status = ROAST_CHUNK_FAILED,
                                  .branches = branches_blob(two, 2)});
    return run;
}

#endif
