/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_runs.h - runs to save, with all kinds of data that a run can have. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_RUNS_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_RUNS_H

#include <stdio.h>

#include "analyze/blobs.h"
#include "file/run_changes.h"
#include "run/runs.h"

static inline struct roast_str some_sections(void)
{
    struct roast_section all[] = {
        {.name = {"jets", 4}, .parent = -1, .kinds = 1, .count = 2, .total_ns = 300},
        {.name = {"pt", 2},
         .parent = 0,
         .depth = 1,
         .kinds = 3,
         .count = 1,
         .total_ns = 100,
         .memory_delta_bytes = -4096},
    };
    static char room[BLOB_BYTES];

    return blob_of(room, roast_sections_write(room, BLOB_BYTES, all, 2, NULL));
}

static inline struct roast_str some_branches(void)
{
    struct roast_branch all[] = {
        {.name = {"Jet_pt", 6},
         .flags = ROAST_BRANCH_DATA,
         .reads = 1,
         .bytes = 100,
         .ns = 5000,
         .sizes_known = true,
         .file_bytes = 700},
        {.name = {"nJet", 4}, .flags = ROAST_BRANCH_OFFSETS, .reads = 1, .bytes = 10},
    };
    static char room[BLOB_BYTES];

    return blob_of(room, roast_branches_write(room, BLOB_BYTES, all, 2, NULL));
}

static inline struct roast_str some_ladder(void)
{
    static char room[BLOB_BYTES];
    struct roast_ladder ladder = {0};

    for (int i = 0; i < ROAST_ITEM_COUNT; i++)
        roast_ladder_set(&ladder, (enum roast_ladder_item)i, (uint64_t)(i * i * 1000));
    return blob_of(room, roast_ladder_write(room, BLOB_BYTES, &ladder, NULL));
}

/* Where a chunk was, and what became of it. */
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

/* Ladders that cells of a table cannot give back. */
static const char *const UNUSUAL_LADDERS[] = {
    "\x63\x01",                                     /* an item that nobody knows yet */
    "\x08\x05\x03\x07",                             /* in another order */
    "\x03\x81\x00",                                 /* not in its shortest form */
    "\x03",                                         /* cut */
    "\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* beyond 63 bits */
    "",                                             /* none at all */
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

/* Numbers at their limits, and names that no file has. */
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

/* Records without identity, as users hand them over. */
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

static inline void add_many_samples(roast_run *run, int workers, int moments)
{
    for (int w = 0; w < workers; w++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "tcp://host:%d", w);
        for (int i = 0; i < moments; i++) {
            roast_sample sample = {.worker = roast_str_of(name),
                                   .time_ns = EPOCH_0 + i * SECOND + w * 1000};
            roast_sample_set(&sample, ROAST_SERIES_memory, 1e9 + (i * 37 % 11) * 4096);
            if (i % 3 == 0)
                roast_sample_set(&sample, ROAST_SERIES_cpu, 50 + i % 50);
            roast_sample_set(&sample, ROAST_SERIES_cores, 4);
            assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
        }
    }
}

static inline void add_notes(roast_run *run)
{
    set_note(run, ROAST_NOTES_run, "id", "0123456789abcdef0123456789abcdef");
    set_note(run, ROAST_NOTES_run, "processor", "MyProcessor");
    set_note(run, ROAST_NOTES_run, "executor", "Futures, 4 workers");
    set_note(run, ROAST_NOTES_label, "site", "T2");
    set_note(run, ROAST_NOTES_label, "user", "me");
    set_note(run, ROAST_NOTES_provenance, "coffea", "2026.1");
    set_note(run, ROAST_NOTES_document, "fileset", "{\"ttbar\": [\"one.root\"]}");
}

/* Whole attempts on some workers, a retried and a lost one among them. */
static inline void add_attempts(roast_run *run, size_t count)
{
    struct roast_str ladder = some_ladder();

    for (size_t i = 0; i < count; i++) {
        struct chunk_at at = {.process = 10 + i % 5,
                              .sequence = (uint32_t)(i / 5 + 1),
                              .file = i % 3 ? "root://host//one.root" : "two.root",
                              .entry = i * 100,
                              .second = (int64_t)(1 + i / 5),
                              .status =
                                  i % 7 == 3 ? ROAST_CHUNK_FAILED : ROAST_CHUNK_OK};
        add_chunk_frame(run, &at);
        add_end_frame(run, &at, ladder);
    }
    add_chunk_frame(run, &(struct chunk_at){20, 1, "root://host//one.root", 1000, 90,
                                            ROAST_CHUNK_OK}); /* again, and well */
}

static inline void add_lost(roast_run *run)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_BEGIN, 11, 999);
    roast_record_set_i64(&record.rec, ROAST_FIELD_start_epoch_ns,
                         EPOCH_0 + 50 * SECOND);
    set_place(&record, "ttbar", "two.root", 777, 888);
    add(run, &record);
}

/* Some of everything, and over. */
static inline roast_run *rich_run(void)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_host(run, roast_str_of("here"), NULL), ROAST_OK);
    make_changes(run);
    make_task_changes(run);
    add_notes(run);
    add_attempts(run, 40);
    add_lost(run);
    add_unusual_ladders(run);
    add_extremes(run);
    add_handmade(run);
    add_many_samples(run, 3, 50);
    roast_run_finish(run, MONO_0 + 100 * SECOND);
    return run;
}

/* What a user has: a few chunks that went well. */
static inline roast_run *plain_run(size_t chunks)
{
    roast_run *run = new_run();

    add_notes(run);
    assert_int_equal(roast_run_offer(run, EPOCH_0, 4, 8, NULL), ROAST_OK);
    add_attempts(run, chunks);
    add_many_samples(run, 2, 20);
    roast_run_finish(run, MONO_0 + 100 * SECOND);
    return run;
}

#endif
