/* SPDX-License-Identifier: BSD-3-Clause */
/* test_checksum.c - CRC-32C and FNV-1a against published values, and both
 * implementations of the CRC, instruction and table, against its definition. */
#include "support.h"

#include "base/checksum.h"

/* The definition, bit by bit. */
static uint32_t crc32c_of_definition(const unsigned char *data, size_t size_bytes)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < size_bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

static void assert_defined(const unsigned char *data, size_t size_bytes)
{
    uint32_t expected = crc32c_of_definition(data, size_bytes);

    assert_int_equal(roast__crc32c(data, size_bytes), expected);
    assert_int_equal(roast__crc32c_portable(data, size_bytes), expected);
    size_t first = size_bytes / 3;
    assert_int_equal(roast__crc32c_more(roast__crc32c(data, first), data + first,
                                        size_bytes - first),
                     expected);
}

/* RFC 3720, B.4, and the check value of the catalogue of CRCs. */
static void crc_has_the_published_values(void **state)
{
    unsigned char bytes[32];
    (void)state;

    assert_int_equal(roast__crc32c("123456789", 9), UINT32_C(0xe3069283));
    assert_int_equal(roast__crc32c(NULL, 0), 0);
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(roast__crc32c(bytes, sizeof(bytes)), UINT32_C(0x8a9136aa));
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(roast__crc32c(bytes, sizeof(bytes)), UINT32_C(0x62a8ab43));
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    assert_int_equal(roast__crc32c(bytes, sizeof(bytes)), UINT32_C(0x46dd794e));
}

static void crc_follows_the_definition_at_every_length_and_offset(void **state)
{
    unsigned char bytes[72];
    (void)state;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 151 + 43);
    for (size_t from = 0; from < 8; from++) {
        for (size_t size = 0; size <= 64; size++)
            assert_defined(bytes + from, size);
    }
}

/* The table handles four bytes at a time: each entry of each quarter is used here. */
static void crc_follows_the_definition_for_every_byte_value(void **state)
{
    unsigned char bytes[15] = {0};
    (void)state;

    for (unsigned value = 0; value < 256; value++) {
        for (size_t at = 0; at < sizeof(bytes); at++) {
            memset(bytes, 0, sizeof(bytes));
            bytes[at] = (unsigned char)value;
            assert_defined(bytes, sizeof(bytes));
        }
    }
}

/* Ids made from this hash are stored in files, so it must never change. */
static void hash_is_fnv1a_of_64_bits(void **state)
{
    (void)state;

    assert_true(roast__hash64(NULL, 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(roast__hash64("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(roast__hash64("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_has_the_published_values),
        cmocka_unit_test(crc_follows_the_definition_at_every_length_and_offset),
        cmocka_unit_test(crc_follows_the_definition_for_every_byte_value),
        cmocka_unit_test(hash_is_fnv1a_of_64_bits),
    };
    return cmocka_run_group_tests_name("base/checksum", tests, NULL, NULL);
}
