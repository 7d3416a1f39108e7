/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.h - packed bytes in a run file, in parts that each have a checksum.
 *
 *     4 bytes   CRC-32C of all bytes behind it
 *     byte      encoding, 1
 *     byte      number of the segment (segments.def)
 *     2 bytes   0
 *     4 bytes   number of the part, from 0
 *     4 bytes   items in it
 *     content   items one behind the other, as the segment packs them
 *
 * Fixed numbers are little endian. An item is never cut. */
#ifndef ROAST_FILE_SQLITE_SEGMENT_H
#define ROAST_FILE_SQLITE_SEGMENT_H

#include "base/buf.h"
#include "file/sqlite/sql.h"

enum roast_segment {
#define G(number, name, text) ROAST_SEGMENT_##name = (number),
#include "file/sqlite/segments.def"
#undef G
    ROAST_SEGMENT_END
};

enum { ROAST_SEGMENT_HEAD_BYTES = 16, ROAST_SEGMENT_PART_BYTES = 1 << 20 };

const char *roast__segment_name(enum roast_segment segment);

/* ---- writing ----------------------------------------------------------------------- */

struct roast_segment_writer {
    sqlite3_stmt *insert; /* owned */
    enum roast_segment segment;
    uint32_t part;
    uint32_t items;        /* of this part; 0: it is new */
    struct roast_buf data; /* append an item, then call roast__segment_item() */
};

int roast__segment_begin(struct roast_segment_writer *out, sqlite3 *db,
                         enum roast_segment segment, roast_error *err);

/* One item is whole; a part that is full is written. */
int roast__segment_item(struct roast_segment_writer *writer, roast_error *err);

/* Writes the last part, which may be empty, and how many there are. */
int roast__segment_finish(struct roast_segment_writer *writer, roast_error *err);
void roast__segment_release(struct roast_segment_writer *writer);

/* ---- reading ----------------------------------------------------------------------- */

struct roast_segment_part {
    uint32_t part;
    uint32_t items;           /* at most one per byte */
    struct roast_str content; /* borrowed */
};

/* Checks the bytes of a part; BAD_DATA, BAD_CHECKSUM, NEWER_FORMAT, TRUNCATED. */
int roast__segment_decode(struct roast_segment_part *out, enum roast_segment segment,
                          struct roast_str data, roast_error *err);

struct roast_segment_reader {
    sqlite3_stmt *find; /* owned */
    enum roast_segment segment;
    uint64_t parts; /* that the file says it has */
    uint64_t next;
    uint64_t damaged;    /* parts that are missing or could not be read */
    uint64_t unreadable; /* of them, in pages that SQLite cannot read */
    uint64_t left_bytes; /* of the file; parts may be made to share pages */
};

int roast__segment_open(struct roast_segment_reader *out, sqlite3 *db,
                        enum roast_segment segment, roast_error *err);

/* 1: the next part that can be read, borrowed until the next call; 0: no more. */
int roast__segment_next(struct roast_segment_reader *reader,
                        struct roast_segment_part *out, roast_error *err);
void roast__segment_close(struct roast_segment_reader *reader);

#endif
