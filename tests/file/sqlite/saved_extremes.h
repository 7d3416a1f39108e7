/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_extremes.h - frames at the limits of the format, and records made by users. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_EXTREMES_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_EXTREMES_H

#include "saved_frames.h"

/* Ladders that are not in canonical form. */
static const char *const UNUSUAL_LADDERS[] = {
    "\x63\x01",                                     /* an unknown item */
    "\x08\x05\x03\x07",                             /* in another order */
    "\x03\x81\x00",                                 /* not in its shortest form */
    "\x03",                                         /* cut */
    "\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* beyond 63 bits */
    "",                                             /* empty */
};

static inline void add_unusual_ladders(roast_run *run)
{
    for (size_t i = 0; i < COUNT_OF(UNUSUAL_LADDERS); i++) {
        struct chunk_at at = {30,      (uint32_t)i + 1, "odd.root",
                              i * 100, (int64_t)i + 60, ROAST_CHUNK_OK};
        size_t size = i == 2 ? 3 : strlen(UNUSUAL_LADDERS[i]);
        add_chunk_frame(run, &at);
        add_end_frame(run, &at, str_from(UNUSUAL_LADDERS[i], size));
    }
}

/* Numbers at their limits, and unusual names. */
static inline void add_extremes(roast_run *run)
{
    static const char nul[] = "a\0b";
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, UINT64_MAX, UINT32_MAX);
    for (int i = 0; i < ROAST_FIELD_COUNT; i++) {
        enum roast_field field = (enum roast_field)i;
        enum roast_field_type type = roast_field_info(field)->type;
        if (type == ROAST_TYPE_U64)
            roast_record_set_u64(&record.rec, field, UINT64_MAX);
        else if (type == ROAST_TYPE_TIME || type == ROAST_TYPE_I64)
            roast_record_set_i64(&record.rec, field, INT64_MIN);
    }
    roast_record_set_u64(&record.rec, ROAST_FIELD_entry_start, INT64_MAX);
    roast_record_set_str(&record.rec, ROAST_FIELD_dataset, str_from(nul, 3));
    set_text(&record, ROAST_FIELD_file, "\xff\xfe'; DROP TABLE run; --\n\x1b[2J");
    set_text(&record, ROAST_FIELD_worker, "");
    set_text(&record, ROAST_FIELD_error_type, "\xed\xa0\x80");
    add(run, &record);
    init_record(&record, ROAST_FRAME_BEGIN, UINT64_MAX, 0);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns, INT64_MAX);
    add(run, &record);
}

/* Records without identity, as made by users. */
static inline void add_handmade(roast_run *run)
{
    for (uint64_t i = 0; i < 3; i++) {
        struct test_record record;
        init_record(&record, ROAST_FRAME_CHUNK, 1, 1);
        record.rec.present = 0;
        roast_record_set_u64(&record.rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
        set_file(&record, "by hand", "hand.root", 10 * i, 10 * i + 10);
        set_text(&record, ROAST_FIELD_host, "somewhere");
        roast_record_set_str(&record.rec, ROAST_FIELD_ladder, some_ladder());
        assert_int_equal(add_from(run, &record.rec, ROAST_FROM_USER).kept, 1);
    }
}

#endif
