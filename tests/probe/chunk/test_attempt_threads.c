/* SPDX-License-Identifier: BSD-3-Clause */
/* test_attempt_threads.c - attempts of several threads at once, of threads that end in
 * the middle of one, and of processes that fork there. cmocka cannot fail outside of
 * the test's own thread and process, so the others count or return failures. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include "forks.h"
#include "probe/attempt_help.h"

static const struct roast_attempt_item usual = {.dataset = {"TTbar", 5},
                                                .file = {"f.root", 6}};

static uint64_t concurrency(const roast_record *rec)
{
    return rec->values[ROAST_FIELD_concurrency].u64;
}

/* ---- many at once ------------------------------------------------------------ */

enum { THREADS = 8, ATTEMPTS = 500 };

struct worker {
    unsigned number;
    unsigned failures;
};

/* One attempt of a thread sends only frames of this thread and attempt. */
static bool is_of_one(const struct sent_frames *sent, const roast_record *begin,
                      const char *name, bool fails_early)
{
    const roast_record *chunk = &sent->records[0];
    const roast_record *end = &sent->records[1];

    if (sent->count != 2 || chunk->kind != ROAST_FRAME_CHUNK ||
        end->kind != ROAST_FRAME_END)
        return false;
    if (!same_identity(chunk, end) || !same_identity(begin, end))
        return false;
    if (!str_equal(begin->values[ROAST_FIELD_place].str,
                   end->values[ROAST_FIELD_place].str))
        return false;
    return roast_record_has(chunk, ROAST_FIELD_duration_ns) != fails_early &&
           (!fails_early || str_is(chunk->values[ROAST_FIELD_dataset].str, name));
}

static bool run_attempt(roast_thread *thread, const char *name, bool fails_early)
{
    struct roast_attempt_item item = {.dataset = roast_str_of(name)};
    char copy[ROAST_BEGIN_MAX_BYTES];
    struct roast_str frames;
    struct sent_frames sent;
    roast_record begin;

    struct roast_str frame = roast_attempt_begin(thread, NULL, &item);
    if (frame.size_bytes == 0 || frame.size_bytes > sizeof(copy))
        return false;
    memcpy(copy, frame.data, frame.size_bytes); /* borrowed until the next call */
    if (roast_record_decode(&begin, NULL, str_from(copy, frame.size_bytes), NULL) < 0)
        return false;
    if (!fails_early && !add_attempt_chunk(thread, NULL))
        return false;
    return attempt_end(thread, fails_early ? &ended_failed : &ended_ok, &frames,
                       NULL) == ROAST_OK &&
           read_sent(&sent, frames) && is_of_one(&sent, &begin, name, fails_early) &&
           roast_outbox_put(frames, NULL) == ROAST_OK;
}

static void *work(void *context)
{
    struct worker *worker = context;
    roast_thread *thread = roast_thread_get(NULL);
    char name[32];

    (void)snprintf(name, sizeof(name), "thread %u", worker->number);
    for (unsigned i = 0; thread && i < ATTEMPTS; i++)
        worker->failures += !run_attempt(thread, name, i % 3 == 0);
    worker->failures += !thread;
    return NULL;
}

static void run_workers(void)
{
    struct worker workers[THREADS] = {{0}};
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
}

/* Must run first: the numbers of this process start at 1. */
static void attempts_of_many_threads_are_not_mixed_up(void **state)
{
    static unsigned char chunks[THREADS * ATTEMPTS], ends[THREADS * ATTEMPTS];
    struct roast_str frames;
    uint64_t dropped;
    size_t used;
    (void)state;

    run_workers();
    roast_outbox_take(&frames, &dropped);
    assert_int_equal(dropped, 0);
    for (size_t at = 0; at < frames.size_bytes; at += used) {
        roast_record rec;
        struct roast_str left = {frames.data + at, frames.size_bytes - at};
        assert_int_equal(roast_record_decode(&rec, &used, left, NULL), ROAST_OK);
        uint32_t sequence = identity_of(&rec).sequence;
        assert_in_range(sequence, 1, THREADS * ATTEMPTS);
        unsigned char *seen = rec.kind == ROAST_FRAME_END ? ends : chunks;
        assert_int_equal(seen[sequence - 1]++, 0);
    }
    for (size_t i = 0; i < THREADS * ATTEMPTS; i++)
        assert_int_equal(chunks[i] + ends[i], 2);
    roast_outbox_release(&frames);
    roast_record rec = end_chunk(begin_chunk());
    assert_int_equal(concurrency(&rec), 1); /* all have left */
}

/* ---- two at once ------------------------------------------------------------- */

static sem_t reached, go_on;

static void *hold_attempt(void *unused)
{
    roast_thread *thread = roast_thread_get(NULL);
    struct roast_str frames;

    if (thread)
        (void)roast_attempt_begin(thread, NULL, &usual);
    (void)sem_post(&reached);
    (void)sem_wait(&go_on);
    if (thread)
        (void)attempt_end(thread, &ended_ok, &frames, NULL);
    return unused;
}

static uint64_t concurrency_in_attempt(void)
{
    roast_thread *thread = begin_attempt(&usual);

    assert_true(add_attempt_chunk(thread, NULL));
    struct sent_frames sent = end_attempt(thread, ended_ok);
    return concurrency(&sent.records[0]);
}

/* Concurrency counts attempts, inside process() or before it. */
static void a_chunk_counts_the_attempts_beside_it(void **state)
{
    pthread_t other;
    (void)state;

    assert_int_equal(sem_init(&reached, 0, 0), 0);
    assert_int_equal(sem_init(&go_on, 0, 0), 0);
    assert_int_equal(concurrency_in_attempt(), 1);
    assert_int_equal(pthread_create(&other, NULL, hold_attempt, NULL), 0);
    assert_int_equal(sem_wait(&reached), 0);
    assert_int_equal(concurrency_in_attempt(), 2);
    roast_record rec = end_chunk(begin_chunk()); /* one without an attempt as well */
    assert_int_equal(concurrency(&rec), 2);
    assert_int_equal(sem_post(&go_on), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(concurrency_in_attempt(), 1);
}

static void *run_one(void *unused)
{
    roast_thread *thread = roast_thread_get(NULL);
    struct roast_str frames;

    if (thread && run_attempt(thread, "beside", false)) {
        uint64_t dropped;
        roast_outbox_take(&frames, &dropped);
        roast_outbox_release(&frames);
    }
    return unused;
}

static void an_attempt_that_began_and_ended_meanwhile_is_counted(void **state)
{
    roast_thread *thread = begin_attempt(&usual);
    pthread_t other;
    (void)state;

    roast_chunk_begin(thread, &(struct roast_chunk_options)ROAST_CHUNK_OPTIONS_INIT);
    roast_chunk_start(thread);
    assert_int_equal(pthread_create(&other, NULL, run_one, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    roast_record rec = end_chunk(thread);
    assert_int_equal(concurrency(&rec), 2);
    (void)end_attempt(thread, ended_ok);
    assert_int_equal(concurrency_in_attempt(), 1);
}

/* It does not count itself twice. */
static void a_second_chunk_of_an_attempt_runs_alone(void **state)
{
    roast_thread *thread = begin_attempt(&usual);
    (void)state;

    assert_true(add_attempt_chunk(thread, NULL));
    assert_true(add_attempt_chunk(thread, NULL));
    struct sent_frames sent = end_attempt(thread, ended_ok);
    assert_int_equal(concurrency(&sent.records[0]), 1);
    assert_int_equal(concurrency(&sent.records[1]), 1);
    assert_int_equal(concurrency_in_attempt(), 1);
}

/* ---- threads that end -------------------------------------------------------- */

static void *leave_attempt(void *unused)
{
    roast_thread *thread = roast_thread_get(NULL);

    if (thread)
        (void)roast_attempt_begin(thread, NULL, &usual);
    return unused;
}

static void *leave_chunk_in_attempt(void *unused)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);

    if (thread) {
        (void)roast_attempt_begin(thread, NULL, &usual);
        (void)roast_attempt_begin(thread, NULL, &usual); /* part of the first */
        roast_chunk_begin(thread, &options);
    }
    return unused;
}

static void *leave_attempt_after_its_chunk(void *unused)
{
    roast_thread *thread = roast_thread_get(NULL);

    if (thread) {
        (void)roast_attempt_begin(thread, NULL, &usual);
        (void)add_attempt_chunk(thread, NULL); /* kept frames go with the thread */
    }
    return unused;
}

static void *leave_attempt_in_chunk(void *unused)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);

    if (thread) {
        roast_chunk_begin(thread, &options);
        (void)roast_attempt_begin(thread, NULL, &usual);
    }
    return unused;
}

static void *leave_second_chunk_in_attempt(void *unused)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);

    if (thread) {
        (void)roast_attempt_begin(thread, NULL, &usual);
        (void)add_attempt_chunk(thread, NULL);
        roast_chunk_begin(thread, &options);
    }
    return unused;
}

/* In reverse order. */
static void *leave_attempt_that_outlived_its_chunk(void *unused)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);
    struct roast_str frame;

    if (thread) {
        roast_chunk_begin(thread, &options);
        (void)roast_attempt_begin(thread, NULL, &usual);
        roast_chunk_start(thread);
        roast_chunk_stop(thread);
        (void)roast_chunk_finish(thread, &ended_ok, &frame, NULL);
    }
    return unused;
}

static void *leave_chunk_that_outlived_its_attempt(void *unused)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);
    struct roast_str frames;

    if (thread) {
        (void)roast_attempt_begin(thread, NULL, &usual);
        roast_chunk_begin(thread, &options);
        (void)attempt_end(thread, &ended_ok, &frames, NULL);
    }
    return unused;
}

/* A count that is off by one changes the next chunk. */
static void a_thread_that_ended_in_an_attempt_is_not_counted(void **state)
{
    static void *(*const leave[])(void *) = {leave_attempt,
                                             leave_chunk_in_attempt,
                                             leave_attempt_after_its_chunk,
                                             leave_attempt_in_chunk,
                                             leave_second_chunk_in_attempt,
                                             leave_attempt_that_outlived_its_chunk,
                                             leave_chunk_that_outlived_its_attempt};
    pthread_t other;
    (void)state;

    for (size_t i = 0; i < COUNT_OF(leave); i++) {
        assert_int_equal(pthread_create(&other, NULL, leave[i], NULL), 0);
        assert_int_equal(pthread_join(other, NULL), 0);
        assert_int_equal(concurrency_in_attempt(), 1);
        roast_record rec = end_chunk(begin_chunk());
        assert_int_equal(concurrency(&rec), 1);
    }
}

/* ---- forks ------------------------------------------------------------------- */

/* The child continues inside the attempt, as after a fork() in user code. */
static int is_silent_in_child(void *thread)
{
    struct roast_str frame = {NULL, 0};
    roast_error err = {0};

    MUST(!roast_attempt_active(thread));
    if (roast_chunk_active(thread))
        return __LINE__;
    roast_chunk_stop(thread);
    MUST(roast_chunk_finish(thread, &ended_ok, &frame, NULL) == ROAST_UNAVAILABLE);
    MUST(roast_attempt_add_frame(thread, frame, NULL) == ROAST_UNAVAILABLE);
    MUST(attempt_end(thread, &ended_failed, &frame, &err) == ROAST_UNAVAILABLE);
    MUST(err.code == ROAST_UNAVAILABLE);
    MUST(frame.data == NULL && frame.size_bytes == 0);
    return 0;
}

static int tries_itself(void *thread)
{
    struct roast_str frames;
    struct sent_frames sent;

    MUST(roast_attempt_begin(thread, NULL, &usual).data);
    MUST(add_attempt_chunk(thread, NULL));
    MUST(attempt_end(thread, &ended_ok, &frames, NULL) == ROAST_OK);
    MUST(read_sent(&sent, frames) && sent.count == 2); /* none of the parent's */
    MUST(identity_of(&sent.records[1]).sequence == 1);
    MUST(identity_of(&sent.records[1]).process_id == roast_process_id());
    MUST(sent.records[1].values[ROAST_FIELD_pid].u64 == (uint64_t)getpid());
    MUST(concurrency(&sent.records[0]) == 1);
    return is_silent_in_child(thread); /* not the parent's end */
}

static void only_the_parent_sends_an_attempt_that_forked(void **state)
{
    roast_thread *thread = roast_thread_get(NULL);
    (void)state;

    roast_record begin = decoded(roast_attempt_begin(thread, NULL, &usual));
    uint32_t sequence = identity_of(&begin).sequence;
    assert_holds_in_child(is_silent_in_child, thread);
    assert_holds_in_child(tries_itself, thread);
    assert_true(add_attempt_chunk(thread, NULL));
    assert_holds_in_child(is_silent_in_child, thread);
    assert_holds_in_child(tries_itself, thread);
    assert_true(roast_attempt_active(thread));
    struct sent_frames sent = end_attempt(thread, ended_ok);
    assert_int_equal(sent.count, 2);
    assert_int_equal(identity_of(&sent.records[0]).sequence, sequence);
    assert_int_equal(identity_of(&sent.records[1]).sequence, sequence);
    assert_int_equal(sent.records[1].values[ROAST_FIELD_pid].u64, getpid());
    assert_int_equal(concurrency(&sent.records[0]), 1);
}

static void a_fork_in_the_chunk_of_a_nested_attempt_is_silent_too(void **state)
{
    roast_thread *thread = begin_attempt(&usual);
    (void)state;

    assert_null(roast_attempt_begin(thread, NULL, &usual).data);
    roast_chunk_begin(thread, &(struct roast_chunk_options)ROAST_CHUNK_OPTIONS_INIT);
    roast_chunk_start(thread);
    assert_holds_in_child(is_silent_in_child, thread);
    assert_holds_in_child(tries_itself, thread);
    roast_record rec = end_chunk(thread);
    assert_int_equal(concurrency(&rec), 1);
    struct roast_str frames;
    assert_int_equal(attempt_end(thread, &ended_ok, &frames, NULL), ROAST_OK);
    assert_int_equal(end_attempt(thread, ended_failed).count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attempts_of_many_threads_are_not_mixed_up),
        cmocka_unit_test(a_chunk_counts_the_attempts_beside_it),
        cmocka_unit_test(an_attempt_that_began_and_ended_meanwhile_is_counted),
        cmocka_unit_test(a_second_chunk_of_an_attempt_runs_alone),
        cmocka_unit_test(a_thread_that_ended_in_an_attempt_is_not_counted),
        cmocka_unit_test(only_the_parent_sends_an_attempt_that_forked),
        cmocka_unit_test(a_fork_in_the_chunk_of_a_nested_attempt_is_silent_too),
    };
    return cmocka_run_group_tests_name("probe/attempt_threads", tests, NULL, NULL);
}
