/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ladder.c - the ladder of a chunk: its lists, its blob written and read, and the
 * second split of its time, which adds up for any clocks. */
#include "frames.h"
#include "roast/ladder.h"

static struct roast_ladder full_ladder(uint64_t value)
{
    struct roast_ladder ladder = {0};

    for (int i = 0; i < ROAST_ITEM_COUNT; i++)
        roast_ladder_set(&ladder, (enum roast_ladder_item)i, value - (uint64_t)i);
    return ladder;
}

static void assert_same_ladder(const struct roast_ladder *a,
                               const struct roast_ladder *b)
{
    assert_int_equal(a->present, b->present);
    assert_memory_equal(a->values, b->values, sizeof(a->values));
}

/* Written to memory of exactly room bytes, and read back from exactly its size. */
static void check_round_trip(const struct roast_ladder *ladder)
{
    unsigned char *out = malloc(ROAST_LADDER_BOUND_BYTES);
    struct roast_ladder back;

    memset(&back, 0xff, sizeof(back));
    int64_t size = roast_ladder_write(out, ROAST_LADDER_BOUND_BYTES, ladder, NULL);
    assert_in_range(size, 0, ROAST_LADDER_BOUND_BYTES);
    char *blob = tight_copy(out, (size_t)size);
    assert_int_equal(roast_ladder_read(&back, str_from(blob, (size_t)size), NULL),
                     ROAST_OK);
    assert_same_ladder(ladder, &back);
    free(blob);
    free(out);
}

/* ---- the blob ----------------------------------------------------------------- */

static void a_small_ladder_has_the_documented_bytes(void **state)
{
    static const unsigned char expected[] = {0x03, 0xac, 0x02, 0x08, 0x05};
    struct roast_ladder ladder = {0};
    unsigned char out[8];
    (void)state;

    roast_ladder_set(&ladder, ROAST_ITEM_compute, 5); /* in any order */
    roast_ladder_set(&ladder, ROAST_ITEM_form, 300);
    assert_int_equal(roast_ladder_write(out, sizeof(out), &ladder, NULL),
                     sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
}

static void every_item_comes_back_alone_and_with_all_others(void **state)
{
    static const uint64_t values[] = {0, 1, 127, 128, UINT64_C(1) << 63, UINT64_MAX};
    struct roast_ladder empty = {0};
    (void)state;

    check_round_trip(&empty);
    for (size_t n = 0; n < COUNT_OF(values); n++) {
        struct roast_ladder full = full_ladder(values[n]);
        check_round_trip(&full);
        for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
            struct roast_ladder one = {0};
            roast_ladder_set(&one, (enum roast_ladder_item)i, values[n]);
            check_round_trip(&one);
        }
    }
}

static void memory_too_small_is_refused_and_never_overrun(void **state)
{
    struct roast_ladder ladder = full_ladder(UINT64_MAX);
    unsigned char out[ROAST_LADDER_BOUND_BYTES];
    (void)state;

    int64_t needed = roast_ladder_write(out, sizeof(out), &ladder, NULL);
    for (int64_t room = 0; room < needed; room++) {
        unsigned char *tight = malloc((size_t)room + 1);
        roast_error err = {0};
        assert_int_equal(roast_ladder_write(tight, (size_t)room, &ladder, &err),
                         ROAST_LIMIT);
        assert_int_equal(err.code, ROAST_LIMIT);
        free(tight);
    }
    assert_int_equal(roast_ladder_write(out, (size_t)needed, &ladder, NULL), needed);
}

/* Cut between two pairs it is a shorter ladder, cut anywhere else it is refused. */
static void a_ladder_cut_anywhere_is_shorter_or_refused(void **state)
{
    struct roast_ladder ladder = full_ladder(UINT64_MAX);
    unsigned char out[ROAST_LADDER_BOUND_BYTES];
    int64_t size = roast_ladder_write(out, sizeof(out), &ladder, NULL);
    int whole = 0;
    (void)state;

    for (size_t cut = 0; cut < (size_t)size; cut++) {
        char *copy = tight_copy(out, cut);
        struct roast_ladder back;
        int status = roast_ladder_read(&back, str_from(copy, cut), NULL);
        assert_true(status == ROAST_OK || status == ROAST_BAD_DATA);
        assert_true(status == ROAST_OK || back.present == 0);
        whole += status == ROAST_OK;
        free(copy);
    }
    assert_int_equal(whole, ROAST_ITEM_COUNT);
}

static void items_of_a_later_time_are_skipped(void **state)
{
    static const uint64_t numbers[] = {0,   ROAST_ITEM_COUNT + 1, 255,
                                       256, UINT32_MAX,           UINT64_MAX};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct roast_buf blob = {0};
        struct roast_ladder ladder;
        roast__buf_put_varint(&blob, numbers[i]);
        roast__buf_put_varint(&blob, UINT64_MAX);
        roast__buf_put(&blob, "\x08\x05", 2); /* compute: 5 */
        assert_int_equal(roast_ladder_read(&ladder, buf_str(&blob), NULL), ROAST_OK);
        assert_int_equal(ladder.present, 1 << ROAST_ITEM_compute);
        assert_int_equal(ladder.values[ROAST_ITEM_compute], 5);
        roast__buf_release(&blob);
    }
}

static void an_absent_blob_is_an_empty_ladder(void **state)
{
    struct roast_ladder ladder = full_ladder(7);
    (void)state;

    assert_int_equal(roast_ladder_read(&ladder, (struct roast_str){NULL, 0}, NULL),
                     ROAST_OK);
    assert_int_equal(ladder.present, 0);
}

static void of_an_item_that_comes_twice_the_last_counts(void **state)
{
    struct roast_ladder ladder;
    (void)state;

    assert_int_equal(roast_ladder_read(&ladder, roast_str_of("\x08\x05\x08\x06"), NULL),
                     ROAST_OK);
    assert_int_equal(ladder.values[ROAST_ITEM_compute], 6);
}

/* ---- the second split --------------------------------------------------------- */

struct times {
    uint64_t task, cpu, runqueue, fetch, fetch_cpu;
};

static struct roast_split split_of(const struct times *t)
{
    struct roast_ladder ladder = {0};
    struct roast_split split;

    roast_ladder_set(&ladder, ROAST_ITEM_runqueue, t->runqueue);
    roast_ladder_set(&ladder, ROAST_ITEM_fetch, t->fetch);
    roast_ladder_set(&ladder, ROAST_ITEM_fetch_cpu, t->fetch_cpu);
    assert_true(roast_ladder_split(&split, t->task, t->cpu, &ladder));
    assert_true(split.fetch_known);
    return split;
}

static void an_attempt_is_split_in_four(void **state)
{
    static const struct times times = {1000, 400, 150, 320, 20};
    struct roast_split split = split_of(&times);
    (void)state;

    assert_int_equal(split.on_cpu_ns, 400);
    assert_int_equal(split.runqueue_ns, 150);
    assert_int_equal(split.fetch_wait_ns, 300);
    assert_int_equal(split.blocked_ns, 150);
}

/* Clocks that disagree, concurrent fetches, and extreme numbers. */
static void the_parts_add_up_for_any_clocks(void **state)
{
    static const uint64_t values[] = {0, 1, 500, 1000, 1001, UINT64_MAX};
    size_t n = COUNT_OF(values);
    (void)state;

    for (size_t i = 0; i < n * n * n * n * n; i++) {
        struct times t = {values[i % n], values[i / n % n], values[i / n / n % n],
                          values[i / n / n / n % n], values[i / n / n / n / n]};
        struct roast_split split = split_of(&t);
        assert_true(split.on_cpu_ns <= t.task && split.on_cpu_ns <= t.cpu);
        assert_true(split.runqueue_ns <= t.runqueue);
        assert_true(split.fetch_wait_ns <= t.fetch);
        assert_true(split.blocked_ns <= t.task);
        assert_true(split.on_cpu_ns + split.runqueue_ns + split.fetch_wait_ns +
                        split.blocked_ns ==
                    t.task);
    }
}

static void what_is_not_known_is_not_split(void **state)
{
    struct roast_ladder ladder = {0};
    struct roast_split split;
    (void)state;

    roast_ladder_set(&ladder, ROAST_ITEM_fetch, 300);
    assert_false(roast_ladder_split(&split, 1000, 400, &ladder));
    ladder = (struct roast_ladder){0};
    ladder.values[ROAST_ITEM_fetch] = 300; /* not known, whatever the memory contains */
    roast_ladder_set(&ladder, ROAST_ITEM_runqueue, 100);
    assert_true(roast_ladder_split(&split, 1000, 400, &ladder));
    assert_false(split.fetch_known);
    assert_int_equal(split.fetch_wait_ns, 0);
    assert_int_equal(split.blocked_ns, 500);
}

/* ---- lists -------------------------------------------------------------------- */

static void the_tables_equal_the_lists(void **state)
{
    (void)state;
#define I(item_number, item_name, item_kind, item_shown, item_text) \
    { \
        const struct roast_ladder_info *info = \
            roast_ladder_info(ROAST_ITEM_##item_name); \
        assert_int_equal(info->number, (item_number)); \
        assert_int_equal(info->kind, ROAST_LADDER_##item_kind); \
        assert_string_equal(info->name, #item_name); \
        assert_string_equal(info->shown, (item_shown)); \
        assert_string_equal(info->text, (item_text)); \
    }
#include "roast/ladder_items.def"
#undef I
#define SLICE(name) (1u << ROAST_ITEM_##name)
#define H(hook_number, hook_name, hook_where, hook_slices, hook_text) \
    { \
        const struct roast_hook_info *info = roast_hook_info(ROAST_HOOK_##hook_name); \
        assert_string_equal(info->name, #hook_name); \
        assert_string_equal(info->where, (hook_where)); \
        assert_int_equal(info->slices, (hook_slices)); \
        assert_string_equal(info->text, (hook_text)); \
    }
#include "roast/hooks.def"
#undef H
#undef SLICE
}

static void slices_come_first(void **state)
{
    (void)state;

    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        bool is_slice =
            roast_ladder_info((enum roast_ladder_item)i)->kind == ROAST_LADDER_SLICE;
        assert_int_equal(is_slice, i < ROAST_SLICE_COUNT);
    }
    assert_true(ROAST_ITEM_COUNT <= 32); /* bits of `present` */
}

static void hooks_are_bits_and_cost_slices_only(void **state)
{
    (void)state;

    assert_true(ROAST_HOOK_END <= 64);
    for (unsigned hook = 0; hook < ROAST_HOOK_END; hook++) {
        const struct roast_hook_info *info = roast_hook_info(hook);
        if (info)
            assert_int_equal(info->slices >> ROAST_SLICE_COUNT, 0);
    }
    assert_null(roast_hook_info(0));
    assert_null(roast_hook_info(ROAST_HOOK_END));
    assert_null(roast_hook_info(UINT32_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_ladder_has_the_documented_bytes),
        cmocka_unit_test(every_item_comes_back_alone_and_with_all_others),
        cmocka_unit_test(memory_too_small_is_refused_and_never_overrun),
        cmocka_unit_test(a_ladder_cut_anywhere_is_shorter_or_refused),
        cmocka_unit_test(items_of_a_later_time_are_skipped),
        cmocka_unit_test(an_absent_blob_is_an_empty_ladder),
        cmocka_unit_test(of_an_item_that_comes_twice_the_last_counts),
        cmocka_unit_test(an_attempt_is_split_in_four),
        cmocka_unit_test(the_parts_add_up_for_any_clocks),
        cmocka_unit_test(what_is_not_known_is_not_split),
        cmocka_unit_test(the_tables_equal_the_lists),
        cmocka_unit_test(slices_come_first),
        cmocka_unit_test(hooks_are_bits_and_cost_slices_only),
    };
    return cmocka_run_group_tests_name("record/ladder", tests, NULL, NULL);
}
