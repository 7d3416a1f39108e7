/* SPDX-License-Identifier: BSD-3-Clause */
/* test_buf.c - bytes that grow and the cursor over them: numbers at their edges, sticky
 * failure on both sides. */
#include "support.h"

#include "base/buf.h"
#include "heap.h"

/* A number and the size of its varint. */
struct edge {
    uint64_t value;
    size_t size_bytes;
};

static const struct edge edges[] = {
    {0, 1},           {1, 1},          {127, 1},
    {128, 2},         {300, 2},        {16383, 2},
    {16384, 3},       {UINT32_MAX, 5}, {UINT64_C(1) << 63, 10},
    {UINT64_MAX, 10},
};

static void varints_have_the_documented_bytes(void **state)
{
    static const unsigned char expected[] = {0x01, 0xac, 0x02};
    struct roast_buf buf = {0};
    (void)state;

    roast__buf_put_varint(&buf, 1);
    roast__buf_put_varint(&buf, 300);
    assert_int_equal(buf.size_bytes, sizeof(expected));
    assert_memory_equal(buf.data, expected, sizeof(expected));
    roast__buf_release(&buf);
}

static void varints_come_back_with_the_shortest_size(void **state)
{
    struct roast_buf buf = {0};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(edges); i++) {
        roast__buf_clear(&buf);
        roast__buf_put_varint(&buf, edges[i].value);
        assert_int_equal(buf.size_bytes, edges[i].size_bytes);
        struct roast_cursor cur = roast__cursor(buf.data, buf.size_bytes);
        assert_true(roast__cursor_varint(&cur) == edges[i].value);
        assert_int_equal(roast__cursor_remaining(&cur), 0);
        assert_false(cur.failed);
    }
    roast__buf_release(&buf);
}

/* Long ones are read 8 bytes at once where so many are available. */
static void bytes_after_a_varint_do_not_change_it(void **state)
{
    enum { GUARD_BYTES = 12 };
    static const unsigned char guard[] = {0x00, 0x7f, 0x80, 0xff};
    struct roast_buf buf = {0};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(edges) * COUNT_OF(guard); i++) {
        roast__buf_clear(&buf);
        roast__buf_put_varint(&buf, edges[i / COUNT_OF(guard)].value);
        size_t size = buf.size_bytes;
        for (int k = 0; k < GUARD_BYTES; k++)
            roast__buf_put(&buf, &guard[i % COUNT_OF(guard)], 1);
        for (size_t cut = 0; cut < size + GUARD_BYTES; cut++) {
            char *bytes = tight_copy((const char *)buf.data, cut);
            struct roast_cursor cur = roast__cursor(bytes, cut);
            uint64_t expected = cut < size ? 0 : edges[i / COUNT_OF(guard)].value;
            assert_true(roast__cursor_varint(&cur) == expected);
            assert_int_equal(cur.failed, cut < size);
            assert_int_equal(roast__cursor_remaining(&cur),
                             cut < size ? 0 : cut - size);
            free(bytes);
        }
    }
    roast__buf_release(&buf);
}

static void signed_numbers_are_zigzagged(void **state)
{
    static const int64_t values[] = {0, -1, 1, -2, 2, -64, 64, INT64_MAX, INT64_MIN};
    static const unsigned char small[] = {0, 1, 2, 3, 4};
    struct roast_buf buf = {0};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(values); i++)
        roast__buf_put_signed(&buf, values[i]);
    assert_memory_equal(buf.data, small, sizeof(small));
    struct roast_cursor cur = roast__cursor(buf.data, buf.size_bytes);
    for (size_t i = 0; i < COUNT_OF(values); i++)
        assert_true(roast__cursor_signed(&cur) == values[i]);
    assert_false(cur.failed);
    roast__buf_release(&buf);
}

static void fixed_numbers_are_little_endian(void **state)
{
    static const unsigned char expected[] = {0xef, 0xcd, 0xab, 0x89,
                                             0x67, 0x45, 0x23, 0x01};
    struct roast_buf buf = {0};
    (void)state;

    roast__buf_put_fixed64(&buf, UINT64_C(0x0123456789abcdef));
    assert_int_equal(buf.size_bytes, sizeof(expected));
    assert_memory_equal(buf.data, expected, sizeof(expected));
    struct roast_cursor cur = roast__cursor(buf.data, buf.size_bytes);
    assert_true(roast__cursor_fixed64(&cur) == UINT64_C(0x0123456789abcdef));
    assert_false(cur.failed);
    roast__buf_release(&buf);
}

static void keeps_its_bytes_while_it_grows(void **state)
{
    struct roast_buf buf = {0};
    (void)state;

    for (uint32_t i = 0; i < 5000; i++)
        roast__buf_put_varint(&buf, i * 2654435761U);
    assert_true(roast__buf_ok(&buf));
    struct roast_cursor cur = roast__cursor(buf.data, buf.size_bytes);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(roast__cursor_varint(&cur), i * 2654435761U);
    roast__buf_release(&buf);
}

static void clearing_keeps_the_memory_and_release_gives_it_back(void **state)
{
    struct roast_buf buf = {0};
    (void)state;

    test_heap_install();
    test_heap_fail(0, false);
    roast__buf_reserve(&buf, 1000);
    roast__buf_clear(&buf);
    roast__buf_put(&buf, edges, 1000 < sizeof(edges) ? 1000 : sizeof(edges));
    assert_int_equal(test_heap.calls, 1);
    roast__buf_release(&buf);
    assert_int_equal(test_heap.live_blocks, 0);
    assert_null(buf.data);
    roast__buf_release(&buf); /* a released buffer is empty */
    roast__heap_set(NULL);
}

static void a_failed_allocation_sticks_until_it_is_cleared(void **state)
{
    struct roast_buf buf = {0};
    (void)state;

    test_heap_install();
    roast__buf_put_varint(&buf, 5);
    test_heap_fail(1, false);
    roast__buf_reserve(&buf, 100000);
    assert_false(roast__buf_ok(&buf));
    roast__buf_put_varint(&buf, 6);
    roast__buf_put(&buf, "abc", 3);
    roast__buf_put_fixed64(&buf, 7);
    assert_int_equal(buf.size_bytes, 1); /* earlier bytes are complete */
    assert_int_equal(buf.data[0], 5);
    roast__buf_clear(&buf);
    roast__buf_put_varint(&buf, 8);
    assert_true(roast__buf_ok(&buf));
    roast__buf_release(&buf);
    assert_int_equal(test_heap.live_blocks, 0);
    roast__heap_set(NULL);
}

static void a_size_past_all_memory_fails_without_allocating(void **state)
{
    struct roast_buf buf = {0};
    (void)state;

    test_heap_install();
    test_heap_fail(0, false);
    roast__buf_reserve(&buf, SIZE_MAX);
    assert_false(roast__buf_ok(&buf));
    assert_int_equal(test_heap.calls, 0);
    roast__buf_release(&buf);
    roast__heap_set(NULL);
}

static void reading_past_the_end_gives_nothing_and_sticks(void **state)
{
    char *bytes = tight_copy("\x05\x80", 2);
    struct roast_cursor cur = roast__cursor(bytes, 2);
    (void)state;

    assert_int_equal(roast__cursor_varint(&cur), 5);
    assert_int_equal(roast__cursor_varint(&cur), 0); /* its second byte is missing */
    assert_true(cur.failed);
    cur = roast__cursor(bytes, 2);
    assert_int_equal(roast__cursor_fixed32(&cur), 0);
    assert_true(cur.failed);
    assert_null(roast__cursor_bytes(&cur, 1)); /* one byte is available */
    cur = roast__cursor(bytes, 2);
    assert_null(roast__cursor_bytes(&cur, UINT64_MAX));
    assert_true(cur.failed);
    cur = roast__cursor(NULL, 0);
    assert_int_equal(roast__cursor_varint(&cur), 0);
    assert_true(cur.failed);
    free(bytes);
}

static void bytes_are_borrowed_up_to_the_very_end(void **state)
{
    static const char text[] = "jets";
    struct roast_cursor cur = roast__cursor(text, 4);
    (void)state;

    assert_ptr_equal(roast__cursor_bytes(&cur, 4), text);
    assert_non_null(roast__cursor_bytes(&cur, 0)); /* empty is not absent */
    assert_false(cur.failed);
    assert_null(roast__cursor_bytes(&cur, 1));
    assert_true(cur.failed);
}

static void a_varint_of_more_than_64_bits_is_refused(void **state)
{
    unsigned char bytes[11];
    struct roast_cursor cur;
    (void)state;

    memset(bytes, 0xff, sizeof(bytes)); /* no end within ten bytes */
    cur = roast__cursor(bytes, sizeof(bytes));
    assert_int_equal(roast__cursor_varint(&cur), 0);
    assert_true(cur.failed);
    bytes[9] = 2; /* bit 64 */
    cur = roast__cursor(bytes, sizeof(bytes));
    assert_int_equal(roast__cursor_varint(&cur), 0);
    assert_true(cur.failed);
    bytes[9] = 1; /* bit 63 is the last that fits */
    cur = roast__cursor(bytes, sizeof(bytes));
    assert_true(roast__cursor_varint(&cur) == UINT64_MAX);
    assert_false(cur.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varints_have_the_documented_bytes),
        cmocka_unit_test(varints_come_back_with_the_shortest_size),
        cmocka_unit_test(bytes_after_a_varint_do_not_change_it),
        cmocka_unit_test(signed_numbers_are_zigzagged),
        cmocka_unit_test(fixed_numbers_are_little_endian),
        cmocka_unit_test(keeps_its_bytes_while_it_grows),
        cmocka_unit_test(clearing_keeps_the_memory_and_release_gives_it_back),
        cmocka_unit_test(a_failed_allocation_sticks_until_it_is_cleared),
        cmocka_unit_test(a_size_past_all_memory_fails_without_allocating),
        cmocka_unit_test(reading_past_the_end_gives_nothing_and_sticks),
        cmocka_unit_test(bytes_are_borrowed_up_to_the_very_end),
        cmocka_unit_test(a_varint_of_more_than_64_bits_is_refused),
    };
    return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
