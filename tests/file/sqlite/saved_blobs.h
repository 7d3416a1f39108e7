/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_blobs.h - blobs of a chunk record. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_BLOBS_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_BLOBS_H

#include <stdio.h>

#include "analyze/blobs.h"
#include "run/runs.h"

static inline struct roast_str some_sections(void)
{
    struct roast_section all[] = {
        {.name = {"jets", 4}, .parent = -1, .kinds = 1, .count = 2, .total_ns = 300},
        {.name = {"pt", 2},
         .parent = 0,
         .depth = 1,
         .kinds = 3,
         .count = 1,
         .total_ns = 100,
         .memory_delta_bytes = -4096},
    };
    static char room[BLOB_BYTES];

    return blob_of(room, roast_sections_write(room, BLOB_BYTES, all, 2, NULL));
}

static inline struct roast_str some_branches(void)
{
    struct roast_branch all[] = {
        {.name = {"Jet_pt", 6},
         .flags = ROAST_BRANCH_DATA,
         .reads = 1,
         .bytes = 100,
         .ns = 5000,
         .sizes_known = true,
         .file_bytes = 700},
        {.name = {"nJet", 4}, .flags = ROAST_BRANCH_OFFSETS, .reads = 1, .bytes = 10},
    };
    static char room[BLOB_BYTES];

    return blob_of(room, roast_branches_write(room, BLOB_BYTES, all, 2, NULL));
}

static inline struct roast_str some_ladder(void)
{
    static char room[BLOB_BYTES];
    struct roast_ladder ladder = {0};

    for (int i = 0; i < ROAST_ITEM_COUNT; i++)
        roast_ladder_set(&ladder, (enum roast_ladder_item)i, (uint64_t)(i * i * 1000));
    return blob_of(room, roast_ladder_write(room, BLOB_BYTES, &ladder, NULL));
}

#endif
