/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json.c - the report as JSON: strict, complete, with the values of the summary. */
#include <stdio.h>

#include "analyze/runs.h"
#include "heap.h"
#include "roast/report.h"

/* ---- a value by its path: "metrics.wall_time.value", "tables.failures.0.file" ---- */

enum { JSON_VALUE_BYTES = 512 };

/* The end of a text, from the byte behind its opening quote. */
static const char *text_end(const char *at)
{
    while (*at != '"') {
        assert_true(*at >= 0x20);
        at += *at == '\\' ? 2 : 1;
    }
    return at;
}

/* The byte behind a value. */
static const char *value_end(const char *at)
{
    size_t depth = 0;

    do {
        if (*at == '"')
            at = text_end(at + 1);
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
        if (depth == 0)
            at += strcspn(at, ",]}\n");
        assert_true(*at != '\0');
    } while (depth > 0);
    return at;
}

/* An entry of a container by its key or number; NULL: there is none. */
static const char *json_entry(const char *at, const char *name, size_t name_bytes)
{
    bool is_dict = *at == '{';
    char number[24];

    for (size_t i = 0; at[1] != ']' && at[1] != '}'; i++) {
        const char *key = number;
        size_t key_bytes = (size_t)snprintf(number, sizeof(number), "%zu", i);
        at++; /* a bracket or a comma */
        if (is_dict) {
            key = at + 1;
            at = text_end(key);
            key_bytes = (size_t)(at - key);
            assert_true(at[1] == ':');
            at += 2;
        }
        if (key_bytes == name_bytes && memcmp(key, name, name_bytes) == 0)
            return at;
        at = value_end(at);
        if (*at != ',')
            break;
    }
    return NULL;
}

/* The value as it is written, text without its quotes, containers as their bracket; NULL:
 * no such path. Borrowed until the next call. */
static const char *json_at(struct roast_str document, const char *path)
{
    static char room[JSON_VALUE_BYTES];
    const char *at = document.data;

    while (at && *path) {
        size_t size = strcspn(path, ".");
        at = *at == '{' || *at == '[' ? json_entry(at, path, size) : NULL;
        path += size + (path[size] == '.');
    }
    if (!at)
        return NULL;
    const char *end = *at == '{' || *at == '[' ? at + 1 : value_end(at);
    if (*at == '"')
        end = text_end(++at);
    (void)snprintf(room, sizeof(room), "%.*s", (int)(end - at), at);
    return room;
}

#define assert_json(page, path, value) \
    check_json(str_from((page)->text, (page)->size_bytes), (path), (value))

static void check_json(struct roast_str document, const char *path, const char *value)
{
    const char *found = json_at(document, path);

    if (!found || strcmp(found, value) != 0)
        fail_msg("%s is %s, not %s", path, found ? found : "not there", value);
}

/* ---- runs --------------------------------------------------------------------- */

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    return 0;
}

static void set_note(roast_run *run, enum roast_note_group group, const char *name,
                     const char *text)
{
    assert_int_equal(
        roast_run_set_note(run, group, roast_str_of(name), roast_str_of(text), NULL),
        ROAST_OK);
}

/* Two successful chunks and a failed one, with hostile names. */
static roast_run *typical_run(void)
{
    roast_run *run = run_new();

    add_frame(run, (struct frame){.dataset = "t\x1b[31m\"t",
                                  .stop = 10,
                                  .start = 1,
                                  .duration = 2,
                                  .events = 10});
    add_frame(run,
              (struct frame){
                  .first = 10, .stop = 20, .start = 1, .duration = 1, .events = 10});
    add_frame(run, (struct frame){.file = "b.root",
                                  .stop = 20,
                                  .start = 1,
                                  .duration = 1,
                                  .status = ROAST_CHUNK_FAILED,
                                  .error_type = "OSError",
                                  .error_message = "no\nroute"});
    set_note(run, ROAST_NOTES_run, "processor", "Mine");
    set_note(run, ROAST_NOTES_label, "site", "T2");
    set_note(run, ROAST_NOTES_document, "fileset", "{\"not\": [checked");
    roast_run_finish(run, NS(8));
    return run;
}

static struct roast_page page_of(roast_run *run,
                                 const struct roast_report_source *source)
{
    roast_summary *summary = summary_of(run);
    struct roast_page page;
    roast_error err = {0};

    if (roast_report_json(&page, summary, run, source, &err) < 0)
        fail_msg("%s", err.message);
    roast_summary_free(summary);
    assert_int_equal(strlen(page.text), page.size_bytes);
    return page;
}

static void test_what_ran(void **state)
{
    roast_run *run = typical_run();
    struct roast_page page = page_of(run, NULL);

    (void)state;
    assert_json(&page, "format", "roast_report_v1");
    assert_json(&page, "run.processor", "Mine");
    assert_json(&page, "run.executor", "null");
    assert_json(&page, "run.state", "finished");
    assert_json(&page, "run.started", "2023-11-14T22:13:20.000000000Z");
    assert_json(&page, "run.start_ns", "1700000000000000000");
    assert_json(&page, "run.end_ns", "1700000008000000000");
    assert_json(&page, "run.unfinished", "false");
    assert_json(&page, "notes.label.site", "T2");
    assert_json(&page, "notes.document.fileset", "{\\\"not\\\": [checked");
    roast_page_release(&page);
    roast_run_free(run);
}

static void test_a_live_file_is_unfinished(void **state)
{
    const struct roast_report_source source = {.origin = ROAST_IN_LIVE_FILE,
                                               .cut_bytes = 7};
    roast_run *run = run_new();
    struct roast_page page = page_of(run, &source);

    (void)state;
    assert_json(&page, "run.end_ns", "null");
    assert_json(&page, "run.unfinished", "true");
    assert_json(&page, "run.cut_bytes", "7");
    assert_json(&page, "run.damaged", "0");
    roast_page_release(&page);
    roast_run_free(run);
}

static void test_every_metric_has_a_value_or_a_reason(void **state)
{
    roast_run *run = typical_run();
    roast_summary *summary = summary_of(run);
    const struct roast_metric_values *values = roast_summary_metrics(summary);
    struct roast_page page = page_of(run, NULL);
    struct roast_str text = str_from(page.text, page.size_bytes);

    (void)state;
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        const struct roast_metric_info *info = roast_metric_info((enum roast_metric)i);
        char path[128];
        (void)snprintf(path, sizeof(path), "metrics.%s.value", info->name);
        const char *found = json_at(text, path);
        assert_non_null(found);
        if (values->known[i]) {
            assert_true(strtod(found, NULL) == values->value[i]);
            assert_true(!info->is_count || !strchr(found, '.'));
            continue;
        }
        assert_string_equal(found, "null");
        (void)snprintf(path, sizeof(path), "metrics.%s.why", info->name);
        check_json(text, path, values->why[i]);
    }
    roast_page_release(&page);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_tables_have_all_rows(void **state)
{
    roast_run *run = typical_run();
    roast_summary *summary = summary_of(run);
    struct roast_page page = page_of(run, NULL);
    struct roast_str text = str_from(page.text, page.size_bytes);

    (void)state;
    for (int i = 0; i < ROAST_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        const roast_table *table = roast_summary_table(summary, id);
        enum roast_table_shape shape = roast_table_shape(id);
        bool single = shape == ROAST_SHAPE_SINGLE;
        size_t rows = roast_table_rows(table);
        char path[128];
        if (!table || shape == ROAST_SHAPE_SCALAR || shape == ROAST_SHAPE_COUNTS ||
            shape == ROAST_SHAPE_NONE)
            continue; /* its only cell, below */
        (void)snprintf(path, sizeof(path), "tables.%s", roast_table_key(id));
        check_json(text, path, !single ? "[" : rows > 0 ? "{" : "null");
        (void)snprintf(path, sizeof(path), "tables.%s.%zu", roast_table_key(id), rows);
        assert_null(json_at(text, path)); /* none after the last */
    }
    assert_json(&page, "tables.failures.0.error_message", "no\\nroute");
    assert_json(&page, "tables.failures.0.resolved", "false");
    assert_json(&page, "tables.failures.0.error_section", "null");
    assert_non_null(strstr(page.text, "\"verdict\":\"First: Failures"));
    roast_page_release(&page);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_no_control_characters(void **state)
{
    roast_run *run = typical_run();
    struct roast_page page = page_of(run, NULL);

    (void)state;
    for (size_t i = 0; i + 1 < page.size_bytes; i++)
        assert_true(page.text[i] >= 0x20 && page.text[i] < 0x7f);
    assert_int_equal(page.text[page.size_bytes - 1], '\n');
    assert_non_null(strstr(page.text, "t\\u001b[31m\\\"t"));
    roast_page_release(&page);
    roast_run_free(run);
}

static void test_out_of_memory(void **state)
{
    roast_run *run = typical_run();
    roast_summary *summary = summary_of(run);
    size_t live = test_heap.live_blocks;

    (void)state;
    for (size_t n = 1;; n++) {
        struct roast_page page;
        test_heap_fail(n, n % 2 == 0);
        int status = roast_report_json(&page, summary, run, NULL, NULL);
        bool failed = test_heap_failed();
        assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
        roast_page_release(&page);
        assert_int_equal(test_heap.live_blocks, live);
        if (!failed)
            break;
    }
    roast_summary_free(summary);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_what_ran, setup),
        cmocka_unit_test_setup(test_a_live_file_is_unfinished, setup),
        cmocka_unit_test_setup(test_every_metric_has_a_value_or_a_reason, setup),
        cmocka_unit_test_setup(test_tables_have_all_rows, setup),
        cmocka_unit_test_setup(test_no_control_characters, setup),
        cmocka_unit_test_setup(test_out_of_memory, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("report/test_json", tests, NULL, NULL);
}
