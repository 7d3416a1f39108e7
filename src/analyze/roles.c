/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.c - what every attempt is to its chunk.
 *
 * First every attempt is taken for the only one of its chunk, which is nearly always
 * true. Then the few chunks with several attempts (distinct.c) correct that. */
#include "analyze/roles.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls.h"
#include "base/mem.h"

enum { BLOCK_ROWS = 1024 };

/* Times a byte: the word that has it in each of its eight. */
static const uint64_t EACH_BYTE = UINT64_C(0x0101010101010101);

/* ---- one attempt, one chunk ------------------------------------------------------ */

static enum roast_role role_alone(unsigned status, unsigned parts, bool over)
{
    if (status == ROAST_CHUNK_OK)
        return parts & ROAST_PART_CHUNK ? ROAST_ROLE_COUNTS : ROAST_ROLE_BARE;
    if (status == ROAST_CHUNK_FAILED)
        return ROAST_ROLE_FAILED;
    return over && parts == ROAST_PART_BEGIN ? ROAST_ROLE_LOST : ROAST_ROLE_OPEN;
}

/* Whether all rows of a block ended well and left a record. */
static bool all_well(const unsigned char *status, const unsigned char *parts,
                     size_t count)
{
    const uint64_t ok = EACH_BYTE * ROAST_CHUNK_OK;
    const uint64_t chunk = EACH_BYTE * ROAST_PART_CHUNK;
    uint64_t odd = 0;
    size_t i = 0;

    for (; i + 8 <= count; i += 8) {
        uint64_t word, seen;
        memcpy(&word, status + i, sizeof(word));
        memcpy(&seen, parts + i, sizeof(seen));
        odd |= (word ^ ok) | (~seen & chunk);
    }
    for (; i < count; i++)
        odd |= (status[i] ^ ROAST_CHUNK_OK) | (~(unsigned)parts[i] & ROAST_PART_CHUNK);
    return odd == 0;
}

bool roast__roles_alone(unsigned char *roles, const struct roast_attempts *attempts,
                        size_t from, size_t count, bool over)
{
    const unsigned char *status = attempts->status + from;
    const unsigned char *parts = attempts->parts + from;

    if (all_well(status, parts, count)) {
        memset(roles, ROAST_ROLE_COUNTS, count);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        roles[i] = (unsigned char)role_alone(status[i], parts[i], over);
    return false;
}

static void take_block_alone(struct roast_roles *roles, const struct roast_run *run,
                             size_t from, size_t count)
{
    unsigned char *own = roles->of_row + from;

    if (roast__roles_alone(own, &run->attempts, from, count, run->end_ns != 0)) {
        roles->rows[ROAST_ROLE_COUNTS] += count;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        roles->rows[own[i]]++;
        if (own[i] == ROAST_ROLE_FAILED)
            roles->file_tries += roast__is_file_try(run, from + i);
    }
}

static void take_all_alone(struct roast_roles *roles, const struct roast_run *run)
{
    size_t rows = run->attempts.count;

    for (size_t from = 0; from < rows; from += BLOCK_ROWS) {
        size_t left = rows - from;
        take_block_alone(roles, run, from, left < BLOCK_ROWS ? left : BLOCK_ROWS);
    }
    roles->chunks = rows - roles->file_tries;
    roles->successful_chunks =
        roles->rows[ROAST_ROLE_COUNTS] + roles->rows[ROAST_ROLE_BARE];
    roles->running_chunks = roles->rows[ROAST_ROLE_OPEN];
    roles->failed_chunks = roles->rows[ROAST_ROLE_FAILED] - roles->file_tries;
    roles->lost_chunks = roles->rows[ROAST_ROLE_LOST];
}

/* ---- chunks with several attempts ------------------------------------------------ */

struct tried_row {
    uint32_t first; /* the row that names the chunk */
    uint32_t row;
    int64_t start_ns;
};

static int by_chunk_and_start(const void *a, const void *b)
{
    const struct tried_row *left = a, *right = b;

    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    return (left->row > right->row) - (left->row < right->row);
}

static int by_row(const void *a, const void *b)
{
    uint32_t left = ((const struct roast_tried *)a)->row;
    uint32_t right = ((const struct roast_tried *)b)->row;

    return (left > right) - (left < right);
}

/* The row that stands for a chunk: the first with a record, else the first that ended
 * well at all; `count` when none did. */
static size_t standing(const struct roast_roles *roles, const struct tried_row *tries,
                       size_t count)
{
    size_t bare = count;

    for (size_t i = 0; i < count; i++) {
        unsigned role = roles->of_row[tries[i].row];
        if (role == ROAST_ROLE_COUNTS)
            return i;
        if (role == ROAST_ROLE_BARE && bare == count)
            bare = i;
    }
    return bare;
}

/* What became of the attempts at one chunk; those at its file do not count. */
struct ends {
    uint64_t well, open, failed, lost;
};

static void settle_chunk(struct roast_roles *roles, const struct roast_run *run,
                         const struct tried_row *tries, size_t count)
{
    size_t stands = standing(roles, tries, count);
    struct ends ends = {0};

    for (size_t i = 0; i < count; i++) {
        unsigned role = roles->of_row[tries[i].row];
        ends.well += role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE;
        ends.open += role == ROAST_ROLE_OPEN;
        ends.failed +=
            role == ROAST_ROLE_FAILED && !roast__is_file_try(run, tries[i].row);
        ends.lost += role == ROAST_ROLE_LOST;
        if ((role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE) && i != stands) {
            roles->rows[roles->of_row[tries[i].row]]--;
            roles->rows[ROAST_ROLE_REPEAT]++;
            roles->of_row[tries[i].row] = (unsigned char)ROAST_ROLE_REPEAT;
        }
        roles->tried[roles->tried_count++] =
            (struct roast_tried){tries[i].row, (uint32_t)(i + 1), stands < count};
    }
    /* The chunk was counted once for each of its attempts: now once. */
    uint64_t all = ends.well + ends.open + ends.failed + ends.lost;
    bool ran = ends.well == 0 && ends.open > 0;
    bool failed = ends.well + ends.open == 0 && ends.failed > 0;
    bool lost = ends.well + ends.open + ends.failed == 0 && ends.lost > 0;
    roles->chunks -= all > 0 ? all - 1 : 0;
    roles->retried_chunks += all > 1;
    roles->successful_chunks -= ends.well > 0 ? ends.well - 1 : 0;
    roles->running_chunks -= ends.open - ran;
    roles->failed_chunks -= ends.failed - failed;
    roles->lost_chunks -= ends.lost - lost;
}

static int64_t start_of(const struct roast_attempts *attempts, size_t row)
{
    int64_t start, end;

    return roast__attempt_times(attempts, row, &start, &end) ? start : INT64_MAX;
}

static bool settle_chunks(struct roast_roles *roles,
                          const struct roast_same_chunk *pairs, size_t count,
                          const struct roast_run *run)
{
    struct tried_row *tries = roast__alloc(2 * count * sizeof(tries[0]));

    roles->tried = roast__alloc(2 * count * sizeof(roles->tried[0]));
    if (!tries || !roles->tried) {
        roast__free(tries);
        return false;
    }
    /* Every row of those chunks; each first row comes once, its own pair has it. */
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t first = pairs[i].first, row = pairs[i].row;
        tries[used++] = (struct tried_row){first, row, start_of(&run->attempts, row)};
        tries[used++] =
            (struct tried_row){first, first, start_of(&run->attempts, first)};
    }
    qsort(tries, used, sizeof(tries[0]), by_chunk_and_start);
    size_t kept = 0;
    for (size_t i = 0; i < used; i++) { /* the copies of a first row lie together */
        if (kept == 0 || tries[kept - 1].row != tries[i].row)
            tries[kept++] = tries[i];
    }
    for (size_t from = 0, to; from < kept; from = to) {
        to = from + 1;
        while (to < kept && tries[to].first == tries[from].first)
            to++;
        settle_chunk(roles, run, tries + from, to - from);
    }
    qsort(roles->tried, roles->tried_count, sizeof(roles->tried[0]), by_row);
    roast__free(tries);
    return true;
}

/* ---- all ------------------------------------------------------------------------- */

int roast__roles_find(struct roast_roles *roles, const struct roast_run *run,
                      roast_error *err)
{
    struct roast_same_chunk *pairs = NULL;
    size_t count = 0;
    int status = roast__same_chunks(&pairs, &count, run, err);

    if (status < 0)
        goto out;
    roles->of_row = roast__realloc(NULL, run->attempts.count);
    if (roles->of_row)
        take_all_alone(roles, run);
    if (!roles->of_row || (count > 0 && !settle_chunks(roles, pairs, count, run)) ||
        !roast__roles_find_files(roles, run))
        status = roast_error_set(err, ROAST_NO_MEMORY, "roles of %zu attempts",
                                 run->attempts.count);
out:
    roast__free(pairs);
    return status;
}

const struct roast_tried *roast__roles_tried(const struct roast_roles *roles,
                                             size_t row)
{
    struct roast_tried key = {.row = (uint32_t)row};

    if (roles->tried_count == 0)
        return NULL;
    return bsearch(&key, roles->tried, roles->tried_count, sizeof(key), by_row);
}

bool roast__roles_resolved(const struct roast_roles *roles, const struct roast_run *run,
                           size_t row)
{
    const struct roast_tried *tried = roast__roles_tried(roles, row);

    if (tried && tried->resolved)
        return true;
    return roles->file_read && roast__is_file_try(run, row) &&
           roles->file_read[run->attempts.source[row]];
}

void roast__roles_release(struct roast_roles *roles)
{
    roast__free(roles->of_row);
    roast__free(roles->tried);
    roast__free(roles->file_read);
    *roles = (struct roast_roles){0};
}
