/* SPDX-License-Identifier: BSD-3-Clause */
/* sampler.c - the thread that polls the sources of a run.
 *
 * It never needs the GIL, so user code that holds it for seconds does not stop the
 * sampling. `lock` guards the list and is never held during a poll; the lock of a slot
 * prevents two polls of one source at once. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "roast/collect.h"

static const int64_t NEVER_NS = INT64_MAX;
static const double SHORTEST_S = 0.01, LONGEST_S = 1e6;

struct slot {
    const struct roast_source *source;
    void *state; /* owned */
    pthread_mutex_t lock;
    int64_t interval_ns;
    int64_t due_ns; /* monotonic clock */
};

struct roast_sampler {
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;  /* on the monotonic clock, as due_ns is */
    bool stop;
    size_t count;
    roast_run *run; /* borrowed */
    struct slot slots[ROAST_SAMPLER_MAX_SOURCES];
};

const struct roast_source *roast_source_find(const char *name)
{
    static const struct {
        const char *name;
        const struct roast_source *source;
    } sources[] = {
#define S(name, text) {#name, &roast_##name##_source},
#include "roast/collect_sources.def"
#undef S
    };

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (strcmp(sources[i].name, name) == 0)
            return sources[i].source;
    }
    return NULL;
}

static void poll_slot(roast_sampler *sampler, struct slot *slot)
{
    (void)pthread_mutex_lock(&slot->lock);
    if (slot->source->poll(slot->state, NULL) < 0)
        roast_run_add_fact(sampler->run, ROAST_FACT_monitor_errors, 1);
    (void)pthread_mutex_unlock(&slot->lock);
}

/* The slot that is due first; NULL without any. */
static struct slot *first_due(roast_sampler *sampler)
{
    struct slot *first = NULL;

    for (size_t i = 0; i < sampler->count; i++) {
        if (!first || sampler->slots[i].due_ns < first->due_ns)
            first = &sampler->slots[i];
    }
    return first;
}

static void wait_until(roast_sampler *sampler, int64_t due_ns)
{
    const struct timespec due = {(time_t)(due_ns / 1000000000),
                                 (long)(due_ns % 1000000000)};

    if (due_ns == NEVER_NS)
        (void)pthread_cond_wait(&sampler->wake, &sampler->lock);
    else
        (void)pthread_cond_timedwait(&sampler->wake, &sampler->lock, &due);
}

static void *run_sampler(void *context)
{
    roast_sampler *sampler = context;

    (void)pthread_mutex_lock(&sampler->lock);
    while (!sampler->stop) {
        struct slot *slot = first_due(sampler);
        int64_t due_ns = slot ? slot->due_ns : NEVER_NS;
        if (!slot || due_ns > roast__clock_mono_ns()) {
            wait_until(sampler, due_ns);
            continue;
        }
        (void)pthread_mutex_unlock(&sampler->lock);
        poll_slot(sampler, slot);
        (void)pthread_mutex_lock(&sampler->lock);
        /* a late poll does not delay those after it */
        int64_t now_ns = roast__clock_mono_ns();
        slot->due_ns += slot->interval_ns;
        if (slot->due_ns <= now_ns)
            slot->due_ns = now_ns + slot->interval_ns;
    }
    (void)pthread_mutex_unlock(&sampler->lock);
    return NULL;
}

int roast_sampler_start(roast_sampler **out, roast_run *run, roast_error *err)
{
    roast_sampler *sampler = roast__alloc(sizeof(*sampler));
    pthread_condattr_t monotonic;

    if (!sampler)
        return roast_error_set(err, ROAST_NO_MEMORY, "sampler");
    sampler->run = run;
    (void)pthread_mutex_init(&sampler->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&sampler->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    if (roast__thread_start(&sampler->thread, NULL, run_sampler, sampler) != 0) {
        (void)pthread_cond_destroy(&sampler->wake);
        (void)pthread_mutex_destroy(&sampler->lock);
        roast__free(sampler);
        return roast_error_set(err, ROAST_UNAVAILABLE, "no thread to sample with");
    }
    *out = sampler;
    return ROAST_OK;
}

int roast_sampler_add(roast_sampler *sampler, const struct roast_source *source,
                      const struct roast_polling *polling, roast_error *err)
{
    double interval_s =
        polling->interval_s < LONGEST_S ? polling->interval_s : LONGEST_S;
    struct slot *slot = &sampler->slots[sampler->count]; /* only this thread adds */

    if (sampler->count == ROAST_SAMPLER_MAX_SOURCES)
        return roast_error_set(err, ROAST_LIMIT, "more than %d sources",
                               ROAST_SAMPLER_MAX_SOURCES);
    if (!(interval_s > SHORTEST_S))
        interval_s = SHORTEST_S;
    void *state = NULL;
    int status = source->open(&state, sampler->run, polling->place, err);
    if (status < 0)
        return status;
    *slot = (struct slot){
        .source = source,
        .state = state,
        .interval_ns = (int64_t)(interval_s * 1e9),
        .due_ns = roast__clock_mono_ns() + (int64_t)(polling->delay_s * 1e9),
    };
    (void)pthread_mutex_init(&slot->lock, NULL);
    (void)pthread_mutex_lock(&sampler->lock);
    sampler->count++;
    (void)pthread_cond_signal(&sampler->wake);
    (void)pthread_mutex_unlock(&sampler->lock);
    return ROAST_OK;
}

void roast_sampler_poll(roast_sampler *sampler, const struct roast_source *source)
{
    for (size_t i = 0; i < sampler->count; i++) {
        if (sampler->slots[i].source == source)
            poll_slot(sampler, &sampler->slots[i]);
    }
}

void roast_sampler_stop(roast_sampler *sampler)
{
    (void)pthread_mutex_lock(&sampler->lock);
    sampler->stop = true;
    (void)pthread_cond_signal(&sampler->wake);
    (void)pthread_mutex_unlock(&sampler->lock);
    (void)pthread_join(sampler->thread, NULL);
    for (size_t i = 0; i < sampler->count; i++) {
        struct slot *slot = &sampler->slots[i];
        poll_slot(sampler, slot);
        slot->source->close(slot->state);
        (void)pthread_mutex_destroy(&slot->lock);
    }
    (void)pthread_cond_destroy(&sampler->wake);
    (void)pthread_mutex_destroy(&sampler->lock);
    roast__free(sampler);
}
