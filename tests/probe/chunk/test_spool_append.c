/* SPDX-License-Identifier: BSD-3-Clause */
/* test_spool_append.c - frames that a worker appends to its file in the collector's
 * folder: all of them or none, from many threads and forked children, whatever happens
 * to the folder, the disk and the descriptor. Failures in a child are returned as its
 * exit status, because cmocka cannot fail there. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "forks.h"
#include "roast/probe.h"
#include "support.h"

enum { FRAME_BYTES = 64, FILE_BYTES = 1 << 20 };

/* ---- a folder, a frame, a file ----------------------------------------------- */

struct folder {
    char path[64];
};

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof(*folder));

    assert_non_null(folder);
    (void)snprintf(folder->path, sizeof(folder->path), "/tmp/roast-test-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    *state = folder;
    return 0;
}

static void path_in(char out[200], const char *dir, uint64_t process_id)
{
    (void)snprintf(out, 200, "%s/%016" PRIx64 ".frames", dir, process_id);
}

/* Fails if anything but the file of this process is in the folder. */
static int remove_folder(void **state)
{
    struct folder *folder = *state;
    char path[200];

    path_in(path, folder->path, roast_process_id());
    (void)unlink(path);
    int status = rmdir(folder->path);
    free(folder);
    return status;
}

/* A frame with a number. */
struct frame {
    unsigned char bytes[FRAME_BYTES];
    size_t size_bytes;
};

static struct frame frame_of(uint64_t number)
{
    roast_record rec = {.kind = ROAST_FRAME_END};
    struct frame frame;

    roast_record_set_u64(&rec, ROAST_FIELD_num_events, number);
    frame.size_bytes =
        (size_t)roast_record_encode(frame.bytes, sizeof(frame.bytes), &rec, NULL);
    return frame;
}

static int append(const char *dir, uint64_t number)
{
    struct frame frame = frame_of(number);
    return roast_spool_append(dir, str_from(frame.bytes, frame.size_bytes), NULL);
}

/* The numbers in the file of a process, in their order. */
struct content {
    size_t count;
    bool whole; /* there is a file, and nothing but frames in it */
    uint64_t numbers[4096];
};

static void read_content(struct content *content, const char *dir, uint64_t process_id)
{
    static char bytes[FILE_BYTES];
    char path[200];
    size_t used;

    path_in(path, dir, process_id);
    int fd = open(path, O_RDONLY);
    ssize_t size = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : -1;
    if (fd >= 0)
        (void)close(fd);
    content->count = 0;
    content->whole = size >= 0;
    for (ssize_t at = 0; at < size; at += (ssize_t)used) {
        roast_record rec;
        struct roast_str left = {bytes + at, (size_t)(size - at)};
        if (content->count == COUNT_OF(content->numbers) ||
            roast_record_decode(&rec, &used, left, NULL) < 0) {
            content->whole = false;
            break;
        }
        content->numbers[content->count++] = rec.values[ROAST_FIELD_num_events].u64;
    }
}

/* Whether the file of this process holds the numbers first, first + 1 ... */
static bool holds(const char *dir, uint64_t first, size_t count)
{
    static struct content content;

    read_content(&content, dir, roast_process_id());
    if (!content.whole || content.count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (content.numbers[i] != first + i)
            return false;
    }
    return true;
}

/* ---- appending --------------------------------------------------------------- */

static void frames_follow_one_another_in_a_file_of_the_process(void **state)
{
    const struct folder *folder = *state;
    struct frame frames[2] = {frame_of(2), frame_of(3)};
    char both[2 * FRAME_BYTES], path[200];
    struct stat about;

    assert_int_equal(append(folder->path, 1), ROAST_OK);
    memcpy(both, frames[0].bytes, frames[0].size_bytes);
    memcpy(both + frames[0].size_bytes, frames[1].bytes, frames[1].size_bytes);
    size_t size = frames[0].size_bytes + frames[1].size_bytes;
    assert_int_equal(roast_spool_append(folder->path, str_from(both, size), NULL),
                     ROAST_OK);
    assert_int_equal(append(folder->path, 4), ROAST_OK);
    assert_true(holds(folder->path, 1, 4));
    path_in(path, folder->path, roast_process_id());
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600); /* readable by the user only */
}

static void no_frames_are_no_change(void **state)
{
    const struct folder *folder = *state;
    struct roast_str nothing = {NULL, 0};

    assert_int_equal(append(folder->path, 1), ROAST_OK);
    assert_int_equal(roast_spool_append(folder->path, nothing, NULL), ROAST_OK);
    assert_true(holds(folder->path, 1, 1));
}

static void existing_contents_are_kept(void **state)
{
    const struct folder *folder = *state;
    struct frame first = frame_of(1);
    char path[200];

    path_in(path, folder->path, roast_process_id());
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, first.bytes, first.size_bytes), first.size_bytes);
    (void)close(fd);
    assert_int_equal(append(folder->path, 2), ROAST_OK);
    assert_true(holds(folder->path, 1, 2));
}

static void the_folder_may_change_from_call_to_call(void **state)
{
    const struct folder *folder = *state;
    char other[] = "/tmp/roast-test-XXXXXX";
    char path[200];

    assert_non_null(mkdtemp(other));
    assert_int_equal(append(folder->path, 1), ROAST_OK);
    int lowest = dup(STDIN_FILENO);
    (void)close(lowest);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(append(other, i), ROAST_OK);
        assert_int_equal(append(folder->path, i + 2), ROAST_OK);
    }
    assert_true(holds(other, 0, 100));
    assert_true(holds(folder->path, 1, 101));
    int still = dup(STDIN_FILENO); /* no descriptor was left behind */
    assert_int_equal(still, lowest);
    (void)close(still);
    path_in(path, other, roast_process_id());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(other), 0);
}

/* ---- threads and children ---------------------------------------------------- */

enum { THREADS = 4, BATCHES = 200, BATCH = 3 };

struct worker {
    const char *dir;
    unsigned number;
    unsigned failures;
};

/* Several frames of one call are adjacent. */
static void *append_batches(void *context)
{
    struct worker *worker = context;

    for (unsigned i = 0; i < BATCHES; i++) {
        char bytes[BATCH * FRAME_BYTES];
        size_t size = 0;
        for (unsigned k = 0; k < BATCH; k++) {
            struct frame frame =
                frame_of((worker->number * BATCHES + i) * (uint64_t)BATCH + k);
            memcpy(bytes + size, frame.bytes, frame.size_bytes);
            size += frame.size_bytes;
        }
        worker->failures +=
            roast_spool_append(worker->dir, str_from(bytes, size), NULL) != ROAST_OK;
    }
    return NULL;
}

static void frames_of_several_threads_stay_whole_and_together(void **state)
{
    static struct content content;
    static unsigned char seen[THREADS * BATCHES];
    const struct folder *folder = *state;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){folder->path, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, append_batches, &workers[i]),
                         0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
    read_content(&content, folder->path, roast_process_id());
    assert_true(content.whole);
    assert_int_equal(content.count, THREADS * BATCHES * BATCH);
    for (size_t i = 0; i < content.count; i += BATCH) {
        assert_int_equal(content.numbers[i] % BATCH, 0);
        assert_int_equal(content.numbers[i + 1], content.numbers[i] + 1);
        assert_int_equal(content.numbers[i + 2], content.numbers[i] + 2);
        assert_int_equal(seen[content.numbers[i] / BATCH]++, 0);
    }
}

static int appends_to_its_own_file(void *context)
{
    const char *dir = context;
    char path[200];

    MUST(append(dir, 70) == ROAST_OK);
    MUST(append(dir, 71) == ROAST_OK);
    MUST(holds(dir, 70, 2));
    path_in(path, dir, roast_process_id());
    MUST(unlink(path) == 0);
    return 0;
}

static void a_forked_child_writes_a_file_of_its_own(void **state)
{
    const struct folder *folder = *state;

    assert_int_equal(append(folder->path, 1), ROAST_OK);
    assert_holds_in_child(appends_to_its_own_file, (void *)(uintptr_t)folder->path);
    assert_true(holds(folder->path, 1, 1));
    assert_int_equal(append(folder->path, 2), ROAST_OK);
    assert_true(holds(folder->path, 1, 2));
}

static atomic_bool stop;

static void *append_until_stopped(void *context)
{
    struct worker *worker = context;

    while (!atomic_load(&stop))
        worker->failures += append(worker->dir, 0) != ROAST_OK;
    return NULL;
}

static void forking_beside_threads_that_append_never_hangs(void **state)
{
    const struct folder *folder = *state;
    struct worker workers[2] = {{folder->path, 0, 0}, {folder->path, 1, 0}};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, append_until_stopped, &workers[i]), 0);
    for (int i = 0; i < 30; i++)
        assert_holds_in_child(appends_to_its_own_file, (void *)(uintptr_t)folder->path);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
}

/* ---- what goes wrong --------------------------------------------------------- */

static void assert_refused(const char *dir, int code)
{
    struct frame frame = frame_of(99);
    roast_error err = {0};

    assert_int_equal(
        roast_spool_append(dir, str_from(frame.bytes, frame.size_bytes), &err), code);
    assert_int_equal(err.code, code);
    assert_true(strlen(err.message) > 0);
}

static void a_folder_that_is_missing_takes_nothing(void **state)
{
    const struct folder *folder = *state;
    char missing[100];

    (void)snprintf(missing, sizeof(missing), "%s/none", folder->path);
    assert_refused(missing, ROAST_IO);
    assert_int_equal(access(missing, F_OK), -1);
    assert_int_equal(append(folder->path, 1), ROAST_OK);
    assert_refused(missing, ROAST_IO);
    assert_int_equal(append(folder->path, 2), ROAST_OK);
    assert_true(holds(folder->path, 1, 2));
}

/* The file is still open, but no collector will read it. */
static void a_folder_that_was_removed_takes_nothing(void **state)
{
    const struct folder *folder = *state;
    char path[200];

    assert_int_equal(append(folder->path, 1), ROAST_OK);
    path_in(path, folder->path, roast_process_id());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder->path), 0);
    assert_refused(folder->path, ROAST_IO);
    assert_int_equal(mkdir(folder->path, 0700), 0);
    assert_int_equal(append(folder->path, 2), ROAST_OK);
    assert_true(holds(folder->path, 2, 1));
}

/* A path of exactly this size to the same folder. */
static void long_name(char *out, const char *dir, size_t size)
{
    size_t used = strlen(dir);

    memcpy(out, dir, used);
    if ((size - used) % 2 == 1)
        out[used++] = '/';
    for (; used < size; used += 2)
        memcpy(out + used, "/.", 2);
    out[size] = '\0';
}

static void a_path_that_is_too_long_takes_nothing(void **state)
{
    enum { NAME_BYTES = 1 + 16 + 7, LONGEST = 1023 - NAME_BYTES };
    const struct folder *folder = *state;
    char dir[2000];

    long_name(dir, folder->path, LONGEST);
    assert_int_equal(append(dir, 1), ROAST_OK);
    long_name(dir, folder->path, LONGEST + 1);
    assert_refused(dir, ROAST_LIMIT);
    long_name(dir, folder->path, 1999);
    assert_refused(dir, ROAST_LIMIT);
    assert_true(holds(folder->path, 1, 1));
}

static void a_link_is_not_followed(void **state)
{
    const struct folder *folder = *state;
    char path[200], target[100];
    struct stat about;

    (void)snprintf(target, sizeof(target), "%s/precious", folder->path);
    int fd = open(target, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    path_in(path, folder->path, roast_process_id());
    assert_int_equal(symlink(target, path), 0);
    assert_refused(folder->path, ROAST_IO);
    assert_int_equal(stat(target, &about), 0);
    assert_int_equal(about.st_size, 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(append(folder->path, 1), ROAST_OK); /* the folder exists again */
    assert_true(holds(folder->path, 1, 1));
}

/* The disk is full after so many bytes. */
static bool limit_file(rlim_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return false;
    limit.rlim_cur = bytes;
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

static int takes_short_writes_back(void *context)
{
    const char *dir = context;
    struct frame frame = frame_of(1);
    char path[200];

    MUST(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    MUST(append(dir, 1) == ROAST_OK);
    for (rlim_t more = 0; more < frame.size_bytes; more++) {
        struct frame next = frame_of(2);
        roast_error err = {0};
        MUST(limit_file(frame.size_bytes + more));
        MUST(roast_spool_append(dir, str_from(next.bytes, next.size_bytes), &err) ==
             ROAST_IO);
        MUST(err.code == ROAST_IO);
        MUST(holds(dir, 1, 1));
    }
    MUST(limit_file(2 * frame.size_bytes));
    MUST(append(dir, 2) == ROAST_OK); /* there is room again */
    MUST(holds(dir, 1, 2));
    path_in(path, dir, roast_process_id());
    MUST(unlink(path) == 0);
    return 0;
}

static void a_full_disk_leaves_the_file_as_it_was(void **state)
{
    const struct folder *folder = *state;

    assert_holds_in_child(takes_short_writes_back, (void *)(uintptr_t)folder->path);
}

/* A daemon closes all descriptors; the numbers are reused for other files. */
static int leaves_other_files_alone(void *context)
{
    const char *dir = context;
    enum { DESCRIPTORS = 64 };
    char path[200], precious[100];
    struct stat about;

    MUST(append(dir, 1) == ROAST_OK);
    (void)snprintf(precious, sizeof(precious), "%s/precious", dir);
    for (int fd = 3; fd < DESCRIPTORS; fd++)
        (void)close(fd);
    for (int fd = 0; fd < DESCRIPTORS - 1;) {
        fd = open(precious, O_WRONLY | O_CREAT, 0600);
        MUST(fd >= 0);
    }
    MUST(append(dir, 2) == ROAST_OK);
    MUST(holds(dir, 1, 2));
    MUST(stat(precious, &about) == 0 && about.st_size == 0);
    for (int fd = 3; fd < DESCRIPTORS; fd++) /* none was closed, either */
        MUST(fstat(fd, &about) == 0 && about.st_size == 0);
    path_in(path, dir, roast_process_id());
    MUST(unlink(path) == 0 && unlink(precious) == 0);
    return 0;
}

static void a_descriptor_that_changed_hands_is_left_alone(void **state)
{
    const struct folder *folder = *state;

    assert_holds_in_child(leaves_other_files_alone, (void *)(uintptr_t)folder->path);
}

#define spool_test(name) \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        spool_test(frames_follow_one_another_in_a_file_of_the_process),
        spool_test(no_frames_are_no_change),
        spool_test(existing_contents_are_kept),
        spool_test(the_folder_may_change_from_call_to_call),
        spool_test(frames_of_several_threads_stay_whole_and_together),
        spool_test(a_forked_child_writes_a_file_of_its_own),
        spool_test(forking_beside_threads_that_append_never_hangs),
        spool_test(a_folder_that_is_missing_takes_nothing),
        spool_test(a_folder_that_was_removed_takes_nothing),
        spool_test(a_path_that_is_too_long_takes_nothing),
        spool_test(a_link_is_not_followed),
        spool_test(a_full_disk_leaves_the_file_as_it_was),
        spool_test(a_descriptor_that_changed_hands_is_left_alone),
    };
    return cmocka_run_group_tests_name("probe/spool_append", tests, NULL, NULL);
}
