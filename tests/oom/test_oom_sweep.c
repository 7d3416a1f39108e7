/* SPDX-License-Identifier: BSD-3-Clause */
/* test_oom_sweep.c - fails the n-th allocation of everything that allocates; of what
 * looks into attempts in test_oom_ladder.c. */
#include <inttypes.h>
#include <stdio.h>

#include "attempt_frames.h"
#include "base/buf.h"
#include "probe/chunk/thread.h"
#include "roast/cpu_meter.h"
#include "stored_name.h"
#include "sweep.h"

static const struct roast_chunk_end failed = {
    .status = ROAST_CHUNK_FAILED,
    .error_type = {"ValueError", 10},
    .error_message = {"no jets", 7},
};

/* ---- base and record --------------------------------------------------------- */

static bool fill_buffer(void)
{
    struct roast_buf buf = {0};
    size_t put = 0;

    for (; roast__buf_ok(&buf) && put < 1000; put += roast__buf_ok(&buf))
        roast__buf_put_fixed64(&buf, put);
    bool right = buf.size_bytes == put * 8 && roast__buf_ok(&buf) != test_heap_failed();
    struct roast_cursor cur = roast__cursor(buf.data, buf.size_bytes);
    for (size_t i = 0; i < put; i++)
        right &= roast__cursor_fixed64(&cur) == i;
    roast__buf_release(&buf);
    return right;
}

/* Puts entries as the binding does: one that failed is taken back and counted. */
static size_t put_entries(roast_values *values, size_t count)
{
    static const char large[700];
    size_t dropped = 0;

    for (size_t i = 0; i < count; i++) {
        size_t mark = roast_values_mark(values);
        roast_values_put_key(values, roast_str_of("key"));
        roast_values_put_list(values, 2);
        roast_values_put_double(values, 0.5);
        roast_values_put_bytes(values, str_from(large, i * 100));
        if (!roast_values_ok(values)) {
            roast_values_rewind(values, mark);
            dropped++;
        }
    }
    return dropped;
}

static bool is_whole(struct roast_str blob, size_t entries)
{
    return roast_values_check(blob, NULL) == ROAST_OK &&
           (entries > 0) == (blob.data != NULL);
}

static bool put_values(void)
{
    roast_values values = {0};
    size_t dropped = put_entries(&values, 8);
    bool right = (dropped > 0) == test_heap_failed() &&
                 is_whole(roast_values_blob(&values), 8 - dropped);

    roast__values_release(&values);
    return right;
}

/* ---- probe ------------------------------------------------------------------- */

static bool fill_outbox(void)
{
    char frame[100] = {0};
    struct roast_str frames;
    uint64_t dropped, refused = 0;
    bool right = true;

    for (size_t i = 0; i < 100; i++) {
        roast_error err = {0};
        int status = roast_outbox_put(str_from(frame, sizeof(frame)), &err);
        right &= status == ROAST_OK || status == ROAST_NO_MEMORY;
        right &= err.code == status;
        refused += status < 0;
    }
    roast_outbox_take(&frames, &dropped);
    right &= (refused > 0) == test_heap_failed();
    right &= dropped == refused; /* kept and counted is all there was */
    right &= frames.size_bytes == (100 - refused) * sizeof(frame);
    roast_outbox_release(&frames);
    return right;
}

/* Frames that were taken, could not be delivered and go back in front of others. */
static bool give_back(void)
{
    const roast_record rec = {.kind = ROAST_FRAME_END};
    uint64_t dropped, put = 0, refused = 0;
    struct roast_str frames;
    char frame[64];

    int64_t size = roast_record_encode(frame, sizeof(frame), &rec, NULL);
    for (; put < 100; put++)
        refused += roast_outbox_put(str_from(frame, (size_t)size), NULL) < 0;
    roast_outbox_take(&frames, &dropped);
    for (; put < 200; put++)
        refused += roast_outbox_put(str_from(frame, (size_t)size), NULL) < 0;
    roast_outbox_put_back(&frames, dropped);
    roast_outbox_take(&frames, &dropped);
    bool right = count_frames(frames) + dropped == put && dropped >= refused;
    roast_outbox_release(&frames);
    return right;
}

static bool is_whole_record(struct roast_str frame, size_t entries)
{
    struct roast_section sections[ROAST_SECTION_MAX_NODES];
    roast_record rec;

    if (roast_record_decode(&rec, NULL, frame, NULL) < 0)
        return false;
    const union roast_field_value *v = rec.values;
    if (roast_record_has(&rec, ROAST_FIELD_process) &&
        !is_whole(v[ROAST_FIELD_process].str, 1))
        return false;
    if (roast_sections_read(sections, COUNT_OF(sections), v[ROAST_FIELD_sections].str,
                            NULL) != 50)
        return false;
    return roast_record_has(&rec, ROAST_FIELD_user_keys) == (entries > 0) &&
           (entries == 0 || is_whole(v[ROAST_FIELD_user_keys].str, entries));
}

static void open_chunk(roast_thread *thread)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    char name[60];

    roast_chunk_begin(thread, &options);
    (void)roast_chunk_begin_frame(thread);
    roast_chunk_set_file(thread, roast_str_of("root://host//f.root"));
    roast_chunk_start(thread);
    for (int i = 0; i < 50; i++) {
        (void)snprintf(name, sizeof(name), "a section with a long name, number %d", i);
        roast_section_end(
            thread, roast_section_begin(thread, roast_str_of(name), ROAST_SECTION_TIME),
            0);
    }
}

/* Finishes: OK with a whole record, or NO_MEMORY; closed in either case. */
static bool close_chunk(roast_thread *thread, size_t entries, bool *delivered)
{
    struct roast_str frame = {NULL, 0};
    roast_error err = {0};

    roast_chunk_stop(thread);
    int status = roast_chunk_finish(thread, &failed, &frame, &err);
    *delivered = status == ROAST_OK;
    if (roast_chunk_active(thread) || err.code != status)
        return false;
    return *delivered ? is_whole_record(frame, entries) : status == ROAST_NO_MEMORY;
}

/* Two chunks: when memory lacked for the first only, the second is as good as new. */
static bool run_chunks(void)
{
    roast_error err = {0};
    roast_thread *thread = roast_thread_get(&err);
    bool delivered, recovered;

    if (!thread)
        return test_heap_failed() && err.code == ROAST_NO_MEMORY &&
               !roast_thread_current();
    open_chunk(thread);
    size_t entries = 8 - put_entries(roast_chunk_user_keys(thread), 8);
    if (!close_chunk(thread, entries, &delivered))
        return false;
    if (!delivered && !test_heap_failed())
        return false;
    (void)roast_chunk_end_frame(thread);
    open_chunk(thread);
    return close_chunk(thread, 0, &recovered) && (recovered || test_heap.from_then_on);
}

static const struct roast_attempt_item tried = {
    .dataset = {"TTbar", 5},
    .file = {"root://u:p@host//f.root", 23},
    .has_entries = true,
    .entry_stop = 1000,
};

/* The item's texts are there, or the record says that there was no memory for them. */
static bool is_whole_failure(const roast_record *rec)
{
    struct roast_str absences = rec->values[ROAST_FIELD_absences].str;
    struct roast_pair pair;

    if (roast_record_has(rec, ROAST_FIELD_dataset))
        return str_is(rec->values[ROAST_FIELD_file].str,
                      stored_name("root://u:p@host//f.root"));
    for (unsigned number = 7; number <= 8; number++) { /* dataset and file */
        if (!roast_record_has(rec, ROAST_FIELD_absences) ||
            roast_pair_next(&pair, &absences, NULL) != 1 || pair.key != number ||
            pair.value != ROAST_WHY_NO_MEMORY)
            return false;
    }
    return absences.size_bytes == 0;
}

/* Ends an attempt: OK with all it has to tell, or NO_MEMORY with less, but whole. */
static bool close_attempt(roast_thread *thread, uint64_t frames_told)
{
    struct roast_str frames = {NULL, 0};
    roast_error err = {0};
    roast_record rec;

    int status = attempt_end(thread, &failed, &frames, &err);
    uint64_t count = count_frames(frames);
    if (roast_attempt_active(thread) || err.code != status || count > frames_told)
        return false;
    if (status == ROAST_OK ? count != frames_told : status != ROAST_NO_MEMORY)
        return false;
    if (count > 0 && roast_record_decode(&rec, NULL, frames, NULL) < 0)
        return false;
    return count == 0 || rec.kind != ROAST_FRAME_CHUNK ||
           roast_record_has(&rec, ROAST_FIELD_duration_ns) || is_whole_failure(&rec);
}

/* One attempt that keeps its chunks until its buffer has to grow, and one that fails
 * before it has any. */
static bool run_attempts(void)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);
    uint64_t kept = 0;

    if (!thread)
        return test_heap_failed();
    if (!roast_attempt_begin(thread, NULL, &tried).data)
        return false; /* it needs no memory */
    for (int i = 0; i < 4; i++) {
        struct roast_str frame = {NULL, 0};
        roast_chunk_begin(thread, &options);
        roast_chunk_start(thread);
        roast_chunk_stop(thread);
        int status = roast_chunk_finish(thread, &failed, &frame, NULL);
        if (status == ROAST_OK)
            status = roast_attempt_add_frame(thread, frame, NULL);
        if (status != ROAST_OK && status != ROAST_NO_MEMORY)
            return false;
        kept += status == ROAST_OK;
    }
    if (kept < 4 && !test_heap_failed())
        return false;
    return close_attempt(thread, kept + 1) &&
           roast_attempt_begin(thread, NULL, &tried).data && close_attempt(thread, 2);
}

/* Fails at once, so that the record of the failure is what there is no memory for. */
static bool fail_attempts(void)
{
    roast_thread *thread = roast_thread_get(NULL);

    for (int i = 0; thread && i < 2; i++) {
        if (!roast_attempt_begin(thread, NULL, &tried).data ||
            !close_attempt(thread, 2))
            return false;
    }
    return thread || test_heap_failed();
}

static bool run_cpu_meter(void)
{
    struct roast_process_use use = {.cpu_ns = 1000000000};
    roast_cpu_meter *meter = NULL;
    double own_s, children_s, known = 0;

    if (roast_cpu_meter_new(&meter, NULL) < 0)
        return test_heap_failed() && !meter;
    roast_cpu_meter_round(meter);
    roast_cpu_meter_round(meter);
    for (use.pid = UINT64_C(1) << 40; use.pid < (UINT64_C(1) << 40) + 100; use.pid++) {
        roast_error err = {0};
        int status = roast_cpu_meter_use(meter, &use, &err);
        known += status == ROAST_OK;
        if (err.code != status || (status < 0 && !test_heap_failed()))
            break;
    }
    roast_cpu_meter_read(meter, &own_s, &children_s);
    roast_cpu_meter_free(meter);
    return use.pid == (UINT64_C(1) << 40) + 100 && children_s == known;
}

/* Appends without memory of libroast, from a process id that is new. */
static bool append_to_spool(void)
{
    char dir[] = "/tmp/roast-test-XXXXXX";
    const roast_record rec = {.kind = ROAST_FRAME_END};
    char frame[64];

    int64_t size = roast_record_encode(frame, sizeof(frame), &rec, NULL);
    if (!mkdtemp(dir))
        return false;
    int status = roast_spool_append(dir, str_from(frame, (size_t)size), NULL);
    char path[100];
    (void)snprintf(path, sizeof(path), "%s/%016" PRIx64 ".frames", dir,
                   roast_process_id());
    return unlink(path) == 0 && rmdir(dir) == 0 && status == ROAST_OK;
}

static size_t facts_room_bytes;

static bool says_why_no_facts(const roast_record *rec)
{
    struct roast_str absences = rec->values[ROAST_FIELD_absences].str;
    uint64_t number = roast_field_info(ROAST_FIELD_process)->number;
    struct roast_pair pair = {0, 0};

    while (roast_record_has(rec, ROAST_FIELD_absences) && pair.key != number &&
           roast_pair_next(&pair, &absences, NULL) == 1)
        ;
    return pair.key == number && pair.value == ROAST_WHY_NO_MEMORY;
}

/* A first chunk whose facts find only so much room: the next growth fails wherever that
 * is, in the middle of a key or of a value. */
static bool run_out_in_facts(void)
{
    roast_thread *thread = roast_thread_get(NULL);
    struct roast_str frame;
    roast_record rec;

    roast__buf_reserve(&thread->blobs, 4096);
    roast__buf_reserve(&thread->frame, 16384);
    thread->process_facts.buf.data = roast__alloc(facts_room_bytes);
    thread->process_facts.buf.cap_bytes = facts_room_bytes;
    open_chunk(thread);
    roast_chunk_stop(thread);
    test_heap_fail(1, false);
    if (roast_chunk_finish(thread, &failed, &frame, NULL) != ROAST_OK ||
        roast_record_decode(&rec, NULL, frame, NULL) != ROAST_OK)
        return false;
    if (!roast_record_has(&rec, ROAST_FIELD_process))
        return says_why_no_facts(&rec);
    return is_whole(rec.values[ROAST_FIELD_process].str, 1);
}

/* ---- the sweep --------------------------------------------------------------- */

static void buffers_survive(void **state)
{
    (void)state;
    sweep_both(fill_buffer, 5);
}

static void values_survive(void **state)
{
    (void)state;
    sweep_both(put_values, 4);
}

static void the_outbox_survives(void **state)
{
    (void)state;
    sweep_both(fill_outbox, 5);
    sweep_both(give_back, 5);
}

/* State, facts, user keys, blobs and frame: each allocates, most of them grow. */
static void chunks_survive(void **state)
{
    (void)state;
    sweep_both(run_chunks, 8);
}

/* State, texts, frames, and all that a chunk needs. */
static void attempts_survive(void **state)
{
    (void)state;
    sweep_both(run_attempts, 6);
    sweep_both(fail_attempts, 3);
}

static void the_cpu_meter_survives(void **state)
{
    (void)state;
    sweep_both(run_cpu_meter, 4);
}

/* Work functions append in the worst of moments. */
static void a_spool_is_written_without_memory(void **state)
{
    (void)state;
    assert_int_equal(try_in_child(append_to_spool, 1, true), NOTHING_FAILED);
}

/* Without /proc there is little to say, so it may end before 100 bytes. */
static void facts_are_whole_or_absent_wherever_memory_ends(void **state)
{
    enum answer answer = FINE;
    (void)state;

    for (facts_room_bytes = 16; facts_room_bytes < 100; facts_room_bytes++) {
        answer = try_in_child(run_out_in_facts, 0, false);
        if (answer != FINE)
            break;
    }
    if (answer != FINE && (answer != NOTHING_FAILED || facts_room_bytes < 24))
        fail_msg("room of %zu bytes: %s", facts_room_bytes, words[answer]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_survive),
        cmocka_unit_test(values_survive),
        cmocka_unit_test(the_outbox_survives),
        cmocka_unit_test(chunks_survive),
        cmocka_unit_test(attempts_survive),
        cmocka_unit_test(the_cpu_meter_survives),
        cmocka_unit_test(a_spool_is_written_without_memory),
        cmocka_unit_test(facts_are_whole_or_absent_wherever_memory_ends),
    };
    return cmocka_run_group_tests_name("oom/sweep", tests, NULL, NULL);
}
