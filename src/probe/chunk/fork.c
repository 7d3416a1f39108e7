/* SPDX-License-Identifier: BSD-3-Clause */
/* fork.c - a counter that every forked child increments. */
#include "probe/chunk/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint generation = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void install(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

void roast__fork_watch(void)
{
    (void)pthread_once(&once, install);
}

unsigned roast__fork_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_relaxed);
}
