/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lines.c - rows in columns, wrapped lines, and failing allocations. */
#include <stdio.h>

#include "heap.h"
#include "page_checks.h"

#include "report/layout.h"

static struct roast_buf buf;

static int setup(void **state)
{
    (void)state;
    test_heap_fail(0, false);
    roast__buf_clear(&buf);
    return 0;
}

static struct roast_row row(const char *label, const char *value)
{
    struct roast_row out = {.absent = false};

    (void)snprintf(out.label, sizeof(out.label), "%s", label);
    (void)snprintf(out.value, sizeof(out.value), "%s", value);
    return out;
}

static void check_written(const char *wanted)
{
    struct roast_str text = str_from(buf.data, buf.size_bytes);

    check_fits_a_terminal(text);
    assert_str_is(text, wanted);
}

static void test_rows_are_below_their_title(void **state)
{
    const struct roast_row rows[] = {row("Data Rate", "0.511 Gbit/s"),
                                     row("  Best", "-"), row("empty", "")};
    struct roast_page page;

    (void)state;
    assert_int_equal(roast_report_aligned(&page, "Title", rows, 3, NULL), ROAST_OK);
    check_page_fits(&page);
    assert_string_equal(page.text, "Title\n"
                                   "  Data Rate  0.511 Gbit/s\n"
                                   "    Best     -\n"
                                   "  empty\n");
    roast_page_release(&page);
    roast_page_release(&page); /* twice is fine */
}

static void test_no_rows_and_no_title_is_an_empty_page(void **state)
{
    struct roast_page page;

    (void)state;
    assert_int_equal(roast_report_aligned(&page, NULL, NULL, 0, NULL), ROAST_OK);
    assert_int_equal(page.size_bytes, 0);
    assert_string_equal(page.text, "");
    roast_page_release(&page);
}

/* Rows of a caller may lack the final NUL. */
static void test_full_fields_are_cut_to_the_page(void **state)
{
    struct roast_row rows[2];
    struct roast_page page;

    (void)state;
    memset(rows[0].label, 'l', sizeof(rows[0].label));
    memset(rows[0].value, 'v', sizeof(rows[0].value));
    memset(rows[1].label, 0xff, sizeof(rows[1].label));
    memset(rows[1].value, '\n', sizeof(rows[1].value));
    assert_int_equal(roast_report_aligned(&page, "\x1b]0;title\a", rows, 2, NULL),
                     ROAST_OK);
    check_page_fits(&page);
    roast_page_release(&page);
}

static void test_columns_align_by_width_not_by_bytes(void **state)
{
    const struct roast_row rows[] = {row("\xce\xbc\xce\xbc", "a"), row("mumu", "b"),
                                     row("\xe6\xb8\xac", "c")};

    (void)state;
    roast__put_rows(&buf, NULL, rows, 3, 1);
    check_written("  \xce\xbc\xce\xbc    a\n"
                  "  mumu  b\n"
                  "  \xe6\xb8\xac    c\n");
}

static void test_numbers_align_to_the_right(void **state)
{
    static const struct roast_grid_column columns[] = {
        {.heading = "n", .max_columns = 8, .right = true},
        {.heading = "name", .cut = ROAST_CUT_MIDDLE},
    };
    struct roast_grid grid = {.columns = columns, .column_count = 2};

    (void)state;
    roast__grid_put_number(&grid, 12, "");
    roast__grid_put(&grid, roast_str_of("twelve"));
    roast__grid_put_number(&grid, 1500, "B");
    roast__grid_put(&grid, (struct roast_str){NULL, 0});
    roast__grid_write(&buf, &grid);
    check_written("        n  name\n"
                  "       12  twelve\n"
                  "  1.50 kB\n");
    roast__grid_release(&grid);
}

static void test_parts_wrap_at_the_page(void **state)
{
    struct roast_wrapped_line line = {.buf = &buf, .indent = 4};

    (void)state;
    roast__line_part(&line, roast_str_of("one"));
    roast__line_part(&line, roast_str_of("two"));
    roast__line_part(&line, roast_str_of("a part that is so long that it does not fit "
                                         "on the same line as the others"));
    roast__line_end(&line);
    check_written("one | two\n"
                  "    a part that is so long that it does not fit on the same line as "
                  "the others\n");
}

static void test_a_part_longer_than_the_page_is_cut(void **state)
{
    struct roast_wrapped_line line = {.buf = &buf, .indent = 2};
    char name[300];

    (void)state;
    memset(name, 'n', sizeof(name));
    roast__line_part(&line, roast_str_of("roastcoffea"));
    roast__line_part(&line, str_from(name, sizeof(name)));
    roast__line_part(&line, roast_str_of("last"));
    roast__line_end(&line);
    check_fits_a_terminal(str_from(buf.data, buf.size_bytes));
}

static void test_a_line_without_parts_is_no_line(void **state)
{
    struct roast_wrapped_line line = {.buf = &buf};

    (void)state;
    roast__line_end(&line);
    assert_int_equal(buf.size_bytes, 0);
}

static void test_sentences_break_between_words(void **state)
{
    static const char sentence[] = "this sentence is a little longer than a page is "
                                   "wide, so that it takes up two lines";

    (void)state;
    roast__put_sentence(&buf, 2, "%s", sentence);
    check_written("  this sentence is a little longer than a page is wide, so that it "
                  "takes up two\n"
                  "    lines\n");
}

static void test_a_word_longer_than_the_line_is_broken(void **state)
{
    char word[200];

    (void)state;
    memset(word, 'w', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    roast__put_sentence(&buf, 2, "%s", word);
    check_fits_a_terminal(str_from(buf.data, buf.size_bytes));
    size_t letters = 0;
    for (size_t i = 0; i < buf.size_bytes; i++)
        letters += buf.data[i] == 'w';
    assert_int_equal(letters, sizeof(word) - 1);
}

static void test_failing_allocations_are_reported(void **state)
{
    const struct roast_row rows[] = {row("label", "value")};
    size_t live = test_heap.live_blocks;

    (void)state;
    for (size_t n = 1;; n++) {
        struct roast_page page;
        roast_error err = {0};
        test_heap_fail(n, true);
        int status = roast_report_aligned(&page, "Title", rows, 1, &err);
        if (!test_heap_failed()) {
            assert_int_equal(status, ROAST_OK);
            roast_page_release(&page);
            break;
        }
        assert_int_equal(status, ROAST_NO_MEMORY);
        assert_int_equal(err.code, ROAST_NO_MEMORY);
        assert_null(page.text);
        assert_int_equal(test_heap.live_blocks, live);
    }
    assert_int_equal(test_heap.live_blocks, live);
}

static int release(void **state)
{
    (void)state;
    roast__buf_release(&buf);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_rows_are_below_their_title, setup),
        cmocka_unit_test_setup(test_no_rows_and_no_title_is_an_empty_page, setup),
        cmocka_unit_test_setup(test_full_fields_are_cut_to_the_page, setup),
        cmocka_unit_test_setup(test_columns_align_by_width_not_by_bytes, setup),
        cmocka_unit_test_setup(test_numbers_align_to_the_right, setup),
        cmocka_unit_test_setup(test_parts_wrap_at_the_page, setup),
        cmocka_unit_test_setup(test_a_part_longer_than_the_page_is_cut, setup),
        cmocka_unit_test_setup(test_a_line_without_parts_is_no_line, setup),
        cmocka_unit_test_setup(test_sentences_break_between_words, setup),
        cmocka_unit_test_setup(test_a_word_longer_than_the_line_is_broken, setup),
        cmocka_unit_test_setup(test_failing_allocations_are_reported, setup),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, release);
}
