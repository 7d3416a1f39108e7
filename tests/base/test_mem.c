/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mem.c - the heap interface: zeroed memory, replaceable, failures are
 * returned. */
#include "support.h"

#include "base/mem.h"
#include "heap.h"

static void *dirty_resize(void *ptr, size_t size_bytes)
{
    void *block = realloc(ptr, size_bytes);

    if (block && !ptr)
        memset(block, 0xa5, size_bytes);
    return block;
}

static void allocated_memory_is_zeroed_whatever_the_heap_gives(void **state)
{
    static const struct roast_heap dirty = {dirty_resize, free};
    static const char zeros[100];
    (void)state;

    roast__heap_set(&dirty);
    char *block = roast__alloc(sizeof(zeros));
    assert_non_null(block);
    assert_memory_equal(block, zeros, sizeof(zeros));
    roast__free(block);
    roast__heap_set(NULL);
}

static void every_call_goes_through_the_heap_that_was_set(void **state)
{
    (void)state;

    test_heap_install();
    test_heap_fail(0, false);
    void *block = roast__realloc(roast__alloc(10), 20000);
    assert_int_equal(test_heap.calls, 2);
    assert_int_equal(test_heap.live_blocks, 1);
    roast__free(block);
    roast__free(NULL);
    assert_int_equal(test_heap.live_blocks, 0);
    roast__heap_set(NULL);
    roast__free(roast__alloc(10)); /* the C library's again */
    assert_int_equal(test_heap.calls, 2);
}

/* C allows NULL for zero bytes. */
static void *strict_resize(void *ptr, size_t size_bytes)
{
    return size_bytes > 0 ? realloc(ptr, size_bytes) : NULL;
}

static void nothing_of_zero_bytes_is_not_a_failure(void **state)
{
    static const struct roast_heap strict = {strict_resize, free};
    (void)state;

    roast__heap_set(&strict);
    void *block = roast__alloc(0);
    assert_non_null(block);
    roast__free(block);
    roast__heap_set(NULL);
}

static void a_failed_resize_leaves_the_block_alone(void **state)
{
    (void)state;

    test_heap_install();
    test_heap_fail(2, true);
    char *block = roast__alloc(4);
    memcpy(block, "abc", 4);
    assert_null(roast__realloc(block, 100000));
    assert_null(roast__alloc(1));
    assert_string_equal(block, "abc");
    roast__free(block);
    assert_int_equal(test_heap.live_blocks, 0);
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocated_memory_is_zeroed_whatever_the_heap_gives),
        cmocka_unit_test(every_call_goes_through_the_heap_that_was_set),
        cmocka_unit_test(nothing_of_zero_bytes_is_not_a_failure),
        cmocka_unit_test(a_failed_resize_leaves_the_block_alone),
    };
    return cmocka_run_group_tests_name("base/mem", tests, NULL, NULL);
}
