/* SPDX-License-Identifier: BSD-3-Clause */
/* analyze.h - what a run means: every formula, once.
 *
 * roast_summarize() reads a run and gives a summary: single metrics (metric_defs.def)
 * and tables (tables.def). A value that cannot be computed is absent, with the reason.
 * The summary owns all its values and does not change while the run continues. */
#ifndef ROAST_ANALYZE_H
#define ROAST_ANALYZE_H

#include "roast/run.h"
#include "roast/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum roast_metric {
#define M(id, level, unit, count, kind, formula, need, otherwise) ROAST_METRIC_##id,
#include "roast/metric_defs.def"
#undef M
    ROAST_METRIC_COUNT
};

/* How well a value is known, the best first. */
enum roast_metric_kind {
    ROAST_EXACT,     /* counted, or measured by clocks and counters */
    ROAST_SAMPLED,   /* from samples of workers */
    ROAST_ESTIMATED, /* based on an assumption */
};

const char *roast_metric_kind_name(enum roast_metric_kind kind); /* "exact" ... */

struct roast_metric_info {
    const char *name;
    const char *level; /* workflow, workers, chunks, inside, fine, system, efficiency */
    const char *unit;
    bool is_count;               /* shown and given as an integer */
    enum roast_metric_kind kind; /* at best: see roast_metric_kind() */
    const char *formula;
};

/* The row of a metric. Borrows static memory. */
const struct roast_metric_info *roast_metric_info(enum roast_metric metric);

/* Other names of metrics; other value = value / per. `per` is 1 unless the units
 * differ. */
struct roast_metric_alias {
    const char *alias;
    enum roast_metric metric;
    double per;
};

const struct roast_metric_alias *roast_metric_aliases(size_t *count);

/* The value of every metric, wherever it came from. */
struct roast_metric_values {
    bool known[ROAST_METRIC_COUNT];
    double value[ROAST_METRIC_COUNT];
    const char *why[ROAST_METRIC_COUNT];    /* static text; NULL when known */
    unsigned char kind[ROAST_METRIC_COUNT]; /* of its inputs */
};

/* The kind of a value: that of the metric, or of its source where that is worse. */
enum roast_metric_kind roast_metric_kind(const struct roast_metric_values *values,
                                         enum roast_metric metric);

typedef struct roast_summary roast_summary;

/* Returns owned. */
int roast_summarize(roast_summary **out, roast_run *run, roast_error *err);

/* The same from the columns alone, some 100 times quicker: workflow, workers offered,
 * chunks, datasets and files. What needs the whole records is absent. */
int roast_summarize_quick(roast_summary **out, roast_run *run, roast_error *err);
void roast_summary_free(roast_summary *summary);

/* Both borrow the summary. NULL: this summary has no such table. The table
 * `unavailable` lists the missing parts of other tables with their reasons. */
const struct roast_metric_values *roast_summary_metrics(const roast_summary *summary);
const roast_table *roast_summary_table(const roast_summary *summary,
                                       enum roast_table_id id);

/* A table of a run. Returns owned, with one reference. The summary must be of the same
 * run (NULL: it is computed here). If roast_table_from_summary() is true, the attempts
 * of the run need not be loaded. */
int roast_run_table(roast_table **out, enum roast_table_id id, roast_run *run,
                    const roast_summary *summary, roast_error *err);

/* The same in parts, for runs of any size; without rows there is one part. The run is not
 * locked while a part is used, and must not change meanwhile, unless it is one part. */
int roast_run_table_parts(enum roast_table_id id, roast_run *run,
                          const roast_summary *summary,
                          const struct roast_table_parts *parts, roast_error *err);

/* Whether the table comes from the summary alone and needs no records. */
bool roast_table_from_summary(enum roast_table_id id);

/* Whether it has a row for each attempt, a part of one, or each sample: finished files
 * have no plain copy of it. */
bool roast_table_is_large(enum roast_table_id id);

/* One series of all workers: worker, time, value. */
int roast_series_table(roast_table **out, roast_run *run, enum roast_series series,
                       roast_error *err);

/* ---- what to run again ---------------------------------------------------------
 *
 * What the result of a call of the Runner does not have, so that its output and that of
 * the rerun together have every entry once. If the call gave no result, that is all of
 * it. `call` is 1, 2 ...; 0: the one call whose result is not whole. REFUSED with what
 * to do instead where several calls are not whole, or their items are not known. */
struct roast_rerun {
    uint32_t call;         /* 0: all results are whole */
    uint64_t items;        /* in the JSON */
    uint64_t unread_files; /* that failed in preprocessing: they have no items */
    bool cannot_add; /* postprocess() may change the output: outputs do not add up */
};

/* {"call": 1, "processor": name, "can_be_added": bool, "items": [{"dataset": name, ...
 * the fields of coffea's WorkItem}], "fileset": files without items}. *rerun may be
 * NULL. */
int roast_failed_items(struct roast_page *out, roast_run *run, uint32_t call,
                       struct roast_rerun *rerun, roast_error *err);

/* The files without any chunk in the result, as coffea's Runner takes them: {dataset:
 * {"treename": tree, "files": [file]}}, with the metadata and preload that were given.
 * REFUSED if a file is in the result in part. `without_items`: only files that are not
 * in roast_failed_items(). */
int roast_failed_fileset(struct roast_page *out, roast_run *run, uint32_t call,
                         bool without_items, struct roast_rerun *rerun,
                         roast_error *err);

/* ---- single formulas, for values of the caller -------------------------------- */

/* Count, sum, mean, extremes and spread of numbers, as 0.1.2 defines them: without any
 * value all are 0, and the standard deviation (n - 1) of one value is 0. The sum is
 * compensated, so that a million small values beside a large one add up. With a NaN
 * among the values sum, mean and deviation are NaN; the extremes are of the others. */
struct roast_statistics {
    size_t count;
    double sum;
    double mean;
    double min;
    double max;
    double std;
};

struct roast_statistics roast_statistics_of(const double *values, size_t count);

/* Integral of a step or trapezoid over (time, count) points divided by their span; the
 * seeds' formula is the trapezoid. False with fewer than two points or no span. */
bool roast_time_average(const struct roast_point *points, size_t count, double *mean);

/* What fine metrics are sums of. */
enum roast_fine_sum {
    ROAST_FINE_CPU_S,
    ROAST_FINE_NONCPU_S,
    ROAST_FINE_COMPRESS_S,
    ROAST_FINE_DECOMPRESS_S,
    ROAST_FINE_SERIALIZE_S,
    ROAST_FINE_DESERIALIZE_S,
    ROAST_FINE_FAILED_S,
    ROAST_FINE_CANCELLED_S,
    ROAST_FINE_EXECUTOR_S,
    ROAST_FINE_OFFLOAD_S,
    ROAST_FINE_MEMORY_READ_BYTES, /* from here on bytes, before it seconds */
    ROAST_FINE_DISK_READ_BYTES,
    ROAST_FINE_DISK_WRITE_BYTES,
    ROAST_FINE_SUMS /* none of them */
};

/* The sum that an activity of Dask belongs to. The units must match. */
enum roast_fine_sum roast_fine_sum_of(struct roast_str activity, struct roast_str unit);

/* The metric with the sum over all tasks. */
enum roast_metric roast_fine_metric(enum roast_fine_sum sum);

/* Metrics that follow from known metrics, filled into values: shares and totals of fine
 * metrics, rates, efficiencies. The last two set a reason where a value cannot be
 * computed, and keep values that are already known. */
void roast_derive_fine(struct roast_metric_values *values);
void roast_derive_rates(struct roast_metric_values *values);
void roast_derive_efficiency(struct roast_metric_values *values);

#ifdef __cplusplus
}
#endif

#endif
