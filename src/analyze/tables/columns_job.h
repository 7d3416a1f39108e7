/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_job.h - what tables are made from, and the functions that make them. */
#ifndef ROAST_ANALYZE_TABLES_COLUMNS_JOB_H
#define ROAST_ANALYZE_TABLES_COLUMNS_JOB_H

#include "analyze/summary.h"
#include "analyze/tables/columns.h"
#include "run/order.h"

/* Borrows all it holds. */
struct roast_columns_job {
    enum roast_columns_table table;
    struct roast_builder *to;
    const struct roast_run *run; /* locked */
    const roast_summary *summary;
    const struct roast_study *study; /* of tables that need records */
    const struct roast_order *order; /* of those by attempt */
};

/* From records and samples. */
void roast__columns_chunks(const struct roast_columns_job *job);
void roast__columns_tasks(const struct roast_columns_job *job);
void roast__columns_sections(const struct roast_columns_job *job);
void roast__columns_chunk_sections(const struct roast_columns_job *job);
void roast__columns_branches(const struct roast_columns_job *job);
void roast__columns_chunk_branches(const struct roast_columns_job *job);
void roast__columns_timeline(const struct roast_columns_job *job);
void roast__columns_samples(const struct roast_columns_job *job);

/* From tables of the summary: those that table_columns.def names. */
void roast__columns_summarized(const struct roast_columns_job *job);
/* `workers`, with what a scheduler told of them. */
void roast__columns_workers(const struct roast_columns_job *job);
void roast__columns_metrics(const struct roast_columns_job *job);
void roast__columns_losses(const struct roast_columns_job *job);

/* The same with more in every row: `more` is told the key of the last one. */
void roast__columns_summarized_with(const struct roast_columns_job *job,
                                    void (*more)(void *context, struct roast_str key),
                                    void *context);

/* From what a scheduler told. */
void roast__columns_activities(const struct roast_columns_job *job);
void roast__columns_hot_lines(const struct roast_columns_job *job);

/* From notes. */
void roast__columns_notes(const struct roast_columns_job *job);

/* The chunks that count in the order of their start, with their ids. */
struct roast_chunk_walk {
    const struct roast_columns_job *job;
    size_t next;      /* in the order */
    uint64_t next_id; /* of the next record */
    uint32_t row;
    uint64_t chunk_id;
};

bool roast__chunk_walk_next(struct roast_chunk_walk *walk);

/* Dataset and file of sources: numbers of `key_of`, which counts rows without source
 * as item 0. */
struct roast_keys;
bool roast__join_dataset_files(struct roast_keys *keys,
                               const struct roast_study *study);
void roast__put_dataset_file(const struct roast_columns_job *job, int at_dataset,
                             int at_file, int32_t source);

#endif
