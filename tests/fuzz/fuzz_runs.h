/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_runs.h - reads everything in a run. */
#ifndef ROAST_TESTS_FUZZ_FUZZ_RUNS_H
#define ROAST_TESTS_FUZZ_FUZZ_RUNS_H

#include "record_checks.h"
#include "roast/export.h"

static inline void read_tables(roast_run *run, const roast_summary *summary)
{
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        roast_table *columns = NULL;
        if (roast_run_table(&columns, (enum roast_table_id)i, run, summary, NULL) == 0)
            PROMISE(roast_table_width(columns) > 0);
        roast_table_free(columns);
    }
}

/* Every returned record can be decoded. */
static inline void read_chunks(roast_run *run)
{
    struct roast_chunk_list list;

    if (roast_run_chunks(run, &list, NULL) < 0)
        return;
    for (size_t i = 0; i < list.count; i++) {
        roast_record rec;
        size_t used = 0;
        struct roast_str frame = {(const char *)list.frames + list.items[i].offset,
                                  list.items[i].size_bytes};
        PROMISE(roast_record_decode(&rec, &used, frame, NULL) == 0);
        PROMISE(used == frame.size_bytes);
    }
    roast_chunk_list_release(&list);
}

static inline void count_bytes(void *context, const void *bytes, size_t size_bytes)
{
    (void)bytes;
    *(size_t *)context += size_bytes;
}

static inline void export_nameless(roast_run *run)
{
    size_t size_bytes = 0;
    const struct roast_export_options options = {
        .put = count_bytes, .context = &size_bytes, .by_worker = true, .by_file = true};
    roast_run *copy = NULL;

    if (roast_run_anonymise(&copy, run, NULL) == 0 &&
        roast_export(copy, NULL, ROAST_EXPORT_OPENMETRICS, &options, NULL) == 0)
        PROMISE(size_bytes > 0);
    roast_run_free(copy);
}

static inline void read_whole_run(roast_run *run)
{
    struct roast_tracking tracking;
    struct roast_progress progress;
    roast_summary *summary = NULL;

    roast_run_progress(run, &progress);
    if (roast_summarize(&summary, run, NULL) == 0)
        read_tables(run, summary);
    roast_summary_free(summary);
    read_chunks(run);
    export_nameless(run);
    if (roast_run_tracking(run, &tracking, NULL) == 0)
        roast_tracking_release(&tracking);
}

#endif
