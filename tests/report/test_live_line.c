/* SPDX-License-Identifier: BSD-3-Clause */
/* test_live_line.c - the line of a running run. */
#include <math.h>

#include "support.h"

#include "roast/report.h"

static const struct roast_live_line typical = {
    .progress = {.begun = 45,
                 .done = 41,
                 .failed = 1,
                 .events = 4100000,
                 .bytes = 1310000000,
                 .workers = 4,
                 .rss_bytes = 3200000000},
    .seconds = 20.5,
    .machine_memory_percent = 61.2,
};

static void check_line(const struct roast_live_line *live, const char *wanted)
{
    char out[200];

    assert_int_equal(roast_report_live(out, sizeof(out), live), strlen(wanted));
    assert_string_equal(out, wanted);
}

static void test_a_running_run(void **state)
{
    (void)state;
    check_line(
        &typical,
        "20.5 s | 41 chunks done | 3 running | 1 failed | 200 kHz | "
        "0.511 Gbit/s | 4 workers | 3.20 GB in workers | 61.2 % of memory in use");
}

static void test_how_much_is_left(void **state)
{
    struct roast_live_line live = {
        .progress = {.begun = 12, .done = 10, .planned = 40, .first_s = 5},
        .seconds = 25,
        .machine_memory_percent = -1};

    (void)state;
    check_line(&live,
               "25.0 s | 10 of 40 chunks done | 60.0 s left at this rate | 2 running");
    live.progress.first_s = NAN; /* no attempt has begun */
    check_line(&live, "25.0 s | 10 of 40 chunks done | 2 running");
    live.progress.first_s = 5;
    live.progress.done = live.progress.begun = 40;
    check_line(&live, "25.0 s | 40 of 40 chunks done");
    live.progress.done = live.progress.begun = 41; /* two attempts at one chunk */
    check_line(&live, "25.0 s | 40 of 40 chunks done");
    live.progress.done = live.progress.begun = 0;
    check_line(&live, "25.0 s | 0 of 40 chunks done");
}

static void test_what_is_not_known_is_left_out(void **state)
{
    struct roast_live_line live = {.machine_memory_percent = -1};

    (void)state;
    check_line(&live, "0 s | 0 chunks done");
    live.seconds = NAN;
    live.progress.events = 10;
    live.machine_memory_percent = NAN;
    check_line(&live, "0 chunks done");
}

static void test_absurd_numbers_stay_a_line(void **state)
{
    struct roast_live_line live = {.seconds = 5e-324, .machine_memory_percent = 1e300};
    char out[400];

    (void)state;
    memset(&live.progress, 0xff, sizeof(live.progress));
    live.progress.done = 0;
    assert_in_range(roast_report_live(out, sizeof(out), &live), 1, 200);
    live.progress.done = UINT64_MAX;
    assert_in_range(roast_report_live(out, sizeof(out), &live), 1, 200);
    live.seconds = 1e300;
    assert_in_range(roast_report_live(out, sizeof(out), &live), 1, 200);
}

static void test_little_room_cuts_the_line(void **state)
{
    (void)state;
    for (size_t room = 0; room < 150; room++) {
        char *out = malloc(room + 1);
        out[room] = '#';
        size_t size = roast_report_live(out, room, &typical);
        assert_true(room == 0 ? size == 0 : size < room && out[size] == '\0');
        assert_int_equal(out[room], '#');
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_running_run),
        cmocka_unit_test(test_how_much_is_left),
        cmocka_unit_test(test_what_is_not_known_is_left_out),
        cmocka_unit_test(test_absurd_numbers_stay_a_line),
        cmocka_unit_test(test_little_room_cuts_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
