/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.c - makes, finds and frees the state of a thread.
 *
 * A forked child keeps the state of the one thread it has. The other threads do not
 * exist there: their states are removed from the list but not freed, because a thread
 * may have been changing its memory. The lock is held during fork so that the list is
 * consistent. */
#include "probe/chunk/thread.h"

#include <pthread.h>

#include "base/mem.h"
#include "probe/chunk/fork.h"
#include "probe/chunk/process.h"

static _Thread_local struct roast_thread *current;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct roast_thread *first;

static void close_files(struct roast_thread *thread)
{
    roast__procfile_close(&thread->statm);
    roast__slow_files_close(&thread->slow_files);
}

static void unlink_thread(struct roast_thread *thread)
{
    if (thread->next)
        thread->next->prev = thread->prev;
    if (thread->prev)
        thread->prev->next = thread->next;
    else
        first = thread->next;
}

static void on_thread_exit(void *state)
{
    struct roast_thread *thread = state;
    uint32_t newest;

    bool inside = atomic_exchange(&thread->active, false);
    if (roast_attempt_active(thread) || (inside && !thread->of_attempt))
        (void)roast__chunk_leaves(&newest); /* the thread ended inside its chunk */
    (void)pthread_mutex_lock(&lock);
    unlink_thread(thread);
    (void)pthread_mutex_unlock(&lock);
    current = NULL;
    close_files(thread);
    roast__values_release(&thread->user_keys);
    roast__values_release(&thread->custom_metrics);
    roast__values_release(&thread->process_facts);
    roast__buf_release(&thread->blobs);
    roast__buf_release(&thread->frame);
    roast__attempt_release(&thread->attempt);
    roast__free(thread);
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    (void)pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    struct roast_thread *next;

    for (struct roast_thread *thread = first; thread; thread = next) {
        next = thread->next;
        close_files(thread); /* they read the parent */
        if (thread != current)
            unlink_thread(thread);
    }
    if (current) {
        current->tid = roast__thread_number();
        atomic_store(&current->active, false); /* its chunk is the parent's */
        atomic_store(&current->waits_watched, false);
        current->attempt.depth = 0;
        current->attempt.packable = false;
    }
    (void)pthread_mutex_unlock(&lock);
}

static void install(void)
{
    roast__fork_watch();
    (void)pthread_key_create(&exit_key, on_thread_exit);
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

roast_thread *roast_thread_current(void)
{
    return current;
}

roast_thread *roast_thread_get(roast_error *err)
{
    if (current)
        return current;
    (void)pthread_once(&once, install);
    struct roast_thread *thread = roast__alloc(sizeof(*thread));
    if (!thread || pthread_setspecific(exit_key, thread) != 0) {
        roast__free(thread);
        (void)roast_error_set(err, ROAST_NO_MEMORY, "state of a thread, %zu bytes",
                              sizeof(*thread));
        return NULL;
    }
    thread->tid = roast__thread_number();
    (void)pthread_mutex_lock(&lock);
    thread->next = first;
    if (first)
        first->prev = thread;
    first = thread;
    (void)pthread_mutex_unlock(&lock);
    current = thread;
    return thread;
}

void roast_thread_add_cost(roast_thread *thread, int64_t cost_ns)
{
    thread->carried_ns += cost_ns;
}

void roast__threads_visit(void (*visit)(struct roast_thread *thread, void *context),
                          void *context)
{
    (void)pthread_mutex_lock(&lock);
    for (struct roast_thread *thread = first; thread; thread = thread->next)
        visit(thread, context);
    (void)pthread_mutex_unlock(&lock);
}
