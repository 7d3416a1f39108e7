/* SPDX-License-Identifier: BSD-3-Clause */
/* test_threads.c - eight threads measure at once: no record is lost, none has data of
 * another thread, and a thread frees its state. cmocka cannot fail outside of the
 * test's own thread, so the others count failures. */
#include <pthread.h>
#include <stdio.h>

#include "probe/attempt_help.h"
#include "probe/chunk/thread.h"

enum { THREADS = 8, CHUNKS = 2000, PASSES = 5 };

struct worker {
    unsigned number;
    unsigned failures; /* calls that did not return OK */
};

/* One chunk whose texts and numbers identify its thread and number. */
static int run_chunk(roast_thread *thread, unsigned number, uint64_t chunk)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    const struct roast_chunk_end end = {.status = ROAST_CHUNK_OK};
    struct roast_str frame;
    char name[32];

    (void)snprintf(name, sizeof(name), "thread %u", number);
    roast_chunk_begin(thread, &options);
    roast_record *rec = roast_chunk_record(thread);
    roast_record_set_str(rec, ROAST_FIELD_dataset, roast_str_of(name));
    roast_record_set_u64(rec, ROAST_FIELD_num_events, number * CHUNKS + chunk);
    roast_values_put_key(roast_chunk_user_keys(thread), roast_str_of(name));
    roast_values_put_int(roast_chunk_user_keys(thread), (int64_t)chunk);
    roast_chunk_start(thread);
    for (unsigned i = 0; i < PASSES + number; i++)
        pass(thread, name);
    roast_chunk_stop(thread);
    int status = roast_chunk_finish(thread, &end, &frame, NULL);
    return status < 0 ? status : roast_outbox_put(frame, NULL);
}

static void *work(void *context)
{
    struct worker *worker = context;
    roast_thread *thread = roast_thread_get(NULL);

    for (uint64_t i = 0; thread && i < CHUNKS; i++)
        worker->failures += run_chunk(thread, worker->number, i) < 0;
    worker->failures += !thread || roast_thread_current() != thread;
    return NULL;
}

static void count_thread(struct roast_thread *thread, void *count)
{
    (void)thread;
    ++*(size_t *)count;
}

static size_t count_threads(void)
{
    size_t count = 0;
    roast__threads_visit(count_thread, &count);
    return count;
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

/* The thread and chunk of a record, if all its fields agree. */
static uint64_t check_record(const roast_record *rec)
{
    struct roast_str keys = rec->values[ROAST_FIELD_user_keys].str;
    uint64_t index = rec->values[ROAST_FIELD_num_events].u64;
    struct roast_section sections[2];
    struct roast_value value;
    struct roast_str key;
    char name[32];

    (void)snprintf(name, sizeof(name), "thread %u", (unsigned)(index / CHUNKS));
    assert_str_is(rec->values[ROAST_FIELD_dataset].str, name);
    assert_int_equal(roast_value_next_key(&key, &keys, NULL), 1);
    assert_int_equal(roast_value_next(&value, &keys, NULL), 1);
    assert_str_is(key, name);
    assert_int_equal(value.integer, index % CHUNKS);
    assert_int_equal(
        roast_sections_read(sections, 2, rec->values[ROAST_FIELD_sections].str, NULL),
        1);
    assert_str_is(sections[0].name, name);
    assert_int_equal(sections[0].count, PASSES + index / CHUNKS);
    assert_false(roast_record_has(rec, ROAST_FIELD_losses));
    return index;
}

static void check_identity(const roast_record *rec, unsigned char *seen)
{
    struct roast_identity id;

    assert_int_equal(
        roast_identity_unpack(&id, rec->values[ROAST_FIELD_identity].str, NULL),
        ROAST_OK);
    assert_true(id.process_id == roast_process_id());
    assert_in_range(id.sequence, 1, THREADS * CHUNKS);
    assert_int_equal(seen[id.sequence - 1]++, 0);
}

static void no_record_is_lost_and_none_mixed_up(void **state)
{
    static unsigned char seen[THREADS * CHUNKS];
    static unsigned char sequences[THREADS * CHUNKS];
    struct roast_str frames;
    uint64_t dropped;
    size_t count = 0, first_chunks = 0;
    (void)state;

    run_workers();
    roast_outbox_take(&frames, &dropped);
    assert_int_equal(dropped, 0);
    for (size_t at = 0, used; at < frames.size_bytes; at += used, count++) {
        roast_record rec;
        struct roast_str left = {frames.data + at, frames.size_bytes - at};
        assert_int_equal(roast_record_decode(&rec, &used, left, NULL), ROAST_OK);
        assert_int_equal(seen[check_record(&rec)]++, 0);
        check_identity(&rec, sequences);
        first_chunks += roast_record_has(&rec, ROAST_FIELD_first_chunk);
    }
    assert_int_equal(count, THREADS * CHUNKS);
    assert_int_equal(first_chunks, 1);
    roast_outbox_release(&frames);
}

static void a_thread_takes_its_state_with_it(void **state)
{
    struct roast_str frames;
    uint64_t dropped;
    (void)state;

    roast_thread *thread = roast_thread_get(NULL);
    assert_non_null(thread);
    assert_ptr_equal(roast_thread_get(NULL), thread);
    assert_ptr_equal(roast_thread_current(), thread);
    run_workers();
    assert_int_equal(count_threads(), 1);
    roast_outbox_take(&frames, &dropped);
    roast_outbox_release(&frames);
}

/* ---- chunks that overlap ----------------------------------------------------- */

static void *overlap(void *unused)
{
    roast_thread *thread = roast_thread_get(NULL);

    if (thread)
        (void)run_chunk(thread, 0, 0);
    return unused;
}

static void a_concurrent_chunk_is_marked(void **state)
{
    roast_thread *thread = begin_chunk();
    pthread_t other;
    (void)state;

    assert_int_equal(pthread_create(&other, NULL, overlap, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    roast_record rec = end_chunk(thread); /* the other one began and ended meanwhile */
    assert_int_equal(rec.values[ROAST_FIELD_concurrency].u64, 2);
    rec = end_chunk(begin_chunk());
    assert_int_equal(rec.values[ROAST_FIELD_concurrency].u64, 1);
}

static void *leave(void *unused)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);

    if (thread)
        roast_chunk_begin(thread, &options);
    return unused; /* ends without finishing its chunk */
}

static void a_thread_that_ended_in_its_chunk_is_not_counted(void **state)
{
    pthread_t other;
    (void)state;

    assert_int_equal(pthread_create(&other, NULL, leave, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    roast_record rec = end_chunk(begin_chunk());
    assert_int_equal(rec.values[ROAST_FIELD_concurrency].u64, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_is_lost_and_none_mixed_up),
        cmocka_unit_test(a_thread_takes_its_state_with_it),
        cmocka_unit_test(a_concurrent_chunk_is_marked),
        cmocka_unit_test(a_thread_that_ended_in_its_chunk_is_not_counted),
    };
    return cmocka_run_group_tests_name("probe/threads", tests, NULL, NULL);
}
