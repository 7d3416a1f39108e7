/* SPDX-License-Identifier: BSD-3-Clause */
/* test_measurement_records.c - chunk records of metrics.json as frames.
 *
 * That all keys mean the same as in Python is tested there (test_import.py); here are
 * the shapes that need care: trees, values, branches, and what is hostile. */
#include "heap.h"
#include "ingest/records_help.h"
#include "roast/view.h"

/* ---- who ------------------------------------------------------------------------- */

static void test_identity(void **state)
{
    struct roast_identity id;
    struct read read =
        read_text("{\"raw_chunk_metrics\": [{" OURS
                  "\"run_id\": \"000102030405060708090a0b0c0d0e0f\"}, {}, 5,"
                  " {\"process_id\": 0, \"sequence\": 77}, {\"run_id\": \"zz\"}]}");

    (void)state;
    assert_int_equal(read.count, 4);
    assert_int_equal(read.heard.lost, 1);
    assert_int_equal(roast_identity_unpack(
                         &id, blob_of(&read.records[0], ROAST_FIELD_identity), NULL),
                     ROAST_OK);
    assert_true(id.process_id == UINT64_MAX);
    assert_int_equal(id.sequence, 7);
    assert_int_equal(id.run_id[15], 15);
    (void)roast_identity_unpack(&id, blob_of(&read.records[1], ROAST_FIELD_identity),
                                NULL);
    assert_true(id.process_id == 0);
    assert_int_equal(id.sequence, 2); /* its place in the list */
    (void)roast_identity_unpack(&id, blob_of(&read.records[2], ROAST_FIELD_identity),
                                NULL);
    assert_int_equal(id.sequence, 77);
    done(&read);
}

/* ---- times ----------------------------------------------------------------------- */

static double shown(const roast_record *rec, const char *key)
{
    size_t count = 0;
    const struct roast_view *view = roast_views(&count);

    while (strcmp(view->key, key) != 0)
        view++;
    return roast_view_value(view, rec).number;
}

/* The start is the one that gives both times again. */
static void test_times_come_back(void **state)
{
    uint64_t seed = 12345;

    (void)state;
    for (int i = 0; i < 300; i++) {
        roast_record made = {.kind = ROAST_FRAME_CHUNK};
        char inside[400];
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        roast_record_set_i64(&made, ROAST_FIELD_start_epoch_ns,
                             INT64_C(1700000000000000000) + (int64_t)(seed >> 12));
        roast_record_set_u64(&made, ROAST_FIELD_duration_ns, seed >> 30);
        (void)snprintf(inside, sizeof(inside),
                       OURS "\"t_start\": %.17g, \"t_end\": %.17g, \"duration\": %.17g",
                       shown(&made, "t_start"), shown(&made, "t_end"),
                       shown(&made, "duration"));
        struct read read = read_one(inside);
        const roast_record *rec = &read.records[0];
        assert_true(shown(rec, "t_start") == shown(&made, "t_start"));
        assert_true(shown(rec, "t_end") == shown(&made, "t_end"));
        assert_true(rec->values[ROAST_FIELD_duration_ns].u64 == seed >> 30);
        done(&read);
    }
}

static void test_start_without_a_start(void **state)
{
    struct read read = read_one("\"t_end\": 1700000005.0, \"duration\": 2");

    (void)state;
    assert_true(read.records[0].values[ROAST_FIELD_start_epoch_ns].i64 ==
                INT64_C(1700000003000000000));
    done(&read);
    read = read_one("\"t_start\": 1.5, \"t_end\": 4.0");
    assert_true(read.records[0].values[ROAST_FIELD_duration_ns].u64 == 2500000000);
    done(&read);
}

/* ---- sections -------------------------------------------------------------------- */

/* Nodes of one name below two parents; bytes that only a parent's own time betrays. */
static const char *const tree_record =
    OURS "\"timing\": {\"a\": 5e-9, \"mine\": 0.5}, \"bytes\": {\"read\": 40,"
         " \"odd\": 1.5}, \"sections\": ["
         " {\"section_name\": \"a\", \"time_delta\": 5e-9, \"self_time\": 0},"
         " {\"section_name\": \"b\", \"time_delta\": 9e-9, \"self_time\": 2e-9},"
         " {\"section_name\": \"x\", \"time_delta\": 5e-9, \"self_time\": 5e-9,"
         " \"depth\": 1, \"parent\": \"a\"},"
         " {\"section_name\": \"x\", \"time_delta\": 3e-9, \"self_time\": 1e-9,"
         " \"depth\": 1, \"parent\": \"b\"},"
         " {\"section_name\": \"y\", \"time_delta\": 2e-9, \"self_time\": 2e-9,"
         " \"depth\": 2, \"parent\": \"x\"},"
         " {\"section_name\": \"in\", \"time_delta\": 1e-9, \"self_time\": 1e-9,"
         " \"depth\": 1, \"parent\": \"m\", \"count\": 4}],"
         " \"memory_sections\": [{\"section_name\": \"m\", \"memory_start_gb\": 1e-9,"
         " \"memory_end_gb\": 3e-9, \"memory_delta_gb\": -2e-9, \"time_delta\": 6e-9}],"
         " \"intervals\": [[\"read\", 1e-9, 4e-9], [\"b\", 0, 9e-9],"
         " [\"?\", 1, 2]]";

/* A node by its name and time, its parent's name, and how often it was passed. */
struct expected_node {
    const char *name;
    uint64_t total_ns;
    const char *parent;
    uint64_t parent_ns;
    uint64_t count;
};

static void expect_node(const struct roast_section *nodes, int64_t count,
                        const struct expected_node *expected)
{
    for (int64_t i = 0; i < count; i++) {
        const struct roast_section *node = &nodes[i];
        if (!str_is(node->name, expected->name) || node->total_ns != expected->total_ns)
            continue;
        assert_int_equal(node->count, expected->count);
        assert_int_equal(node->parent >= 0, expected->parent != NULL);
        if (!expected->parent)
            return;
        assert_str_is(nodes[node->parent].name, expected->parent);
        assert_int_equal(nodes[node->parent].total_ns, expected->parent_ns);
        return;
    }
    fail_msg("no node %s", expected->name);
}

static void test_the_tree_comes_back(void **state)
{
    static const struct expected_node expected[] = {
        {"a", 5, NULL, 0, 1}, {"b", 9, NULL, 0, 1},   {"x", 5, "a", 5, 1},
        {"x", 3, "b", 9, 1},  {"y", 2, "x", 3, 1},    {"m", 6, NULL, 0, 1},
        {"in", 1, "m", 6, 4}, {"read", 4, "b", 9, 1},
    };
    static const char users[] = "\x06timing\x08\x01\x04mine\x04\0\0\0\0\0\0\xe0\x3f"
                                "\005bytes\x08\x01\x03odd\x04\0\0\0\0\0\0\xf8\x3f";
    struct roast_section nodes[16];
    struct roast_interval intervals[4];
    struct read read = read_one(tree_record);
    const roast_record *rec = &read.records[0];
    int64_t count = roast_sections_read(nodes, COUNT_OF(nodes),
                                        blob_of(rec, ROAST_FIELD_sections), NULL);

    (void)state;
    assert_int_equal(count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        expect_node(nodes, count, &expected[i]);
    assert_int_equal(
        roast_intervals_read(intervals, 4, blob_of(rec, ROAST_FIELD_intervals), NULL),
        3);
    assert_str_is(nodes[intervals[0].section].name, "read");
    assert_int_equal(intervals[2].section, count); /* of no node: readers skip it */
    /* what no section explains was the user's */
    assert_true(str_equal(blob_of(rec, ROAST_FIELD_user_keys),
                          str_from(users, sizeof(users) - 1)));
    done(&read);
}

/* Without intervals the time that a section does not explain tells where bytes were
 * read. */
static void test_bytes_without_intervals(void **state)
{
    static const struct expected_node expected[] = {
        {"a", 9, NULL, 0, 1}, {"b", 5, NULL, 0, 1}, {"r", 4, "a", 9, 1}};
    struct roast_section nodes[4];
    struct read read = read_one(
        OURS "\"bytes\": {\"r\": 8}, \"sections\": [{\"section_name\": \"a\","
             " \"time_delta\": 9e-9, \"self_time\": 5e-9}, {\"section_name\": \"b\","
             " \"time_delta\": 5e-9, \"self_time\": 5e-9}]");
    int64_t count = roast_sections_read(
        nodes, COUNT_OF(nodes), blob_of(&read.records[0], ROAST_FIELD_sections), NULL);

    (void)state;
    assert_int_equal(count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        expect_node(nodes, count, &expected[i]);
    done(&read);
}

static void test_sums_of_others(void **state)
{
    struct roast_section nodes[8];
    struct read read =
        read_one("\"timing\": {\"b\": 1.5, \"a\": -1, \"n\": \"x\", \"b\": 2},"
                 " \"memory\": {\"m\": -0.5}, \"bytes\": {\"r\": 7},"
                 " \"sections\": [{\"section_name\": \"no\", \"time_delta\": 1}]");

    (void)state;
    assert_int_equal(
        roast_sections_read(nodes, COUNT_OF(nodes),
                            blob_of(&read.records[0], ROAST_FIELD_sections), NULL),
        4);
    assert_str_is(nodes[0].name, "b");
    assert_true(nodes[0].total_ns == 2000000000);
    assert_int_equal(nodes[1].total_ns, 0);
    assert_int_equal(nodes[2].memory_delta_bytes, -524288);
    assert_int_equal(nodes[3].bytes, 7);
    done(&read);
    read = read_one("\"sections\": [{\"section_name\": 5, \"time_delta\": 1}, 3,"
                    " {\"section_name\": \"x\"}, {\"time_delta\": 1}]");
    assert_int_equal(
        roast_sections_read(nodes, COUNT_OF(nodes),
                            blob_of(&read.records[0], ROAST_FIELD_sections), NULL),
        1);
    assert_str_is(nodes[0].name, "5");
    done(&read);
}

static void test_more_sections_than_fit(void **state)
{
    char *text = malloc(40000);
    size_t size =
        (size_t)snprintf(text, 100, "{\"raw_chunk_metrics\": [{\"timing\": {");

    (void)state;
    for (int i = 0; i < 300; i++)
        size += (size_t)snprintf(text + size, 100, "%s\"s%d\": 1", i ? ", " : "", i);
    (void)snprintf(text + size, 100, "}}]}");
    struct read read = read_text(text);
    struct roast_str losses = blob_of(&read.records[0], ROAST_FIELD_losses);
    struct roast_pair pair;
    assert_int_equal(
        roast_sections_read(NULL, 0, blob_of(&read.records[0], ROAST_FIELD_sections),
                            NULL),
        256);
    assert_int_equal(roast_pair_next(&pair, &losses, NULL), 1);
    assert_int_equal(pair.key, ROAST_LOSS_section_names);
    assert_int_equal(pair.value, 44);
    done(&read);
    free(text);
}

/* ---- branches -------------------------------------------------------------------- */

static void test_branches_meet_by_name(void **state)
{
    struct roast_branch rows[8];
    struct read read = read_one(
        "\"accessed_branches\": [\"c\", \"a\", \"a\", 3], \"offset_branches\": [\"n\"],"
        " \"branches\": {\"b\": {\"bytes\": 5, \"seconds\": 1e-6}, \"a\": {\"reads\": "
        "2},"
        " \"x\": 1}, \"file_metadata\": {\"branch_bytes\": {\"a\": 10, \"z\": 20}}");
    const roast_record *rec = &read.records[0];
    int64_t count = roast_branches_read(rows, COUNT_OF(rows),
                                        blob_of(rec, ROAST_FIELD_branches), NULL);

    (void)state;
    assert_int_equal(count, 5);
    assert_str_is(rows[0].name, "b");
    assert_int_equal(rows[0].ns, 1000);
    assert_str_is(rows[1].name, "a");
    assert_int_equal(rows[1].flags, ROAST_BRANCH_DATA);
    assert_int_equal(rows[1].reads, 2);
    assert_true(rows[1].sizes_known && rows[1].file_bytes == 10);
    assert_str_is(rows[2].name, "x");
    assert_str_is(rows[3].name, "c");
    assert_false(rows[3].sizes_known);
    assert_str_is(rows[4].name, "n");
    assert_int_equal(rows[4].flags, ROAST_BRANCH_OFFSETS);
    assert_int_equal(
        roast_branches_read(NULL, 0, blob_of(rec, ROAST_FIELD_file_branches), NULL), 2);
    done(&read);
}

/* Sizes come once per file; what they add up to, with every record. */
static void test_sizes_of_later_records(void **state)
{
    struct roast_branch rows[4];
    struct roast_access access;
    struct read read = read_text(
        "{\"raw_chunk_metrics\": [{" OURS "\"file\": \"f\", \"accessed_branches\":"
        " [\"a\", \"b\"], \"branches\": {\"a\": {}, \"b\": {}}, \"accessed_bytes\": 30,"
        " \"accessed_uncompressed_bytes\": 70, \"file_metadata\": {\"branch_bytes\":"
        " {\"a\": 10, \"b\": 20, \"c\": 5}}},"
        " {\"process_id\": 1, \"sequence\": 8, \"file\": \"f\", \"accessed_branches\":"
        " [\"b\"], \"branches\": {\"a\": {}, \"b\": {}}, \"accessed_bytes\": 20,"
        " \"accessed_uncompressed_bytes\": 50},"
        " {\"process_id\": 1, \"sequence\": 9, \"file\": \"other\","
        " \"accessed_branches\": [\"a\", \"b\"], \"accessed_bytes\": 33,"
        " \"accessed_uncompressed_bytes\": 44}]}");

    (void)state;
    assert_int_equal(read.count, 3);
    assert_int_equal(roast_access_read(&access,
                                       blob_of(&read.records[0], ROAST_FIELD_branches),
                                       NULL),
                     ROAST_OK);
    assert_int_equal(access.file_bytes, 30);
    assert_int_equal(access.file_uncompressed_bytes, 70);
    assert_int_equal(
        roast_branches_read(rows, 4, blob_of(&read.records[1], ROAST_FIELD_branches),
                            NULL),
        2);
    assert_false(rows[0].sizes_known);
    assert_int_equal(rows[1].file_bytes, 20);
    assert_int_equal(rows[1].file_uncompressed_bytes, 50);
    (void)roast_access_read(&access, blob_of(&read.records[2], ROAST_FIELD_branches),
                            NULL);
    assert_int_equal(access.file_bytes, 33);
    assert_int_equal(access.file_uncompressed_bytes, 44);
    done(&read);
}

static void test_the_last_of_equal_keys_counts(void **state)
{
    struct roast_branch rows[4];
    struct read read = read_one(
        "\"num_events\": 1, \"accessed_branches\": [\"a\", \"b\"], \"num_events\": 2,"
        " \"branches\": {\"q\": {}}, \"accessed_branches\": [\"c\"], \"ladder\":"
        " {\"form\": 1}, \"ladder\": {\"open\": 1}, \"custom_metrics\": {\"x\": 1},"
        " \"custom_metrics\": {\"y\": 1}");
    const roast_record *rec = &read.records[0];
    struct roast_ladder ladder;

    (void)state;
    assert_int_equal(rec->values[ROAST_FIELD_num_events].u64, 2);
    assert_int_equal(
        roast_branches_read(rows, 4, blob_of(rec, ROAST_FIELD_branches), NULL), 2);
    assert_str_is(rows[1].name, "c");
    assert_int_equal(roast_ladder_read(&ladder, blob_of(rec, ROAST_FIELD_ladder), NULL),
                     ROAST_OK);
    assert_false(roast_ladder_has(&ladder, ROAST_ITEM_form));
    assert_str_is(blob_of(rec, ROAST_FIELD_custom_metrics), "\x01y\x03\x02");
    done(&read);
}

/* ---- the end of an attempt ------------------------------------------------------- */

static void test_what_the_end_frame_knew(void **state)
{
    struct roast_ladder ladder;
    struct roast_split split;
    struct read read = read_one(
        OURS
        "\"task_time\": 1e-6, \"storage_wait\": 1e-8, \"ladder\": {\"fetch\": 1e-7,"
        " \"compute\": 9e-7}, \"split\": {\"on_cpu\": 6e-7, \"runqueue\": 5e-8,"
        " \"fetch_wait\": 8e-8, \"blocked\": 2.7e-7}");

    (void)state;
    assert_int_equal(read.count, 2);
    const roast_record *end = &read.records[1];
    assert_int_equal(end->kind, ROAST_FRAME_END);
    assert_false(roast_record_has(&read.records[0], ROAST_FIELD_ladder));
    assert_int_equal(roast_ladder_read(&ladder, blob_of(end, ROAST_FIELD_ladder), NULL),
                     ROAST_OK);
    assert_true(roast_ladder_split(&split, end->values[ROAST_FIELD_task_ns].u64,
                                   end->values[ROAST_FIELD_task_cpu_ns].u64, &ladder));
    assert_int_equal(split.on_cpu_ns, 600);
    assert_int_equal(split.runqueue_ns, 50);
    assert_int_equal(split.fetch_wait_ns, 80);
    assert_int_equal(split.blocked_ns, 270);
    done(&read);
}

static void test_reasons_and_losses(void **state)
{
    struct read read = read_one(
        OURS "\"unavailable\": {\"mem_before_mb\": \"this operating system does not"
             " tell\", \"mem_delta_mb\": \"this operating system does not tell\","
             " \"memory_start_gb\": \"this operating system does not tell\","
             " \"memory_delta_gb\": \"this operating system does not tell\","
             " \"pid\": \"because\"}, \"losses\": {\"intervals\": 3, \"text_cut\": 1,"
             " \"new\": 2}");

    (void)state;
    assert_str_is(blob_of(&read.records[0], ROAST_FIELD_absences), "\x0f\x04");
    assert_str_is(blob_of(&read.records[0], ROAST_FIELD_losses), "\x04\x03\x05\x01");
    done(&read);
}

/* ---- memory ---------------------------------------------------------------------- */

static const char *const rich =
    "{\"raw_chunk_metrics\": [{" OURS
    "\"dataset\": \"x://u:p@h/a\", \"file\": \"f?a=b\","
    " \"mine\": {\"a\": [1, {\"__bytes__\": \"QUJD\"}]}, \"custom_metrics\": {\"c\": "
    "1},"
    " \"timing\": {\"s\": 1, \"u\": 2}, \"sections\": [{\"section_name\": \"s\","
    " \"time_delta\": 1}], \"memory_sections\": [{\"section_name\": \"m\"}],"
    " \"bytes\": {\"b\": 1}, \"intervals\": [[\"s\", 0, 1]], \"ladder\": {\"form\": 1},"
    " \"branches\": {\"p\": {\"bytes\": 1}, \"q\": {}}, \"accessed_branches\": [\"q\"],"
    " \"endpoints\": {\"e\": {\"bytes\": 1}}, \"file_metadata\": {\"codec\": \"zlib\","
    " \"branch_bytes\": {\"p\": 1, \"q\": 2}}, \"process\": {\"k\": \"v\"},"
    " \"accessed_bytes\": 2, \"accessed_uncompressed_bytes\": 3, \"task_time\": 2},"
    " {\"timing\": {\"s\": 1}, \"host\": \"h\", \"accessed_branches\": [\"z\"],"
    " \"accessed_bytes\": 2, \"accessed_uncompressed_bytes\": 3}]}";

/* Each allocation fails in turn, once or with all after it: NO_MEMORY, and no leak. */
static void test_no_memory(void **state)
{
    (void)state;
    test_heap_install();
    for (size_t n = 1;; n++) {
        bool failed = false;
        for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
            struct document document = document_of(rich);
            struct heard heard = {.calls = 0};
            roast_error err = {0};
            test_heap_fail(n, from_then_on);
            int status = read_metrics(&heard, &document, &some_time, &err);
            failed = test_heap_failed();
            test_heap_fail(0, false);
            heard_release(&heard);
            assert_int_equal(test_heap.live_blocks, 0);
            assert_true(status == ROAST_OK || status == ROAST_NO_MEMORY);
        }
        if (!failed)
            break;
    }
    roast__heap_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_times_come_back),
        cmocka_unit_test(test_start_without_a_start),
        cmocka_unit_test(test_the_tree_comes_back),
        cmocka_unit_test(test_bytes_without_intervals),
        cmocka_unit_test(test_sums_of_others),
        cmocka_unit_test(test_more_sections_than_fit),
        cmocka_unit_test(test_branches_meet_by_name),
        cmocka_unit_test(test_sizes_of_later_records),
        cmocka_unit_test(test_the_last_of_equal_keys_counts),
        cmocka_unit_test(test_what_the_end_frame_knew),
        cmocka_unit_test(test_reasons_and_losses),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
