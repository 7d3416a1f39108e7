/* SPDX-License-Identifier: BSD-3-Clause */
/* descendant.h - whether a process of this machine belongs to this one. */
#ifndef ROAST_PROBE_LINUX_DESCENDANT_H
#define ROAST_PROBE_LINUX_DESCENDANT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether processes have the numbers here that the kernel and its drivers have: not in most
 * containers. False when not known. */
bool roast__in_first_pid_namespace(void);

/* Whether it is this process or a descendant, by the parents in /proc. */
bool roast__is_descendant(uint64_t pid);

#endif
