/* SPDX-License-Identifier: BSD-3-Clause */
/* test_find.c - which run a folder stands for: the one that began last, whatever its file
 * is called and whenever it was touched. */
#include <sys/stat.h>

#include "saved_open.h"

#define ID "0123456789abcdef0123456789abcdef"
#define OTHER_ID "fedcba9876543210fedcba9876543210"

static roast_run *run_at(int64_t start_ns, const char *id)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, 0, start_ns, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("id"),
                                        roast_str_of(id), NULL),
                     ROAST_OK);
    return run;
}

static void write_run(const struct saved_test *test, const char *name, int64_t start_ns,
                      const char *id)
{
    char path[160];
    roast_run *run = run_at(start_ns, id);

    (void)snprintf(path, sizeof(path), "%s/%s", test->dir, name);
    save(run, path);
    roast_run_free(run);
}

static void write_live(const struct saved_test *test, const char *name,
                       int64_t start_ns, const char *id)
{
    char path[160];
    roast_live *live = NULL;
    roast_run *run = NULL;

    (void)snprintf(path, sizeof(path), "%s/%s", test->dir, name);
    assert_int_equal(roast_run_new(&run, 0, start_ns, NULL), ROAST_OK);
    assert_int_equal(roast_live_open(&live, run, path, NULL, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_run, roast_str_of("id"),
                                        roast_str_of(id), NULL),
                     ROAST_OK);
    assert_int_equal(roast_live_close(live, false, NULL), ROAST_OK);
    roast_run_free(run);
}

/* The name of what is found, NULL for nothing, and how many runs there are. */
static void assert_finds(const struct saved_test *test, const char *name, size_t runs,
                         size_t unreadable)
{
    struct roast_found_run found;

    assert_int_equal(roast_runfile_find(&found, test->dir, NULL), ROAST_OK);
    if (name) {
        assert_non_null(found.path.text);
        assert_string_equal(found.path.text + strlen(test->dir) + 1, name);
        assert_int_equal(strlen(found.path.text), found.path.size_bytes);
    } else
        assert_null(found.path.text);
    assert_int_equal(found.runs, runs);
    assert_int_equal(found.unreadable, unreadable);
    roast_page_release(&found.path);
}

static void folders_without_runs(void **state)
{
    const struct saved_test *test = *state;
    struct roast_found_run found;

    assert_finds(test, NULL, 0, 0);
    assert_int_equal(roast_runfile_find(&found, "/no/such", NULL), ROAST_IO);
}

static void the_one_that_began_last(void **state)
{
    const struct saved_test *test = *state;

    write_run(test, "b.roast", 30, ID);
    write_run(test, "c.roast", 10, ID);
    write_live(test, "a.roast-live", 20, OTHER_ID);
    assert_finds(test, "b.roast", 3, 0);
    write_live(test, "d.roast-live", 40, OTHER_ID);
    assert_finds(test, "d.roast-live", 4, 0);
}

static void one_folder_further_down(void **state)
{
    const struct saved_test *test = *state;
    char path[160];

    (void)snprintf(path, sizeof(path), "%s/night", test->dir);
    assert_int_equal(mkdir(path, 0700), 0);
    write_run(test, "night/run.roast", 10, ID);
    assert_finds(test, "night/run.roast", 1, 0);
    write_live(test, "night.roast-live", 20, ID); /* about to be removed */
    assert_finds(test, "night/run.roast", 1, 0);
    (void)files_in(path, true);
}

static void a_live_file_of_another_run_is_one_more(void **state)
{
    const struct saved_test *test = *state;

    write_run(test, "a.roast", 10, ID);
    write_live(test, "a.roast-live", 20, OTHER_ID);
    assert_finds(test, "a.roast-live", 2, 0);
}

static void files_that_cannot_be_read_are_counted(void **state)
{
    const struct saved_test *test = *state;
    char path[160];

    (void)snprintf(path, sizeof(path), "%s/z.roast", test->dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_finds(test, "z.roast", 1, 1);
    write_run(test, "a.roast", 10, ID);
    assert_finds(test, "a.roast", 2, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(folders_without_runs),
        saved_test_of(the_one_that_began_last),
        saved_test_of(one_folder_further_down),
        saved_test_of(a_live_file_of_another_run_is_one_more),
        saved_test_of(files_that_cannot_be_read_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
