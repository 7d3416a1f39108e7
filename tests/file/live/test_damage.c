/* SPDX-License-Identifier: BSD-3-Clause */
/* test_damage.c - a small live file cut at every byte and with every bit flipped: never
 * a crash, never a wrong value. The result equals a run without the changes of the
 * damaged block. */
#include "file/runfile.h"
#include "live_test.h"

/* A file with one block per change, and the offsets of the blocks. */
struct pieces {
    struct roast_buf file;
    size_t starts[CHANGE_COUNT + 1]; /* and the end of the last one */
};

static void make_file(struct live_test *test, struct pieces *out)
{
    struct stat about;

    open_live(test, &MANUAL_SYNC);
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        assert_int_equal(stat(test->path, &about), 0);
        out->starts[i] = (size_t)about.st_size;
        CHANGES[i].make(test->run);
        assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    }
    close_live(test);
    out->file = read_bytes(test->path);
    out->starts[CHANGE_COUNT] = out->file.size_bytes;
    assert_int_equal(out->starts[0], ROAST_LIVE_HEAD_BYTES);
}

/* The run without change `left_out` and what needs it, made of the first `count`.
 * Whether a record belongs to the run was checked before it was written. */
static struct roast_buf print_of(size_t count, size_t left_out)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    if (left_out != 0 && count > 0) /* the first block has the host too */
        assert_int_equal(roast_run_set_host(run, roast_str_of("there"), NULL), 0);
    for (size_t i = 0; i < count; i++) {
        size_t needs = CHANGES[i].needs;
        if ((i != left_out || i == ACCEPT_CHANGE) && (needs == 0 || needs != left_out))
            CHANGES[i].make(run);
    }
    struct roast_buf print = print_run(run);
    roast_run_free(run);
    return print;
}

static uint64_t needing(size_t number)
{
    uint64_t count = 0;

    for (size_t i = 0; i < CHANGE_COUNT; i++)
        count += number > 0 && CHANGES[i].needs == number;
    return count;
}

static size_t block_at(const struct pieces *pieces, size_t offset)
{
    size_t block = 0;

    while (pieces->starts[block + 1] <= offset)
        block++;
    return block;
}

/* ---- cut ----------------------------------------------------------------- */

static void check_cut_head(const struct live_test *test, size_t size_bytes)
{
    struct roast_journal_reading seen;
    struct roast_run_info info;
    roast_run *run = NULL;
    roast_error err = {0};

    assert_int_equal(roast__live_read(&run, test->path, &seen, &err), ROAST_TRUNCATED);
    assert_int_equal(roast__run_info(&info, test->path, false, NULL),
                     size_bytes < ROAST_LIVE_MAGIC_BYTES ? ROAST_BAD_DATA
                                                         : ROAST_TRUNCATED);
    assert_null(run);
    if (size_bytes == 0)
        assert_non_null(strstr(err.message, "cut at 0 bytes"));
}

static void check_cut(const struct live_test *test, const struct pieces *pieces,
                      size_t size_bytes, const struct roast_buf *print)
{
    struct roast_journal_reading seen;
    size_t whole = 0;

    while (whole < CHANGE_COUNT && pieces->starts[whole + 1] <= size_bytes)
        whole++;
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.blocks, whole);
    assert_int_equal(seen.cut_bytes, size_bytes - pieces->starts[whole]);
    assert_int_equal(seen.damaged + seen.lost_blocks + seen.unread, 0);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_live_damaged), 0);
    assert_true(has_print(run, print));
    roast_run_free(run);
}

static void a_file_cut_anywhere_has_all_before(void **state)
{
    struct live_test *test = *state;
    struct pieces pieces;
    struct roast_buf print = {NULL, 0, 0, false};

    make_file(test, &pieces);
    for (size_t size = 0; size <= pieces.file.size_bytes; size++) {
        write_bytes(test->path, pieces.file.data, size);
        if (size < ROAST_LIVE_HEAD_BYTES) {
            check_cut_head(test, size);
            continue;
        }
        size_t block =
            size == pieces.file.size_bytes ? CHANGE_COUNT : block_at(&pieces, size);
        if (size == pieces.starts[block]) {
            roast__buf_release(&print);
            print = print_of(block, SIZE_MAX);
        }
        check_cut(test, &pieces, size, &print);
    }
    roast__buf_release(&print);
    roast__buf_release(&pieces.file);
}

/* ---- flipped ------------------------------------------------------------- */

static void flip(const struct live_test *test, const struct pieces *pieces,
                 size_t offset, unsigned bit)
{
    unsigned char byte = (unsigned char)(pieces->file.data[offset] ^ (1u << bit));
    int fd = open(test->path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    (void)close(fd);
}

static void restore(const struct live_test *test, const struct pieces *pieces)
{
    write_bytes(test->path, pieces->file.data, pieces->file.size_bytes);
}

/* Without its head the file is read all the same; without its magic it is not
 * recognised. */
static void check_flipped_head(const struct live_test *test, size_t offset,
                               const struct roast_buf *print)
{
    struct roast_journal_reading seen;
    roast_run *run = NULL;

    int status = roast__live_read(&run, test->path, &seen, NULL);
    if (offset < ROAST_LIVE_MAGIC_BYTES) {
        assert_int_equal(status, ROAST_BAD_DATA);
        assert_null(run);
        return;
    }
    assert_int_equal(status, ROAST_OK);
    assert_int_equal(seen.damaged, 1);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_live_damaged), 1);
    assert_true(has_print(run, print));
    roast_run_free(run);
}

static void every_bit_of_the_head_may_flip(void **state)
{
    struct live_test *test = *state;
    struct pieces pieces;

    make_file(test, &pieces);
    struct roast_buf print = print_of(CHANGE_COUNT, SIZE_MAX);
    for (size_t i = 0; i < 8 * (size_t)ROAST_LIVE_HEAD_BYTES; i++) {
        flip(test, &pieces, i / 8, i % 8);
        check_flipped_head(test, i / 8, &print);
        flip(test, &pieces, i / 8, 8); /* as it was */
    }
    roast__buf_release(&print);
    roast__buf_release(&pieces.file);
}

/* The last block may look cut if its size is damaged. */
static void check_flipped(const struct live_test *test, size_t block,
                          const struct roast_buf *print)
{
    struct roast_journal_reading seen;
    bool is_last = block == CHANGE_COUNT - 1;

    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.blocks, CHANGE_COUNT - 1);
    assert_int_equal(seen.damaged + (is_last && seen.cut_bytes > 0), 1);
    assert_int_equal(seen.lost_blocks, !is_last);
    assert_int_equal(seen.unread, needing(block));
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_live_damaged),
                     seen.damaged + needing(block));
    assert_true(has_print(run, print));
    roast_run_free(run);
}

static void every_bit_of_the_blocks_may_flip(void **state)
{
    struct live_test *test = *state;
    struct pieces pieces;

    make_file(test, &pieces);
    for (size_t block = 0; block < CHANGE_COUNT; block++) {
        struct roast_buf print = print_of(CHANGE_COUNT, block);
        for (size_t at = pieces.starts[block]; at < pieces.starts[block + 1]; at++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                flip(test, &pieces, at, bit);
                check_flipped(test, block, &print);
            }
            flip(test, &pieces, at, 8); /* as it was */
        }
        roast__buf_release(&print);
    }
    roast__buf_release(&pieces.file);
}

/* ---- damaged parts ------------------------------------------------------- */

static void a_stretch_of_zeros_is_one_gap(void **state)
{
    struct live_test *test = *state;
    struct pieces pieces;
    struct roast_journal_reading seen;

    make_file(test, &pieces);
    memset(pieces.file.data + pieces.starts[3] + 5, 0,
           pieces.starts[9] - pieces.starts[3]);
    restore(test, &pieces);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.blocks, CHANGE_COUNT - 7);
    assert_int_equal(seen.damaged, 1);
    assert_int_equal(seen.lost_blocks, 7);
    assert_int_equal(roast_run_lost(run, ROAST_RUN_LOSS_live_damaged), 1);
    roast_run_free(run);
    roast__buf_release(&pieces.file);
}

/* As a file system may leave it after a crash of the machine. */
static void zeros_at_the_end_are_one_gap(void **state)
{
    struct live_test *test = *state;
    struct pieces pieces;
    struct roast_journal_reading seen;

    make_file(test, &pieces);
    for (int i = 0; i < 5000; i++)
        roast__buf_put(&pieces.file, "", 1);
    restore(test, &pieces);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.blocks, CHANGE_COUNT);
    assert_int_equal(seen.damaged, 1);
    assert_int_equal(seen.cut_bytes + seen.lost_blocks, 0);
    roast_run_free(run);
    roast__buf_release(&pieces.file);
}

/* A repeated or late block is ignored. */
static void old_blocks_are_not_read_again(void **state)
{
    struct live_test *test = *state;
    struct pieces pieces;
    struct roast_journal_reading seen;

    make_file(test, &pieces);
    roast__buf_reserve(&pieces.file, pieces.file.size_bytes);
    roast__buf_put(&pieces.file, pieces.file.data + pieces.starts[2],
                   pieces.starts[6] - pieces.starts[2]);
    restore(test, &pieces);
    roast_run *run = read_live(test->path, &seen);
    assert_same_run(test->run, run);
    assert_int_equal(seen.damaged, 1);
    roast_run_free(run);
    roast__buf_release(&pieces.file);
}

/* Blocks after a long damaged part are found, whatever it contains. */
static void a_long_stretch_is_searched(void **state)
{
    struct live_test *test = *state;
    struct pieces pieces;
    struct roast_buf long_one = {NULL, 0, 0, false};
    struct roast_journal_reading seen;

    make_file(test, &pieces);
    roast__buf_put(&long_one, pieces.file.data, pieces.starts[2]);
    for (int i = 0; i < 50000; i++)
        roast__buf_put(&long_one, "\xb1rl1\xb1\xb1r", 7);
    roast__buf_put(&long_one, pieces.file.data + pieces.starts[3],
                   pieces.starts[CHANGE_COUNT] - pieces.starts[3]);
    write_bytes(test->path, long_one.data, long_one.size_bytes);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.blocks, CHANGE_COUNT - 1);
    assert_int_equal(seen.lost_blocks, 1);
    roast_run_free(run);
    roast__buf_release(&long_one);
    roast__buf_release(&pieces.file);
}

/* Names and hosts are announced again from time to time, so that data after a gap can
 * be read. */
static void names_are_announced_again(void **state)
{
    struct live_test *test = *state;
    struct roast_journal_reading seen;

    open_live(test, &MANUAL_SYNC);
    for (int64_t i = 0; i < 3 * ROAST_EPOCH_TAKES; i++) {
        add_sample(test->run, "a worker", i, 1);
        add_use(test->run, 1, 2, i);
        assert_int_equal(roast_live_sync(test->live, NULL), ROAST_OK);
    }
    close_live(test);
    struct roast_buf file = read_bytes(test->path);
    file.data[20] ^= 1;                         /* the head */
    file.data[ROAST_LIVE_HEAD_BYTES + 30] ^= 1; /* the first block */
    write_bytes(test->path, file.data, file.size_bytes);
    roast_run *run = read_live(test->path, &seen);
    assert_int_equal(seen.entries, 4 * ROAST_EPOCH_TAKES);
    assert_int_equal(seen.unread, 2 * (ROAST_EPOCH_TAKES - 1));
    assert_str_is(roast__strings_get(&run->strings, run->host), "there");
    assert_int_equal(run->samples.count, 2);
    assert_int_equal(run->samples.workers[0].ticks, 2 * ROAST_EPOCH_TAKES);
    roast_run_free(run);
    roast__buf_release(&file);
}

/* Without head and start entry there is no clock. */
static void a_file_without_clocks_is_refused(void **state)
{
    struct live_test *test = *state;
    struct pieces pieces;
    struct roast_journal_reading seen;
    roast_run *run = NULL;
    roast_error err = {0};

    make_file(test, &pieces);
    pieces.file.data[20] ^= 1;
    pieces.file.data[ROAST_LIVE_HEAD_BYTES + 30] ^= 1;
    restore(test, &pieces);
    assert_int_equal(roast__live_read(&run, test->path, &seen, &err),
                     ROAST_BAD_CHECKSUM);
    assert_null(run);
    assert_non_null(strstr(err.message, test->path));
    roast__buf_release(&pieces.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        live_test_of(a_file_cut_anywhere_has_all_before),
        live_test_of(every_bit_of_the_head_may_flip),
        live_test_of(every_bit_of_the_blocks_may_flip),
        live_test_of(a_stretch_of_zeros_is_one_gap),
        live_test_of(zeros_at_the_end_are_one_gap),
        live_test_of(old_blocks_are_not_read_again),
        live_test_of(a_long_stretch_is_searched),
        live_test_of(names_are_announced_again),
        live_test_of(a_file_without_clocks_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
