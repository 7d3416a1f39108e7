/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.h - values from records that several formulas need. */
#ifndef ROAST_ANALYZE_RECORDED_H
#define ROAST_ANALYZE_RECORDED_H

#include "analyze/summary.h"

/* Whether a row counts for its chunk. */
static inline bool roast__is_chunk(const struct roast_summary_context *ctx, size_t row)
{
    unsigned role = ctx->totals->roles.of_row[row];

    return role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE;
}

/* Sums over all chunks; NaN: not known for all of them. The events of a chunk without a
 * record are its entries. */
double roast__recorded_events(const struct roast_group *all);
double roast__recorded_bytes(const struct roast_group *all);

/* Seconds of whole successful attempts; NaN: not known for all of them. */
double roast__recorded_task_seconds(const struct roast_summary_context *ctx);

/* Whether a process that ran attempts is the client; false where its memory was not
 * sampled. */
bool roast__is_client_process(const struct roast_run *run,
                              const struct roast_worker_process *process);

/* Results by host, because a check reads all rows. Zeroed = empty and valid. */
enum { ROAST_HOSTS_SEEN = 50 };

struct roast_hosts_seen {
    struct {
        int32_t name;
        bool slow;
    } items[ROAST_HOSTS_SEEN];
    size_t count;
};

/* Whether chunks took much longer per event on a host than on all others. */
bool roast__is_slow_host(struct roast_hosts_seen *seen,
                         const struct roast_summary_context *ctx, int32_t host);

/* Fills four columns with the dataset, the file and the entries of an attempt's chunk. */
void roast__fill_chunk(roast_table *table, int first_col,
                       const struct roast_summary_context *ctx, size_t row);

/* Adds "ttbar a.root 0-100" to a list; without entries "ttbar a.root". */
void roast__list_add_chunk(struct roast_buf *list, struct roast_str dataset,
                           struct roast_str file, const int64_t *entries);

/* Fills a column with the key of a process in the table per worker. */
void roast__fill_worker(roast_table *table, int col,
                        const struct roast_summary_context *ctx, size_t process);

#endif
