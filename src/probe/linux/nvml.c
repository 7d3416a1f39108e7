/* SPDX-License-Identifier: BSD-3-Clause */
/* nvml.c - GPUs of NVIDIA, read through the library of their driver (NVML).
 *
 * What is used of it is declared here, after its documentation. A name keeps its arguments
 * for ever: another form gets another name (_v2). A driver may lack functions that are
 * newer or older than it; what they would give is not known then. */
#include "probe/linux/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

static const char library_name[] = "libnvidia-ml.so.1";

enum { SUCCESS = 0, INSUFFICIENT_SIZE = 7, GPU_IS_LOST = 15 };
enum { MOST_TRIES = 3, SPARE_PROCESSES = 16, MOST_PROCESSES = 1 << 20 };

struct nvml_utilization {
    unsigned gpu; /* percent of the last period of the driver, up to 1 s */
    unsigned memory;
};

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_process {
    unsigned pid;
    unsigned long long used_memory; /* all bits set: not available */
    unsigned gpu_instance, compute_instance;
};

/* Functions return SUCCESS or the number of an error. */
struct roast_nvml {
    void *library; /* owned */
    bool started;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_text)(int error);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, void **device);
    int (*name)(void *device, char *name, unsigned size);
    int (*utilization)(void *device, struct nvml_utilization *utilization);
    int (*memory)(void *device, struct nvml_memory *memory);
    int (*power)(void *device, unsigned *milliwatts);
    int (*processes)(void *device, unsigned *count, struct nvml_process *processes);
    void *devices[ROAST_MOST_GPUS];
    unsigned device_count;
    struct nvml_process *room; /* owned; for processes */
    unsigned room_count;
};

static const struct {
    const char *name;
    size_t at;
    bool is_needed;
} functions[] = {
#define AT(member) offsetof(struct roast_nvml, member)
    {"nvmlInit_v2", AT(init), true},
    {"nvmlShutdown", AT(shutdown), true},
    {"nvmlDeviceGetCount_v2", AT(count), true},
    {"nvmlDeviceGetHandleByIndex_v2", AT(handle), true},
    {"nvmlErrorString", AT(error_text), false},
    {"nvmlDeviceGetName", AT(name), false},
    {"nvmlDeviceGetUtilizationRates", AT(utilization), false},
    {"nvmlDeviceGetMemoryInfo", AT(memory), false},
    {"nvmlDeviceGetPowerUsage", AT(power), false},
    /* the last one that exists: some drivers have a _v3 with a larger structure */
    {"nvmlDeviceGetComputeRunningProcesses_v3", AT(processes), false},
    {"nvmlDeviceGetComputeRunningProcesses_v2", AT(processes), false},
#undef AT
};

/* ---- life cycle ------------------------------------------------------------------ */

static int find_functions(struct roast_nvml *nvml, roast_error *err)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(nvml->library, functions[i].name);
        if (symbol) /* not by assignment: it is no pointer to a function in ISO C */
            memcpy((char *)nvml + functions[i].at, &symbol, sizeof(symbol));
        else if (functions[i].is_needed)
            return roast_error_set(err, ROAST_UNAVAILABLE,
                                   "the NVIDIA driver has no %s", functions[i].name);
    }
    return ROAST_OK;
}

/* The reason follows a path, which may be that of a user. */
static int not_loaded(roast_error *err)
{
    const char *text = dlerror();
    const char *reason = text ? strstr(text, ": ") : NULL;

    return roast_error_set(err, ROAST_UNAVAILABLE, "no NVIDIA driver here: %s%.120s",
                           library_name, reason ? reason : "");
}

int roast__nvml_open(struct roast_nvml **out, roast_error *err)
{
    struct roast_nvml *nvml = roast__alloc(sizeof(*nvml));

    *out = NULL;
    if (!nvml)
        return roast_error_set(err, ROAST_NO_MEMORY, "GPUs");
    nvml->library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    int status = nvml->library ? find_functions(nvml, err) : not_loaded(err);
    if (status < 0)
        roast__nvml_close(nvml);
    else
        *out = nvml;
    return status;
}

int roast__nvml_start(struct roast_nvml *nvml, roast_error *err)
{
    unsigned count = 0;
    int error = nvml->init();

    nvml->started = error == SUCCESS;
    if (error == SUCCESS)
        error = nvml->count(&count);
    if (error != SUCCESS) {
        const char *text = nvml->error_text ? nvml->error_text(error) : NULL;
        return roast_error_set(err, ROAST_UNAVAILABLE,
                               "the NVIDIA driver does not work: error %d, %.80s",
                               error, text ? text : "without a text");
    }
    /* one that is not ours to use has no handle, and keeps its number */
    for (; nvml->device_count < count && nvml->device_count < ROAST_MOST_GPUS;
         nvml->device_count++) {
        void **device = &nvml->devices[nvml->device_count];
        if (nvml->handle(nvml->device_count, device) != SUCCESS)
            *device = NULL;
    }
    if (nvml->device_count == 0)
        return roast_error_set(err, ROAST_UNAVAILABLE, "the NVIDIA driver has no GPU");
    return ROAST_OK;
}

void roast__nvml_close(struct roast_nvml *nvml)
{
    if (!nvml)
        return;
    if (nvml->started)
        (void)nvml->shutdown();
    if (nvml->library)
        (void)dlclose(nvml->library);
    roast__free(nvml->room);
    roast__free(nvml);
}

/* ---- devices --------------------------------------------------------------------- */

unsigned roast__nvml_count(const struct roast_nvml *nvml)
{
    return nvml->device_count;
}

void roast__nvml_name(struct roast_nvml *nvml, unsigned device,
                      char name[ROAST_GPU_NAME_BYTES])
{
    void *handle = nvml->devices[device];

    if (!handle || !nvml->name ||
        nvml->name(handle, name, ROAST_GPU_NAME_BYTES) != SUCCESS)
        name[0] = '\0';
    name[ROAST_GPU_NAME_BYTES - 1] = '\0';
}

/* Whether a call gave a value; notes a device that is lost. */
static bool succeeded(struct roast_gpu *gpu, int error)
{
    gpu->lost |= error == GPU_IS_LOST;
    return error == SUCCESS;
}

void roast__nvml_read(struct roast_nvml *nvml, unsigned device, struct roast_gpu *gpu)
{
    void *handle = nvml->devices[device];
    struct nvml_utilization utilization = {0, 0};
    struct nvml_memory memory = {0, 0, 0};
    unsigned milliwatts = 0;

    *gpu = (struct roast_gpu){NAN, NAN, NAN, NAN, false};
    if (!handle)
        return;
    if (nvml->utilization && succeeded(gpu, nvml->utilization(handle, &utilization)))
        gpu->utilization_percent = utilization.gpu;
    if (nvml->memory && succeeded(gpu, nvml->memory(handle, &memory))) {
        gpu->memory_bytes = (double)memory.used;
        gpu->memory_limit_bytes = (double)memory.total;
    }
    if (nvml->power && succeeded(gpu, nvml->power(handle, &milliwatts)))
        gpu->power_w = milliwatts / 1e3;
}

/* Reads the processes to `room`, which is made larger as needed; how many. */
static unsigned read_processes(struct roast_nvml *nvml, void *handle)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        unsigned count = nvml->room_count;
        int error = nvml->processes(handle, &count, nvml->room);
        if (error != INSUFFICIENT_SIZE)
            return error == SUCCESS && count <= nvml->room_count ? count : 0;
        if (count > MOST_PROCESSES)
            return 0;
        count += SPARE_PROCESSES;
        struct nvml_process *room =
            roast__realloc(nvml->room, count * sizeof(nvml->room[0]));
        if (!room)
            return 0;
        nvml->room = room;
        nvml->room_count = count;
    }
    return 0;
}

unsigned roast__nvml_processes(struct roast_nvml *nvml, unsigned device,
                               struct roast_gpu_process *out, unsigned most)
{
    void *handle = nvml->devices[device];
    unsigned count = handle && nvml->processes ? read_processes(nvml, handle) : 0;
    unsigned known = 0;

    for (unsigned i = 0; i < count && known < most; i++) {
        if (nvml->room[i].used_memory != ~0ULL)
            out[known++] = (struct roast_gpu_process){nvml->room[i].pid,
                                                      nvml->room[i].used_memory};
    }
    return known;
}
