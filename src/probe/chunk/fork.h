/* SPDX-License-Identifier: BSD-3-Clause */
/* fork.h - detects that this process is a forked copy.
 *
 * In a child a descriptor of /proc/self from before the fork still reads the parent,
 * the sampler thread does not exist, and the process id must not be reused. A counter
 * that pthread_atfork increments in the child detects this. */
#ifndef ROAST_PROBE_CHUNK_FORK_H
#define ROAST_PROBE_CHUNK_FORK_H

/* Installs the fork handlers once; called before the first generation is kept. */
void roast__fork_watch(void);

/* 1 in the first process, one more in each forked child. One relaxed load. */
unsigned roast__fork_generation(void);

#endif
