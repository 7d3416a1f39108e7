/* SPDX-License-Identifier: BSD-3-Clause */
/* test_notes.c - notes of a run: by group and name, without secrets. */
#include "heap.h"
#include "run/put.h"
#include "runs.h"

static int set(roast_run *run, enum roast_note_group group, const char *name,
               const char *text)
{
    return roast_run_set_note(run, group, roast_str_of(name), roast_str_of(text), NULL);
}

/* All notes of a group as "name=text;". */
static void append_note(void *context, struct roast_str name, struct roast_str text)
{
    struct roast_buf *out = context;

    roast__buf_put(out, name.data, name.size_bytes);
    roast__buf_put(out, "=", 1);
    roast__buf_put(out, text.data, text.size_bytes);
    roast__buf_put(out, ";", 1);
}

#define assert_notes(run, group, expected) \
    do { \
        struct roast_buf shown = {NULL, 0, 0, false}; \
        roast__buf_put(&shown, ":", 1); \
        roast_run_notes((run), (group), append_note, &shown); \
        assert_str_is(buf_str(&shown), ":" expected); \
        roast__buf_release(&shown); \
    } while (0)

static void notes_are_kept_in_the_order_of_their_first_setting(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(set(run, ROAST_NOTES_label, "site", "T2"), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_label, "user", ""), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_run, "site", "another group"), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_label, "site", "T2_DE"), ROAST_OK);
    assert_notes(run, ROAST_NOTES_label, "site=T2_DE;user=;");
    assert_notes(run, ROAST_NOTES_run, "site=another group;");
    assert_notes(run, ROAST_NOTES_document, "");
    assert_int_equal(set(run, ROAST_NOTES_label, "site", NULL), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_label, "never", NULL), ROAST_OK);
    assert_notes(run, ROAST_NOTES_label, "user=;");
    roast_run_free(run);
}

static void a_note_is_copied_and_cut(void **state)
{
    roast_run *run = new_run();
    char out[6] = "dirty";
    (void)state;

    assert_int_equal(roast_run_note(run, ROAST_NOTES_run, "id", out, sizeof(out)), -1);
    assert_string_equal(out, "");
    assert_int_equal(set(run, ROAST_NOTES_run, "id", "0123456789"), ROAST_OK);
    assert_int_equal(roast_run_note(run, ROAST_NOTES_run, "id", out, sizeof(out)), 10);
    assert_string_equal(out, "01234");
    assert_int_equal(roast_run_note(run, ROAST_NOTES_run, "id", NULL, 0), 10);
    assert_int_equal(set(run, ROAST_NOTES_run, "id", "abcd\xc3\xa9"), ROAST_OK);
    assert_int_equal(roast_run_note(run, ROAST_NOTES_run, "id", out, sizeof(out)), 6);
    assert_string_equal(out, "abcd"); /* no half character */
    roast_run_free(run);
}

static void secrets_are_taken_out(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(set(run, ROAST_NOTES_label, "token", "abc"), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_label, "url", "root://me@h/f?a=b"), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_provenance, "argv", "x --password y"),
                     ROAST_OK);
    assert_notes(run, ROAST_NOTES_label, "token=***;url=root://***@h/f?***;");
    assert_notes(run, ROAST_NOTES_provenance, "argv=x --password ***;");
    roast_run_free(run);
}

/* For any number of words and quotes. */
static void what_a_name_calls_secret_goes_as_a_whole(void **state)
{
    static const char *const names[] = {
        "password",   "db_password",          "token", "X-Auth-Token", "my auth",
        "auth of me", "https://u:p@h/ token", "Bearer"};
    static const char *const texts[] = {"correct horse battery",
                                        "\"a\" b c",
                                        "it's mine",
                                        "Bearer x y",
                                        "",
                                        "a\nb\tc",
                                        "x=y z"};
    char out[32];
    (void)state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
            roast_run *run = new_run();
            assert_int_equal(set(run, ROAST_NOTES_label, names[i], texts[k]), ROAST_OK);
            assert_int_equal(
                roast_run_note(run, ROAST_NOTES_label, names[i], out, sizeof(out)), 3);
            assert_string_equal(out, "***");
            roast_run_free(run);
        }
    }
}

/* A name that is a URL is kept, and its text loses only secrets. */
static void a_url_may_be_a_name(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(set(run, ROAST_NOTES_label, "root://h", "me@b/c"), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_run, "root://u:p@h", "root://u:p@i"),
                     ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_run, "token of s3://u@h", "abc"), ROAST_OK);
    assert_notes(run, ROAST_NOTES_label, "root://h=me@b/c;");
    assert_notes(run, ROAST_NOTES_run,
                 "root://u:p@h=root://***@i;token of s3://u@h=***;");
    roast_run_free(run);
}

static void labels_that_fit_a_line_are_counted(void **state)
{
    roast_run *run = new_run();
    char out[24];
    (void)state;

    assert_int_equal(roast_run_labels(run, out, sizeof(out)), 0);
    assert_int_equal(set(run, ROAST_NOTES_label, "a", "1,2"), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_label, "b", " "), ROAST_OK);
    assert_int_equal(roast_run_labels(run, out, sizeof(out)), 2);
    assert_string_equal(out, "a=1,2, b= ");
    assert_int_equal(set(run, ROAST_NOTES_label, "c", "too long for it"), ROAST_OK);
    assert_int_equal(roast_run_labels(run, out, sizeof(out)), -1);
    assert_string_equal(out, "a=1,2, b= ");
    assert_int_equal(set(run, ROAST_NOTES_label, "c", NULL), ROAST_OK);
    assert_int_equal(set(run, ROAST_NOTES_label, "a", "1, 2"), ROAST_OK);
    assert_int_equal(roast_run_labels(run, out, sizeof(out)), -1);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_label, roast_str_of("a"),
                                        str_from("1\0002", 3), NULL),
                     ROAST_OK);
    assert_int_equal(roast_run_labels(run, out, sizeof(out)), -1);
    roast_run_free(run);
}

static void how_a_run_ended(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_string_equal(roast_run_state_name(roast_run_state(run)), "unfinished");
    roast_run_finish(run, MONO_0 + SECOND);
    assert_string_equal(roast_run_state_name(roast_run_state(run)), "finished");
    assert_int_equal(set(run, ROAST_NOTES_run, "failure", ""), ROAST_OK);
    assert_string_equal(roast_run_state_name(roast_run_state(run)), "failed");
    roast_run_free(run);
}

/* JSON would break; its author redacts it. */
static void documents_are_left_as_they_are(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(set(run, ROAST_NOTES_document, "d", "{\"token\":\"x\"}"),
                     ROAST_OK);
    assert_notes(run, ROAST_NOTES_document, "d={\"token\":\"x\"};");
    roast_run_free(run);
}

/* Redacting a text twice could remove more. */
static void what_is_clean_is_put_as_it_is(void **state)
{
    roast_run *run = new_run();
    const char *clean = "Authorization: ***";
    (void)state;

    assert_int_equal(set(run, ROAST_NOTES_label, "a", "Authorization: Bearer one two"),
                     ROAST_OK);
    assert_notes(run, ROAST_NOTES_label, "a=Authorization: ***;");
    assert_int_equal(roast__run_put_note(run, ROAST_NOTES_label, roast_str_of("a"),
                                         roast_str_of(clean), NULL),
                     ROAST_OK);
    assert_notes(run, ROAST_NOTES_label, "a=Authorization: ***;");
    roast_run_free(run);
}

static void names_and_texts_have_a_limit(void **state)
{
    roast_run *run = new_run();
    char name[300];
    roast_error err = {0};
    (void)state;

    memset(name, 'n', sizeof(name));
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_label, str_from(name, 256),
                                        roast_str_of("x"), &err),
                     ROAST_OK);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_label, str_from(name, 257),
                                        roast_str_of("x"), &err),
                     ROAST_LIMIT);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_label, str_from(NULL, 0),
                                        roast_str_of("x"), &err),
                     ROAST_LIMIT);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_label, roast_str_of("n"),
                                        str_from(name, (64 << 20) + 1), &err),
                     ROAST_LIMIT); /* its bytes are not checked */
    assert_non_null(strstr(err.message, "67108865"));
    roast_run_free(run);
}

static void groups_have_names(void **state)
{
    (void)state;
    assert_string_equal(roast_note_group_name(ROAST_NOTES_run), "run");
    assert_string_equal(roast_note_group_name(ROAST_NOTES_document), "document");
}

static void a_run_has_a_span(void **state)
{
    roast_run *run = new_run();
    (void)state;

    assert_int_equal(roast_run_span(run).start_ns, EPOCH_0);
    assert_int_equal(roast_run_span(run).end_ns, 0);
    roast_run_finish(run, MONO_0 + SECOND);
    assert_int_equal(roast_run_span(run).end_ns, EPOCH_0 + SECOND);
    roast_run_free(run);
}

/* A note that cannot be stored changes nothing. */
static void notes_survive_without_memory(void **state)
{
    bool failed = true;
    (void)state;

    test_heap_install();
    for (size_t n = 1; failed; n++) {
        roast_run *run = new_run();
        for (int i = 0; i < 16; i++) { /* so that the table has to grow */
            char name[] = {(char)('a' + i), '\0'};
            assert_int_equal(set(run, ROAST_NOTES_run, name, "x"), ROAST_OK);
        }
        assert_int_equal(set(run, ROAST_NOTES_label, "n", "before"), ROAST_OK);
        test_heap_fail(n, false);
        int status = set(run, ROAST_NOTES_label, "n", "after");
        failed = test_heap_failed();
        test_heap_fail(0, false);
        assert_int_equal(status, failed ? ROAST_NO_MEMORY : ROAST_OK);
        if (failed)
            assert_notes(run, ROAST_NOTES_label, "n=before;");
        else
            assert_notes(run, ROAST_NOTES_label, "n=after;");
        roast_run_free(run);
        assert_int_equal(test_heap.live_blocks, 0);
    }
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_are_kept_in_the_order_of_their_first_setting),
        cmocka_unit_test(a_note_is_copied_and_cut),
        cmocka_unit_test(secrets_are_taken_out),
        cmocka_unit_test(what_a_name_calls_secret_goes_as_a_whole),
        cmocka_unit_test(a_url_may_be_a_name),
        cmocka_unit_test(labels_that_fit_a_line_are_counted),
        cmocka_unit_test(how_a_run_ended),
        cmocka_unit_test(documents_are_left_as_they_are),
        cmocka_unit_test(what_is_clean_is_put_as_it_is),
        cmocka_unit_test(names_and_texts_have_a_limit),
        cmocka_unit_test(groups_have_names),
        cmocka_unit_test(a_run_has_a_span),
        cmocka_unit_test(notes_survive_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
