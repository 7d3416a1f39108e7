/* SPDX-License-Identifier: BSD-3-Clause */
/* test_accounting.c - sums over runs: by whom, where and when; what is not known; the
 * same run twice. */
#include "analyze/runs.h"
#include "heap.h"
#include "roast/accounting.h"

#define ID "0123456789abcdef0123456789abcdef"
#define OTHER_ID "fedcba9876543210fedcba9876543210"

static void set(roast_run *run, enum roast_note_group group, const char *name,
                const char *text)
{
    assert_int_equal(
        roast_run_set_note(run, group, roast_str_of(name), roast_str_of(text), NULL),
        ROAST_OK);
}

/* An hour of two threads. Chunks of 900 s: one of ttbar, two of wjets, the second of
 * which failed; a third of each on a CPU. */
static roast_run *an_hour(const char *id, const char *user)
{
    roast_run *run = run_new();

    set(run, ROAST_NOTES_run, "id", id);
    set(run, ROAST_NOTES_run, "processor", "Analysis");
    if (user)
        set(run, ROAST_NOTES_label, "user", user);
    offer(run, 0, 2, 2);
    for (uint32_t i = 0; i < 3; i++)
        add_frame(run, (struct frame){.process = 1 + i % 2,
                                      .sequence = 1 + i,
                                      .dataset = i == 0 ? "ttbar" : "wjets",
                                      .first = i,
                                      .stop = i + 1,
                                      .start = 900 * (i / 2),
                                      .duration = 900,
                                      .cpu = 300,
                                      .status = i == 2 ? ROAST_CHUNK_FAILED : 0});
    return run;
}

static roast_accounting *accounting_new(int64_t since_ns, int64_t until_ns)
{
    roast_accounting *accounting = NULL;

    assert_int_equal(roast_accounting_new(&accounting, since_ns, until_ns, NULL),
                     ROAST_OK);
    return accounting;
}

/* Adds a run and frees it. */
static void add_run(roast_accounting *accounting, roast_run *run, const char *owner)
{
    roast_summary *summary = summary_of(run);

    assert_int_equal(roast_accounting_add(accounting, run, summary, owner, NULL),
                     ROAST_OK);
    roast_summary_free(summary);
    roast_run_free(run);
}

static struct roast_accounts sum_by(const roast_accounting *accounting,
                                    enum roast_account_by by)
{
    struct roast_accounts sums;

    assert_int_equal(roast_accounting_sum(&sums, accounting, by, NULL), ROAST_OK);
    return sums;
}

static void finish(roast_run *run, double seconds)
{
    roast_run_finish(run, NS(seconds));
}

static void numbers_of_a_run_are_those_of_its_summary(void **state)
{
    roast_accounting *accounting = accounting_new(INT64_MIN, INT64_MAX);
    roast_run *run = an_hour(ID, "me");

    (void)state;
    finish(run, 3600);
    roast_summary *summary = summary_of(run);
    assert_metric(summary, offered_thread_seconds, 7200);
    assert_metric(summary, cpu_time_seconds, 600);
    assert_metric(summary, wasted_thread_seconds, 900);
    roast_summary_free(summary);
    add_run(accounting, run, NULL);
    for (int by = 0; by < ROAST_BY_COUNT; by++) {
        struct roast_accounts sums = sum_by(accounting, (enum roast_account_by)by);
        double hours[ROAST_HOURS_COUNT] = {0};
        for (size_t i = 0; i < sums.count; i++)
            for (int hour = 0; hour < ROAST_HOURS_COUNT; hour++)
                hours[hour] += sums.items[i].hours[hour];
        assert_int_equal(sums.count, by == ROAST_BY_dataset ? 2 : 1);
        assert_int_equal(sums.items[0].runs, 1);
        assert_near(hours[ROAST_HOURS_OFFERED], 2);
        assert_near(hours[ROAST_HOURS_USED], 600.0 / 3600);
        assert_near(hours[ROAST_HOURS_WASTED], 0.25);
        assert_near(sums.items[0].efficiency, 600.0 / 7200);
        roast_accounts_release(&sums);
    }
    roast_accounting_free(accounting);
}

static void a_dataset_has_its_share(void **state)
{
    roast_accounting *accounting = accounting_new(INT64_MIN, INT64_MAX);
    roast_run *run = an_hour(ID, "me");

    (void)state;
    finish(run, 3600);
    add_run(accounting, run, NULL);
    struct roast_accounts sums = sum_by(accounting, ROAST_BY_dataset);
    assert_int_equal(sums.count, 2);
    assert_str_is(sums.items[0].name, "wjets"); /* 1800 of 2700 thread-seconds */
    assert_near(sums.items[0].hours[ROAST_HOURS_OFFERED], 2 * 2.0 / 3);
    assert_near(sums.items[0].hours[ROAST_HOURS_WASTED], 0.25);
    assert_near(sums.items[0].failed_attempts, 1);
    assert_str_is(sums.items[1].name, "ttbar");
    assert_near(sums.items[1].hours[ROAST_HOURS_WASTED], 0);
    assert_near(sums.items[1].failed_attempts, 0);
    roast_accounts_release(&sums);
    roast_accounting_free(accounting);
}

static void what_is_not_known_has_a_reason(void **state)
{
    roast_accounting *accounting = accounting_new(INT64_MIN, INT64_MAX);
    roast_run *run = run_new();

    (void)state;
    finish(run, 10);
    add_run(accounting, run, NULL);
    run = an_hour(ID, NULL);
    finish(run, 3600);
    add_run(accounting, run, "");
    run = an_hour(OTHER_ID, NULL);
    assert_int_equal(roast_accounting_add(accounting, run, NULL, NULL, NULL), ROAST_OK);
    roast_run_free(run);
    struct roast_accounts sums = sum_by(accounting, ROAST_BY_user);
    assert_int_equal(sums.count, 1);
    const struct roast_account *row = &sums.items[0];
    assert_null(row->name.data);
    assert_true(strlen(roast_account_group(ROAST_BY_user)->otherwise) > 0);
    assert_int_equal(row->runs, 3);
    assert_int_equal(row->unfinished_runs, 1);
    assert_near(row->hours[ROAST_HOURS_OFFERED], 2);
    assert_near(row->efficiency, 600.0 / 7200); /* of the run that has both */
    assert_int_equal(row->without[ROAST_HOURS_OFFERED], 2);
    assert_str_is(row->why[ROAST_HOURS_OFFERED], "no executor was recorded");
    roast_accounts_release(&sums);
    sums = sum_by(accounting, ROAST_BY_site);
    assert_null(sums.items[0].name.data);
    roast_accounts_release(&sums);
    sums = sum_by(accounting, ROAST_BY_dataset); /* two runs have none */
    assert_int_equal(sums.count, 3);
    assert_null(sums.items[2].name.data);
    assert_int_equal(sums.items[2].runs, 2);
    assert_true(isnan(sums.items[2].hours[ROAST_HOURS_USED]));
    roast_accounts_release(&sums);
    roast_accounting_free(accounting);
}

static void names_come_from_labels_and_facts(void **state)
{
    roast_accounting *accounting = accounting_new(INT64_MIN, INT64_MAX);
    roast_run *run = an_hour(ID, NULL);

    (void)state;
    set(run, ROAST_NOTES_provenance, "environment.SLURM_CLUSTER_NAME", "farm");
    set(run, ROAST_NOTES_provenance, "environment.SLURM_JOB_ID", "17");
    set(run, ROAST_NOTES_provenance, "environment.RUCIO_LOCAL_SITE_ID", "T3_CH");
    add_run(accounting, run, "carol");
    run = an_hour(OTHER_ID, "dave");
    set(run, ROAST_NOTES_provenance, "environment.GLIDEIN_CMSSite", "T1_FR");
    set(run, ROAST_NOTES_label, "site", "T2_DE");
    finish(run, 3600);
    add_run(accounting, run, "carol");
    struct roast_accounts sums = sum_by(accounting, ROAST_BY_user);
    assert_int_equal(sums.count, 2);
    assert_str_is(sums.items[0].name, "dave"); /* offered more */
    assert_str_is(sums.items[1].name, "carol");
    roast_accounts_release(&sums);
    sums = sum_by(accounting, ROAST_BY_site);
    assert_int_equal(sums.count, 2);
    assert_str_is(sums.items[0].name, "T2_DE");
    assert_str_is(sums.items[1].name, "T3_CH"); /* before that of a cluster */
    roast_accounts_release(&sums);
    roast_accounting_free(accounting);
}

/* ---- the same run ---------------------------------------------------------------- */

static roast_run *a_run_that_offered(const char *failure, double seconds, bool ended)
{
    roast_run *run = run_new();

    set(run, ROAST_NOTES_run, "id", ID);
    offer(run, 0, 1, 1);
    if (failure)
        set(run, ROAST_NOTES_run, "failure", failure);
    add_frame(run, (struct frame){
                       .sequence = 1, .stop = 1, .duration = seconds, .cpu = seconds});
    if (ended)
        finish(run, seconds);
    return run;
}

static void a_run_counts_once_and_as_it_ended(void **state)
{
    static const struct {
        bool ended;
        double seconds;
    } files[] = {{false, 1800}, {false, 5400}, {true, 7200}};

    (void)state;
    for (size_t first = 0; first < COUNT_OF(files); first++) { /* in any order */
        roast_accounting *accounting = accounting_new(INT64_MIN, INT64_MAX);
        for (size_t i = 0; i < COUNT_OF(files); i++) {
            size_t at = (first + i) % COUNT_OF(files);
            add_run(accounting,
                    a_run_that_offered(files[at].ended ? "OSError: gone" : NULL,
                                       files[at].seconds, files[at].ended),
                    NULL);
        }
        struct roast_accounts sums = sum_by(accounting, ROAST_BY_total);
        assert_int_equal(roast_accounting_repeated(accounting), 2);
        assert_int_equal(sums.count, 1);
        assert_str_is(sums.items[0].name, "all");
        assert_int_equal(sums.items[0].runs, 1);
        assert_int_equal(sums.items[0].failed_runs, 1);
        assert_int_equal(sums.items[0].unfinished_runs, 0);
        assert_near(sums.items[0].hours[ROAST_HOURS_USED], 2);
        roast_accounts_release(&sums);
        roast_accounting_free(accounting);
    }
}

static void runs_without_an_id_are_several(void **state)
{
    roast_accounting *accounting = accounting_new(INT64_MIN, INT64_MAX);

    (void)state;
    add_run(accounting, run_new(), NULL);
    add_run(accounting, run_new(), NULL);
    struct roast_accounts sums = sum_by(accounting, ROAST_BY_total);
    assert_int_equal(sums.items[0].runs, 2);
    assert_int_equal(roast_accounting_repeated(accounting), 0);
    roast_accounts_release(&sums);
    roast_accounting_free(accounting);
}

/* ---- weeks ----------------------------------------------------------------------- */

static void a_week_is_that_of_iso_8601(void **state)
{
    static const struct {
        int64_t start_s; /* since 1970, UTC */
        const char *week;
    } weeks[] = {
        {1704067199, "2023-W52"}, {1704067200, "2024-W01"}, /* 2024-01-01 */
        {1735516799, "2024-W52"}, {1735516800, "2025-W01"}, /* 2024-12-30 */
        {1798761600, "2026-W53"},                           /* 2027-01-01 is a Friday */
        {1799020800, "2027-W01"}, {1, "1970-W01"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(weeks); i++) {
        roast_accounting *accounting = accounting_new(INT64_MIN, INT64_MAX);
        roast_run *run = NULL;
        assert_int_equal(
            roast_run_new(&run, 0, weeks[i].start_s * INT64_C(1000000000), NULL),
            ROAST_OK);
        add_run(accounting, run, NULL);
        struct roast_accounts sums = sum_by(accounting, ROAST_BY_week);
        assert_str_is(sums.items[0].name, weeks[i].week);
        roast_accounts_release(&sums);
        roast_accounting_free(accounting);
    }
}

static void runs_of_other_days_are_left_out(void **state)
{
    static const struct {
        int64_t since_ns, until_ns;
        size_t rows;
    } days[] = {
        {RUN_EPOCH_NS, INT64_MAX, 1},
        {RUN_EPOCH_NS + 1, INT64_MAX, 0},
        {INT64_MIN, RUN_EPOCH_NS, 0},
        {INT64_MIN, RUN_EPOCH_NS + 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(days); i++) {
        roast_accounting *accounting =
            accounting_new(days[i].since_ns, days[i].until_ns);
        add_run(accounting, an_hour(ID, "me"), NULL);
        struct roast_accounts sums = sum_by(accounting, ROAST_BY_week);
        assert_int_equal(sums.count, days[i].rows);
        roast_accounts_release(&sums);
        roast_accounting_free(accounting);
    }
}

/* ---- memory ---------------------------------------------------------------------- */

static int account_twice(const roast_summary *summary, roast_run *run)
{
    roast_accounting *accounting = NULL;
    struct roast_accounts sums = {0};
    int status = roast_accounting_new(&accounting, INT64_MIN, INT64_MAX, NULL);

    for (int i = 0; i < 2 && status == ROAST_OK; i++)
        status = roast_accounting_add(accounting, run, summary, NULL, NULL);
    if (status == ROAST_OK)
        status = roast_accounting_sum(&sums, accounting, ROAST_BY_dataset, NULL);
    if (status == ROAST_OK)
        assert_int_equal(sums.count, 2);
    roast_accounts_release(&sums);
    roast_accounting_free(accounting);
    return status;
}

static void it_survives_a_lack_of_memory(void **state)
{
    roast_run *run = an_hour(ID, "me");
    int status = ROAST_NO_MEMORY;

    (void)state;
    finish(run, 3600);
    roast_summary *summary = summary_of(run);
    size_t before = test_heap.live_blocks;
    for (size_t n = 1; status != ROAST_OK; n++) {
        test_heap_fail(n, false);
        status = account_twice(summary, run);
        if (test_heap_failed())
            assert_int_equal(status, ROAST_NO_MEMORY);
        test_heap_fail(0, false);
        assert_int_equal(test_heap.live_blocks, before);
    }
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_run_are_those_of_its_summary),
        cmocka_unit_test(a_dataset_has_its_share),
        cmocka_unit_test(what_is_not_known_has_a_reason),
        cmocka_unit_test(names_come_from_labels_and_facts),
        cmocka_unit_test(a_run_counts_once_and_as_it_ended),
        cmocka_unit_test(runs_without_an_id_are_several),
        cmocka_unit_test(a_week_is_that_of_iso_8601),
        cmocka_unit_test(runs_of_other_days_are_left_out),
        cmocka_unit_test(it_survives_a_lack_of_memory),
    };

    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
