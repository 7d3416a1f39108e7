/* SPDX-License-Identifier: BSD-3-Clause */
/* fork.h - detects that this process is a forked copy.
 *
 * A descriptor to /proc/self that was opened before a fork goes on reading the parent,
 * a sampler thread does not exist in the child, and a process id must not be shared.
 * One counter, raised in the child by pthread_atfork, shows all of that. */
#ifndef ROAST_PROBE_CHUNK_FORK_H
#define ROAST_PROBE_CHUNK_FORK_H

/* Installs the fork handlers once; called before the first generation is kept. */
void roast__fork_watch(void);

/* 1 in the first process, one more in each forked child. One relaxed load. */
unsigned roast__fork_generation(void);

#endif
