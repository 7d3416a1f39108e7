/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json.c - the report as JSON: strict, complete, and true to the summary. */
#include <stdio.h>

#include "analyze/runs.h"
#include "collect/json.h"
#include "heap.h"
#include "roast/report.h"

/* ---- a value by its path: "metrics.wall_time.value", "tables.failures.0.file" ---- */

enum { JSON_PATH_BYTES = 512, JSON_VALUE_BYTES = 512 };

/* Where a walk stands: a path, and how long it was when each container began. */
struct json_walk {
    char path[JSON_PATH_BYTES];
    size_t begin[ROAST_JSON_MAX_DEPTH];
    int item[ROAST_JSON_MAX_DEPTH]; /* of a list; -1: a dict */
    size_t depth;
};

static int64_t json_read(void *context, void *out, size_t out_bytes)
{
    struct roast_str *rest = context;
    size_t size = rest->size_bytes < out_bytes ? rest->size_bytes : out_bytes;

    memcpy(out, rest->data, size);
    rest->data += size;
    rest->size_bytes -= size;
    return (int64_t)size;
}

static void json_name(struct json_walk *walk, struct roast_str name)
{
    size_t at = walk->begin[walk->depth - 1];

    (void)snprintf(walk->path + at, sizeof(walk->path) - at, "%s%.*s",
                   at > 0 ? "." : "", (int)name.size_bytes, name.data);
}

/* Every value of a list begins with its number. */
static void json_begin_value(struct json_walk *walk)
{
    char number[16];

    if (walk->depth == 0 || walk->item[walk->depth - 1] < 0)
        return;
    (void)snprintf(number, sizeof(number), "%d", walk->item[walk->depth - 1]++);
    json_name(walk, roast_str_of(number));
}

static const char *json_shown(const struct roast_json_token *token,
                              char room[JSON_VALUE_BYTES])
{
    static const char *const words[] = {[ROAST_JSON_NULL] = "null",
                                        [ROAST_JSON_FALSE] = "false",
                                        [ROAST_JSON_TRUE] = "true",
                                        [ROAST_JSON_LIST] = "[",
                                        [ROAST_JSON_DICT] = "{"};

    if (token->kind < COUNT_OF(words) && words[token->kind])
        return words[token->kind];
    (void)snprintf(room, JSON_VALUE_BYTES, "%.*s", (int)token->text.size_bytes,
                   token->text.data);
    return room;
}

/* The value as it is written, text without its quotes; NULL: no such path. Borrowed
 * until the next call. */
static const char *json_at(struct roast_str document, const char *path)
{
    static char room[JSON_VALUE_BYTES];
    struct roast_json_source source = {json_read, &document};
    struct roast_json_reader in;
    struct roast_json_token token;
    struct json_walk walk = {.depth = 0};
    const char *found = NULL;
    roast_error err = {0};
    int got;

    assert_int_equal(roast__json_open(&in, source, "json", false, &err), ROAST_OK);
    while ((got = roast__json_next(&in, &token, &err)) == 1) {
        if (token.kind == ROAST_JSON_KEY) {
            json_name(&walk, token.text);
            continue;
        }
        if (token.kind == ROAST_JSON_LIST_END || token.kind == ROAST_JSON_DICT_END) {
            walk.path[walk.begin[--walk.depth]] = '\0';
            continue;
        }
        json_begin_value(&walk);
        if (strcmp(walk.path, path) == 0)
            found = json_shown(&token, room);
        if (token.kind == ROAST_JSON_LIST || token.kind == ROAST_JSON_DICT) {
            walk.begin[walk.depth] = strlen(walk.path);
            walk.item[walk.depth++] = token.kind == ROAST_JSON_LIST ? 0 : -1;
        }
    }
    if (got < 0)
        fail_msg("%s", err.message);
    roast__json_release(&in);
    return found;
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

/* Two chunks that went well and one that failed, with names that hurt. */
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
    assert_json(&page, "notes.document.fileset", "{\"not\": [checked");
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
    assert_json(&page, "tables.failures.0.error_message", "no\nroute");
    assert_json(&page, "tables.failures.0.resolved", "false");
    assert_json(&page, "tables.failures.0.error_section", "null");
    assert_non_null(strstr(page.text, "\"verdict\":\"First: Failures"));
    roast_page_release(&page);
    roast_summary_free(summary);
    roast_run_free(run);
}

static void test_no_byte_that_a_terminal_acts_on(void **state)
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
        cmocka_unit_test_setup(test_no_byte_that_a_terminal_acts_on, setup),
        cmocka_unit_test_setup(test_out_of_memory, setup),
    };

    test_heap_install();
    return cmocka_run_group_tests_name("report/test_json", tests, NULL, NULL);
}
