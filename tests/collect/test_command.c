/* SPDX-License-Identifier: BSD-3-Clause */
/* test_command.c - the sources of a command: what a child and its child use, alive and
 * after their end, and the counters of the host. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"
#include "roast/analyze.h"
#include "roast/collect.h"
#include "support.h"

enum { BLOCK_BYTES = 4096, BLOCKS = 256, WRITTEN_BYTES = BLOCK_BYTES * BLOCKS };

static const struct roast_polling rarely = {NULL, 1e5, 1e9};

static roast_run *run;
static roast_sampler *sampler;

static int start(void **state)
{
    roast_error err = {0};
    (void)state;

    assert_int_equal(roast_run_new(&run, 0, 0, NULL), ROAST_OK);
    assert_int_equal(roast_sampler_start(&sampler, run, NULL), ROAST_OK);
    if (roast_sampler_add(sampler, &roast_command_source, &rarely, &err) < 0)
        fail_msg("%s", err.message);
    return 0;
}

static void stop_sampler(void)
{
    if (sampler)
        roast_sampler_stop(sampler);
    sampler = NULL;
}

static int end(void **state)
{
    (void)state;
    stop_sampler();
    roast_run_free(run);
    return 0;
}

static double fact(enum roast_fact which)
{
    double value = -1;

    (void)roast_run_fact(run, which, &value);
    return value;
}

static double children_seconds(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void write_and_spin(void)
{
    static char block[BLOCK_BYTES];
    int null = open("/dev/null", O_WRONLY);

    for (int i = 0; i < BLOCKS; i++)
        (void)!write(null, block, sizeof(block));
    while (clock() < CLOCKS_PER_SEC / 20)
        continue;
}

/* A child and a grandchild, which both write, spin and end at once. */
static void run_short_processes(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        pid_t inner = fork();
        write_and_spin();
        if (inner > 0)
            (void)waitpid(inner, NULL, 0);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void processes_that_no_sample_saw_count(void **state)
{
    double before_s = children_seconds();
    (void)state;

    run_short_processes();
    roast_sampler_poll(sampler, &roast_command_source);
    assert_float_equal((float)fact(ROAST_FACT_children_cpu_seconds),
                       (float)(children_seconds() - before_s), 1e-5f);
    assert_true(fact(ROAST_FACT_command_written_bytes) >= 2 * WRITTEN_BYTES);
    assert_true(fact(ROAST_FACT_command_written_bytes) < 2 * WRITTEN_BYTES + 1e4);
    assert_true(fact(ROAST_FACT_command_read_bytes) >= 0);
    assert_true(fact(ROAST_FACT_command_processes) == 0);
    assert_true(fact(ROAST_FACT_command_running) == 0);
    double system_s = fact(ROAST_FACT_command_system_seconds);
    assert_true(system_s >= 0 &&
                system_s <= fact(ROAST_FACT_children_cpu_seconds) + 1e-5);
}

/* The last value of a series of the command; -1: none. */
static double last_value(enum roast_series series)
{
    struct roast_tracking tracking;
    double value = -1;

    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    for (size_t i = 0; i < tracking.count; i++) {
        const struct roast_timeline *line = &tracking.lines[i];
        if (!line->worker || line->series != series)
            continue;
        assert_string_equal(line->worker, "command");
        value = line->points[line->count - 1].value;
    }
    roast_tracking_release(&tracking);
    return value;
}

static void living_processes_are_one_worker(void **state)
{
    int begun[2], go_on[2];
    char byte = 0;
    (void)state;

    assert_int_equal(pipe(begun) + pipe(go_on), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(go_on[1]);
        write_and_spin();
        (void)!write(begun[1], "x", 1);
        (void)!read(go_on[0], &byte, 1);
        _exit(0);
    }
    assert_int_equal(read(begun[0], &byte, 1), 1);
    roast_sampler_poll(sampler, &roast_command_source);
    assert_true(last_value(ROAST_SERIES_processes) == 1);
    assert_true(last_value(ROAST_SERIES_threads) == 1);
    assert_true(last_value(ROAST_SERIES_memory) > 0);
    assert_true(last_value(ROAST_SERIES_cpu_seconds) >= 0.05);
    assert_true(last_value(ROAST_SERIES_cores) >= 1);
    double pss = last_value(ROAST_SERIES_pss);
    if (pss >= 0) /* a kernel before 4.14 has none */
        assert_true(last_value(ROAST_SERIES_uss) <= pss);
    assert_true(fact(ROAST_FACT_command_running) == 1);
    assert_true(fact(ROAST_FACT_command_written_bytes) >= WRITTEN_BYTES);
    double alive_s = fact(ROAST_FACT_children_cpu_seconds);
    assert_int_equal(write(go_on[1], "x", 1), 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    stop_sampler(); /* a second poll may come too soon, but not the last one */
    assert_true(fact(ROAST_FACT_children_cpu_seconds) >= alive_s);
    assert_true(fact(ROAST_FACT_command_written_bytes) < WRITTEN_BYTES + 1e4);
    assert_true(fact(ROAST_FACT_command_processes) == 1);
    assert_true(fact(ROAST_FACT_command_running) == 0);
    for (int i = 0; i < 2; i++)
        (void)(close(begun[i]) + close(go_on[i]));
}

static void counters_of_the_host_begin_at_zero(void **state)
{
    static const enum roast_fact facts[] = {
        ROAST_FACT_cgroup_cpu_seconds,
        ROAST_FACT_throttled_seconds,
        ROAST_FACT_oom_kills,
        ROAST_FACT_cpu_pressure_seconds,
        ROAST_FACT_memory_pressure_seconds,
        ROAST_FACT_io_pressure_seconds,
        ROAST_FACT_network_received_bytes,
        ROAST_FACT_network_sent_bytes,
    };
    (void)state;

    assert_int_equal(roast_sampler_add(sampler, &roast_host_source, &rarely, NULL),
                     ROAST_OK);
    roast_sampler_poll(sampler, &roast_host_source);
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        double value = fact(facts[i]); /* -1: not counted here */
        assert_true(value == -1 || (value >= 0 && value < 1e9));
    }
}

static void memory_that_runs_out_is_an_error(void **state)
{
    static const struct roast_source *const sources[] = {&roast_command_source,
                                                         &roast_host_source};
    void *source_state = NULL;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        int status = ROAST_NO_MEMORY;
        for (size_t at = 1; status == ROAST_NO_MEMORY; at++) {
            test_heap_install();
            test_heap_fail(at, false);
            status = sources[i]->open(&source_state, run, NULL, NULL);
            roast__heap_set(NULL);
        }
        assert_int_equal(status, ROAST_OK);
        sources[i]->close(source_state);
    }
}

int main(void)
{
#define COMMAND(test) cmocka_unit_test_setup_teardown(test, start, end)
    const struct CMUnitTest tests[] = {
        COMMAND(processes_that_no_sample_saw_count),
        COMMAND(living_processes_are_one_worker),
        COMMAND(counters_of_the_host_begin_at_zero),
        COMMAND(memory_that_runs_out_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
