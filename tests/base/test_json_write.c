/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json_write.c - JSON piece by piece: commas, every kind of byte, every double. */
#include <float.h>
#include <locale.h>
#include <math.h>

#include "base/buf.h"
#include "roast/json_write.h"
#include "support.h"

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    roast__buf_put(context, bytes, size_bytes);
}

static void check_written(struct roast_buf *buf, const char *wanted)
{
    assert_str_is(str_from(buf->data, buf->size_bytes), wanted);
    roast__buf_release(buf);
}

static void test_commas_come_by_themselves(void **state)
{
    struct roast_buf buf = {0};
    struct roast_json json = {.put = put_bytes, .context = &buf};

    (void)state;
    roast_json_open(&json, '{');
    roast_json_key(&json, roast_str_of("a"));
    roast_json_open(&json, '[');
    roast_json_count(&json, UINT64_MAX);
    roast_json_integer(&json, INT64_MIN);
    roast_json_open(&json, '[');
    roast_json_close(&json, ']');
    roast_json_bool(&json, true);
    roast_json_close(&json, ']');
    roast_json_key(&json, roast_str_of(""));
    roast_json_null(&json);
    roast_json_key(&json, roast_str_of("b"));
    roast_json_open(&json, '{');
    roast_json_raw(&json, roast_str_of("\"x\":1,\"y\":2"));
    roast_json_key(&json, roast_str_of("z"));
    roast_json_number(&json, 0.5);
    roast_json_close(&json, '}');
    roast_json_close(&json, '}');
    check_written(&buf, "{\"a\":[18446744073709551615,-9223372036854775808,[],true],"
                        "\"\":null,\"b\":{\"x\":1,\"y\":2,\"z\":0.5}}");
}

static void check_text_as(bool utf8, struct roast_str text, const char *wanted)
{
    struct roast_buf buf = {0};
    struct roast_json json = {.put = put_bytes, .context = &buf, .utf8 = utf8};
    char *tight = text.data ? tight_copy(text.data, text.size_bytes) : NULL;

    roast_json_text(&json, (struct roast_str){tight, text.size_bytes});
    check_written(&buf, wanted);
    free(tight);
}

static void check_text(struct roast_str text, const char *wanted)
{
    check_text_as(false, text, wanted);
}

static void test_texts_are_ascii_whatever_they_were(void **state)
{
    (void)state;
    check_text((struct roast_str){NULL, 0}, "null");
    check_text(roast_str_of(""), "\"\"");
    check_text(roast_str_of("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    check_text(roast_str_of("\n\t\x1b[31m\x7f"), "\"\\n\\t\\u001b[31m\\u007f\"");
    check_text(str_from("\0x", 2), "\"\\u0000x\"");
    check_text(roast_str_of("\xc3\xa9\xe2\x82\xac"), "\"\\u00e9\\u20ac\"");
    check_text(roast_str_of("\xf0\x9f\x98\x80"), "\"\\ud83d\\ude00\""); /* a pair */
    check_text(roast_str_of("\xf4\x8f\xbf\xbf"), "\"\\udbff\\udfff\"");
    check_text(roast_str_of("\xc2\x9b"), "\"\\u009b\""); /* a control of one byte */
}

static void test_what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
    check_text(roast_str_of("\xff"), "\"\\ufffd\"");
    check_text(roast_str_of("a\xc3"), "\"a\\ufffd\"");          /* cut */
    check_text(roast_str_of("\xc0\xaf"), "\"\\ufffd\\ufffd\""); /* not the shortest */
    check_text(roast_str_of("\xed\xa0\x80"),
               "\"\\ufffd\\ufffd\\ufffd\""); /* half a pair */
    check_text(roast_str_of("\xf4\x90\x80\x80"),
               "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* beyond the last plane */
}

static void test_texts_may_stay_utf8(void **state)
{
    (void)state;
    check_text_as(true, (struct roast_str){NULL, 0}, "null");
    check_text_as(true, roast_str_of(""), "\"\"");
    check_text_as(true, roast_str_of("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    check_text_as(true, roast_str_of("\b\f\n\r\t\x1b\x7f"),
                  "\"\\b\\f\\n\\r\\t\\u001b\x7f\"");
    check_text_as(true, str_from("\0x", 2), "\"\\u0000x\"");
    check_text_as(true, roast_str_of("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
                  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    check_text_as(true, roast_str_of("a\xc3"), "\"a\xef\xbf\xbd\"");
    check_text_as(true, roast_str_of("\xff-"), "\"\xef\xbf\xbd-\"");
}

static void test_long_texts_are_whole(void **state)
{
    enum { LENGTH = 5000 };
    char text[LENGTH];
    struct roast_buf buf = {0};
    struct roast_json json = {.put = put_bytes, .context = &buf};

    (void)state;
    memset(text, 1, sizeof(text)); /* six bytes each */
    roast_json_text(&json, str_from(text, sizeof(text)));
    assert_int_equal(buf.size_bytes, 6 * LENGTH + 2);
    assert_memory_equal(buf.data, "\"\\u0001", 7);
    assert_memory_equal(buf.data + buf.size_bytes - 7, "\\u0001\"", 7);
    roast__buf_release(&buf);
}

static void check_number(double value, const char *wanted)
{
    char text[ROAST_JSON_NUMBER_BYTES];
    size_t size = roast_shortest_number(text, value);

    assert_int_equal(strlen(text), size);
    assert_string_equal(text, wanted);
}

static void test_numbers_are_short_and_come_back(void **state)
{
    static const double values[] = {0.1,
                                    1.0 / 3,
                                    5e-324,
                                    DBL_MAX,
                                    DBL_MIN,
                                    1e22,
                                    123456789.123456789,
                                    -2.5e-7,
                                    0.1 + 0.2,
                                    4503599627370497.5,
                                    1760000000.1234567};
    char text[ROAST_JSON_NUMBER_BYTES];

    (void)state;
    check_number(0, "0.0");
    check_number(-0.0, "-0.0");
    check_number(1, "1.0");
    check_number(0.1, "0.1");
    check_number(0.1 + 0.2, "0.30000000000000004");
    check_number(1e300, "1e+300");
    check_number(NAN, "null");
    check_number(INFINITY, "null");
    check_number(-INFINITY, "null");
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        (void)roast_shortest_number(text, values[i]);
        assert_true(strtod(text, NULL) == values[i]);
    }
}

/* A program may set a locale whose decimal point is a comma. */
static void test_the_point_is_a_point_in_every_locale(void **state)
{
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(locales); i++)
        if (setlocale(LC_NUMERIC, locales[i]))
            break;
    check_number(2.5, "2.5"); /* the locale of this machine, if no other exists */
    check_number(1.0 / 3, "0.3333333333333333");
    (void)setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas_come_by_themselves),
        cmocka_unit_test(test_texts_are_ascii_whatever_they_were),
        cmocka_unit_test(test_what_is_no_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(test_texts_may_stay_utf8),
        cmocka_unit_test(test_long_texts_are_whole),
        cmocka_unit_test(test_numbers_are_short_and_come_back),
        cmocka_unit_test(test_the_point_is_a_point_in_every_locale),
    };

    return cmocka_run_group_tests_name("base/test_json_write", tests, NULL, NULL);
}
