/* SPDX-License-Identifier: BSD-3-Clause */
/* live_entries.h - live files with arbitrary entries and valid checksums. */
#ifndef ROAST_TESTS_FILE_LIVE_LIVE_ENTRIES_H
#define ROAST_TESTS_FILE_LIVE_LIVE_ENTRIES_H

#include "live_test.h"

static inline void put_head(struct roast_buf *file, uint32_t format)
{
    unsigned char bytes[ROAST_LIVE_HEAD_BYTES];
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    roast__live_head_make(bytes, run);
    roast_run_free(run);
    roast__store_fixed(bytes + 8, format, 4);
    memset(bytes + 16, 0, ROAST_LIVE_WRITER_BYTES);
    memcpy(bytes + 16, "roastcoffea 9.9", 15);
    roast__store_fixed(bytes + 80, roast__crc32c(bytes, 80), 4);
    roast__buf_put(file, bytes, sizeof(bytes));
}

static inline void put_block(struct roast_buf *file, uint64_t number,
                             struct roast_str entries)
{
    size_t from = file->size_bytes;
    const unsigned char head[ROAST_BLOCK_HEAD_BYTES] = {0};

    roast__buf_put(file, head, sizeof(head));
    roast__buf_put(file, entries.data, entries.size_bytes);
    assert_true(roast__buf_ok(file));
    roast__block_write_head(file->data + from, entries.size_bytes, number);
}

/* An entry of up to six numbers, followed by a text. */
struct test_entry {
    uint64_t kind;
    size_t count;
    uint64_t numbers[6];
    const char *text;
};

/* Added to a kind: a reference that announces the worker "w" comes first. */
#define OF_W (UINT64_C(1) << 20)

static inline void put_entry(struct roast_buf *out, const struct test_entry *entry)
{
    struct roast_buf payload = {NULL, 0, 0, false};

    if (entry->kind < UINT64_MAX && entry->kind & OF_W)
        roast__buf_put(&payload, "\x03\x02w", 3);
    for (size_t i = 0; i < entry->count; i++)
        roast__buf_put_varint(&payload, entry->numbers[i]);
    if (entry->text)
        roast__buf_put(&payload, entry->text, strlen(entry->text));
    roast__buf_put_varint(out,
                          entry->kind < UINT64_MAX ? entry->kind & ~OF_W : entry->kind);
    roast__buf_put_varint(out, payload.size_bytes);
    roast__buf_put(out, payload.data, payload.size_bytes);
    assert_true(roast__buf_ok(out));
    roast__buf_release(&payload);
}

/* Writes a file of one block with these bytes as its entries. */
static inline void write_entries(const struct live_test *test, struct roast_str entries)
{
    struct roast_buf file = {NULL, 0, 0, false};

    put_head(&file, ROAST_LIVE_FORMAT);
    put_block(&file, 1, entries);
    write_bytes(test->path, file.data, file.size_bytes);
    roast__buf_release(&file);
}

/* Reads a file of one block with these entries. */
static inline roast_run *read_entries(const struct live_test *test,
                                      const struct test_entry *entries, size_t count,
                                      struct roast_journal_reading *seen)
{
    struct roast_buf bytes = {NULL, 0, 0, false};

    for (size_t i = 0; i < count; i++)
        put_entry(&bytes, &entries[i]);
    write_entries(test, buf_str(&bytes));
    roast__buf_release(&bytes);
    return read_live(test->path, seen);
}

#endif
