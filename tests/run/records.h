/* SPDX-License-Identifier: BSD-3-Clause */
/* records.h - test records made in one line. */
#ifndef ROAST_TESTS_RUN_RECORDS_H
#define ROAST_TESTS_RUN_RECORDS_H

#include "frames.h"
#include "run/run.h"

static const unsigned char RUN_ID[ROAST_RUN_ID_BYTES] = "the run of tests";

/* A record and the memory that it borrows; not to be copied once filled. */
struct test_record {
    roast_record rec;
    unsigned char identity[ROAST_IDENTITY_BYTES];
    unsigned char place[ROAST_PLACE_BYTES];
};

static inline void identify(struct test_record *record, const unsigned char *run_id,
                            uint64_t process, uint32_t sequence)
{
    struct roast_identity id = {.process_id = process, .sequence = sequence};

    memcpy(id.run_id, run_id, sizeof(id.run_id));
    roast_identity_pack(record->identity, &id);
    roast_record_set_str(&record->rec, ROAST_FIELD_identity,
                         str_from(record->identity, sizeof(record->identity)));
}

static inline void init_record(struct test_record *record, enum roast_frame_kind kind,
                               uint64_t process, uint32_t sequence)
{
    memset(record, 0, sizeof(*record));
    record->rec.kind = kind;
    identify(record, RUN_ID, process, sequence);
}

static inline void set_text(struct test_record *record, enum roast_field field,
                            const char *text)
{
    roast_record_set_str(&record->rec, field, roast_str_of(text));
}

/* Sets file and entries as texts and numbers. */
static inline void set_file(struct test_record *record, const char *dataset,
                            const char *file, uint64_t start, uint64_t stop)
{
    set_text(record, ROAST_FIELD_dataset, dataset);
    set_text(record, ROAST_FIELD_file, file);
    roast_record_set_u64(&record->rec, ROAST_FIELD_entry_start, start);
    roast_record_set_u64(&record->rec, ROAST_FIELD_entry_stop, stop);
}

/* The same as a place, as in begin and end frames. */
static inline void set_place(struct test_record *record, const char *dataset,
                             const char *file, uint64_t start, uint64_t stop)
{
    struct test_record names = {.rec = {.kind = ROAST_FRAME_CHUNK}};

    set_file(&names, dataset, file, start, stop);
    assert_true(roast_place_pack(record->place, &names.rec));
    roast_record_set_str(&record->rec, ROAST_FIELD_place,
                         str_from(record->place, sizeof(record->place)));
}

static inline void append_frame(struct roast_buf *out, const roast_record *rec)
{
    size_t bound = roast_record_bound(rec);

    roast__buf_reserve(out, bound);
    assert_true(roast__buf_ok(out));
    int64_t size = roast_record_encode(out->data + out->size_bytes, bound, rec, NULL);
    assert_true(size > 0);
    out->size_bytes += (size_t)size;
}

#endif
