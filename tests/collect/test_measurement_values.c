/* SPDX-License-Identifier: BSD-3-Clause */
/* test_measurement_values.c - values of JSON as the free-form values of a record. */
#include "collect/records_help.h"
#include "roast/value.h"

static void expect_user_keys(const char *json, const char *bytes, size_t size_bytes)
{
    struct read read = read_one(json);
    struct roast_str blob = blob_of(&read.records[0], ROAST_FIELD_user_keys);

    assert_int_equal(roast_values_check(blob, NULL), ROAST_OK);
    assert_true(str_equal(blob, str_from(bytes, size_bytes)));
    done(&read);
}

#define EXPECT_USER_KEYS(json, bytes) \
    expect_user_keys((json), (bytes), sizeof(bytes) - 1)

static void test_values(void **state)
{
    (void)state;
    EXPECT_USER_KEYS("\"n\": 42", "\001n\003\124");
    EXPECT_USER_KEYS("\"n\": [null, true, -1, \"x\", {}]",
                     "\001n\007\005\000\002\003\001\005\001x\010\000");
    EXPECT_USER_KEYS("\"n\": {\"a\": [[], {\"b\": 0}]}",
                     "\001n\010\001\001a\007\002\007\000\010\001\001b\003\000");
    EXPECT_USER_KEYS("\"n\": 1.0", "\001n\004\000\000\000\000\000\000\360\077");
    EXPECT_USER_KEYS("\"u\": 18446744073709551615",
                     "\001u\005\02418446744073709551615");
    EXPECT_USER_KEYS("\"s\": \"x://a:b@c\"", "\001s\005\005x://c");
    EXPECT_USER_KEYS("\"my_token\": [1, {\"a\": 2}], \"z\": 0",
                     "\010my_token\005\003***\001z\003\000");
}

static void test_tags(void **state)
{
    (void)state;
    EXPECT_USER_KEYS("\"b\": {\"__bytes__\": \"AP8=\"}", "\001b\006\002\000\377");
    EXPECT_USER_KEYS("\"b\": [{\"__bytes__\": \"\"}, {\"__bytes__\": \"QUJD\"}]",
                     "\001b\007\002\006\000\006\003ABC");
    EXPECT_USER_KEYS("\"b\": {\"__bytes__\": \"cHdkPWE=\"}", "\001b\006\007pwd=***");
    EXPECT_USER_KEYS("\"b\": {\"__bytes__\": \"A\"}",
                     "\001b\010\001\011__bytes__\005\001A");
    EXPECT_USER_KEYS("\"b\": {\"__bytes__\": \"A===\"}",
                     "\001b\010\001\011__bytes__\005\004A===");
    EXPECT_USER_KEYS("\"t\": {\"__tuple__\": [1, {\"__set__\": [2]}]}",
                     "\001t\007\002\003\002\007\001\003\004");
    EXPECT_USER_KEYS("\"t\": {\"__tuple__\": 3}", "\001t\010\001\011__tuple__\003\006");
    EXPECT_USER_KEYS("\"t\": {\"__tuple__\": [], \"x\": 0}",
                     "\001t\010\002\011__tuple__\007\000\001x\003\000");
    EXPECT_USER_KEYS("\"d\": {\"__datetime__\": \"2025\"}", "\001d\005\0042025");
    EXPECT_USER_KEYS(
        "\"d\": {\"__dict__\": [[\"__tuple__\", [1]], [\"k\", {\"a\": 0}]]}",
        "\001d\010\002\011__tuple__\007\001\003\002\001k\010\001\001a\003\000");
    EXPECT_USER_KEYS("\"d\": {\"__dict__\": [[1, 2]]}",
                     "\001d\010\001\010__dict__\007\001\007\002\003\002\003\004");
}

/* A list with 128 items or more has a longer count than the room that was left. */
static void test_long_lists(void **state)
{
    char json[4000];
    size_t size = (size_t)snprintf(json, sizeof(json), "\"l\": [[");

    (void)state;
    for (int i = 0; i < 300; i++)
        size += (size_t)snprintf(json + size, sizeof(json) - size, "%s1", i ? "," : "");
    (void)snprintf(json + size, sizeof(json) - size, "], 5]");
    struct read read = read_one(json);
    struct roast_str blob = blob_of(&read.records[0], ROAST_FIELD_user_keys);
    struct roast_str key;
    struct roast_value value;
    assert_int_equal(roast_values_check(blob, NULL), ROAST_OK);
    assert_int_equal(roast_value_next_key(&key, &blob, NULL), 1);
    assert_int_equal(roast_value_next(&value, &blob, NULL), 1);
    assert_int_equal(value.count, 2);
    assert_int_equal(roast_value_next(&value, &blob, NULL), 1);
    assert_int_equal(value.count, 300);
    assert_int_equal(blob.size_bytes, 602);
    done(&read);
}

/* Too deep, or too large: taken back whole, and counted. */
static void test_values_that_do_not_fit(void **state)
{
    char *text = malloc(200000);
    size_t size = (size_t)snprintf(text, 200,
                                   "{\"raw_chunk_metrics\": [{\"deep\": "
                                   "[[[[[[[[[1]]]]]]]]], \"ok\": 1, \"large\": \"");

    (void)state;
    memset(text + size, 'x', 70000);
    (void)snprintf(text + size + 70000, 100, "\", \"also\": 2}]}");
    struct read read = read_text(text);
    assert_str_is(blob_of(&read.records[0], ROAST_FIELD_user_keys),
                  "\002ok\003\002\004also\003\004");
    struct roast_str losses = blob_of(&read.records[0], ROAST_FIELD_losses);
    struct roast_pair pair;
    assert_int_equal(roast_pair_next(&pair, &losses, NULL), 1);
    assert_int_equal(pair.key, ROAST_LOSS_values_dropped);
    assert_int_equal(pair.value, 2);
    done(&read);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_values_that_do_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
