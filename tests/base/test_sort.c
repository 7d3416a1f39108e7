/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sort.c - keys of any size are sorted; equal keys keep their order. */
#include "base/mem.h"
#include "base/sort.h"
#include "draw.h"
#include "support.h"

enum { MANY = 5000 };

static uint64_t draw(void)
{
    static uint64_t seed = 1;

    return (uint64_t)(draw_share(&seed) * 0x1p53) << 11;
}

/* Items are numbered to check the order of equal keys. */
static void check_sorted(const int64_t *keys, size_t count)
{
    struct roast_keyed *keyed = roast__keyed_new(count);

    assert_non_null(keyed);
    for (uint32_t i = 0; i < count; i++)
        keyed[i] = (struct roast_keyed){keys[i], i};
    roast__keyed_sort(keyed, keyed + count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(keyed[i].key == keys[keyed[i].item]);
        if (i == 0)
            continue;
        assert_true(keyed[i - 1].key <= keyed[i].key);
        if (keyed[i - 1].key == keyed[i].key)
            assert_true(keyed[i - 1].item < keyed[i].item);
    }
    roast__free(keyed);
}

static void test_keys_of_any_size(void **state)
{
    static const int64_t hostile[] = {INT64_MAX, INT64_MIN, 0, -1, INT64_MIN, 1, -1};
    static int64_t keys[MANY];

    (void)state;
    check_sorted(NULL, 0);
    check_sorted(hostile, COUNT_OF(hostile));
    for (unsigned bits = 1; bits <= 64; bits += 7) {
        for (size_t i = 0; i < MANY; i++)
            keys[i] = (int64_t)(draw() >> (64 - bits));
        check_sorted(keys, MANY);
        check_sorted(keys, 20);
    }
    for (size_t i = 0; i < MANY; i++)
        keys[i] = i % 2 ? hostile[i % COUNT_OF(hostile)] : (int64_t)draw();
    check_sorted(keys, MANY);
}

static void test_sorted_input_is_unchanged(void **state)
{
    static int64_t keys[MANY];

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        keys[i] = (int64_t)i / 3;
    check_sorted(keys, MANY);
    for (size_t i = 0; i < MANY; i++)
        keys[i] = 7;
    check_sorted(keys, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_of_any_size),
        cmocka_unit_test(test_sorted_input_is_unchanged),
    };
    return cmocka_run_group_tests_name("base/sort", tests, NULL, NULL);
}
