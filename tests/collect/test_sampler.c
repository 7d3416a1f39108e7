/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sampler.c - the sampler opens, polls and closes its sources; a failed poll is
 * counted; the two sources of the library fill a run. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "heap.h"
#include "roast/collect.h"
#include "support.h"

/* A source that counts its calls, and polls with this status. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t polled;
    int polls;
    int closes;
    int status;
    bool blocks_signals; /* some thread that polled */
} counts = {.lock = PTHREAD_MUTEX_INITIALIZER, .polled = PTHREAD_COND_INITIALIZER};

static int open_counter(void **state, roast_run *run, const char *place,
                        roast_error *err)
{
    if (strcmp(place, "nowhere") == 0)
        return roast_error_set(err, ROAST_IO, "%s", place);
    *state = run;
    return ROAST_OK;
}

static int poll_counter(void *state, roast_error *err)
{
    sigset_t blocked;

    (void)state;
    (void)err;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    (void)pthread_mutex_lock(&counts.lock);
    counts.polls++;
    counts.blocks_signals = counts.blocks_signals || sigismember(&blocked, SIGINT);
    int status = counts.status;
    (void)pthread_cond_broadcast(&counts.polled);
    (void)pthread_mutex_unlock(&counts.lock);
    return status;
}

static void close_counter(void *state)
{
    (void)state;
    counts.closes++;
}

static const struct roast_source counter = {open_counter, poll_counter, close_counter};
static const struct roast_polling often = {"here", 0, 0.01};
static const struct roast_polling rarely = {"here", 1e5, 1e9};

static void wait_for_polls(int count)
{
    (void)pthread_mutex_lock(&counts.lock);
    while (counts.polls < count)
        (void)pthread_cond_wait(&counts.polled, &counts.lock);
    (void)pthread_mutex_unlock(&counts.lock);
}

static int start(void **state)
{
    roast_run *run = NULL;

    counts.polls = counts.closes = counts.status = 0;
    assert_int_equal(roast_run_new(&run, 0, 0, NULL), ROAST_OK);
    *state = run;
    return 0;
}

static int end(void **state)
{
    roast_run_free(*state);
    return 0;
}

static roast_sampler *new_sampler(roast_run *run)
{
    roast_sampler *sampler = NULL;

    assert_int_equal(roast_sampler_start(&sampler, run, NULL), ROAST_OK);
    return sampler;
}

static void a_source_is_polled_until_the_end(void **state)
{
    roast_sampler *sampler = new_sampler(*state);

    assert_int_equal(roast_sampler_add(sampler, &counter, &often, NULL), ROAST_OK);
    wait_for_polls(3);
    assert_true(counts.blocks_signals);
    assert_int_equal(counts.closes, 0);
    roast_sampler_stop(sampler);
    assert_int_equal(counts.closes, 1);
}

static void a_poll_can_be_forced_and_the_end_is_one(void **state)
{
    roast_sampler *sampler = new_sampler(*state);

    assert_int_equal(roast_sampler_add(sampler, &counter, &rarely, NULL), ROAST_OK);
    roast_sampler_poll(sampler, &counter);
    roast_sampler_poll(sampler, &roast_spool_source); /* it has none */
    assert_int_equal(counts.polls, 1);
    roast_sampler_stop(sampler);
    assert_int_equal(counts.polls, 2);
}

static void failed_polls_are_monitor_errors(void **state)
{
    roast_sampler *sampler = new_sampler(*state);
    double errors = 0;

    counts.status = ROAST_IO;
    assert_int_equal(roast_sampler_add(sampler, &counter, &rarely, NULL), ROAST_OK);
    roast_sampler_poll(sampler, &counter);
    roast_sampler_stop(sampler);
    assert_true(roast_run_fact(*state, ROAST_FACT_monitor_errors, &errors));
    assert_float_equal(errors, 2, 0);
}

static void a_source_that_does_not_open_is_not_polled(void **state)
{
    const struct roast_polling nowhere = {"nowhere", 0, 0.01};
    roast_sampler *sampler = new_sampler(*state);
    roast_error err = {0};

    assert_int_equal(roast_sampler_add(sampler, &counter, &nowhere, &err), ROAST_IO);
    assert_string_equal(err.message, "nowhere");
    roast_sampler_stop(sampler);
    assert_int_equal(counts.polls + counts.closes, 0);
}

static void there_is_room_for_a_few_sources(void **state)
{
    roast_sampler *sampler = new_sampler(*state);

    for (int i = 0; i < ROAST_SAMPLER_MAX_SOURCES; i++)
        assert_int_equal(roast_sampler_add(sampler, &counter, &rarely, NULL), ROAST_OK);
    assert_int_equal(roast_sampler_add(sampler, &counter, &rarely, NULL), ROAST_LIMIT);
    roast_sampler_stop(sampler);
    assert_int_equal(counts.closes, ROAST_SAMPLER_MAX_SOURCES);
}

static void the_spool_and_the_process_fill_a_run(void **state)
{
    char dir[] = "/tmp/roast-sampler-XXXXXX";
    const struct roast_polling spool = {mkdtemp(dir), 1e5, 1e5};
    const struct roast_polling processes = {NULL, 0, 1e5};
    roast_sampler *sampler = new_sampler(*state);
    roast_error err = {0};

    assert_int_equal(roast_sampler_add(sampler, &roast_spool_source, &spool, &err),
                     ROAST_OK);
    int status = roast_sampler_add(sampler, &roast_process_source, &processes, &err);
    assert_true(status == ROAST_OK || status == ROAST_UNAVAILABLE);
    char path[64];
    (void)snprintf(path, sizeof(path), "%s/%016x.frames", dir, 7u);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("no frame", file) >= 0);
    assert_int_equal(fclose(file), 0);
    roast_sampler_stop(sampler);
    assert_true(roast_run_lost(*state, ROAST_RUN_LOSS_frames_damaged) > 0);
    assert_int_equal(access(dir, F_OK), -1); /* the spool is removed */
    double own_s = -1;
    assert_int_equal(roast_run_fact(*state, ROAST_FACT_own_cpu_seconds, &own_s),
                     status == ROAST_OK);
}

static void memory_that_runs_out_is_an_error(void **state)
{
    roast_sampler *sampler = NULL;

    test_heap_install();
    test_heap_fail(1, false);
    int status = roast_sampler_start(&sampler, *state, NULL);
    roast__heap_set(NULL);
    assert_int_equal(status, ROAST_NO_MEMORY);
    assert_null(sampler);
}

int main(void)
{
#define SAMPLED(test) cmocka_unit_test_setup_teardown(test, start, end)
    const struct CMUnitTest tests[] = {
        SAMPLED(a_source_is_polled_until_the_end),
        SAMPLED(a_poll_can_be_forced_and_the_end_is_one),
        SAMPLED(failed_polls_are_monitor_errors),
        SAMPLED(a_source_that_does_not_open_is_not_polled),
        SAMPLED(there_is_room_for_a_few_sources),
        SAMPLED(the_spool_and_the_process_fill_a_run),
        SAMPLED(memory_that_runs_out_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
