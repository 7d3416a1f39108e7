/* SPDX-License-Identifier: BSD-3-Clause */
/* chunksize.h - how long a run takes with chunks of another size.
 *
 * A chunk costs a fixed time plus a time per event; both are fitted to the chunks of the
 * run. Files are cut as coffea cuts them; wall_time_model.h gives the wall time. */
#ifndef ROAST_ANALYZE_FINDINGS_CHUNKSIZE_H
#define ROAST_ANALYZE_FINDINGS_CHUNKSIZE_H

#include "analyze/summary.h"

/* Files of about one size. */
struct roast_file_sizes {
    double count;
    double events; /* of each, on average */
};

/* How the memory of an event is known. */
enum roast_memory_known {
    ROAST_MEMORY_GUESSED, /* the usual value */
    ROAST_MEMORY_AT_MOST, /* all memory of a chunk / its events */
    ROAST_MEMORY_FITTED,  /* fitted to chunks of different sizes */
};

/* Zeroed = no model. */
struct roast_chunk_model {
    double chunks; /* with events; 0: there is no model */
    double events; /* in them */
    double per_chunk_s;
    double per_event_s;
    double dispatch_s; /* of threads, until chunks that were sent started */
    double spread;     /* standard deviation of a chunk's seconds / its seconds */
    double threads;    /* that there were, on average */
    double now_events; /* chunksize of the Runner, else events of the largest chunk */
    struct roast_file_sizes *sizes; /* owned; a file counts once per call of it */
    size_t size_count;
    struct roast_file_sizes *whole; /* owned; the same of datasets in one file each */
    size_t whole_count;
    double files;  /* different ones */
    double opened; /* files, each as often as calls went over it */
    double datasets;
    double base_bytes; /* of a process at its highest, without events; NaN: not known */
    double per_event_bytes;
    enum roast_memory_known memory_known; /* how the two are known */
    bool is_memory_short;                 /* workers are near their limit already */
    double limit_bytes;                   /* of a worker; NaN: there is none */
    double threads_per_worker;            /* chunks that a process holds at once */
};

/* Fits the model; false when out of memory. Without a budget there is none. The other
 * two fill parts of it. */
bool roast__chunk_model_fit(struct roast_chunk_model *model,
                            const struct roast_summary_context *ctx);
bool roast__chunk_model_fit_memory(struct roast_chunk_model *model,
                                   const struct roast_summary_context *ctx);
bool roast__chunk_model_find_files(struct roast_chunk_model *model,
                                   const struct roast_summary_context *ctx);
void roast__chunk_model_release(struct roast_chunk_model *model);

/* Number of chunks of a size, their wall time, the memory of a worker meanwhile (NaN:
 * not known), and whether a worker has that much. */
double roast__chunk_model_chunks(const struct roast_chunk_model *model, double size);
double roast__chunk_model_wall(const struct roast_chunk_model *model, double size);
double roast__chunk_model_bytes(const struct roast_chunk_model *model, double size);
bool roast__chunk_model_fits(const struct roast_chunk_model *model, double size);

/* The friendly size with the shortest wall time that fits into memory. Of sizes that are
 * almost as good, the one nearest to now. */
double roast__chunk_model_best(const struct roast_chunk_model *model);

/* The model of the same events in one file per dataset. Borrows, and is not released. */
struct roast_chunk_model roast__chunk_model_merged(
    const struct roast_chunk_model *model);

/* The largest number of one digit and zeros, or 15 and 25 and zeros, up to a value. */
double roast__friendly(double value);

#endif
