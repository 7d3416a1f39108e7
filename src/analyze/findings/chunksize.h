/* SPDX-License-Identifier: BSD-3-Clause */
/* chunksize.h - how long a run takes with another chunksize.
 *
 * A chunk costs a fixed time plus a time per event; both are fitted to the chunks of the
 * run. Files are split as coffea splits them; wall_time_model.h gives the wall time. */
#ifndef ROAST_ANALYZE_FINDINGS_CHUNKSIZE_H
#define ROAST_ANALYZE_FINDINGS_CHUNKSIZE_H

#include "analyze/record_iter.h"

/* Files of about one size. */
struct roast_file_sizes {
    double count;
    double events; /* mean per file */
};

/* Where the memory per event comes from. */
enum roast_memory_source {
    ROAST_MEMORY_ASSUMED,     /* the usual value */
    ROAST_MEMORY_UPPER_BOUND, /* all memory of a chunk / its events */
    ROAST_MEMORY_FITTED,      /* fitted to chunks of different sizes */
};

/* Zeroed = no model. */
struct roast_chunk_model {
    double chunks; /* with events; 0: there is no model */
    double events; /* in them */
    double per_chunk_s;
    double per_event_s;
    double per_border_s; /* between chunks of a file: what both of them read */
    double fixed_s;    /* of all chunks, independent of events: on a core or storage */
    double dispatch_s; /* thread-seconds from sending a chunk to its start */
    double spread;     /* standard deviation of a chunk's seconds / its seconds */
    double threads;    /* average over the run */
    double current_size; /* chunksize of the Runner, or events of the largest chunk */
    struct roast_file_sizes
        *sizes; /* owned; a file counts once per call of the Runner */
    size_t size_count;
    struct roast_file_sizes *merged_sizes; /* owned; with one file per dataset */
    size_t merged_count;
    double files;       /* distinct */
    double file_passes; /* each file once per call of the Runner */
    double datasets;
    double base_bytes; /* peak memory of a process without events; NaN: not known */
    double per_event_bytes;
    enum roast_memory_source memory_source;
    bool is_memory_short;      /* workers are near their limit already */
    double limit_bytes;        /* of a worker; NaN: none */
    double threads_per_worker; /* concurrent chunks of a process */
};

/* Fits the model; false when out of memory. Without a budget there is no model. The other
 * two functions fill parts of it. */
bool roast__chunk_model_fit(struct roast_chunk_model *model,
                            const struct roast_summary_context *ctx);
bool roast__chunk_model_fit_memory(struct roast_chunk_model *model,
                                   const struct roast_summary_context *ctx);
bool roast__chunk_model_find_files(struct roast_chunk_model *model,
                                   const struct roast_summary_context *ctx);
/* Per process: the end of its first chunk. Chunks that start before it also bring imports,
 * caches and first contact, which no chunksize changes. Returns owned; NULL when out of
 * memory. */
int64_t *roast__first_chunk_ends(const struct roast_summary_context *ctx);
/* Seconds of the reading of a chunk that other chunks did, too; 0: not known. Uses these
 * fields of its record. */
#define ROAST_FIELDS_READ_AGAIN \
    (ROAST_FIELDS_OF_READS | ROAST_FIELD_BIT(entry_start) | ROAST_FIELD_BIT(entry_stop))
double roast__read_again_s(const struct roast_record_iter *iter,
                           const struct roast_ladder *ladder,
                           struct roast_branch_list *list);

void roast__chunk_model_release(struct roast_chunk_model *model);

/* Thread-seconds of so many chunks, but for those of their events. */
double roast__chunk_model_fixed(const struct roast_chunk_model *model, double chunks);

/* With a chunksize: the number of chunks, the wall time, the memory of a worker (NaN: not
 * known), and whether that fits into its limit. */
double roast__chunk_model_chunks(const struct roast_chunk_model *model, double size);
double roast__chunk_model_wall(const struct roast_chunk_model *model, double size);
double roast__chunk_model_bytes(const struct roast_chunk_model *model, double size);
bool roast__chunk_model_fits(const struct roast_chunk_model *model, double size);

/* The round size with the shortest wall time that fits into memory; of sizes that are
 * almost as good, the one closest to the current size. */
double roast__chunk_model_best(const struct roast_chunk_model *model);

/* The model of the same events with one file per dataset. Borrows; do not release it. */
struct roast_chunk_model roast__chunk_model_merged(
    const struct roast_chunk_model *model);

/* The largest round number up to a value: one digit and zeros, or 15 or 25 and zeros. */
double roast__round_size(double value);

#endif
