/* SPDX-License-Identifier: BSD-3-Clause */
/* test_chunk.c - the life of a chunk on one thread: its clocks against those of the
 * test, fields of the caller, absent fields with reasons, and the three frames. The
 * first test must run first: a process sends its facts once. */
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "heap.h"
#include "probe/attempt_help.h"
#include "probe/chunk/thread.h"
#include "stored_name.h"

static const struct roast_chunk_end ok = {.status = ROAST_CHUNK_OK};

static struct roast_identity identity(const roast_record *rec)
{
    struct roast_identity id;

    assert_true(roast_record_has(rec, ROAST_FIELD_identity));
    assert_int_equal(
        roast_identity_unpack(&id, rec->values[ROAST_FIELD_identity].str, NULL),
        ROAST_OK);
    return id;
}

/* ---- the process ------------------------------------------------------------- */

static void the_first_chunk_describes_the_process_and_no_other_does(void **state)
{
    struct roast_str key;
    (void)state;

    roast_record rec = end_chunk(begin_chunk());
    struct roast_str facts = rec.values[ROAST_FIELD_process].str;
    assert_int_equal(number(&rec, ROAST_FIELD_first_chunk), 1);
    assert_true(roast_record_has(&rec, ROAST_FIELD_process));
    assert_int_equal(roast_values_check(facts, NULL), ROAST_OK);
    assert_int_equal(roast_value_next_key(&key, &facts, NULL), 1);
    assert_str_is(key, "roast_version");
    rec = end_chunk(begin_chunk());
    assert_false(roast_record_has(&rec, ROAST_FIELD_first_chunk));
    assert_false(roast_record_has(&rec, ROAST_FIELD_process));
}

static bool has_facts(const unsigned char *run_id)
{
    const struct roast_chunk_options options = {.run_id = run_id};
    roast_thread *thread = roast_thread_get(NULL);

    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    roast_record rec = end_chunk(thread);
    assert_false(roast_record_has(&rec, ROAST_FIELD_first_chunk));
    return roast_record_has(&rec, ROAST_FIELD_process);
}

/* Workers outlive runs. */
static void each_run_gets_the_facts_of_the_process(void **state)
{
    static const unsigned char first[ROAST_RUN_ID_BYTES] = {1};
    static const unsigned char second[ROAST_RUN_ID_BYTES] = {2};
    (void)state;

    assert_true(has_facts(first));
    assert_false(has_facts(first));
    assert_true(has_facts(second));
    assert_false(has_facts(second));
}

static void a_chunk_has_its_identity(void **state)
{
    static const unsigned char zeros[ROAST_RUN_ID_BYTES];
    (void)state;

    roast_record rec = end_chunk(begin_chunk());
    struct roast_identity first = identity(&rec);
    assert_int_equal(number(&rec, ROAST_FIELD_pid), getpid());
    assert_true(first.process_id == roast_process_id());
    assert_memory_equal(first.run_id, zeros, sizeof(zeros)); /* not part of a run */
    rec = end_chunk(begin_chunk());
    assert_int_equal(identity(&rec).sequence, first.sequence + 1);
    assert_int_equal(number(&rec, ROAST_FIELD_concurrency), 1);
}

static void a_chunk_carries_the_run_that_claimed_it(void **state)
{
    unsigned char run_id[ROAST_RUN_ID_BYTES];
    struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);
    (void)state;

    for (size_t i = 0; i < sizeof(run_id); i++)
        run_id[i] = (unsigned char)(0xf0 + i);
    options.run_id = run_id;
    roast_chunk_begin(thread, &options);
    run_id[0] = 0; /* borrowed for the call only */
    roast_chunk_start(thread);
    roast_record rec = end_chunk(thread);
    run_id[0] = 0xf0;
    assert_memory_equal(identity(&rec).run_id, run_id, sizeof(run_id));
}

/* ---- clocks ------------------------------------------------------------------ */

/* One clock, read directly outside and directly inside of a chunk's clocks. */
struct bracket {
    uint64_t outer_ns;
    uint64_t inner_ns;
};

struct clocked {
    struct bracket mono;
    struct bracket cpu;
    uint64_t duration_ns;
    uint64_t cpu_ns;
};

static void busy(void)
{
    int64_t until_ns = roast__clock_thread_ns() + 10 * 1000 * 1000;

    while (roast__clock_thread_ns() < until_ns)
        ;
}

static void sleepy(void)
{
    const struct timespec nap = {0, 100 * 1000 * 1000};
    (void)nanosleep(&nap, NULL);
}

static struct clocked clock_chunk(void (*work)(void))
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    roast_thread *thread = roast_thread_get(NULL);
    int64_t mono_ns[2], cpu_ns[2];

    roast_chunk_begin(thread, &options);
    mono_ns[0] = roast__clock_mono_ns();
    cpu_ns[0] = roast__clock_thread_ns();
    roast_chunk_start(thread);
    mono_ns[1] = roast__clock_mono_ns();
    cpu_ns[1] = roast__clock_thread_ns();
    work();
    cpu_ns[1] = roast__clock_thread_ns() - cpu_ns[1];
    mono_ns[1] = roast__clock_mono_ns() - mono_ns[1];
    roast_chunk_stop(thread);
    cpu_ns[0] = roast__clock_thread_ns() - cpu_ns[0];
    mono_ns[0] = roast__clock_mono_ns() - mono_ns[0];
    roast_record rec = finish_chunk(thread, ok);
    return (struct clocked){
        .mono = {(uint64_t)mono_ns[0], (uint64_t)mono_ns[1]},
        .cpu = {(uint64_t)cpu_ns[0], (uint64_t)cpu_ns[1]},
        .duration_ns = number(&rec, ROAST_FIELD_duration_ns),
        .cpu_ns = number(&rec, ROAST_FIELD_cpu_ns),
    };
}

static void assert_within(struct bracket bracket, uint64_t value_ns)
{
    assert_true(value_ns >= bracket.inner_ns);
    assert_true(value_ns <= bracket.outer_ns);
}

static bool is_tight(struct bracket bracket)
{
    return (bracket.outer_ns - bracket.inner_ns) * 20 < bracket.inner_ns;
}

/* A machine that is busy may take the core away between two clocks, so the readings are
 * not always within 5 %; with wrong clocks of the chunk they never would be. */
static void a_busy_chunk_has_the_duration_and_cpu_of_the_clocks_around_it(void **state)
{
    bool tight = false;
    (void)state;

    for (int i = 0; i < 50 && !tight; i++) {
        struct clocked chunk = clock_chunk(busy);
        assert_within(chunk.mono, chunk.duration_ns);
        assert_within(chunk.cpu, chunk.cpu_ns);
        tight = is_tight(chunk.mono) && is_tight(chunk.cpu);
    }
    assert_true(tight);
}

static void a_sleeping_chunk_has_duration_and_next_to_no_cpu(void **state)
{
    (void)state;

    struct clocked chunk = clock_chunk(sleepy);
    assert_within(chunk.mono, chunk.duration_ns);
    assert_within(chunk.cpu, chunk.cpu_ns);
    assert_true(chunk.cpu_ns * 20 < chunk.duration_ns);
}

static void a_chunk_starts_at_the_time_of_its_start(void **state)
{
    int64_t mono_ns = roast__clock_mono_ns();
    int64_t epoch_s = (int64_t)time(NULL);
    (void)state;

    roast_record rec = end_chunk(begin_chunk());
    int64_t start_ns = rec.values[ROAST_FIELD_start_mono_ns].i64;
    int64_t start_s = rec.values[ROAST_FIELD_start_epoch_ns].i64 / 1000000000;
    assert_true(start_ns >= mono_ns && start_ns <= roast__clock_mono_ns());
    assert_true(start_s >= epoch_s - 60 && start_s <= epoch_s + 60);
}

/* The times of all chunks and of the monitor fit into the elapsed time. */
static void our_own_time_is_counted_once(void **state)
{
    uint64_t counted_ns = 0;
    (void)state;

    (void)end_chunk(begin_chunk()); /* without delivery: nothing is carried over */
    int64_t from_ns = roast__clock_mono_ns();
    for (int i = 0; i < 200; i++) {
        roast_thread *thread = begin_chunk();
        roast_record rec = end_chunk(thread);
        roast_chunk_delivered(thread);
        assert_true(number(&rec, ROAST_FIELD_monitor_ns) > 0);
        counted_ns += number(&rec, ROAST_FIELD_monitor_ns);
        counted_ns += number(&rec, ROAST_FIELD_duration_ns);
    }
    assert_true(counted_ns <= (uint64_t)(roast__clock_mono_ns() - from_ns));
}

static void delivery_is_counted_with_the_next_chunk(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    (void)end_chunk(thread);
    sleepy();
    roast_chunk_delivered(thread);
    roast_record rec = end_chunk(begin_chunk());
    assert_true(number(&rec, ROAST_FIELD_monitor_ns) >= 100 * 1000 * 1000);
    assert_int_equal(thread->carried_ns, 0); /* and with no other */
}

/* ---- fields of the caller ---------------------------------------------------- */

static void facts_of_the_caller_are_in_the_record(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    assert_true(roast_chunk_active(thread));
    roast_record *rec = roast_chunk_record(thread);
    roast_record_set_str(rec, ROAST_FIELD_dataset, roast_str_of("TTbar"));
    roast_record_set_u64(rec, ROAST_FIELD_entry_start, UINT64_MAX - 1);
    roast_record_set_u64(rec, ROAST_FIELD_entry_stop, UINT64_MAX);
    roast_record back = end_chunk(thread);
    assert_false(roast_chunk_active(thread));
    assert_str_is(back.values[ROAST_FIELD_dataset].str, "TTbar");
    assert_true(number(&back, ROAST_FIELD_entry_start) == UINT64_MAX - 1);
    assert_true(number(&back, ROAST_FIELD_entry_stop) == UINT64_MAX);
    assert_int_equal(number(&back, ROAST_FIELD_status), ROAST_CHUNK_OK);
}

static void user_keys_and_custom_metrics_come_back(void **state)
{
    roast_thread *thread = begin_chunk();
    struct roast_value value;
    struct roast_str key;
    (void)state;

    roast_values_put_key(roast_chunk_user_keys(thread), roast_str_of("n_jets"));
    roast_values_put_int(roast_chunk_user_keys(thread), -7);
    roast_values_put_key(roast_chunk_custom_metrics(thread), roast_str_of("purity"));
    roast_values_put_double(roast_chunk_custom_metrics(thread), 0.5);
    roast_record rec = end_chunk(thread);
    struct roast_str keys = rec.values[ROAST_FIELD_user_keys].str;
    assert_int_equal(roast_value_next_key(&key, &keys, NULL), 1);
    assert_int_equal(roast_value_next(&value, &keys, NULL), 1);
    assert_str_is(key, "n_jets");
    assert_true(value.integer == -7);
    struct roast_str metrics = rec.values[ROAST_FIELD_custom_metrics].str;
    assert_int_equal(roast_value_next_key(&key, &metrics, NULL), 1);
    assert_int_equal(roast_value_next(&value, &metrics, NULL), 1);
    assert_str_is(key, "purity");
    assert_true(value.number == 0.5);
    assert_int_equal(keys.size_bytes + metrics.size_bytes, 0);
}

static void file_and_error_message_are_kept_without_secrets(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    roast_chunk_set_file(thread,
                         roast_str_of("root://u:pass@host//f.root?authz=token"));
    roast_chunk_stop(thread);
    roast_record rec =
        finish_chunk(thread, (struct roast_chunk_end){
                                 .status = ROAST_CHUNK_FAILED,
                                 .error_type = roast_str_of("OSError"),
                                 .error_message = roast_str_of("no https://u:p@h/f?t"),
                             });
    assert_str_is(rec.values[ROAST_FIELD_file].str,
                  stored_name("root://u:pass@host//f.root?authz=token"));
    assert_str_is(rec.values[ROAST_FIELD_error_message].str, "no https://***@h/f?***");
    assert_false(roast_record_has(&rec, ROAST_FIELD_losses));
}

static void texts_too_long_are_cut_between_characters_and_counted(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    roast_chunk_set_file(thread, long_text());
    roast_chunk_stop(thread);
    roast_record rec =
        finish_chunk(thread, (struct roast_chunk_end){.status = ROAST_CHUNK_FAILED,
                                                      .error_type = long_text(),
                                                      .error_message = long_text()});
    assert_int_equal(rec.values[ROAST_FIELD_file].str.size_bytes, 1023);
    assert_int_equal(rec.values[ROAST_FIELD_error_message].str.size_bytes, 510);
    assert_int_equal(rec.values[ROAST_FIELD_error_type].str.size_bytes, 126);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_text_cut), 3);
}

/* ---- absent fields ----------------------------------------------------------- */

static void the_first_reason_for_an_absence_counts(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    roast_chunk_absent(thread, ROAST_FIELD_uuid, ROAST_WHY_RAISED);
    roast_chunk_absent(thread, ROAST_FIELD_uuid, ROAST_WHY_NOT_GIVEN);
    roast_chunk_absent(thread, ROAST_FIELD_end_epoch_ns, ROAST_WHY_BAD_VALUE);
    roast_chunk_absent(thread, ROAST_FIELD_identity, ROAST_WHY_NO_MEMORY);
    roast_record rec = end_chunk(thread);
    assert_int_equal(why_absent(&rec, ROAST_FIELD_uuid), ROAST_WHY_RAISED);
    assert_int_equal(why_absent(&rec, ROAST_FIELD_end_epoch_ns), ROAST_WHY_BAD_VALUE);
    assert_int_equal(why_absent(&rec, ROAST_FIELD_identity), 0); /* it is there */
}

/* Consecutive short chunks skip the slow readings, with the reason. */
static void every_reading_is_present_or_has_a_reason(void **state)
{
    static const enum roast_field fields[] = {
        ROAST_FIELD_rss_before_bytes, ROAST_FIELD_rss_after_bytes,
        ROAST_FIELD_rss_peak_bytes,   ROAST_FIELD_runqueue_ns,
        ROAST_FIELD_io_read_chars,    ROAST_FIELD_io_write_chars,
        ROAST_FIELD_io_read_bytes,    ROAST_FIELD_io_write_bytes,
        ROAST_FIELD_throttled_ns};
    size_t too_short = 0;
    (void)state;

    for (size_t i = 0; i < 50 * COUNT_OF(fields); i++) {
        enum roast_field field = fields[i % COUNT_OF(fields)];
        roast_record rec = end_chunk(begin_chunk());
        uint64_t why = why_absent(&rec, field);
        assert_int_equal(roast_record_has(&rec, field), why == 0);
        assert_true(why == 0 || roast_reason_text((unsigned)why));
        too_short += why == ROAST_WHY_TOO_CLOSE;
    }
    assert_true(too_short > 0);
}

static void losses_are_summed_and_carried(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    roast_chunk_lose(thread, ROAST_LOSS_values_repr, 2);
    roast_chunk_lose(thread, ROAST_LOSS_values_repr, 3);
    roast_chunk_lose(thread, ROAST_LOSS_section_depth, UINT64_MAX);
    roast_record rec = end_chunk(thread);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_values_repr), 5);
    assert_true(loss_of(&rec, ROAST_LOSS_section_depth) == UINT64_MAX);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_values_dropped), 0);
}

static void a_chunk_holds_nothing_of_the_one_before(void **state)
{
    static const enum roast_field fields[] = {
        ROAST_FIELD_dataset,       ROAST_FIELD_file,          ROAST_FIELD_user_keys,
        ROAST_FIELD_sections,      ROAST_FIELD_losses,        ROAST_FIELD_error_type,
        ROAST_FIELD_intervals,     ROAST_FIELD_error_message, ROAST_FIELD_error_section,
        ROAST_FIELD_custom_metrics};
    roast_thread *thread = begin_chunk();
    (void)state;

    roast_record_set_str(roast_chunk_record(thread), ROAST_FIELD_dataset,
                         roast_str_of("TTbar"));
    roast_chunk_set_file(thread, roast_str_of("f.root"));
    roast_chunk_absent(thread, ROAST_FIELD_uuid, ROAST_WHY_RAISED);
    roast_chunk_lose(thread, ROAST_LOSS_values_repr, 1);
    roast_values_put_key(roast_chunk_user_keys(thread), roast_str_of("k"));
    roast_values_put_null(roast_chunk_user_keys(thread));
    roast_values_put_key(roast_chunk_custom_metrics(thread), roast_str_of("k"));
    roast_values_put_null(roast_chunk_custom_metrics(thread));
    (void)roast_section_begin(thread, roast_str_of("jets"), ROAST_SECTION_TIME);
    roast_section_failed(thread, &ok);
    roast_chunk_stop(thread);
    roast_record rec = finish_chunk(
        thread, (struct roast_chunk_end){.status = ROAST_CHUNK_FAILED,
                                         .error_type = roast_str_of("E"),
                                         .error_message = roast_str_of("m"),
                                         .error_token = &ok});
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        assert_true(roast_record_has(&rec, fields[i]));
    rec = end_chunk(begin_chunk());
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        assert_false(roast_record_has(&rec, fields[i]));
    assert_int_equal(why_absent(&rec, ROAST_FIELD_uuid), 0);
}

/* ---- begin and end frames ---------------------------------------------------- */

static void the_begin_frame_has_identity_and_place(void **state)
{
    unsigned char run_id[ROAST_RUN_ID_BYTES];
    unsigned char place[ROAST_PLACE_BYTES];
    struct roast_chunk_options options = {.run_id = run_id};
    roast_thread *thread = roast_thread_get(NULL);
    roast_record begin;
    (void)state;

    memset(run_id, 0xff, sizeof(run_id));
    roast_chunk_begin(thread, &options);
    roast_chunk_set_file(thread, long_text());
    roast_record_set_u64(roast_chunk_record(thread), ROAST_FIELD_entry_start, 1);
    roast_record_set_u64(roast_chunk_record(thread), ROAST_FIELD_entry_stop,
                         UINT32_MAX);
    struct roast_str frame = roast_chunk_begin_frame(thread);
    assert_true(frame.size_bytes > 0 && frame.size_bytes <= ROAST_BEGIN_MAX_BYTES);
    assert_int_equal(roast_record_decode(&begin, NULL, frame, NULL), ROAST_OK);
    assert_int_equal(begin.kind, ROAST_FRAME_BEGIN);
    assert_memory_equal(identity(&begin).run_id, run_id, sizeof(run_id));
    assert_true(roast_record_has(&begin, ROAST_FIELD_start_epoch_ns));
    assert_true(roast_place_pack(place, roast_chunk_record(thread)));
    assert_true(str_equal(begin.values[ROAST_FIELD_place].str, str_from(place, 16)));
    uint32_t sequence = identity(&begin).sequence;
    roast_chunk_start(thread);
    roast_record rec = end_chunk(thread);
    assert_int_equal(identity(&rec).sequence, sequence);
}

static void a_place_that_does_not_fit_leaves_a_smaller_begin_frame(void **state)
{
    roast_thread *thread = begin_chunk();
    roast_record begin;
    (void)state;

    roast_record_set_u64(roast_chunk_record(thread), ROAST_FIELD_entry_start, 0);
    roast_record_set_u64(roast_chunk_record(thread), ROAST_FIELD_entry_stop,
                         UINT64_MAX);
    struct roast_str frame = roast_chunk_begin_frame(thread);
    assert_int_equal(roast_record_decode(&begin, NULL, frame, NULL), ROAST_OK);
    assert_false(roast_record_has(&begin, ROAST_FIELD_place));
    (void)end_chunk(thread);
}

static void the_end_frame_has_the_status(void **state)
{
    roast_thread *thread = begin_chunk();
    roast_record end;
    (void)state;

    roast_chunk_stop(thread);
    roast_record rec =
        finish_chunk(thread, (struct roast_chunk_end){.status = ROAST_CHUNK_FAILED,
                                                      .error_type = long_text(),
                                                      .error_message = long_text()});
    struct roast_str frame = roast_chunk_end_frame(thread);
    assert_true(frame.size_bytes > 0 && frame.size_bytes <= ROAST_END_MAX_BYTES);
    assert_int_equal(roast_record_decode(&end, NULL, frame, NULL), ROAST_OK);
    assert_int_equal(end.kind, ROAST_FRAME_END);
    assert_int_equal(number(&end, ROAST_FIELD_status), ROAST_CHUNK_FAILED);
    assert_int_equal(number(&end, ROAST_FIELD_duration_ns),
                     number(&rec, ROAST_FIELD_duration_ns));
    assert_true(str_equal(end.values[ROAST_FIELD_identity].str,
                          rec.values[ROAST_FIELD_identity].str));
    assert_int_equal(end.values[ROAST_FIELD_error_type].str.size_bytes, 63);
    assert_true(end.values[ROAST_FIELD_end_epoch_ns].i64 >=
                rec.values[ROAST_FIELD_start_epoch_ns].i64);
}

/* ---- memory ------------------------------------------------------------------ */

static void run_usual_chunk(void)
{
    roast_thread *thread = begin_chunk();

    roast_chunk_set_file(thread, roast_str_of("root://host//store/f.root"));
    roast_values_put_key(roast_chunk_user_keys(thread), roast_str_of("n"));
    roast_values_put_int(roast_chunk_user_keys(thread), 42);
    for (int i = 0; i < 5; i++)
        pass(thread, "jets");
    (void)roast_chunk_begin_frame(thread);
    (void)end_chunk(thread);
    (void)roast_chunk_end_frame(thread);
}

static void nothing_is_allocated_after_the_first_chunk(void **state)
{
    (void)state;

    run_usual_chunk();
    test_heap_install();
    test_heap_fail(0, false);
    for (int i = 0; i < 1000; i++)
        run_usual_chunk();
    roast__heap_set(NULL);
    assert_int_equal(test_heap.calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_chunk_describes_the_process_and_no_other_does),
        cmocka_unit_test(each_run_gets_the_facts_of_the_process),
        cmocka_unit_test(a_chunk_has_its_identity),
        cmocka_unit_test(a_chunk_carries_the_run_that_claimed_it),
        cmocka_unit_test(a_busy_chunk_has_the_duration_and_cpu_of_the_clocks_around_it),
        cmocka_unit_test(a_sleeping_chunk_has_duration_and_next_to_no_cpu),
        cmocka_unit_test(a_chunk_starts_at_the_time_of_its_start),
        cmocka_unit_test(our_own_time_is_counted_once),
        cmocka_unit_test(delivery_is_counted_with_the_next_chunk),
        cmocka_unit_test(facts_of_the_caller_are_in_the_record),
        cmocka_unit_test(user_keys_and_custom_metrics_come_back),
        cmocka_unit_test(file_and_error_message_are_kept_without_secrets),
        cmocka_unit_test(texts_too_long_are_cut_between_characters_and_counted),
        cmocka_unit_test(the_first_reason_for_an_absence_counts),
        cmocka_unit_test(every_reading_is_present_or_has_a_reason),
        cmocka_unit_test(losses_are_summed_and_carried),
        cmocka_unit_test(a_chunk_holds_nothing_of_the_one_before),
        cmocka_unit_test(the_begin_frame_has_identity_and_place),
        cmocka_unit_test(a_place_that_does_not_fit_leaves_a_smaller_begin_frame),
        cmocka_unit_test(the_end_frame_has_the_status),
        cmocka_unit_test(nothing_is_allocated_after_the_first_chunk),
    };
    return cmocka_run_group_tests_name("probe/chunk", tests, NULL, NULL);
}
