/* SPDX-License-Identifier: BSD-3-Clause */
/* test_values.c - free-form values, written and read token by token: every type, the
 * limits of depth and size, rewinding, and crafted blobs. */
#include <math.h>

#include "frames.h"
#include "heap.h"
#include "record/values.h"

/* One entry whose value is `depth` lists inside each other. */
static void put_nested(roast_values *values, size_t depth)
{
    roast_values_put_key(values, roast_str_of("deep"));
    for (size_t i = 0; i < depth; i++)
        roast_values_put_list(values, 1);
    roast_values_put_null(values);
}

/* An entry of each type. */
static void put_all_types(roast_values *values)
{
    roast_values_put_key(values, roast_str_of("null"));
    roast_values_put_null(values);
    roast_values_put_key(values, roast_str_of("yes"));
    roast_values_put_bool(values, true);
    roast_values_put_key(values, roast_str_of("no"));
    roast_values_put_bool(values, false);
    roast_values_put_key(values, roast_str_of("least"));
    roast_values_put_int(values, INT64_MIN);
    roast_values_put_key(values, roast_str_of("double"));
    roast_values_put_double(values, -0.0);
    roast_values_put_key(values, roast_str_of("text"));
    roast_values_put_text(values, roast_str_of("j\xc3\xa9ts"));
    roast_values_put_key(values, roast_str_of(""));
    roast_values_put_bytes(values, str_from("\0\xff", 2));
    roast_values_put_key(values, roast_str_of("dict"));
    roast_values_put_dict(values, 1);
    roast_values_put_key(values, roast_str_of("list"));
    roast_values_put_list(values, 0);
}

static struct roast_value next(struct roast_str *blob, const char *key)
{
    struct roast_value value;
    struct roast_str got;

    assert_int_equal(roast_value_next_key(&got, blob, NULL), 1);
    assert_str_is(got, key);
    assert_int_equal(roast_value_next(&value, blob, NULL), 1);
    return value;
}

static void values_have_the_documented_bytes(void **state)
{
    static const char expected[] = "\x01n\x03\x54\x03"
                                   "cut\x07\x01\x04\0\0\0\0\0\0\xf0\x3f";
    roast_values values = {0};
    (void)state;

    roast_values_put_key(&values, roast_str_of("n"));
    roast_values_put_int(&values, 42);
    roast_values_put_key(&values, roast_str_of("cut"));
    roast_values_put_list(&values, 1);
    roast_values_put_double(&values, 1.0);
    struct roast_str blob = roast_values_blob(&values);
    assert_int_equal(blob.size_bytes, sizeof(expected) - 1);
    assert_memory_equal(blob.data, expected, sizeof(expected) - 1);
    roast__values_release(&values);
}

static void every_type_comes_back(void **state)
{
    roast_values values = {0};
    (void)state;

    put_all_types(&values);
    struct roast_str blob = roast_values_blob(&values);
    assert_int_equal(roast_values_check(blob, NULL), ROAST_OK);
    assert_int_equal(next(&blob, "null").type, ROAST_VALUE_NULL);
    assert_int_equal(next(&blob, "yes").type, ROAST_VALUE_TRUE);
    assert_int_equal(next(&blob, "no").type, ROAST_VALUE_FALSE);
    assert_true(next(&blob, "least").integer == INT64_MIN);
    struct roast_value value = next(&blob, "double");
    assert_int_equal(value.type, ROAST_VALUE_DOUBLE);
    assert_true(value.number == 0.0 && signbit(value.number));
    value = next(&blob, "text");
    assert_int_equal(value.type, ROAST_VALUE_TEXT);
    assert_str_is(value.str, "j\xc3\xa9ts");
    value = next(&blob, "");
    assert_int_equal(value.type, ROAST_VALUE_BYTES);
    assert_true(str_equal(value.str, str_from("\0\xff", 2)));
    value = next(&blob, "dict");
    assert_int_equal(value.type, ROAST_VALUE_DICT);
    assert_int_equal(value.count, 1);
    value = next(&blob, "list");
    assert_int_equal(value.type, ROAST_VALUE_LIST);
    assert_int_equal(value.count, 0);
    assert_int_equal(roast_value_next(&value, &blob, NULL), 0);
    roast__values_release(&values);
}

static void doubles_keep_their_bits(void **state)
{
    static const double numbers[] = {NAN, -INFINITY, 5e-324, 1.7976931348623157e308};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        roast_values values = {0};
        roast_values_put_double(&values, numbers[i]);
        struct roast_str blob = roast_values_blob(&values);
        struct roast_value value;
        assert_int_equal(roast_value_next(&value, &blob, NULL), 1);
        assert_memory_equal(&value.number, &numbers[i], sizeof(double));
        roast__values_release(&values);
    }
}

static void an_empty_blob_is_absent_and_well_formed(void **state)
{
    roast_values values = {0};
    (void)state;

    assert_null(roast_values_blob(&values).data);
    assert_int_equal(roast_values_check(roast_values_blob(&values), NULL), ROAST_OK);
    put_nested(&values, 1);
    roast_values_rewind(&values, 0);
    assert_null(roast_values_blob(&values).data);
    roast__values_release(&values);
}

static void eight_containers_deep_is_the_limit(void **state)
{
    roast_values values = {0};
    (void)state;

    put_nested(&values, ROAST_VALUE_MAX_DEPTH);
    assert_int_equal(roast_values_check(roast_values_blob(&values), NULL), ROAST_OK);
    roast__values_clear(&values);
    put_nested(&values, ROAST_VALUE_MAX_DEPTH + 1);
    assert_int_equal(roast_values_check(roast_values_blob(&values), NULL),
                     ROAST_BAD_DATA);
    roast__values_release(&values);
}

static void depth_is_counted_per_value(void **state)
{
    roast_values values = {0};
    (void)state;

    for (int i = 0; i < 50; i++)
        put_nested(&values, ROAST_VALUE_MAX_DEPTH);
    assert_int_equal(roast_values_check(roast_values_blob(&values), NULL), ROAST_OK);
    roast__values_release(&values);
}

static void a_value_past_64_kib_is_refused_whole(void **state)
{
    static const char large[ROAST_VALUE_MAX_BYTES];
    roast_values values = {0};
    (void)state;

    roast_values_put_text(&values, str_from(large, ROAST_VALUE_MAX_BYTES - 11));
    assert_true(roast_values_ok(&values));
    roast__values_clear(&values);
    roast_values_put_text(&values, str_from(large, sizeof(large)));
    assert_false(roast_values_ok(&values));
    assert_int_equal(roast_values_mark(&values), 0);
    roast__values_release(&values);
}

static void entries_fill_64_kib_and_the_last_is_taken_back(void **state)
{
    roast_values values = {0};
    size_t entries = 0;
    size_t mark = 0;
    (void)state;

    for (; roast_values_ok(&values); entries++) {
        mark = roast_values_mark(&values);
        roast_values_put_key(&values, roast_str_of("key"));
        roast_values_put_double(&values, 1.5);
    }
    assert_true(roast_values_mark(&values) <= ROAST_VALUE_MAX_BYTES);
    roast_values_rewind(&values, mark);
    assert_true(roast_values_ok(&values));
    assert_true(mark > ROAST_VALUE_MAX_BYTES - 64);
    assert_int_equal(mark, (entries - 1) * 13);
    assert_int_equal(roast_values_check(roast_values_blob(&values), NULL), ROAST_OK);
    roast__values_release(&values);
}

static void nothing_is_put_after_a_failure(void **state)
{
    static const char large[ROAST_VALUE_MAX_BYTES];
    roast_values values = {0};
    (void)state;

    put_nested(&values, 1);
    size_t mark = roast_values_mark(&values);
    roast_values_put_bytes(&values, str_from(large, sizeof(large)));
    put_all_types(&values);
    assert_int_equal(roast_values_mark(&values), mark);
    assert_false(roast_values_ok(&values));
    roast__values_release(&values);
}

static void lack_of_memory_is_taken_back_too(void **state)
{
    static const char kilobyte[1024];
    roast_values values = {0};
    (void)state;

    test_heap_install();
    put_nested(&values, 1);
    size_t mark = roast_values_mark(&values);
    test_heap_fail(1, false);
    roast_values_put_key(&values, roast_str_of("k"));
    roast_values_put_bytes(&values, str_from(kilobyte, sizeof(kilobyte)));
    assert_false(roast_values_ok(&values));
    roast_values_rewind(&values, mark);
    assert_true(roast_values_ok(&values));
    put_nested(&values, 2);
    assert_int_equal(roast_values_check(roast_values_blob(&values), NULL), ROAST_OK);
    roast__values_release(&values);
    assert_int_equal(test_heap.live_blocks, 0);
    roast__heap_set(NULL);
}

static void a_blob_cut_anywhere_but_between_entries_is_refused(void **state)
{
    static const size_t ends[] = {0, 6, 11, 15, 32, 48, 60, 65};
    roast_values values = {0};
    size_t whole = 0;
    (void)state;

    put_all_types(&values);
    struct roast_str blob = roast_values_blob(&values);
    for (size_t cut = 0; cut < blob.size_bytes; cut++) {
        char *copy = tight_copy(blob.data, cut);
        roast_error err = {0};
        int status = roast_values_check(str_from(copy, cut), &err);
        bool ends_here = whole < COUNT_OF(ends) && ends[whole] == cut;
        assert_int_equal(status, ends_here ? ROAST_OK : ROAST_BAD_DATA);
        assert_int_equal(err.code, status);
        whole += ends_here;
        free(copy);
    }
    assert_int_equal(whole, COUNT_OF(ends));
    roast__values_release(&values);
}

static void blobs_that_lie_are_refused(void **state)
{
#define ENDLESS "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    static const char *const blobs[] = {
        "\x01n",                    /* a key alone */
        "\x05n\x03\x02",            /* a key longer than the blob */
        ENDLESS "n\x03\x02",        /* a key of 2^64 - 1 bytes */
        "\x01n\x09",                /* no such type */
        "\x01n\xff",                /* nor this one */
        "\x01n\x05\x02x",           /* a text longer than the blob */
        "\x01n\x05" ENDLESS "x",    /* a text of 2^64 - 1 bytes */
        "\x01n\x03\xff",            /* an integer without end */
        "\x01n\x04\x01\x02",        /* a double of two bytes */
        "\x01n\x07\x02\x02",        /* a list short of an item */
        "\x01n\x07" ENDLESS "\x02", /* a list of 2^64 - 1 items */
        "\x01n\x08\x01\x01k",       /* a dict short of a value */
        "\x01n\x08\x01",            /* a dict short of a key */
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(blobs); i++) {
        char *copy = tight_copy(blobs[i], strlen(blobs[i]));
        assert_int_equal(roast_values_check(str_from(copy, strlen(blobs[i])), NULL),
                         ROAST_BAD_DATA);
        free(copy);
    }
}

static void a_broken_token_moves_nothing(void **state)
{
    struct roast_str blob = roast_str_of("\x05\x09xyz");
    struct roast_value value;
    struct roast_str key;
    (void)state;

    assert_int_equal(roast_value_next(&value, &blob, NULL), ROAST_BAD_DATA);
    assert_int_equal(roast_value_next_key(&key, &blob, NULL), ROAST_BAD_DATA);
    assert_int_equal(blob.size_bytes, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_the_documented_bytes),
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(doubles_keep_their_bits),
        cmocka_unit_test(an_empty_blob_is_absent_and_well_formed),
        cmocka_unit_test(eight_containers_deep_is_the_limit),
        cmocka_unit_test(depth_is_counted_per_value),
        cmocka_unit_test(a_value_past_64_kib_is_refused_whole),
        cmocka_unit_test(entries_fill_64_kib_and_the_last_is_taken_back),
        cmocka_unit_test(nothing_is_put_after_a_failure),
        cmocka_unit_test(lack_of_memory_is_taken_back_too),
        cmocka_unit_test(a_blob_cut_anywhere_but_between_entries_is_refused),
        cmocka_unit_test(blobs_that_lie_are_refused),
        cmocka_unit_test(a_broken_token_moves_nothing),
    };
    return cmocka_run_group_tests_name("record/values", tests, NULL, NULL);
}
