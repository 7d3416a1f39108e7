/* SPDX-License-Identifier: BSD-3-Clause */
/* nvml.h - GPUs of NVIDIA, read through the library of their driver (NVML).
 *
 * The library is loaded at run time; where there is none, nothing else is needed. Each of
 * its calls may take long, or never return when a device is broken: call them on a thread
 * that nothing waits for. For one thread at a time. */
#ifndef ROAST_PROBE_LINUX_NVML_H
#define ROAST_PROBE_LINUX_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/error.h"

enum { ROAST_MOST_GPUS = 64, ROAST_GPU_NAME_BYTES = 96 };

/* A device at one moment; NaN: not known. */
struct roast_gpu {
    double utilization_percent; /* of the time that it computed, for any process */
    double memory_bytes;        /* in use, by all processes */
    double memory_limit_bytes;
    double power_w;
    bool lost; /* the driver has no access to it any more */
};

struct roast_gpu_process {
    uint64_t pid; /* in the first namespace of the machine */
    uint64_t memory_bytes;
};

struct roast_nvml;

/* Loads the library. Returns owned. UNAVAILABLE with the reason where there is none. */
int roast__nvml_open(struct roast_nvml **out, roast_error *err);

/* Finds the devices, which may take seconds; then they can be read. UNAVAILABLE with the
 * reason if the driver does not work. */
int roast__nvml_start(struct roast_nvml *nvml, roast_error *err);

unsigned roast__nvml_count(const struct roast_nvml *nvml);

/* The name of its model; "" if it is not known. */
void roast__nvml_name(struct roast_nvml *nvml, unsigned device,
                      char name[ROAST_GPU_NAME_BYTES]);

void roast__nvml_read(struct roast_nvml *nvml, unsigned device, struct roast_gpu *gpu);

/* The processes that compute on a device, at most so many; how many. Those whose memory
 * the driver does not know are left out. */
unsigned roast__nvml_processes(struct roast_nvml *nvml, unsigned device,
                               struct roast_gpu_process *out, unsigned most);

void roast__nvml_close(struct roast_nvml *nvml);

#endif
