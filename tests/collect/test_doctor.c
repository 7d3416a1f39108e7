/* SPDX-License-Identifier: BSD-3-Clause */
/* test_doctor.c - what can be measured here: each check once, on fixture folders, and
 * what is lost where something is missing. */
#include <stdio.h>

#include "roast/doctor.h"
#include "support.h"

enum { MAX_LINES = 64 };

struct results {
    struct {
        enum roast_doctor_kind kind;
        char name[64];
        char found[256];
        char lost[128];
    } lines[MAX_LINES];
    size_t count;
};

static void take(void *context, const struct roast_doctor_line *line)
{
    struct results *results = context;

    assert_true(results->count < MAX_LINES);
    results->lines[results->count].kind = line->kind;
    (void)snprintf(results->lines[results->count].name, 64, "%s", line->name);
    (void)snprintf(results->lines[results->count].found, 256, "%s", line->found);
    (void)snprintf(results->lines[results->count].lost, 128, "%s", line->lost);
    results->count++;
}

/* The number of the only line with this name. */
static size_t line_of(const struct results *results, const char *name)
{
    size_t found = MAX_LINES;

    for (size_t i = 0; i < results->count; i++)
        if (strcmp(results->lines[i].name, name) == 0) {
            assert_int_equal(found, MAX_LINES);
            found = i;
        }
    if (found == MAX_LINES)
        fail_msg("nothing of %s", name);
    return found;
}

static void test_a_machine_where_all_is_known(void **state)
{
    const struct roast_doctor_roots roots = {.proc = ROAST_FIXTURES "/proc/typical",
                                             .cgroup = "/nonexistent",
                                             .sys = "/nonexistent",
                                             .scratch = "."};
    static const char *const works[] = {"memory of processes", "waiting for a core",
                                        "bytes from storage",
                                        "files that outlive a crash"};
    struct results results = {.count = 0};

    (void)state;
    if (!ROAST_PROCFS)
        skip();
    roast_doctor(&roots, take, &results);
    for (size_t i = 0; i < COUNT_OF(works); i++)
        assert_int_equal(results.lines[line_of(&results, works[i])].kind,
                         ROAST_DOCTOR_YES);
    assert_string_equal(results.lines[line_of(&results, "cgroup, memory")].found,
                        "none");
    assert_non_null(
        strstr(results.lines[line_of(&results, "clock")].found, "an unknown source"));
}

static void test_a_machine_where_nothing_is_known(void **state)
{
    const struct roast_doctor_roots roots = {"/nonexistent", "/nonexistent",
                                             "/nonexistent", "/nonexistent"};
    struct results results = {.count = 0};

    (void)state;
    roast_doctor(&roots, take, &results);
    for (size_t i = 0; i < results.count; i++) {
        assert_int_not_equal(results.lines[i].kind, ROAST_DOCTOR_YES);
        bool has_lost = results.lines[i].lost[0] != '\0';
        assert_int_equal(has_lost, results.lines[i].kind == ROAST_DOCTOR_NO);
        assert_int_equal(line_of(&results, results.lines[i].name),
                         i); /* results once */
    }
    assert_string_equal(results.lines[line_of(&results, "waiting for a core")].lost,
                        "time that chunks waited for a core");
}

static void test_this_machine(void **state)
{
    struct results results = {.count = 0};

    (void)state;
    roast_doctor(NULL, take, &results);
    assert_true(results.count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_machine_where_all_is_known),
        cmocka_unit_test(test_a_machine_where_nothing_is_known),
        cmocka_unit_test(test_this_machine),
    };

    return cmocka_run_group_tests_name("probe/test_doctor", tests, NULL, NULL);
}
