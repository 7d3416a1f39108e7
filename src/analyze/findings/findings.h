/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h - what the rules of verdict_rules.def look at, and how they speak.
 *
 * A rule that has nothing to say leaves its finding as it is. One that speaks sets
 * `found`, claims the seconds it is about, and tells the numbers that its texts name. */
#ifndef ROAST_ANALYZE_FINDINGS_FINDINGS_H
#define ROAST_ANALYZE_FINDINGS_FINDINGS_H

#include "analyze/budget/budget.h"
#include "analyze/findings/chunksize.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"

/* The run, as all rules need it. */
struct roast_case {
    const struct roast_study *study;
    const double *slices; /* seconds of threads */
    double offered_s;
    double wall_s;
    double threads;  /* on average */
    double inside_s; /* of threads, inside the attempts that count */
    bool on_cluster;
    struct roast_chunk_model model;
    double best_size; /* of chunks, by the model; NaN: there is none */
};

enum { ROAST_BLANKS = 12, ROAST_BLANK_BYTES = 320 };

struct roast_finding {
    bool found;
    bool failure;         /* it comes first, and is severe whatever it costs */
    bool risk;            /* at least "medium": it may end worse next time */
    uint64_t claims;      /* bit n: seconds of slice n */
    double cost_s;        /* of threads; NaN: nobody can say, like the next */
    double saves_s;       /* of wall time; set by verdict.c unless a rule does */
    bool saves_unknown;   /* nobody can say */
    const char *evidence; /* patterns; NULL: those of the rule */
    const char *advice;
    size_t blank_count;
    struct roast_blank {
        const char *name;
        char text[ROAST_BLANK_BYTES];
    } blanks[ROAST_BLANKS];
};

#define R(id, title, evidence, advice) \
    void roast__rule_##id(const struct roast_case *at, struct roast_finding *finding);
#include "roast/verdict_rules.def"
#undef R

/* Seconds of a slice become part of the cost. */
void roast__claim(const struct roast_case *at, struct roast_finding *finding,
                  enum roast_slice slice);

/* Whether so many seconds of threads are worth a change. */
bool roast__is_worth(const struct roast_case *at, double seconds);
double roast__percent_inside(const struct roast_case *at, double seconds);

/* A metric, NaN where it is absent. */
double roast__case_metric(const struct roast_case *at, enum roast_metric metric);

#endif
