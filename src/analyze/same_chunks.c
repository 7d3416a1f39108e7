/* SPDX-License-Identifier: BSD-3-Clause */
/* same_chunks.c - finds the attempts at the same chunk.
 *
 * Most runs have none, and files.c excludes most files cheaply. The rows of the other
 * files go through a hash set. */
#include "analyze/calls.h"
#include "analyze/rerun/plan.h"
#include "analyze/roles.h"
#include "analyze/totals/files.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/mem.h"

/* Zeroed = empty. */
struct search {
    const struct roast_attempts *attempts;
    struct roast_calls calls; /* empty unless there are several */
    struct roast_files files;
    struct roast_hash_table rows; /* owned; the first row of every chunk */
    size_t row_count;
    struct roast_same_chunk *pairs; /* owned */
    size_t count;
    size_t cap;
};

/* A chunk: file, entries, and the call of Runner.run, because a second call over the
 * same files is a second pass and no repeat, unless it ran again what the result of an
 * earlier one missed. */
struct chunk {
    int32_t file;
    int32_t call;
    int64_t start;
    int64_t stop;
};

static struct chunk chunk_of(const struct search *search, size_t row)
{
    const struct roast_column *columns = search->attempts->columns;

    return (struct chunk){roast__file_of_row(&search->files, search->attempts, row),
                          search->calls.count > 1 ? search->calls.of_row[row] : 0,
                          columns[ROAST_COLUMN_entry_start].values[row],
                          columns[ROAST_COLUMN_entry_stop].values[row]};
}

static uint64_t hash_row(const void *context, uint32_t row)
{
    struct chunk chunk = chunk_of(context, row);
    uint64_t file = (uint64_t)(uint32_t)chunk.file << 32 | (uint32_t)chunk.call;

    return roast__hash_number(
        roast__hash_number(roast__hash_number(file) + (uint64_t)chunk.start) +
        (uint64_t)chunk.stop);
}

static bool same_chunk(const struct search *search, size_t a, size_t b)
{
    struct chunk left = chunk_of(search, a), right = chunk_of(search, b);

    return left.start == right.start && left.stop == right.stop &&
           left.file == right.file && left.call == right.call;
}

/* False when out of memory. */
static bool add_row(struct search *search, uint32_t row)
{
    struct roast_hash_table *rows = &search->rows;

    if (!roast__hash_room(rows, search->row_count, hash_row, search))
        return false;
    uint64_t hash = hash_row(search, row);
    for (size_t at = roast__hash_first(rows, hash); roast__hash_holds(rows, at);
         at = roast__hash_next(rows, at)) {
        uint32_t first = roast__hash_item(rows, at);
        if (!same_chunk(search, row, first))
            continue;
        struct roast_same_chunk *pairs = roast__array_room(
            search->pairs, &search->cap, search->count, sizeof(*pairs));
        if (!pairs)
            return false;
        search->pairs = pairs;
        pairs[search->count++] = (struct roast_same_chunk){first, row};
        return true;
    }
    roast__hash_put(rows, hash, row);
    search->row_count++;
    return true;
}

/* Attempts of such a call become those of the earlier one. False when out of memory. */
static bool unite_reruns(struct roast_calls *calls, const struct roast_run *run)
{
    if (roast__plan_count(run) != calls->count) /* which is which is not known */
        return true;
    int32_t *first = roast__alloc(calls->count * sizeof(*first));
    for (size_t i = 0; first && i < calls->count; i++) {
        uint32_t earlier = roast__plan_reruns(run, (uint32_t)i + 1);
        first[i] = earlier > 0 && calls->calls[earlier - 1].returned
                       ? first[earlier - 1]
                       : (int32_t)i;
    }
    for (size_t row = 0; first && row < run->attempts.count; row++) {
        if (calls->of_row[row] != ROAST_NO_CALL)
            calls->of_row[row] = first[calls->of_row[row]];
    }
    roast__free(first);
    return first != NULL;
}

static bool find_pairs(struct search *search, const struct roast_run *run)
{
    bool several_calls = roast__calls_count(run) > 1;

    if ((several_calls && (!roast__calls_find(&search->calls, run) ||
                           !unite_reruns(&search->calls, run))) ||
        !roast__files_find(&search->files, search->attempts))
        return false;
    if (!several_calls && !search->files.any_may_repeat)
        return true;
    for (uint32_t row = 0; row < search->attempts->count; row++) {
        int32_t file = roast__file_of_row(&search->files, search->attempts, row);
        if (file >= 0 && (several_calls || search->files.may_repeat[file]) &&
            roast__has_entries(search->attempts, row) && !add_row(search, row))
            return false;
    }
    return true;
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
    roast__hash_release(&search.rows);
    roast__free(search.pairs);
    return status;
}
