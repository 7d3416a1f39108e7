/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h - input and result of the rules of finding_rules.def.
 *
 * A rule sets `found` where it applies, adds the slices it is about to the cost, and sets
 * the placeholders that its patterns name (finding_text.h). */
#ifndef ROAST_ANALYZE_FINDINGS_FINDINGS_H
#define ROAST_ANALYZE_FINDINGS_FINDINGS_H

#include "analyze/budget/budget.h"
#include "analyze/findings/chunksize.h"
#include "analyze/findings/schedule_model.h"
#include "analyze/formulas.h"
#include "analyze/linear_fit.h"
#include "analyze/timeline.h"

struct roast_rule_input {
    const struct roast_summary_context *ctx;
    const double *slices; /* thread-seconds */
    double offered_s;     /* thread-seconds of the whole run */
    double wall_s;
    double threads;      /* average over the run */
    double chunk_time_s; /* thread-seconds inside attempts that count */
    bool on_cluster;
    struct roast_chunk_model model;
    double best_size;                       /* chunksize by the model; NaN: no model */
    struct roast_schedule_model **schedule; /* made for the first saving */
};

enum { ROAST_PLACEHOLDERS = 14, ROAST_PLACEHOLDER_BYTES = 320 };

struct roast_finding {
    bool found;
    bool failure;          /* ranks first, severity "high" at any cost */
    bool risk;             /* severity at least "medium": the next run may fail */
    uint64_t cost_slices;  /* bit n: seconds of slice n */
    double cost_s;         /* thread-seconds; NaN: not known */
    double saves_s;        /* wall time; NaN: not known */
    bool saves_next_run;   /* a one-time cost */
    const char *saves_how; /* "at most", "at least"; NULL: about */
    const char *evidence;  /* patterns; NULL: those of the rule */
    const char *advice;
    size_t placeholder_count;
    struct roast_placeholder {
        const char *name;
        char text[ROAST_PLACEHOLDER_BYTES];
    } placeholders[ROAST_PLACEHOLDERS];
};

#define R(id, title, evidence, advice) \
    void roast__rule_##id(const struct roast_rule_input *input, \
                          struct roast_finding *finding);
#include "roast/finding_rules.def"
#undef R

/* Adds the seconds of a slice to the cost. */
void roast__add_cost(const struct roast_rule_input *input,
                     struct roast_finding *finding, enum roast_slice slice);

/* Whether so many thread-seconds, or so much wall time, is worth a change. */
bool roast__is_significant(const struct roast_rule_input *input, double seconds);
bool roast__saves_enough(const struct roast_rule_input *input, double seconds);

/* The wall time that a change saves while chunks run, or that chunks and jobs without
 * their seconds of the slices of the finding's cost save. Phases without chunks are
 * wall time already. NaN when out of memory. */
double roast__saves(const struct roast_rule_input *input,
                    const struct roast_schedule_change *change);
double roast__saves_cost(const struct roast_rule_input *input,
                         const struct roast_finding *finding);
/* Thread-seconds that passed before jobs of a kind were sent and began. */
double roast__waits_for(const struct roast_rule_input *input, enum roast_slice kind);
double roast__percent_of_chunk_time(const struct roast_rule_input *input,
                                    double seconds);

/* Seconds inside chunks of a column of the table `chunk_split`, and of all of them. */
double roast__split_part(const struct roast_rule_input *input, int part, double *all);

/* Whether chunks waited long for a core. What else lasted long may have waited, too. */
bool roast__is_overloaded(const struct roast_rule_input *input);

/* A metric; NaN: absent. */
double roast__input_metric(const struct roast_rule_input *input,
                           enum roast_metric metric);

/* Whether memory follows what was done (chunks, outputs) to the end: a cache that fills up
 * does not grow in the second half. */
struct roast_growth {
    struct roast_linear_fit all; /* bytes */
    struct roast_linear_fit later;
};
bool roast__grows(const struct roast_growth *growth);

/* Mean of the workers of a cluster, or the most chunks at once in a process of a pool. */
double roast__threads_per_worker(const struct roast_summary_context *ctx);

/* Fills the table `verdict` from the table `findings`. */
void roast__write_verdict(const struct roast_rule_input *input);

#endif
