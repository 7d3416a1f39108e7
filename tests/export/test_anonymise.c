/* SPDX-License-Identifier: BSD-3-Clause */
/* test_anonymise.c - a copy of a run has its numbers and none of its names. */
#include <math.h>

#include "exported.h"

/* Parts of names that the runs below have; short ones could be a part of a number. */
static const char *const names[] = {"ttbar",       "by hand",     "hand.root",
                                    "one.root",    "two.root",    "odd.root",
                                    "f.root",      "gone.root",   "root://host/",
                                    "tcp://host:", "10.0.0.7",    "tcp://w",
                                    "somewhere",   "MyProcessor", "me.cern",
                                    "secret",      "analysis.py", "no such thing",
                                    "1825cd4a",    "xsec",        "DROP TABLE"};

static void assert_nameless(const struct roast_buf *bytes, const char *what)
{
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *from = (const char *)bytes->data;
        const char *at = memmem(from, bytes->size_bytes, names[i], strlen(names[i]));
        if (at)
            fail_msg("%s has \"%s\": ...%.60s", what, names[i],
                     at - from > 20 ? at - 20 : from);
    }
}

static roast_run *anonymous(roast_run *run)
{
    roast_run *copy = NULL;
    roast_error err = {0};

    if (roast_run_anonymise(&copy, run, &err) < 0)
        fail_msg("%s", err.message);
    return copy;
}

static void add_call(roast_run *run)
{
    set_note(run, ROAST_NOTES_call, "1 call", "processor\tMyProcessor");
    set_note(run, ROAST_NOTES_call, "1 given",
             "dataset\tttbar\nother\t\"metadata\":{\"xsec\":1}\n"
             "file\troot://host//one.root\tEvents\nfile\tgone.root\tEvents");
    set_note(run, ROAST_NOTES_call, "1 items",
             "dataset\tttbar\nusermeta\t{\"xsec\":1}\n"
             "file\troot://host//one.root\t1825cd4a294311f19dd5001a4abb4031\tEvents\n"
             "items\t0 100 4");
    set_note(run, ROAST_NOTES_call, "1 result", "in\t0\t0 100 3");
}

static roast_run *named_run(void)
{
    roast_run *run = rich_run();

    add_call(run);
    set_note(run, ROAST_NOTES_provenance, "host", "me.cern.ch");
    set_note(run, ROAST_NOTES_provenance, "command", "python analysis.py");
    set_note(run, ROAST_NOTES_provenance, "version.coffea", "2026.1");
    set_note(run, ROAST_NOTES_run, "remarks", "worker tcp://w:1 is unmeasured");
    return run;
}

static struct roast_buf file_bytes(const char *path)
{
    struct roast_buf bytes = {NULL, 0, 0, false};
    FILE *file = fopen(path, "r");
    char part[4096];

    assert_non_null(file);
    for (size_t size; (size = fread(part, 1, sizeof(part), file)) > 0;)
        roast__buf_put(&bytes, part, size);
    (void)fclose(file);
    return bytes;
}

static void no_name_is_left(void **state)
{
    const struct saved_test *test = *state;
    static const enum roast_export_format formats[] = {ROAST_EXPORT_OPENMETRICS,
                                                       ROAST_EXPORT_JSON};
    roast_run *run = named_run(), *copy = anonymous(run);

    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        struct roast_buf bytes =
            exported(copy, formats[i],
                     (struct roast_export_options){.by_worker = true, .by_file = true});
        assert_nameless(&bytes, roast_export_info(formats[i])->name);
        roast__buf_release(&bytes);
    }
    save(copy, test->path); /* everything that the copy holds */
    struct roast_buf bytes = file_bytes(test->path);
    assert_nameless(&bytes, "a file");
    roast__buf_release(&bytes);
    roast_run_free(copy);
    roast_run_free(run);
}

/* A file is never loaded with its names. */
static void a_file_gives_the_same_copy(void **state)
{
    static const enum roast_export_format formats[] = {
        ROAST_EXPORT_OPENMETRICS, ROAST_EXPORT_JSON, ROAST_EXPORT_PERFETTO};
    const struct roast_export_options options = {.by_worker = true, .by_file = true};
    const struct saved_test *test = *state;
    roast_run *run = named_run(), *copy = anonymous(run), *from_file = NULL;
    roast_runfile *file = NULL;
    roast_error err = {0};

    save(run, test->path);
    assert_int_equal(roast_runfile_open(&file, test->path, &err), ROAST_OK);
    if (roast_runfile_anonymise(&from_file, file, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        struct roast_buf of_run = exported(copy, formats[i], options);
        struct roast_buf of_file = exported(from_file, formats[i], options);
        assert_int_equal(of_run.size_bytes, of_file.size_bytes);
        assert_memory_equal(of_run.data, of_file.data, of_run.size_bytes);
        roast__buf_release(&of_run);
        roast__buf_release(&of_file);
    }
    roast_run_free(from_file);
    roast_runfile_close(file);
    roast_run_free(copy);
    roast_run_free(run);
}

static void numbers_are_the_same(void **state)
{
    roast_run *run = named_run(), *copy = anonymous(run);
    roast_summary *ours = NULL, *theirs = NULL;

    (void)state;
    assert_int_equal(roast_summarize(&ours, run, NULL), ROAST_OK);
    assert_int_equal(roast_summarize(&theirs, copy, NULL), ROAST_OK);
    const struct roast_metric_values *a = roast_summary_metrics(ours);
    const struct roast_metric_values *b = roast_summary_metrics(theirs);
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        bool equal = a->known[i] == b->known[i] &&
                     (!a->known[i] ||
                      fabs(a->value[i] - b->value[i]) <= 1e-12 * fabs(a->value[i]));
        if (!equal)
            fail_msg("%s: %g is not %g", roast_metric_info((enum roast_metric)i)->name,
                     b->value[i], a->value[i]);
    }
    for (int i = 0; i < ROAST_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        size_t rows = roast_table_rows(roast_summary_table(ours, id));
        if (id == ROAST_TABLE_hottest_lines || id == ROAST_TABLE_findings)
            continue; /* the texts of lines, which some need, are left out */
        if (roast_table_rows(roast_summary_table(theirs, id)) != rows)
            fail_msg("%s has not %zu rows", roast_table_name(id), rows);
    }
    roast_summary_free(ours);
    roast_summary_free(theirs);
    roast_run_free(copy);
    roast_run_free(run);
}

static struct roast_str cell(const roast_table *table, size_t row, int col)
{
    return roast_table_text(table, row, col);
}

/* One name is one token in all tables, and in all copies. */
static void tokens_are_stable(void **state)
{
    roast_run *run = plain_run(10), *copies[2];
    struct roast_buf pages[2];
    roast_table *chunks = NULL, *files = NULL;

    (void)state;
    add_call(run);
    for (int i = 0; i < 2; i++) {
        copies[i] = anonymous(run);
        pages[i] =
            exported(copies[i], ROAST_EXPORT_JSON, (struct roast_export_options){0});
    }
    assert_string_equal((const char *)pages[0].data, (const char *)pages[1].data);
    assert_int_equal(
        roast_run_table(&chunks, ROAST_TABLE_chunks, copies[0], NULL, NULL), ROAST_OK);
    assert_int_equal(roast_run_table(&files, ROAST_TABLE_files, copies[0], NULL, NULL),
                     ROAST_OK);
    assert_str_is(cell(chunks, 0, ROAST_COL_chunks_dataset), "dataset-1");
    assert_true(roast_table_rows(files) > 1);
    for (size_t i = 0; i < roast_table_rows(chunks); i++) {
        struct roast_str file = cell(chunks, i, ROAST_COL_chunks_file);
        size_t row = 0;
        while (row < roast_table_rows(files) &&
               !str_equal(cell(files, row, ROAST_COL_files_file), file))
            row++;
        assert_true(row < roast_table_rows(files));
        assert_int_equal(strncmp(file.data, "file-", 5), 0);
    }
    assert_non_null(strstr((const char *)pages[0].data, "\"label-1\":\"value-1\""));
    assert_non_null(strstr((const char *)pages[0].data, "\"processor-1\""));
    roast_table_free(chunks);
    roast_table_free(files);
    for (int i = 0; i < 2; i++) {
        roast__buf_release(&pages[i]);
        roast_run_free(copies[i]);
    }
    roast_run_free(run);
}

/* The result of a call is judged by the names of its files. */
static void missing_items_are_the_same(void **state)
{
    roast_run *run = plain_run(10);
    roast_summary *summary = NULL;

    (void)state;
    add_call(run);
    roast_run *copy = anonymous(run);
    assert_int_equal(roast_summarize(&summary, copy, NULL), ROAST_OK);
    const roast_table *table = roast_summary_table(summary, ROAST_TABLE_run_state);
    assert_str_is(cell(table, 0, ROAST_COL_run_state_state), "incomplete");
    assert_true(roast_table_number(table, 0, ROAST_COL_run_state_missing_chunks) == 1);
    assert_true(roast_table_number(table, 0, ROAST_COL_run_state_missing_files) == 1);
    struct roast_str missing = cell(table, 0, ROAST_COL_run_state_missing);
    assert_non_null(memmem(missing.data, missing.size_bytes, "file-", 5));
    roast_summary_free(summary);
    roast_run_free(copy);
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(no_name_is_left),
        saved_test_of(a_file_gives_the_same_copy),
        cmocka_unit_test(numbers_are_the_same),
        cmocka_unit_test(tokens_are_stable),
        cmocka_unit_test(missing_items_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
