/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_descendant.c - which processes belong to this one. */
#include <sys/wait.h>
#include <unistd.h>

#include "probe/linux/descendant.h"
#include "support.h"

static void test_this_process_and_its_children(void **state)
{
    int inner[2], hold[2];
    pid_t grandchild = 0;
    (void)state;

    assert_int_equal(pipe(inner), 0);
    assert_int_equal(pipe(hold), 0);
    pid_t child = fork();
    if (child == 0) {
        char end;
        pid_t own = fork();
        (void)close(hold[1]);
        if (own > 0)
            (void)!write(inner[1], &own, sizeof(own));
        (void)!read(hold[0], &end, 1); /* until the test has looked */
        if (own > 0)
            (void)waitpid(own, NULL, 0);
        _exit(0);
    }
    assert_int_equal(read(inner[0], &grandchild, sizeof(grandchild)),
                     sizeof(grandchild));
    assert_true(roast__is_descendant((uint64_t)getpid()));
    assert_true(roast__is_descendant((uint64_t)child));
    assert_true(roast__is_descendant((uint64_t)grandchild));
    assert_int_equal(close(hold[1]), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(roast__is_descendant((uint64_t)child));
    (void)(close(hold[0]) + close(inner[0]) + close(inner[1]));
}

static void test_other_processes(void **state)
{
    (void)state;
    assert_int_equal(roast__is_descendant((uint64_t)getppid()), false);
    assert_false(roast__is_descendant(0));
    assert_false(roast__is_descendant(UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_process_and_its_children),
        cmocka_unit_test(test_other_processes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
