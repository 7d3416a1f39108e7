/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_meter.h - the CPU time of this process and of all its descendants over a while.
 *
 * The kernel adds up children that ended and were waited for; of those that still live,
 * and of those that lived before, only samples of the process tree tell. The meter joins
 * the two without counting anything twice. One thread at a time. */
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

/* A round of samples begins; then each process of the tree is shown. */
void roast_cpu_meter_round(roast_cpu_meter *meter);
int roast_cpu_meter_use(roast_cpu_meter *meter, const struct roast_process_use *use,
                        roast_error *err);

/* CPU seconds of this process and of its descendants since the start; directly after a
 * round. */
void roast_cpu_meter_read(const roast_cpu_meter *meter, double *own_s,
                          double *children_s);

#ifdef __cplusplus
}
#endif

#endif
