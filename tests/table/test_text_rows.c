/* SPDX-License-Identifier: BSD-3-Clause */
/* test_text_rows.c - rows of cells as aligned text. */
#include "roast/text_rows.h"

#include "base/buf.h"
#include "heap.h"
#include "support.h"

static void put(void *context, const void *bytes, size_t size_bytes)
{
    roast__buf_put(context, bytes, size_bytes);
}

static struct roast_cell text(const char *text)
{
    return (struct roast_cell){.type = ROAST_CELL_TEXT, .text = roast_str_of(text)};
}

static struct roast_cell count(uint64_t count)
{
    return (struct roast_cell){.type = ROAST_CELL_COUNT, .count = count};
}

static void test_numbers_are_aligned_to_the_right(void **state)
{
    static const char *const names[] = {"name", "n", "rest"};
    const struct roast_cell rows[][3] = {{text("a"), count(5), text("x  ")},
                                         {text("longer\n"), count(1234), {0}}};
    struct roast_buf out = {0};
    const struct roast_text_rows_options options = {
        .names = names, .count = 3, .put = put, .context = &out};
    roast_text_rows *lines = roast_text_rows_new(&options);

    (void)state;
    assert_non_null(lines);
    for (size_t i = 0; i < 2; i++)
        roast_text_rows_put(lines, rows[i]);
    assert_true(roast_text_rows_finish(lines));
    assert_str_is(str_from(out.data, out.size_bytes), "name        n  rest\n"
                                                      "a           5  x  \n"
                                                      "longer?  1234  -\n");
    roast__buf_release(&out);
}

/* Rows behind the first thousand stand under them, whatever their width. */
static void test_later_rows_keep_the_widths(void **state)
{
    static const char *const names[] = {"a", "b"};
    struct roast_buf out = {0};
    const struct roast_text_rows_options options = {
        .names = names, .count = 2, .put = put, .context = &out};
    roast_text_rows *lines = roast_text_rows_new(&options);
    const struct roast_cell first[] = {text("xx"), count(1)};
    const struct roast_cell later[] = {text("yyyy"), count(22)};

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        roast_text_rows_put(lines, first);
    roast_text_rows_put(lines, later);
    assert_true(roast_text_rows_finish(lines));
    assert_true(out.size_bytes > 16);
    assert_str_is(str_from(out.data + out.size_bytes - 15, 15), "xx  1\nyyyy  22\n");
    roast__buf_release(&out);
}

static void test_out_of_memory_anywhere(void **state)
{
    static const char *const names[] = {"a"};
    const struct roast_cell cell[] = {text("x")};
    size_t before = test_heap.live_blocks;

    (void)state;
    for (size_t n = 1;; n++) {
        struct roast_buf out = {0};
        const struct roast_text_rows_options options = {
            .names = names, .count = 1, .put = put, .context = &out};
        test_heap_fail(n, false);
        roast_text_rows *lines = roast_text_rows_new(&options);
        bool done = lines != NULL;
        if (lines) {
            roast_text_rows_put(lines, cell);
            done = roast_text_rows_finish(lines) && roast__buf_ok(&out);
        }
        bool failed = test_heap_failed();
        test_heap_fail(0, false);
        assert_int_equal(done, !failed);
        roast__buf_release(&out);
        assert_int_equal(test_heap.live_blocks, before);
        if (!failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_aligned_to_the_right),
        cmocka_unit_test(test_later_rows_keep_the_widths),
        cmocka_unit_test(test_out_of_memory_anywhere),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
