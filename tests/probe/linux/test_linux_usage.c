/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_usage.c - memory against mapped pages, byte counters against bytes moved,
 * the scheduler's counters against the clocks of this thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "probe/linux/usage.h"
#include "probe/linux_help.h"
#include "roast/error.h"

/* ---- memory ------------------------------------------------------------------- */

static void memory_is_the_pages_of_a_fixture(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/typical"};
    uint64_t rss_bytes = 0;
    (void)state;

    assert_true(roast__rss_read(&file, &rss_bytes));
    assert_int_equal(rss_bytes, UINT64_C(118842) * (uint64_t)sysconf(_SC_PAGESIZE));
    roast__procfile_close(&file);
}

static void memory_is_absent_without_a_readable_file(void **state)
{
    struct roast_procfile garbage = {.root = ROAST_FIXTURES "/proc/garbage"};
    struct roast_procfile missing = {.root = ROAST_FIXTURES "/proc/no such folder"};
    uint64_t rss_bytes;
    (void)state;

    assert_false(roast__rss_read(&garbage, &rss_bytes));
    assert_false(roast__rss_read(&missing, &rss_bytes));
    roast__procfile_close(&garbage);
    roast__procfile_close(&missing);
}

/* True when the file sees mapping and unmapping; it may be open since before a fork. */
static bool follows_mapped_memory(void *context)
{
    struct roast_procfile *file = context;
    uint64_t before = 0;
    uint64_t mapped = 0;
    uint64_t after = 0;

    bool read = roast__rss_read(file, &before);
    void *memory = map_resident();
    read = read && memory && roast__rss_read(file, &mapped);
    unmap_resident(memory);
    read = read && roast__rss_read(file, &after);
    return read && is_mapped_growth(before, mapped) && is_mapped_growth(after, mapped);
}

static void follows_memory_that_grows_and_shrinks(void **state)
{
    struct roast_procfile file = {0};
    (void)state;

    assert_true(follows_mapped_memory(&file));
    roast__procfile_close(&file);
}

static void a_forked_child_sees_its_own_memory(void **state)
{
    struct roast_procfile file = {0};
    uint64_t rss_bytes;
    (void)state;

    assert_true(roast__rss_read(&file, &rss_bytes));
    assert_true(holds_in_child(follows_mapped_memory, &file));
    roast__procfile_close(&file);
}

/* In a child, whose mark starts near its own memory. */
static bool peak_is_kept_after_the_memory_is_freed(void *context)
{
    uint64_t before = 0;
    uint64_t after = 0;
    (void)context;

    bool read = roast__peak_reset() == ROAST_OK && roast__peak_read(&before);
    void *memory = map_resident();
    unmap_resident(memory);
    read = read && memory && roast__peak_read(&after);
    return read && is_mapped_growth(before, after);
}

static bool reset_forgets_the_peak(void *context)
{
    uint64_t high = 0;
    uint64_t low = 0;

    return peak_is_kept_after_the_memory_is_freed(context) && roast__peak_read(&high) &&
           roast__peak_reset() == ROAST_OK && roast__peak_read(&low) &&
           is_mapped_growth(low, high);
}

static void the_peak_is_exact_and_can_be_reset(void **state)
{
    (void)state;

    if (roast__peak_reset() != ROAST_OK)
        skip(); /* a read-only /proc */
    assert_true(holds_in_child(peak_is_kept_after_the_memory_is_freed, NULL));
    assert_true(holds_in_child(reset_forgets_the_peak, NULL));
}

/* ---- I/O ---------------------------------------------------------------------- */

enum { BLOCK_BYTES = 4096, BLOCKS = 256, MOVED_BYTES = BLOCK_BYTES * BLOCKS };

static void io_is_read_from_a_fixture(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/typical"};
    struct roast_procio io;
    (void)state;

    assert_true(roast__procio_read(&file, &io));
    assert_int_equal(io.rchar_bytes, 323934931);
    assert_int_equal(io.wchar_bytes, 323929600);
    assert_int_equal(io.read_bytes, 40960);
    assert_int_equal(io.write_bytes, 323932160);
    roast__procfile_close(&file);
}

static void io_is_absent_without_a_readable_file(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/garbage"};
    struct roast_procio io;
    (void)state;

    assert_false(roast__procio_read(&file, &io));
    roast__procfile_close(&file);
}

/* One block of tolerance, for our own reading and for bytes that valgrind moves between
 * its threads. */
static void io_counts_the_bytes_that_were_moved(void **state)
{
    char block[BLOCK_BYTES] = "";
    struct roast_procfile file = {0};
    struct roast_procio before;
    struct roast_procio after;
    FILE *data = tmpfile();
    (void)state;

    assert_non_null(data);
    if (!roast__procio_read(&file, &before))
        skip(); /* a kernel without these counters */
    for (int i = 0; i < BLOCKS; i++) {
        assert_int_equal(pwrite(fileno(data), block, BLOCK_BYTES, 0), BLOCK_BYTES);
        assert_int_equal(pread(fileno(data), block, BLOCK_BYTES, 0), BLOCK_BYTES);
    }
    assert_true(roast__procio_read(&file, &after));
    assert_int_equal(fclose(data), 0);
    roast__procfile_close(&file);

    assert_true(after.has_rchar && after.has_wchar);
    assert_in_range(after.rchar_bytes - before.rchar_bytes, MOVED_BYTES,
                    MOVED_BYTES + BLOCK_BYTES);
    assert_in_range(after.wchar_bytes - before.wchar_bytes, MOVED_BYTES,
                    MOVED_BYTES + BLOCK_BYTES);
}

static void io_of_children_is_that_of_no_thread(void **state)
{
    struct roast_procio io;
    (void)state;

    assert_true(roast__procio_reaped_read(&io, ROAST_FIXTURES "/proc/typical"));
    assert_int_equal(io.rchar_bytes, 323934931 - 1931);
    assert_int_equal(io.wchar_bytes, 323929600 - 600);
    assert_int_equal(io.read_bytes, 0); /* threads were read later */
    assert_int_equal(io.write_bytes, 323932160 - 160);
    assert_false(roast__procio_reaped_read(&io, ROAST_FIXTURES "/proc/garbage"));
}

/* Its child has ended before it, so that both have been waited for. */
static bool write_in_child_and_grandchild(void *context)
{
    char block[BLOCK_BYTES] = {0};
    FILE *file = fopen("/dev/null", "w");

    if (context && !holds_in_child(write_in_child_and_grandchild, NULL))
        return false;
    for (int i = 0; file && i < BLOCKS; i++) {
        if (write(fileno(file), block, sizeof(block)) != BLOCK_BYTES)
            return false;
    }
    return file && fclose(file) == 0;
}

static void children_that_were_waited_for_count(void **state)
{
    struct roast_procio before, after;
    (void)state;

    if (!roast__procio_reaped_read(&before, NULL))
        skip();
    assert_true(holds_in_child(write_in_child_and_grandchild, &before));
    assert_true(roast__procio_reaped_read(&after, NULL));
    assert_in_range(after.wchar_bytes - before.wchar_bytes, 2 * MOVED_BYTES,
                    2 * MOVED_BYTES + BLOCK_BYTES);
}

/* ---- run queue ---------------------------------------------------------------- */

enum { SPIN_NS = 200 * 1000 * 1000 };

static void spin_until(int64_t (*clock)(void), int64_t until_ns)
{
    while (clock() < until_ns) {
    }
}

static struct roast_sched read_now(struct roast_procfile *file)
{
    struct roast_sched sched = {0, 0, 0};

    switch_out();
    if (!roast__sched_read(file, &sched))
        skip(); /* a kernel without these counters */
    return sched;
}

static void run_queue_is_read_from_a_fixture(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/typical"};
    struct roast_sched sched;
    (void)state;

    assert_true(roast__sched_read(&file, &sched));
    assert_int_equal(sched.on_cpu_ns, 8123456789);
    assert_int_equal(sched.runqueue_ns, 12345678);
    assert_int_equal(sched.slices, 4321);
    roast__procfile_close(&file);
}

static void run_queue_is_absent_where_the_kernel_does_not_count(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/garbage"};
    struct roast_sched sched;
    (void)state;

    assert_false(roast__sched_read(&file, &sched));
    roast__procfile_close(&file);
}

static void time_on_cpu_agrees_with_the_thread_clock(void **state)
{
    struct roast_procfile file = {0};
    (void)state;

    struct roast_sched before = read_now(&file);
    int64_t start_ns = roast__clock_thread_ns();
    spin_until(roast__clock_thread_ns, start_ns + SPIN_NS);
    int64_t clock_ns = roast__clock_thread_ns() - start_ns;
    struct roast_sched after = read_now(&file);

    int64_t on_cpu_ns = (int64_t)(after.on_cpu_ns - before.on_cpu_ns);
    /* the kernel updates these counters once per tick, at most 10 ms */
    assert_in_range(on_cpu_ns, clock_ns - clock_ns / 10, clock_ns + clock_ns / 10);
    assert_true(after.slices > before.slices);
    roast__procfile_close(&file);
}

/* A process that never sleeps, on the core the caller is pinned to. */
static pid_t start_rival(void)
{
    pid_t rival = fork();

    if (rival == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        spin_until(roast__clock_mono_ns, INT64_MAX);
    }
    assert_true(rival > 0);
    return rival;
}

static void stop_rival(pid_t rival)
{
    (void)kill(rival, SIGKILL);
    (void)waitpid(rival, NULL, 0);
}

/* With a rival on the same core a thread that never sleeps runs or waits for the
 * core. */
static void waiting_for_a_core_is_the_time_not_spent_on_it(void **state)
{
    struct roast_procfile file = {0};
    struct roast_sched before = read_now(&file); /* skips before there is a rival */
    struct roast_sched after = before;
    (void)state;

    if (!pin_to_this_cpu())
        skip();
    pid_t rival = start_rival();
    /* the clocks are read around the counters */
    int64_t start_ns = roast__clock_mono_ns();
    int64_t start_cpu_ns = roast__clock_thread_ns();
    bool read = roast__sched_read(&file, &before);
    spin_until(roast__clock_mono_ns, start_ns + SPIN_NS);
    read = read && roast__sched_read(&file, &after);
    int64_t cpu_ns = roast__clock_thread_ns() - start_cpu_ns;
    int64_t wall_ns = roast__clock_mono_ns() - start_ns;
    stop_rival(rival);
    roast__procfile_close(&file);

    assert_true(read);
    int64_t waited_ns = (int64_t)(after.runqueue_ns - before.runqueue_ns);
    assert_in_range(waited_ns, wall_ns / 10, wall_ns - cpu_ns + wall_ns / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_pages_of_a_fixture),
        cmocka_unit_test(memory_is_absent_without_a_readable_file),
        cmocka_unit_test(follows_memory_that_grows_and_shrinks),
        cmocka_unit_test(a_forked_child_sees_its_own_memory),
        cmocka_unit_test(the_peak_is_exact_and_can_be_reset),
        cmocka_unit_test(io_is_read_from_a_fixture),
        cmocka_unit_test(io_is_absent_without_a_readable_file),
        cmocka_unit_test(io_counts_the_bytes_that_were_moved),
        cmocka_unit_test(io_of_children_is_that_of_no_thread),
        cmocka_unit_test(children_that_were_waited_for_count),
        cmocka_unit_test(run_queue_is_read_from_a_fixture),
        cmocka_unit_test(run_queue_is_absent_where_the_kernel_does_not_count),
        cmocka_unit_test(time_on_cpu_agrees_with_the_thread_clock),
        cmocka_unit_test(waiting_for_a_core_is_the_time_not_spent_on_it), /* pins */
    };
    return cmocka_run_group_tests_name("probe/linux_usage", tests, NULL, NULL);
}
