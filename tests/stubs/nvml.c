/* SPDX-License-Identifier: BSD-3-Clause */
/* nvml.c - a library like that of NVIDIA's driver, with two GPUs that are not there.
 *
 * The environment variable NVML_STUB is the path of a file with words, which is read in
 * each call:
 *
 *     init         the driver is not loaded
 *     empty        it has no GPU
 *     lost         the second GPU is lost
 *     unsupported  no GPU reports anything but its memory
 *     hang         the memory of a GPU is not read until the word is gone
 *
 * STUB_OLD leaves out newer functions, STUB_BARE one that is always there. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    NOT_SUPPORTED = 3,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    GPU_IS_LOST = 15,
    GPUS = 2,
};

static const unsigned long long MIB = 1024 * 1024;

static int has_word(const char *word)
{
    const char *path = getenv("NVML_STUB");
    char text[256] = "";
    FILE *file = path ? fopen(path, "r") : NULL;

    if (!file)
        return 0;
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[size] = '\0';
    return strstr(text, word) != NULL;
}

static int handles[GPUS];

static int number_of(const int *device)
{
    return (int)(device - handles);
}

static int state_of(const int *device, int is_memory)
{
    if (number_of(device) == 1 && has_word("lost"))
        return GPU_IS_LOST;
    return !is_memory && has_word("unsupported") ? NOT_SUPPORTED : SUCCESS;
}

#ifndef STUB_BARE
int nvmlInit_v2(void)
{
    return has_word("init") ? DRIVER_NOT_LOADED : SUCCESS;
}
#endif

int nvmlShutdown(void)
{
    return SUCCESS;
}

const char *nvmlErrorString(int error)
{
    return error == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = has_word("empty") ? 0 : GPUS;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, int **device)
{
    *device = &handles[index];
    return SUCCESS;
}

int nvmlDeviceGetName(const int *device, char *name, unsigned size)
{
    return snprintf(name, size, "Stub %d", number_of(device)) > 0 ? SUCCESS : 1;
}

int nvmlDeviceGetUtilizationRates(const int *device, unsigned percent[2])
{
    percent[0] = 40 + 20 * (unsigned)number_of(device);
    percent[1] = 7;
    return state_of(device, 0);
}

int nvmlDeviceGetMemoryInfo(const int *device, unsigned long long bytes[3])
{
    while (has_word("hang"))
        (void)usleep(1000);
    bytes[0] = 16384 * MIB;
    bytes[2] = 1024 * MIB * (1 + (unsigned)number_of(device));
    bytes[1] = bytes[0] - bytes[2];
    return state_of(device, 1);
}

#ifndef STUB_OLD
int nvmlDeviceGetPowerUsage(const int *device, unsigned *milliwatts)
{
    *milliwatts = 100000 + 50000 * (unsigned)number_of(device);
    return state_of(device, 0);
}
#endif

struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned instances[2];
};

static int put_processes(const int *device, unsigned *count, struct process *out)
{
    const struct process all[] = {
        {1, 512 * MIB, {0, 0}}, /* of another user */
        {(unsigned)getpid(), MIB * (256 >> number_of(device)), {0, 0}},
        {(unsigned)getpid() + 1, ~0ULL, {0, 0}}, /* not available */
    };
    unsigned room = *count;

    *count = sizeof(all) / sizeof(all[0]);
    if (room < *count)
        return INSUFFICIENT_SIZE;
    memcpy(out, all, sizeof(all));
    return state_of(device, 0);
}

#ifdef STUB_OLD
int nvmlDeviceGetComputeRunningProcesses_v3(const int *device, unsigned *count,
                                            struct process *out)
{
    return put_processes(device, count, out);
}
#else
int nvmlDeviceGetComputeRunningProcesses_v2(const int *device, unsigned *count,
                                            struct process *out)
{
    return put_processes(device, count, out);
}

/* Its structure is larger in some drivers: not to be called while there is a _v2. */
int nvmlDeviceGetComputeRunningProcesses_v3(const int *device, unsigned *count,
                                            struct process *out)
{
    (void)device;
    (void)count;
    (void)out;
    abort();
}
#endif
