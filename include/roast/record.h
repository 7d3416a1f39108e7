/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h - the chunk record: records in memory, frames on the wire.
 *
 * A frame is one record as bytes: it travels in the output of a chunk, through a spool
 * file or as an event, and is the only data exchanged between programs. docs/format.md
 * specifies it for independent readers. Three kinds share one layout:
 *
 *     begin   64 bytes     who starts what, and when
 *     chunk   a few 100 B  everything known when process() returns
 *     end     <= 256 B     how the attempt ended
 *
 * A record borrows: texts and blobs point into the frame it was decoded from, or into
 * memory of the code that set them. Decoding checks every length before use, checks the
 * CRC, skips unknown fields and never allocates. */
#ifndef ROAST_RECORD_H
#define ROAST_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast/error.h"
#include "roast/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum roast_frame_kind {
    ROAST_FRAME_BEGIN = 1,
    ROAST_FRAME_CHUNK = 2,
    ROAST_FRAME_END = 3,
};

enum roast_chunk_status { ROAST_CHUNK_OK = 1, ROAST_CHUNK_FAILED = 2 };
enum roast_peak_kind { ROAST_PEAK_EXACT = 1, ROAST_PEAK_SAMPLED = 2 };

enum {
    ROAST_FORMAT_VERSION = 1,
    ROAST_FRAME_MAGIC = 0xcf,         /* the first byte of a frame */
    ROAST_FRAME_MAX_BYTES = 16 << 20, /* a larger one in a spool is damaged */
    ROAST_FRAME_OVERHEAD_BYTES = 12,  /* largest size of header and checksum together */
    ROAST_BEGIN_MAX_BYTES = 64,
    ROAST_END_MAX_BYTES = 256,
    ROAST_IDENTITY_BYTES = 28,
    ROAST_PLACE_BYTES = 16,
    ROAST_RUN_ID_BYTES = 16,
};

enum roast_field_type {
    ROAST_TYPE_U64,
    ROAST_TYPE_I64,
    ROAST_TYPE_TIME,
    ROAST_TYPE_TEXT,
    ROAST_TYPE_BLOB,
};

/* Field indices: position in record_fields.def, not the number on the wire. */
enum roast_field {
#define F(number, name, type, unit, text) ROAST_FIELD_##name,
#include "roast/record_fields.def"
#undef F
    ROAST_FIELD_COUNT
};

enum roast_loss {
#define L(number, name, text) ROAST_LOSS_##name = (number),
#include "roast/losses.def"
#undef L
    ROAST_LOSS_END /* one past the highest */
};

enum roast_reason {
#define R(number, name, text) ROAST_WHY_##name = (number),
#include "roast/reasons.def"
#undef R
    ROAST_WHY_END
};

/* One row of record_fields.def, for code that works on any field. */
struct roast_field_info {
    unsigned number;
    enum roast_field_type type;
    const char *name;
    const char *unit;
    const char *text;
};

/* The row of a field. Borrows static memory. */
const struct roast_field_info *roast_field_info(enum roast_field field);

const char *roast_loss_name(unsigned loss);     /* NULL if unknown */
const char *roast_loss_text(unsigned loss);     /* NULL if unknown */
const char *roast_reason_text(unsigned reason); /* NULL if unknown */

/* ---- records ---------------------------------------------------------------- */

union roast_field_value {
    uint64_t u64;
    int64_t i64;
    struct roast_str str;
};

/* Zeroed = a record with every field absent. `present` has bit n set when values[n]
 * holds something; use the functions below rather than the bits. */
typedef struct roast_record {
    enum roast_frame_kind kind;
    uint64_t present;
    union roast_field_value values[ROAST_FIELD_COUNT];
} roast_record;

static inline bool roast_record_has(const roast_record *rec, enum roast_field field)
{
    return (rec->present >> field) & 1;
}

static inline void roast_record_set_u64(roast_record *rec, enum roast_field field,
                                        uint64_t value)
{
    rec->values[field].u64 = value;
    rec->present |= UINT64_C(1) << field;
}

/* For I64 and TIME fields. */
static inline void roast_record_set_i64(roast_record *rec, enum roast_field field,
                                        int64_t value)
{
    rec->values[field].i64 = value;
    rec->present |= UINT64_C(1) << field;
}

/* For TEXT and BLOB fields. Borrows str until the record is encoded or dropped; an
 * absent str leaves the field absent. */
static inline void roast_record_set_str(roast_record *rec, enum roast_field field,
                                        struct roast_str str)
{
    if (!str.data)
        return;
    rec->values[field].str = str;
    rec->present |= UINT64_C(1) << field;
}

/* Writes rec as one frame to out. Returns the size in bytes, or ROAST_LIMIT when it
 * needs more than out_bytes (nothing useful is in out then). roast_record_bound() is
 * always enough. Fields are written in the order of the list. */
int64_t roast_record_encode(void *out, size_t out_bytes, const roast_record *rec,
                            roast_error *err);

/* An upper bound of the size of the frame of rec. */
size_t roast_record_bound(const roast_record *rec);

/* Reads the frame at the start of data. *used_bytes (NULL allowed) gets its size, so
 * frames can follow one another. rec borrows data. Fails with TRUNCATED, BAD_DATA,
 * BAD_CHECKSUM or NEWER_FORMAT, and then rec is empty. */
int roast_record_decode(roast_record *rec, size_t *used_bytes, struct roast_str data,
                        roast_error *err);

/* ---- identity --------------------------------------------------------------- */

struct roast_identity {
    unsigned char run_id[ROAST_RUN_ID_BYTES]; /* all zero: no run claimed the chunk */
    uint64_t process_id; /* random; a forked child gets another one */
    uint32_t sequence;   /* 1, 2, 3 ... within the process */
};

void roast_identity_pack(unsigned char out[ROAST_IDENTITY_BYTES],
                         const struct roast_identity *id);
int roast_identity_unpack(struct roast_identity *id, struct roast_str blob,
                          roast_error *err);

/* The 32-bit id of a dataset or file name in a begin frame. */
uint32_t roast_name_id(struct roast_str name);

/* Names and entries as a begin frame holds them. False, and nothing written, when the
 * entries do not fit in 32 bits. */
bool roast_place_pack(unsigned char out[ROAST_PLACE_BYTES], const roast_record *rec);

/* ---- sections --------------------------------------------------------------- */

/* The most that a record holds. */
enum { ROAST_SECTION_MAX_NODES = 256, ROAST_SECTION_MAX_INTERVALS = 256 };

/* What a section measures; a node may hold several. */
enum roast_section_kind {
    ROAST_SECTION_TIME = 1,   /* track_time, track_section */
    ROAST_SECTION_MEMORY = 2, /* track_memory */
    ROAST_SECTION_BYTES = 4,  /* track_bytes */
    ROAST_SECTION_CALL = 8,   /* a decorated process() inside another one */
    ROAST_SECTION_PEAK = 16, /* with MEMORY, where memory is sampled while it is open */
};

/* One (parent, name) of a chunk. Parents come before their children. */
struct roast_section {
    struct roast_str name;
    int32_t parent; /* index of the parent; -1 = process() itself */
    unsigned depth; /* 0 for children of process() */
    unsigned kinds; /* roast_section_kind bits */
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns; /* total_ns without direct subsections; set when read */
    uint64_t memory_start_bytes; /* of the first pass; with MEMORY */
    uint64_t memory_end_bytes;   /* of the last pass */
    int64_t memory_delta_bytes;  /* summed over all passes */
    uint64_t memory_peak_bytes;  /* highest of all passes; with PEAK */
    uint64_t bytes;              /* with BYTES */
};

/* Reads a `sections` blob. Returns the number of sections, at most max of which are in
 * out, or a negative status. Names borrow blob. */
int64_t roast_sections_read(struct roast_section *out, size_t max,
                            struct roast_str blob, roast_error *err);

/* Writes a `sections` blob to out. Returns its size; ROAST_LIMIT when it needs more than
 * out_bytes. ROAST_SECTION_BOUND_BYTES + its name is enough for each section. */
enum { ROAST_SECTION_BOUND_BYTES = 100 };
int64_t roast_sections_write(void *out, size_t out_bytes,
                             const struct roast_section *all, size_t count,
                             roast_error *err);

struct roast_interval {
    uint32_t section;
    uint64_t start_ns; /* since the start of process() */
    uint64_t duration_ns;
};

/* Reads an `intervals` blob, like roast_sections_read(). */
int64_t roast_intervals_read(struct roast_interval *out, size_t max,
                             struct roast_str blob, roast_error *err);

/* A (number, value) pair of a `losses` or `absences` blob. */
struct roast_pair {
    uint64_t key;
    uint64_t value;
};

/* Takes the next pair off the front of blob: 1 got one, 0 end, < 0 error. */
int roast_pair_next(struct roast_pair *pair, struct roast_str *blob, roast_error *err);

#ifdef __cplusplus
}
#endif

#endif
