/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c - the thread that looks at this machine while a run goes on.
 *
 * Joins what libroast keeps apart: the process tree (probe) and the spool (ingest) write
 * into the run (store). It holds no Python object and never wants the GIL, so a user's
 * code that holds it for seconds does not stop the sampling. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "roast/collect.h"
#include "roast/cpu_meter.h"
#include "roast/process_tree.h"
#include "state.h"

struct watch {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;      /* guarded by lock */
    unsigned users; /* calls of watch_sync() that go on; guarded by lock */
    pthread_mutex_t spool_lock;
    int64_t interval_ns;
    int64_t round_ns; /* realtime clock of the round of samples that goes on */
    roast_run *run;
    roast_process_tree *tree; /* NULL: this system does not tell */
    roast_cpu_meter *meter;   /* NULL with it */
    roast_spool *spool;       /* NULL: no other process is expected */
};

enum { SECOND_NS = 1000000000 };

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static int64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* One moment for the whole tree, so that its processes can be added up. The memory of
 * one that has ended says nothing about a worker; its CPU was used all the same. */
static void take_use(void *context, const struct roast_process_use *seen)
{
    struct watch *watch = context;
    struct roast_process_use use = *seen;

    use.time_ns = watch->round_ns;
    if ((!use.ended && roast_run_add_use(watch->run, &use, NULL) < 0) ||
        roast_cpu_meter_use(watch->meter, &use, NULL) < 0)
        roast_run_add_fact(watch->run, ROAST_FACT_monitor_errors, 1);
}

static int take_frames(void *context, struct roast_str frames)
{
    struct watch *watch = context;

    return roast_run_add_frames(watch->run, frames, ROAST_FROM_WORKERS, NULL, NULL);
}

static void sample(struct watch *watch)
{
    const struct roast_use_sink sink = {take_use, watch};
    double own_s = 0;
    double children_s = 0;

    if (!watch->tree)
        return;
    watch->round_ns = clock_ns(CLOCK_REALTIME);
    roast_cpu_meter_round(watch->meter);
    if (roast_process_tree_sample(watch->tree, &sink, NULL) < 0) {
        roast_run_add_fact(watch->run, ROAST_FACT_monitor_errors, 1);
        return;
    }
    roast_cpu_meter_read(watch->meter, &own_s, &children_s);
    roast_run_set_fact(watch->run, ROAST_FACT_own_cpu_seconds, own_s);
    roast_run_set_fact(watch->run, ROAST_FACT_children_cpu_seconds, children_s);
}

static void read_spool(struct watch *watch)
{
    const struct roast_frames_sink sink = {take_frames, watch};

    (void)pthread_mutex_lock(&watch->spool_lock);
    if (watch->spool && roast_spool_read(watch->spool, &sink, NULL) < 0)
        roast_run_add_fact(watch->run, ROAST_FACT_monitor_errors, 1);
    (void)pthread_mutex_unlock(&watch->spool_lock);
}

/* Waits until then or until somebody stops the watch; true when it goes on. */
static bool wait_until(struct watch *watch, int64_t due_ns)
{
    const struct timespec due = {(time_t)(due_ns / SECOND_NS),
                                 (long)(due_ns % SECOND_NS)};
    int status = 0;
    bool stop;

    (void)pthread_mutex_lock(&watch->lock);
    while (!watch->stop && status == 0)
        status = pthread_cond_timedwait(&watch->wake, &watch->lock, &due);
    stop = watch->stop;
    (void)pthread_mutex_unlock(&watch->lock);
    return !stop;
}

/* Moments keep their distance: a late one does not shift those after it. */
static int64_t next_due(int64_t due_ns, int64_t interval_ns)
{
    int64_t now = now_ns();

    due_ns += interval_ns;
    return due_ns > now ? due_ns : now + interval_ns;
}

static void *go(void *context)
{
    struct watch *watch = context;
    int64_t sample_due = now_ns();
    int64_t spool_due = sample_due + SECOND_NS;

    do {
        if (now_ns() >= sample_due) {
            sample(watch);
            sample_due = next_due(sample_due, watch->interval_ns);
        }
        if (now_ns() >= spool_due) {
            read_spool(watch);
            spool_due = next_due(spool_due, SECOND_NS);
        }
    } while (wait_until(watch, sample_due < spool_due ? sample_due : spool_due));
    return NULL;
}

static void watch_free(struct watch *watch)
{
    roast_process_tree_free(watch->tree);
    roast_cpu_meter_free(watch->meter);
    if (watch->spool)
        roast_spool_close(watch->spool, true);
    (void)pthread_cond_destroy(&watch->wake);
    (void)pthread_mutex_destroy(&watch->lock);
    (void)pthread_mutex_destroy(&watch->spool_lock);
    free(watch);
}

static int open_tree(struct watch *watch, roast_error *err)
{
    int status = roast_cpu_meter_new(&watch->meter, err);

    if (status == ROAST_OK)
        status = roast_process_tree_new(&watch->tree, NULL, 0, err);
    return status == ROAST_UNAVAILABLE ? ROAST_OK : status; /* no /proc: no samples */
}

/* The clock of the condition must be the one the moments are in. */
static void init_lock(struct watch *watch)
{
    pthread_condattr_t monotonic;

    (void)pthread_mutex_init(&watch->lock, NULL);
    (void)pthread_mutex_init(&watch->spool_lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watch->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

static int64_t interval_ns(double interval_s)
{
    const double shortest_s = 0.01, longest_s = 1e6;

    if (!(interval_s > 0))
        return SECOND_NS; /* nothing is sampled */
    if (interval_s < shortest_s)
        interval_s = shortest_s;
    return (int64_t)((interval_s < longest_s ? interval_s : longest_s) * 1e9);
}

int watch_start(struct run_object *self, double interval_s)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    roast_error err = {0};

    if (!watch) {
        PyErr_NoMemory();
        return -1;
    }
    init_lock(watch);
    watch->run = self->run;
    watch->interval_ns = interval_ns(interval_s);
    if (interval_s > 0 && open_tree(watch, &err) < 0)
        raise_error(self->state, &err);
    else if (pthread_create(&watch->thread, NULL, go, watch) != 0)
        PyErr_SetString(self->state->roast_error, "no thread to sample with");
    else
        self->watch = watch;
    if (!self->watch)
        watch_free(watch);
    return self->watch ? 0 : -1;
}

int watch_read_from(struct run_object *self, const char *dir)
{
    struct watch *watch = self->watch;
    roast_spool *spool = NULL;
    roast_error err = {0};

    if (!watch || watch->spool) {
        PyErr_SetString(self->state->roast_error, "nobody watches, or a spool is read");
        return -1;
    }
    if (roast_spool_open(&spool, dir, &err) < 0) {
        raise_error(self->state, &err);
        return -1;
    }
    (void)pthread_mutex_lock(&watch->spool_lock);
    watch->spool = spool;
    (void)pthread_mutex_unlock(&watch->spool_lock);
    return 0;
}

/* A forked child has neither the thread nor a lock it could trust. */
static bool is_forked(const struct run_object *self)
{
    return self->pid != (long)getpid();
}

/* Whoever stops the watch meanwhile waits until nobody uses it. */
static void count_user(struct watch *watch, bool comes)
{
    (void)pthread_mutex_lock(&watch->lock);
    watch->users += comes ? 1 : UINT_MAX; /* minus one */
    (void)pthread_cond_broadcast(&watch->wake);
    (void)pthread_mutex_unlock(&watch->lock);
}

void watch_sync(struct run_object *self)
{
    struct watch *watch = self->watch;

    if (!watch || is_forked(self))
        return;
    count_user(watch, true);
    Py_BEGIN_ALLOW_THREADS;
    read_spool(watch);
    count_user(watch, false);
    Py_END_ALLOW_THREADS;
}

static void end_thread(struct watch *watch)
{
    (void)pthread_mutex_lock(&watch->lock);
    watch->stop = true;
    (void)pthread_cond_broadcast(&watch->wake);
    while (watch->users > 0)
        (void)pthread_cond_wait(&watch->wake, &watch->lock);
    (void)pthread_mutex_unlock(&watch->lock);
    (void)pthread_join(watch->thread, NULL);
}

/* What was cut, or could not be read, and will not be any more. */
static void count_losses(struct watch *watch)
{
    if (!watch->spool)
        return;
    struct roast_spool_state state = roast_spool_state(watch->spool);
    roast_run_lose(watch->run, ROAST_RUN_LOSS_spool_unreadable, state.unreadable);
    roast_run_lose(watch->run, ROAST_RUN_LOSS_frames_damaged, state.waiting_files);
}

void watch_stop(struct run_object *self)
{
    struct watch *watch = self->watch;

    self->watch = NULL;
    if (!watch || is_forked(self))
        return;
    Py_BEGIN_ALLOW_THREADS;
    end_thread(watch);
    read_spool(watch);
    count_losses(watch);
    sample(watch);
    watch_free(watch);
    Py_END_ALLOW_THREADS;
}
