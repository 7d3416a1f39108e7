/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - facts about this host and this process, read once.
 *
 * They come from the kernel, never from the environment or the command line, which may
 * hold secrets. Each fact is present or absent by itself. */
#ifndef ROAST_PROBE_LINUX_HOST_H
#define ROAST_PROBE_LINUX_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/cgroup.h"
#include "roast/value.h"

enum { ROAST_HOST_TEXT_BYTES = 96 }; /* longer texts are cut between characters */

enum roast_host_fact {
#define H(name, type, unit, text) ROAST_HOST_##name,
#include "probe/linux/host_facts.def"
#undef H
    ROAST_HOST_COUNT
};

union roast_host_value {
    uint64_t u64;
    char text[ROAST_HOST_TEXT_BYTES]; /* ends with NUL */
};

/* Bit n of `present` is set when values[n] is known. */
struct roast_host {
    uint64_t present;
    union roast_host_value values[ROAST_HOST_COUNT];
};

static inline bool roast__host_has(const struct roast_host *host,
                                   enum roast_host_fact fact)
{
    return (host->present >> fact) & 1;
}

/* Reads all but the facts of the control group. `proc_root` NULL = "/proc".
 * UNAVAILABLE, and nothing present, without procfs. */
int roast__host_read(struct roast_host *host, const char *proc_root);

/* Adds version and limits of the control group. */
void roast__host_add_cgroup(struct roast_host *host, const struct roast_cgroup *group);

/* Reads everything that can be read and appends it as keys and values. */
void roast__host_put_facts(struct roast_values *out);

/* The model in a cpuinfo file; on ARM, which prints none, its part numbers. Returns a
 * text in out, absent when there is neither. */
struct roast_str roast__cpu_model_parse(char *out, size_t out_bytes,
                                        struct roast_str text);

#endif
