/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_segment.c - any bytes as a part of a segment: read as it is, and put into a run in
 * the place of its own, which is then loaded and used.
 *
 * The first byte of the input says which segment, the second how many items it claims;
 * the rest is the content of its only part. */
#include "../file/sqlite/forge.h"
#include "base_run.h"
#include "file/sqlite/load.h"
#include "file/sqlite/save.h"
#include "use_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* A run in memory as a file has it, and the parts that it had; made once. */
static sqlite3 *db;
static struct roast_buf own_parts[ROAST_SEGMENT_END];

static void make_base(void)
{
    roast_run *run = base_run();

    PROMISE(roast__sql_create(&db, NULL, 4096, NULL) == 0);
    PROMISE(roast__save_into(db, run, NULL) == 0);
    roast_run_free(run);
    for (int i = 1; i < ROAST_SEGMENT_END; i++) {
        sqlite3_stmt *find = NULL;
        PROMISE(roast__sql_prepare(&find, db, "SELECT data FROM segments WHERE id=?1",
                                   NULL) == 0);
        (void)sqlite3_bind_int64(find, 1, (int64_t)i << 32);
        PROMISE(roast__sql_step(find, NULL) == 1);
        struct roast_str data = roast__sql_text(find, 0);
        roast__buf_put(&own_parts[i], data.data, data.size_bytes);
        (void)sqlite3_finalize(find);
    }
}

/* A part with these items and this content, whatever they are. */
static struct roast_buf part_of(unsigned segment, unsigned items,
                                struct roast_str content)
{
    struct roast_buf part = {NULL, 0, 0, false};
    const unsigned char head[8] = {0, 0, 0, 0, 1, (unsigned char)segment, 0, 0};

    roast__buf_put(&part, head, sizeof(head));
    roast__buf_put_fixed32(&part, 0);
    roast__buf_put_fixed32(&part, items);
    roast__buf_put(&part, content.data, content.size_bytes);
    PROMISE(roast__buf_ok(&part));
    roast__store_fixed(part.data, roast__crc32c(part.data + 4, part.size_bytes - 4), 4);
    return part;
}

static void replace(unsigned segment, const struct roast_buf *part)
{
    sqlite3_stmt *update = NULL;

    PROMISE(roast__sql_prepare(&update, db, "UPDATE segments SET data=?2 WHERE id=?1",
                               NULL) == 0);
    (void)sqlite3_bind_int64(update, 1, (int64_t)segment << 32);
    (void)sqlite3_bind_blob64(update, 2, part->data, part->size_bytes, SQLITE_STATIC);
    PROMISE(roast__sql_step(update, NULL) == 0);
    (void)sqlite3_finalize(update);
}

static void load(void)
{
    struct roast_loading loading = {.db = db, .file_bytes = 1 << 20};
    roast_run *run = NULL;

    if (roast__load_small(&run, &loading, NULL) == 0) {
        PROMISE(roast__load_whole(&loading, NULL) == 0);
        use_run(run);
    }
    roast__loading_release(&loading);
    roast_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct roast_segment_part decoded;

    if (size_bytes < 2)
        return 0;
    unsigned segment = 1 + data[0] % (ROAST_SEGMENT_END - 1);
    struct roast_str content = {(const char *)data + 2, size_bytes - 2};
    (void)roast__segment_decode(&decoded, (enum roast_segment)segment, content, NULL);
    struct roast_buf part = part_of(segment, data[1], content);
    if (!db)
        make_base();
    replace(segment, &part);
    load();
    replace(segment, &own_parts[segment]);
    roast__buf_release(&part);
    return 0;
}
