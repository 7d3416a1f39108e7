/* SPDX-License-Identifier: BSD-3-Clause */
/* fine_sums.c - the sums of Dask's fine metrics: the sum of an activity, the metric of a
 * sum, and metrics derived from them.
 *
 * Separate from fine.c, which reads a run: the functions of 0.1.2 use the same rules with
 * the caller's numbers. */
#include "analyze/summary.h"
#include "base/str.h"

static const struct {
    const char *activity;
    enum roast_metric metric;
} sums[ROAST_FINE_SUMS] = {
#define SUM(name, activity, metric) \
    [ROAST_FINE_##name] = {activity, ROAST_METRIC_##metric}
    SUM(CPU_S, "thread-cpu", cpu_time_seconds),
    SUM(NONCPU_S, "thread-noncpu", io_time_seconds),
    SUM(COMPRESS_S, "compress", compression_time_seconds),
    SUM(DECOMPRESS_S, "decompress", decompression_time_seconds),
    SUM(SERIALIZE_S, "serialize", serialization_time_seconds),
    SUM(DESERIALIZE_S, "deserialize", deserialization_time_seconds),
    SUM(FAILED_S, "failed", failed_time_seconds),
    SUM(CANCELLED_S, "cancelled", cancelled_time_seconds),
    SUM(EXECUTOR_S, "executor", executor_time_seconds),
    SUM(OFFLOAD_S, "offload", offload_time_seconds),
    SUM(MEMORY_READ_BYTES, "memory-read", total_bytes_memory_read_dask),
    SUM(DISK_READ_BYTES, "disk-read", disk_read_bytes),
    SUM(DISK_WRITE_BYTES, "disk-write", disk_write_bytes),
#undef SUM
};

enum roast_fine_sum roast_fine_sum_of(struct roast_str activity, struct roast_str unit)
{
    bool bytes = roast__str_is(unit, "bytes");
    int from = bytes ? ROAST_FINE_MEMORY_READ_BYTES : 0;
    int to = bytes ? ROAST_FINE_SUMS : ROAST_FINE_MEMORY_READ_BYTES;

    if (roast__str_is(unit, "count"))
        return ROAST_FINE_SUMS;
    for (int i = from; i < to; i++) {
        if (roast__str_is(activity, sums[i].activity))
            return (enum roast_fine_sum)i;
    }
    return ROAST_FINE_SUMS;
}

enum roast_metric roast_fine_metric(enum roast_fine_sum sum)
{
    return sums[sum].metric;
}

/* metric = a + b, if both are known. */
static void derive_sum(struct roast_metric_values *values, enum roast_metric metric,
                       enum roast_metric a, enum roast_metric b)
{
    if (values->known[a] && values->known[b])
        roast__metric_set(values, metric, values->value[a] + values->value[b]);
}

void roast_derive_fine(struct roast_metric_values *values)
{
    double cpu_s = values->value[ROAST_METRIC_processor_cpu_time_seconds];
    double noncpu_s = values->value[ROAST_METRIC_processor_noncpu_time_seconds];

    derive_sum(values, ROAST_METRIC_total_compression_overhead_seconds,
               ROAST_METRIC_compression_time_seconds,
               ROAST_METRIC_decompression_time_seconds);
    derive_sum(values, ROAST_METRIC_total_serialization_overhead_seconds,
               ROAST_METRIC_serialization_time_seconds,
               ROAST_METRIC_deserialization_time_seconds);
    if (!values->known[ROAST_METRIC_processor_cpu_time_seconds] ||
        !values->known[ROAST_METRIC_processor_noncpu_time_seconds] ||
        !(cpu_s + noncpu_s > 0))
        return;
    roast__metric_set(values, ROAST_METRIC_processor_cpu_percentage,
                      cpu_s / (cpu_s + noncpu_s) * 100);
    roast__metric_set(values, ROAST_METRIC_processor_noncpu_percentage,
                      noncpu_s / (cpu_s + noncpu_s) * 100);
}
