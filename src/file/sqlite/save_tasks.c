/* SPDX-License-Identifier: BSD-3-Clause */
/* save_tasks.c - what a scheduler saw, as segments: tasks, stays of workers, clocks.
 *
 * Layouts are above the functions that write them, as in save_segments.c. Activities
 * and hot lines are not here: they are plain tables (tables.def), and read back from
 * there. A task is much like the one before it, so that 37 bytes become some 20. */
#include "file/sqlite/save_tasks.h"

#include "run/array.h"

/* What items are told from; of each part from 0. */
struct last {
    int64_t prefix;
    int64_t worker;
    int64_t time_ns;
};

static void put_change(struct roast_buf *out, int64_t *last, int64_t now)
{
    roast__buf_put_signed(out, roast__wrap_sub(now, *last));
    *last = now;
}

/* How it ended, + 128 if it is ours; fixed 4, hash of the key; signed changes of the
 * numbers of the strings prefix and worker, which are -1 where there is none, and of
 * the time when it was assigned; signed ns from there to its start, and to its stop. */
static void put_task(struct roast_buf *out, const struct roast_tasks *tasks, size_t i,
                     struct last *last)
{
    roast__buf_put_varint(out, tasks->end[i]);
    roast__buf_put_fixed32(out, tasks->key_hash[i]);
    put_change(out, &last->prefix, tasks->prefix[i]);
    put_change(out, &last->worker, tasks->worker[i]);
    put_change(out, &last->time_ns, tasks->assigned_ns[i]);
    roast__buf_put_signed(out,
                          roast__wrap_sub(tasks->start_ns[i], tasks->assigned_ns[i]));
    roast__buf_put_signed(out, roast__wrap_sub(tasks->stop_ns[i], tasks->start_ns[i]));
}

int roast__put_tasks(const struct roast_saving *saving,
                     struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_tasks *tasks = &saving->run->scheduler.tasks;
    struct last last = {0};
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < tasks->count; i++) {
        if (out->items == 0)
            last = (struct last){0};
        put_task(&out->data, tasks, i, &last);
        status = roast__segment_item(out, err);
    }
    return status;
}

/* Bits: 1 it left, 2 it was told to go; number of a string, the worker; numbers + 1 of
 * name, host and reason, 0 where there is none; signed change of the time when it
 * joined; if it left, signed ns from there; pid; threads; limit of its memory. */
static void put_stay(struct roast_buf *out, const struct roast_stay *stay,
                     struct last *last)
{
    const int32_t words[] = {stay->name, stay->host, stay->reason};
    unsigned bits = (stay->left_ns != 0 ? ROAST_STAY_LEFT : 0u) |
                    (stay->expected ? ROAST_STAY_EXPECTED : 0u);

    roast__buf_put_varint(out, bits);
    roast__buf_put_varint(out, (uint64_t)stay->worker);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        roast__buf_put_varint(out, (uint64_t)((int64_t)words[i] + 1));
    put_change(out, &last->time_ns, stay->joined_ns);
    if (stay->left_ns != 0)
        roast__buf_put_signed(out, roast__wrap_sub(stay->left_ns, stay->joined_ns));
    roast__buf_put_varint(out, stay->pid);
    roast__buf_put_varint(out, stay->threads);
    roast__buf_put_varint(out, stay->memory_limit_bytes);
}

int roast__put_stays(const struct roast_saving *saving,
                     struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_stays *stays = &saving->run->scheduler.stays;
    struct last last = {0};
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < stays->count; i++) {
        if (out->items == 0)
            last = (struct last){0};
        put_stay(&out->data, &stays->items[i], &last);
        status = roast__segment_item(out, err);
    }
    return status;
}

/* Number of a string, the host, * 2 + 1 if it is the client's; signed ns. */
int roast__put_offsets(const struct roast_saving *saving,
                       struct roast_segment_writer *out, roast_error *err)
{
    const struct roast_offsets *offsets = &saving->run->scheduler.offsets;
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < offsets->count; i++) {
        const struct roast_host_offset *offset = &offsets->items[i];
        roast__buf_put_varint(&out->data,
                              (uint64_t)offset->host * 2 + offset->is_clients);
        roast__buf_put_signed(&out->data, offset->offset_ns);
        status = roast__segment_item(out, err);
    }
    return status;
}
