/* SPDX-License-Identifier: BSD-3-Clause */
/* small_run.h - a small run with all kinds of data. */
#ifndef ROAST_TESTS_FUZZ_SMALL_RUN_H
#define ROAST_TESTS_FUZZ_SMALL_RUN_H

#include "record_checks.h"
#include "roast/analyze.h"
#include "roast/ladder.h"
#include "roast/run.h"

static inline void base_frame(roast_run *run, uint32_t sequence,
                              enum roast_frame_kind kind)
{
    roast_record rec = {.kind = kind};
    struct roast_identity id = {.run_id = {1}, .process_id = 7, .sequence = sequence};
    unsigned char identity[ROAST_IDENTITY_BYTES], frame[512];

    roast_identity_pack(identity, &id);
    roast_record_set_str(&rec, ROAST_FIELD_identity,
                         (struct roast_str){(const char *)identity, sizeof(identity)});
    roast_record_set_u64(&rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
    if (kind == ROAST_FRAME_CHUNK) {
        roast_record_set_str(&rec, ROAST_FIELD_dataset, roast_str_of("ttbar"));
        roast_record_set_str(&rec, ROAST_FIELD_file, roast_str_of("a.root"));
        roast_record_set_str(&rec, ROAST_FIELD_host, roast_str_of("here"));
        roast_record_set_u64(&rec, ROAST_FIELD_pid, 5);
        roast_record_set_u64(&rec, ROAST_FIELD_entry_start, sequence * 10);
        roast_record_set_u64(&rec, ROAST_FIELD_entry_stop, sequence * 10 + 10);
        roast_record_set_u64(&rec, ROAST_FIELD_duration_ns, 1000000000);
        roast_record_set_i64(&rec, ROAST_FIELD_start_mono_ns, sequence * 1000);
        roast_record_set_i64(&rec, ROAST_FIELD_start_epoch_ns, sequence * 1000 + 5);
        roast_record_set_u64(&rec, ROAST_FIELD_thread, 5);
    } else {
        roast_record_set_u64(&rec, ROAST_FIELD_task_ns, 1100000000);
        roast_record_set_str(&rec, ROAST_FIELD_ladder,
                             (struct roast_str){"\x63\x01\x08\x05", 4});
    }
    int64_t size = roast_record_encode(frame, sizeof(frame), &rec, NULL);
    PROMISE(size > 0);
    PROMISE(roast_run_add_frames(run,
                                 (struct roast_str){(const char *)frame, (size_t)size},
                                 ROAST_FROM_USER, NULL, NULL) == 0);
}

/* Returns owned. */
static inline roast_run *base_run(void)
{
    static const unsigned char id[ROAST_RUN_ID_BYTES] = {1};
    roast_run *run = NULL;

    PROMISE(roast_run_new(&run, 0, 0, NULL) == 0);
    PROMISE(roast_run_set_host(run, roast_str_of("here"), NULL) == 0);
    PROMISE(roast_run_accept(run, id, NULL) == 0);
    PROMISE(roast_run_add_name(run, roast_str_of("b.root"), NULL) == 0);
    for (uint32_t i = 1; i < 4; i++) {
        base_frame(run, i, ROAST_FRAME_CHUNK);
        base_frame(run, i, ROAST_FRAME_END);
        roast_sample sample = {.worker = roast_str_of(i == 3 ? "two" : "one"),
                               .time_ns = i * 1000000};
        roast_sample_set(&sample, ROAST_SERIES_memory, 1e9 + i);
        PROMISE(roast_run_add_sample(run, &sample, NULL) == 0);
        PROMISE(roast_run_offer(run, i * 100, i, i, NULL) == 0);
        PROMISE(roast_run_add_count(run, i * 100, i, NULL) == 0);
        PROMISE(roast_run_mark(run, (enum roast_mark)i, i * 100, NULL) == 0);
    }
    roast_run_finish(run, 2000000000);
    return run;
}

#endif
