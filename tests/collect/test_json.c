/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json.c - JSON token by token: what comes out does not depend on how the input was
 * cut, every double is the nearest one, and what is wrong is refused with its place. */
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "collect/json_number.h"
#include "heap.h"
#include "json_help.h"
#include "support.h"

/* ---- help ------------------------------------------------------------------------ */

static void put(struct roast_buf *out, const char *text, size_t size_bytes)
{
    roast__buf_put(out, text, size_bytes);
}

static void put_token(struct roast_buf *out, const struct roast_json_token *token)
{
    static const char *const marks[] = {
        [ROAST_JSON_NULL] = "null ",     [ROAST_JSON_FALSE] = "false ",
        [ROAST_JSON_TRUE] = "true ",     [ROAST_JSON_INT] = "int ",
        [ROAST_JSON_DOUBLE] = "double ", [ROAST_JSON_BIG] = "big ",
        [ROAST_JSON_TEXT] = "text ",     [ROAST_JSON_LIST] = "[ ",
        [ROAST_JSON_DICT] = "{ ",        [ROAST_JSON_KEY] = "key ",
        [ROAST_JSON_LIST_END] = "] ",    [ROAST_JSON_DICT_END] = "} ",
    };
    char number[64];

    put(out, marks[token->kind], strlen(marks[token->kind]));
    if (token->kind == ROAST_JSON_INT)
        (void)snprintf(number, sizeof(number), "%s%" PRIu64 " ",
                       token->negative ? "-" : "", token->size);
    else if (token->kind == ROAST_JSON_DOUBLE)
        (void)snprintf(number, sizeof(number), "%.17g ", token->number);
    else
        number[0] = '\0';
    put(out, number, strlen(number));
    if (token->kind == ROAST_JSON_TEXT || token->kind == ROAST_JSON_KEY ||
        token->kind == ROAST_JSON_BIG) {
        put(out, token->text.data, token->text.size_bytes);
        put(out, " ", 1);
    }
}

/* All tokens as words in out; the status at the end. */
static int read_all(struct roast_buf *out, struct document *document, bool lax,
                    roast_error *err)
{
    struct roast_json_reader in;
    struct roast_json_token token;
    int got = roast__json_open(&in, source_of(document), "m.json", lax, err);

    while (got >= 0 && (got = roast__json_next(&in, &token, err)) == 1)
        put_token(out, &token);
    roast__json_release(&in);
    return got;
}

static void expect_tokens(const char *text, size_t size_bytes, bool lax,
                          const char *words)
{
    for (size_t piece = 0; piece <= 9; piece++) {
        struct document document = {
            .bytes = text, .size_bytes = size_bytes, .piece_bytes = piece};
        struct roast_buf out = {NULL, 0, 0, false};
        roast_error err = {0};
        int status = read_all(&out, &document, lax, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(status, 0);
        assert_str_is(str_from(out.data, out.size_bytes), words);
        roast__buf_release(&out);
    }
}

static void expect(const char *text, const char *words)
{
    expect_tokens(text, strlen(text), false, words);
}

static void expect_lax(const char *text, const char *words)
{
    expect_tokens(text, strlen(text), true, words);
}

static void refuse(const char *text, int status, const char *message)
{
    for (size_t piece = 0; piece <= 3; piece++) {
        struct document document = document_of(text);
        struct roast_buf out = {NULL, 0, 0, false};
        roast_error err = {0};
        document.piece_bytes = piece;
        assert_int_equal(read_all(&out, &document, false, &err), status);
        assert_string_equal(err.message, message);
        roast__buf_release(&out);
    }
}

/* ---- structure ------------------------------------------------------------------- */

static void test_values(void **state)
{
    (void)state;
    expect("null", "null ");
    expect(" \r\n\t[true , false,[], {} ]\n", "[ true false [ ] { } ] ");
    expect("{\"a\" : {\"b\":[1,{\"c\":null}]}, \"a\":2}",
           "{ key a { key b [ int 1 { key c null } ] } key a int 2 } ");
    expect("\"\"", "text  ");
}

static void test_what_is_no_json(void **state)
{
    (void)state;
    refuse("", ROAST_BAD_DATA, "m.json: byte 0: line 1: it ends too early");
    refuse("[1,\n2", ROAST_BAD_DATA, "m.json: byte 5: line 2: it ends too early");
    refuse("[1 2]", ROAST_BAD_DATA, "m.json: byte 3: line 1: expected ',' or an end");
    refuse("[1,]", ROAST_BAD_DATA, "m.json: byte 3: line 1: expected a value");
    refuse("{\n\n\"a\" 1}", ROAST_BAD_DATA,
           "m.json: byte 7: line 3: expected ':' behind a key");
    refuse("{a:1}", ROAST_BAD_DATA,
           "m.json: byte 1: line 1: expected a key in double quotes");
    refuse("{\"a\":1,}", ROAST_BAD_DATA,
           "m.json: byte 7: line 1: expected a key in double quotes");
    refuse("[1}", ROAST_BAD_DATA, "m.json: byte 2: line 1: expected ',' or an end");
    refuse("nul", ROAST_BAD_DATA, "m.json: byte 3: line 1: an unknown word");
    refuse("{} 1", ROAST_BAD_DATA,
           "m.json: byte 3: line 1: something follows the document");
    refuse("\xef\xbb\xbf{}", ROAST_BAD_DATA,
           "m.json: byte 0: line 1: expected a value");
}

static void test_depth(void **state)
{
    char text[300];

    (void)state;
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    struct document document = {.bytes = text, .size_bytes = 128};
    struct roast_buf out = {NULL, 0, 0, false};
    assert_int_equal(read_all(&out, &document, false, NULL), 0);
    memset(text, '[', sizeof(text));
    document = (struct document){.bytes = text, .size_bytes = sizeof(text)};
    roast_error err = {0};
    assert_int_equal(read_all(&out, &document, false, &err), ROAST_LIMIT);
    assert_string_equal(err.message, "m.json: byte 64: line 1: nested over 64 deep");
    roast__buf_release(&out);
}

static void test_a_disk_that_fails(void **state)
{
    struct document document = {
        .bytes = "[1, 2, 3]", .size_bytes = 9, .piece_bytes = 3, .fail_at = 6};
    struct roast_buf out = {NULL, 0, 0, false};
    roast_error err = {0};

    (void)state;
    assert_int_equal(read_all(&out, &document, false, &err), ROAST_IO);
    assert_string_equal(err.message, "m.json: byte 6: line 1: it could not be read on");
    document = (struct document){
        .bytes = "[1]  ", .size_bytes = 5, .piece_bytes = 3, .fail_at = 3};
    assert_int_equal(read_all(&out, &document, false, &err), ROAST_IO);
    roast__buf_release(&out);
}

/* ---- texts ----------------------------------------------------------------------- */

static void test_escapes(void **state)
{
    (void)state;
    expect("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "text a\"\\/\b\f\n\r\tz ");
    expect("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"",
           "text A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 ");
    expect("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
           "text \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 ");
    refuse("\"\\x\"", ROAST_BAD_DATA, "m.json: byte 3: line 1: an unknown escape");
    refuse("\"\\u12g4\"", ROAST_BAD_DATA, "m.json: byte 5: line 1: an unknown escape");
    refuse("\"a\nb\"", ROAST_BAD_DATA,
           "m.json: byte 2: line 1: a control character in a text");
    refuse("\"abc", ROAST_BAD_DATA, "m.json: byte 4: line 1: a text has no end");
}

/* What is no text is replaced, and counted. */
static void test_no_text(void **state)
{
    static const struct {
        const char *text;
        const char *text_out;
        uint64_t replaced;
    } cases[] = {
        {"\"\\ud800\"", "\\ud800", 1},
        {"\"\\udc80x\"", "\\udc80x", 1},
        {"\"\\ud800\\ud800\\udc00\"", "\\ud800\xf0\x90\x80\x80", 1},
        {"\"\\ud800\\n\"", "\\ud800\n", 1},
        {"\"\\ud800\\u0041\"", "\\ud800A", 1},
        {"\"a\xff\xfe\"", "a??", 2},
        {"\"\xc3(\"", "?(", 1},
        {"\"\xed\xa0\x80\"", "???", 3},
        {"\"\xf4\x90\x80\x80\"", "????", 4},
        {"\"\xc0\xaf\"", "??", 2},
        {"\"\xe2\x82\"", "?", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct document document = document_of(cases[i].text);
        struct roast_json_reader in;
        struct roast_json_token token;
        document.piece_bytes = 1 + i % 3;
        assert_int_equal(
            roast__json_open(&in, source_of(&document), "m.json", false, NULL), 0);
        assert_int_equal(roast__json_next(&in, &token, NULL), 1);
        assert_str_is(token.text, cases[i].text_out);
        assert_int_equal(in.replaced, cases[i].replaced);
        roast__json_release(&in);
    }
}

static void test_a_text_that_is_too_long(void **state)
{
    size_t size = ROAST_JSON_MAX_TEXT_BYTES + 100000;
    char *text = malloc(size);
    struct roast_buf out = {NULL, 0, 0, false};
    roast_error err = {0};

    (void)state;
    assert_non_null(text);
    memset(text, 'x', size);
    text[0] = '"';
    text[ROAST_JSON_MAX_TEXT_BYTES / 2] = '"';
    struct document document = {.bytes = text,
                                .size_bytes = ROAST_JSON_MAX_TEXT_BYTES / 2 + 1};
    assert_int_equal(read_all(&out, &document, false, &err), 0);
    text[ROAST_JSON_MAX_TEXT_BYTES / 2] = 'x';
    document = (struct document){.bytes = text, .size_bytes = size};
    assert_int_equal(read_all(&out, &document, false, &err), ROAST_LIMIT);
    assert_non_null(strstr(err.message, "a text over 1 MiB"));
    roast__buf_release(&out);
    free(text);
}

/* ---- numbers --------------------------------------------------------------------- */

static void test_whole_numbers(void **state)
{
    (void)state;
    expect("[0,-0,7,-12]", "[ int 0 int 0 int 7 int -12 ] ");
    expect("[18446744073709551615,-9223372036854775808,9223372036854775808]",
           "[ int 18446744073709551615 int -9223372036854775808 int "
           "9223372036854775808 ] ");
    refuse("[18446744073709551616]", ROAST_BAD_DATA,
           "m.json: byte 21: line 1: a whole number that 64 bits do not hold");
    refuse("[-9223372036854775809]", ROAST_BAD_DATA,
           "m.json: byte 21: line 1: a whole number that 64 bits do not hold");
    refuse("[01]", ROAST_BAD_DATA, "m.json: byte 2: line 1: expected ',' or an end");
    refuse("[-]", ROAST_BAD_DATA, "m.json: byte 2: line 1: a number ends too early");
    refuse("[1.]", ROAST_BAD_DATA, "m.json: byte 3: line 1: a number ends too early");
    refuse("[1e+]", ROAST_BAD_DATA, "m.json: byte 4: line 1: a number ends too early");
    refuse("[.5]", ROAST_BAD_DATA, "m.json: byte 1: line 1: expected a value");
}

static void test_what_python_writes_beyond_json(void **state)
{
    (void)state;
    expect_lax("[NaN,Infinity,-Infinity,1e999,18446744073709551616]",
               "[ double nan double inf double -inf double inf big "
               "18446744073709551616 ] ");
    refuse("[NaN]", ROAST_BAD_DATA,
           "m.json: byte 1: line 1: expected a value (NaN and Infinity are none)");
    refuse("[-Infinity]", ROAST_BAD_DATA,
           "m.json: byte 2: line 1: expected a value (NaN and Infinity are none)");
    refuse("[1e999]", ROAST_BAD_DATA,
           "m.json: byte 6: line 1: a number past the largest double");
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void expect_nearest(const char *text)
{
    double expected = strtod(text, NULL);
    double got = roast__json_number(text).nearest;

    if (memcmp(&expected, &got, sizeof(got)) != 0)
        fail_msg("%s is %.17g, not %.17g", text, expected, got);
}

/* Against strtod of the C library, which rounds correctly. */
static void test_doubles_are_the_nearest(void **state)
{
    static const char *const texts[] = {
        "0.0",
        "-0.0",
        "0.1",
        "1794759687.6249788",
        "9007199254740993.0",
        "9007199254740992.5",
        "9007199254740993.5",
        "4503599627370496.5",
        "4503599627370497.5",
        "1e22",
        "1e23",
        "123456789012345678e-19",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "2.2250738585072011e-308",
        "0.000000000000000000000000000001",
        "1844674407370955161.5",
        "18446744073709551615e-19",
        "1e-19",
        "1e-20",
        "1e19",
        "9999999999999999999e19",
        "100000000000000000000000.0",
        "0.1000000000000000055511151231257827021181583404541015625",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "1e-400",
        "0e999999"};
    uint64_t seed = 88172645463325252u;
    char text[64];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        expect_nearest(texts[i]);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random(&seed);
        double value;
        if (i % 2 == 0) /* of sizes that are met: 2^-40 to 2^40 */
            bits = (bits & UINT64_C(0x000fffffffffffff)) | (1023 - 40 + bits % 80)
                                                               << 52;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        (void)snprintf(text, sizeof(text), "%.*g", 1 + (int)(seed % 19), value);
        expect_nearest(text);
    }
}

/* A huge count of zeros and an exponent that takes them back. */
static void test_exponents_that_lie(void **state)
{
    size_t zeros = 1200000;
    char *text = malloc(zeros + 64);

    (void)state;
    assert_non_null(text);
    memset(text, '0', zeros + 2);
    text[1] = '.';
    (void)snprintf(text + zeros + 2, 60, "1e%d", 1000000);
    expect_nearest(text);
    (void)snprintf(text + zeros + 2, 60, "1e%d", 1200001);
    expect_nearest(text);
    (void)snprintf(text, 60, "1e-99999999999");
    expect_nearest(text);
    free(text);
}

/* A locale with a decimal comma changes nothing. */
static void test_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                        "nb_NO.UTF-8"};
    const char *found = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names) && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    assert_true(roast__json_number("0.5").nearest == 0.5);
    assert_true(roast__json_number("1.5e300").nearest == 1.5 * 1e300);
    assert_true(roast__json_number("12345678901234567890.5e-25").nearest ==
                12345678901234567890.5e-25);
    (void)setlocale(LC_NUMERIC, "C");
}

/* ---- memory ---------------------------------------------------------------------- */

static void test_no_memory(void **state)
{
    static const char text[] = "{\"a\": [1, \"two\", 3.5, {\"b\": \"a longer text that "
                               "does not fit into the first piece of memory, and so "
                               "asks for more\"}]}";

    (void)state;
    test_heap_install();
    for (size_t n = 1;; n++) {
        struct document document = document_of(text);
        struct roast_buf out = {NULL, 0, 0, false};
        test_heap_fail(n, n % 2 == 0);
        int status = read_all(&out, &document, false, NULL);
        bool failed = test_heap_failed();
        test_heap_fail(0, false);
        roast__buf_release(&out);
        assert_int_equal(test_heap.live_blocks, 0);
        assert_true(status == 0 || status == ROAST_NO_MEMORY);
        if (!failed)
            break;
    }
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_what_is_no_json),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_a_disk_that_fails),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_no_text),
        cmocka_unit_test(test_a_text_that_is_too_long),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_what_python_writes_beyond_json),
        cmocka_unit_test(test_doubles_are_the_nearest),
        cmocka_unit_test(test_exponents_that_lie),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
