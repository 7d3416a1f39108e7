/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_fill.h - frames as records: chunk, begin and end. */
#ifndef ROAST_TESTS_ANALYZE_FRAME_FILL_H
#define ROAST_TESTS_ANALYZE_FRAME_FILL_H

#include "frame.h"

static inline void fill_chunk(roast_record *rec, const struct frame *frame)
{
    set_text(rec, ROAST_FIELD_dataset, frame->dataset, "ttbar");
    set_text(rec, ROAST_FIELD_file, frame->file, "a.root");
    set_text(rec, ROAST_FIELD_treename, frame->tree, "Events");
    set_text(rec, ROAST_FIELD_uuid, frame->uuid, NULL);
    roast_record_set_u64(rec, ROAST_FIELD_entry_start, frame->first);
    roast_record_set_u64(rec, ROAST_FIELD_entry_stop, frame->stop);
    roast_record_set_i64(rec, ROAST_FIELD_start_mono_ns, NS(frame->start));
    roast_record_set_i64(rec, ROAST_FIELD_start_epoch_ns,
                         RUN_EPOCH_NS + NS(frame->start));
    set_seconds(rec, ROAST_FIELD_duration_ns, frame->duration);
    set_seconds(rec, ROAST_FIELD_cpu_ns, frame->cpu);
    set_seconds(rec, ROAST_FIELD_monitor_ns, frame->monitor);
    set_count(rec, ROAST_FIELD_num_events, frame->events);
    set_count(rec, ROAST_FIELD_concurrency, frame->concurrency);
    set_count(rec, ROAST_FIELD_rss_before_bytes, frame->before_mb << 20);
    set_count(rec, ROAST_FIELD_rss_after_bytes, frame->after_mb << 20);
    set_count(rec, ROAST_FIELD_rss_peak_bytes, frame->peak_mb << 20);
    set_count(rec, ROAST_FIELD_monitor_errors, frame->monitor_errors);
    if (frame->bytes_known) {
        roast_record_set_u64(rec, ROAST_FIELD_bytes_read, frame->bytes);
        roast_record_set_u64(rec, ROAST_FIELD_bytes_before, frame->bytes_before);
    }
    set_text(rec, ROAST_FIELD_host, frame->host, "here");
    set_text(rec, ROAST_FIELD_worker, frame->worker, NULL);
    set_text(rec, ROAST_FIELD_error_message, frame->error_message, NULL);
    set_text(rec, ROAST_FIELD_error_section, frame->error_section, NULL);
    roast_record_set_str(rec, ROAST_FIELD_sections, frame->sections);
    roast_record_set_str(rec, ROAST_FIELD_losses, frame->losses);
    roast_record_set_str(rec, ROAST_FIELD_absences, frame->absences);
    set_count(rec, ROAST_FIELD_undecorated, frame->undecorated);
    set_count(rec, ROAST_FIELD_first_chunk, frame->first_chunk);
    roast_record_set_str(rec, ROAST_FIELD_process, frame->process_facts);
    roast_record_set_str(rec, ROAST_FIELD_branches, frame->branches);
    roast_record_set_str(rec, ROAST_FIELD_endpoints, frame->endpoints);
    roast_record_set_str(rec, ROAST_FIELD_file_facts, frame->file_facts);
    roast_record_set_str(rec, ROAST_FIELD_file_branches, frame->file_branches);
}

static inline void fill_end(roast_record *rec, const struct frame *frame)
{
    roast_record_set_i64(rec, ROAST_FIELD_task_start_mono_ns, NS(frame->task_start));
    set_seconds(rec, ROAST_FIELD_task_ns, frame->task);
    set_seconds(rec, ROAST_FIELD_task_cpu_ns, frame->task_cpu);
    set_seconds(rec, ROAST_FIELD_task_process_cpu_ns, frame->process_cpu);
    set_count(rec, ROAST_FIELD_output_bytes, frame->output_bytes);
    roast_record_set_str(rec, ROAST_FIELD_ladder, frame->ladder);
    roast_record_set_i64(rec, ROAST_FIELD_end_epoch_ns,
                         RUN_EPOCH_NS + NS(frame->task_start + frame->task));
}

static inline void fill_begin(roast_record *rec, const struct frame *frame,
                              unsigned char place[ROAST_PLACE_BYTES])
{
    roast_record names = {0};

    set_text(&names, ROAST_FIELD_dataset, frame->dataset, "ttbar");
    set_text(&names, ROAST_FIELD_file, frame->file, "a.root");
    roast_record_set_u64(&names, ROAST_FIELD_entry_start, frame->first);
    roast_record_set_u64(&names, ROAST_FIELD_entry_stop, frame->stop);
    assert_true(roast_place_pack(place, &names));
    roast_record_set_str(rec, ROAST_FIELD_place, str_from(place, ROAST_PLACE_BYTES));
    roast_record_set_i64(rec, ROAST_FIELD_start_epoch_ns,
                         RUN_EPOCH_NS + NS(frame->start));
}

#endif
