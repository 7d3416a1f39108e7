/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_sampler.c - one thread that samples the process's memory while chunks run, and
 * what their threads wait for.
 *
 * The kernel's high-water mark is exact but only rises, and the whole process sees a
 * reset. So this thread raises a per-chunk maximum some 18 times a second; the record has
 * "sampled" where the high-water mark does not describe the chunk. The thread blocks all
 * signals: a Ctrl-C it received would not wake the user's own thread.
 *
 * A thread that waits for the GIL is blocked in a futex inside the state of the
 * interpreter; one that sleeps, reads or waits for another lock is not. Each sample stands
 * for the time since the one before it. Threads take turns with the GIL every 5 ms: the
 * period varies, so that samples do not keep in step with them. */
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "probe/chunk/thread.h"
#include "probe/linux/thread_wait.h"
#include "probe/linux/usage.h"

enum { PERIOD_NS = 50 * 1000 * 1000, IDLE_TICKS = 20, STACK_BYTES = 128 * 1024 };
enum { STEP_NS = 1000 * 1000, STEPS = 11 }; /* the period is longer by 0 to 10 ms */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool alive;
static atomic_bool refused;           /* no thread could be started */
static _Atomic uintptr_t interpreter; /* 0: not known */
static _Atomic size_t interpreter_bytes;

struct tick {
    int64_t before_ns; /* before memory was read */
    int64_t length_ns; /* since the previous one */
    uint64_t rss_bytes;
    bool busy;
};

static void sample_wait(struct roast_thread *thread, struct tick *tick)
{
    uint64_t address = 0;

    if (!atomic_load(&thread->waits_watched))
        return;
    tick->busy = true;
    switch (roast__thread_wait_read(&address, NULL, thread->tid)) {
    case ROAST_WAIT_UNKNOWN:
        atomic_store(&thread->waits_unknown, true);
        break;
    case ROAST_WAIT_FUTEX:
        if (address - atomic_load(&interpreter) < atomic_load(&interpreter_bytes))
            atomic_fetch_add(&thread->gil_wait_ns, (uint64_t)tick->length_ns);
        break;
    case ROAST_WAIT_OTHER:
        break;
    }
}

static void sample_thread(struct roast_thread *thread, void *context)
{
    struct tick *tick = context;

    sample_wait(thread, tick);
    if (!atomic_load(&thread->active))
        return;
    tick->busy = true;
    if (atomic_load(&thread->peak_since_ns) > tick->before_ns)
        return; /* it began after the reading */
    if (atomic_load(&thread->peak_rss_bytes) < tick->rss_bytes)
        atomic_store(&thread->peak_rss_bytes, tick->rss_bytes);
}

/* False when the thread has been idle long enough and ends. A chunk that begins now
 * either reads `alive` as false and starts a new thread, or is seen here. */
static bool keep_sampling(int *idle_ticks, struct tick *tick)
{
    bool ended = false;

    *idle_ticks = tick->busy ? 0 : *idle_ticks + 1;
    if (*idle_ticks < IDLE_TICKS)
        return true;
    atomic_store(&alive, false);
    tick->length_ns = 0;
    roast__threads_visit(sample_thread, tick);
    return tick->busy && atomic_compare_exchange_strong(&alive, &ended, true);
}

static void *sample(void *unused)
{
    struct roast_procfile statm = {0};
    int idle_ticks = 0, step = 0;
    struct tick tick = {.before_ns = roast__clock_mono_ns()};

    do {
        step = (step + 7) % STEPS;
        const struct timespec period = {0, PERIOD_NS + step * STEP_NS};
        (void)nanosleep(&period, NULL);
        tick.busy = false;
        int64_t now_ns = roast__clock_mono_ns();
        tick.length_ns = now_ns - tick.before_ns;
        tick.before_ns = now_ns;
        if (!roast__rss_read(&statm, &tick.rss_bytes))
            tick.rss_bytes = 0;
        roast__threads_visit(sample_thread, &tick);
    } while (keep_sampling(&idle_ticks, &tick));
    roast__procfile_close(&statm);
    return unused;
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
    atomic_store(&alive, false); /* threads do not survive fork */
    atomic_store(&refused, false);
    (void)pthread_mutex_unlock(&lock);
}

static void install(void)
{
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

/* A small stack is enough, unless the program's thread-local storage takes more. */
static bool start_thread(void)
{
    pthread_attr_t attr;
    pthread_t thread;

    if (pthread_attr_init(&attr) != 0)
        return false;
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bool started = pthread_attr_setstacksize(&attr, STACK_BYTES) == 0 &&
                   roast__thread_start(&thread, &attr, sample, NULL) == 0;
    if (!started)
        started = roast__thread_start(&thread, NULL, sample, NULL) == 0 &&
                  pthread_detach(thread) == 0;
    (void)pthread_attr_destroy(&attr);
    return started;
}

bool roast__memory_sampler_start(void)
{
    if (atomic_load(&alive))
        return true;
    if (atomic_load(&refused))
        return false;
    (void)pthread_once(&once, install);
    (void)pthread_mutex_lock(&lock);
    if (!atomic_load(&alive))
        atomic_store(&alive, start_thread());
    bool runs = atomic_load(&alive);
    atomic_store(&refused, !runs);
    (void)pthread_mutex_unlock(&lock);
    return runs;
}

/* ---- the GIL --------------------------------------------------------------------- */

void roast_interpreter_set(const void *state, size_t size_bytes)
{
    atomic_store(&interpreter, (uintptr_t)state);
    atomic_store(&interpreter_bytes, size_bytes);
}

void roast__gil_watch(struct roast_thread *thread)
{
    atomic_store(&thread->gil_wait_ns, 0);
    atomic_store(&thread->waits_unknown, false);
    atomic_store(&thread->waits_watched, atomic_load(&interpreter_bytes) > 0 &&
                                             ROAST_PROCFS &&
                                             roast__memory_sampler_start());
}

void roast__gil_watched(struct roast_thread *thread)
{
    if (atomic_exchange(&thread->waits_watched, false) &&
        !atomic_load(&thread->waits_unknown))
        roast_ladder_set(&thread->attempt.ladder.sums, ROAST_ITEM_gil_wait,
                         atomic_load(&thread->gil_wait_ns));
}
