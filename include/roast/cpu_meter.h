/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_meter.h - the CPU time of this process and of all its descendants since a start.
 *
 * The kernel adds up children that ended and were waited for; the CPU time of those
 * that still run, and what all had used before the start, is known from samples of the
 * process tree. The meter combines the two without counting anything twice. One thread
 * at a time. */
#ifndef ROAST_CPU_METER_H
#define ROAST_CPU_METER_H

#include "roast/error.h"
#include "roast/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct roast_cpu_meter roast_cpu_meter;

/* Starts to count now. Returns owned. */
int roast_cpu_meter_new(roast_cpu_meter **out, roast_error *err);
void roast_cpu_meter_free(roast_cpu_meter *meter);

/* Begins a round of samples; then `use` is called for each process of the tree. */
void roast_cpu_meter_round(roast_cpu_meter *meter);
int roast_cpu_meter_use(roast_cpu_meter *meter, const struct roast_process_use *use,
                        roast_error *err);

/* CPU seconds of this process and of its descendants since the start. Called directly
 * after a round. */
void roast_cpu_meter_read(const roast_cpu_meter *meter, double *own_s,
                          double *children_s);

/* How many descendants were in a sample so far. */
uint64_t roast_cpu_meter_processes(const roast_cpu_meter *meter);

#ifdef __cplusplus
}
#endif

#endif
