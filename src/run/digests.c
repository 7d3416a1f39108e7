/* SPDX-License-Identifier: BSD-3-Clause */
/* digests.c - when the rows of a block are at rest.
 *
 * An attempt may still hear of its end, or of a better one, for some time after
 * others have begun. A block is looked at again with every block that follows it,
 * until so many did that it is not worth it. */
#include "run/digests.h"

#include "base/mem.h"
#include "run/attempts.h"

enum {
    RESTLESS = 1, /* blocks at the end that surely hear more */
    LOOKED_AT = 16
};

static bool has_ended(const struct roast_attempts *attempts, size_t from)
{
    const unsigned char *status = attempts->status + from;
    bool all = true;

    for (size_t i = 0; i < ROAST_DIGEST_ROWS; i++)
        all &= status[i] != 0;
    return all;
}

static bool make_room(struct roast_digests *digests, size_t count)
{
    struct roast_digest **blocks;

    if (count <= digests->count)
        return true;
    blocks = roast__realloc(digests->blocks, count * sizeof(struct roast_digest *));
    if (!blocks)
        return false;
    digests->blocks = blocks;
    while (digests->count < count)
        blocks[digests->count++] = NULL;
    return true;
}

void roast__digests_update(struct roast_attempts *attempts)
{
    struct roast_digests *digests = &attempts->digests;
    size_t full = attempts->count / ROAST_DIGEST_ROWS;
    size_t to = full > RESTLESS ? full - RESTLESS : 0;
    size_t from = to > LOOKED_AT ? to - LOOKED_AT : 0;

    if (!make_room(digests, to))
        return;
    for (size_t block = from; block < to; block++) {
        size_t row = block * ROAST_DIGEST_ROWS;
        if (!digests->blocks[block] && has_ended(attempts, row))
            digests->blocks[block] = roast__digest_make(attempts, row);
    }
}

void roast__digests_forget(struct roast_attempts *attempts, size_t row)
{
    struct roast_digests *digests = &attempts->digests;
    size_t block = row / ROAST_DIGEST_ROWS;

    if (block >= digests->count || !digests->blocks[block])
        return;
    roast__digest_free(digests->blocks[block]);
    digests->blocks[block] = NULL;
}

void roast__digests_release(struct roast_digests *digests)
{
    for (size_t i = 0; i < digests->count; i++)
        roast__digest_free(digests->blocks[i]);
    roast__free(digests->blocks);
    *digests = (struct roast_digests){0};
}
