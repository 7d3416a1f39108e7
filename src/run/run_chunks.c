/* SPDX-License-Identifier: BSD-3-Clause */
/* run_chunks.c - the chunk records of a run, given back as frames: all, or single ones.
 */
#include "base/mem.h"
#include "run/order.h"

static size_t count_records(const struct roast_attempts *attempts)
{
    size_t count = 0;

    for (size_t row = 0; row < attempts->count; row++)
        count += attempts->cold_fields[row] != 0;
    return count;
}

/* Writes the record of a row behind the others; its size, or NO_MEMORY. */
static int64_t put_record(struct roast_buf *out, const struct roast_run *run,
                          size_t row)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;

    (void)roast__attempt_record(run, row, &rec, identity);
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
    int status = ROAST_OK;

    roast__run_lock(run);
    status = roast__order_make(&order, run, err);
    if (status < 0)
        goto out;
    list.items = roast__alloc(count_records(&run->attempts) * sizeof(*list.items));
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

/* ---- single records ---------------------------------------------------------- */

/* Records that nobody asked for stay here: an undecorated process() has none to give. */
static bool is_undecorated(const struct roast_run *run, size_t row)
{
    const uint64_t field = UINT64_C(1) << ROAST_FIELD_undecorated;

    return (run->attempts.fields & field) && (roast__attempt_present(run, row) & field);
}

static bool is_wanted(const struct roast_run *run, size_t row, int32_t run_id)
{
    const struct roast_attempts *attempts = &run->attempts;

    return attempts->cold_fields[row] != 0 && attempts->status[row] == ROAST_CHUNK_OK &&
           attempts->processes[attempts->process[row]].run == run_id &&
           !is_undecorated(run, row);
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

/* A block may have thousands of run ids: only the rows of this one are sorted. */
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
    if (row < run->attempts.count && roast__attempt_record(run, row, &rec, identity))
        size = roast_record_encode(out, out_bytes, &rec, err);
    else
        (void)roast_error_set(err, ROAST_BAD_DATA, "no chunk record in row %u", row);
    roast__run_unlock(run);
    return size;
}
