/* SPDX-License-Identifier: BSD-3-Clause */
/* test_places.c - findings name the machine and the client as what they are. */
#include "analyze/diagnosis.h"

static void assert_title(roast_run *run, const char *id, const char *title,
                         const char *advice)
{
    roast_summary *summary = summary_of(run);
    int64_t row = finding_row(summary, id);

    check_texts(summary);
    assert_true(row >= 0);
    assert_str_is(text_at(summary, "findings", (size_t)row, "title"), title);
    assert_says(summary, id, "advice", advice);
    roast_summary_free(summary);
}

static void test_one_machine_is_no_nodes(void **state)
{
    roast_run *run = patient_new((struct patient){.runqueue = 0.5}, NULL);

    (void)state;
    assert_title(run, "overloaded", "The nodes are overloaded", "threads per node");
    assert_int_equal(roast_run_set_host(run, roast_str_of("login"), NULL), ROAST_OK);
    assert_title(run, "overloaded", "The nodes are overloaded", "threads per node");
    assert_int_equal(roast_run_set_host(run, roast_str_of("red-c1"), NULL), ROAST_OK);
    assert_title(run, "overloaded", "This machine is overloaded",
                 "no more threads than this machine has cores");
    roast_run_free(run);
}

static void test_a_script_is_no_notebook(void **state)
{
    roast_run *run = patient_new((struct patient){.begin = 3}, NULL);

    (void)state;
    assert_title(run, "client_imports", "Your script is busy before the first task",
                 "before the block");
    assert_int_equal(roast_run_set_note(run, ROAST_NOTES_provenance,
                                        roast_str_of("client"),
                                        roast_str_of("notebook"), NULL),
                     ROAST_OK);
    assert_title(run, "client_imports", "Your notebook is busy before the first task",
                 "before the block");
    roast_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_machine_is_no_nodes),
        cmocka_unit_test(test_a_script_is_no_notebook),
    };

    return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
