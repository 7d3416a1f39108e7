/* SPDX-License-Identifier: BSD-3-Clause */
/* test_find.c - finds the newest run in a folder, whatever the name and times of its
 * file are. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/sqlite/saved_file.h"

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

/* The name of the found run, NULL for none, and the number of runs. */
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
    assert_int_equal(found.file != NULL, unreadable < runs);
    roast_page_release(&found.path);
    roast_runfile_close(found.file);
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

/* ---- names ------------------------------------------------------------------------ */

static void make_folder(const struct saved_test *test, const char *name)
{
    char path[160];

    (void)snprintf(path, sizeof(path), "%s/%s", test->dir, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void drop_folder(const struct saved_test *test, const char *name)
{
    char path[160];

    (void)snprintf(path, sizeof(path), "%s/%s", test->dir, name);
    (void)files_in(path, true);
    assert_int_equal(rmdir(path), 0);
}

/* A measurement may have any name. */
static void a_folder_may_be_called_like_a_file(void **state)
{
    const struct saved_test *test = *state;

    make_folder(test, "v1.roast");
    write_run(test, "v1.roast/run.roast", 10, ID);
    assert_finds(test, "v1.roast/run.roast", 1, 0);
    make_folder(test, "v2.roast-live");
    write_run(test, "v2.roast-live/run.roast", 20, OTHER_ID);
    assert_finds(test, "v2.roast-live/run.roast", 2, 0);
    drop_folder(test, "v1.roast");
    drop_folder(test, "v2.roast-live");
}

static void what_is_hidden_is_passed_over(void **state)
{
    const struct saved_test *test = *state;

    make_folder(test, ".saving-0123");
    write_run(test, ".saving-0123/run.roast", 10, ID);
    write_run(test, ".x.roast", 10, ID);
    assert_finds(test, NULL, 0, 0);
    drop_folder(test, ".saving-0123");
}

static void names_of_runs(void **state)
{
    (void)state;
    assert_true(roast_is_run_name("a.roast") && roast_is_run_name("./b/a.roast-live"));
    assert_true(roast_is_run_name(ROAST_RUN_NAME));
    assert_false(roast_is_run_name("a.roasted") || roast_is_run_name("roast"));
    assert_false(roast_is_run_name(".roast") || roast_is_run_name("b/.roast"));
    assert_false(roast_is_run_name(".a.roast") || roast_is_run_name("a.roast/"));
}

/* ---- damaged and disappearing files
 * ------------------------------------------------ */

/* Damages what run_info does not read: the first page, with the schema. */
static void break_schema(const struct saved_test *test, const char *name)
{
    char path[160];
    unsigned char page[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", test->dir, name);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(page, 1, sizeof(page), file), sizeof(page));
    memset(page + 100, 0xff, sizeof(page) - 100);
    rewind(file);
    assert_int_equal(fwrite(page, 1, sizeof(page), file), sizeof(page));
    assert_int_equal(fclose(file), 0);
}

static void the_next_one_where_the_newest_cannot_be_opened(void **state)
{
    const struct saved_test *test = *state;
    struct roast_run_info info;
    char path[160];

    write_run(test, "a.roast", 10, ID);
    write_run(test, "b.roast", 20, ID);
    write_run(test, "c.roast", 30, ID);
    break_schema(test, "c.roast");
    (void)snprintf(path, sizeof(path), "%s/c.roast", test->dir);
    assert_int_equal(roast_run_info_read(&info, path, NULL), ROAST_BAD_DATA);
    assert_finds(test, "b.roast", 3, 1);
    break_schema(test, "b.roast");
    assert_finds(test, "a.roast", 3, 2);
    break_schema(test, "a.roast");
    assert_finds(test, "c.roast", 3, 3);
}

/* What readdir() does: nothing; fails at a call; a run ends meanwhile. */
static struct {
    int fails_at; /* 0: never */
    int ends_at;
    int calls;
    const struct saved_test *test;
} folder_reading;

static void end_run(const struct saved_test *test)
{
    char path[160];

    make_folder(test, "night");
    write_run(test, "night/run.roast", 10, ID);
    (void)snprintf(path, sizeof(path), "%s/night.roast-live", test->dir);
    assert_int_equal(unlink(path), 0);
}

#pragma GCC visibility push(default)

struct dirent *readdir(DIR *dir)
{
    static struct dirent *(*real)(DIR * dir);
    int call = ++folder_reading.calls;

    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "readdir");
        memcpy(&real, &symbol, sizeof(real));
    }
    if (call == folder_reading.fails_at) {
        errno = EIO;
        return NULL;
    }
    struct dirent *entry = real(dir);
    if (folder_reading.ends_at > 0 && entry &&
        strcmp(entry->d_name, "night.roast-live") == 0) {
        folder_reading.ends_at = 0;
        end_run(folder_reading.test);
    }
    return entry;
}

#pragma GCC visibility pop

static void a_folder_that_cannot_be_read_to_its_end_is_an_error(void **state)
{
    const struct saved_test *test = *state;
    struct roast_found_run found;

    write_run(test, "a.roast", 10, ID);
    for (int call = 1; call <= 4; call++) {
        folder_reading.fails_at = call;
        folder_reading.calls = 0;
        assert_int_equal(roast_runfile_find(&found, test->dir, NULL), ROAST_IO);
        assert_null(found.path.text);
        assert_null(found.file);
    }
    folder_reading.fails_at = 0;
    assert_finds(test, "a.roast", 1, 0);
}

static void a_run_that_ends_during_the_search_is_found(void **state)
{
    const struct saved_test *test = *state;

    write_live(test, "night.roast-live", 10, ID);
    folder_reading.test = test;
    folder_reading.ends_at = 1;
    assert_finds(test, "night/run.roast", 1, 0);
    assert_int_equal(folder_reading.ends_at, 0);
    drop_folder(test, "night");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        saved_test_of(folders_without_runs),
        saved_test_of(the_one_that_began_last),
        saved_test_of(one_folder_further_down),
        saved_test_of(a_live_file_of_another_run_is_one_more),
        saved_test_of(files_that_cannot_be_read_are_counted),
        saved_test_of(a_folder_may_be_called_like_a_file),
        saved_test_of(what_is_hidden_is_passed_over),
        saved_test_of(names_of_runs),
        saved_test_of(the_next_one_where_the_newest_cannot_be_opened),
        saved_test_of(a_folder_that_cannot_be_read_to_its_end_is_an_error),
        saved_test_of(a_run_that_ends_during_the_search_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
