/* SPDX-License-Identifier: BSD-3-Clause */
/* test_traces.c - perfetto and otlp without memory. That they are right is tested with
 * the classes of their own projects (python/tests/test_export_perfetto.py). */
#include "exported.h"
#include "heap.h"

/* Whether an allocation failed. */
static bool try_without(roast_run *run, enum roast_export_format format, size_t n)
{
    struct roast_buf bytes = {NULL, 0, 0, false};
    const struct roast_export_options options = {.put = roast__buf_sink,
                                                 .context = &bytes};
    size_t before = test_heap.live_blocks;
    roast_error err = {0};

    test_heap_fail(n, true);
    int status = roast_export(run, NULL, format, &options, &err);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    if (status < 0 && (!failed || status != ROAST_NO_MEMORY))
        fail_msg("allocation %zu: %d %s", n, status, err.message);
    assert_true(status < 0 || !failed || !roast__buf_ok(&bytes));
    roast__buf_release(&bytes);
    assert_int_equal(test_heap.live_blocks, before);
    return failed;
}

static void no_memory_is_reported(void **state)
{
    static const enum roast_export_format formats[] = {ROAST_EXPORT_PERFETTO,
                                                       ROAST_EXPORT_OTLP};

    (void)state;
    test_heap_install();
    roast_run *run = rich_run();
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        size_t n = 1;
        while (try_without(run, formats[i], n))
            n += n < 40 ? 1 : 7;
        assert_true(n > 300);
    }
    roast_run_free(run);
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
