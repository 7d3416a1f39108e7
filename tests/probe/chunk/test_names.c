/* SPDX-License-Identifier: BSD-3-Clause */
/* test_names.c - names of chunks are redacted when they are new. */
#include "support.h"

#include "probe/chunk/names.h"

static const unsigned char key[ROAST_NAME_KEY_BYTES] = {1};

static struct roast_str clean(struct roast_kept_names *names, char out[512],
                              const char *name, const unsigned char *with)
{
    size_t size = roast__names_redact(names, out, 512, roast_str_of(name), with);

    return str_from(out, size);
}

static void a_name_is_redacted_once(void **state)
{
    static struct roast_kept_names names;
    char first[512], again[512];
    (void)state;

    for (int chunk = 0; chunk < 1000; chunk++) {
        struct roast_str a = clean(&names, first, "root://u:p@host//a.root", key);
        struct roast_str b = clean(&names, again, "root://u:q@host//a.root", key);
        assert_false(str_equal(a, b));
        assert_str_is(clean(&names, again, "ttbar_2018", key), "ttbar_2018");
    }
    assert_int_equal(names.redactions, 2);
}

static void another_collector_has_another_mark(void **state)
{
    static struct roast_kept_names names;
    const unsigned char other[ROAST_NAME_KEY_BYTES] = {2};
    char first[512], second[512];
    (void)state;

    struct roast_str a = clean(&names, first, "x password=a", key);
    struct roast_str b = clean(&names, second, "x password=a", other);
    assert_int_equal(a.size_bytes, b.size_bytes);
    assert_false(str_equal(a, b));
}

static void more_names_than_are_kept_are_redacted_again(void **state)
{
    static struct roast_kept_names names;
    char name[64], out[512];
    (void)state;

    for (int round = 0; round < 2; round++) {
        for (char c = 'a'; c < 'a' + 2 * ROAST_KEPT_NAMES; c++) {
            char text[] = {c, ' ', 'p', 'w', 'd', '=', c, c, '\0'};
            memcpy(name, text, sizeof(text));
            struct roast_str kept = clean(&names, out, name, key);
            assert_memory_equal(kept.data, text, 6);
            assert_memory_equal(kept.data + 6, "***~", 4);
        }
    }
    assert_int_equal(names.redactions, 4 * ROAST_KEPT_NAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_redacted_once),
        cmocka_unit_test(another_collector_has_another_mark),
        cmocka_unit_test(more_names_than_are_kept_are_redacted_again),
    };
    return cmocka_run_group_tests_name("probe/chunk/names", tests, NULL, NULL);
}
