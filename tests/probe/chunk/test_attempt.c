/* SPDX-License-Identifier: BSD-3-Clause */
/* test_attempt.c - the life of an attempt on one thread: the frames around a chunk, the
 * record of an attempt that failed before its chunk, and nested attempts. Threads and
 * forks are in test_attempt_threads.c. */
#include <unistd.h>

#include "heap.h"
#include "probe/attempt_help.h"
#include "stored_name.h"

static const struct roast_attempt_item nothing_known = {.has_entries = false};
static const struct roast_attempt_item usual = {
    .dataset = {"TTbar", 5},
    .file = {"root://u:pass@host//f.root?authz=token", 38},
    .treename = {"Events", 6},
    .uuid = {"0a1b", 4},
    .has_entries = true,
    .entry_start = 100,
    .entry_stop = 350,
};

/* The default item as a decoded record. */
static roast_record usual_record(void)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};

    roast_record_set_str(&rec, ROAST_FIELD_dataset, roast_str_of("TTbar"));
    roast_record_set_str(
        &rec, ROAST_FIELD_file,
        roast_str_of(stored_name("root://u:pass@host//f.root?authz=token")));
    roast_record_set_u64(&rec, ROAST_FIELD_entry_start, 100);
    roast_record_set_u64(&rec, ROAST_FIELD_entry_stop, 350);
    return rec;
}

static void assert_is_at(const roast_record *rec, const roast_record *place_of)
{
    unsigned char place[ROAST_PLACE_BYTES];

    assert_true(roast_place_pack(place, place_of));
    assert_true(str_equal(text(rec, ROAST_FIELD_place), str_from(place, 16)));
}

/* ---- begin ------------------------------------------------------------------- */

static void the_begin_frame_has_identity_item_and_time(void **state)
{
    unsigned char run_id[ROAST_RUN_ID_BYTES];
    roast_thread *thread = roast_thread_get(NULL);
    roast_record expected = usual_record();
    int64_t before_ns = roast__clock_epoch_ns();
    (void)state;

    memset(run_id, 0xa5, sizeof(run_id));
    struct roast_str frame = roast_attempt_begin(thread, run_id, &usual);
    assert_in_range(frame.size_bytes, 1, ROAST_BEGIN_MAX_BYTES);
    roast_record begin = decoded(frame);
    assert_int_equal(begin.kind, ROAST_FRAME_BEGIN);
    assert_memory_equal(identity_of(&begin).run_id, run_id, sizeof(run_id));
    assert_true(identity_of(&begin).process_id == roast_process_id());
    assert_true(identity_of(&begin).sequence > 0);
    assert_is_at(&begin, &expected);
    int64_t epoch_ns = (int64_t)number(&begin, ROAST_FIELD_start_epoch_ns);
    assert_true(epoch_ns >= before_ns && epoch_ns <= roast__clock_epoch_ns());
    (void)end_attempt(thread, ended_ok);
}

static void an_item_of_which_nothing_is_known_has_a_begin_frame(void **state)
{
    static const unsigned char zeros[ROAST_RUN_ID_BYTES];
    roast_record unknown = {.kind = ROAST_FRAME_CHUNK};
    roast_thread *thread = roast_thread_get(NULL);
    (void)state;

    roast_record begin = decoded(roast_attempt_begin(thread, NULL, &nothing_known));
    assert_memory_equal(identity_of(&begin).run_id, zeros, sizeof(zeros));
    assert_is_at(&begin, &unknown);
    struct sent_frames sent = end_attempt(thread, ended_failed);
    assert_int_equal(sent.count, 2);
    const roast_record *failed = &sent.records[0];
    assert_false(roast_record_has(failed, ROAST_FIELD_dataset));
    assert_false(roast_record_has(failed, ROAST_FIELD_file));
    assert_false(roast_record_has(failed, ROAST_FIELD_treename));
    assert_false(roast_record_has(failed, ROAST_FIELD_uuid));
    assert_false(roast_record_has(failed, ROAST_FIELD_entry_start));
    assert_false(roast_record_has(failed, ROAST_FIELD_entry_stop));
    assert_false(roast_record_has(failed, ROAST_FIELD_absences));
}

static void entries_that_do_not_fit_leave_the_place_out(void **state)
{
    struct roast_attempt_item large = usual;
    roast_thread *thread = roast_thread_get(NULL);
    (void)state;

    large.entry_stop = UINT64_MAX;
    roast_record begin = decoded(roast_attempt_begin(thread, NULL, &large));
    assert_false(roast_record_has(&begin, ROAST_FIELD_place));
    struct sent_frames sent = end_attempt(thread, ended_failed);
    assert_true(number(&sent.records[0], ROAST_FIELD_entry_stop) == UINT64_MAX);
    assert_false(roast_record_has(&sent.records[1], ROAST_FIELD_place));
    large.entry_start = 7;
    large.entry_stop = 6;
    begin = decoded(roast_attempt_begin(thread, NULL, &large));
    assert_false(roast_record_has(&begin, ROAST_FIELD_place));
    (void)end_attempt(thread, ended_ok);
}

/* ---- the chunk inside -------------------------------------------------------- */

static void the_first_chunk_has_the_identity_of_its_attempt(void **state)
{
    unsigned char of_attempt[ROAST_RUN_ID_BYTES], of_chunk[ROAST_RUN_ID_BYTES];
    roast_thread *thread = roast_thread_get(NULL);
    (void)state;

    memset(of_attempt, 1, sizeof(of_attempt));
    memset(of_chunk, 2, sizeof(of_chunk));
    roast_record begin = decoded(roast_attempt_begin(thread, of_attempt, &usual));
    uint32_t sequence = identity_of(&begin).sequence;
    of_attempt[0] = 0; /* borrowed for the call only */
    assert_true(add_attempt_chunk(thread, of_chunk));
    of_attempt[0] = 1;
    struct sent_frames sent = end_attempt(thread, ended_ok);
    assert_int_equal(sent.count, 2);
    assert_int_equal(sent.records[0].kind, ROAST_FRAME_CHUNK);
    assert_true(same_identity(&sent.records[0], &sent.records[1]));
    assert_memory_equal(identity_of(&sent.records[0]).run_id, of_attempt, 16);
    assert_int_equal(identity_of(&sent.records[0]).sequence, sequence);
}

static void a_second_chunk_has_a_number_of_its_own(void **state)
{
    roast_thread *thread = begin_attempt(&usual);
    (void)state;

    assert_true(add_attempt_chunk(thread, NULL));
    assert_true(add_attempt_chunk(thread, NULL));
    assert_true(add_attempt_chunk(thread, NULL));
    struct sent_frames sent = end_attempt(thread, ended_ok);
    assert_int_equal(sent.count, 4);
    uint32_t sequence = identity_of(&sent.records[0]).sequence;
    assert_int_equal(identity_of(&sent.records[1]).sequence, sequence + 1);
    assert_int_equal(identity_of(&sent.records[2]).sequence, sequence + 2);
    assert_int_equal(identity_of(&sent.records[3]).sequence, sequence); /* the end */
}

static void a_chunk_after_the_attempt_is_not_its_chunk(void **state)
{
    roast_thread *thread = begin_attempt(&usual);
    (void)state;

    struct sent_frames sent = end_attempt(thread, ended_ok);
    uint32_t sequence = identity_of(&sent.records[0]).sequence;
    roast_record rec = end_chunk(begin_chunk());
    assert_int_equal(identity_of(&rec).sequence, sequence + 1);
    assert_int_equal(number(&rec, ROAST_FIELD_concurrency), 1);
}

/* ---- end --------------------------------------------------------------------- */

static void the_end_frame_has_the_times_of_the_whole_attempt(void **state)
{
    roast_thread *thread = roast_thread_get(NULL);
    int64_t mono_ns[4], cpu_ns[4];
    (void)state;

    mono_ns[0] = roast__clock_mono_ns();
    cpu_ns[0] = roast__clock_thread_ns();
    roast_record begin = decoded(roast_attempt_begin(thread, NULL, &usual));
    int64_t begin_epoch_ns = begin.values[ROAST_FIELD_start_epoch_ns].i64;
    mono_ns[1] = roast__clock_mono_ns();
    cpu_ns[1] = roast__clock_thread_ns();
    burn();
    int64_t process_ns = roast__clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    cpu_ns[2] = roast__clock_thread_ns();
    mono_ns[2] = roast__clock_mono_ns();
    struct sent_frames sent = end_attempt(thread, ended_ok);
    cpu_ns[3] = roast__clock_thread_ns();
    mono_ns[3] = roast__clock_mono_ns();
    const roast_record *end = &sent.records[0];
    assert_int_equal(sent.count, 1);
    assert_between(number(end, ROAST_FIELD_task_ns), mono_ns[2] - mono_ns[1],
                   mono_ns[3] - mono_ns[0]);
    assert_between(number(end, ROAST_FIELD_task_cpu_ns), cpu_ns[2] - cpu_ns[1],
                   cpu_ns[3] - cpu_ns[0]);
    assert_between(number(end, ROAST_FIELD_task_start_mono_ns), mono_ns[0], mono_ns[1]);
    assert_between(number(end, ROAST_FIELD_process_cpu_ns), process_ns,
                   roast__clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    assert_between(number(end, ROAST_FIELD_end_epoch_ns), begin_epoch_ns,
                   roast__clock_epoch_ns());
}

static void the_end_frame_has_the_status(void **state)
{
    roast_record expected = usual_record();
    (void)state;

    struct sent_frames sent = end_attempt(begin_attempt(&usual), ended_failed);
    roast_record end = sent.records[sent.count - 1];
    assert_int_equal(number(&end, ROAST_FIELD_status), ROAST_CHUNK_FAILED);
    assert_int_equal(number(&end, ROAST_FIELD_pid), getpid());
    assert_str_is(text(&end, ROAST_FIELD_error_type), "OSError");
    assert_is_at(&end, &expected);
    assert_false(roast_record_has(&end, ROAST_FIELD_error_message));
    assert_false(roast_record_has(&end, ROAST_FIELD_monitor_errors));
    sent = end_attempt(begin_attempt(&usual), (struct roast_chunk_end){
                                                  .status = ROAST_CHUNK_OK,
                                                  .error_type = roast_str_of("none"),
                                                  .monitor_errors = 3,
                                                  .monitor_first_error = {"spool", 5},
                                              });
    end = sent.records[0];
    assert_int_equal(sent.count, 1); /* process() may not be decorated: no record */
    assert_int_equal(number(&end, ROAST_FIELD_status), ROAST_CHUNK_OK);
    assert_false(roast_record_has(&end, ROAST_FIELD_error_type));
    assert_int_equal(number(&end, ROAST_FIELD_monitor_errors), 3);
    assert_str_is(text(&end, ROAST_FIELD_monitor_first_error), "spool");
}

/* Clock values in tests are small; here they are fifty years. */
static size_t largest_size(roast_record end)
{
    unsigned char frame[2 * ROAST_END_MAX_BYTES];

    for (int i = 0; i < ROAST_FIELD_COUNT; i++) {
        enum roast_field field = (enum roast_field)i;
        if (roast_record_has(&end, field) && field != ROAST_FIELD_status &&
            roast_field_info(field)->type == ROAST_TYPE_U64)
            end.values[field].u64 = UINT64_MAX;
    }
    return (size_t)roast_record_encode(frame, sizeof(frame), &end, NULL);
}

static void no_end_frame_is_larger_than_allowed(void **state)
{
    const struct roast_chunk_end longest = {
        .status = ROAST_CHUNK_FAILED,
        .error_type = long_text(),
        .error_message = long_text(),
        .monitor_errors = UINT64_MAX,
        .monitor_first_error = long_text(),
    };
    (void)state;

    struct sent_frames sent = end_attempt(begin_attempt(&usual), longest);
    roast_record end = sent.records[sent.count - 1];
    assert_int_equal(text(&end, ROAST_FIELD_error_type).size_bytes, 63);
    assert_int_equal(text(&end, ROAST_FIELD_monitor_first_error).size_bytes, 48);
    assert_in_range(largest_size(end), 200, ROAST_END_MAX_BYTES);
}

/* ---- failing ----------------------------------------------------------------- */

static void a_failure_before_any_chunk_has_a_record_of_its_own(void **state)
{
    roast_thread *thread = roast_thread_get(NULL);
    struct roast_chunk_end end = ended_failed;
    (void)state;

    roast_record begin = decoded(roast_attempt_begin(thread, NULL, &usual));
    int64_t epoch_ns = begin.values[ROAST_FIELD_start_epoch_ns].i64;
    end.error_message = roast_str_of("no https://u:p@h/f?t");
    struct sent_frames sent = end_attempt(thread, end);
    const roast_record *rec = &sent.records[0];
    const roast_record *last = &sent.records[1];
    assert_int_equal(sent.count, 2);
    assert_int_equal(rec->kind, ROAST_FRAME_CHUNK);
    assert_true(same_identity(rec, last));
    assert_int_equal(number(rec, ROAST_FIELD_status), ROAST_CHUNK_FAILED);
    assert_str_is(text(rec, ROAST_FIELD_file),
                  stored_name("root://u:pass@host//f.root?authz=token"));
    assert_str_is(text(rec, ROAST_FIELD_dataset), "TTbar");
    assert_str_is(text(rec, ROAST_FIELD_treename), "Events");
    assert_str_is(text(rec, ROAST_FIELD_uuid), "0a1b");
    assert_int_equal(number(rec, ROAST_FIELD_entry_start), 100);
    assert_int_equal(number(rec, ROAST_FIELD_entry_stop), 350);
    assert_str_is(text(rec, ROAST_FIELD_error_type), "OSError");
    assert_str_is(text(rec, ROAST_FIELD_error_message), "no https://***@h/f?***");
    assert_int_equal(number(rec, ROAST_FIELD_pid), getpid());
    assert_true(rec->values[ROAST_FIELD_start_epoch_ns].i64 == epoch_ns);
    assert_int_equal(number(rec, ROAST_FIELD_start_mono_ns),
                     number(last, ROAST_FIELD_task_start_mono_ns));
    assert_int_equal(number(rec, ROAST_FIELD_task_ns),
                     number(last, ROAST_FIELD_task_ns));
    assert_false(roast_record_has(rec, ROAST_FIELD_losses));
}

/* process() never began: fields measured inside of it are absent, not 0. */
static void a_failure_before_any_chunk_measured_nothing(void **state)
{
    static const enum roast_field fields[] = {
        ROAST_FIELD_duration_ns,       ROAST_FIELD_cpu_ns,
        ROAST_FIELD_num_events,        ROAST_FIELD_rss_before_bytes,
        ROAST_FIELD_rss_peak_bytes,    ROAST_FIELD_monitor_ns,
        ROAST_FIELD_sections,          ROAST_FIELD_first_chunk,
        ROAST_FIELD_rss_after_bytes,   ROAST_FIELD_bytes_read,
        ROAST_FIELD_task_start_mono_ns};
    (void)state;

    struct sent_frames sent = end_attempt(begin_attempt(&usual), ended_failed);
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        assert_false(roast_record_has(&sent.records[0], fields[i]));
}

static void a_failure_after_the_chunk_leaves_its_record_alone(void **state)
{
    roast_thread *thread = begin_attempt(&usual);
    (void)state;

    assert_true(add_attempt_chunk(thread, NULL));
    struct sent_frames sent = end_attempt(thread, ended_failed);
    assert_int_equal(sent.count, 2);
    assert_int_equal(number(&sent.records[0], ROAST_FIELD_status), ROAST_CHUNK_OK);
    assert_true(roast_record_has(&sent.records[0], ROAST_FIELD_duration_ns));
    assert_int_equal(number(&sent.records[1], ROAST_FIELD_status), ROAST_CHUNK_FAILED);
    assert_str_is(text(&sent.records[1], ROAST_FIELD_error_type), "OSError");
}

static void texts_too_long_are_cut_between_characters_and_counted(void **state)
{
    const struct roast_attempt_item longest = {.dataset = long_text(),
                                               .file = long_text(),
                                               .treename = long_text(),
                                               .uuid = long_text()};
    struct roast_chunk_end end = {ROAST_CHUNK_FAILED, long_text(), long_text(), NULL, 0,
                                  {NULL, 0}};
    (void)state;

    struct sent_frames sent = end_attempt(begin_attempt(&longest), end);
    const roast_record *rec = &sent.records[0];
    assert_int_equal(text(rec, ROAST_FIELD_dataset).size_bytes, 1023);
    assert_int_equal(text(rec, ROAST_FIELD_file).size_bytes, 1023);
    assert_int_equal(text(rec, ROAST_FIELD_treename).size_bytes, 1023);
    assert_int_equal(text(rec, ROAST_FIELD_uuid).size_bytes, 63);
    assert_int_equal(text(rec, ROAST_FIELD_error_type).size_bytes, 126);
    assert_int_equal(text(rec, ROAST_FIELD_error_message).size_bytes, 510);
    assert_int_equal(loss_of(rec, ROAST_LOSS_text_cut), 6);
    assert_false(roast_record_has(rec, ROAST_FIELD_absences));
}

/* Both are cut at the same byte, otherwise a reader sees two files. */
static void a_long_file_has_the_same_name_in_attempt_and_chunk(void **state)
{
    char name[1030];
    (void)state;

    memset(name, 'f', sizeof(name));
    for (size_t size = 1022; size <= 1026; size++) {
        struct roast_attempt_item item = {.file = str_from(name, size)};
        struct sent_frames sent = end_attempt(begin_attempt(&item), ended_failed);
        struct roast_str of_attempt = text(&sent.records[0], ROAST_FIELD_file);
        uint64_t cut = loss_of(&sent.records[0], ROAST_LOSS_text_cut);
        roast_thread *thread = begin_chunk();
        roast_chunk_set_file(thread, item.file);
        roast_record rec = end_chunk(thread);
        assert_true(str_equal(of_attempt, text(&rec, ROAST_FIELD_file)));
        assert_int_equal(cut, loss_of(&rec, ROAST_LOSS_text_cut));
    }
}

static void an_empty_text_is_not_an_absent_one(void **state)
{
    const struct roast_attempt_item item = {.dataset = {"", 0}, .file = {"f", 1}};
    roast_record expected = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_str(&expected, ROAST_FIELD_dataset, item.dataset);
    roast_record_set_str(&expected, ROAST_FIELD_file, item.file);
    struct sent_frames sent = end_attempt(begin_attempt(&item), ended_failed);
    assert_str_is(text(&sent.records[0], ROAST_FIELD_dataset), "");
    assert_str_is(text(&sent.records[0], ROAST_FIELD_file), "f");
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_treename));
    assert_is_at(&sent.records[1], &expected);
}

static void an_exception_without_a_message_is_a_failure(void **state)
{
    const struct roast_chunk_end end = {.status = ROAST_CHUNK_FAILED};
    (void)state;

    struct sent_frames sent = end_attempt(begin_attempt(&usual), end);
    assert_int_equal(sent.count, 2);
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_error_type));
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_error_message));
    assert_false(roast_record_has(&sent.records[1], ROAST_FIELD_error_type));
}

static void an_attempt_holds_nothing_of_the_one_before(void **state)
{
    const struct roast_attempt_item longest = {.dataset = long_text()};
    roast_thread *thread = begin_attempt(&longest);
    (void)state;

    assert_true(add_attempt_chunk(thread, NULL));
    assert_int_equal(end_attempt(thread, ended_failed).count, 2);
    struct sent_frames sent = end_attempt(begin_attempt(&nothing_known), ended_failed);
    assert_int_equal(sent.count, 2);
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_dataset));
    assert_false(roast_record_has(&sent.records[0], ROAST_FIELD_losses));
}

/* ---- nested attempts ---------------------------------------------------------- */

static void assert_silent_inside(roast_thread *thread, struct roast_chunk_end end)
{
    struct roast_str frames = str_from("?", 1);

    assert_null(roast_attempt_begin(thread, NULL, &nothing_known).data);
    assert_int_equal(attempt_end(thread, &end, &frames, NULL), ROAST_OK);
    assert_null(frames.data);
    assert_int_equal(frames.size_bytes, 0);
}

static void an_attempt_inside_another_is_part_of_it(void **state)
{
    roast_thread *thread = begin_attempt(&usual);
    (void)state;

    assert_silent_inside(thread, ended_failed);
    assert_true(roast_attempt_active(thread));
    assert_null(roast_attempt_begin(thread, NULL, &nothing_known).data);
    assert_true(add_attempt_chunk(thread, NULL));
    assert_silent_inside(thread, ended_ok);
    struct roast_str frames;
    assert_int_equal(attempt_end(thread, &ended_ok, &frames, NULL), ROAST_OK);
    struct sent_frames sent = end_attempt(thread, ended_failed);
    assert_int_equal(sent.count, 2);
    assert_true(same_identity(&sent.records[0], &sent.records[1]));
    roast_record expected = usual_record();
    assert_is_at(&sent.records[1], &expected);
}

static void an_attempt_inside_a_chunk_is_part_of_that(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    assert_silent_inside(thread, ended_failed);
    assert_null(roast_attempt_begin(thread, NULL, &usual).data);
    assert_false(roast_attempt_active(thread));
    assert_silent_inside(thread, ended_failed);
    struct roast_str frames;
    assert_int_equal(attempt_end(thread, &ended_failed, &frames, NULL), ROAST_OK);
    assert_null(frames.data);
    roast_record rec = end_chunk(thread);
    uint32_t sequence = identity_of(&rec).sequence;
    assert_int_equal(number(&rec, ROAST_FIELD_concurrency), 1);
    rec = end_chunk(begin_chunk());
    assert_int_equal(number(&rec, ROAST_FIELD_concurrency), 1);
    assert_int_equal(identity_of(&rec).sequence, sequence + 1);
}

/* A frame outside of an attempt must be refused, not silently lost. */
static void nothing_is_kept_outside_of_an_attempt(void **state)
{
    roast_thread *thread = roast_thread_get(NULL);
    roast_error err = {0};
    (void)state;

    struct sent_frames sent = end_attempt(begin_attempt(&usual), ended_failed);
    assert_int_equal(roast_attempt_add_frame(thread, str_from("frame", 5), &err),
                     ROAST_UNAVAILABLE);
    assert_int_equal(err.code, ROAST_UNAVAILABLE);
    assert_str_is(text(&sent.records[0], ROAST_FIELD_dataset), "TTbar");
    thread = begin_chunk();
    (void)roast_attempt_begin(thread, NULL, &usual); /* part of the chunk */
    assert_int_equal(roast_attempt_add_frame(thread, str_from("frame", 5), NULL),
                     ROAST_UNAVAILABLE);
    (void)end_chunk(thread);
    struct roast_str frames;
    assert_int_equal(attempt_end(thread, &ended_ok, &frames, NULL), ROAST_OK);
}

static void an_end_without_a_begin_sends_nothing(void **state)
{
    struct roast_str frames = str_from("?", 1);
    roast_error err = {0};
    (void)state;

    assert_int_equal(attempt_end(roast_thread_get(NULL), &ended_ok, &frames, &err),
                     ROAST_UNAVAILABLE);
    assert_int_equal(err.code, ROAST_UNAVAILABLE);
    assert_null(frames.data);
}

/* ---- memory ------------------------------------------------------------------ */

static void nothing_is_allocated_after_the_first_attempt(void **state)
{
    (void)state;

    for (int i = 0; i < 100; i++) {
        roast_thread *thread = begin_attempt(&usual);
        assert_true(add_attempt_chunk(thread, NULL));
        (void)end_attempt(thread, ended_failed);
        (void)end_attempt(begin_attempt(&usual), ended_failed);
        if (i == 0) {
            test_heap_install();
            test_heap_fail(0, false);
        }
    }
    roast__heap_set(NULL);
    assert_int_equal(test_heap.calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_begin_frame_has_identity_item_and_time),
        cmocka_unit_test(an_item_of_which_nothing_is_known_has_a_begin_frame),
        cmocka_unit_test(entries_that_do_not_fit_leave_the_place_out),
        cmocka_unit_test(the_first_chunk_has_the_identity_of_its_attempt),
        cmocka_unit_test(a_second_chunk_has_a_number_of_its_own),
        cmocka_unit_test(a_chunk_after_the_attempt_is_not_its_chunk),
        cmocka_unit_test(the_end_frame_has_the_times_of_the_whole_attempt),
        cmocka_unit_test(the_end_frame_has_the_status),
        cmocka_unit_test(no_end_frame_is_larger_than_allowed),
        cmocka_unit_test(a_failure_before_any_chunk_has_a_record_of_its_own),
        cmocka_unit_test(a_failure_before_any_chunk_measured_nothing),
        cmocka_unit_test(a_failure_after_the_chunk_leaves_its_record_alone),
        cmocka_unit_test(texts_too_long_are_cut_between_characters_and_counted),
        cmocka_unit_test(a_long_file_has_the_same_name_in_attempt_and_chunk),
        cmocka_unit_test(an_empty_text_is_not_an_absent_one),
        cmocka_unit_test(an_exception_without_a_message_is_a_failure),
        cmocka_unit_test(an_attempt_holds_nothing_of_the_one_before),
        cmocka_unit_test(an_attempt_inside_another_is_part_of_it),
        cmocka_unit_test(an_attempt_inside_a_chunk_is_part_of_that),
        cmocka_unit_test(nothing_is_kept_outside_of_an_attempt),
        cmocka_unit_test(an_end_without_a_begin_sends_nothing),
        cmocka_unit_test(nothing_is_allocated_after_the_first_attempt),
    };
    return cmocka_run_group_tests_name("probe/attempt", tests, NULL, NULL);
}
