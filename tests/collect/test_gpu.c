/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gpu.c - GPUs, with a library in place of that of a driver (tests/stubs/nvml.c).
 *
 * The loader reads LD_LIBRARY_PATH when a program begins, so this program starts itself
 * once for each of the libraries. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyze/metric_checks.h"
#include "heap.h"
#include "probe/linux/descendant.h"
#include "roast/collect.h"

enum { MOST_WAITS = 20000 }; /* of 1 ms */

static const double MIB = 1024 * 1024;
static const struct roast_polling rarely = {NULL, 1e5, 1e9};

static char control[64]; /* the file with words for the library */
static roast_run *run;
static roast_sampler *sampler;

static void set_words(const char *words)
{
    FILE *file = fopen(control, "w");

    assert_non_null(file);
    assert_true(fputs(words, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int start(void **state)
{
    (void)state;
    set_words("");
    assert_int_equal(roast_run_new(&run, 0, 0, NULL), ROAST_OK);
    assert_int_equal(roast_sampler_start(&sampler, run, NULL), ROAST_OK);
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

static void add_source(void)
{
    assert_int_equal(roast_sampler_add(sampler, &roast_gpu_source, &rarely, NULL),
                     ROAST_OK);
}

/* ---- what is in the run ---------------------------------------------------------- */

static size_t samples_of(const char *name, enum roast_series series, double *last)
{
    struct roast_tracking tracking;
    size_t count = 0;

    *last = -1;
    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    for (size_t i = 0; i < tracking.count; i++) {
        const struct roast_timeline *line = &tracking.lines[i];
        if (!line->worker || line->series != series || strcmp(line->worker, name) != 0)
            continue;
        count = line->count;
        *last = line->points[count - 1].value;
    }
    roast_tracking_release(&tracking);
    return count;
}

static double last_of(const char *name, enum roast_series series)
{
    double last;

    (void)samples_of(name, series, &last);
    return last;
}

static const char *note(enum roast_note_group group, const char *name)
{
    static char text[256];

    return roast_run_note(run, group, name, text, sizeof(text)) < 0 ? "" : text;
}

static double errors(void)
{
    double value = 0;

    (void)roast_run_fact(run, ROAST_FACT_monitor_errors, &value);
    return value;
}

/* Polls until there are so many samples of the first GPU, or the source is off. */
static void wait_for(size_t samples)
{
    const struct timespec pause = {0, 1000000};
    double last;

    for (int i = 0; i < MOST_WAITS; i++) {
        roast_sampler_poll(sampler, &roast_gpu_source);
        if (samples_of("gpu-0", ROAST_SERIES_gpu_memory, &last) >= samples ||
            *note(ROAST_NOTES_unknowable, "gpu"))
            return;
        (void)nanosleep(&pause, NULL);
    }
    fail_msg("no %zu samples", samples);
}

/* ---- a whole library ------------------------------------------------------------- */

static void devices_are_sampled(void **state)
{
    char own[32];
    (void)state;

    add_source();
    wait_for(1);
    assert_true(last_of("gpu-0", ROAST_SERIES_gpu_utilization) == 40);
    assert_true(last_of("gpu-1", ROAST_SERIES_gpu_utilization) == 60);
    assert_true(last_of("gpu-0", ROAST_SERIES_gpu_memory) == 1024 * MIB);
    assert_true(last_of("gpu-1", ROAST_SERIES_gpu_memory) == 2048 * MIB);
    assert_true(last_of("gpu-1", ROAST_SERIES_gpu_memory_limit) == 16384 * MIB);
    assert_true(last_of("gpu-0", ROAST_SERIES_gpu_power) == 100);
    assert_true(last_of("gpu-1", ROAST_SERIES_gpu_power) == 150);
    (void)snprintf(own, sizeof(own), "pid-%ld", (long)getpid());
    double memory = last_of(own, ROAST_SERIES_gpu_process_memory);
    assert_true(memory == (roast__in_first_pid_namespace() ? 384 * MIB : -1));
    assert_true(last_of("pid-1", ROAST_SERIES_gpu_process_memory) == -1);
    assert_string_equal(note(ROAST_NOTES_provenance, "gpu.0"), "Stub 0");
    assert_string_equal(note(ROAST_NOTES_provenance, "gpu.1"), "Stub 1");
    assert_string_equal(note(ROAST_NOTES_unknowable, "gpu"), "");
    assert_true(errors() == 0);
}

static void metrics_are_made_of_them(void **state)
{
    roast_summary *summary = NULL;
    (void)state;

    add_source();
    wait_for(2);
    stop_sampler();
    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    assert_metric(summary, num_gpus, 2);
    assert_metric(summary, gpu_utilization_avg_percent, 50);
    assert_metric(summary, gpu_utilization_max_percent, 60);
    assert_metric(summary, gpu_memory_peak_bytes, 2048 * MIB);
    assert_metric(summary, gpu_memory_utilization_max_percent, 12.5);
    assert_metric(summary, gpu_power_avg_watts, 250);
    assert_metric(summary, gpu_power_peak_watts, 250);
    if (roast__in_first_pid_namespace())
        assert_metric(summary, gpu_process_memory_peak_bytes, 384 * MIB);
    else
        assert_non_null(strstr(assert_absent(summary, gpu_process_memory_peak_bytes),
                               "containers"));
    assert_absent(summary, peak_memory_bytes); /* a GPU is no worker */
    roast_summary_free(summary);
}

static void a_short_run_has_a_sample(void **state)
{
    (void)state;
    add_source();
    stop_sampler(); /* polls once, and takes what that asked for */
    assert_true(last_of("gpu-0", ROAST_SERIES_gpu_memory) == 1024 * MIB);
}

static void a_device_that_is_lost_is_counted_once(void **state)
{
    double last;
    (void)state;

    add_source();
    wait_for(1);
    set_words("lost");
    wait_for(3);
    assert_int_equal(samples_of("gpu-1", ROAST_SERIES_gpu_memory, &last), 1);
    assert_true(errors() == 1);
    assert_string_equal(note(ROAST_NOTES_run, "first_error"),
                        "gpu-1: the driver has lost it");
}

static void what_a_device_does_not_report_is_absent(void **state)
{
    roast_summary *summary = NULL;
    (void)state;

    set_words("unsupported");
    add_source();
    wait_for(1);
    stop_sampler();
    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    assert_metric(summary, num_gpus, 2);
    assert_metric(summary, gpu_memory_peak_bytes, 2048 * MIB);
    assert_string_equal(assert_absent(summary, gpu_power_avg_watts),
                        "no GPU reports its power");
    assert_string_equal(assert_absent(summary, gpu_utilization_avg_percent),
                        "no GPU reports its utilization");
    roast_summary_free(summary);
    assert_true(errors() == 0);
}

static void a_driver_that_does_not_work_is_a_reason(void **state)
{
    static const char *const whys[][2] = {
        {"init", "the NVIDIA driver does not work: error 9, Driver Not Loaded"},
        {"empty", "the NVIDIA driver has no GPU"},
    };

    for (size_t i = 0; i < COUNT_OF(whys); i++) {
        roast_summary *summary = NULL;
        set_words(whys[i][0]);
        add_source();
        wait_for(1);
        assert_string_equal(note(ROAST_NOTES_unknowable, "gpu"), whys[i][1]);
        assert_true(errors() == 0);
        assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
        assert_string_equal(assert_absent(summary, num_gpus), whys[i][1]);
        roast_summary_free(summary);
        (void)end(state);
        (void)start(state);
    }
}

static int threads(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    int count = 0;

    assert_non_null(status);
    while (fgets(line, sizeof(line), status))
        (void)sscanf(line, "Threads: %d", &count);
    (void)fclose(status);
    return count;
}

/* The run ends while the driver is still away. */
static void a_call_that_does_not_return_switches_it_off(void **state)
{
    const struct timespec pause = {0, 1000000};
    int before = threads();
    double last;
    (void)state;

    add_source();
    wait_for(1);
    set_words("hang");
    wait_for(3);
    assert_string_equal(
        note(ROAST_NOTES_unknowable, "gpu"),
        "the NVIDIA driver did not answer for 2 s: GPUs are not sampled "
        "any more");
    assert_string_equal(note(ROAST_NOTES_run, "first_error"),
                        note(ROAST_NOTES_unknowable, "gpu"));
    assert_true(errors() == 1);
    stop_sampler();
    size_t kept = samples_of("gpu-0", ROAST_SERIES_gpu_memory, &last);
    set_words(""); /* the thread comes back, and frees what is its own */
    for (int i = 0; threads() >= before && i < MOST_WAITS; i++)
        (void)nanosleep(&pause, NULL);
    assert_true(threads() < before); /* with the sampler's */
    assert_int_equal(samples_of("gpu-0", ROAST_SERIES_gpu_memory, &last), kept);
}

static void memory_that_runs_out_is_an_error(void **state)
{
    void *source_state = NULL;
    int status = ROAST_NO_MEMORY;
    (void)state;

    for (size_t at = 1; status == ROAST_NO_MEMORY; at++) {
        test_heap_install();
        test_heap_fail(at, false);
        status = roast_gpu_source.open(&source_state, run, NULL, NULL);
        test_heap_fail(0, false);
        roast__heap_set(NULL);
    }
    assert_int_equal(status, ROAST_OK);
    roast_gpu_source.close(source_state);
}

/* ---- other libraries ------------------------------------------------------------- */

static void functions_that_are_missing_leave_values_out(void **state)
{
    char own[32];
    (void)state;

    add_source();
    wait_for(1);
    assert_true(last_of("gpu-1", ROAST_SERIES_gpu_utilization) == 60);
    assert_true(last_of("gpu-1", ROAST_SERIES_gpu_power) == -1);
    (void)snprintf(own, sizeof(own), "pid-%ld", (long)getpid());
    if (roast__in_first_pid_namespace())
        assert_true(last_of(own, ROAST_SERIES_gpu_process_memory) == 384 * MIB);
}

static void a_library_without_its_core_is_a_reason(void **state)
{
    (void)state;
    add_source();
    assert_string_equal(note(ROAST_NOTES_unknowable, "gpu"),
                        "the NVIDIA driver has no nvmlInit_v2");
    assert_true(errors() == 0);
}

static void no_library_is_a_reason(void **state)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    (void)state;

    if (library) { /* of a real driver */
        (void)dlclose(library);
        skip();
    }
    add_source();
    roast_sampler_poll(sampler, &roast_gpu_source);
    const char *why = note(ROAST_NOTES_unknowable, "gpu");
    assert_memory_equal(why, "no NVIDIA driver here: ", 23);
    assert_non_null(strstr(why, "libnvidia-ml.so.1"));
}

/* ---- all ------------------------------------------------------------------------- */

/* Runs the tests of a library in a new process. */
static void of_library(void **state)
{
    const char *kind = *state;
    pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        char folder[1024];
        (void)snprintf(folder, sizeof(folder), ROAST_STUBS "/%s", kind);
        (void)setenv("LD_LIBRARY_PATH", folder, 1);
        (void)execl("/proc/self/exe", "test_gpu", kind, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define GPU(test) cmocka_unit_test_setup_teardown(test, start, end)
#define LIBRARY(kind) \
    { \
        .name = (kind), .test_func = of_library, .initial_state = (kind) \
    }

static int run_kind(const char *kind)
{
    const struct CMUnitTest whole[] = {
        GPU(devices_are_sampled),
        GPU(metrics_are_made_of_them),
        GPU(a_short_run_has_a_sample),
        GPU(a_device_that_is_lost_is_counted_once),
        GPU(what_a_device_does_not_report_is_absent),
        GPU(a_driver_that_does_not_work_is_a_reason),
        GPU(memory_that_runs_out_is_an_error),
        GPU(a_call_that_does_not_return_switches_it_off), /* leaves its thread */
    };
    const struct CMUnitTest old[] = {GPU(functions_that_are_missing_leave_values_out)};
    const struct CMUnitTest bare[] = {GPU(a_library_without_its_core_is_a_reason)};
    const struct CMUnitTest all[] = {
        LIBRARY("whole"),
        LIBRARY("old"),
        LIBRARY("bare"),
        GPU(no_library_is_a_reason),
    };

    if (strcmp(kind, "whole") == 0)
        return cmocka_run_group_tests(whole, NULL, NULL);
    if (strcmp(kind, "old") == 0)
        return cmocka_run_group_tests(old, NULL, NULL);
    if (strcmp(kind, "bare") == 0)
        return cmocka_run_group_tests(bare, NULL, NULL);
    return cmocka_run_group_tests(all, NULL, NULL);
}

int main(int argc, char **argv)
{
    (void)snprintf(control, sizeof(control), "/tmp/roast-gpu-XXXXXX");
    int file = mkstemp(control);

    if (file < 0 || setenv("NVML_STUB", control, 1) != 0)
        return 1;
    (void)close(file);
    int failed = run_kind(argc > 1 ? argv[1] : "");
    (void)unlink(control);
    return failed;
}
