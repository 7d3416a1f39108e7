/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.c - packed bytes in a run file, in parts that each have a checksum.
 *
 * The row of a part is found by its number alone, so that one which is damaged does not
 * hide those behind it. What a part is, is said inside of it once more: a row that was
 * mixed up with another one is not taken for it. */
#include "file/sqlite/segment.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "file/sqlite/checked.h"

enum { ENCODING = 1, PART_BITS = 32, CRC_BYTES = 4, MOST_UNREADABLE = 65536 };

static const char *const names[ROAST_SEGMENT_END] = {
#define G(number, name, text) [number] = #name,
#include "file/sqlite/segments.def"
#undef G
};

const char *roast__segment_name(enum roast_segment segment)
{
    return names[segment];
}

static int64_t row_of(enum roast_segment segment, uint64_t part)
{
    return (int64_t)segment << PART_BITS | (int64_t)part;
}

/* ---- writing ----------------------------------------------------------------------- */

static void begin_part(struct roast_segment_writer *writer)
{
    static const unsigned char empty[ROAST_SEGMENT_HEAD_BYTES];

    writer->items = 0;
    roast__buf_clear(&writer->data);
    roast__buf_put(&writer->data, empty, sizeof(empty));
}

int roast__segment_begin(struct roast_segment_writer *out, sqlite3 *db,
                         enum roast_segment segment, roast_error *err)
{
    *out = (struct roast_segment_writer){.segment = segment};
    begin_part(out);
    return roast__sql_prepare(&out->insert, db,
                              "INSERT INTO segments VALUES(?1,?2,?3,?4,?5)", err);
}

static void fill_head(struct roast_segment_writer *writer)
{
    unsigned char *head = writer->data.data;

    head[4] = ENCODING;
    head[5] = (unsigned char)writer->segment;
    roast__store_fixed(head + 8, writer->part, 4);
    roast__store_fixed(head + 12, writer->items, 4);
    uint32_t crc = roast__crc32c(head + CRC_BYTES, writer->data.size_bytes - CRC_BYTES);
    roast__store_fixed(head, crc, CRC_BYTES);
}

static int write_part(struct roast_segment_writer *writer, roast_error *err)
{
    sqlite3_stmt *insert = writer->insert;

    if (!roast__buf_ok(&writer->data))
        return roast_error_set(err, ROAST_NO_MEMORY, "a segment");
    fill_head(writer);
    (void)sqlite3_bind_int64(insert, 1, row_of(writer->segment, writer->part));
    (void)sqlite3_bind_text(insert, 2, names[writer->segment], -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(insert, 3, writer->part);
    (void)sqlite3_bind_int64(insert, 4, writer->items);
    int code = sqlite3_bind_blob64(insert, 5, writer->data.data,
                                   writer->data.size_bytes, SQLITE_STATIC);
    int status = code == SQLITE_OK
                     ? roast__sql_step(insert, err)
                     : roast__sql_error(sqlite3_db_handle(insert), code, err);
    (void)sqlite3_reset(insert);
    (void)sqlite3_clear_bindings(insert);
    if (status < 0)
        return status;
    writer->part++;
    begin_part(writer);
    return ROAST_OK;
}

int roast__segment_item(struct roast_segment_writer *writer, roast_error *err)
{
    writer->items++;
    return writer->data.size_bytes < ROAST_SEGMENT_PART_BYTES ? ROAST_OK
                                                              : write_part(writer, err);
}

int roast__segment_finish(struct roast_segment_writer *writer, roast_error *err)
{
    int status = ROAST_OK;

    if (writer->items > 0 || writer->part == 0)
        status = write_part(writer, err);
    if (status == ROAST_OK)
        status = roast__contents_put(sqlite3_db_handle(writer->insert),
                                     names[writer->segment], writer->part, NULL, err);
    return status;
}

void roast__segment_release(struct roast_segment_writer *writer)
{
    (void)sqlite3_finalize(writer->insert);
    roast__buf_release(&writer->data);
    *writer = (struct roast_segment_writer){.insert = NULL};
}

/* ---- reading ----------------------------------------------------------------------- */

int roast__segment_decode(struct roast_segment_part *out, enum roast_segment segment,
                          struct roast_str data, roast_error *err)
{
    const unsigned char *head = (const unsigned char *)data.data;

    if (data.size_bytes < ROAST_SEGMENT_HEAD_BYTES)
        return roast_error_set(err, ROAST_TRUNCATED, "a part of %zu bytes",
                               data.size_bytes);
    uint32_t crc = roast__crc32c(head + CRC_BYTES, data.size_bytes - CRC_BYTES);
    if (crc != roast__load_fixed(head, CRC_BYTES))
        return roast_error_set(err, ROAST_BAD_CHECKSUM, "a part of %zu bytes",
                               data.size_bytes);
    if (head[4] != ENCODING)
        return roast_error_set(err, ROAST_NEWER_FORMAT, "encoding %u", head[4]);
    *out = (struct roast_segment_part){
        .part = (uint32_t)roast__load_fixed(head + 8, 4),
        .items = (uint32_t)roast__load_fixed(head + 12, 4),
        .content = {data.data + ROAST_SEGMENT_HEAD_BYTES,
                    data.size_bytes - ROAST_SEGMENT_HEAD_BYTES},
    };
    if (head[5] != (unsigned)segment || out->items > out->content.size_bytes)
        return roast_error_set(err, ROAST_BAD_DATA, "segment %u with %u items", head[5],
                               out->items);
    return ROAST_OK;
}

int roast__segment_open(struct roast_segment_reader *out, sqlite3 *db,
                        enum roast_segment segment, roast_error *err)
{
    struct roast_contents contents;
    int status = roast__contents_find(&contents, db, names[segment], err);

    *out = (struct roast_segment_reader){.segment = segment,
                                         .left_bytes = roast__sql_file_bytes(db)};
    if (status < 0)
        return status;
    if (status == 0 || contents.rows > UINT32_MAX)
        out->damaged = 1; /* every segment has a part, so something is lost */
    else
        out->parts = contents.rows;
    roast__contents_release(&contents);
    return roast__sql_prepare(&out->find, db,
                              "SELECT id,data FROM segments NOT INDEXED"
                              " WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 1",
                              err);
}

/* Goes to the next part whose row is there: 1, or 0 when there is none. Whoever says
 * that there are billions must not keep us busy with looking for each of them. */
static int find_part(struct roast_segment_reader *reader, roast_error *err)
{
    roast_error why = {0};

    (void)sqlite3_reset(reader->find);
    (void)sqlite3_bind_int64(reader->find, 1, row_of(reader->segment, reader->next));
    (void)sqlite3_bind_int64(reader->find, 2,
                             row_of(reader->segment, reader->parts - 1));
    int got = roast__sql_step(reader->find, &why);
    if (got < 0 && why.code != ROAST_BAD_DATA)
        return roast_error_set(err, got, "%s", why.message);
    if (got < 0 && ++reader->unreadable < MOST_UNREADABLE)
        return 1; /* the page it is in; the next one may be in another */
    uint64_t found = reader->parts;
    if (got > 0)
        found = (uint64_t)(sqlite3_column_int64(reader->find, 0) -
                           row_of(reader->segment, 0));
    if (found < reader->next || found > reader->parts) /* rows out of order */
        found = reader->parts;
    reader->damaged += found - reader->next;
    reader->next = found;
    return found < reader->parts;
}

/* Whether the part that was found is whole. */
static bool read_part(struct roast_segment_reader *reader,
                      struct roast_segment_part *out)
{
    struct roast_str data = roast__sql_text(reader->find, 1);

    if (data.size_bytes > reader->left_bytes) {
        reader->damaged += reader->parts - reader->next - 1;
        reader->next = reader->parts - 1; /* no file holds more than it has bytes */
        return false;
    }
    reader->left_bytes -= data.size_bytes;
    return data.data &&
           roast__segment_decode(out, reader->segment, data, NULL) == ROAST_OK &&
           out->part == reader->next;
}

int roast__segment_next(struct roast_segment_reader *reader,
                        struct roast_segment_part *out, roast_error *err)
{
    while (reader->next < reader->parts) {
        int got = find_part(reader, err);
        if (got <= 0)
            return got;
        bool whole = read_part(reader, out);
        reader->next++;
        if (whole)
            return 1;
        reader->damaged++;
    }
    return 0;
}

void roast__segment_close(struct roast_segment_reader *reader)
{
    (void)sqlite3_finalize(reader->find);
    reader->find = NULL;
}
