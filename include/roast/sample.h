/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.h - a worker at one moment, and a process of this machine at one moment.
 *
 * Samples come from the process tree of this machine, Dask's scheduler or a user's own
 * backend, and are added to a run. */
#ifndef ROAST_SAMPLE_H
#define ROAST_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum roast_series {
#define S(name, key, value_key, unit, steps) ROAST_SERIES_##name,
#include "roast/series.def"
#undef S
    ROAST_SERIES_COUNT
};

struct roast_series_info {
    const char *name;
    const char *key;       /* in tracking_data */
    const char *value_key; /* of one value in worker_tracking.json */
    const char *unit;
    double steps; /* stored values are whole numbers of 1 / steps */
};

/* The row of a series. Borrows static memory. */
const struct roast_series_info *roast_series_info(enum roast_series series);

/* One worker at one moment. Zeroed = nothing known. */
typedef struct roast_sample {
    struct roast_str worker; /* its name, borrowed for the call */
    int64_t time_ns;         /* realtime clock of the client */
    uint32_t present;        /* bit n: values[n] is known */
    double values[ROAST_SERIES_COUNT];
} roast_sample;

static inline void roast_sample_set(roast_sample *sample, enum roast_series series,
                                    double value)
{
    sample->values[series] = value;
    sample->present |= UINT32_C(1) << series;
}

static inline bool roast_sample_has(const roast_sample *sample,
                                    enum roast_series series)
{
    return (sample->present >> series) & 1;
}

/* What a process of the tree has used, as reported by the kernel. */
struct roast_process_use {
    uint64_t pid;
    uint64_t parent_pid;
    uint64_t started_ticks; /* since boot; with the pid it names a process for good */
    char command[16];       /* NUL-terminated */
    bool ended;             /* a zombie: it has no memory */
    int64_t time_ns;        /* realtime clock */
    uint64_t cpu_ns;        /* user and system, of the process itself */
    uint64_t reaped_cpu_ns; /* of children that ended and were waited for */
    uint64_t rss_bytes;
    uint64_t threads;
    bool io_known;
    uint64_t read_bytes; /* from storage; all four with children it waited for */
    uint64_t write_bytes;
    uint64_t read_chars; /* by system calls, also from the page cache and sockets */
    uint64_t write_chars;
};

/* Receives uses. `use` is called from the thread that samples and must not block. */
struct roast_use_sink {
    void (*use)(void *context, const struct roast_process_use *use);
    void *context;
};

#ifdef __cplusplus
}
#endif

#endif
