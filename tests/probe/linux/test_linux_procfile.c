/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_procfile.c - the kept descriptor: opened once, again after a fork. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/linux/procfile.h"
#include "probe/linux/scan.h"
#include "probe/linux_help.h"

/* A directory of its own for every test, with one file in it. */
struct folder {
    char path[64];
    char file[80];
};

static void write_file(const struct folder *folder, const char *text)
{
    FILE *file = fopen(folder->file, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof(*folder));

    assert_non_null(folder);
    (void)snprintf(folder->path, sizeof(folder->path), "/tmp/roast-test-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    (void)snprintf(folder->file, sizeof(folder->file), "%s/value", folder->path);
    *state = folder;
    return 0;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;

    (void)unlink(folder->file);
    (void)rmdir(folder->path);
    free(folder);
    return 0;
}

static void reads_what_is_there_now_through_one_descriptor(void **state)
{
    const struct folder *folder = *state;
    struct roast_procfile file = {.root = folder->path};
    char out[32];

    write_file(folder, "first\n");
    assert_string_equal(roast__procfile_read(&file, "value", out, sizeof(out)).data,
                        "first\n");
    int descriptor = file.fd_plus_one;
    write_file(folder, "2nd\n");
    assert_string_equal(roast__procfile_read(&file, "value", out, sizeof(out)).data,
                        "2nd\n");
    assert_int_equal(file.fd_plus_one, descriptor);
    roast__procfile_close(&file);
}

static void does_not_pass_its_descriptor_to_other_programs(void **state)
{
    const struct folder *folder = *state;
    struct roast_procfile file = {.root = folder->path};
    char out[8];

    write_file(folder, "x");
    (void)roast__procfile_read(&file, "value", out, sizeof(out));
    assert_true(fcntl(file.fd_plus_one - 1, F_GETFD) & FD_CLOEXEC);
    roast__procfile_close(&file);
}

static void does_not_try_again_what_could_not_be_opened(void **state)
{
    const struct folder *folder = *state;
    struct roast_procfile file = {.root = folder->path};
    char out[8];

    assert_null(roast__procfile_read(&file, "value", out, sizeof(out)).data);
    write_file(folder, "late");
    assert_null(roast__procfile_read(&file, "value", out, sizeof(out)).data);
    roast__procfile_close(&file);
    assert_non_null(roast__procfile_read(&file, "value", out, sizeof(out)).data);
    roast__procfile_close(&file);
}

static bool reads_late_file(void *context)
{
    char out[8];
    return roast__procfile_read(context, "value", out, sizeof(out)).data != NULL;
}

static void tries_again_in_a_forked_child(void **state)
{
    const struct folder *folder = *state;
    struct roast_procfile file = {.root = folder->path};

    assert_false(reads_late_file(&file));
    write_file(folder, "late");
    assert_true(holds_in_child(reads_late_file, &file));
    assert_false(reads_late_file(&file));
}

/* /proc/self/stat begins with the pid. */
static bool reads_own_pid(void *context)
{
    char out[512];
    uint64_t pid = 0;
    struct roast_str text =
        roast__procfile_read(context, "self/stat", out, sizeof(out));

    return text.data && roast__scan_u64(&pid, &text) && pid == (uint64_t)getpid();
}

static bool reads_own_pid_in_child(void *context)
{
    return reads_own_pid(context) && holds_in_child(reads_own_pid, context);
}

static void a_child_and_its_child_read_themselves(void **state)
{
    struct roast_procfile file = {0};
    (void)state;

    assert_true(reads_own_pid(&file));
    assert_true(holds_in_child(reads_own_pid_in_child, &file));
    assert_true(reads_own_pid(&file));
    roast__procfile_close(&file);
}

/* The child closes all descriptors like a daemon, and opens a file that gets the number
 * of ours. */
static bool leaves_the_number_alone(void *context)
{
    struct roast_procfile *file = context;
    int number = file->fd_plus_one - 1;
    int own = open("/dev/null", O_RDONLY);

    if (dup2(own, number) != number || !reads_own_pid(file))
        return false;
    return fcntl(number, F_GETFD) != -1;
}

static void a_child_does_not_close_what_took_the_number(void **state)
{
    struct roast_procfile file = {0};
    (void)state;

    assert_true(reads_own_pid(&file));
    assert_true(holds_in_child(leaves_the_number_alone, &file));
    roast__procfile_close(&file);
}

static void a_long_file_ends_with_its_last_whole_line(void **state)
{
    const struct folder *folder = *state;
    char out[12];

    write_file(folder, "a 1\nb 2\nc 123456\n");
    struct roast_str text =
        roast__procfile_read_once(folder->path, "value", out, sizeof(out));
    assert_string_equal(text.data, "a 1\nb 2\n");
    write_file(folder, "one line that is too long");
    text = roast__procfile_read_once(folder->path, "value", out, sizeof(out));
    assert_int_equal(text.size_bytes, 0);
}

static void a_directory_and_an_endless_path_are_absent(void **state)
{
    const struct folder *folder = *state;
    char name[2000] = "";
    char out[8];

    assert_null(roast__procfile_read_once(folder->path, ".", out, sizeof(out)).data);
    memset(name, 'x', sizeof(name) - 1);
    assert_null(roast__procfile_read_once(folder->path, name, out, sizeof(out)).data);
}

#define TEST_IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(reads_what_is_there_now_through_one_descriptor),
        TEST_IN_FOLDER(does_not_pass_its_descriptor_to_other_programs),
        TEST_IN_FOLDER(does_not_try_again_what_could_not_be_opened),
        TEST_IN_FOLDER(tries_again_in_a_forked_child),
        cmocka_unit_test(a_child_and_its_child_read_themselves),
        cmocka_unit_test(a_child_does_not_close_what_took_the_number),
        TEST_IN_FOLDER(a_long_file_ends_with_its_last_whole_line),
        TEST_IN_FOLDER(a_directory_and_an_endless_path_are_absent),
    };
    return cmocka_run_group_tests_name("probe/linux_procfile", tests, NULL, NULL);
}
