/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lists.c - the closed sets (fields, losses, reasons, statuses, items of the
 * ladder, hooks, views): numbers on the wire never change, names are unique, and each
 * table equals its list. Appending to a list keeps these tests valid; renumbering does
 * not. */
#include "support.h"

#include "base/checksum.h"
#include "record/fields.h"
#include "roast/view.h"

struct row {
    int64_t number;
    const char *name;
};

static const struct row fields[] = {
#define F(number, name, type, unit, text) {(number), #name " " #type},
#include "roast/record_fields.def"
#undef F
};

static const struct row losses[] = {
#define L(number, name, text) {(number), #name},
#include "roast/losses.def"
#undef L
};

static const struct row reasons[] = {
#define R(number, name, text) {(number), #name},
#include "roast/reasons.def"
#undef R
};

static const struct row statuses[] = {
#define S(name, value, text) {-(value), #name},
#include "roast/status.def"
#undef S
};

static const struct row items[] = {
#define I(number, name, kind, shown, text) {(number), #name " " #kind},
#include "roast/ladder_items.def"
#undef I
};

static const struct row hooks[] = {
#define H(number, name, where, slices, text) {(number), #name},
#include "roast/hooks.def"
#undef H
};

static void assert_numbers_rise_and_names_differ(const struct row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        assert_true(rows[i].number > rows[i - 1].number);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rows[i].name, rows[k].name);
    }
}

static void numbers_rise_and_names_differ(void **state)
{
    (void)state;

    assert_numbers_rise_and_names_differ(fields, COUNT_OF(fields));
    assert_numbers_rise_and_names_differ(losses, COUNT_OF(losses));
    assert_numbers_rise_and_names_differ(reasons, COUNT_OF(reasons));
    assert_numbers_rise_and_names_differ(statuses, COUNT_OF(statuses));
    assert_numbers_rise_and_names_differ(items, COUNT_OF(items));
    assert_numbers_rise_and_names_differ(hooks, COUNT_OF(hooks));
    assert_true(fields[0].number > 0); /* 0 means unknown in all but the statuses */
    assert_true(losses[0].number > 0);
    assert_true(reasons[0].number > 0);
    assert_true(items[0].number > 0);
    assert_true(hooks[0].number > 0);
}

/* A checksum over the first rows of a list. */
static uint32_t print_of(const struct row *rows, size_t count, size_t released)
{
    unsigned char bytes[4096];
    size_t size = 0;

    assert_true(released <= count);
    for (size_t i = 0; i < released; i++) {
        size_t name = strlen(rows[i].name) + 1;
        assert_true(size + name + 1 <= sizeof(bytes));
        bytes[size++] = (unsigned char)rows[i].number;
        memcpy(bytes + size, rows[i].name, name);
        size += name;
    }
    return roast__crc32c(bytes, size);
}

/* Files of version 1 hold these numbers. If this fails, an existing row was changed;
 * the counts are those of the first release of each list. */
static void rows_that_were_released_have_not_changed(void **state)
{
    (void)state;

    assert_int_equal(print_of(fields, COUNT_OF(fields), 50), UINT32_C(0x46f61a1a));
    assert_int_equal(print_of(losses, COUNT_OF(losses), 7), UINT32_C(0xee74ac26));
    assert_int_equal(print_of(reasons, COUNT_OF(reasons), 8), UINT32_C(0x698ff5dc));
    assert_int_equal(print_of(statuses, COUNT_OF(statuses), 9), UINT32_C(0xab219731));
    assert_int_equal(print_of(items, COUNT_OF(items), 23), UINT32_C(0x15bab8b3));
}

static void the_field_table_equals_the_list(void **state)
{
    (void)state;
    assert_int_equal(COUNT_OF(fields), ROAST_FIELD_COUNT);
#define F(field_number, field_name, field_type, field_unit, field_text) \
    { \
        const struct roast_field_info *info = \
            roast_field_info(ROAST_FIELD_##field_name); \
        assert_int_equal(info->number, (field_number)); \
        assert_int_equal(info->type, ROAST_TYPE_##field_type); \
        assert_string_equal(info->name, #field_name); \
        assert_string_equal(info->unit, #field_unit); \
        assert_string_equal(info->text, (field_text)); \
        assert_int_equal(roast__field_by_number(field_number), \
                         ROAST_FIELD_##field_name); \
    }
#include "roast/record_fields.def"
#undef F
}

static void numbers_that_are_no_field_are_unknown(void **state)
{
    static const uint64_t numbers[] = {0, 255, 256, UINT64_C(1) << 32, UINT64_MAX};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        assert_int_equal(roast__field_by_number(numbers[i]), ROAST_FIELD_COUNT);
    assert_int_equal(
        roast__field_by_number((uint64_t)fields[COUNT_OF(fields) - 1].number + 1),
        ROAST_FIELD_COUNT);
}

/* A field with a unit in its name and in its row must have the same one. */
static void units_are_in_the_names(void **state)
{
    (void)state;

    for (int i = 0; i < ROAST_FIELD_COUNT; i++) {
        const struct roast_field_info *info = roast_field_info((enum roast_field)i);
        size_t size = strlen(info->name);
        bool ends_in_ns = size > 3 && strcmp(info->name + size - 3, "_ns") == 0;
        assert_int_equal(ends_in_ns, strcmp(info->unit, "ns") == 0);
        if (size > 6 && strcmp(info->name + size - 6, "_bytes") == 0)
            assert_string_equal(info->unit, "bytes");
    }
}

static void losses_and_reasons_have_words_and_others_have_none(void **state)
{
    (void)state;
#define L(number, name, text) \
    assert_string_equal(roast_loss_name(number), #name); \
    assert_string_equal(roast_loss_text(ROAST_LOSS_##name), (text));
#include "roast/losses.def"
#undef L
#define R(number, name, text) \
    assert_string_equal(roast_reason_text(ROAST_WHY_##name), (text));
#include "roast/reasons.def"
#undef R
    assert_null(roast_loss_name(0));
    assert_null(roast_loss_text(ROAST_LOSS_END));
    assert_null(roast_loss_name(UINT32_MAX));
    assert_null(roast_reason_text(0));
    assert_null(roast_reason_text(ROAST_WHY_END));
}

/* The unit of a view must fit the unit of its field. */
static bool suits(enum roast_view_kind kind, enum roast_field_type type)
{
    switch (kind) {
    case ROAST_VIEW_TEXT:
        return type == ROAST_TYPE_TEXT;
    case ROAST_VIEW_EPOCH_S:
    case ROAST_VIEW_EPOCH_END_S:
        return type == ROAST_TYPE_TIME;
    case ROAST_VIEW_NONE:
    case ROAST_VIEW_ITEM:
    case ROAST_VIEW_ACCESSED:
    case ROAST_VIEW_ACCESSED_BYTES:
    case ROAST_VIEW_ACCESSED_UNCOMPRESSED:
    case ROAST_VIEW_ACCESSED_PERCENT:
    case ROAST_VIEW_ACCESSED_BYTES_PERCENT:
        return type == ROAST_TYPE_BLOB;
    default:
        return type == ROAST_TYPE_U64;
    }
}

static void views_have_their_own_keys_and_read_fields_of_their_kind(void **state)
{
    size_t count;
    const struct roast_view *views = roast_views(&count);
    (void)state;

    assert_true(count > 30);
    for (size_t i = 0; i < count; i++) {
        assert_true(suits(views[i].kind, roast_field_info(views[i].field)->type));
        if (views[i].other != views[i].field)
            assert_int_equal(roast_field_info(views[i].other)->type,
                             roast_field_info(views[i].field)->type == ROAST_TYPE_BLOB
                                 ? ROAST_TYPE_BLOB
                                 : ROAST_TYPE_U64);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(views[i].key, views[k].key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_rise_and_names_differ),
        cmocka_unit_test(rows_that_were_released_have_not_changed),
        cmocka_unit_test(the_field_table_equals_the_list),
        cmocka_unit_test(numbers_that_are_no_field_are_unknown),
        cmocka_unit_test(units_are_in_the_names),
        cmocka_unit_test(losses_and_reasons_have_words_and_others_have_none),
        cmocka_unit_test(views_have_their_own_keys_and_read_fields_of_their_kind),
    };
    return cmocka_run_group_tests_name("record/lists", tests, NULL, NULL);
}
