/* SPDX-License-Identifier: BSD-3-Clause */
/* distinct.c - finds the attempts that are at the same chunk.
 *
 * Most runs have none, and files.c proves that for most files cheaply. Rows of the
 * others go through a hash set; its slots are fetched ahead in batches, because a
 * million of them do not fit a cache. */
#include "analyze/calls.h"
#include "analyze/roles.h"
#include "analyze/totals/files.h"
#include "base/array.h"
#include "base/mem.h"

enum { BATCH = 64 };

/* Zeroed = empty. */
struct search {
    const struct roast_attempts *attempts;
    struct roast_calls calls; /* empty where one is all there is */
    struct roast_files files;
    uint64_t *slots; /* owned; upper half of the hash, row + 1 */
    uint64_t mask;
    struct roast_same_chunk *pairs; /* owned */
    size_t count;
    size_t cap;
};

/* A second call over the same files is a second pass: then calls are part of the key
 * and every row is checked. */
static bool several_calls(const struct search *search)
{
    return search->calls.count > 1;
}

static inline bool is_doubtful(const struct search *search, size_t row)
{
    int32_t file = roast__file_of_row(&search->files, search->attempts, row);

    return file >= 0 && (several_calls(search) || search->files.doubtful[file]) &&
           roast__has_entries(search->attempts, row);
}

/* ---- one row --------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 32);
}

static inline uint32_t call_of(const struct search *search, size_t row)
{
    return several_calls(search) ? (uint32_t)search->calls.of_row[row] : 0;
}

static inline int32_t file_of(const struct search *search, size_t row)
{
    return roast__file_of_row(&search->files, search->attempts, row);
}

static inline uint64_t hash_of(const struct search *search, size_t row)
{
    const struct roast_column *columns = search->attempts->columns;
    uint64_t hash = mix(call_of(search, row), (uint32_t)file_of(search, row));

    hash = mix(hash, (uint64_t)columns[ROAST_COLUMN_entry_start].values[row]);
    return mix(hash, (uint64_t)columns[ROAST_COLUMN_entry_stop].values[row]);
}

static bool same_chunk(const struct search *search, size_t a, size_t b)
{
    const struct roast_column *columns = search->attempts->columns;
    const int64_t *starts = columns[ROAST_COLUMN_entry_start].values;
    const int64_t *stops = columns[ROAST_COLUMN_entry_stop].values;

    return starts[a] == starts[b] && stops[a] == stops[b] &&
           file_of(search, a) == file_of(search, b) &&
           call_of(search, a) == call_of(search, b);
}

static bool put_row(struct search *search, size_t row, uint64_t hash)
{
    const uint64_t upper = UINT64_C(0xFFFFFFFF00000000);

    for (uint64_t at = hash & search->mask;; at = (at + 1) & search->mask) {
        uint64_t slot = search->slots[at];
        if (slot == 0) {
            search->slots[at] = (hash & upper) | (row + 1);
            return true;
        }
        size_t other = (size_t)(slot & ~upper) - 1;
        if ((slot & upper) == (hash & upper) && same_chunk(search, row, other)) {
            struct roast_same_chunk *pairs = roast__array_room(
                search->pairs, &search->cap, search->count, sizeof(*pairs));
            if (!pairs)
                return false;
            search->pairs = pairs;
            pairs[search->count++] =
                (struct roast_same_chunk){(uint32_t)other, (uint32_t)row};
            return true;
        }
    }
}

/* ---- all ------------------------------------------------------------------------- */

static bool put_batch(struct search *search, const uint32_t *rows, size_t count)
{
    uint64_t hashes[BATCH];

    for (size_t i = 0; i < count; i++) {
        hashes[i] = hash_of(search, rows[i]);
        __builtin_prefetch(&search->slots[hashes[i] & search->mask], 1);
    }
    for (size_t i = 0; i < count; i++) {
        if (!put_row(search, rows[i], hashes[i]))
            return false;
    }
    return true;
}

static bool put_rows(struct search *search)
{
    uint32_t rows[BATCH];
    size_t count = 0;

    for (size_t row = 0; row < search->attempts->count; row++) {
        rows[count] = (uint32_t)row;
        count += is_doubtful(search, row);
        if (count == BATCH) {
            if (!put_batch(search, rows, count))
                return false;
            count = 0;
        }
    }
    return put_batch(search, rows, count);
}

static bool find_pairs(struct search *search, const struct roast_run *run)
{
    if ((roast__calls_count(run) > 1 && !roast__calls_find(&search->calls, run)) ||
        !roast__files_number(&search->files, search->attempts))
        return false;
    if (!several_calls(search)) {
        if (!roast__files_doubt(&search->files, search->attempts))
            return false;
        if (!search->files.any_doubtful)
            return true;
    }
    size_t rows = 0;
    uint64_t slots = 1024;
    for (size_t row = 0; row < search->attempts->count; row++)
        rows += is_doubtful(search, row);
    while (slots < rows * 2)
        slots *= 2;
    search->mask = slots - 1;
    search->slots = roast__alloc(slots * sizeof(search->slots[0]));
    return search->slots && put_rows(search);
}

int roast__same_chunks(struct roast_same_chunk **pairs, size_t *count,
                       const struct roast_run *run, roast_error *err)
{
    struct search search = {.attempts = &run->attempts};
    int status = ROAST_OK;

    if (find_pairs(&search, run)) {
        *pairs = search.pairs;
        *count = search.count;
        search.pairs = NULL; /* moved to the caller */
    } else {
        status = roast_error_set(err, ROAST_NO_MEMORY, "chunks of %zu attempts",
                                 run->attempts.count);
    }
    roast__calls_release(&search.calls);
    roast__files_release(&search.files);
    roast__free(search.slots);
    roast__free(search.pairs);
    return status;
}
