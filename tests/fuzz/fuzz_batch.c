/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_batch.c - any bytes as two batches of the scheduler: refused, or facts whose
 * texts can be read, and no more memory than eight times what was read.
 *
 * The first byte is the position of the second batch, in 255ths. */
#include <math.h>

#include "collect/dask_batch_reader.h"
#include "heap_peak.h"
#include "record_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { ALLOWED_BYTES = 64 * 1024, MOST_TEXT_BYTES = 1024 };

static void check_name(struct roast_str text, bool may_be_absent)
{
    PROMISE(text.data ? text.size_bytes > 0 : may_be_absent);
    PROMISE(text.size_bytes <= MOST_TEXT_BYTES);
    touch(text);
}

static int take_sample(void *context, const roast_sample *sample)
{
    (void)context;
    check_name(sample->worker, false);
    PROMISE(sample->present >> ROAST_SERIES_COUNT == 0);
    for (unsigned n = 0; n < ROAST_SERIES_COUNT; n++)
        PROMISE(isfinite(sample->values[n]));
    return ROAST_OK;
}

static int take_joined(void *context, const struct roast_member *member)
{
    (void)context;
    check_name(member->worker, false);
    check_name(member->name, true);
    check_name(member->host, true);
    return ROAST_OK;
}

static int take_left(void *context, const struct roast_departure *departure)
{
    (void)context;
    check_name(departure->worker, false);
    check_name(departure->reason, true);
    return ROAST_OK;
}

static int take_task(void *context, const struct roast_task *task)
{
    (void)context;
    check_name(task->prefix, false);
    check_name(task->worker, true);
    PROMISE(task->end >= ROAST_TASK_ok && task->end < ROAST_TASK_END_LAST);
    return ROAST_OK;
}

static int take_frames(void *context, struct roast_str frames, struct roast_str worker,
                       uint32_t key_hash)
{
    (void)context;
    (void)key_hash;
    PROMISE(frames.data);
    touch(frames);
    check_name(worker, false);
    return ROAST_OK;
}

static int take_offset(void *context, struct roast_str host, int64_t offset_ns)
{
    (void)context;
    (void)offset_ns;
    check_name(host, false);
    return ROAST_OK;
}

static void read_batch(struct roast_dask_reader *reader, const uint8_t *data,
                       size_t size_bytes)
{
    static const struct roast_dask_sink sink = {
        NULL, take_sample, take_joined, take_left, take_task, take_frames, take_offset};
    char *tight = malloc(size_bytes > 0 ? size_bytes : 1);
    roast_error err = {0};

    PROMISE(tight);
    if (size_bytes > 0)
        memcpy(tight, data, size_bytes);
    int status = roast__dask_reader_read(reader, (struct roast_str){tight, size_bytes},
                                         &sink, &err);
    PROMISE(status == err.code);
    PROMISE(status == ROAST_OK || status == ROAST_BAD_DATA);
    free(tight);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct roast_dask_reader *reader = NULL;

    if (size_bytes == 0)
        return 0;
    size_t cut = 1 + (size_bytes - 1) * data[0] / 255;
    peak_install();
    peak_begin();
    PROMISE(roast__dask_reader_new(&reader, NULL) == ROAST_OK);
    roast__dask_reader_set_offset(reader, data[0] % 2 ? INT64_MAX : INT64_MIN);
    read_batch(reader, data + 1, cut - 1);
    read_batch(reader, data + cut, size_bytes - cut);
    PROMISE(peak_taken() <= 8 * size_bytes + ALLOWED_BYTES);
    PROMISE(roast__dask_reader_state(reader).workers <= size_bytes);
    roast__dask_reader_free(reader);
    PROMISE(peak_heap.live_bytes == 0);
    return 0;
}
