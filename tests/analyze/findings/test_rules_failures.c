/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rules_failures.c - findings about failed chunks and dead workers: the cause and
 * the advice. */
#include "analyze/diagnosis.h"

static roast_summary *diagnose_run(roast_run *run)
{
    roast_summary *summary = summary_of(run);

    check_texts(summary);
    roast_run_free(run);
    return summary;
}

/* ---- failures -------------------------------------------------------------------- */

/* One chunk of a healthy run failed; with a duration of 0, before process(). */
static roast_summary *fail_with(const char *type, double seconds, bool again)
{
    roast_run *run = patient_new((struct patient){.chunks = 40}, NULL);
    struct frame failed = {.sequence = 1000,
                           .file = "bad.root",
                           .stop = 10,
                           .start = 3.2,
                           .duration = seconds,
                           .status = ROAST_CHUNK_FAILED,
                           .error_type = type,
                           .error_section = seconds > 0 ? "select/jets" : NULL};
    struct frame good = {
        .sequence = 1001, .file = "bad.root", .stop = 10, .start = 4, .duration = 0.5};

    add_frame(run, failed);
    if (again)
        add_frame(run, good);
    return diagnose_run(run);
}

static void assert_advice(const char *type, double seconds, const char *advice)
{
    roast_summary *summary = fail_with(type, seconds, false);

    assert_int_equal(finding_row(summary, "failures"), 0);
    assert_says(summary, "failures", "severity", "high");
    assert_says(summary, "failures", "advice", advice);
    roast_summary_free(summary);
}

static void test_advice_depends_on_the_cause(void **state)
{
    (void)state;
    assert_advice("OSError", 0.5, "again once bad.root can be read");
    assert_advice("OSError", 0, "again once bad.root can be read");
    assert_advice("FileNotFoundError", 0, "again once bad.root can be read");
    assert_advice("uproot.deserialization.DeserializationError", 0.5,
                  "again once bad.root can be read");
    assert_advice("KeyError", 0.5, "process() raised it in select/jets, fix that");
    assert_advice("KeyError", 0.5, "or everything if the fix changes what other");
    assert_advice("FileNotFoundError", 0.5, "process() raised it"); /* another one */
    assert_advice("KeyInFileError", 0,
                  "compare bad.root with other files, and with the");
    assert_advice("MemoryError", 0.5, "smaller chunks, fewer threads per process or");
    assert_advice(NULL, 0.5, "run what is missing again");
}

/* All chunks were done, and then their outputs could not be added. */
static void test_a_call_may_raise_where_no_chunk_does(void **state)
{
    roast_run *run = patient_new((struct patient){.chunks = 40}, NULL);

    (void)state;
    roast_run_set_fact(run, ROAST_FACT_runner_calls, 1);
    roast_run_set_fact(run, ROAST_FACT_runner_outputs, 0);
    mark(run, ROAST_MARK_RUN_BEGIN, 0);
    mark(run, ROAST_MARK_RUN_END, 10.5);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("failure"),
                                        roast_str_of("TypeError: NoneType + dict"),
                                        NULL),
                     ROAST_OK);
    roast_summary *summary = diagnose_run(run);
    assert_int_equal(finding_row(summary, "failures"), 0);
    assert_says(summary, "failures", "evidence",
                "TypeError: NoneType + dict; no attempt at a chunk raised it");
    assert_says(summary, "failures", "advice", "there is no result: the traceback has");
    roast_summary_free(summary);
}

/* A single thread cannot be fewer. */
static void test_no_memory_with_one_thread(void **state)
{
    roast_run *run = patient_new((struct patient){.chunks = 40, .threads = 1}, NULL);

    (void)state;
    add_frame(run, (struct frame){.sequence = 1000,
                                  .file = "bad.root",
                                  .stop = 10,
                                  .start = 3.2,
                                  .duration = 0.5,
                                  .status = ROAST_CHUNK_FAILED,
                                  .error_type = "MemoryError"});
    roast_summary *summary = diagnose_run(run);
    assert_says(summary, "failures", "advice", "smaller chunks or more memory, and ");
    roast_summary_free(summary);
}

/* The failed chunk, with more fields of its record. */
static void assert_told_fault(const char *type, const char *message, uint64_t errors,
                              const char *advice)
{
    const struct roast_endpoint endpoint = {
        .name = roast_str_of("/data"), .requests = 3, .bytes = 300, .errors = errors};
    roast_run *run = patient_new((struct patient){.chunks = 40}, NULL);

    add_frame(run, (struct frame){.sequence = 1000,
                                  .file = "bad.root",
                                  .stop = 10,
                                  .start = 3.2,
                                  .duration = 0.5,
                                  .status = ROAST_CHUNK_FAILED,
                                  .error_type = type,
                                  .error_message = message,
                                  .endpoints = endpoints_blob(&endpoint, 1)});
    roast_summary *summary = diagnose_run(run);
    assert_says(summary, "failures", "advice", advice);
    roast_summary_free(summary);
}

/* A full disk, a web service: storage without errors is not the cause. */
static void test_process_may_raise_what_reading_raises(void **state)
{
    static const char *const file = "again once bad.root can be read";
    static const char *const code = "process() raised it";

    (void)state;
    assert_told_fault("OSError", "No space left on device", 0, code);
    assert_told_fault("requests.exceptions.HTTPError", "500", 0, code);
    assert_told_fault("OSError", "Operation expired", 1, file);
    assert_told_fault("zlib.error", "Error -3 while decompressing data", 0, file);
    assert_told_fault("error", "Error -5 while decompressing data", 0, file);
    assert_told_fault("error", "unpack requires a buffer of 4 bytes", 0, code);
    assert_told_fault("error", NULL, 1, code);
    assert_told_fault("DecompressionError", "corrupt input", 0, file);
}

/* Resolved failures are a risk, and do not rank first. */
static void test_resolved_failures(void **state)
{
    roast_summary *file = fail_with("OSError", 0.5, true);
    roast_summary *code = fail_with("KeyError", 0.5, true);

    (void)state;
    assert_says(file, "failures", "severity", "medium");
    assert_says(file, "failures", "advice", "check bad.root and its storage");
    assert_says(code, "failures", "severity", "medium");
    assert_says(code, "failures", "advice",
                "tried again; process() raised it in select/jets and may do so again");
    roast_summary_free(file);
    roast_summary_free(code);
}

/* ---- dead workers ---------------------------------------------------------------- */

/* Its memory and host are not known; all workers have so many threads. */
static roast_summary *lose_a_stranger(const char *reason, int threads)
{
    roast_run *run =
        patient_new((struct patient){.chunks = 40, .threads = threads}, NULL);
    const struct roast_member member = {
        .worker = roast_str_of("tcp://10.9.9.9:1"), .joined_ns = at(0), .threads = 1};

    assert_int_equal(roast_run_add_member(run, &member, NULL), ROAST_OK);
    leave_for(run, "tcp://10.9.9.9:1", 5, reason);
    return diagnose_run(run);
}

static void test_dead_workers_without_data(void **state)
{
    roast_summary *killed = lose_a_stranger("its nanny ended it for its memory", 2);
    roast_summary *single = lose_a_stranger("its nanny ended it for its memory", 1);
    roast_summary *silent = lose_a_stranger("no heartbeat for 300 s", 2);
    roast_summary *gone = lose_a_stranger("closed", 2);

    (void)state;
    assert_says(killed, "workers_died", "advice",
                "more memory per worker, fewer threads");
    assert_says(single, "workers_died", "advice",
                "more memory per worker, or smaller chunks");
    assert_says(silent, "workers_died", "advice", "workers were cut off or killed");
    assert_says(gone, "workers_died", "advice", "read the logs of the workers");
    roast_summary_free(killed);
    roast_summary_free(single);
    roast_summary_free(silent);
    roast_summary_free(gone);
}

/* A killed worker needs smaller chunks, not larger ones. */
static void test_no_larger_chunks_where_workers_are_killed(void **state)
{
    const struct patient patient = {.chunks = 400,
                                    .per_file = 200,
                                    .events = 1000,
                                    .limit = 2000000000,
                                    .form = 0.7,
                                    .compute = 0.1};
    roast_summary *fine = diagnose(patient);
    roast_run *run = patient_new(patient, NULL);

    (void)state;
    leave_for(run, worker_named(0), 100, "its nanny ended it for its memory");
    roast_summary *killed = diagnose_run(run);
    assert_true(finding_row(fine, "chunks_too_small") >= 0);
    assert_says(killed, "workers_died", "advice", "smaller chunks");
    assert_int_equal(finding_row(killed, "chunks_too_small"), -1);
    assert_int_equal(finding_row(killed, "tasks_too_short"), -1);
    roast_summary_free(fine);
    roast_summary_free(killed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advice_depends_on_the_cause),
        cmocka_unit_test(test_a_call_may_raise_where_no_chunk_does),
        cmocka_unit_test(test_no_memory_with_one_thread),
        cmocka_unit_test(test_process_may_raise_what_reading_raises),
        cmocka_unit_test(test_resolved_failures),
        cmocka_unit_test(test_dead_workers_without_data),
        cmocka_unit_test(test_no_larger_chunks_where_workers_are_killed),
    };

    return cmocka_run_group_tests_name("finding_failures", tests, NULL, NULL);
}
