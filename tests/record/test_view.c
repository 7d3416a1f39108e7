/* SPDX-License-Identifier: BSD-3-Clause */
/* test_view.c - a record under the names and units of readers; absent fields remain
 * absent. */
#include "support.h"

#include "record/view.h"

static struct roast_value view_value(const struct roast_view *view,
                                     const roast_record *rec)
{
    struct roast_record_parts parts;

    (void)roast__record_parts_read(&parts, rec, NULL);
    return roast__view_value(view, rec, &parts);
}

static struct roast_value value_of(const roast_record *rec, const char *key)
{
    size_t count;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(views[i].key, key) == 0)
            return view_value(&views[i], rec);
    }
    fail_msg("no view %s", key);
    return (struct roast_value){.type = ROAST_VALUE_NULL};
}

static void assert_number(const roast_record *rec, const char *key, double expected)
{
    struct roast_value value = value_of(rec, key);

    assert_int_equal(value.type, ROAST_VALUE_DOUBLE);
    assert_true(value.number == expected);
}

static void assert_text(const roast_record *rec, const char *key, const char *expected)
{
    struct roast_value value = value_of(rec, key);

    assert_int_equal(value.type, ROAST_VALUE_TEXT);
    assert_str_is(value.str, expected);
}

static void texts_and_counts_are_as_stored(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_str(&rec, ROAST_FIELD_file, roast_str_of("f.root"));
    roast_record_set_u64(&rec, ROAST_FIELD_num_events, UINT64_MAX);
    assert_text(&rec, "file", "f.root");
    assert_text(&rec, "filename", "f.root");
    struct roast_value value = value_of(&rec, "num_events");
    assert_int_equal(value.type, ROAST_VALUE_COUNT);
    assert_true(value.count == UINT64_MAX);
}

static void a_flag_is_true_or_false(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_first_chunk, 1);
    assert_int_equal(value_of(&rec, "first_chunk").type, ROAST_VALUE_TRUE);
    roast_record_set_u64(&rec, ROAST_FIELD_first_chunk, 0);
    assert_int_equal(value_of(&rec, "first_chunk").type, ROAST_VALUE_FALSE);
}

static void times_are_in_seconds(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_duration_ns, 1500000000);
    roast_record_set_i64(&rec, ROAST_FIELD_start_epoch_ns, 1760000000250000000);
    assert_number(&rec, "duration", 1.5);
    assert_number(&rec, "t_start", 1760000000.25);
    assert_number(&rec, "t_end", 1760000001.75);
    assert_number(&rec, "timestamp", 1760000001.75);
    roast_record_set_i64(&rec, ROAST_FIELD_start_epoch_ns, -250000000);
    assert_number(&rec, "t_start", -0.25);
    assert_number(&rec, "t_end", 1.25);
}

static void memory_is_in_mib_and_gb_and_may_shrink(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_rss_before_bytes, UINT64_C(3) << 20);
    roast_record_set_u64(&rec, ROAST_FIELD_rss_after_bytes, UINT64_C(1) << 19);
    roast_record_set_u64(&rec, ROAST_FIELD_rss_peak_bytes, UINT64_C(1) << 30);
    assert_number(&rec, "mem_before_mb", 3.0);
    assert_number(&rec, "mem_after_mb", 0.5);
    assert_number(&rec, "mem_delta_mb", -2.5);
    assert_number(&rec, "mem_peak_mb", 1024.0);
    roast_record_set_u64(&rec, ROAST_FIELD_rss_before_bytes, 4000000000);
    roast_record_set_u64(&rec, ROAST_FIELD_rss_after_bytes, 1500000000);
    assert_number(&rec, "memory_start_gb", 4.0);
    assert_number(&rec, "memory_end_gb", 1.5);
    assert_number(&rec, "memory_delta_gb", -2.5);
}

static void kinds_are_words(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    roast_record_set_u64(&rec, ROAST_FIELD_rss_peak_kind, ROAST_PEAK_EXACT);
    assert_text(&rec, "status", "ok");
    assert_text(&rec, "mem_peak_kind", "exact");
    roast_record_set_u64(&rec, ROAST_FIELD_status, ROAST_CHUNK_FAILED);
    roast_record_set_u64(&rec, ROAST_FIELD_rss_peak_kind, ROAST_PEAK_SAMPLED);
    assert_text(&rec, "status", "failed");
    assert_text(&rec, "mem_peak_kind", "sampled");
}

/* ---- ladder and branches -------------------------------------------------------- */

/* A record and the blobs it borrows. */
struct inside {
    roast_record rec;
    unsigned char ladder[ROAST_LADDER_BOUND_BYTES];
    unsigned char branches[512];
    unsigned char facts[ROAST_FILE_FACTS_BOUND_BYTES];
};

static void set_blob(roast_record *rec, enum roast_field field, const void *out,
                     int64_t size)
{
    assert_true(size >= 0);
    roast_record_set_str(rec, field, str_from(out, (size_t)size));
}

static void set_branches(struct inside *in, const struct roast_branch *all,
                         size_t count)
{
    set_blob(
        &in->rec, ROAST_FIELD_branches, in->branches,
        roast_branches_write(in->branches, sizeof(in->branches), all, count, NULL));
}

static void set_facts(struct inside *in, const struct roast_file_facts *facts)
{
    set_blob(&in->rec, ROAST_FIELD_file_facts, in->facts,
             roast_file_facts_write(in->facts, sizeof(in->facts), facts, NULL));
}

static void assert_count(const roast_record *rec, const char *key, uint64_t expected)
{
    struct roast_value value = value_of(rec, key);

    assert_int_equal(value.type, ROAST_VALUE_COUNT);
    assert_true(value.count == expected);
}

static void assert_absent(const roast_record *rec, const char *key)
{
    assert_int_equal(value_of(rec, key).type, ROAST_VALUE_NULL);
}

static const struct roast_branch read_branches[] = {
    {.name = {"a", 1},
     .flags = ROAST_BRANCH_DATA,
     .sizes_known = true,
     .file_bytes = 100,
     .file_uncompressed_bytes = 300},
    {.name = {"b", 1}, .flags = ROAST_BRANCH_DATA},
    {.name = {"n", 1}, .flags = ROAST_BRANCH_OFFSETS, .bytes = 5},
};

static void items_of_the_ladder_have_their_unit(void **state)
{
    struct inside in = {.rec = {.kind = ROAST_FRAME_CHUNK}};
    struct roast_ladder ladder = {0};
    (void)state;

    roast_ladder_set(&ladder, ROAST_ITEM_gc_cpu, 1500000000);
    roast_ladder_set(&ladder, ROAST_ITEM_open_bytes, UINT64_MAX);
    roast_ladder_set(&ladder, ROAST_ITEM_cached_reads, 0);
    set_blob(&in.rec, ROAST_FIELD_ladder, in.ladder,
             roast_ladder_write(in.ladder, sizeof(in.ladder), &ladder, NULL));
    assert_number(&in.rec, "gc_time", 1.5);
    assert_count(&in.rec, "open_bytes", UINT64_MAX);
    assert_count(&in.rec, "cached_reads", 0);
    assert_absent(&in.rec, "column_bytes");
    roast_record_set_str(&in.rec, ROAST_FIELD_ladder, roast_str_of("\xff"));
    assert_absent(&in.rec, "gc_time");
}

static void access_is_counted_and_weighed(void **state)
{
    const struct roast_file_facts facts = {
        .branches = 8, .sizes_known = true, .compressed_bytes = 400};
    struct inside in = {.rec = {.kind = ROAST_FRAME_CHUNK}};
    (void)state;

    set_branches(&in, read_branches, COUNT_OF(read_branches));
    assert_count(&in.rec, "num_branches_accessed", 2);
    assert_count(&in.rec, "accessed_bytes", 100);
    assert_count(&in.rec, "accessed_uncompressed_bytes", 300);
    assert_absent(&in.rec, "branches_read_percent"); /* of how many? */
    set_facts(&in, &facts);
    assert_number(&in.rec, "branches_read_percent", 25.0);
    assert_number(&in.rec, "bytes_read_percent", 25.0);
    roast_record_set_str(&in.rec, ROAST_FIELD_branches, roast_str_of("\x01"));
    assert_absent(&in.rec, "num_branches_accessed");
}

static void unknown_bytes_are_absent(void **state)
{
    const struct roast_file_facts no_sizes = {.branches = 8};
    const struct roast_file_facts sizes = {
        .branches = 8, .sizes_known = true, .compressed_bytes = 400};
    struct inside in = {.rec = {.kind = ROAST_FRAME_CHUNK}};
    (void)state;

    set_branches(&in, read_branches + 1, 2); /* no sizes */
    set_facts(&in, &sizes);
    assert_absent(&in.rec, "accessed_bytes");
    assert_absent(&in.rec, "accessed_uncompressed_bytes");
    assert_absent(&in.rec, "bytes_read_percent");
    assert_number(&in.rec, "branches_read_percent", 12.5);
    set_branches(&in, read_branches, COUNT_OF(read_branches));
    set_facts(&in, &no_sizes);
    assert_absent(&in.rec, "bytes_read_percent");
    set_branches(&in, NULL, 0); /* no branch was accessed: that is known */
    assert_count(&in.rec, "accessed_bytes", 0);
    assert_number(&in.rec, "branches_read_percent", 0.0);
}

static void what_is_absent_is_absent_and_not_zero(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    size_t count;
    const struct roast_view *views = roast_views(&count);
    (void)state;

    memset(rec.values, 0xff, sizeof(rec.values)); /* left from another record */
    for (size_t i = 0; i < count; i++)
        assert_int_equal(view_value(&views[i], &rec).type, ROAST_VALUE_NULL);
}

static void a_view_of_two_fields_needs_both(void **state)
{
    roast_record rec = {.kind = ROAST_FRAME_CHUNK};
    (void)state;

    roast_record_set_u64(&rec, ROAST_FIELD_rss_after_bytes, 1);
    roast_record_set_i64(&rec, ROAST_FIELD_start_epoch_ns, 1);
    assert_int_equal(value_of(&rec, "mem_delta_mb").type, ROAST_VALUE_NULL);
    assert_int_equal(value_of(&rec, "t_end").type, ROAST_VALUE_NULL);
    assert_int_equal(value_of(&rec, "mem_after_mb").type, ROAST_VALUE_DOUBLE);
    assert_int_equal(value_of(&rec, "t_start").type, ROAST_VALUE_DOUBLE);
}

/* Scripts written for roastcoffea 0.1.2 index these keys. */
static void the_keys_of_0_1_2_are_always_there(void **state)
{
    static const char *const keys[] = {"dataset",
                                       "file",
                                       "uuid",
                                       "entry_start",
                                       "entry_stop",
                                       "num_events",
                                       "t_start",
                                       "t_end",
                                       "timestamp",
                                       "duration",
                                       "bytes_read",
                                       "mem_before_mb",
                                       "mem_after_mb",
                                       "mem_delta_mb",
                                       "accessed_branches",
                                       "num_branches_accessed",
                                       "accessed_bytes",
                                       "accessed_uncompressed_bytes",
                                       "branches_read_percent",
                                       "bytes_read_percent"};
    size_t count;
    const struct roast_view *views = roast_views(&count);
    size_t found = 0;
    (void)state;

    for (size_t i = 0; i < count * COUNT_OF(keys); i++) {
        const struct roast_view *view = &views[i / COUNT_OF(keys)];
        if (strcmp(view->key, keys[i % COUNT_OF(keys)]) == 0 && view->always)
            found++;
    }
    assert_int_equal(found, COUNT_OF(keys));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_counts_are_as_stored),
        cmocka_unit_test(a_flag_is_true_or_false),
        cmocka_unit_test(times_are_in_seconds),
        cmocka_unit_test(memory_is_in_mib_and_gb_and_may_shrink),
        cmocka_unit_test(kinds_are_words),
        cmocka_unit_test(items_of_the_ladder_have_their_unit),
        cmocka_unit_test(access_is_counted_and_weighed),
        cmocka_unit_test(unknown_bytes_are_absent),
        cmocka_unit_test(what_is_absent_is_absent_and_not_zero),
        cmocka_unit_test(a_view_of_two_fields_needs_both),
        cmocka_unit_test(the_keys_of_0_1_2_are_always_there),
    };
    return cmocka_run_group_tests_name("record/view", tests, NULL, NULL);
}
