/* SPDX-License-Identifier: BSD-3-Clause */
/* digest.c - what a block of rows sums up to, made once.
 *
 * Files of so few chunks that a block has many of them are summed up anew each time:
 * what is kept shall not take much more than the rows themselves. */
#include "analyze/totals/digest.h"

#include "analyze/calls.h"
#include "analyze/totals/files.h"
#include "base/mem.h"

enum { MOST_PARTS = 256, SLOTS = 1024, ROWS = ROAST_DIGEST_ROWS };

/* While a block is read. */
struct making {
    unsigned char roles[ROWS];
    int32_t before[ROWS]; /* number of the part of a row, - 1 */
    struct roast_digest_part parts[MOST_PARTS];
    size_t part_count;
    uint16_t slots[SLOTS]; /* number of a part, + 1; by source */
};

/* ---- parts ----------------------------------------------------------------------- */

/* The number of the part of a source; MOST_PARTS: there are too many. */
static size_t part_of(struct making *making, int32_t source)
{
    uint32_t at = (uint32_t)source * UINT32_C(0x9E3779B9) >> 22;

    for (; making->slots[at] > 0; at = (at + 1) % SLOTS) {
        size_t part = making->slots[at] - 1u;
        if (making->parts[part].source == source)
            return part;
    }
    if (making->part_count == MOST_PARTS)
        return MOST_PARTS;
    making->parts[making->part_count] =
        (struct roast_digest_part){.source = source, .grows = true};
    making->slots[at] = (uint16_t)(making->part_count + 1);
    return making->part_count++;
}

static void note_entries(struct roast_digest_part *part, uint64_t first_entry)
{
    if (part->next_entry == 0)
        part->first_entry = first_entry;
    else if (first_entry < part->next_entry)
        part->grows = false;
    if (first_entry >= part->next_entry)
        part->next_entry = first_entry + 1;
}

/* False: they are of too many files. */
static bool find_parts(struct making *making, const struct roast_attempts *attempts,
                       size_t from)
{
    const int64_t *entries = attempts->columns[ROAST_COLUMN_entry_start].values;

    for (size_t i = 0; i < ROWS; i++) {
        int32_t source = attempts->source[from + i];
        size_t part = part_of(making, source);
        if (part == MOST_PARTS)
            return false;
        making->before[i] = (int32_t)part - 1;
        if (source >= 0 && roast__has_entries(attempts, from + i))
            note_entries(&making->parts[part], (uint64_t)entries[from + i]);
    }
    return true;
}

/* ---- sums ------------------------------------------------------------------------ */

static int64_t latest_of(const struct roast_attempts *attempts, size_t from)
{
    int64_t latest = INT64_MIN;

    for (size_t row = from; row < from + ROWS; row++) {
        int64_t start, end;
        if (roast__attempt_times(attempts, row, &start, &end) && end > latest)
            latest = end;
    }
    return latest;
}

static bool add_up(struct roast_digest *digest, const struct roast_row_block *rows,
                   const int32_t *before)
{
    struct roast_quantiles durations_ns = {0}, ns_per_event = {0};
    const struct roast_adding to = {.groups = digest->groups,
                                    .of = before,
                                    .sums = &digest->sums,
                                    .durations_ns = &durations_ns,
                                    .ns_per_event = &ns_per_event};

    roast__row_sums_init(&digest->sums);
    for (size_t i = 0; i < digest->part_count; i++)
        roast__group_init(&digest->groups[i]);
    roast__rows_add(rows, &to);
    roast__groups_finish(digest->groups, digest->part_count, rows->attempts);
    bool done = roast__quantiles_tally(&digest->durations_ns, &durations_ns) &&
                roast__quantiles_tally(&digest->ns_per_event, &ns_per_event);
    roast__quantiles_release(&durations_ns);
    roast__quantiles_release(&ns_per_event);
    return done;
}

static bool keep_parts(struct roast_digest *digest, const struct making *making)
{
    size_t count = making->part_count;

    digest->parts = roast__alloc(count * sizeof(digest->parts[0]));
    digest->groups = roast__alloc(count * sizeof(digest->groups[0]));
    if (!digest->parts || !digest->groups)
        return false;
    for (size_t i = 0; i < count; i++)
        digest->parts[i] = making->parts[i];
    digest->part_count = count;
    return true;
}

struct roast_digest *roast__digest_make(const struct roast_attempts *attempts,
                                        size_t from)
{
    struct making *making = roast__alloc(sizeof(*making));
    struct roast_digest *digest = roast__alloc(sizeof(*digest));
    bool done = making && digest && find_parts(making, attempts, from) &&
                keep_parts(digest, making);

    if (done) {
        const struct roast_row_block rows = {attempts, from, ROWS, making->roles};
        (void)roast__roles_alone(making->roles, attempts, from, ROWS, false);
        digest->latest_ns = latest_of(attempts, from);
        done = add_up(digest, &rows, making->before);
    }
    roast__free(making);
    if (done)
        return digest;
    roast__digest_free(digest);
    return NULL;
}

void roast__digest_free(struct roast_digest *digest)
{
    if (!digest)
        return;
    roast__bucket_counts_release(&digest->durations_ns);
    roast__bucket_counts_release(&digest->ns_per_event);
    roast__free(digest->parts);
    roast__free(digest->groups);
    roast__free(digest);
}
