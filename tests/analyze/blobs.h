/* SPDX-License-Identifier: BSD-3-Clause */
/* blobs.h - what a chunk read, as the blobs of its record. Each call of a function here
 * gives memory of its own, which the test program never frees. */
#ifndef ROAST_TESTS_ANALYZE_BLOBS_H
#define ROAST_TESTS_ANALYZE_BLOBS_H

#include "roast/ladder.h"
#include "support.h"

enum { BLOB_BYTES = 2048, MOST_BLOBS = 96 };

static inline char *blob_room(void)
{
    static char room[MOST_BLOBS][BLOB_BYTES];
    static size_t used;

    assert_true(used < MOST_BLOBS);
    return room[used++];
}

static inline struct roast_str blob_of(const char *bytes, int64_t size)
{
    assert_true(size >= 0);
    return str_from(bytes, (size_t)size);
}

static inline struct roast_str ladder_blob(const struct roast_ladder *ladder)
{
    char *room = blob_room();

    return blob_of(room, roast_ladder_write(room, BLOB_BYTES, ladder, NULL));
}

static inline struct roast_str branches_blob(const struct roast_branch *all,
                                             size_t count)
{
    char *room = blob_room();

    return blob_of(room, roast_branches_write(room, BLOB_BYTES, all, count, NULL));
}

static inline struct roast_str endpoints_blob(const struct roast_endpoint *all,
                                              size_t count)
{
    char *room = blob_room();

    return blob_of(room, roast_endpoints_write(room, BLOB_BYTES, all, count, NULL));
}

static inline struct roast_str facts_blob(const struct roast_file_facts *facts)
{
    char *room = blob_room();

    return blob_of(room, roast_file_facts_write(room, BLOB_BYTES, facts, NULL));
}

#endif
