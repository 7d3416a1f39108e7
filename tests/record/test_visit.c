/* SPDX-License-Identifier: BSD-3-Clause */
/* test_visit.c - everything in a record as a sink gets it, shown as JSON: parts under
 * the names of readers, keys of the user next to built-in ones, and no broken parts. */
#include "base/buf.h"
#include "heap.h"
#include "record/values.h"
#include "roast/json_write.h"
#include "roast/view.h"
#include "support.h"

/* The record as JSON in out; returns the status of the visit. */
static int show(struct roast_buf *out, const roast_record *rec, bool wants_stored)
{
    struct roast_json json = {.put = roast__buf_sink, .context = out};
    struct roast_value_sink sink = roast_json_sink(&json);

    sink.wants_stored = wants_stored;
    roast__buf_clear(out);
    roast_json_open(&json, '{');
    int status = roast_record_visit(rec, &sink, NULL);
    roast_json_close(&json, '}');
    roast__buf_put(out, "", 1);
    return status;
}

static void assert_shows(const roast_record *rec, const char *expected)
{
    struct roast_buf out = {NULL, 0, 0, false};

    assert_int_equal(show(&out, rec, false), ROAST_OK);
    if (!strstr((const char *)out.data, expected))
        fail_msg("no %s in %s", expected, (const char *)out.data);
    roast__buf_release(&out);
}

static void set_blob(roast_record *rec, enum roast_field field, const char *bytes,
                     size_t size_bytes)
{
    roast_record_set_str(rec, field, (struct roast_str){bytes, size_bytes});
}

/* ---- parts -------------------------------------------------------------------- */

static void an_empty_record_has_the_keys_that_always_are(void **state)
{
    const roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    assert_shows(&rec, "{\"dataset\":null,");
    assert_shows(&rec, "\"timing\":{},\"memory\":{},\"bytes\":{},\"sections\":[],"
                       "\"memory_sections\":[],\"losses\":{},\"unavailable\":{},"
                       "\"custom_metrics\":{}}");
}

static void sections_of_one_name_add_up(void **state)
{
    const struct roast_section all[] = {
        {.name = {"a", 1}, .parent = -1, .kinds = 1, .count = 1, .total_ns = 500000000},
        {.name = {"b", 1}, .parent = 0, .kinds = 1, .count = 1, .total_ns = 250000000},
        {.name = {"a", 1}, .parent = 1, .kinds = 1, .count = 1, .total_ns = 125000000},
        {.name = {"a", 1},
         .parent = -1,
         .kinds = 9,
         .count = 1,
         .total_ns = 1000000000},
        {.name = {"m", 1},
         .parent = -1,
         .kinds = 6,
         .memory_delta_bytes = -(1 << 20),
         .bytes = 7},
    };
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    char blob[1024];
    (void)state;

    int64_t size = roast_sections_write(blob, sizeof(blob), all, 5, NULL);
    set_blob(&rec, ROAST_FIELD_sections, blob, (size_t)size);
    assert_shows(&rec, "\"timing\":{\"a\":1.5,\"b\":0.25},\"memory\":{\"m\":-1.0},"
                       "\"bytes\":{\"m\":7},");
    assert_shows(&rec, "{\"section_name\":\"b\",\"time_delta\":0.25,\"count\":1,"
                       "\"self_time\":0.125,\"depth\":1,\"parent\":\"a\"}");
}

static void an_error_is_its_type_and_message(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_str(&rec, ROAST_FIELD_error_type, roast_str_of("OSError"));
    assert_shows(&rec, "\"error\":\"OSError\"");
    roast_record_set_str(&rec, ROAST_FIELD_error_message, roast_str_of("gone"));
    assert_shows(&rec, "\"error\":\"OSError: gone\"");
}

static void stored_numbers_are_optional(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    struct roast_buf out = {NULL, 0, 0, false};
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_duration_ns, 7);
    assert_int_equal(show(&out, &rec, true), ROAST_OK);
    assert_non_null(strstr((const char *)out.data, "\"duration_ns\":7"));
    assert_int_equal(show(&out, &rec, false), ROAST_OK);
    assert_null(strstr((const char *)out.data, "duration_ns"));
    roast__buf_release(&out);
}

/* ---- keys of the user ----------------------------------------------------------- */

static void keys_of_the_user_never_replace_ours(void **state)
{
    /* {"mine": b"\x01", "duration": 1, "losses": {"text_cut": 5, "x": [true]}} */
    static const char user[] =
        "\x04mine\x06\x01\x01"
        "\x08"
        "duration\x03\x02"
        "\x06losses\x08\x02\x08text_cut\x03\x0a\x01x\x07\x01\x02";
    const char losses[] = {ROAST_LOSS_text_cut, 2};
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    set_blob(&rec, ROAST_FIELD_user_keys, user, sizeof(user) - 1);
    set_blob(&rec, ROAST_FIELD_losses, losses, sizeof(losses));
    assert_shows(&rec, "\"losses\":{\"text_cut\":2,\"x\":[true]}");
    assert_shows(&rec,
                 "\"custom_metrics\":{\"duration\":1},\"mine\":{\"hex\":\"01\"}}");
}

/* ---- failures -------------------------------------------------------------------- */

static void broken_parts_are_left_out_and_reported(void **state)
{
    static const enum roast_field parts[] = {
        ROAST_FIELD_sections,  ROAST_FIELD_ladder,     ROAST_FIELD_branches,
        ROAST_FIELD_endpoints, ROAST_FIELD_file_facts, ROAST_FIELD_losses,
        ROAST_FIELD_absences,  ROAST_FIELD_user_keys,  ROAST_FIELD_custom_metrics,
        ROAST_FIELD_process};
    struct roast_buf out = {NULL, 0, 0, false};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        roast_record rec = {.kind = ROAST_FRAME_CHUNK};
        set_blob(&rec, parts[i], "\xff\xff\xff", 3);
        assert_int_equal(show(&out, &rec, true), ROAST_BAD_DATA);
        assert_non_null(strstr((const char *)out.data, "\"custom_metrics\":{}"));
    }
    roast__buf_release(&out);
}

static void without_memory_it_is_balanced_and_reported(void **state)
{
    /* {"branches": {"x": null}}, so that names are kept for comparing */
    static const char user[] = "\x08"
                               "branches\x08\x01\x01x\x00";
    const struct roast_branch branch = {.name = {"b", 1}};
    const struct roast_section section = {.name = {"a", 1}, .parent = -1, .kinds = 1};
    struct roast_buf out = {NULL, 0, 0, false};
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    char branches[200], sections[200];
    size_t failures = 0;
    (void)state;

    int64_t size = roast_branches_write(branches, sizeof(branches), &branch, 1, NULL);
    set_blob(&rec, ROAST_FIELD_branches, branches, (size_t)size);
    size = roast_sections_write(sections, sizeof(sections), &section, 1, NULL);
    set_blob(&rec, ROAST_FIELD_sections, sections, (size_t)size);
    set_blob(&rec, ROAST_FIELD_user_keys, user, sizeof(user) - 1);
    roast_record_set_str(&rec, ROAST_FIELD_error_type, roast_str_of("OSError"));
    assert_int_equal(show(&out, &rec, true), ROAST_OK); /* out has room from now on */
    assert_non_null(strstr((const char *)out.data, "\"branches\":{\"b\":"));
    test_heap_install();
    for (size_t n = 1;; n++) {
        test_heap_fail(n, false);
        int status = show(&out, &rec, true);
        if (!test_heap_failed())
            break;
        failures++;
        assert_int_equal(status, ROAST_NO_MEMORY);
        assert_non_null(strstr((const char *)out.data, "\"custom_metrics\":{"));
    }
    test_heap_fail(0, false);
    assert_true(failures >= 4);
    roast__heap_set(NULL);
    roast__buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_record_has_the_keys_that_always_are),
        cmocka_unit_test(sections_of_one_name_add_up),
        cmocka_unit_test(an_error_is_its_type_and_message),
        cmocka_unit_test(stored_numbers_are_optional),
        cmocka_unit_test(keys_of_the_user_never_replace_ours),
        cmocka_unit_test(broken_parts_are_left_out_and_reported),
        cmocka_unit_test(without_memory_it_is_balanced_and_reported),
    };
    return cmocka_run_group_tests_name("record/visit", tests, NULL, NULL);
}
