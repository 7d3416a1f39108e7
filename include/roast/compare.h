/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.h - compares runs, fits their scaling, and forecasts larger ones.
 *
 * Chunks are the samples: their spread gives the uncertainty of a difference between
 * runs. Values with one number per run (wall time) are shown side by side, without an
 * uncertainty. Results are deterministic. report.h shows all three. */
#ifndef ROAST_COMPARE_H
#define ROAST_COMPARE_H

#include "roast/analyze.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The confidence level of roast_compare() and roast_scale(), in percent. */
#define ROAST_SURE_PERCENT 95

/* The input of a comparison. Borrowed; `chunks` is the table of that name, which
 * roast_scale() does not use. Of `run` only the notes are read; NULL: it is not known
 * what ran. */
struct roast_side {
    const roast_summary *summary;
    const roast_table *chunks;
    roast_run *run;
};

enum { ROAST_PROCESSOR_BYTES = 128 };

/* ---- two runs ------------------------------------------------------------------ */

enum roast_measure {
#define M(name, column, minus, per, unit, shown, text) ROAST_MEASURE_##name,
#include "roast/compare_measures.def"
#undef M
    ROAST_MEASURE_COUNT
};

struct roast_measure_info {
    const char *name;
    int column; /* of the table chunks */
    int minus;  /* another column; -1: none */
    int per;    /* as minus */
    const char *unit;
    const char *shown;
    const char *text;
};

/* Returns static memory. */
const struct roast_measure_info *roast_measure_info(enum roast_measure measure);

enum roast_change {
    ROAST_CHANGE_UNKNOWN, /* no result; `why` has the reason */
    ROAST_CHANGE_NONE,    /* the interval contains 1 */
    ROAST_CHANGE_MORE,    /* worse: the interval is above 1 */
    ROAST_CHANGE_LESS,
};

const char *roast_change_name(enum roast_change change); /* "unknown", "none" ... */

enum { ROAST_FEWEST_CHUNKS = 8 }; /* of a run; there is no result with fewer */

/* The difference of one measure. If most chunks are in both runs (dataset, file,
 * entries), each is compared with itself; else chunks are compared with all chunks of the
 * same dataset. Runs without a common dataset cannot be compared. `ratio` is the median
 * of the ratios B / A of all such pairs: the Hodges-Lehmann estimate with the interval of
 * the rank test (Wilcoxon for pairs, van Elteren over datasets). The interval accounts
 * for successive chunks that are slow together. */
struct roast_contrast {
    size_t a_chunks; /* with a value, in a dataset of both runs */
    size_t b_chunks;
    size_t pairs;    /* chunks compared with themselves; 0: by dataset */
    double a_median; /* of these chunks; NaN: none */
    double b_median;
    double ratio; /* B / A; NaN without a result, as low and high */
    double low;
    double high;
    enum roast_change change;
    const char *why; /* static text; NULL if there is a result */
};

/* Whether the whole interval is worse by more than this. */
bool roast_contrast_exceeds(const struct roast_contrast *contrast, double percent);

/* One value of each run; NaN: not known. */
struct roast_compared {
    double a;
    double b;
    double ratio; /* b / a; NaN: not defined */
};

enum roast_compared_slice {
#define S(name, shown, text) ROAST_COMPARED_##name,
#include "roast/budget_slices.def"
#undef S
    ROAST_COMPARED_SLICES
};

const char *roast_slice_name(enum roast_compared_slice slice);
const char *roast_slice_shown(enum roast_compared_slice slice);

enum { ROAST_FIRST_BYTES = 512, ROAST_DIFFERENCE_BYTES = 320 };

/* What runs can differ in, so that not everything of them can be compared. */
enum roast_difference {
#define D(name, shown, text) ROAST_DIFFERS_##name,
#include "roast/run_differences.def"
#undef D
    ROAST_DIFFERENCE_COUNT
};

struct roast_difference_info {
    const char *name;
    const char *shown;
    const char *text; /* what can be compared in spite of it */
};

/* Returns static memory. */
const struct roast_difference_info *roast_difference_info(
    enum roast_difference difference);

struct roast_comparison {
    char processors[2][ROAST_PROCESSOR_BYTES]; /* of A and B; "": not known */
    /* How they differ; "": they do not, or it is not known. */
    char differs[ROAST_DIFFERENCE_COUNT][ROAST_DIFFERENCE_BYTES];
    struct roast_contrast measures[ROAST_MEASURE_COUNT];
    struct roast_compared metrics[ROAST_METRIC_COUNT];
    struct roast_compared slices[ROAST_COMPARED_SLICES]; /* seconds of threads */
    char first[ROAST_FIRST_BYTES]; /* the most important difference: one sentence */
};

int roast_compare(struct roast_comparison *out, const struct roast_side *a,
                  const struct roast_side *b, roast_error *err);

/* The default measure: CPU time of whole chunks, or of process() if a run has only
 * that. */
enum roast_measure roast_compare_main(const struct roast_comparison *comparison);

/* Whether the CPU time outside process(), where no code of the user runs, grew about as
 * much as inside: the machine was slower, or a library that both runs use. */
bool roast_compare_machine_slower(const struct roast_comparison *comparison);

/* ---- runs with different numbers of threads -------------------------------------- */

struct roast_scale_point {
    double workers;      /* mean over time; NaN: not known */
    double threads;      /* NaN: not known, and the point is left out */
    double event_rate;   /* per s; NaN: as threads */
    double efficiency;   /* rate per thread / that of the run with the fewest threads */
    double fitted;       /* event rate by the fit; NaN without one */
    double chunk_events; /* mean size of its chunks; NaN: not known */
};

struct roast_estimate {
    double value;
    double low; /* NaN: the uncertainty is not known */
    double high;
};

/* How the measured rate changes with threads: by more than the noise of a shared machine
 * (5 %) or not. */
enum roast_trend {
    ROAST_TREND_UNKNOWN, /* of fewer than two numbers of threads */
    ROAST_TREND_GROWS,
    ROAST_TREND_FLAT,
    ROAST_TREND_FALLS, /* the most threads have a lower rate than fewer ones */
};

const char *roast_trend_name(enum roast_trend trend); /* "unknown", "grows" ... */

/* Gunther's Universal Scalability Law, fitted by least squares of relative distances:
 *
 *     rate(n) = rate_1 n / (1 + sigma (n - 1) + kappa n (n - 1)) */
struct roast_scaling {
    struct roast_scale_point *points; /* owned; in the order of the runs */
    size_t count;
    bool fits;
    const char *why; /* why there is no fit, or no uncertainty; NULL. Static text */
    struct roast_estimate rate_1; /* events/s of one thread */
    struct roast_estimate sigma;  /* contention: serialized share */
    struct roast_estimate kappa;  /* coherency: cost of coordination */
    double best_threads; /* from which on the fitted rate falls, at least 1; NaN: it
                          * never falls */
    enum roast_trend trend;
    struct roast_scale_point
        few; /* as measured: the mean of the runs with the fewest */
    struct roast_scale_point many; /* threads, with the most, and of those with the */
    struct roast_scale_point best; /* highest rate */
    const char *remark; /* the runs differ in more than threads; NULL. Static text */
};

/* REFUSED if the runs are of different processors, unless `mix`. Of the sides the table
 * is not needed. */
int roast_scale(struct roast_scaling *out, const struct roast_side *runs, size_t count,
                bool mix, roast_error *err);
void roast_scaling_release(struct roast_scaling *scaling);

/* ---- forecast -------------------------------------------------------------------- */

struct roast_plan {
    double events;
    double workers;
    double chunksize; /* events; 0: as in the run */
};

struct roast_forecast {
    double chunks;
    double threads_per_worker;
    double seconds_per_chunk; /* of a task, whatever its size; NaN: not known */
    double seconds_per_event;
    double busy_share;   /* of the offered threads while chunks ran */
    double fixed_s;      /* wall time of everything else: client, merging */
    double preprocess_s; /* scaled with the number of files */
    struct roast_estimate thread_seconds; /* inside chunks */
    struct roast_estimate wall_s;
    size_t chunks_seen;
    double largest_seen; /* events of the largest one; beyond it, an extrapolation */
    const char
        *why; /* why there is no forecast; NULL. Then only measurements are filled */
};

/* From the cost of chunks and the busy share of threads. Ranges are no confidence
 * intervals: they have the spread of the chunks (ROAST_SURE_PERCENT of it), and for the
 * wall time the best and the worst tail. Storage and scheduler are assumed to be as fast
 * for more workers; roast_scale() shows whether they are. */
int roast_make_forecast(struct roast_forecast *out, const struct roast_side *run,
                        const struct roast_plan *plan, roast_error *err);

#ifdef __cplusplus
}
#endif

#endif
