/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fork.c - a process that forks while it measures: the parent reports its chunk,
 * the child does not, and measures its own chunks afterwards. Failures in a child are
 * returned as its exit status, because cmocka cannot fail there. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#if ROAST_PROCFS
#include <sys/syscall.h>
#endif

#include "base/mem.h"
#include "forks.h"
#include "probe/attempt_help.h"
#include "probe/chunk/thread.h"

static const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
static const struct roast_chunk_end ok = {.status = ROAST_CHUNK_OK};

/* A chunk in a child, decoded; false when anything failed. */
static bool run_chunk(roast_thread *thread, roast_record *rec)
{
    struct roast_str frame;

    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    pass(thread, "in the child");
    roast_chunk_stop(thread);
    return roast_chunk_finish(thread, &ok, &frame, NULL) == ROAST_OK &&
           roast_record_decode(rec, NULL, frame, NULL) == ROAST_OK;
}

static uint32_t sequence_of(const roast_record *rec)
{
    struct roast_identity id = {.sequence = 0};

    (void)roast_identity_unpack(&id, rec->values[ROAST_FIELD_identity].str, NULL);
    return id.sequence;
}

/* ---- the parent's chunk ------------------------------------------------------ */

static int finish_in_child(void *context)
{
    roast_thread *thread = context;
    struct roast_str frame = {NULL, 0};
    roast_error err = {0};
    roast_record rec;

    pass(thread, "after fork"); /* into the child's copy */
    roast_chunk_stop(thread);
    MUST(roast_chunk_finish(thread, &ok, &frame, &err) == ROAST_UNAVAILABLE);
    MUST(err.code == ROAST_UNAVAILABLE);
    MUST(frame.data == NULL);
    MUST(!roast_chunk_active(thread));
    MUST(run_chunk(thread, &rec)); /* its own next one works */
    return 0;
}

static void only_the_parent_reports_a_chunk_that_forked(void **state)
{
    roast_thread *thread = begin_chunk();
    struct roast_section sections[4];
    (void)state;

    pass(thread, "before fork");
    assert_holds_in_child(finish_in_child, thread);
    assert_true(roast_chunk_active(thread));
    roast_record rec = end_chunk(thread);
    assert_int_equal(rec.values[ROAST_FIELD_pid].u64, getpid());
    assert_int_equal(
        roast_sections_read(sections, 4, rec.values[ROAST_FIELD_sections].str, NULL),
        1);
    assert_str_is(sections[0].name, "before fork");
}

/* ---- identity of the child --------------------------------------------------- */

static int is_itself(void *context)
{
    const uint64_t *parents_id = context;
    roast_thread *thread = roast_thread_get(NULL);
    roast_record rec;

    MUST(thread && thread == roast_thread_current());
    MUST(roast_process_id() != *parents_id);
    MUST(roast_process_id() != 0);
    MUST(run_chunk(thread, &rec));
    MUST(sequence_of(&rec) == 1);
    MUST(rec.values[ROAST_FIELD_pid].u64 == (uint64_t)getpid());
    MUST(roast_record_has(&rec, ROAST_FIELD_first_chunk));
    MUST(rec.values[ROAST_FIELD_concurrency].u64 == 1);
#if ROAST_PROCFS
    MUST(rec.values[ROAST_FIELD_thread].u64 == (uint64_t)syscall(SYS_gettid));
#endif
    MUST(run_chunk(thread, &rec));
    MUST(sequence_of(&rec) == 2);
    return 0;
}

static void a_child_is_a_process_of_its_own(void **state)
{
    uint64_t id = roast_process_id();
    roast_record rec;
    (void)state;

    assert_true(run_chunk(roast_thread_get(NULL), &rec));
    uint32_t sequence = sequence_of(&rec);
    assert_holds_in_child(is_itself, &id);
    roast_thread *thread = begin_chunk(); /* in the middle of a chunk as well */
    assert_holds_in_child(is_itself, &id);
    (void)end_chunk(thread);
    assert_true(roast_process_id() == id);
    assert_true(run_chunk(thread, &rec));
    assert_int_equal(sequence_of(&rec), sequence + 2);
}

#if ROAST_PROCFS
static int reads_its_own_memory(void *context)
{
    enum { BYTES = 64 * 1024 * 1024 };
    roast_thread *thread = context;
    uint64_t before_bytes, after_bytes;

    MUST(roast_rss_now(thread, &before_bytes));
    long at = syscall(SYS_mmap, NULL, (size_t)BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0L);
    MUST(at != -1);
    MUST(roast_rss_now(thread, &after_bytes));
    MUST(after_bytes > before_bytes + BYTES / 100 * 95);
    return 0;
}

static void a_child_reads_its_own_memory(void **state)
{
    roast_thread *thread = roast_thread_get(NULL);
    uint64_t rss_bytes;
    (void)state;

    assert_true(roast_rss_now(thread, &rss_bytes)); /* the parent's file is open */
    assert_holds_in_child(reads_its_own_memory, thread);
}
#endif

static int outbox_is_empty(void *unused)
{
    struct roast_str frames;
    uint64_t dropped;
    (void)unused;

    roast_outbox_take(&frames, &dropped);
    MUST(frames.size_bytes == 0);
    MUST(dropped == 0);
    MUST(roast_outbox_put(str_from("child", 5), NULL) == ROAST_OK);
    return 0;
}

static void queued_frames_belong_to_the_parent(void **state)
{
    struct roast_str frames;
    uint64_t dropped;
    (void)state;

    assert_int_equal(roast_outbox_put(str_from("frame", 5), NULL), ROAST_OK);
    assert_holds_in_child(outbox_is_empty, NULL);
    roast_outbox_take(&frames, &dropped);
    assert_str_is(frames, "frame");
    roast_outbox_release(&frames);
}

/* ---- other threads of the parent --------------------------------------------- */

static void count_thread(struct roast_thread *thread, void *count)
{
    (void)thread;
    ++*(int *)count;
}

static int has_one_thread(void *unused)
{
    int count = 0;
    (void)unused;

    roast__threads_visit(count_thread, &count);
    MUST(count == 1);
    return 0;
}

/* A resize that blocks half-way: the old block is freed, the new one not stored yet. */
static sem_t reached, go_on;
static void *_Atomic stale;
static atomic_bool armed, released_twice;

static void *stopping_resize(void *ptr, size_t size_bytes)
{
    void *block = realloc(ptr, size_bytes);

    if (ptr && atomic_exchange(&armed, false)) {
        atomic_store(&stale, ptr);
        (void)sem_post(&reached);
        (void)sem_wait(&go_on);
        atomic_store(&stale, NULL);
    }
    return block;
}

static void watching_release(void *ptr)
{
    if (ptr && ptr == atomic_load(&stale))
        atomic_store(&released_twice, true);
    else
        free(ptr);
}

static void *grow_slowly(void *unused)
{
    static const char kilobyte[1024];
    roast_thread *thread = roast_thread_get(NULL);

    roast_values_put_bytes(roast_chunk_user_keys(thread), str_from(kilobyte, 10));
    atomic_store(&armed, true);
    roast_values_put_bytes(roast_chunk_user_keys(thread), str_from(kilobyte, 1024));
    return unused;
}

static int released_nothing_twice(void *unused)
{
    (void)unused;
    MUST(!atomic_load(&released_twice));
    return 0;
}

/* The owner of another state may be at any point when the process forks, even between
 * realloc() and storing its result. */
static void a_child_releases_nothing_that_another_thread_was_growing(void **state)
{
    static const struct roast_heap heap = {stopping_resize, watching_release};
    pthread_t other;
    (void)state;

    assert_int_equal(sem_init(&reached, 0, 0), 0);
    assert_int_equal(sem_init(&go_on, 0, 0), 0);
    roast__heap_set(&heap);
    assert_int_equal(pthread_create(&other, NULL, grow_slowly, NULL), 0);
    assert_int_equal(sem_wait(&reached), 0);
    assert_holds_in_child(released_nothing_twice, NULL);
    assert_holds_in_child(has_one_thread, NULL);
    assert_int_equal(sem_post(&go_on), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    roast__heap_set(NULL);
}

static atomic_bool stop;

static void *measure_until_stopped(void *unused)
{
    roast_thread *thread = roast_thread_get(NULL);
    roast_record rec;

    while (thread && !atomic_load(&stop)) {
        if (run_chunk(thread, &rec))
            (void)roast_outbox_put(roast_chunk_end_frame(thread), NULL);
    }
    return unused;
}

static int measures_alone(void *unused)
{
    roast_thread *thread = roast_thread_get(NULL);
    struct roast_str frames;
    roast_record rec;
    uint64_t dropped;
    (void)unused;

    MUST(has_one_thread(NULL) == 0);
    roast_outbox_take(&frames, &dropped);
    MUST(frames.size_bytes == 0);
    MUST(thread && run_chunk(thread, &rec));
    MUST(sequence_of(&rec) == 1);
    MUST(rec.values[ROAST_FIELD_concurrency].u64 == 1);
    return 0;
}

/* Every lock of ours is free in the child, whatever the other threads were doing. */
static void forking_beside_busy_threads_never_hangs(void **state)
{
    pthread_t threads[4];
    struct roast_str frames;
    uint64_t dropped;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, measure_until_stopped, NULL),
                         0);
    for (int i = 0; i < 50; i++)
        assert_holds_in_child(measures_alone, NULL);
    atomic_store(&stop, true);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    roast_outbox_take(&frames, &dropped);
    roast_outbox_release(&frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_parent_reports_a_chunk_that_forked),
        cmocka_unit_test(a_child_is_a_process_of_its_own),
#if ROAST_PROCFS
        cmocka_unit_test(a_child_reads_its_own_memory),
#endif
        cmocka_unit_test(queued_frames_belong_to_the_parent),
        cmocka_unit_test(a_child_releases_nothing_that_another_thread_was_growing),
        cmocka_unit_test(forking_beside_busy_threads_never_hangs),
    };
    return cmocka_run_group_tests_name("probe/fork", tests, NULL, NULL);
}
