/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h - threads of the library inside a program of the user. */
#ifndef ROAST_BASE_THREAD_H
#define ROAST_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create(). The new thread blocks all signals, so that threads of the program
 * get them. */
static inline int roast__thread_start(pthread_t *thread, const pthread_attr_t *attr,
                                      void *(*run)(void *), void *context)
{
    sigset_t all, previous;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &previous);
    int failed = pthread_create(thread, attr, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return failed;
}

#endif
