/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - facts about this host and this process, read once.
 *
 * They come from the kernel, never from the environment or the command line, which may
 * hold secrets. Each fact is present or absent; one that cannot be read does not take
 * the others with it. */
#ifndef ROAST_PROBE_LINUX_HOST_H
#define ROAST_PROBE_LINUX_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/cgroup.h"
#include "roast/value.h"

enum { ROAST_HOST_TEXT_BYTES = 96 }; /* longer texts are cut between characters */

enum roast_host_type { ROAST_HOST_U64, ROAST_HOST_TEXT };

enum roast_host_fact {
#define H(name, type, unit, text) ROAST_HOST_##name,
#include "probe/linux/host_facts.def"
#undef H
    ROAST_HOST_COUNT
};

struct roast_host_info {
    enum roast_host_type type;
    const char *name;
    const char *unit;
    const char *text;
};

union roast_host_value {
    uint64_t u64;
    char text[ROAST_HOST_TEXT_BYTES]; /* ends with NUL */
};

/* `present` has bit n set when values[n] holds something. */
struct roast_host {
    uint64_t present;
    union roast_host_value values[ROAST_HOST_COUNT];
};

static inline bool roast__host_has(const struct roast_host *host,
                                   enum roast_host_fact fact)
{
    return (host->present >> fact) & 1;
}

/* The row of a fact. Borrows static memory. */
const struct roast_host_info *roast__host_info(enum roast_host_fact fact);

/* Reads all but the facts of the control group. `proc_root` NULL = "/proc".
 * UNAVAILABLE, and nothing present, where the system does not tell. */
int roast__host_read(struct roast_host *host, const char *proc_root);

/* Adds version and limits of the control group. */
void roast__host_add_cgroup(struct roast_host *host, const struct roast_cgroup *group);

/* Reads everything that can be read and appends it as keys and values. */
void roast__host_put_facts(struct roast_values *out);

/* ---- parsers ------------------------------------------------------------------ */

struct roast_process_stat {
    uint64_t parent_pid;
    uint64_t start_ticks; /* since boot */
};

/* Fields 4 and 22 of a /proc/PID/stat file. */
bool roast__process_stat_parse(struct roast_process_stat *stat, struct roast_str text);

/* The model in a cpuinfo file; on ARM, which prints none, its part numbers. Returns a
 * text in out, absent when there is neither. */
struct roast_str roast__cpu_model_parse(char *out, size_t out_bytes,
                                        struct roast_str text);

#endif
