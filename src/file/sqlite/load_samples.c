/* SPDX-License-Identifier: BSD-3-Clause */
/* load_samples.c - workers that were sampled, and their series; save_segments.c says how
 * they are packed.
 *
 * Series are differences from the first moment on, so one of which a piece is missing is
 * left out whole, and without its moments a worker has no series at all.
 *
 * A worker is larger in memory than in the file, so there may be only so many of them
 * (load.h). Series come with their first piece, whose bytes pay for them. */
#include "base/mem.h"
#include "file/sqlite/load.h"
#include "run/array.h"
#include "run/restore.h"
#include "run/series.h"

enum {
    STREAMS = ROAST_SERIES_COUNT + 1, /* times first */
    MOST_SERIES = 256,
    LEAST_WORKER_BYTES = 12, /* eleven numbers, and the size of its moments */
};

/* A worker of the file that is in the run. */
struct sampler {
    uint64_t number; /* there; they go up */
    size_t worker;   /* in the run */
    size_t sizes_at; /* in the sizes of all */
};

enum {
    WORKER_BYTES =
        sizeof(struct roast_worker_samples) + sizeof(struct sampler) + STREAMS,
};

struct gathering {
    struct roast_loading *loading;
    struct sampler *samplers; /* owned */
    size_t count;
    size_t cap;
    struct roast_buf sizes; /* varint for each stream of ours, worker by worker */
    uint64_t left_out;      /* workers */
    int stream_of[MOST_SERIES + 1]; /* stream of ours by that of the file; -1: none */
    uint64_t file_streams;
};

/* ---- workers ----------------------------------------------------------------------- */

static int find_series(struct roast_str name)
{
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        const char *own = roast_series_info((enum roast_series)i)->name;
        if (strlen(own) == name.size_bytes &&
            memcmp(own, name.data, name.size_bytes) == 0)
            return i;
    }
    return -1;
}

static void read_series_names(struct gathering *gathering, struct roast_cursor *cur)
{
    uint64_t count = roast__cursor_varint(cur);

    cur->failed |= count > MOST_SERIES;
    gathering->file_streams = cur->failed ? 0 : count + 1;
    gathering->stream_of[0] = 0;
    for (uint64_t i = 1; i < gathering->file_streams; i++) {
        struct roast_str name = {.size_bytes = (size_t)roast__cursor_varint(cur)};
        name.data = (const char *)roast__cursor_bytes(cur, name.size_bytes);
        int series = name.data ? find_series(name) : -1;
        gathering->stream_of[i] = series < 0 ? -1 : series + 1;
    }
}

static struct roast_worker_samples read_state(struct roast_cursor *cur)
{
    uint64_t name = roast__cursor_varint(cur);
    struct roast_worker_samples state = {
        .name = name <= INT32_MAX ? (int32_t)name : INT32_MAX,
    };
    uint64_t *const numbers[] = {&state.stride,        &state.skipped,
                                 &state.pid,           &state.parent_pid,
                                 &state.started_ticks, &state.last_cpu_ns};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = roast__cursor_varint(cur);
    state.last_io_known = roast__cursor_varint(cur) != 0;
    state.last_read_bytes = roast__cursor_varint(cur);
    state.last_write_bytes = roast__cursor_varint(cur);
    state.last_use_ns = roast__cursor_signed(cur);
    return state;
}

/* Whether the run may have the worker. */
static bool is_welcome(const struct gathering *gathering,
                       const struct roast_worker_samples *state)
{
    struct roast_loading *loading = gathering->loading;

    return roast__loading_has_string(loading, (uint64_t)state->name) &&
           !roast__samples_find(&loading->run->samples, state->name) &&
           roast__loading_may_take(loading, WORKER_BYTES);
}

/* False when out of memory. */
static bool add_worker(struct gathering *gathering, uint64_t number,
                       const struct roast_worker_samples *state,
                       const uint64_t sizes[STREAMS])
{
    struct roast_samples *samples = &gathering->loading->run->samples;
    struct sampler *samplers = roast__array_room(gathering->samplers, &gathering->cap,
                                                 gathering->count, sizeof(*samplers));

    if (!samplers)
        return false;
    gathering->samplers = samplers;
    struct roast_worker_samples *worker = roast__samples_worker(samples, state->name);
    if (!worker)
        return false;
    *worker = *state;
    samplers[gathering->count++] =
        (struct sampler){number, samples->count - 1, gathering->sizes.size_bytes};
    for (int i = 0; i < STREAMS; i++)
        roast__buf_put_varint(&gathering->sizes, sizes[i]);
    return roast__buf_ok(&gathering->sizes);
}

/* False when out of memory. */
static bool read_sampler(struct gathering *gathering, struct roast_cursor *cur,
                         uint64_t number)
{
    struct roast_worker_samples state = read_state(cur);
    uint64_t sizes[STREAMS] = {0};

    for (uint64_t i = 0; i < gathering->file_streams; i++) {
        uint64_t size = roast__cursor_varint(cur);
        if (gathering->stream_of[i] >= 0)
            sizes[gathering->stream_of[i]] = size;
    }
    if (gathering->count > 0 &&
        gathering->samplers[gathering->count - 1].number >= number)
        cur->failed = true;
    if (cur->failed)
        return true;
    if (is_welcome(gathering, &state))
        return add_worker(gathering, number, &state, sizes);
    gathering->left_out++;
    return true;
}

/* Of so many items that a part promises and does not have, how many there can be. */
static uint64_t workers_in(const struct roast_segment_part *part, uint64_t items)
{
    uint64_t most = part->content.size_bytes / LEAST_WORKER_BYTES + 1;

    return items < most ? items : most;
}

static int take_samplers(struct gathering *gathering,
                         const struct roast_segment_part *part, roast_error *err)
{
    struct roast_cursor cur =
        roast__cursor(part->content.data, part->content.size_bytes);
    uint64_t number = 0;
    uint32_t read = 0;

    if (part->items > 0) {
        number = roast__cursor_varint(&cur);
        read_series_names(gathering, &cur);
    }
    while (read < part->items && !cur.failed) {
        if (!read_sampler(gathering, &cur, number++))
            return roast_error_set(err, ROAST_NO_MEMORY, "sampled workers");
        read += !cur.failed;
    }
    gathering->left_out += workers_in(part, part->items - read);
    if (!cur.failed && roast__cursor_left(&cur) > 0)
        roast__loading_miss(gathering->loading, 1, "part of the segment samplers");
    return ROAST_OK;
}

/* ---- series ------------------------------------------------------------------------ */

static struct sampler *find_sampler(const struct gathering *gathering, uint64_t number)
{
    size_t low = 0, high = gathering->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (gathering->samplers[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == gathering->count || gathering->samplers[low].number != number)
        return NULL;
    return &gathering->samplers[low];
}

static struct roast_worker_samples *worker_of(const struct gathering *gathering,
                                              const struct sampler *sampler)
{
    return &gathering->loading->run->samples.workers[sampler->worker];
}

/* NULL when out of memory. */
static struct roast_buf *stream_of(struct roast_worker_samples *worker, int stream)
{
    if (stream == 0)
        return &worker->times;
    struct roast_packed_series *series =
        roast__samples_series(worker, (enum roast_series)(stream - 1));
    return series ? &series->changes : NULL;
}

/* A buffer has room for hundreds of bytes at least, and most streams have but a few. */
static bool put_bytes(struct roast_buf *buf, const unsigned char *bytes, size_t size)
{
    if (!buf->data) {
        buf->data = roast__realloc(NULL, size);
        buf->cap_bytes = buf->data ? size : 0;
    }
    if (buf->data)
        roast__buf_put(buf, bytes, size);
    return buf->data && roast__buf_ok(buf);
}

/* False when out of memory. What belongs nowhere is not taken. */
static bool take_piece(struct gathering *gathering, struct roast_cursor *cur)
{
    uint64_t number = roast__cursor_varint(cur);
    uint64_t file_stream = roast__cursor_varint(cur);
    uint64_t size = roast__cursor_varint(cur);
    const unsigned char *bytes = roast__cursor_bytes(cur, size);
    const struct sampler *sampler = find_sampler(gathering, number);

    cur->failed |= file_stream >= gathering->file_streams;
    if (cur->failed || size == 0 || !sampler || gathering->stream_of[file_stream] < 0)
        return true;
    struct roast_buf *buf =
        stream_of(worker_of(gathering, sampler), gathering->stream_of[file_stream]);
    return buf && put_bytes(buf, bytes, (size_t)size);
}

static int take_pieces(struct gathering *gathering,
                       const struct roast_segment_part *part, roast_error *err)
{
    struct roast_cursor cur =
        roast__cursor(part->content.data, part->content.size_bytes);

    for (uint32_t i = 0; i < part->items && !cur.failed; i++) {
        if (!take_piece(gathering, &cur))
            return roast_error_set(err, ROAST_NO_MEMORY, "samples");
    }
    if (cur.failed || roast__cursor_left(&cur) > 0)
        roast__loading_miss(gathering->loading, 1, "part of the segment samples");
    return ROAST_OK;
}

/* ---- what is whole ----------------------------------------------------------------- */

/* Leaves out what did not come whole. */
static void settle(const struct gathering *gathering, const struct sampler *sampler)
{
    struct roast_worker_samples *worker = worker_of(gathering, sampler);
    struct roast_cursor sizes =
        roast__cursor(gathering->sizes.data + sampler->sizes_at,
                      gathering->sizes.size_bytes - sampler->sizes_at);
    uint64_t times_bytes = roast__cursor_varint(&sizes);

    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        enum roast_series series = (enum roast_series)i;
        if (roast__series_of(worker, series)->changes.size_bytes ==
            roast__cursor_varint(&sizes))
            continue;
        if ((worker->has >> i) & 1) /* so it is not made anew */
            roast__buf_release(&roast__samples_series(worker, series)->changes);
        roast__loading_miss(gathering->loading, 1, "series of a worker");
    }
    if (worker->times.size_bytes == times_bytes && roast__samples_restore(worker))
        return;
    roast__samples_drop(worker);
    roast__loading_miss(gathering->loading, 1, "worker's samples");
}

static int gather(struct gathering *gathering, enum roast_segment segment,
                  int (*take)(struct gathering *gathering,
                              const struct roast_segment_part *part, roast_error *err),
                  roast_error *err)
{
    struct roast_segment_reader in;
    struct roast_segment_part part;
    int status = roast__segment_open(&in, gathering->loading->db, segment, err);

    while (status >= 0 && (status = roast__segment_next(&in, &part, err)) > 0)
        status = take(gathering, &part, err);
    if (status == 0)
        roast__loading_miss(gathering->loading, in.damaged,
                            roast__segment_name(segment));
    roast__segment_close(&in);
    return status;
}

int roast__load_samples(struct roast_loading *loading, roast_error *err)
{
    struct gathering gathering = {.loading = loading};
    int status = gather(&gathering, ROAST_SEGMENT_samplers, take_samplers, err);

    if (status == ROAST_OK)
        status = gather(&gathering, ROAST_SEGMENT_samples, take_pieces, err);
    for (size_t i = 0; status == ROAST_OK && i < gathering.count; i++)
        settle(&gathering, &gathering.samplers[i]);
    roast__loading_miss(loading, gathering.left_out, "sampled workers");
    roast__buf_release(&gathering.sizes);
    roast__free(gathering.samplers);
    return status;
}
