/* SPDX-License-Identifier: BSD-3-Clause */
/* digests.h - blocks of rows that are at rest, summed up once while rows come in.
 *
 * Here is known when rows rest: all of a block have ended, and others came behind
 * them. What is worth knowing of them is known above: roast__digest_make() and
 * roast__digest_free() are aggregate's (digest.c), and nothing here looks inside.
 * Without its digest, which memory may be too short for, a block is only slower to
 * sum up. */
#ifndef ROAST_RUN_DIGESTS_H
#define ROAST_RUN_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>

enum { ROAST_DIGEST_ROWS = 4096 };

struct roast_attempts;
struct roast_digest;

/* Zeroed = empty and valid. */
struct roast_digests {
    struct roast_digest **blocks; /* owned, and what they point to; NULL: has none */
    size_t count;
    bool moved; /* clocks were set since: no digest knows its times any more */
};

/* Of the block that begins with a row; returns owned. NULL: it has none. */
struct roast_digest *roast__digest_make(const struct roast_attempts *attempts,
                                        size_t from);
void roast__digest_free(struct roast_digest *digest);

/* Makes those of the blocks that came to rest; a row was added that begins a block. */
void roast__digests_update(struct roast_attempts *attempts);

/* What is summed up of a row is about to change. */
void roast__digests_forget(struct roast_attempts *attempts, size_t row);

void roast__digests_release(struct roast_digests *digests);

/* That of the block which begins with a row, or NULL. */
static inline const struct roast_digest *roast__digest_at(
    const struct roast_digests *digests, size_t from)
{
    size_t block = from / ROAST_DIGEST_ROWS;

    return block < digests->count ? digests->blocks[block] : NULL;
}

#endif
