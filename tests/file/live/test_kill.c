/* SPDX-License-Identifier: BSD-3-Clause */
/* test_kill.c - a writer that is killed: everything acknowledged is in the file, and
 * nothing in the file is wrong.
 *
 * A child writes a run and reports the acknowledged changes through a pipe; it is
 * killed after a random number of those messages. ROAST_KILLS is how often, else 10. */
#include <signal.h>
#include <time.h>

#include "forks.h"
#include "live_test.h"

enum { USUAL_KILLS = 10, MOST_MESSAGES = 400 };

/* ---- the child ----------------------------------------------------------- */

/* Change n contains its number, so that the reader can identify it. */
static void make_change(roast_run *run, uint64_t n)
{
    char text[3000];
    struct test_record record;

    if (n % 3 == 0) {
        init_record(&record, ROAST_FRAME_CHUNK, 1, (uint32_t)n);
        memset(text, 'x', sizeof(text));
        text[n % sizeof(text)] = '\0';
        set_text(&record, ROAST_FIELD_file, text); /* of any length */
        roast_record_set_u64(&record.rec, ROAST_FIELD_num_events, n);
        (void)add_from(run, &record.rec, ROAST_FROM_USER);
    } else if (n % 3 == 1) {
        add_sample(run, "w", (int64_t)n, (double)n);
    } else {
        roast_run_set_fact(run, ROAST_FACT_report_events, (double)n);
    }
}

static void write_for_ever(const struct live_test *test, int out)
{
    struct roast_live_options options = {.write_every_ns = 300000,
                                         .sync_every_ns = 700000};
    struct roast_live_state now = {0};
    roast_live *live = NULL;
    roast_run *run = bare_run();

    if (roast_live_open(&live, run, test->path, &options, NULL) < 0)
        return;
    for (uint64_t n = 0;; n++) {
        make_change(run, n);
        if (n % 50 == 49 && roast_live_sync(live, NULL) < 0)
            return;
        if (n % 5 == 4) {
            roast_live_state(live, &now);
            if (write(out, &now.acknowledged, sizeof(now.acknowledged)) < 0)
                return;
        }
    }
}

/* ---- the parent ---------------------------------------------------------- */

/* Kills a child after this many messages; returns the last of them. */
static uint64_t kill_after(const struct live_test *test, int messages)
{
    uint64_t acknowledged = 0;
    int pipe_fds[2];

    assert_int_equal(pipe(pipe_fds), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)close(pipe_fds[0]);
        write_for_ever(test, pipe_fds[1]);
        _exit(1);
    }
    (void)close(pipe_fds[1]);
    for (int i = 0; i < messages; i++)
        assert_int_equal(read(pipe_fds[0], &acknowledged, sizeof(acknowledged)),
                         sizeof(acknowledged));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    while (read(pipe_fds[0], &acknowledged, sizeof(acknowledged)) ==
           sizeof(acknowledged))
        continue; /* earlier messages count too */
    (void)close(pipe_fds[0]);
    return acknowledged;
}

/* The run has the first changes and no others. */
static void assert_first_changes(roast_run *run, uint64_t count)
{
    roast_run *expected = bare_run();

    for (uint64_t n = 0; n < count; n++)
        make_change(expected, n);
    if (count == 0) /* its host may have been in the block that was cut */
        assert_int_equal(run->attempts.count + run->samples.count, 0);
    else
        assert_same_run(expected, run);
    roast_run_free(expected);
}

static void what_was_acknowledged_outlives_a_kill(void **state)
{
    struct live_test *test = *state;
    const char *kills_text = getenv("ROAST_KILLS");
    long kills = kills_text ? strtol(kills_text, NULL, 10) : USUAL_KILLS;
    struct roast_journal_reading seen;
    uint64_t cut = 0;

    srand((unsigned)getpid());
    for (long i = 0; i < kills; i++) {
        uint64_t acknowledged = kill_after(test, 1 + rand() % MOST_MESSAGES);
        roast_run *run = read_live(test->path, &seen);
        assert_true(seen.entries >= acknowledged);
        assert_int_equal(seen.damaged + seen.lost_blocks + seen.unread, 0);
        assert_int_equal(seen.dropped, 0);
        assert_first_changes(run, seen.entries);
        cut += seen.cut_bytes > 0;
        roast_run_free(run);
        assert_int_equal(unlink(test->path), 0);
    }
    print_message("%ld kills, %llu in the middle of a block\n", kills,
                  (unsigned long long)cut);
}

/* Ends after twice the time in which it may be written, without a sync. */
static void write_little(const struct live_test *test)
{
    const struct timespec half = {0, 500000000};
    roast_live *live = NULL;
    roast_run *run = bare_run();

    if (roast_live_open(&live, run, test->path, NULL, NULL) < 0)
        return;
    make_change(run, 0);
    (void)nanosleep(&half, NULL);
    (void)raise(SIGKILL);
}

static void what_is_little_is_written_soon(void **state)
{
    const struct live_test *test = *state;
    struct roast_journal_reading seen;
    int status = 0;

    pid_t child = fork();
    if (child == 0) {
        write_little(test);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    roast_run *run = read_live(test->path, &seen);
    assert_first_changes(run, 1);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        live_test_of(what_was_acknowledged_outlives_a_kill),
        live_test_of(what_is_little_is_written_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
