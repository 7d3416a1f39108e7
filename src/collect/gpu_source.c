/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_source.c - GPUs of this machine, and the memory that processes of the run have there,
 * into a run.
 *
 * A driver may take seconds to begin, and a broken device may never return from a call. So
 * a thread of its own calls the driver, at most once a second. A poll takes its last
 * reading and asks for the next one, and does not wait. If the answer takes too long, the
 * source is off for the rest of the run. A thread that is not back at the end is left to
 * itself, and frees all when it is. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "probe/linux/descendant.h"
#include "probe/linux/nvml.h"
#include "roast/collect.h"

enum { MOST_PROCESSES = 256, TEXT_BYTES = 256, NAME_BYTES = 32 };

static const int64_t PAUSE_NS = INT64_C(1000000000);
static const int64_t BEGIN_LIMIT_NS = INT64_C(10000000000);
static const int64_t READ_LIMIT_NS = INT64_C(2000000000);
static const int64_t CLOSE_LIMIT_NS = INT64_C(100000000);

/* What the thread reads. */
struct reading {
    int64_t time_ns;          /* realtime clock; 0: none yet */
    char failure[TEXT_BYTES]; /* why the driver does not work; "": it does */
    unsigned gpus;
    char names[ROAST_MOST_GPUS][ROAST_GPU_NAME_BYTES];
    struct roast_gpu gpu[ROAST_MOST_GPUS];
    unsigned processes; /* of the run; each once, over all GPUs */
    struct roast_gpu_process process[MOST_PROCESSES];
};

struct gpus {
    roast_run *run; /* borrowed; not for the thread, as all before `nvml` */
    pthread_t thread;
    bool has_thread;
    bool is_off;
    bool is_new;   /* the reading was asked for, and is not in the run yet */
    bool is_known; /* a reading is in the run */
    bool lost[ROAST_MOST_GPUS];
    int64_t asked_ns; /* monotonic clock; 0: never */

    struct roast_nvml *nvml; /* owned; NULL: there is no driver */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool busy; /* the reading belongs to the thread; else to a poll */
    bool stop;
    bool ended;
    bool is_alone; /* the thread frees all */
    struct reading reading;
};

static void release(struct gpus *gpus)
{
    (void)pthread_cond_destroy(&gpus->changed);
    (void)pthread_mutex_destroy(&gpus->lock);
    roast__free(gpus);
}

/* ---- the thread ------------------------------------------------------------------ */

static void begin(struct gpus *gpus)
{
    struct reading *reading = &gpus->reading;
    roast_error err = {0};

    if (roast__nvml_start(gpus->nvml, &err) < 0) {
        (void)snprintf(reading->failure, TEXT_BYTES, "%s", err.message);
        return;
    }
    reading->gpus = roast__nvml_count(gpus->nvml);
    for (unsigned i = 0; i < reading->gpus; i++)
        roast__nvml_name(gpus->nvml, i, reading->names[i]);
}

/* A process may use several GPUs. */
static void add_process(struct reading *reading,
                        const struct roast_gpu_process *process)
{
    unsigned i = 0;

    while (i < reading->processes && reading->process[i].pid != process->pid)
        i++;
    if (i < reading->processes)
        reading->process[i].memory_bytes += process->memory_bytes;
    else if (i < MOST_PROCESSES && roast__is_descendant(process->pid))
        reading->process[reading->processes++] = *process;
}

static void read_gpus(struct gpus *gpus)
{
    struct roast_gpu_process found[MOST_PROCESSES];
    struct reading *reading = &gpus->reading;
    bool sees_processes = roast__in_first_pid_namespace();

    if (reading->time_ns == 0)
        begin(gpus);
    reading->processes = 0;
    for (unsigned i = 0; i < reading->gpus; i++) {
        unsigned count = 0;
        roast__nvml_read(gpus->nvml, i, &reading->gpu[i]);
        if (sees_processes)
            count = roast__nvml_processes(gpus->nvml, i, found, MOST_PROCESSES);
        for (unsigned k = 0; k < count; k++)
            add_process(reading, &found[k]);
    }
    reading->time_ns = roast__clock_epoch_ns();
}

static void *run_thread(void *context)
{
    struct gpus *gpus = context;

    (void)pthread_mutex_lock(&gpus->lock);
    while (!gpus->stop || gpus->busy) {
        if (!gpus->busy) {
            (void)pthread_cond_wait(&gpus->changed, &gpus->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&gpus->lock);
        read_gpus(gpus);
        (void)pthread_mutex_lock(&gpus->lock);
        gpus->busy = false;
    }
    (void)pthread_mutex_unlock(&gpus->lock);
    roast__nvml_close(gpus->nvml); /* may take long, too */
    (void)pthread_mutex_lock(&gpus->lock);
    gpus->ended = true;
    bool is_alone = gpus->is_alone;
    (void)pthread_cond_signal(&gpus->changed);
    (void)pthread_mutex_unlock(&gpus->lock);
    if (is_alone)
        release(gpus);
    return NULL;
}

/* ---- into the run ---------------------------------------------------------------- */

static void set_note(struct gpus *gpus, enum roast_note_group group, const char *name,
                     const char *text)
{
    (void)roast_run_set_note(gpus->run, group, roast_str_of(name), roast_str_of(text),
                             NULL);
}

static void switch_off(struct gpus *gpus, const char *why)
{
    gpus->is_off = true;
    set_note(gpus, ROAST_NOTES_unknowable, "gpu", why);
}

/* An error of the monitor, of which the run has the first one as a text. */
static void count_error(struct gpus *gpus, const char *text)
{
    roast_run_add_fact(gpus->run, ROAST_FACT_monitor_errors, 1);
    if (roast_run_note(gpus->run, ROAST_NOTES_run, "first_error", NULL, 0) < 0)
        set_note(gpus, ROAST_NOTES_run, "first_error", text);
}

static int add_gpu(struct gpus *gpus, unsigned i, roast_error *err)
{
    const struct roast_gpu *gpu = &gpus->reading.gpu[i];
    char name[NAME_BYTES], text[TEXT_BYTES];

    (void)snprintf(name, sizeof(name), "gpu-%u", i);
    roast_sample sample = {.worker = roast_str_of(name),
                           .time_ns = gpus->reading.time_ns};
    roast_sample_set(&sample, ROAST_SERIES_gpu_utilization, gpu->utilization_percent);
    roast_sample_set(&sample, ROAST_SERIES_gpu_memory, gpu->memory_bytes);
    roast_sample_set(&sample, ROAST_SERIES_gpu_memory_limit, gpu->memory_limit_bytes);
    roast_sample_set(&sample, ROAST_SERIES_gpu_power, gpu->power_w);
    if (gpu->lost && !gpus->lost[i]) {
        (void)snprintf(text, sizeof(text), "%s: the driver has lost it", name);
        count_error(gpus, text);
        gpus->lost[i] = true;
    }
    bool any = !isnan(gpu->utilization_percent) || !isnan(gpu->memory_bytes) ||
               !isnan(gpu->power_w);
    return any ? roast_run_add_sample(gpus->run, &sample, err) : ROAST_OK;
}

static int add_reading(struct gpus *gpus, roast_error *err)
{
    const struct reading *reading = &gpus->reading;
    char name[NAME_BYTES];
    int status = ROAST_OK;

    if (reading->failure[0] != '\0')
        switch_off(gpus, reading->failure);
    for (unsigned i = 0; !gpus->is_known && i < reading->gpus; i++) {
        (void)snprintf(name, sizeof(name), "gpu.%u", i);
        if (reading->names[i][0] != '\0')
            set_note(gpus, ROAST_NOTES_provenance, name, reading->names[i]);
    }
    for (unsigned i = 0; status == ROAST_OK && i < reading->gpus; i++)
        status = add_gpu(gpus, i, err);
    for (unsigned i = 0; status == ROAST_OK && i < reading->processes; i++) {
        const struct roast_gpu_process *process = &reading->process[i];
        (void)snprintf(name, sizeof(name), "pid-%llu",
                       (unsigned long long)process->pid);
        roast_sample sample = {.worker = roast_str_of(name),
                               .time_ns = reading->time_ns};
        roast_sample_set(&sample, ROAST_SERIES_gpu_process_memory,
                         (double)process->memory_bytes);
        status = roast_run_add_sample(gpus->run, &sample, err);
    }
    gpus->is_new = false;
    gpus->is_known = true;
    return status;
}

/* The driver has been at work since asked_ns. */
static void check_time(struct gpus *gpus, int64_t now_ns)
{
    int64_t limit_ns = gpus->is_known ? READ_LIMIT_NS : BEGIN_LIMIT_NS;
    char text[TEXT_BYTES];

    if (now_ns - gpus->asked_ns <= limit_ns)
        return;
    (void)snprintf(text, sizeof(text),
                   "the NVIDIA driver did not answer for %lld s: GPUs are not sampled "
                   "any more",
                   (long long)(limit_ns / INT64_C(1000000000)));
    count_error(gpus, text);
    switch_off(gpus, text);
}

static int poll_gpus(void *state, roast_error *err)
{
    struct gpus *gpus = state;
    int64_t now_ns = roast__clock_mono_ns();
    int status = ROAST_OK;

    if (gpus->is_off)
        return ROAST_OK;
    (void)pthread_mutex_lock(&gpus->lock);
    bool busy = gpus->busy;
    (void)pthread_mutex_unlock(&gpus->lock);
    if (busy) {
        check_time(gpus, now_ns);
        return ROAST_OK;
    }
    if (gpus->is_new)
        status = add_reading(gpus, err);
    if (gpus->is_off || (gpus->asked_ns != 0 && now_ns - gpus->asked_ns < PAUSE_NS))
        return status;
    gpus->is_new = true;
    gpus->asked_ns = now_ns;
    (void)pthread_mutex_lock(&gpus->lock);
    gpus->busy = true;
    (void)pthread_cond_signal(&gpus->changed);
    (void)pthread_mutex_unlock(&gpus->lock);
    return status;
}

/* ---- the source ------------------------------------------------------------------ */

/* Ends the thread, or leaves it to itself; returns whether it has ended. */
static bool end_thread(struct gpus *gpus)
{
    int64_t until_ns = roast__clock_mono_ns() + (gpus->is_off ? 0 : CLOSE_LIMIT_NS);
    const struct timespec until = {(time_t)(until_ns / 1000000000),
                                   (long)(until_ns % 1000000000)};

    (void)pthread_mutex_lock(&gpus->lock);
    gpus->stop = true;
    (void)pthread_cond_signal(&gpus->changed);
    while (!gpus->ended &&
           pthread_cond_timedwait(&gpus->changed, &gpus->lock, &until) == 0)
        continue;
    bool ended = gpus->ended;
    gpus->is_alone = !ended;
    (void)pthread_mutex_unlock(&gpus->lock);
    if (ended)
        (void)pthread_join(gpus->thread, NULL);
    return ended;
}

static void close_gpus(void *state)
{
    struct gpus *gpus = state;
    pthread_t thread = gpus->thread;

    if (gpus->has_thread && !end_thread(gpus)) {
        (void)pthread_detach(thread);
        return;
    }
    if (gpus->is_new && !gpus->is_off)
        (void)add_reading(gpus, NULL);
    release(gpus);
}

static int open_gpus(void **state, roast_run *run, const char *place, roast_error *err)
{
    struct gpus *gpus = roast__alloc(sizeof(*gpus));
    pthread_condattr_t monotonic;
    roast_error why = {0};
    (void)place;

    if (!gpus)
        return roast_error_set(err, ROAST_NO_MEMORY, "GPU source");
    gpus->run = run;
    (void)pthread_mutex_init(&gpus->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&gpus->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    int status = roast__nvml_open(&gpus->nvml, &why);
    if (status == ROAST_NO_MEMORY) {
        release(gpus);
        return roast_error_set(err, ROAST_NO_MEMORY, "GPU source");
    }
    gpus->has_thread = status == ROAST_OK &&
                       roast__thread_start(&gpus->thread, NULL, run_thread, gpus) == 0;
    if (status < 0) {
        switch_off(gpus, why.message);
    } else if (!gpus->has_thread) {
        roast__nvml_close(gpus->nvml);
        switch_off(gpus, "no thread to read GPUs with");
    }
    *state = gpus;
    return ROAST_OK;
}

const struct roast_source roast_gpu_source = {open_gpus, poll_gpus, close_gpus};
