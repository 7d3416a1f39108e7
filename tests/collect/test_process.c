/* SPDX-License-Identifier: BSD-3-Clause */
/* test_process.c - what processes of this machine move to storage counts once, although
 * the kernel adds what a child has moved to the counters of its parent. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "roast/analyze.h"
#include "roast/collect.h"
#include "support.h"

enum { MOST_POLLS = 16, PATH_BYTES = 256 };

static roast_run *run;
static roast_sampler *sampler;

static void start(const char *place)
{
    const struct roast_polling rarely = {place, 1e5, 1e9};
    roast_error err = {0};

    assert_int_equal(roast_run_new(&run, 0, 0, NULL), ROAST_OK);
    assert_int_equal(roast_sampler_start(&sampler, run, NULL), ROAST_OK);
    if (roast_sampler_add(sampler, &roast_process_source, &rarely, &err) < 0)
        fail_msg("%s", err.message);
}

static void poll_once(void)
{
    roast_sampler_poll(sampler, &roast_process_source);
}

static int end(void **state)
{
    (void)state;
    if (sampler)
        roast_sampler_stop(sampler);
    sampler = NULL;
    roast_run_free(run);
    run = NULL;
    return 0;
}

/* The bytes of all rates of a series together: rate x time since the poll before. All
 * processes of a poll have one time, and the first one is in all polls. */
static double bytes_of(enum roast_series series)
{
    struct roast_tracking tracking;
    int64_t times_ns[MOST_POLLS] = {0};
    size_t polls = 0;
    double bytes = 0;

    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    for (size_t i = 0; i < tracking.count; i++) {
        const struct roast_timeline *line = &tracking.lines[i];
        if (!line->worker || line->series != ROAST_SERIES_memory ||
            line->count <= polls)
            continue;
        polls = line->count;
        assert_true(polls <= MOST_POLLS);
        for (size_t k = 0; k < polls; k++)
            times_ns[k] = line->points[k].time_ns;
    }
    for (size_t i = 0; i < tracking.count; i++) {
        const struct roast_timeline *line = &tracking.lines[i];
        for (size_t k = 0; line->worker && line->series == series && k < line->count;
             k++) {
            size_t at = 1;
            while (at < polls && times_ns[at] != line->points[k].time_ns)
                at++;
            assert_true(at < polls);
            bytes +=
                line->points[k].value * (double)(times_ns[at] - times_ns[at - 1]) / 1e9;
        }
    }
    roast_tracking_release(&tracking);
    return bytes;
}

/* ---- a procfs of files ------------------------------------------------------------ */

static char root[] = "/tmp/roast-process-XXXXXX";

__attribute__((format(printf, 2, 3))) static void write_text(const char *name,
                                                             const char *format, ...)
{
    char path[PATH_BYTES];
    va_list args;

    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    va_start(args, format);
    assert_true(vfprintf(file, format, args) >= 0);
    va_end(args);
    assert_int_equal(fclose(file), 0);
}

/* A process that has read so many bytes and has one child; 0: none. */
static void put_process(int pid, int parent, unsigned long read_bytes, int child)
{
    char name[PATH_BYTES], children[16] = "";

    for (int depth = 0; depth < 3; depth++) {
        static const char *const folders[] = {"%s/%d", "%s/%d/task", "%s/%d/task/%d"};
        (void)snprintf(name, sizeof(name), folders[depth], root, pid, pid);
        (void)mkdir(name, 0700);
    }
    (void)snprintf(name, sizeof(name), "%d/stat", pid);
    write_text(name, "%d (p) S %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 9 0\n", pid,
               parent, pid);
    (void)snprintf(name, sizeof(name), "%d/io", pid);
    write_text(name, "rchar: 0\nwchar: 0\nread_bytes: %lu\nwrite_bytes: 0\n",
               read_bytes);
    (void)snprintf(name, sizeof(name), "%d/task/%d/children", pid, pid);
    if (child > 0)
        (void)snprintf(children, sizeof(children), "%d ", child);
    write_text(name, "%s", children);
}

static void remove_process(int pid)
{
    char command[PATH_BYTES];

    (void)snprintf(command, sizeof(command), "rm -rf '%s/%d'", root, pid);
    assert_int_equal(system(command), 0);
}

static int start_files(void **state)
{
    char path[PATH_BYTES];
    (void)state;

    (void)snprintf(root, sizeof(root), "/tmp/roast-process-XXXXXX");
    assert_non_null(mkdtemp(root));
    (void)snprintf(path, sizeof(path), "%s/self", root);
    assert_int_equal(symlink("100", path), 0);
    put_process(100, 1, 0, 101);
    put_process(101, 100, 0, 102);
    put_process(102, 101, 0, 0);
    start(root);
    poll_once();
    put_process(102, 101, 5000, 0);
    poll_once();
    return 0;
}

static int end_files(void **state)
{
    char command[PATH_BYTES];

    (void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
    return end(state);
}

/* Times are kept in microseconds, and there are few between two polls. */
static const double times_are_exact_to = 0.1;

static void check_read(double bytes)
{
    poll_once(); /* some more: nothing is left that would count later */
    poll_once();
    assert_true(fabs(bytes_of(ROAST_SERIES_disk_read) - bytes) <
                times_are_exact_to * bytes);
}

/* Of the 7000 bytes of the inner process the last 2000 were in no sample of it. */
static void a_child_that_was_waited_for_counts_once(void **state)
{
    (void)state;
    remove_process(102);
    put_process(101, 100, 7000 + 300, 0);
    check_read(7300);
}

static void a_child_and_its_child_that_end_together_count_once(void **state)
{
    (void)state;
    remove_process(102);
    remove_process(101);
    put_process(100, 1, 7000 + 20, 0);
    check_read(7020);
}

/* Its parent was read before it was waited for. */
static void a_child_that_ends_between_two_readings_counts_once(void **state)
{
    (void)state;
    remove_process(102);
    put_process(101, 100, 40, 0);
    poll_once();
    put_process(101, 100, 7000 + 40, 0);
    check_read(7040);
}

/* Nothing is taken off what the parent reads later. */
static void a_child_that_nothing_waits_for_changes_nothing(void **state)
{
    (void)state;
    remove_process(102);
    poll_once();
    poll_once();
    put_process(101, 100, 8000, 0);
    check_read(13000);
}

/* ---- real processes --------------------------------------------------------------- */

enum { BLOCK_BYTES = 1 << 20, BLOCKS = 4 };

static bool write_file(const char *path)
{
    static char block[BLOCK_BYTES];
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool done = fd >= 0;

    for (int i = 0; done && i < BLOCKS; i++)
        done = write(fd, block, sizeof(block)) == (ssize_t)sizeof(block);
    done = done && fsync(fd) == 0;
    if (fd >= 0)
        (void)close(fd);
    return done;
}

static void a_real_child_counts_once(void **state)
{
    char path[PATH_BYTES];
    int begin[2], done[2], go_on[2];
    char byte = 0;
    (void)state;

    (void)snprintf(path, sizeof(path), "roast-process-%d.bytes", (int)getpid());
    assert_int_equal(pipe(begin) + pipe(done) + pipe(go_on), 0);
    start(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        (void)!read(begin[0], &byte, 1);
        byte = write_file(path) ? 1 : 0;
        (void)!write(done[1], &byte, 1);
        (void)!read(go_on[0], &byte, 1);
        _exit(0);
    }
    poll_once();
    assert_int_equal(write(begin[1], &byte, 1), 1);
    assert_int_equal(read(done[0], &byte, 1), 1);
    (void)unlink(path);
    assert_int_equal(byte, 1);
    poll_once();
    double alive = bytes_of(ROAST_SERIES_disk_write);
    assert_int_equal(write(go_on[1], &byte, 1), 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    poll_once();
    poll_once();
    if (alive == 0) /* the folder is in memory */
        skip();
    double written = BLOCKS * BLOCK_BYTES;
    assert_true(fabs(alive - written) < times_are_exact_to * written);
    assert_true(fabs(bytes_of(ROAST_SERIES_disk_write) - written) <
                times_are_exact_to * written);
}

int main(void)
{
#define ON_FILES(test) cmocka_unit_test_setup_teardown(test, start_files, end_files)
    const struct CMUnitTest tests[] = {
        ON_FILES(a_child_that_was_waited_for_counts_once),
        ON_FILES(a_child_and_its_child_that_end_together_count_once),
        ON_FILES(a_child_that_ends_between_two_readings_counts_once),
        ON_FILES(a_child_that_nothing_waits_for_changes_nothing),
        cmocka_unit_test_teardown(a_real_child_counts_once, end),
    };

    return cmocka_run_group_tests_name("collect/process", tests, NULL, NULL);
}
