/* SPDX-License-Identifier: BSD-3-Clause */
/* branch_checks.h - reads any bytes as branches, and writes them again. */
#ifndef ROAST_TESTS_FUZZ_BRANCH_CHECKS_H
#define ROAST_TESTS_FUZZ_BRANCH_CHECKS_H

#include "value_checks.h"

enum { ROOM = 64 };

/* Reads every byte, for the sanitizers to see. */
static inline void touch(struct roast_str str)
{
    static volatile unsigned char sum;

    for (size_t i = 0; i < str.size_bytes; i++)
        sum = (unsigned char)(sum + (unsigned char)str.data[i]);
}

/* The bound is large enough, and the result can be read again. */
static inline void write_branches_again(const struct roast_branch *all, size_t count)
{
    struct roast_branch back[ROOM];
    size_t bound = ROAST_BRANCH_BOUND_BYTES;

    for (size_t i = 0; i < count; i++)
        bound += ROAST_BRANCH_BOUND_BYTES + all[i].name.size_bytes;
    char *out = malloc(bound);
    PROMISE(out);
    int64_t size = roast_branches_write(out, bound, all, count, NULL);
    PROMISE(size > 0);
    PROMISE(roast_branches_read(back, ROOM, (struct roast_str){out, (size_t)size},
                                NULL) == (int64_t)count);
    for (size_t i = 0; i < count; i++)
        PROMISE(back[i].flags == all[i].flags && back[i].ns == all[i].ns &&
                back[i].sizes_known == all[i].sizes_known);
    free(out);
}

static inline void read_branches(struct roast_str blob)
{
    struct roast_branch all[ROOM];
    struct roast_access access;
    int64_t got = roast_branches_read(all, ROOM, blob, NULL);
    size_t count = got > ROOM ? ROOM : (size_t)got;

    PROMISE(got >= 0 || got == ROAST_BAD_DATA);
    PROMISE(got < 0 || (uint64_t)got <= blob.size_bytes);
    PROMISE((roast_access_read(&access, blob, NULL) == ROAST_OK) == (got >= 0));
    PROMISE(access.sized_branches <= access.branches);
    if (got < 0)
        return;
    PROMISE(access.branches + access.offset_branches <= (uint64_t)got);
    for (size_t i = 0; i < count; i++)
        touch(all[i].name);
    write_branches_again(all, count);
}

#endif
