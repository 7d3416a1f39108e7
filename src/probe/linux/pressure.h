/* SPDX-License-Identifier: BSD-3-Clause */
/* pressure.h - how long tasks waited for a core, memory or I/O (PSI).
 *
 * The kernel counts the time in which at least one task waited: of a control group of
 * version 2, else of the whole machine. */
#ifndef ROAST_PROBE_LINUX_PRESSURE_H
#define ROAST_PROBE_LINUX_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/linux/cgroup.h"

enum roast_pressure_kind {
    ROAST_PRESSURE_CPU,
    ROAST_PRESSURE_MEMORY,
    ROAST_PRESSURE_IO,
    ROAST_PRESSURE_COUNT
};

struct roast_pressure {
    struct roast_procfile file;
    const char *name;
};

/* Chooses the file, which borrows the group and the root until it is closed. proc_root
 * NULL is "/proc". */
void roast__pressure_find(struct roast_pressure *pressure,
                          enum roast_pressure_kind kind,
                          const struct roast_cgroup *group, const char *proc_root);

/* False where the kernel does not count it. */
bool roast__pressure_read(struct roast_pressure *pressure, uint64_t *waited_ns);

bool roast__pressure_parse(uint64_t *waited_ns, struct roast_str text);

#endif
