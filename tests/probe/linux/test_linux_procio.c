/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_procio.c - the kernel's byte counters against bytes really moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "probe/linux/usage.h"

enum { BLOCK_BYTES = 4096, BLOCKS = 256, MOVED_BYTES = BLOCK_BYTES * BLOCKS };

static void reads_a_fixture(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/typical"};
    struct roast_procio io;
    (void)state;

    assert_true(roast__procio_read(&file, &io));
    assert_int_equal(io.rchar_bytes, 323934931);
    assert_int_equal(io.wchar_bytes, 323929600);
    assert_int_equal(io.read_bytes, 40960);
    assert_int_equal(io.write_bytes, 323932160);
    roast__procfile_close(&file);
}

static void is_absent_without_a_readable_file(void **state)
{
    struct roast_procfile file = {.root = ROAST_FIXTURES "/proc/garbage"};
    struct roast_procio io;
    (void)state;

    assert_false(roast__procio_read(&file, &io));
    roast__procfile_close(&file);
}

/* A block of slack: our own reading of the counters is in them, and so are the few
 * bytes valgrind passes between its threads. */
static void counts_the_bytes_that_were_moved(void **state)
{
    char block[BLOCK_BYTES] = "";
    struct roast_procfile file = {0};
    struct roast_procio before;
    struct roast_procio after;
    FILE *data = tmpfile();
    (void)state;

    assert_non_null(data);
    if (!roast__procio_read(&file, &before))
        skip(); /* a kernel without these counters */
    for (int i = 0; i < BLOCKS; i++) {
        assert_int_equal(pwrite(fileno(data), block, BLOCK_BYTES, 0), BLOCK_BYTES);
        assert_int_equal(pread(fileno(data), block, BLOCK_BYTES, 0), BLOCK_BYTES);
    }
    assert_true(roast__procio_read(&file, &after));
    assert_int_equal(fclose(data), 0);
    roast__procfile_close(&file);

    assert_true(after.has_rchar && after.has_wchar);
    assert_in_range(after.rchar_bytes - before.rchar_bytes, MOVED_BYTES,
                    MOVED_BYTES + BLOCK_BYTES);
    assert_in_range(after.wchar_bytes - before.wchar_bytes, MOVED_BYTES,
                    MOVED_BYTES + BLOCK_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_fixture),
        cmocka_unit_test(is_absent_without_a_readable_file),
        cmocka_unit_test(counts_the_bytes_that_were_moved),
    };
    return cmocka_run_group_tests_name("probe/linux_procio", tests, NULL, NULL);
}
