/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hostile.c - crafted live files: valid checksums, invalid contents. Invalid
 * entries are left out and counted. */
#include "live_entries.h"

static int read_status(const struct live_test *test, roast_error *err)
{
    struct roast_journal_reading seen;
    roast_run *run = NULL;
    int status = roast__live_read(&run, test->path, &seen, err);

    assert_true((run != NULL) == (status == ROAST_OK));
    roast_run_free(run);
    return status;
}

/* ---- the file ------------------------------------------------------------ */

static void a_newer_format_is_reported_with_its_writer(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};
    roast_error err = {0};

    put_head(&file, 2);
    write_bytes(test->path, file.data, file.size_bytes);
    assert_int_equal(read_status(test, &err), ROAST_NEWER_FORMAT);
    assert_non_null(strstr(err.message, "written by roastcoffea 9.9, format 2; this "
                                        "roastcoffea reads 1"));
    roast__buf_release(&file);
}

/* Texts of an untrusted file must not control a terminal. */
static void the_name_of_a_writer_is_plain(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};
    roast_error err = {0};

    put_head(&file, 2);
    memcpy(file.data + 16, "\x1b[2J\nyou\xff\0", 11);
    roast__store_fixed(file.data + 80, roast__crc32c(file.data, 80), 4);
    write_bytes(test->path, file.data, file.size_bytes);
    assert_int_equal(read_status(test, &err), ROAST_NEWER_FORMAT);
    assert_non_null(strstr(err.message, "written by ?[2J?you?, format 2"));
    roast__buf_release(&file);
}

/* Its head may be longer: the CRC is its last four bytes. */
static void a_longer_head_of_a_newer_format_is_read(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};

    put_head(&file, 3);
    roast__buf_put(&file, "more in here", 12);
    roast__store_fixed(file.data + 12, 96, 4);
    roast__store_fixed(file.data + 92, roast__crc32c(file.data, 92), 4);
    write_bytes(test->path, file.data, file.size_bytes);
    assert_int_equal(read_status(test, NULL), ROAST_NEWER_FORMAT);
    roast__buf_release(&file);
}

static void format_0_is_none(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};

    put_head(&file, 0);
    write_bytes(test->path, file.data, file.size_bytes);
    assert_int_equal(read_status(test, NULL), ROAST_BAD_DATA);
    roast__buf_release(&file);
}

static void other_files_are_no_live_files(void **state)
{
    struct live_test *test = *state;
    roast_error err = {0};

    write_bytes(test->path, "SQLite format 3", 16);
    assert_int_equal(read_status(test, &err), ROAST_BAD_DATA);
    assert_non_null(strstr(err.message, "no live file"));
    write_bytes(test->path, "x", 1);
    assert_int_equal(read_status(test, NULL), ROAST_BAD_DATA);
    assert_int_equal(unlink(test->path), 0);
    assert_int_equal(read_status(test, &err), ROAST_IO);
    assert_int_equal(mkfifo(test->path, 0600), 0);
    assert_int_equal(read_status(test, NULL), ROAST_BAD_DATA); /* and does not wait */
    assert_int_equal(unlink(test->path), 0);
    assert_int_equal(symlink(test->dir, test->path), 0);
    assert_int_equal(read_status(test, NULL), ROAST_BAD_DATA);
}

static void a_live_file_is_known_by_its_first_bytes(void **state)
{
    (void)state;
    assert_true(roast__is_live((const unsigned char *)"\x89roastL\n"));
    assert_false(roast__is_live((const unsigned char *)"SQLite f"));
}

/* Each claims to be large, and only its checksum is wrong: the effort is limited, and
 * the remaining file is skipped. */
static void searching_has_an_end(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};
    struct roast_journal_reading seen;
    unsigned char head[ROAST_BLOCK_HEAD_BYTES] = {0xb1, 'r', 'l', '1'};

    roast__store_fixed(head + 8, 900000, 4);
    roast__store_fixed(head + 12, 1, 8);
    put_head(&file, ROAST_LIVE_FORMAT);
    while (file.size_bytes < 2000000)
        roast__buf_put(&file, head, sizeof(head));
    write_bytes(test->path, file.data, file.size_bytes);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.blocks, 0);
    assert_int_equal(seen.damaged, 1);
    roast_run_free(run);
    roast__buf_release(&file);
}

static void block_numbers_may_jump_to_the_end(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};
    struct roast_journal_reading seen;

    put_head(&file, ROAST_LIVE_FORMAT);
    put_block(&file, UINT64_MAX - 1, roast_str_of("\x02\x01\x02"));
    put_block(&file, UINT64_MAX, roast_str_of("\x02\x01\x04"));
    put_block(&file, 1, roast_str_of("\x02\x01\x06"));
    write_bytes(test->path, file.data, file.size_bytes);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.blocks, 1);
    assert_true(seen.lost_blocks == UINT64_MAX - 2);
    assert_int_equal(seen.damaged, 1);
    assert_int_equal(roast_run_span(run).end_ns, EPOCH_0 - MONO_0 + 1);
    roast_run_free(run);
    roast__buf_release(&file);
}

/* Damaged bytes with lost blocks count once, missing blocks count once, an invalid
 * entry counts once. */
static void one_damage_counts_once(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};
    struct roast_journal_reading seen;
    struct roast_runfile_info info;
    roast_runfile *opened = NULL;

    put_head(&file, ROAST_LIVE_FORMAT);
    put_block(&file, 1, roast_str_of("\x02\x01\x02"));
    roast__buf_put(&file, "nonsense", 8);
    put_block(&file, 9, roast_str_of("\x02\x01\x04"));
    put_block(&file, 12,
              roast_str_of("\x02\x01\x06\x02\x00")); /* a finish without a time */
    roast__buf_put(&file, "more of it", 10);
    write_bytes(test->path, file.data, file.size_bytes);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.damaged, 2);
    assert_int_equal(seen.lost_blocks, 7 + 2);
    assert_int_equal(seen.gaps, 3);
    assert_int_equal(seen.unread, 1);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_live_damaged), 4);
    assert_int_equal(roast_runfile_open(&opened, test->path, NULL), ROAST_OK);
    roast_runfile_info(opened, &info);
    assert_int_equal(info.damaged, 4);
    roast_runfile_close(opened);
    roast_run_free(run);
    roast__buf_release(&file);
}

/* The example of docs/format.md. */
static void the_example_of_the_format_is_right(void **state)
{
    static const unsigned char example[] = {
        0xb1, 0x72, 0x6c, 0x31, 0x66, 0x0a, 0x92, 0x24, 4,    0,    0,    0,
        1,    0,    0,    0,    0,    0,    0,    0,    0x02, 0x02, 0xd8, 0x04};
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};
    struct roast_journal_reading seen;

    put_head(&file, ROAST_LIVE_FORMAT);
    put_block(&file, 1, roast_str_of("\x02\x02\xd8\x04"));
    assert_memory_equal(file.data + ROAST_LIVE_HEAD_BYTES, example, sizeof(example));
    write_bytes(test->path, file.data, file.size_bytes);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(roast_run_span(run).end_ns, EPOCH_0 - MONO_0 + 300);
    roast_run_free(run);
    roast__buf_release(&file);
}

/* ---- entries ------------------------------------------------------------- */

static const struct test_entry A_FACT = {ROAST_ENTRY_loss, 1, {7}, "spool_unreadable"};

/* All entries are left out; one after them is read. */
static void assert_unread(const struct live_test *test,
                          const struct test_entry *entries, size_t count)
{
    struct roast_journal_reading seen;
    struct roast_buf bytes = {NULL, 0, 0, false};

    for (size_t i = 0; i < count; i++)
        put_entry(&bytes, &entries[i]);
    put_entry(&bytes, &A_FACT);
    write_entries(test, buf_str(&bytes));
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.unread, count);
    assert_int_equal(seen.entries, 1);
    assert_int_equal(seen.damaged, 0);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_live_damaged), count);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_spool_unreadable), 7);
    roast_run_free(run);
    roast__buf_release(&bytes);
}

static void entries_of_a_later_version_are_skipped(void **state)
{
    static const struct test_entry entries[] = {
        {0, 0, {0}, NULL},
        {ROAST_ENTRY_END, 1, {1}, "new"},
        {UINT64_MAX, 2, {1, UINT64_MAX}, "newer"},
        {ROAST_ENTRY_fact, 1, {0}, "no_such_fact"},
        {ROAST_ENTRY_fact, 1, {0}, ""},
        {ROAST_ENTRY_loss, 1, {1}, "spool_unreadable_and_more"},
        {ROAST_ENTRY_mark, 2, {0, 2}, NULL},
        {ROAST_ENTRY_mark, 2, {ROAST_MARK_RUN_RAISED + 1, 2}, NULL},
        {ROAST_ENTRY_mark, 2, {UINT64_MAX, 2}, NULL},
        {ROAST_ENTRY_note, 0, {0}, "\x04new\x02n\x02x"},
    };

    assert_unread(*state, entries, COUNT_OF(entries));
}

static void numbers_that_are_missing_are_noticed(void **state)
{
    static const struct test_entry entries[] = {
        {ROAST_ENTRY_start, 2, {1, 1}, NULL},
        {ROAST_ENTRY_finish, 0, {0}, NULL},
        {ROAST_ENTRY_accept, 0, {0}, "not of 16 bytes"},
        {ROAST_ENTRY_record, 0, {0}, NULL},
        {ROAST_ENTRY_record, 1, {3}, NULL},
        {ROAST_ENTRY_record, 4, {2, 0, 1, 1}, NULL},   /* no base for a difference */
        {ROAST_ENTRY_record, 4, {18, 0, 32, 1}, NULL}, /* status without its value */
        {ROAST_ENTRY_sample, 0, {0}, NULL},
        {ROAST_ENTRY_sample | OF_W, 2, {0, 3}, "\x01"}, /* two series, one value */
        {ROAST_ENTRY_use, 4, {3, 1, 1, 0}, NULL},
        {ROAST_ENTRY_offer, 2, {1, 1}, NULL},
        {ROAST_ENTRY_count, 1, {1}, NULL},
        {ROAST_ENTRY_fact, 0, {0}, NULL},
        {ROAST_ENTRY_loss, 0, {0}, NULL},
        {ROAST_ENTRY_mark, 1, {1}, NULL},
        {ROAST_ENTRY_note, 2, {1, 1}, NULL},
        {ROAST_ENTRY_note, 1, {UINT64_MAX}, "run"},
        {ROAST_ENTRY_note, 0, {0}, "\x04run\x7f"},
        {ROAST_ENTRY_note, 0, {0}, "\x04run\x09short"},
        {ROAST_ENTRY_series, 0, {0}, "\x02w"},
        {ROAST_ENTRY_session, 2, {1, 0}, NULL},
        {ROAST_ENTRY_part, 0, {0}, NULL},
        {ROAST_ENTRY_whole, 1, {2}, NULL},
        {ROAST_ENTRY_dropped, 0, {0}, NULL},
    };

    assert_unread(*state, entries, COUNT_OF(entries));
}

static void references_to_unknown_texts_are_left_out(void **state)
{
    static const struct test_entry entries[] = {
        {ROAST_ENTRY_sample, 3, {2, 0, 0}, NULL},
        {ROAST_ENTRY_sample, 3, {UINT64_MAX - 1, 0, 0}, NULL},
        {ROAST_ENTRY_sample, 3, {0, 0, 0}, NULL},
        {ROAST_ENTRY_task, 2, {4, 0}, NULL},
    };

    assert_unread(*state, entries, COUNT_OF(entries));
}

/* Invalid times, and values that are not finite. */
static void numbers_out_of_range_are_left_out(void **state)
{
    static const struct test_entry entries[] = {
        {ROAST_ENTRY_sample | OF_W, 2, {UINT64_MAX, 0}, NULL},
        {ROAST_ENTRY_sample | OF_W, 2, {UINT64_MAX - 1, 0}, NULL},
        {ROAST_ENTRY_fact, 1, {UINT64_C(0x7ff0000000000000)}, "report_events"},
        {ROAST_ENTRY_fact, 1, {UINT64_C(0x7ff8000000000000)}, "report_events"},
    };

    assert_unread(*state, entries, COUNT_OF(entries));
}

static void the_largest_numbers_do_no_harm(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    const uint64_t most = UINT64_MAX;
    const struct test_entry entries[] = {
        {ROAST_ENTRY_start, 3, {most, most - 1, 5}, "host"},
        {ROAST_ENTRY_finish, 1, {most}, NULL},
        {ROAST_ENTRY_finish, 1, {most - 1}, NULL},
        {ROAST_ENTRY_offer, 3, {most, most, most}, NULL},
        {ROAST_ENTRY_offer, 3, {most - 1, most, most}, NULL},
        {ROAST_ENTRY_count, 2, {most, most}, NULL},
        {ROAST_ENTRY_mark, 2, {1, most}, NULL},
        {ROAST_ENTRY_loss, 1, {most}, "frames_damaged"},
        {ROAST_ENTRY_loss, 1, {most}, "frames_damaged"},
        {ROAST_ENTRY_dropped, 1, {most}, NULL},
        {ROAST_ENTRY_dropped, 1, {most}, NULL},
        {ROAST_ENTRY_sample | OF_W, 3, {0, 2, most}, NULL},
        {ROAST_ENTRY_sample | OF_W, 3, {0, 2, most - 1}, NULL},
        {ROAST_ENTRY_sample, 1, {most}, "\x02w\x02\x02\x01"},
        {ROAST_ENTRY_use,
         6,
         {most, most, most, most, most, most},
         "\x01\x01\x01\x01\x01\x01"},
        {ROAST_ENTRY_use,
         6,
         {most, most, most, most - 1, most, most},
         "\x01\x01\x01\x01\x01\x01"},
    };

    roast_run *run = read_entries(test, entries, COUNT_OF(entries), &seen);
    assert_int_equal(seen.unread, 0);
    assert_true(seen.dropped == most);
    assert_true(roast_run_lost(run, ROAST_RUN_LOSS_frames_damaged) == most);
    struct roast_buf print = print_run(run); /* reads all of it */
    roast__buf_release(&print);
    roast_run_free(run);
}

/* Series of a later version: their values are skipped, the others are read. */
static void series_of_a_later_version_are_passed_over(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    const struct test_entry entry = {
        ROAST_ENTRY_sample | OF_W,
        5,
        {0, 1 | UINT64_C(1) << ROAST_SERIES_COUNT | UINT64_C(1) << 63, 6, 8, 10},
        NULL};

    roast_run *run = read_entries(test, &entry, 1, &seen);
    assert_int_equal(seen.entries, 1);
    const struct roast_worker_samples *worker = &run->samples.workers[0];
    assert_int_equal(roast__series_of(worker, (enum roast_series)0)->last, 3);
    assert_false(roast__series_of(worker, (enum roast_series)1)->known);
    assert_str_is(roast__strings_get(&run->strings, worker->name), "w");
    roast_run_free(run);
}

static void an_entry_that_runs_past_its_block_ends_it(void **state)
{
    static const char *const blocks[] = {
        "\x02",
        "\x02\x7f",
        "\x02\x02\x02",
        "\xff",
        "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"};
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        write_entries(test, roast_str_of(blocks[i]));
        roast_run *run = read_live(test->path, &seen);
        assert_int_equal(seen.unread, 1);
        assert_int_equal(seen.entries, 0);
        roast_run_free(run);
    }
}

/* For each of these a run has to search all others: an untrusted file must not cause
 * hours of work. */
static void many_costly_entries_are_left_out(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};
    struct roast_buf bytes = {NULL, 0, 0, false};
    struct roast_journal_reading seen;
    const uint64_t count = 20000;

    put_head(&file, ROAST_LIVE_FORMAT);
    for (uint64_t i = 0, number = 1; i < count; i++) {
        struct test_entry offer = {ROAST_ENTRY_offer, 3, {2 * (count - i), 1, 1}, NULL};
        put_entry(&bytes, &offer);
        if (bytes.size_bytes > 60000 || i == count - 1) {
            put_block(&file, number++, buf_str(&bytes));
            roast__buf_clear(&bytes);
        }
    }
    write_bytes(test->path, file.data, file.size_bytes);
    roast_run *run = read_live(test->path, &seen);
    assert_true(seen.unread > 0);
    assert_int_equal(seen.entries + seen.unread, count);
    roast_run_free(run);
    roast__buf_release(&file);
    roast__buf_release(&bytes);
}

/* ---- parts --------------------------------------------------------------- */

static void parts_that_do_not_fit_make_nothing(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;
    static const struct test_entry entries[] = {
        {ROAST_ENTRY_whole, 2, {ROAST_ENTRY_host, 1}, "without"}, /* unread */
        {ROAST_ENTRY_part, 1, {1}, "second"},                     /* unread */
        {ROAST_ENTRY_part, 1, {0}, "a"},
        {ROAST_ENTRY_part, 1, {2}, "third"},                      /* unread */
        {ROAST_ENTRY_whole, 2, {ROAST_ENTRY_host, 2}, "too few"}, /* unread */
        {ROAST_ENTRY_whole, 2, {ROAST_ENTRY_host, 1}, "again"},   /* unread */
        {ROAST_ENTRY_part, 1, {0}, "x"},
        {ROAST_ENTRY_part, 1, {0}, "\x04y"}, /* begins anew */
        {ROAST_ENTRY_part, 1, {1}, "o"},
        {ROAST_ENTRY_whole, 2, {ROAST_ENTRY_host, 2}, "u"}, /* read */
        {ROAST_ENTRY_part, 1, {0}, "x"},
        {ROAST_ENTRY_whole, 2, {ROAST_ENTRY_whole, 1}, "\x01"}, /* unread */
        {ROAST_ENTRY_part, 1, {0}, "x"},
        {ROAST_ENTRY_whole, 2, {ROAST_ENTRY_part, 1}, "\x01"}, /* unread */
        {ROAST_ENTRY_whole, 2, {ROAST_ENTRY_mark, 0}, ""},     /* unread */
    };

    roast_run *run = read_entries(test, entries, COUNT_OF(entries), &seen);
    assert_int_equal(seen.unread, 8);
    assert_int_equal(seen.entries, 1);
    assert_str_is(roast__strings_get(&run->strings, run->host), "you");
    roast_run_free(run);
}

/* Parts of two entries with a gap between them are not put together. */
static void a_gap_ends_what_was_in_parts(void **state)
{
    struct live_test *test = *state;
    struct roast_buf file = {NULL, 0, 0, false};
    struct roast_buf part = {NULL, 0, 0, false};
    struct roast_buf whole = {NULL, 0, 0, false};
    struct roast_journal_reading seen;

    put_entry(&part, &(struct test_entry){ROAST_ENTRY_part, 1, {0}, "first"});
    put_entry(&whole, &(struct test_entry){
                          ROAST_ENTRY_whole, 2, {ROAST_ENTRY_text, 1}, "second"});
    put_head(&file, ROAST_LIVE_FORMAT);
    put_block(&file, 1, buf_str(&part));
    put_block(&file, 3, buf_str(&whole));
    write_bytes(test->path, file.data, file.size_bytes);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.lost_blocks, 1);
    assert_int_equal(seen.unread, 1);
    assert_int_equal(run->names.count, 0);
    roast_run_free(run);
    roast__buf_release(&file);
    roast__buf_release(&part);
    roast__buf_release(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        live_test_of(a_newer_format_is_reported_with_its_writer),
        live_test_of(the_name_of_a_writer_is_plain),
        live_test_of(a_longer_head_of_a_newer_format_is_read),
        live_test_of(format_0_is_none),
        live_test_of(other_files_are_no_live_files),
        live_test_of(a_live_file_is_known_by_its_first_bytes),
        live_test_of(searching_has_an_end),
        live_test_of(one_damage_counts_once),
        live_test_of(block_numbers_may_jump_to_the_end),
        live_test_of(the_example_of_the_format_is_right),
        live_test_of(entries_of_a_later_version_are_skipped),
        live_test_of(numbers_that_are_missing_are_noticed),
        live_test_of(references_to_unknown_texts_are_left_out),
        live_test_of(numbers_out_of_range_are_left_out),
        live_test_of(the_largest_numbers_do_no_harm),
        live_test_of(series_of_a_later_version_are_passed_over),
        live_test_of(an_entry_that_runs_past_its_block_ends_it),
        live_test_of(many_costly_entries_are_left_out),
        live_test_of(parts_that_do_not_fit_make_nothing),
        live_test_of(a_gap_ends_what_was_in_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
