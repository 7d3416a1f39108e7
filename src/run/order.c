/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c - the attempts of a run in order of their start, which try each was, and
 * their chunk records as frames.
 *
 * Workers do not know the order or the try, so both are computed here. The order does
 * not depend on the order in which frames arrived. A chunk is a file of a dataset and a
 * range of entries. A record without dataset, file or range is its own chunk. Another
 * run id over the same files is another pass, not another try. */
#include "run/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

/* ---- by start: rows are sorted by digits (sort.h); only those that start at the same
 * ns, or at an unknown time, are compared */

/* Start of process(), else of the whole attempt. False: unknown. */
static bool start_of(const struct roast_attempts *attempts, size_t row,
                     int64_t *start_ns)
{
    static const enum roast_attempt_column starts[] = {ROAST_COLUMN_start_ns,
                                                       ROAST_COLUMN_task_start_ns};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        const struct roast_column *column = &attempts->columns[starts[i]];
        if (roast__column_has(column, row)) {
            *start_ns = column->values[row];
            return true;
        }
    }
    return false;
}

/* ---- equal starts ---------------------------------------------------------------- */

struct tie {
    uint64_t process_id;
    uint32_t sequence;
    uint32_t row;
};

static int by_identity(const void *left, const void *right)
{
    const struct tie *a = left;
    const struct tie *b = right;

    if (a->process_id != b->process_id)
        return a->process_id < b->process_id ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool sort_ties(uint32_t *rows, size_t count,
                      const struct roast_attempts *attempts)
{
    struct tie *ties = roast__alloc(count * sizeof(*ties));

    if (!ties)
        return false;
    for (size_t i = 0; i < count; i++)
        ties[i] = (struct tie){attempts->processes[attempts->process[rows[i]]].id,
                               attempts->sequence[rows[i]], rows[i]};
    qsort(ties, count, sizeof(*ties), by_identity);
    for (size_t i = 0; i < count; i++)
        rows[i] = ties[i].row;
    roast__free(ties);
    return true;
}

static bool sort_equal(uint32_t *rows, const struct roast_keyed *keyed, size_t count,
                       const struct roast_attempts *attempts)
{
    for (size_t from = 0, to; from < count; from = to) {
        to = from + 1;
        while (to < count && keyed[to].key == keyed[from].key)
            to++;
        if (to - from > 1 && !sort_ties(rows + from, to - from, attempts))
            return false;
    }
    return true;
}

/* ---- all ------------------------------------------------------------------------- */

/* Takes the rows whose start is known and moves the others to the end. Returns the
 * number taken. */
static size_t take_known(struct roast_keyed *keyed, uint32_t *rows, size_t count,
                         const struct roast_attempts *attempts)
{
    size_t known = 0, unknown = 0;
    int64_t start_ns;

    for (size_t i = 0; i < count; i++) {
        if (start_of(attempts, rows[i], &start_ns))
            keyed[known++] = (struct roast_keyed){start_ns, rows[i]};
        else
            rows[unknown++] = rows[i];
    }
    memmove(rows + known, rows, unknown * sizeof(rows[0]));
    return known;
}

bool roast__rows_sort(uint32_t *rows, size_t count,
                      const struct roast_attempts *attempts)
{
    if (count < 2)
        return true;
    struct roast_keyed *keyed = roast__keyed_new(count);
    if (!keyed)
        return false;
    size_t known = take_known(keyed, rows, count, attempts);
    roast__keyed_sort(keyed, keyed + known, known);
    for (size_t i = 0; i < known; i++)
        rows[i] = keyed[i].item;
    bool ok = sort_equal(rows, keyed, known, attempts);
    if (ok && count - known > 1)
        ok = sort_ties(rows + known, count - known, attempts);
    roast__free(keyed);
    return ok;
}

/* ---- which try ------------------------------------------------------------------- */

struct chunk {
    int32_t run; /* id of the call: the same chunk in another call is another one */
    int32_t source;
    int64_t entry_start;
    int64_t entry_stop;
};

/* False where file or entries are not known. */
static bool chunk_of(const struct roast_attempts *attempts, size_t row,
                     struct chunk *chunk)
{
    const struct roast_column *start = &attempts->columns[ROAST_COLUMN_entry_start];
    const struct roast_column *stop = &attempts->columns[ROAST_COLUMN_entry_stop];

    chunk->run = attempts->processes[attempts->process[row]].run;
    chunk->source = attempts->source[row];
    if (chunk->source < 0 || !roast__column_has(start, row) ||
        !roast__column_has(stop, row))
        return false;
    const struct roast_source *source = &attempts->sources[chunk->source];
    chunk->entry_start = start->values[row];
    chunk->entry_stop = stop->values[row];
    return source->file >= 0 || source->file_id != 0;
}

static uint64_t hash_chunk(const struct chunk *chunk)
{
    uint64_t where = (uint64_t)(uint32_t)chunk->run << 32 | (uint32_t)chunk->source;
    uint64_t hash = roast__hash_number(where);

    hash = roast__hash_number(hash ^ (uint64_t)chunk->entry_start);
    return roast__hash_number(hash ^ (uint64_t)chunk->entry_stop);
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    struct chunk chunk = {0};

    (void)chunk_of(table, item, &chunk);
    return hash_chunk(&chunk);
}

static bool is_same_chunk(const struct roast_attempts *attempts, uint32_t row,
                          const struct chunk *chunk)
{
    struct chunk other;

    return chunk_of(attempts, row, &other) && other.source == chunk->source &&
           other.run == chunk->run && other.entry_start == chunk->entry_start &&
           other.entry_stop == chunk->entry_stop;
}

/* The slots hold the first row of every chunk; `tries` counts by that row. */
static uint32_t count_try(const struct roast_attempts *attempts,
                          struct roast_hash_table *slots, uint32_t *tries, uint32_t row)
{
    struct chunk chunk;

    if (!chunk_of(attempts, row, &chunk))
        return 1;
    uint64_t hash = hash_chunk(&chunk);
    for (size_t at = roast__hash_first(slots, hash); roast__hash_holds(slots, at);
         at = roast__hash_next(slots, at)) {
        uint32_t first = roast__hash_item(slots, at);
        if (is_same_chunk(attempts, first, &chunk))
            return ++tries[first];
    }
    roast__hash_put(slots, hash, row);
    tries[row] = 1;
    return 1;
}

static bool count_tries(struct roast_order *order,
                        const struct roast_attempts *attempts)
{
    struct roast_hash_table slots = {NULL, 0};
    uint32_t *tries = roast__alloc(attempts->count * sizeof(*tries));
    bool ok = tries != NULL;

    for (size_t i = 0; ok && i < order->count; i++) {
        uint32_t row = order->rows[i];
        ok = roast__hash_room(&slots, i, hash_of, attempts);
        if (ok)
            order->attempt[row] = count_try(attempts, &slots, tries, row);
    }
    roast__hash_release(&slots);
    roast__free(tries);
    return ok;
}

int roast__order_make(struct roast_order *out, struct roast_run *run, roast_error *err)
{
    struct roast_attempts *attempts = &run->attempts;
    struct roast_order order = {.count = attempts->count};

    roast__run_resolve_pending(run);
    order.rows = roast__alloc(order.count * sizeof(*order.rows));
    order.attempt = roast__alloc(order.count * sizeof(*order.attempt));
    for (size_t row = 0; order.rows && row < order.count; row++)
        order.rows[row] = (uint32_t)row;
    if (!order.rows || !order.attempt ||
        !roast__rows_sort(order.rows, order.count, attempts) ||
        !count_tries(&order, attempts)) {
        roast__order_release(&order);
        *out = order;
        return roast_error_set(err, ROAST_NO_MEMORY, "the order of %zu attempts",
                               attempts->count);
    }
    *out = order;
    return ROAST_OK;
}

void roast__order_release(struct roast_order *order)
{
    roast__free(order->rows);
    roast__free(order->attempt);
    *order = (struct roast_order){NULL, NULL, 0};
}

/* ---- chunk records as frames ----------------------------------------------------- */

/* The record of a row with its times on the timeline; false: it has no chunk frame. A
 * record has them by the clock of its worker. */
static bool shown_record(const struct roast_run *run, size_t row, roast_record *rec,
                         unsigned char identity[ROAST_IDENTITY_BYTES])
{
    const struct roast_column *starts = &run->attempts.columns[ROAST_COLUMN_start_ns];
    bool has_chunk = roast__attempt_record(run, row, rec, identity);

    if (roast__column_has(starts, row))
        roast_record_set_i64(rec, ROAST_FIELD_start_epoch_ns, starts->values[row]);
    return has_chunk;
}

/* Appends the record of a row; returns its size, or NO_MEMORY. */
static int64_t put_record(struct roast_buf *out, const struct roast_run *run,
                          size_t row)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;

    (void)shown_record(run, row, &rec, identity);
    size_t bound = roast_record_bound(&rec);
    roast__buf_reserve(out, bound);
    if (!roast__buf_ok(out))
        return ROAST_NO_MEMORY;
    int64_t size = roast_record_encode(out->data + out->size_bytes, bound, &rec, NULL);
    out->size_bytes += (size_t)size;
    return size;
}

static bool put_all(struct roast_chunk_list *list, struct roast_buf *frames,
                    const struct roast_run *run, const struct roast_order *order)
{
    for (size_t i = 0; i < order->count; i++) {
        uint32_t row = order->rows[i];
        if (run->attempts.cold_fields[row] == 0)
            continue;
        size_t offset = frames->size_bytes;
        int64_t size = put_record(frames, run, row);
        if (size < 0)
            return false;
        list->items[list->count] = (struct roast_chunk_item){
            .offset = offset,
            .size_bytes = (size_t)size,
            .chunk_id = list->count,
            .attempt = order->attempt[row],
        };
        list->count++;
    }
    return true;
}

int roast_run_chunks(roast_run *run, struct roast_chunk_list *out, roast_error *err)
{
    struct roast_chunk_list list = {NULL, NULL, 0};
    struct roast_order order = {NULL, NULL, 0};
    struct roast_buf frames = {NULL, 0, 0, false};
    size_t records = 0;

    roast__run_lock(run);
    int status = roast__order_make(&order, run, err);
    if (status < 0)
        goto out;
    for (size_t row = 0; row < run->attempts.count; row++)
        records += run->attempts.cold_fields[row] != 0;
    list.items = roast__alloc(records * sizeof(*list.items));
    if (!list.items || !put_all(&list, &frames, run, &order)) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "a list of chunks");
        goto out;
    }
    list.frames = frames.data;
    frames = (struct roast_buf){NULL, 0, 0, false};
    *out = list;
    list = (struct roast_chunk_list){NULL, NULL, 0}; /* moved to the caller */
out:
    roast__run_unlock(run);
    if (status < 0)
        *out = (struct roast_chunk_list){NULL, NULL, 0};
    roast_chunk_list_release(&list);
    roast__buf_release(&frames);
    roast__order_release(&order);
    return status;
}

void roast_chunk_list_release(struct roast_chunk_list *list)
{
    roast__free(list->frames);
    roast__free(list->items);
    *list = (struct roast_chunk_list){NULL, NULL, 0};
}

/* ---- single records -------------------------------------------------------------- */

/* Records of an undecorated process() are not returned: its author did not request
 * any. */
static bool is_wanted(const struct roast_run *run, size_t row, int32_t run_id)
{
    const uint64_t undecorated = UINT64_C(1) << ROAST_FIELD_undecorated;
    const struct roast_attempts *attempts = &run->attempts;

    return attempts->cold_fields[row] != 0 && attempts->status[row] == ROAST_CHUNK_OK &&
           attempts->processes[attempts->process[row]].run == run_id &&
           (!(attempts->fields & undecorated) ||
            !(roast__attempt_present(run, row) & undecorated));
}

/* Fills `rows` (NULL: only counts) with the rows of a run id. */
static size_t find_rows(uint32_t *rows, const struct roast_run *run, int32_t run_id)
{
    size_t count = 0;

    for (size_t row = 0; run_id >= 0 && row < run->attempts.count; row++) {
        if (!is_wanted(run, row, run_id))
            continue;
        if (rows)
            rows[count] = (uint32_t)row;
        count++;
    }
    return count;
}

/* A run may have thousands of run ids: only the rows of this one are sorted. */
int roast_run_rows(roast_run *run, const unsigned char run_id[ROAST_RUN_ID_BYTES],
                   struct roast_rows *out, roast_error *err)
{
    struct roast_str id = {(const char *)run_id, ROAST_RUN_ID_BYTES};
    struct roast_rows found = {NULL, 0};
    int status = ROAST_OK;

    roast__run_lock(run);
    roast__run_resolve_pending(run);
    int32_t number = roast__strings_find(&run->strings, id);
    found.count = find_rows(NULL, run, number);
    found.rows = roast__alloc(found.count * sizeof(*found.rows));
    if (found.rows)
        (void)find_rows(found.rows, run, number);
    if (!found.rows || !roast__rows_sort(found.rows, found.count, &run->attempts)) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "%zu rows", found.count);
        roast_rows_release(&found);
    }
    roast__run_unlock(run);
    *out = found;
    return status;
}

void roast_rows_release(struct roast_rows *rows)
{
    roast__free(rows->rows);
    *rows = (struct roast_rows){NULL, 0};
}

int64_t roast_run_frame(roast_run *run, uint32_t row, void *out, size_t out_bytes,
                        roast_error *err)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;
    int64_t size = ROAST_BAD_DATA;

    roast__run_lock(run);
    if (row < run->attempts.count && shown_record(run, row, &rec, identity))
        size = roast_record_encode(out, out_bytes, &rec, err);
    else
        (void)roast_error_set(err, ROAST_BAD_DATA, "no chunk record in row %u", row);
    roast__run_unlock(run);
    return size;
}
