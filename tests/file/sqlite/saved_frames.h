/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_frames.h - frames of attempts with all fields. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_FRAMES_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_FRAMES_H

#include "saved_blobs.h"

/* Position and status of a chunk. */
struct chunk_at {
    uint64_t process;
    uint32_t sequence;
    const char *file;
    uint64_t entry;
    int64_t second;
    uint64_t status;
};

static inline void add_chunk_frame(roast_run *run, const struct chunk_at *at)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, at->process, at->sequence);
    set_file(&record, "ttbar", at->file, at->entry, at->entry + 100);
    set_text(&record, ROAST_FIELD_treename, "Events");
    set_text(&record, ROAST_FIELD_host, at->process % 2 ? "here" : "far away");
    roast_record_set_u64(&record.rec, ROAST_FIELD_pid, 4000 + at->process);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, at->status);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_mono_ns,
                         MONO_0 + at->second * SECOND);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns,
                         EPOCH_0 + at->second * SECOND + 77);
    roast_record_set_u64(&record.rec, ROAST_FIELD_duration_ns, 900000000 + at->entry);
    roast_record_set_u64(&record.rec, ROAST_FIELD_cpu_ns, 800000000);
    roast_record_set_u64(&record.rec, ROAST_FIELD_num_events, 100);
    roast_record_set_u64(&record.rec, ROAST_FIELD_rss_before_bytes, 1 << 30);
    roast_record_set_u64(&record.rec, ROAST_FIELD_rss_after_bytes, (1 << 30) - 4096);
    roast_record_set_u64(&record.rec, ROAST_FIELD_bytes_read, 100000 + at->entry);
    roast_record_set_u64(&record.rec, ROAST_FIELD_thread, 4000 + at->process);
    roast_record_set_str(&record.rec, ROAST_FIELD_sections, some_sections());
    roast_record_set_str(&record.rec, ROAST_FIELD_branches, some_branches());
    if (at->status == ROAST_CHUNK_FAILED) {
        set_text(&record, ROAST_FIELD_error_type, "OSError");
        set_text(&record, ROAST_FIELD_error_message, "no such file");
    }
    add(run, &record);
}

static inline void add_end_frame(roast_run *run, const struct chunk_at *at,
                                 struct roast_str ladder)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_END, at->process, at->sequence);
    roast_record_set_u64(&record.rec, ROAST_FIELD_status, at->status);
    roast_record_set_i64(&record.rec, ROAST_FIELD_task_start_mono_ns,
                         MONO_0 + at->second * SECOND - 5000000);
    roast_record_set_u64(&record.rec, ROAST_FIELD_task_ns, 950000000 + at->entry);
    roast_record_set_u64(&record.rec, ROAST_FIELD_task_cpu_ns, 820000000);
    roast_record_set_u64(&record.rec, ROAST_FIELD_process_cpu_ns,
                         at->sequence * 900000);
    roast_record_set_i64(&record.rec, ROAST_FIELD_end_epoch_ns,
                         EPOCH_0 + (at->second + 1) * SECOND);
    roast_record_set_str(&record.rec, ROAST_FIELD_ladder, ladder);
    add(run, &record);
}

#endif
