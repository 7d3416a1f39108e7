/* SPDX-License-Identifier: BSD-3-Clause */
/* test_view_set.c - fields of a record set from the numbers of users. */
#include <float.h>
#include <math.h>

#include "support.h"

#include "roast/view.h"

static const struct roast_view *view_of(const char *key)
{
    size_t count;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(views[i].key, key) == 0)
            return &views[i];
    }
    fail_msg("no view %s", key);
    return NULL;
}

static void a_number_becomes_the_field_of_its_view(void **state)
{
    static const struct {
        const char *key;
        double number;
        uint64_t stored;
    } cases[] = {
        {"num_events", 12.4, 12},           {"first_chunk", 1, 1},
        {"cpu_time", 1.5, 1500000000},      {"mem_before_mb", 2, 2097152},
        {"memory_start_gb", 2, 2000000000},
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        roast_record rec = {.kind = ROAST_FRAME_CHUNK};
        const struct roast_view *view = view_of(cases[i].key);
        roast_view_set(&rec, view, cases[i].number);
        assert_true(roast_record_has(&rec, view->field));
        assert_int_equal(rec.values[view->field].u64, cases[i].stored);
    }
}

static void what_no_field_holds_is_absent(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, -1, DBL_MAX, 9.3e18};
    static const char *const no_way_back[] = {"t_end", "mem_delta_mb", "status",
                                              "dataset", "gc_time"};
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        roast_view_set(&rec, view_of("num_events"), bad[i]);
    for (size_t i = 0; i < COUNT_OF(no_way_back); i++)
        roast_view_set(&rec, view_of(no_way_back[i]), 1);
    assert_int_equal(rec.present, 0);
    roast_view_set(&rec, view_of("t_start"), -1); /* before 1970 is a time */
    assert_int_equal(rec.values[ROAST_FIELD_start_epoch_ns].i64, -1000000000);
}

enum { ABSENT = -1 };

/* The start and the duration in ns that follow from the given times. */
static void check_times(double start_s, double end_s, double stamp_s, int64_t start_ns,
                        int64_t took_ns)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    const struct roast_record_times times = {start_s, end_s, stamp_s};

    roast_record_set_times(&rec, &times);
    assert_int_equal(roast_record_has(&rec, ROAST_FIELD_start_epoch_ns),
                     start_ns != ABSENT);
    assert_int_equal(roast_record_has(&rec, ROAST_FIELD_duration_ns),
                     took_ns != ABSENT);
    if (start_ns != ABSENT)
        assert_int_equal(rec.values[ROAST_FIELD_start_epoch_ns].i64, start_ns);
    if (took_ns != ABSENT)
        assert_int_equal(rec.values[ROAST_FIELD_duration_ns].u64, took_ns);
}

static void times_follow_from_one_another(void **state)
{
    (void)state;
    check_times(NAN, NAN, NAN, ABSENT, ABSENT);
    check_times(2, NAN, NAN, ABSENT, ABSENT); /* the start itself is a view */
    check_times(2, 5, NAN, 2000000000, 3000000000);
    check_times(NAN, 5, NAN, 5000000000, ABSENT); /* duration 0, as far as known */
    check_times(NAN, NAN, 7, 7000000000, ABSENT);
    check_times(NAN, 5, 7, 5000000000, ABSENT); /* not the stamp */
    check_times(5, 2, NAN, 2000000000, ABSENT); /* no time runs backwards */
    check_times(INFINITY, INFINITY, NAN, ABSENT, ABSENT);
}

static void known_fields_are_kept(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    const struct roast_record_times times = {2, 5, 6};
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_duration_ns, 1000000000);
    roast_record_set_times(&rec, &times);
    assert_int_equal(rec.values[ROAST_FIELD_duration_ns].u64, 1000000000);
    assert_int_equal(rec.values[ROAST_FIELD_start_epoch_ns].i64, 4000000000);
    roast_record_set_times(&rec, &(struct roast_record_times){7, 9, 9});
    assert_int_equal(rec.values[ROAST_FIELD_start_epoch_ns].i64, 4000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_becomes_the_field_of_its_view),
        cmocka_unit_test(what_no_field_holds_is_absent),
        cmocka_unit_test(times_follow_from_one_another),
        cmocka_unit_test(known_fields_are_kept),
    };

    return cmocka_run_group_tests_name("record/test_told", tests, NULL, NULL);
}
