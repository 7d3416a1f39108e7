/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_peak.c - memory of a chunk against memory the test maps itself: its
 * growth, its peak (exact or sampled), and the life cycle of the sampler.
 *
 * Pages are mapped and made resident by the kernel, so that no sanitizer adds any.
 * Where a sample is needed, the memory is held until the sampler has been seen. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "forks.h"
#include "probe/attempt_help.h"
#include "probe/chunk/thread.h"
#include "probe/linux/usage.h"

enum { MIB = 1024 * 1024 };

static void *map_resident(size_t size_bytes)
{
    long at = syscall(SYS_mmap, NULL, size_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0L);

    return at == -1 ? NULL : (void *)at;
}

static void unmap_resident(void *memory, size_t size_bytes)
{
    (void)syscall(SYS_munmap, memory, size_bytes);
}

static void nap(void)
{
    const struct timespec moment = {0, 5 * 1000 * 1000};
    (void)nanosleep(&moment, NULL);
}

/* A chunk that reads the kernel's mark in spite of the budget. */
static roast_thread *begin_reading(bool exact_peak)
{
    const struct roast_chunk_options options = {.exact_peak = exact_peak};
    roast_thread *thread = roast_thread_get(NULL);

    assert_non_null(thread);
    thread->pace = (struct roast_pace){0};
    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    return thread;
}

/* Waits until the sampler has recorded this much; false after half a minute. */
static bool is_sampled(roast_thread *thread, uint64_t rss_bytes)
{
    for (int i = 0; i < 6000 && atomic_load(&thread->peak_rss_bytes) < rss_bytes; i++)
        nap();
    return atomic_load(&thread->peak_rss_bytes) >= rss_bytes;
}

static void assert_within_5_percent(uint64_t value, uint64_t expected)
{
    if (value < expected / 100 * 95 || value > expected / 100 * 105)
        fail_msg("%llu is not %llu", (unsigned long long)value,
                 (unsigned long long)expected);
}

static void assert_peak(const roast_record *rec, uint64_t bytes,
                        enum roast_peak_kind kind)
{
    const union roast_field_value *values = rec->values;

    assert_true(roast_record_has(rec, ROAST_FIELD_rss_peak_bytes));
    assert_int_equal(values[ROAST_FIELD_rss_peak_kind].u64, kind);
    assert_within_5_percent(values[ROAST_FIELD_rss_peak_bytes].u64 -
                                values[ROAST_FIELD_rss_before_bytes].u64,
                            bytes);
}

/* The inherited mark may be higher than what is mapped here. */
static void skip_unless_mark_will_move(roast_thread *thread, uint64_t growth_bytes)
{
    uint64_t mark_bytes, rss_bytes;

    assert_true(roast__peak_read(&mark_bytes));
    assert_true(roast_rss_now(thread, &rss_bytes));
    if (mark_bytes + 8 * MIB > rss_bytes + growth_bytes)
        skip();
}

/* ---- peaks ------------------------------------------------------------------- */

static void a_peak_that_moves_the_mark_is_exact_however_short(void **state)
{
    enum { BYTES = 256 * MIB };
    (void)state;

    skip_unless_mark_will_move(roast_thread_get(NULL), BYTES);
    roast_thread *thread = begin_reading(false);
    void *memory = map_resident(BYTES);
    assert_non_null(memory);
    unmap_resident(memory, BYTES);
    roast_record rec = end_chunk(thread);
    assert_peak(&rec, BYTES, ROAST_PEAK_EXACT);
}

static void a_peak_below_the_mark_is_sampled(void **state)
{
    enum { BYTES = 128 * MIB };
    void *memory = map_resident(2 * BYTES);
    (void)state;

    assert_non_null(memory); /* moves the mark before the chunk */
    unmap_resident(memory, 2 * BYTES);
    nap(); /* a sample in progress does not belong to the chunk */
    roast_thread *thread = begin_reading(false);
    uint64_t before_bytes = thread->before.rss_bytes;
    memory = map_resident(BYTES);
    assert_non_null(memory);
    assert_true(is_sampled(thread, before_bytes + BYTES / 100 * 95));
    unmap_resident(memory, BYTES);
    roast_record rec = end_chunk(thread);
    assert_peak(&rec, BYTES, ROAST_PEAK_SAMPLED);
}

static void a_peak_below_the_mark_is_exact_after_a_reset(void **state)
{
    enum { BYTES = 128 * MIB };
    void *memory = map_resident(2 * BYTES);
    (void)state;

    assert_non_null(memory);
    unmap_resident(memory, 2 * BYTES);
    if (roast__peak_reset() != ROAST_OK)
        skip();
    skip_unless_mark_will_move(roast_thread_get(NULL), BYTES);
    roast_thread *thread = begin_reading(true);
    memory = map_resident(BYTES);
    assert_non_null(memory);
    unmap_resident(memory, BYTES); /* no sample is required */
    roast_record rec = end_chunk(thread);
    assert_peak(&rec, BYTES, ROAST_PEAK_EXACT);
}

static void a_chunk_that_needs_nothing_is_exact_after_a_reset(void **state)
{
    (void)state;

    if (roast__peak_reset() != ROAST_OK)
        skip();
    skip_unless_mark_will_move(roast_thread_get(NULL), 9 * MIB);
    roast_record rec = end_chunk(begin_reading(true));
    uint64_t peak_bytes = rec.values[ROAST_FIELD_rss_peak_bytes].u64;
    uint64_t before_bytes = rec.values[ROAST_FIELD_rss_before_bytes].u64;
    assert_int_equal(rec.values[ROAST_FIELD_rss_peak_kind].u64, ROAST_PEAK_EXACT);
    assert_in_range(peak_bytes, before_bytes, before_bytes + 8 * MIB);
}

static void *run_chunk_elsewhere(void *unused)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    const struct roast_chunk_end ok = {.status = ROAST_CHUNK_OK};
    roast_thread *thread = roast_thread_get(NULL);
    struct roast_str frame;

    if (!thread)
        return unused;
    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    roast_chunk_stop(thread);
    (void)roast_chunk_finish(thread, &ok, &frame, NULL);
    return unused;
}

static void a_peak_beside_another_chunk_is_never_called_exact(void **state)
{
    enum { BYTES = 512 * MIB };
    roast_thread *thread = begin_reading(false);
    uint64_t before_bytes = thread->before.rss_bytes;
    void *memory = map_resident(BYTES); /* moves the mark, for an unknown chunk */
    pthread_t other;
    (void)state;

    assert_non_null(memory);
    assert_int_equal(pthread_create(&other, NULL, run_chunk_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_true(is_sampled(thread, before_bytes + BYTES / 100 * 95));
    unmap_resident(memory, BYTES);
    roast_record rec = end_chunk(thread);
    assert_int_equal(rec.values[ROAST_FIELD_concurrency].u64, 2);
    assert_peak(&rec, BYTES, ROAST_PEAK_SAMPLED);
}

/* ---- growth ------------------------------------------------------------------ */

static void growth_is_in_the_chunk_and_in_its_memory_section(void **state)
{
    enum { BYTES = 256 * MIB };
    struct roast_section section;
    (void)state;

    roast_thread *thread = begin_reading(false);
    struct roast_section_token token =
        roast_section_begin(thread, roast_str_of("load"), ROAST_SECTION_MEMORY);
    void *memory = map_resident(BYTES);
    roast_section_end(thread, token, 0);
    assert_non_null(memory);
    roast_record rec = end_chunk(thread);
    unmap_resident(memory, BYTES);
    assert_within_5_percent(rec.values[ROAST_FIELD_rss_after_bytes].u64 -
                                rec.values[ROAST_FIELD_rss_before_bytes].u64,
                            BYTES);
    assert_int_equal(
        roast_sections_read(&section, 1, rec.values[ROAST_FIELD_sections].str, NULL),
        1);
    assert_int_equal(section.kinds, ROAST_SECTION_MEMORY | ROAST_SECTION_PEAK);
    assert_true(section.memory_peak_bytes >= section.memory_end_bytes);
    assert_within_5_percent((uint64_t)section.memory_delta_bytes, BYTES);
    assert_int_equal(section.memory_end_bytes - section.memory_start_bytes,
                     section.memory_delta_bytes);
}

static void passes_of_a_memory_section_add_up_and_may_shrink(void **state)
{
    enum { BYTES = 64 * MIB };
    struct roast_section section;
    roast_thread *thread = begin_reading(false);
    void *memory[3] = {map_resident(BYTES), NULL, NULL};
    (void)state;

    for (int i = 0; i < 3; i++) { /* shrinks, grows, grows */
        struct roast_section_token token =
            roast_section_begin(thread, roast_str_of("load"), ROAST_SECTION_MEMORY);
        if (i == 0)
            unmap_resident(memory[0], BYTES);
        else
            memory[i] = map_resident(BYTES);
        roast_section_end(thread, token, 0);
    }
    roast_record rec = end_chunk(thread);
    unmap_resident(memory[1], BYTES);
    unmap_resident(memory[2], BYTES);
    assert_int_equal(
        roast_sections_read(&section, 1, rec.values[ROAST_FIELD_sections].str, NULL),
        1);
    assert_int_equal(section.count, 3);
    assert_within_5_percent((uint64_t)section.memory_delta_bytes, BYTES);
    assert_within_5_percent(section.memory_end_bytes - section.memory_start_bytes,
                            BYTES);
}

/* ---- the sampler ------------------------------------------------------------- */

/* The number of threads of the process; *free_for_signals gets how many besides the
 * first could receive SIGINT. */
static int count_tasks(int *free_for_signals)
{
    DIR *dir = opendir("/proc/self/task");
    int count = 0;

    *free_for_signals = 0;
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        unsigned long long blocked = ~0ULL;
        char path[300], line[300];
        if (entry->d_name[0] == '.')
            continue;
        count++;
        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
        FILE *in = fopen(path, "r");
        while (in && fgets(line, sizeof(line), in))
            (void)sscanf(line, "SigBlk: %llx", &blocked);
        if (in)
            (void)fclose(in);
        *free_for_signals +=
            atoi(entry->d_name) != getpid() && (blocked >> (SIGINT - 1) & 1) == 0;
    }
    (void)closedir(dir);
    return count;
}

static int tasks_at_start;

static void *end_at_once(void *unused)
{
    return unused;
}

/* ThreadSanitizer adds a thread of its own to the first one that is made, and one that
 * was joined may be listed a moment longer: so the count must be stable. */
static int count_at_start(void **state)
{
    pthread_t thread;
    int unused;
    (void)state;

    if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
        (void)pthread_join(thread, NULL);
    for (int same = 0; same < 20; same++) {
        nap();
        int count = count_tasks(&unused);
        same = count == tasks_at_start ? same : 0;
        tasks_at_start = count;
    }
    return 0;
}

static void the_sampler_takes_no_signal_from_the_users_threads(void **state)
{
    roast_thread *thread = begin_reading(false);
    int free_for_signals;
    (void)state;

    assert_true(is_sampled(thread, 1)); /* it runs */
    assert_true(count_tasks(&free_for_signals) > tasks_at_start);
    assert_int_equal(free_for_signals, 0);
    (void)end_chunk(thread);
}

static void the_sampler_goes_when_idle_and_comes_back(void **state)
{
    int unused;
    (void)state;

    for (int i = 0; i < 6000 && count_tasks(&unused) > tasks_at_start; i++)
        nap();
    assert_int_equal(count_tasks(&unused), tasks_at_start);
    roast_thread *thread = begin_reading(false);
    assert_true(is_sampled(thread, 1));
    (void)end_chunk(thread);
}

static void a_forked_child_has_a_sampler_of_its_own(void **state)
{
    roast_thread *thread = begin_reading(false);
    int status = -1;
    (void)state;

    assert_true(is_sampled(thread, 1)); /* the parent's runs while it forks */
    pid_t pid = fork();
    if (pid == 0) {
        const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
        roast_chunk_begin(thread, &options);
        _exit(is_sampled(thread, 1) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    (void)end_chunk(thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peak_that_moves_the_mark_is_exact_however_short),
        cmocka_unit_test(a_peak_below_the_mark_is_sampled),
        cmocka_unit_test(a_peak_below_the_mark_is_exact_after_a_reset),
        cmocka_unit_test(a_chunk_that_needs_nothing_is_exact_after_a_reset),
        cmocka_unit_test(a_peak_beside_another_chunk_is_never_called_exact),
        cmocka_unit_test(growth_is_in_the_chunk_and_in_its_memory_section),
        cmocka_unit_test(passes_of_a_memory_section_add_up_and_may_shrink),
        cmocka_unit_test(the_sampler_takes_no_signal_from_the_users_threads),
        cmocka_unit_test(the_sampler_goes_when_idle_and_comes_back),
        cmocka_unit_test(a_forked_child_has_a_sampler_of_its_own),
    };
    return cmocka_run_group_tests_name("probe/linux_peak", tests, count_at_start, NULL);
}
