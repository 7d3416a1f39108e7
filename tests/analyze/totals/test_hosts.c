/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hosts.c - hardware, site and versions of the hosts that ran chunks, and what the
 * client has not. */
#include "analyze/runs.h"
#include "analyze/tables_named.h"
#include "record/values.h"

struct facts {
    const char *coffea; /* NULL: not known, as the site */
    const char *site;
    int64_t memory_limit_bytes; /* 0: no limit */
};

static void put_text(roast_values *values, const char *key, const char *text)
{
    if (!text)
        return;
    roast_values_put_key(values, roast_str_of(key));
    roast_values_put_text(values, roast_str_of(text));
}

static void put_int(roast_values *values, const char *key, int64_t number)
{
    if (number == 0)
        return;
    roast_values_put_key(values, roast_str_of(key));
    roast_values_put_int(values, number);
}

/* Adds the n-th chunk of a process, with the facts. */
static void add_process_chunk(roast_run *run, uint64_t process, uint32_t n,
                              const char *host, const struct facts *facts)
{
    struct roast_values values = {.too_large = false};

    put_text(&values, "roast_version", "1.0");
    put_text(&values, "coffea", facts->coffea);
    put_text(&values, "uproot", "5.6");
    put_text(&values, "awkward", "2.8");
    put_text(&values, "python", "3.11.2");
    put_text(&values, "site", facts->site);
    put_text(&values, "host", host);
    put_text(&values, "kernel", "6.1.0");
    put_text(&values, "cpu_model", "Fast 3000");
    put_int(&values, "cpus_online", 64);
    put_int(&values, "cpus_allowed", 4);
    put_int(&values, "cpu_limit_millicores", 2500);
    put_int(&values, "memory_total_bytes", INT64_C(256) << 30);
    put_int(&values, "memory_limit_bytes", facts->memory_limit_bytes);
    put_int(&values, "parent_pid", (int64_t)process); /* differs: of no interest */
    add_frame(run, (struct frame){.process = process,
                                  .host = host,
                                  .first = 1000 * process + 100 * n,
                                  .stop = 1000 * process + 100 * n + 100,
                                  .start = 1,
                                  .duration = 1,
                                  .process_facts = roast_values_blob(&values)});
    roast__values_release(&values);
}

static void add_process(roast_run *run, uint64_t process, const char *host,
                        const struct facts *facts)
{
    add_process_chunk(run, process, 0, host, facts);
}

static void note_version(roast_run *run, const char *name, const char *text)
{
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_provenance, roast_str_of(name),
                                        roast_str_of(text), NULL),
                     ROAST_OK);
}

static void assert_versions(const roast_summary *summary, const char *verdict)
{
    assert_str_is(
        text_at(summary, "checks", row_of(summary, "checks", "versions"), "verdict"),
        verdict);
}

static void processes_that_are_alike_have_one_row(void **state)
{
    const struct facts same = {"2025.3.0", "T2_XX", INT64_C(8) << 30};
    const struct facts smaller = {"2025.3.0", "T2_XX", INT64_C(4) << 30};
    const struct facts older = {"2025.1.0", NULL, 0};
    roast_run *run = run_new();
    (void)state;

    note_version(run, "version.coffea", "2025.3.0");
    note_version(run, "version.python", "3.11.2");
    note_version(run, "version.roastcoffea", "1.0");
    add_process(run, 1, "a", &same);
    add_process(run, 2, "a", &same);
    add_process(run, 3, "a", &smaller);
    add_process(run, 4, "b", &older);
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "hosts"), 3);
    assert_str_is(text_at(summary, "hosts", 0, "host"), "a");
    assert_near(number_at(summary, "hosts", 0, "processes"), 2);
    assert_str_is(text_at(summary, "hosts", 0, "cpu_model"), "Fast 3000");
    assert_near(number_at(summary, "hosts", 0, "cpus"), 64);
    assert_near(number_at(summary, "hosts", 0, "cpus_allowed"), 4);
    assert_near(number_at(summary, "hosts", 0, "cpu_limit"), 2.5);
    assert_near(number_at(summary, "hosts", 0, "memory_bytes"), 256.0 * (1 << 30));
    assert_near(number_at(summary, "hosts", 1, "memory_limit_bytes"), 4.0 * (1 << 30));
    assert_str_is(text_at(summary, "hosts", 0, "kernel"), "6.1.0");
    assert_str_is(text_at(summary, "hosts", 0, "site"), "T2_XX");
    assert_str_is(text_at(summary, "hosts", 0, "python"), "3.11.2");
    assert_str_is(text_at(summary, "hosts", 0, "coffea"), "2025.3.0");
    assert_str_is(text_at(summary, "hosts", 0, "uproot"), "5.6");
    assert_str_is(text_at(summary, "hosts", 0, "awkward"), "2.8");
    assert_str_is(text_at(summary, "hosts", 0, "roastcoffea"), "1.0");
    assert_null(text_at(summary, "hosts", 0, "differs").data);
    assert_str_is(text_at(summary, "hosts", 2, "host"), "b");
    assert_null(text_at(summary, "hosts", 2, "site").data);
    assert_str_is(text_at(summary, "hosts", 2, "differs"), "coffea 2025.1.0");
    assert_versions(summary, "differs");
    size_t row = row_of(summary, "checks", "versions");
    assert_near(number_at(summary, "checks", row, "ours"), 3);
    assert_near(number_at(summary, "checks", row, "theirs"), 4);
    roast_summary_free(summary);
    roast_run_free(run);
}

/* It had a chunk of another run in between. */
static void a_process_counts_once(void **state)
{
    const struct facts facts = {"2025.3.0", NULL, 0};
    roast_run *run = run_new();
    (void)state;

    add_process(run, 1, "a", &facts);
    add_process_chunk(run, 1, 1, "a", &facts);
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "hosts"), 1);
    assert_near(number_at(summary, "hosts", 0, "processes"), 1);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void every_other_version_is_named(void **state)
{
    const struct facts facts = {"2025.3.0", NULL, 0};
    roast_run *run = run_new();
    (void)state;

    add_process(run, 1, "a", &facts);
    roast_summary *summary = summary_of(run);
    assert_versions(summary, "absent"); /* nothing is known of the client */
    roast_summary_free(summary);
    note_version(run, "version.roastcoffea", "1.0");
    summary = summary_of(run);
    assert_versions(summary, "exact");
    assert_null(text_at(summary, "hosts", 0, "differs").data);
    roast_summary_free(summary);
    note_version(run, "version.awkward", "2.9");
    note_version(run, "version.roastcoffea", "1.1");
    summary = summary_of(run);
    assert_str_is(text_at(summary, "hosts", 0, "differs"),
                  "awkward 2.8, roastcoffea 1.0");
    roast_summary_free(summary);
    roast_run_free(run);
}

static void damaged_facts_are_a_host_alone(void **state)
{
    roast_run *run = run_new();
    (void)state;

    add_frame(run, (struct frame){.stop = 100, .duration = 1});
    roast_summary *summary = summary_of(run);
    assert_int_equal(rows_of(summary, "hosts"), 0);
    assert_versions(summary, "absent");
    roast_summary_free(summary);
    add_frame(run, (struct frame){.process = 2,
                                  .first = 100,
                                  .stop = 200,
                                  .duration = 1,
                                  .process_facts = roast_str_of("\x7f\x7f\x7f")});
    summary = summary_of(run);
    assert_int_equal(rows_of(summary, "hosts"), 1);
    assert_str_is(text_at(summary, "hosts", 0, "host"), "here");
    assert_null(text_at(summary, "hosts", 0, "kernel").data);
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_that_are_alike_have_one_row),
        cmocka_unit_test(a_process_counts_once),
        cmocka_unit_test(every_other_version_is_named),
        cmocka_unit_test(damaged_facts_are_a_host_alone),
    };

    return cmocka_run_group_tests_name("analyze/totals/hosts", tests, NULL, NULL);
}
