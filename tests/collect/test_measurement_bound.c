/* SPDX-License-Identifier: BSD-3-Clause */
/* test_measurement_bound.c - however a document is made, reading it takes at most 4 times
 * its size + 64 KB: documents of the shortest things that are kept. */
#include <stdio.h>

#include "collect/json_help.h"
#include "fuzz/quiet_sink.h"
#include "fuzz/read_told.h"
#include "fuzz/weighing.h"

/* A document: what stands before, an item again and again, what stands behind. %s in the
 * item is a name that does not come again, as short as can be. */
struct shape {
    const char *before;
    const char *item;
    const char *behind;
};

static const struct shape shapes[] = {
    {"{\"x\": 0", ",\"%s\":1", "}"},
    {"{\"x\": \"", "x", "\"}"},
    {"{\"x\": \"", "\xff", "\"}"},
    {"{\"x\": \"", "\\\"", "\"}"},
    {"{\"x\": \"", "\\n", "\"}"},
    {"{\"x\": \"", "\xc3\xa9", "\"}"},
    {"{\"x\": \"", "\xf0\x9f\x98\x80", "\"}"},
    {"{\"x\": \"", "token=a ", "\"}"},
    {"{\"x\": \"", "a://b@c ", "\"}"},
    {"{\"x\": [0", ",1", "]}"},
    {"{\"x\": [0", ",{}", "]}"},
    {"{\"custom_metrics\": {\"x\": 0", ",\"%s\":1", "}}"},
    {"{\"labels\": {\"x\": 0", ",\"%s\":1", "}}"},
    {"{\"chunk_info\": {\"x\": 0", ",\"%s\":1", "}}"},
    {"{\"raw_chunk_metrics\": [{}", ",{}", "]}"},
    {"{\"raw_chunk_metrics\": [{\"x\": \"", "x", "\"}]}"},
    {"{\"raw_chunk_metrics\": [{\"dataset\": \"", "x", "\"}]}"},
    {"{\"raw_chunk_metrics\": [{\"dataset\": \"", "a://b@c ", "\"}]}"},
    {"{\"raw_chunk_metrics\": [{\"x\": 0", ",\"%s\":1", "}]}"},
    {"{\"raw_chunk_metrics\": [{\"x\": [0", ",1", "]}]}"},
    {"{\"raw_chunk_metrics\": [{\"custom_metrics\": {\"x\": 0", ",\"%s\":1", "}}]}"},
    {"{\"raw_chunk_metrics\": [{\"timing\": {\"x\": 0", ",\"%s\":1", "}}]}"},
    {"{\"raw_chunk_metrics\": [{\"sections\": [{}", ",{\"section_name\":1}", "]}]}"},
    {"{\"raw_chunk_metrics\": [{\"intervals\": [[]", ",[\"x\",1,1]", "]}]}"},
    {"{\"raw_chunk_metrics\": [{\"endpoints\": {\"x\": 0", ",\"%s\":{}", "}}]}"},
    {"{\"raw_chunk_metrics\": [{\"accessed_branches\": [\"x\"", ",\"%s\"", "]}]}"},
    {"{\"raw_chunk_metrics\": [{\"branches\": {\"x\": 0", ",\"%s\":0", "}}]}"},
    {"{\"raw_chunk_metrics\": [{\"branches\": {\"x\": 0", ",\"%s\":{\"reads\":1}",
     "}}]}"},
    {"{\"raw_chunk_metrics\": [{\"process_id\": 1, \"sequence\": 1, \"file_metadata\":"
     " {\"branch_bytes\": {\"x\": 0",
     ",\"%s\":1", "}}}]}"},
    {"{\"tracking_data\": {\"worker_counts\": {\"x\": 0", ",\"2025-01-01T00:00:00\":1",
     "}}}"},
    {"{\"tracking_data\": {\"worker_cpu\": {\"x\": [0", ",[\"2025-01-01T00:00:00\",1]",
     "]}}}"},
    {"{\"tracking_data\": {\"worker_cpu\": {\"x\": []", ",\"%s\":[]", "}}}"},
    {"{\"tracking_data\": {\"worker_cpu\": {\"x\": []",
     ",\"%s\":[[\"2025-01-01T00:00:00\",1]]", "}}}"},
    {"{\"tracking_data\": {\"x\": []", ",\"%s\":1", "}}"},
};

/* The n-th of the shortest names. */
static void put_name(char *out, size_t n)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t size = 0;

    do {
        out[size++] = letters[n % 64];
        n /= 64;
    } while (n > 0);
    out[size] = '\0';
}

/* Fills out with a document of at most size_bytes; its size. */
static size_t make(char *out, size_t size_bytes, const struct shape *shape)
{
    size_t size = (size_t)sprintf(out, "%s", shape->before);
    const char *name_at = strstr(shape->item, "%s");

    for (size_t n = 0; size + 100 < size_bytes; n++) {
        char name[16];
        put_name(name, n);
        if (name_at)
            size +=
                (size_t)sprintf(out + size, "%.*s%s%s", (int)(name_at - shape->item),
                                shape->item, name, name_at + 2);
        else
            size += (size_t)sprintf(out + size, "%s", shape->item);
    }
    return size + (size_t)sprintf(out + size, "%s", shape->behind);
}

static void test_memory(void **state)
{
    const struct roast_measurement_timing timing = {.start_s = 100, .end_s = 110};
    static const size_t sizes[] = {300, 5000, 20000, 60000, 500000};
    char *text = malloc(600000);

    (void)state;
    weighing_install();
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        for (size_t k = 0; k < COUNT_OF(sizes); k++) {
            struct document document = {.bytes = text};
            roast_error err = {0};
            document.size_bytes = make(text, sizes[k], &shapes[i]);
            weighing_start();
            int status = read_told(&quiet_sink, source_of(&document), &timing, &err);
            assert_string_equal(err.message, "");
            assert_int_equal(status, ROAST_OK);
            assert_int_equal(weighed.now_bytes, 0);
            if (weighed.peak_bytes > 4 * document.size_bytes + 65536)
                fail_msg("%s %s: %zu bytes for %zu", shapes[i].before, shapes[i].item,
                         weighed.peak_bytes, document.size_bytes);
        }
    }
    roast__heap_set(NULL);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
