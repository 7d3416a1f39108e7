/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.h - several runs beside each other: compared, scaled, extrapolated.
 *
 * Chunks are the sample: how much they differ among themselves gives the certainty
 * of a difference between runs. What is one number per run (wall time) stands beside its
 * like, without an unknown error. Nothing here is random: the same runs give
 * the same numbers to the last bit. report.h shows all three. */
#ifndef ROAST_COMPARE_H
#define ROAST_COMPARE_H

#include "roast/analyze.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How sure the intervals of roast_compare() and roast_scale() are, in percent. */
#define ROAST_SURE_PERCENT 95

/* A run as it is compared. Borrowed; `chunks` is its table of that name. */
struct roast_side {
    const roast_summary *summary;
    const roast_table *chunks;
};

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
    int minus;  /* another one; -1: none */
    int per;    /* the same */
    const char *unit;
    const char *shown;
    const char *text;
};

/* The row of a measure. Borrows static memory. */
const struct roast_measure_info *roast_measure_info(enum roast_measure measure);

enum roast_change {
    ROAST_CHANGE_UNKNOWN, /* no result; `why` has the reason */
    ROAST_CHANGE_NONE,    /* the interval holds "the same" */
    ROAST_CHANGE_MORE,    /* worse: all of the interval is above 1 */
    ROAST_CHANGE_LESS,
};

const char *roast_change_name(enum roast_change change); /* "unknown", "none" ... */

enum { ROAST_FEWEST_CHUNKS = 8 }; /* of a run; with fewer there is no result */

/* How one measure differs. Where most chunks are in both runs (dataset, file, entries)
 * each is compared with itself; else those of a dataset with all others of the same
 * dataset; runs that name datasets and share none cannot be compared. ratio is the
 * median of the ratios B / A of all such pairs: Hodges and Lehmann's estimate with the
 * interval of the rank test (Wilcoxon's of pairs, van Elteren's over datasets). Chunks
 * that follow each other and are slow together count as fewer. */
struct roast_contrast {
    size_t a_chunks; /* with a value, in a dataset of both runs */
    size_t b_chunks;
    size_t pairs;    /* chunks of both runs; 0: not compared so */
    double a_median; /* over those chunks; NaN: none */
    double b_median;
    double ratio; /* B / A; this and the interval NaN without a result */
    double low;
    double high;
    enum roast_change change;
    const char *why; /* static text; NULL where there is a result */
};

/* Whether all of the interval is more than this much worse. */
bool roast_contrast_exceeds(const struct roast_contrast *contrast, double percent);

/* One number of each run; NaN where it is not known. */
struct roast_compared {
    double a;
    double b;
    double ratio; /* b / a; NaN where there is none */
};

enum roast_compared_slice {
#define S(name, shown, text) ROAST_COMPARED_##name,
#include "roast/budget_slices.def"
#undef S
    ROAST_COMPARED_SLICES
};

const char *roast_slice_name(enum roast_compared_slice slice);
const char *roast_slice_shown(enum roast_compared_slice slice);

enum { ROAST_FIRST_BYTES = 256 };

struct roast_comparison {
    struct roast_contrast measures[ROAST_MEASURE_COUNT];
    struct roast_compared metrics[ROAST_METRIC_COUNT];
    struct roast_compared slices[ROAST_COMPARED_SLICES]; /* seconds of threads */
    char first[ROAST_FIRST_BYTES]; /* what to look at first: one sentence */
};

int roast_compare(struct roast_comparison *out, const struct roast_side *a,
                  const struct roast_side *b, roast_error *err);

/* The measure by which to judge: CPU time of whole chunks, or of process() where a run
 * knows no more. */
enum roast_measure roast_compare_main(const struct roast_comparison *comparison);

/* Whether chunks took about as much more CPU time outside process(), where none of the
 * user's code runs: the machine was slower, or what both runs use. */
bool roast_compare_blames_machine(const struct roast_comparison *comparison);

/* ---- several runs with more and more workers ------------------------------------- */

struct roast_scale_point {
    double workers;      /* mean over time; NaN: not known */
    double threads;      /* NaN: not known, and the point is left out */
    double event_rate;   /* per s; NaN: the same */
    double efficiency;   /* rate per thread / that of the run with the fewest threads */
    double fitted;       /* event rate by the fit; NaN without one */
    double chunk_events; /* mean size of its chunks; NaN: not known */
};

struct roast_estimate {
    double value;
    double low; /* NaN: the uncertainty is not known */
    double high;
};

/* Gunther's Universal Scalability Law, fitted by least squares of relative distances:
 *
 *     rate(n) = rate_1 n / (1 + sigma (n - 1) + kappa n (n - 1)) */
struct roast_scaling {
    struct roast_scale_point *points; /* owned; as the runs were given */
    size_t count;
    bool fits;
    const char *why; /* not fitted, or without errors; NULL: neither. Static text */
    struct roast_estimate rate_1; /* events/s of one thread */
    struct roast_estimate sigma;  /* share that waits for its turn */
    struct roast_estimate kappa;  /* cost of keeping in step */
    double best_threads;          /* where the rate is highest; NaN: it only grows */
    const char *remark; /* the runs differ in more than threads; NULL. Static text */
};

int roast_scale(struct roast_scaling *out, const roast_summary *const *summaries,
                size_t count, roast_error *err);
void roast_scaling_release(struct roast_scaling *scaling);

/* ---- the same analysis, larger ---------------------------------------------------- */

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
    double fixed_s;      /* wall time as it was of all else: client, merging */
    double preprocess_s; /* of as many more files as there are more events */
    struct roast_estimate thread_seconds; /* inside chunks */
    struct roast_estimate wall_s;
    size_t chunks_seen;
    double largest_seen; /* events of the largest of them: beyond it, a guess */
    const char
        *why; /* NULL; else there is no forecast, and only what was seen is filled */
};

/* From what chunks cost and how busy threads were. Ranges are no confidence: they hold
 * the spread of the chunks (ROAST_SURE_PERCENT of it), and of the wall time the best and
 * the worst tail. All else is taken to be as it was, storage and scheduler as quick for
 * more workers; roast_scale() shows whether they are. */
int roast_make_forecast(struct roast_forecast *out, const struct roast_side *run,
                        const struct roast_plan *plan, roast_error *err);

#ifdef __cplusplus
}
#endif

#endif
