/* SPDX-License-Identifier: BSD-3-Clause */
/* test_measurement.c - what metrics.json says, told to a sink: facts, the span, samples
 * in their zone, notes, and nothing twice. Records are in test_measurement_records.c. */
#include "collect/measurement_help.h"
#include "collect/measurement_time.h"

static const struct roast_measurement_timing some_time = {.start_s = 1700000000.5,
                                                          .end_s = 1700000010.75};

static struct heard hear_at(const char *text,
                            const struct roast_measurement_timing *timing)
{
    struct document document = document_of(text);
    struct heard heard = {.calls = 0};
    roast_error err = {0};
    int status = read_metrics(&heard, &document, timing, &err);

    assert_string_equal(err.message, "");
    assert_int_equal(status, ROAST_OK);
    return heard;
}

static struct heard hear(const char *text)
{
    return hear_at(text, &some_time);
}

/* ---- facts ----------------------------------------------------------------------- */

static void test_numbers_that_stand_for_the_report(void **state)
{
    struct heard heard =
        hear("{\"total_events\": 12, \"total_bytes_read\": 3.5e3, \"num_chunks\": 2,"
             " \"total_cpu_time\": 0.25, \"runner_calls\": 1, \"runner_failures\": 0,"
             " \"monitor_errors\": 3, \"raw_chunk_metrics\": [{\"monitor_errors\": 1}],"
             " \"__roastcoffea__\": {}}");

    (void)state;
    assert_told(&heard, "fact report_events 12");
    assert_told(&heard, "fact report_bytes 3500");
    assert_told(&heard, "fact report_chunks 2");
    assert_told(&heard, "fact report_process_seconds 0.25");
    assert_told(&heard, "fact runner_calls 1");
    assert_told(&heard, "fact runner_failures 0");
    assert_told(&heard, "fact monitor_errors 2"); /* the third is the record's */
    heard_release(&heard);
}

/* 0.1.2 wrote 0 for what it did not know. */
static void test_zero_is_a_number_of_ours_alone(void **state)
{
    struct heard heard = hear("{\"total_events\": 0}");

    (void)state;
    assert_false(was_told(&heard, "fact report_events 0"));
    heard_release(&heard);
    heard = hear("{\"total_events\": 0, \"__roastcoffea__\": {\"encoding\": 1}}");
    assert_told(&heard, "fact report_events 0");
    heard_release(&heard);
}

static void test_what_is_no_number_is_no_fact(void **state)
{
    struct heard heard =
        hear("{\"total_events\": 5, \"total_bytes_read\": null, \"num_chunks\": true,"
             " \"total_cpu_time\": \"1\", \"total_events\": -1}");

    (void)state;
    assert_null(memmem(heard.lines.data, heard.lines.size_bytes, "fact", 4));
    heard_release(&heard);
}

static void test_facts_of_spans(void **state)
{
    struct heard heard = hear(
        "{\"raw_span_metrics\": {\"('execute', 'P', 'thread-cpu', 'seconds')\": 3},"
        " \"processor_cpu_time_seconds\": 3, \"overhead_cpu_time_seconds\": 0.5,"
        " \"processor_io_wait_time_seconds\": 1}");

    (void)state;
    assert_told(&heard, "fact span_cpu_seconds 3.5");
    assert_null(memmem(heard.lines.data, heard.lines.size_bytes, "noncpu", 6));
    heard_release(&heard);
    heard = hear("{\"raw_span_metrics\": {}, \"cpu_time_seconds\": 3,"
                 " \"__roastcoffea__\": {}}");
    assert_false(was_told(&heard, "fact span_cpu_seconds 3"));
    heard_release(&heard);
}

/* ---- the span -------------------------------------------------------------------- */

static void test_span_of_the_epoch(void **state)
{
    struct heard heard = hear("{}");

    (void)state;
    assert_told(&heard, "span 1700000000500000000 1700000010750000000");
    heard_release(&heard);
    heard = hear("{\"wall_time\": 10.250000123}");
    assert_told(&heard, "span 1700000000500000000 1700000010750000123");
    heard_release(&heard);
    heard = hear("{\"wall_time\": 10.3}"); /* of something else */
    assert_told(&heard, "span 1700000000500000000 1700000010750000000");
    heard_release(&heard);
}

static const struct roast_measurement_timing no_date = {
    .start_s = 100, .end_s = 110, .saved_ns = INT64_C(1700000100000000000)};

/* 0.1.2 took its times from a clock without a date. */
static void test_span_without_a_date(void **state)
{
    struct heard heard = hear_at(
        "{\"tracking_data\": {\"worker_counts\": {\"2023-11-14T22:13:20\": 2}},"
        " \"raw_chunk_metrics\": [{\"t_start\": 1700000001, \"t_end\": 1700000002}]}",
        &no_date);

    (void)state;
    assert_told(&heard, "span 1700000000000000000 1700000010000000000");
    heard_release(&heard);
    heard = hear_at("{\"raw_chunk_metrics\": [{\"t_start\": 1700000003,"
                    " \"t_end\": 1700000004.5}, {\"t_start\": 1.0, \"t_end\": 2.0}]}",
                    &no_date);
    assert_told(&heard, "span 1699999994500000000 1700000004500000000");
    heard_release(&heard);
    heard = hear_at("{}", &no_date);
    assert_told(&heard, "span 1700000090000000000 1700000100000000000");
    heard_release(&heard);
    const struct roast_measurement_timing nothing = {.start_s = 100, .end_s = 90};
    heard = hear_at("{}", &nothing);
    assert_told(&heard, "span 100000000000 100000000000");
    heard_release(&heard);
}

/* ---- samples --------------------------------------------------------------------- */

static void test_series_meet_at_their_moments(void **state)
{
    struct heard heard = hear(
        "{\"tracking_data\": {\"worker_counts\": {\"2025-01-01T00:00:02+00:00\": 3,"
        " \"2025-01-01T00:00:01+00:00\": 2, \"noon\": 4},"
        " \"worker_memory\": {\"a\": [[\"2025-01-01T00:00:01.5+00:00\", 5],"
        " [\"2025-01-01T00:00:01+00:00\", 4]], \"b\": []},"
        " \"worker_cpu\": {\"a\": [[\"2025-01-01T01:00:01+01:00\", 50.5], 3,"
        " [\"2025-01-01T00:00:03Z\", null], [\"x\", 1], [\"2025-01-01T00:00:03Z\", 1,"
        " 2]]}, \"worker_new\": {\"a\": [1]}}}");

    (void)state;
    assert_told(&heard, "count 1735689601000000000 2");
    assert_told(&heard, "count 1735689602000000000 3");
    assert_told(&heard, "sample a 1735689601000000000 memory=4 cpu=50.5");
    assert_told(&heard, "sample a 1735689601500000000 memory=5");
    assert_int_equal(heard.lost, 5);
    assert_told(&heard, "document imported_metrics = "
                        "{\"tracking_data\":{\"worker_new\":{\"a\":[1]}}}");
    heard_release(&heard);
}

static void test_samples_as_objects(void **state)
{
    struct heard heard = hear(
        "{\"tracking_data\": {\"worker_counts\": [{\"timestamp\":"
        " \"2025-01-01T00:00:00+00:00\", \"worker_count\": 2}, {\"timestamp\":"
        " \"2025-01-01T00:00:00+00:00\", \"worker_count\": 1e30}],"
        " \"worker_memory\": {\"w\": [{\"timestamp\": \"2025-01-01T00:00:00+00:00\","
        " \"memory_bytes\": 7}, {\"memory_bytes\": 8}]}}}");

    (void)state;
    assert_told(&heard, "count 1735689600000000000 2");
    assert_told(&heard, "sample w 1735689600000000000 memory=7");
    assert_int_equal(heard.lost, 2);
    heard_release(&heard);
}

/* Times without a zone were local: `last_seen` tells by how much. */
static void test_zone_of_last_seen(void **state)
{
    struct heard heard =
        hear("{\"tracking_data\": {\"worker_counts\": {\"2025-01-01T05:30:00\": 1},"
             " \"worker_last_seen\": {\"w\": [[\"2025-01-01T05:30:00\","
             " 1735689598.5]]}}}");

    (void)state;
    assert_told(&heard, "count 1735689600000000000 1");
    heard_release(&heard);
    heard = hear("{\"tracking_data\": {\"worker_counts\": {\"2025-01-01T05:30:00\": 1},"
                 " \"worker_last_seen\": {\"w\": [[\"2025-01-01T05:30:00\", 1.0]]}}}");
    assert_told(&heard, "count 1735709400000000000 1"); /* as if it were UTC */
    heard_release(&heard);
}

static void test_zone_of_the_last_chunk(void **state)
{
    struct heard heard = hear(
        "{\"tracking_data\": {\"worker_counts\": {\"2024-12-31T19:00:00\": 1,"
        " \"2024-12-31T19:01:00\": 2}},"
        " \"raw_chunk_metrics\": [{\"t_start\": 1735689610, \"t_end\": 1735689640}]"
        "}");

    (void)state;
    assert_told(&heard, "count 1735689600000000000 1");
    heard_release(&heard);
}

static void test_times(void **state)
{
    static const struct {
        const char *text;
        int64_t time_us;
        bool naive;
    } good[] = {
        {"1970-01-01T00:00:00", 0, true},
        {"2000-02-29 23:59:59.000001Z", INT64_C(951868799000001), false},
        {"2024-12-31T23:59:59.1234567+05:30:10", INT64_C(1735669789123456), false},
        {"2100-03-01T00:00:00-01:00", INT64_C(4107546000000000), false},
    };
    static const char *const bad[] = {
        "",
        "2025-01-01",
        "2025-1-01T00:00:00",
        "2025-13-01T00:00:00",
        "2025-02-29T00:00:00",
        "2025-01-01T24:00:00",
        "2025-01-01T00:60:00",
        "2025-01-01T00:00:00.",
        "2025-01-01T00:00:00+",
        "2025-01-01T00:00:00+1",
        "2025-01-01T00:00:00Zx",
        "1969-12-31T23:59:59",
        "9999-01-01T00:00:00",
        "1970-01-01T00:00:00+01:00",
    };
    int64_t time_us;
    bool naive;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_true(roast__iso_time(roast_str_of(good[i].text), &time_us, &naive));
        assert_true(time_us == good[i].time_us);
        assert_int_equal(naive, good[i].naive);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(roast__iso_time(roast_str_of(bad[i]), &time_us, &naive));
}

static void test_the_host_of_local_workers(void **state)
{
    static const char *const text = "{\"tracking_data\": {\"worker_memory\": {\"%s\": "
                                    "[[\"2025-01-01T00:00:00Z\", 1]"
                                    "]}}, \"raw_chunk_metrics\": [{\"host\": "
                                    "\"here\"}%s], \"__roastcoffea__\": {}}";
    char made[400];
    struct heard heard;

    (void)state;
    (void)snprintf(made, sizeof(made), text, "pid-12", "");
    heard = hear(made);
    assert_told(&heard, "host here");
    heard_release(&heard);
    (void)snprintf(made, sizeof(made), text, "tcp://1.2.3.4:5", "");
    heard = hear(made);
    assert_false(was_told(&heard, "host here"));
    heard_release(&heard);
    (void)snprintf(made, sizeof(made), text, "pid-12", ", {\"host\": \"there\"}");
    heard = hear(made);
    assert_false(was_told(&heard, "host here"));
    heard_release(&heard);
}

/* ---- notes ----------------------------------------------------------------------- */

static void test_what_has_no_place_is_kept(void **state)
{
    struct heard heard = hear(
        "{\"a\": [1, {\"b\": \"\\u00e9\\n\\\"\"}, true, null, -0.5e-7],"
        " \"big\": 123456789012345678901234567890, \"nan\": NaN,"
        " \"url\": \"see https://me:pw@host/f?token=1 now\","
        " \"password\": {\"x\": 1}, \"chunk_info\": {\"('f', 0, 1)\": [1.0, 2.0, 3]},"
        " \"custom_metrics\": {\"lumi\": 2.5}, \"labels\": {\"site\": \"T2\", \"n\": "
        "3},"
        " \"raw_section_metrics\": [{\"name\": \"s\"}],"
        " \"monitor_first_error\": \"oops\"}");

    (void)state;
    assert_told(&heard, "document imported_metrics = "
                        "{\"a\":[1,{\"b\":\"\xc3\xa9\\n\\\"\"},true,null,-0.5e-7],"
                        "\"big\":123456789012345678901234567890,\"nan\":null,"
                        "\"url\":\"see https://host/f now\",\"password\":\"***\","
                        "\"monitor_first_error\":\"oops\","
                        "\"chunk_info\":{\"('f', 0, 1)\":[1.0,2.0,3]}}");
    assert_told(&heard, "document custom_metrics = {\"lumi\":2.5}");
    assert_told(&heard, "document sections 0 = [{\"name\":\"s\"}]");
    assert_told(&heard, "label site = T2");
    assert_told(&heard, "label n = 3");
    assert_told(&heard, "run first_error = oops");
    assert_told(&heard, "provenance imported_layout = roastcoffea 0.1.2");
    assert_told(&heard, "provenance imported_nonfinite_as_null = 1");
    heard_release(&heard);
}

/* Records say the same again. */
static void test_chunk_info_is_not_kept_twice(void **state)
{
    struct heard heard =
        hear("{\"chunk_info\": {\"('f', 0, 1)\": [1.0, 2.0, 3]},"
             " \"raw_chunk_metrics\": [{\"file\": \"f\"}], \"x\": \"\\ud800\"}");

    (void)state;
    assert_told(&heard, "document imported_metrics = {\"x\":\"\\\\ud800\"}");
    assert_told(&heard, "provenance imported_replaced_characters = 1");
    heard_release(&heard);
}

static void test_the_last_of_equal_keys_counts(void **state)
{
    struct heard heard =
        hear("{\"raw_chunk_metrics\": [{\"dataset\": \"a\"}, {\"dataset\": \"b\"}],"
             " \"tracking_data\": {\"worker_counts\": {\"2025-01-01T00:00:00\": 9}},"
             " \"total_events\": 3, \"total_events\": 4,"
             " \"raw_chunk_metrics\": [{\"dataset\": \"c\"}],"
             " \"tracking_data\": {\"worker_counts\": {\"2025-01-01T00:00:00\": 1}}}");
    roast_record rec;
    size_t used;

    (void)state;
    assert_int_equal(heard.restarts, 1);
    assert_int_equal(
        roast_record_decode(&rec, &used,
                            str_from(heard.frames.data, heard.frames.size_bytes), NULL),
        ROAST_OK);
    assert_str_is(rec.values[ROAST_FIELD_dataset].str, "c");
    assert_int_equal(used, heard.frames.size_bytes);
    assert_told(&heard, "fact report_events 4");
    assert_told(&heard, "count 1735689600000000000 1");
    assert_false(was_told(&heard, "count 1735689600000000000 9"));
    heard_release(&heard);
}

/* ---- refusals -------------------------------------------------------------------- */

static void test_what_is_no_document(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"[1]", "Metrics in metrics.json are no JSON object"},
        {"{bad", "metrics.json: byte 1: line 1: expected a key in double quotes"},
        {"{\"raw_chunk_metrics\": [{\"t_start\": 1,\n\"x\" 2}]}",
         "metrics.json: byte 42: line 2: expected ':' behind a key"},
        {"{} {}", "metrics.json: byte 3: line 1: something follows the document"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct document document = document_of(cases[i].text);
        struct heard heard = {.calls = 0};
        roast_error err = {0};
        assert_int_equal(read_metrics(&heard, &document, &some_time, &err),
                         ROAST_BAD_DATA);
        assert_string_equal(err.message, cases[i].message);
        heard_release(&heard);
    }
}

static const char *const rich =
    "{\"raw_chunk_metrics\": [{\"dataset\": \"a\", \"x\": [1, {\"y\": 2}],"
    " \"timing\": {\"s\": 1.5}, \"accessed_branches\": [\"p\"]}],"
    " \"tracking_data\": {\"worker_counts\": {\"2025-01-01T00:00:00\": 9},"
    " \"worker_memory\": {\"w\": [[\"2025-01-01T00:00:00\", 1]]}},"
    " \"total_events\": 3, \"custom_metrics\": {\"a\": 1}, \"labels\": {\"a\": \"b\"},"
    " \"other\": {\"a\": 1}}";

/* Whatever the sink refuses comes back. */
static void test_a_sink_that_refuses(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct document document = document_of(rich);
        struct heard heard = {.refuse_at = n};
        roast_error err = {0};
        int status = read_metrics(&heard, &document, &some_time, &err);
        bool refused = heard.calls >= n;
        heard_release(&heard);
        if (!refused) {
            assert_int_equal(status, ROAST_OK);
            assert_true(n > 8);
            break;
        }
        assert_int_equal(status, ROAST_UNAVAILABLE);
        assert_string_equal(err.message, "enough");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_that_stand_for_the_report),
        cmocka_unit_test(test_zero_is_a_number_of_ours_alone),
        cmocka_unit_test(test_what_is_no_number_is_no_fact),
        cmocka_unit_test(test_facts_of_spans),
        cmocka_unit_test(test_span_of_the_epoch),
        cmocka_unit_test(test_span_without_a_date),
        cmocka_unit_test(test_series_meet_at_their_moments),
        cmocka_unit_test(test_samples_as_objects),
        cmocka_unit_test(test_zone_of_last_seen),
        cmocka_unit_test(test_zone_of_the_last_chunk),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_the_host_of_local_workers),
        cmocka_unit_test(test_what_has_no_place_is_kept),
        cmocka_unit_test(test_chunk_info_is_not_kept_twice),
        cmocka_unit_test(test_the_last_of_equal_keys_counts),
        cmocka_unit_test(test_what_is_no_document),
        cmocka_unit_test(test_a_sink_that_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
