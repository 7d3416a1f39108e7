/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - the input of the functions that make tables, and these functions. */
#ifndef ROAST_ANALYZE_TABLES_JOB_H
#define ROAST_ANALYZE_TABLES_JOB_H

#include "analyze/budget/task_joins.h"
#include "analyze/summary.h"
#include "run/order.h"

/* Everything is borrowed. */
struct roast_table_job {
    enum roast_table_id table;
    roast_table *to;
    const struct roast_run *run; /* locked */
    const roast_summary *summary;
    const struct roast_table_parts *parts;   /* NULL: the table is one part */
    const struct roast_summary_context *ctx; /* of tables that need records */
    const struct roast_order *order;         /* of those by attempt */
};

/* Fill the table of a job. */
#define T(name, key, shape, maker, needs, text) \
    void roast__make_##maker(const struct roast_table_job *job);
#define S(name, key, shape, text)
#include "roast/tables.def"
#undef T
#undef S

/* Copies the columns that all tables per dataset, file, worker and host have, in the same
 * order; `first` is the column num_chunks. */
void roast__fill_group_from(roast_table *to, int first, const roast_table *from,
                            size_t row, int from_first);

/* The chunks that count in the order of their start, with their ids. */
struct roast_chunk_iter {
    const struct roast_table_job *job;
    size_t next;      /* in the order */
    uint64_t next_id; /* of the next record */
    uint32_t row;
    uint64_t chunk_id;
};

bool roast__chunk_iter_next(struct roast_chunk_iter *iter);

/* A text of the run. */
static inline struct roast_str roast__job_text(const struct roast_table_job *job,
                                               int32_t number)
{
    return roast__strings_get(&job->run->strings, number);
}

/* Fills dataset and file of a source; nothing if it is negative. */
void roast__put_dataset_file(const struct roast_table_job *job, int at_dataset,
                             int at_file, int32_t source);

/* Adds the scheduler's data on an attempt to the last row of the table `tasks`. */
void roast__put_task_of_attempt(const struct roast_table_job *job,
                                const struct roast_task_joins *joins, size_t attempt);

/* Adds a row to it for every task that was no attempt, in order of arrival. */
void roast__put_other_tasks(const struct roast_table_job *job,
                            const struct roast_task_joins *joins);

#endif
