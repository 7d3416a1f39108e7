/* SPDX-License-Identifier: BSD-3-Clause */
/* test_row_writer.c - rows of cells as aligned text, CSV or JSON lines. */
#include "roast/row_writer.h"

#include "base/buf.h"
#include "heap.h"
#include "support.h"

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
    const struct roast_row_writer_options options = {
        .names = names, .count = 3, .put = roast__buf_sink, .context = &out};
    roast_row_writer *writer = roast_row_writer_new(&options);

    (void)state;
    assert_non_null(writer);
    for (size_t i = 0; i < 2; i++)
        roast_row_writer_put(writer, rows[i]);
    assert_true(roast_row_writer_finish(writer));
    assert_str_is(str_from(out.data, out.size_bytes), "name        n  rest\n"
                                                      "a           5  x  \n"
                                                      "longer?  1234  -\n");
    roast__buf_release(&out);
}

static void test_csv_and_json(void **state)
{
    static const char *const names[] = {"name", "n"};
    const struct roast_cell rows[][2] = {{text("a,\"b\"\r\nc\x1b"), count(5)},
                                         {text("=1+1"), {0}}};
    static const char *const wanted[] = {
        [ROAST_FORMAT_CSV] = "name,n\r\n\"a,\"\"b\"\"\nc?\",5\r\n'=1+1,\r\n",
        [ROAST_FORMAT_JSON] = "{\"name\":\"a,\\\"b\\\"\\r\\nc\\u001b\",\"n\":5}\n"
                              "{\"name\":\"=1+1\",\"n\":null}\n"};

    (void)state;
    for (int format = ROAST_FORMAT_CSV; format <= ROAST_FORMAT_JSON; format++) {
        struct roast_buf out = {0};
        const struct roast_row_writer_options options = {.format =
                                                             (enum roast_format)format,
                                                         .names = names,
                                                         .count = 2,
                                                         .put = roast__buf_sink,
                                                         .context = &out};
        roast_row_writer *writer = roast_row_writer_new(&options);
        assert_non_null(writer);
        for (size_t i = 0; i < 2; i++)
            roast_row_writer_put(writer, rows[i]);
        assert_true(roast_row_writer_finish(writer));
        assert_str_is(str_from(out.data, out.size_bytes), wanted[format]);
        roast__buf_release(&out);
    }
}

/* Rows after the first thousand are aligned like them, whatever their width. */
static void test_later_rows_keep_the_widths(void **state)
{
    static const char *const names[] = {"a", "b"};
    struct roast_buf out = {0};
    const struct roast_row_writer_options options = {
        .names = names, .count = 2, .put = roast__buf_sink, .context = &out};
    roast_row_writer *writer = roast_row_writer_new(&options);
    const struct roast_cell first[] = {text("xx"), count(1)};
    const struct roast_cell later[] = {text("yyyy"), count(22)};

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        roast_row_writer_put(writer, first);
    roast_row_writer_put(writer, later);
    assert_true(roast_row_writer_finish(writer));
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
    for (size_t n = 1, format = ROAST_FORMAT_TEXT; format <= ROAST_FORMAT_JSON; n++) {
        struct roast_buf out = {0};
        const struct roast_row_writer_options options = {.format =
                                                             (enum roast_format)format,
                                                         .names = names,
                                                         .count = 1,
                                                         .put = roast__buf_sink,
                                                         .context = &out};
        test_heap_fail(n, false);
        roast_row_writer *writer = roast_row_writer_new(&options);
        bool done = writer != NULL;
        if (writer) {
            roast_row_writer_put(writer, cell);
            done = roast_row_writer_finish(writer) && roast__buf_ok(&out);
        }
        bool failed = test_heap_failed();
        test_heap_fail(0, false);
        assert_int_equal(done, !failed);
        roast__buf_release(&out);
        assert_int_equal(test_heap.live_blocks, before);
        if (!failed) {
            format++;
            n = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_aligned_to_the_right),
        cmocka_unit_test(test_csv_and_json),
        cmocka_unit_test(test_later_rows_keep_the_widths),
        cmocka_unit_test(test_out_of_memory_anywhere),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
