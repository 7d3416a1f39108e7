/* SPDX-License-Identifier: BSD-3-Clause */
/* test_glyphs.c - text from data: replaced characters, widths, cuts. */
#include "heap.h"
#include "support.h"

#include "table/glyphs.h"

static struct roast_buf buf;

static int setup(void **state)
{
    (void)state;
    roast__buf_clear(&buf);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    roast__buf_release(&buf);
    return 0;
}

static struct roast_str put(const char *text, size_t max_columns, enum roast_cut cut)
{
    roast__buf_clear(&buf);
    size_t columns = roast__put_text(&buf, roast_str_of(text), max_columns, cut);
    struct roast_str out = str_from(buf.data, buf.size_bytes);

    assert_int_equal(columns, roast__text_columns(out));
    assert_true(columns <= max_columns);
    return out;
}

static void check_shown(const char *text, const char *shown)
{
    assert_str_is(put(text, 80, ROAST_CUT_END), shown);
}

static void test_harmless_text_stays(void **state)
{
    (void)state;
    check_shown("TTbar_2018 (v1.2)", "TTbar_2018 (v1.2)");
    check_shown("Z\xc3\xbcrich \xce\xbc\xce\xbc", "Z\xc3\xbcrich \xce\xbc\xce\xbc");
}

static void test_control_characters_become_question_marks(void **state)
{
    (void)state;
    check_shown("a\x1b[31mb", "a?[31mb");      /* escape */
    check_shown("a\nb\rc\td\x7f", "a?b?c?d?"); /* controls */
    check_shown("a\xc2\x9b"
                "31m",
                "a?31m"); /* C1 */
    check_shown("a\xe2\x80\xae"
                "b",
                "a?b"); /* right-to-left override */
    check_shown("a\xe2\x81\xa6"
                "b",
                "a?b"); /* isolate */
    check_shown("a\xe2\x80\x8b"
                "b",
                "a?b"); /* zero-width space */
    check_shown("a\xe2\x80\xa8"
                "b",
                "a?b"); /* line separator */
    check_shown("a\xf3\xa0\x81\x81"
                "b",
                "a?b"); /* tag */
}

static void test_what_is_no_utf8_is_a_question_mark_per_byte(void **state)
{
    (void)state;
    check_shown("\xff\xfe", "??");
    check_shown("\xc3", "?");
    check_shown("\xc3(", "?(");
    check_shown("\xc0\xaf", "??");           /* not the shortest form */
    check_shown("\xed\xa0\x80", "???");      /* a surrogate */
    check_shown("\xf4\x90\x80\x80", "????"); /* above the last plane */
    check_shown("\xe2\x82", "??");           /* cut in the middle */
    check_shown("\xef\xbf\xbf", "?");        /* no character */
}

static void test_a_nul_byte_does_not_end_a_text(void **state)
{
    (void)state;
    (void)roast__put_text(&buf, str_from("a\0b", 3), 80, ROAST_CUT_END);
    assert_str_is(str_from(buf.data, buf.size_bytes), "a?b");
}

static void test_widths_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(roast__text_columns(roast_str_of("abc")), 3);
    assert_int_equal(roast__text_columns(roast_str_of("\xe6\xb8\xac\xe5\xae\x9a")), 4);
    assert_int_equal(roast__text_columns(roast_str_of("e\xcc\x81")), 1);
    assert_int_equal(roast__text_columns(roast_str_of("\xf0\x9f\x98\x80")), 2);
    assert_int_equal(roast__text_columns((struct roast_str){NULL, 0}), 0);
}

/* Without a limit a megabyte of marks would be in one column. */
static void test_the_number_of_marks_is_limited(void **state)
{
    enum { MARKS = 1000 };
    char text[1 + 2 * MARKS];

    (void)state;
    text[0] = 'a';
    for (size_t i = 0; i < MARKS; i++)
        memcpy(text + 1 + 2 * i, "\xcc\x81", 2);
    assert_int_equal(roast__text_columns(str_from(text, sizeof(text))), 1 + MARKS - 4);
    check_shown("\xcc\x81", "?"); /* it would sit on what stands before */
}

static void test_names_are_cut_in_the_middle(void **state)
{
    (void)state;
    assert_str_is(put("abcdefghij", 10, ROAST_CUT_MIDDLE), "abcdefghij");
    assert_str_is(put("abcdefghijk", 10, ROAST_CUT_MIDDLE), "abcd...ijk");
    assert_str_is(put("abcdefghijk", 10, ROAST_CUT_END), "abcdefg...");
    assert_str_is(put("abcdefghijk", 4, ROAST_CUT_MIDDLE), "a...");
    assert_str_is(put("abcdefghijk", 2, ROAST_CUT_MIDDLE), "..");
    assert_str_is(put("abc", 0, ROAST_CUT_MIDDLE), "");
}

static void test_a_wide_letter_is_never_halved(void **state)
{
    static const char wide[] =
        "\xe6\xb8\xac\xe6\xb8\xac\xe6\xb8\xac\xe6\xb8\xac\xe6\xb8\xac";

    (void)state;
    for (size_t columns = 0; columns <= 12; columns++)
        (void)put(wide, columns, ROAST_CUT_MIDDLE);
    assert_str_is(put(wide, 8, ROAST_CUT_MIDDLE), "\xe6\xb8\xac...\xe6\xb8\xac");
}

static void test_html_is_escaped(void **state)
{
    (void)state;
    roast__put_html(&buf, roast_str_of("<a href=\"x\">'&'</a>"));
    assert_str_is(str_from(buf.data, buf.size_bytes),
                  "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

/* Every pair of bytes, at the end of allocated memory. */
static void test_no_byte_behind_the_text_is_read(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            const char pair[2] = {(char)a, (char)b};
            char *tight = tight_copy(pair, sizeof(pair));
            struct roast_glyphs glyphs = roast__glyphs(str_from(tight, 2));
            size_t steps = 0;
            while (roast__glyphs_next(&glyphs))
                steps++;
            assert_in_range(steps, 1, 2);
            free(tight);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_harmless_text_stays, setup),
        cmocka_unit_test_setup(test_control_characters_become_question_marks, setup),
        cmocka_unit_test_setup(test_what_is_no_utf8_is_a_question_mark_per_byte, setup),
        cmocka_unit_test_setup(test_a_nul_byte_does_not_end_a_text, setup),
        cmocka_unit_test_setup(test_widths_are_those_of_a_terminal, setup),
        cmocka_unit_test_setup(test_the_number_of_marks_is_limited, setup),
        cmocka_unit_test_setup(test_names_are_cut_in_the_middle, setup),
        cmocka_unit_test_setup(test_a_wide_letter_is_never_halved, setup),
        cmocka_unit_test_setup(test_html_is_escaped, setup),
        cmocka_unit_test_setup(test_no_byte_behind_the_text_is_read, setup),
    };
    test_heap_install();
    return cmocka_run_group_tests(tests, NULL, teardown);
}
