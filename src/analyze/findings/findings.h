/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h - input and result of the rules of finding_rules.def.
 *
 * A rule sets `found` where it applies, adds the seconds it is about to the cost, and
 * fills the blanks that its texts name. */
#ifndef ROAST_ANALYZE_FINDINGS_FINDINGS_H
#define ROAST_ANALYZE_FINDINGS_FINDINGS_H

#include "analyze/budget/budget.h"
#include "analyze/findings/chunksize.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"

/* What all rules read of the run. */
struct roast_rule_input {
    const struct roast_summary_context *ctx;
    const double *slices; /* seconds of threads */
    double offered_s;
    double wall_s;
    double threads;  /* on average */
    double inside_s; /* of threads, inside the attempts that count */
    bool on_cluster;
    struct roast_chunk_model model;
    double best_size; /* of chunks, by the model; NaN: no model */
};

enum { ROAST_BLANKS = 12, ROAST_BLANK_BYTES = 320 };

struct roast_finding {
    bool found;
    bool failure;         /* ranks first, severity "high" at any cost */
    bool risk;            /* severity at least "medium": the next run may fail */
    uint64_t cost_slices; /* bit n: seconds of slice n */
    double cost_s;        /* of threads; NaN: not known, like the next */
    double saves_s;       /* of wall time; set by findings.c unless a rule does */
    bool saves_unknown;   /* the saving cannot be estimated */
    const char *evidence; /* patterns; NULL: those of the rule */
    const char *advice;
    size_t blank_count;
    struct roast_blank {
        const char *name;
        char text[ROAST_BLANK_BYTES];
    } blanks[ROAST_BLANKS];
};

#define R(id, title, evidence, advice) \
    void roast__rule_##id(const struct roast_rule_input *at, \
                          struct roast_finding *finding);
#include "roast/finding_rules.def"
#undef R

/* Adds the seconds of a slice to the cost. */
void roast__add_cost(const struct roast_rule_input *at, struct roast_finding *finding,
                     enum roast_slice slice);

/* Whether so many seconds of threads are worth a change. */
bool roast__is_worth(const struct roast_rule_input *at, double seconds);
double roast__percent_inside(const struct roast_rule_input *at, double seconds);

/* A metric, NaN where it is absent. */
double roast__input_metric(const struct roast_rule_input *at, enum roast_metric metric);

#endif
