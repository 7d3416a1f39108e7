/* SPDX-License-Identifier: BSD-3-Clause */
/* test_segment.c - parts of segments: what is written is read back; what is not whole is
 * not. */
#include "base/bytes.h"
#include "file/sqlite/checked.h"
#include "file/sqlite/schema.h"
#include "file/sqlite/segment.h"
#include "frames.h"

static sqlite3 *db;

static int open_db(void **state)
{
    (void)state;
    return roast__sql_create(&db, NULL, 4096, NULL) < 0 ||
           roast__schema_make(db, NULL) < 0;
}

static int close_db(void **state)
{
    (void)state;
    roast__sql_close(db);
    return 0;
}

/* Items of one size: a number, then that many bytes of it. */
static void write_items(size_t count, size_t size_bytes)
{
    struct roast_segment_writer writer;

    assert_int_equal(roast__segment_begin(&writer, db, ROAST_SEGMENT_rest, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < size_bytes; k++)
            roast__buf_put(&writer.data, &(unsigned char){(unsigned char)i}, 1);
        assert_int_equal(roast__segment_item(&writer, NULL), 0);
    }
    assert_int_equal(roast__segment_finish(&writer, NULL), 0);
    roast__segment_release(&writer);
}

/* How many items can be read, in how many parts. */
static size_t read_items(size_t size_bytes, size_t *parts, uint64_t *damaged)
{
    struct roast_segment_reader reader;
    struct roast_segment_part part;
    size_t items = 0;

    *parts = 0;
    assert_int_equal(roast__segment_open(&reader, db, ROAST_SEGMENT_rest, NULL), 0);
    while (roast__segment_next(&reader, &part, NULL) > 0) {
        assert_int_equal(part.content.size_bytes, part.items * size_bytes);
        items += part.items;
        ++*parts;
    }
    *damaged = reader.damaged;
    roast__segment_close(&reader);
    return items;
}

static void items_come_back(void **state)
{
    size_t parts;
    uint64_t damaged;

    (void)state;
    write_items(2500, 1000);
    assert_int_equal(read_items(1000, &parts, &damaged), 2500);
    assert_int_equal(parts, 3); /* of 1 MiB */
    assert_int_equal(damaged, 0);
}

static void nothing_is_a_part_too(void **state)
{
    size_t parts;
    uint64_t damaged;

    (void)state;
    write_items(0, 1);
    assert_int_equal(read_items(1, &parts, &damaged), 0);
    assert_int_equal(parts, 1);
    assert_int_equal(damaged, 0);
}

static void a_lost_part_takes_no_others_with_it(void **state)
{
    static const char *const losses[] = {
        "UPDATE segments SET data=zeroblob(100) WHERE part=1",
        "UPDATE segments SET data=NULL WHERE part=1",
        ("UPDATE segments SET data=(SELECT data FROM segments WHERE part=0) "
         "WHERE part=1"),
        "DELETE FROM segments WHERE part=1",
    };
    size_t parts;
    uint64_t damaged;

    (void)state;
    write_items(2500, 1000);
    for (size_t i = 0; i < COUNT_OF(losses); i++) {
        assert_int_equal(roast__sql_run(db, losses[i], NULL), ROAST_OK);
        assert_int_equal(read_items(1000, &parts, &damaged), 1451);
        assert_int_equal(parts, 2);
        assert_int_equal(damaged, 1);
    }
    assert_int_equal(roast__sql_run(db, "DELETE FROM contents", NULL), ROAST_OK);
    assert_int_equal(read_items(1000, &parts, &damaged), 0);
    assert_int_equal(damaged, 1);
}

/* Nothing protects the number of parts: whoever believed it would search for days. */
static void parts_that_a_file_only_claims_are_not_searched(void **state)
{
    size_t parts;
    uint64_t damaged;

    (void)state;
    write_items(2500, 1000);
    assert_int_equal(roast__sql_run(db, "UPDATE contents SET rows=4000000003", NULL),
                     ROAST_OK);
    assert_int_equal(read_items(1000, &parts, &damaged), 2500);
    assert_int_equal(parts, 3);
    assert_int_equal(damaged, 4000000000);
}

/* The worked example of a part: segment 3, one item, a mark 1 at 300 ns. */
static const unsigned char EXAMPLE[] = {0, 0, 0, 0, 1, 3, 0,    0,    0, 0,
                                        0, 0, 1, 0, 0, 0, 0xd8, 0x04, 1};

static void refuse(const unsigned char *bytes, size_t size, bool sealed, int status)
{
    unsigned char *copy = (unsigned char *)tight_copy(bytes, size);
    struct roast_segment_part part;

    if (sealed)
        roast__store_fixed(copy, roast__crc32c(copy + 4, size - 4), 4);
    assert_int_equal(
        roast__segment_decode(&part, ROAST_SEGMENT_moments, str_from(copy, size), NULL),
        status);
    free(copy);
}

static void what_is_no_part_is_refused(void **state)
{
    unsigned char bytes[sizeof(EXAMPLE)];

    (void)state;
    refuse(EXAMPLE, sizeof(EXAMPLE), true, ROAST_OK);
    refuse(EXAMPLE, sizeof(EXAMPLE), false, ROAST_BAD_CHECKSUM);
    for (size_t size = 0; size < ROAST_SEGMENT_HEAD_BYTES; size++)
        refuse(EXAMPLE, size, false, ROAST_TRUNCATED);
    memcpy(bytes, EXAMPLE, sizeof(bytes));
    bytes[4] = 2;
    refuse(bytes, sizeof(bytes), true, ROAST_NEWER_FORMAT);
    memcpy(bytes, EXAMPLE, sizeof(bytes));
    bytes[5] = 4;
    refuse(bytes, sizeof(bytes), true, ROAST_BAD_DATA);
    memcpy(bytes, EXAMPLE, sizeof(bytes));
    bytes[12] = 4; /* items in three bytes */
    refuse(bytes, sizeof(bytes), true, ROAST_BAD_DATA);
}

#define segment_test(behaviour) \
    cmocka_unit_test_setup_teardown(behaviour, open_db, close_db)

int main(void)
{
    const struct CMUnitTest tests[] = {
        segment_test(items_come_back),
        segment_test(nothing_is_a_part_too),
        segment_test(a_lost_part_takes_no_others_with_it),
        segment_test(parts_that_a_file_only_claims_are_not_searched),
        cmocka_unit_test(what_is_no_part_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
