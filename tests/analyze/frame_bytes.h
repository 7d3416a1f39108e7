/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_bytes.h - frames as they come from workers. */
#ifndef ROAST_TESTS_ANALYZE_FRAME_BYTES_H
#define ROAST_TESTS_ANALYZE_FRAME_BYTES_H

#include "frame_fill.h"

enum { FRAME_BYTES = 4096 };

/* Returns the size. */
static inline size_t encode_frame(char bytes[FRAME_BYTES], struct frame frame)
{
    static uint32_t next_sequence = 1000;
    unsigned char identity[ROAST_IDENTITY_BYTES], place[ROAST_PLACE_BYTES];
    struct roast_identity id = {
        .run_id = {1},
        .process_id = frame.process ? frame.process : 1,
        .sequence = frame.sequence ? frame.sequence : next_sequence++,
    };
    roast_record rec = {.kind = frame.kind ? frame.kind : ROAST_FRAME_CHUNK};

    roast_identity_pack(identity, &id);
    roast_record_set_str(&rec, ROAST_FIELD_identity,
                         str_from(identity, sizeof(identity)));
    if (rec.kind == ROAST_FRAME_BEGIN) {
        fill_begin(&rec, &frame, place);
    } else {
        roast_record_set_u64(&rec, ROAST_FIELD_status, frame.status ? frame.status : 1);
        roast_record_set_u64(&rec, ROAST_FIELD_pid,
                             frame.pid ? frame.pid : 100 + id.process_id);
        set_text(&rec, ROAST_FIELD_error_type, frame.error_type, NULL);
    }
    if (rec.kind == ROAST_FRAME_CHUNK)
        fill_chunk(&rec, &frame);
    if (rec.kind == ROAST_FRAME_END)
        fill_end(&rec, &frame);
    int64_t size = roast_record_encode(bytes, FRAME_BYTES, &rec, NULL);
    assert_true(size > 0);
    return (size_t)size;
}

#endif
