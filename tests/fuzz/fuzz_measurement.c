/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_measurement.c - any bytes as metrics.json: what is told of them keeps its word.
 *
 * Every frame can be decoded and so can its blobs, counts come by time, and memory stays
 * below 4 times the input + 64 KB. */
#include <string.h>

#include "quiet_sink.h"
#include "read_told.h"
#include "walk.h"
#include "weighing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

struct input {
    const uint8_t *bytes;
    size_t size_bytes;
};

static int64_t give(void *context, void *out, size_t out_bytes)
{
    struct input *input = context;
    size_t size = input->size_bytes < out_bytes ? input->size_bytes : out_bytes;

    if (size > 0)
        memcpy(out, input->bytes, size);
    input->bytes += size;
    input->size_bytes -= size;
    return (int64_t)size;
}

static void check_values(const roast_record *rec, enum roast_field field)
{
    if (roast_record_has(rec, field))
        PROMISE(roast_values_check(rec->values[field].str, NULL) == ROAST_OK);
}

static void check_record(const roast_record *rec)
{
    PROMISE(roast_record_has(rec, ROAST_FIELD_identity));
    check_values(rec, ROAST_FIELD_user_keys);
    check_values(rec, ROAST_FIELD_custom_metrics);
    check_values(rec, ROAST_FIELD_process);
    if (roast_record_has(rec, ROAST_FIELD_sections))
        PROMISE(roast_sections_read(NULL, 0, rec->values[ROAST_FIELD_sections].str,
                                    NULL) >= 0);
    if (roast_record_has(rec, ROAST_FIELD_intervals))
        PROMISE(roast_intervals_read(NULL, 0, rec->values[ROAST_FIELD_intervals].str,
                                     NULL) >= 0);
}

static int check_frames(void *context, struct roast_str frames, roast_error *err)
{
    (void)context;
    (void)err;
    while (frames.size_bytes > 0) {
        roast_record rec;
        size_t used = 0;
        PROMISE(roast_record_decode(&rec, &used, frames, NULL) == ROAST_OK);
        check_record(&rec);
        frames.data += used;
        frames.size_bytes -= used;
    }
    return ROAST_OK;
}

static int check_sample(void *context, const roast_sample *sample, roast_error *err)
{
    (void)context;
    (void)err;
    PROMISE(sample->present != 0);
    PROMISE(sample->worker.data != NULL);
    return ROAST_OK;
}

static int64_t last_count_ns;

static int check_count(void *context, int64_t time_ns, uint64_t workers,
                       roast_error *err)
{
    (void)context;
    (void)workers;
    (void)err;
    PROMISE(time_ns >= last_count_ns);
    last_count_ns = time_ns;
    return ROAST_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct roast_measurement_sink sink = quiet_sink;
    const struct roast_measurement_timing timing = {.start_s = 100, .end_s = 110};
    struct input input = {data, size_bytes};

    sink.frames = check_frames;
    sink.sample = check_sample;
    sink.count = check_count;
    last_count_ns = INT64_MIN;
    weighing_install();
    weighing_start();
    (void)read_told(&sink, (struct roast_json_source){give, &input}, &timing, NULL);
    PROMISE(weighed.peak_bytes <= 4 * size_bytes + 65536);
    PROMISE(weighed.now_bytes == 0);
    return 0;
}
