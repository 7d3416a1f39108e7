/* SPDX-License-Identifier: BSD-3-Clause */
/* test_frames.c - frames into a run and back: every record is restored exactly, counts
 * once and belongs to the run; broken frames are skipped and counted. */
#include "runs.h"

/* ---- bit by bit --------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Small, large and extreme numbers are all likely. */
static uint64_t random_number(void)
{
    static const uint64_t extremes[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, INT64_MAX};

    if (next_random() % 4 == 0)
        return extremes[next_random() % COUNT_OF(extremes)];
    return next_random() >> (next_random() % 64);
}

static struct roast_str random_text(void)
{
    static const char bytes[64] = "a\0b\xff"
                                  "\xcf\x12 pid-1 error Events 0123456789 here there";

    return str_from(bytes + next_random() % 30, next_random() % 30);
}

static void set_random(roast_record *rec, enum roast_field field)
{
    switch (roast_field_info(field)->type) {
    case ROAST_TYPE_U64:
        roast_record_set_u64(rec, field, random_number());
        break;
    case ROAST_TYPE_I64:
    case ROAST_TYPE_TIME:
        roast_record_set_i64(rec, field, (int64_t)random_number());
        break;
    case ROAST_TYPE_TEXT:
    case ROAST_TYPE_BLOB:
        roast_record_set_str(rec, field, random_text());
        break;
    }
}

/* Any of the fields, of few processes, so that values in tables match some records and
 * not others. */
static void make_random(struct test_record *record, uint32_t sequence)
{
    uint64_t fields = next_random() | next_random();

    init_record(record, ROAST_FRAME_CHUNK, next_random() % 3, sequence);
    if (next_random() % 8 == 0)
        record->rec.present = 0;
    for (int i = 0; i < ROAST_FIELD_COUNT; i++) {
        if (i != ROAST_FIELD_identity && (fields >> i) & 1)
            set_random(&record->rec, (enum roast_field)i);
    }
    if (next_random() % 4 == 0)
        set_text(record, ROAST_FIELD_host, "here");
    if (next_random() % 16 == 0)
        set_text(record, ROAST_FIELD_identity, "here"); /* not readable */
}

static void no_frame_does_harm(void **state)
{
    roast_run *run = new_run();
    struct roast_progress progress;
    struct roast_chunk_list list;
    struct roast_tracking tracking;
    (void)state;

    for (uint32_t i = 0; i < 3000; i++) {
        struct test_record record;
        make_random(&record, i / 4);
        record.rec.kind = (enum roast_frame_kind)(1 + next_random() % 3);
        (void)add_from(run, &record.rec, ROAST_FROM_USER);
    }
    roast_run_progress(run, &progress);
    assert_int_equal(progress.begun, run->attempts.count);
    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    assert_int_equal(roast_run_tracking(run, &tracking, NULL), ROAST_OK);
    roast_chunk_list_release(&list);
    roast_tracking_release(&tracking);
    roast_run_free(run);
}

static void every_record_comes_back_bit_by_bit(void **state)
{
    enum { RECORDS = 1500 };
    roast_run *run = new_run();
    struct roast_buf frames[RECORDS] = {{0}};
    (void)state;

    for (uint32_t i = 0; i < RECORDS; i++) {
        struct test_record record;
        make_random(&record, i);
        append_frame(&frames[i], &record.rec);
        assert_int_equal(add_from(run, &record.rec, ROAST_FROM_USER).kept, 1);
    }
    for (uint32_t i = 0; i < RECORDS; i++) {
        unsigned char identity[ROAST_IDENTITY_BYTES];
        struct roast_buf kept = {0};
        roast_record rec;
        assert_true(roast__attempt_record(run, i, &rec, identity));
        append_frame(&kept, &rec);
        assert_true(str_equal(buf_str(&kept), buf_str(&frames[i])));
        roast__buf_release(&kept);
        roast__buf_release(&frames[i]);
    }
    roast_run_free(run);
}

static void the_fields_of_a_record_are_known_without_it(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_CHUNK, 1, 1);
    roast_record_set_u64(&record.rec, ROAST_FIELD_monitor_ns, 5);
    add(run, &record);
    assert_true(roast__attempt_present(run, 0) == record.rec.present);
    init_record(&record, ROAST_FRAME_BEGIN, 1, 2);
    add(run, &record);
    assert_true(roast__attempt_present(run, 1) == 0);
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;
    assert_false(roast__attempt_record(run, 1, &rec, identity));
    roast_run_free(run);
}

static void some_fields_are_those_of_the_whole_record(void **state)
{
    roast_run *run = new_run();
    (void)state;

    for (uint32_t i = 0; i < 1000; i++) {
        struct test_record record;
        make_random(&record, i / 2); /* may have fields of the end frame */
        record.rec.kind = next_random() % 4 ? ROAST_FRAME_CHUNK : ROAST_FRAME_END;
        (void)add_from(run, &record.rec, ROAST_FROM_USER);
    }
    for (size_t row = 0; row < run->attempts.count; row++) {
        unsigned char identity[ROAST_IDENTITY_BYTES];
        uint64_t wanted = next_random() & next_random();
        roast_record whole, some;
        wanted &= ~(UINT64_C(1) << ROAST_FIELD_identity);
        bool has_frame = roast__attempt_record(run, row, &whole, identity);
        assert_true(roast__attempt_fields(run, row, wanted, &some) == has_frame);
        whole.present &= wanted;
        assert_same_record(&some, &whole);
    }
    roast_run_free(run);
}

/* ---- once -------------------------------------------------------------------- */

static void every_frame_counts_once(void **state)
{
    static const enum roast_frame_kind kinds[] = {ROAST_FRAME_BEGIN, ROAST_FRAME_CHUNK,
                                                  ROAST_FRAME_END};
    roast_run *run = new_run();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct test_record record;
        init_record(&record, kinds[i], 7, 1);
        add(run, &record);
        for (int again = 0; again < 3; again++) {
            struct roast_tally tally = add_from(run, &record.rec, ROAST_FROM_USER);
            assert_int_equal(tally.repeated, 1);
            assert_int_equal(tally.kept, 0);
        }
    }
    assert_int_equal(run->attempts.count, 1);
    roast_run_free(run);
}

static void the_first_of_two_records_wins(void **state)
{
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_CHUNK, 7, 1);
    roast_record_set_u64(&record.rec, ROAST_FIELD_num_events, 10);
    add(run, &record);
    roast_record_set_u64(&record.rec, ROAST_FIELD_num_events, 11);
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_WORKERS).repeated, 1);
    assert_cell(run, 0, num_events, 10);
    roast_run_free(run);
}

static void the_run_id_is_part_of_the_identity(void **state)
{
    static const unsigned char other[ROAST_RUN_ID_BYTES] = "another run!....";
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    assert_int_equal(roast_run_accept(run, other, NULL), ROAST_OK);
    init_record(&record, ROAST_FRAME_CHUNK, 7, 1);
    set_text(&record, ROAST_FIELD_host, "here");
    add(run, &record);
    identify(&record, other, 7, 1);
    add(run, &record);
    assert_int_equal(run->attempts.count, 2);
    assert_int_equal(run->attempts.process_count, 2);
    assert_true(run->attempts.processes[1].shares_clock);
    roast_run_free(run);
}

static void records_without_identity_are_all_new(void **state)
{
    roast_run *run = new_run();
    struct test_record record = {.rec = {.kind = ROAST_FRAME_CHUNK}};
    (void)state;

    set_text(&record, ROAST_FIELD_host, "there");
    roast_record_set_u64(&record.rec, ROAST_FIELD_pid, 5);
    for (int i = 0; i < 3; i++)
        assert_int_equal(add_from(run, &record.rec, ROAST_FROM_USER).kept, 1);
    identify(&record, (const unsigned char[16]){0}, 0, 1); /* similar, but not equal */
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_USER).kept, 1);
    assert_int_equal(run->attempts.count, 4);
    assert_int_equal(run->attempts.process_count, 2);
    assert_int_equal(run->attempts.processes[0].pid, 0); /* they may be of several */
    roast_run_free(run);
}

static void many_rows_are_found_again(void **state)
{
    enum { ROWS = 5000 };
    roast_run *run = new_run();
    (void)state;

    for (uint32_t i = 0; i < ROWS; i++) {
        struct test_record record;
        init_record(&record, ROAST_FRAME_BEGIN, i % 7, i);
        add(run, &record);
    }
    for (uint32_t i = ROWS; i-- > 0;) {
        struct test_record record;
        init_record(&record, ROAST_FRAME_CHUNK, i % 7, i);
        roast_record_set_u64(&record.rec, ROAST_FIELD_num_events, i);
        add(run, &record);
    }
    assert_int_equal(run->attempts.count, ROWS);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_cell(run, i, num_events, (int64_t)i);
    roast_run_free(run);
}

/* ---- whose ------------------------------------------------------------------- */

static void frames_of_other_runs_are_foreign(void **state)
{
    static const unsigned char other[ROAST_RUN_ID_BYTES] = "a checkpoint....";
    static const unsigned char none[ROAST_RUN_ID_BYTES];
    roast_run *run = new_run();
    struct test_record record;
    (void)state;

    init_record(&record, ROAST_FRAME_CHUNK, 1, 1);
    identify(&record, other, 1, 1);
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_WORKERS).foreign, 1);
    identify(&record, none, 1, 1);
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_WORKERS).foreign, 1);
    record.rec.present = 0;
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_WORKERS).foreign, 1);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_frames_foreign), 3);
    assert_int_equal(run->attempts.count, 0);
    identify(&record, other, 1, 1);
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_USER).kept, 1);
    roast_run_free(run);
}

static void a_run_that_accepts_nothing_takes_frames_without_a_run(void **state)
{
    static const unsigned char none[ROAST_RUN_ID_BYTES];
    roast_run *run = NULL;
    struct test_record record;
    (void)state;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    init_record(&record, ROAST_FRAME_CHUNK, 1, 1);
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_WORKERS).foreign, 1);
    identify(&record, none, 1, 1);
    assert_int_equal(add_from(run, &record.rec, ROAST_FROM_WORKERS).kept, 1);
    roast_run_free(run);
}

/* ---- broken ------------------------------------------------------------------ */

struct broken {
    roast_run *run;
    struct roast_buf bytes;
    uint32_t sequence;
};

static void put_good(struct broken *all)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, 1, ++all->sequence);
    append_frame(&all->bytes, &record.rec);
}

static struct roast_tally add_bytes(struct broken *all)
{
    struct roast_tally tally;
    char *tight = tight_copy(all->bytes.data, all->bytes.size_bytes);

    assert_int_equal(roast_run_add_frames(all->run,
                                          str_from(tight, all->bytes.size_bytes),
                                          ROAST_FROM_WORKERS, &tally, NULL),
                     ROAST_OK);
    free(tight);
    return tally;
}

static void broken_stretches_are_skipped_and_counted(void **state)
{
    struct broken all = {.run = new_run()};
    (void)state;

    roast__buf_put(&all.bytes, "rubbish \xcf\xcf\x12 and more", 20);
    put_good(&all);
    put_good(&all);
    all.bytes.data[all.bytes.size_bytes - 1] ^= 1; /* the second one's checksum */
    put_good(&all);
    raw_frame(&all.bytes, 0x22, roast_str_of("of version 2"));
    raw_frame(&all.bytes, 0x32, roast_str_of("of version 3")); /* same part */
    put_good(&all);
    raw_frame(&all.bytes, 0x19, roast_str_of("")); /* a kind to come */
    put_good(&all);
    roast__buf_put(&all.bytes, "\xcf\x12", 2);
    struct roast_tally tally = add_bytes(&all);
    assert_int_equal(tally.kept, 4);
    assert_int_equal(tally.damaged, 5);
    assert_int_equal(roast_run_lost(all.run, ROAST_RUN_LOSS_frames_damaged), 5);
    roast__buf_release(&all.bytes);
    roast_run_free(all.run);
}

/* Every few bytes pretend to begin a frame of half a megabyte. Checking all of them
 * would take hours for a large buffer, so the search stops, and counts the damage. */
static void a_search_has_an_end(void **state)
{
    struct broken all = {.run = new_run()};
    (void)state;

    for (int i = 0; i < 200000; i++)
        roast__buf_put(&all.bytes, "\xcf\x12\xff\xff\x20", 5);
    put_good(&all);
    struct roast_tally tally = add_bytes(&all);
    assert_int_equal(tally.damaged, 1);
    assert_int_equal(tally.kept, 0);
    roast__buf_release(&all.bytes);
    roast_run_free(all.run);
}

static void an_empty_buffer_is_fine(void **state)
{
    roast_run *run = new_run();
    struct roast_tally tally = {9, 9, 9, 9};
    struct roast_chunk_list list;
    (void)state;

    assert_int_equal(
        roast_run_add_frames(run, str_from(NULL, 0), ROAST_FROM_USER, &tally, NULL),
        ROAST_OK);
    assert_int_equal(tally.kept + tally.damaged, 0);
    assert_int_equal(
        roast_run_add_frames(run, roast_str_of(""), ROAST_FROM_USER, NULL, NULL),
        ROAST_OK);
    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    assert_int_equal(list.count, 0);
    roast_chunk_list_release(&list);
    roast_run_free(run);
    roast_run_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_comes_back_bit_by_bit),
        cmocka_unit_test(no_frame_does_harm),
        cmocka_unit_test(some_fields_are_those_of_the_whole_record),
        cmocka_unit_test(the_fields_of_a_record_are_known_without_it),
        cmocka_unit_test(every_frame_counts_once),
        cmocka_unit_test(the_first_of_two_records_wins),
        cmocka_unit_test(the_run_id_is_part_of_the_identity),
        cmocka_unit_test(records_without_identity_are_all_new),
        cmocka_unit_test(many_rows_are_found_again),
        cmocka_unit_test(frames_of_other_runs_are_foreign),
        cmocka_unit_test(a_run_that_accepts_nothing_takes_frames_without_a_run),
        cmocka_unit_test(broken_stretches_are_skipped_and_counted),
        cmocka_unit_test(a_search_has_an_end),
        cmocka_unit_test(an_empty_buffer_is_fine),
    };
    return cmocka_run_group_tests_name("run/frames", tests, NULL, NULL);
}
