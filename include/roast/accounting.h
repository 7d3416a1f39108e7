/* SPDX-License-Identifier: BSD-3-Clause */
/* accounting.h - what many runs used, by user, processor, dataset, site and week.
 *
 * Of each run its notes and its summary are needed, and a few numbers of them are kept.
 * A run counts once, however often it is added. One thread at a time. Which metrics the
 * numbers are, and how those of a run are divided among its datasets, is in
 * docs/facility/accounting.md. */
#ifndef ROAST_ACCOUNTING_H
#define ROAST_ACCOUNTING_H

#include "roast/analyze.h"

#ifdef __cplusplus
extern "C" {
#endif

enum roast_account_by {
#define B(name, text, otherwise) ROAST_BY_##name,
#include "roast/account_groups.def"
#undef B
    ROAST_BY_COUNT
};

struct roast_account_group {
    const char *name;
    const char *text;      /* one row is */
    const char *otherwise; /* why the name of a row is not known */
};

/* Returns static memory. */
const struct roast_account_group *roast_account_group(enum roast_account_by by);

typedef struct roast_accounting roast_accounting;

/* Runs that began in [since_ns, until_ns) count. Returns owned. */
int roast_accounting_new(roast_accounting **out, int64_t since_ns, int64_t until_ns,
                         roast_error *err);
void roast_accounting_free(roast_accounting *accounting);

/* The user is that of the label `user`, else `owner`; NULL: not known. Without a summary
 * only the notes of the run are known: its live file was too large to be read. Of the
 * same run, the one that has an end counts, or else the longer one. */
int roast_accounting_add(roast_accounting *accounting, roast_run *run,
                         const roast_summary *summary, const char *owner,
                         roast_error *err);

/* How many were added again, or for the second time. */
size_t roast_accounting_repeated(const roast_accounting *accounting);

enum roast_account_hours {
    ROAST_HOURS_OFFERED,
    ROAST_HOURS_USED, /* CPU time */
    ROAST_HOURS_WASTED,
    ROAST_HOURS_COUNT
};

/* The sum of some runs. Texts are borrowed until the next run is added. */
struct roast_account {
    struct roast_str name; /* absent: not known */
    size_t runs;
    size_t failed_runs;                      /* an exception or Ctrl-C ended them */
    size_t unfinished_runs;                  /* they still run, or were killed */
    double hours[ROAST_HOURS_COUNT];         /* of cores; NaN: known of no run */
    size_t without[ROAST_HOURS_COUNT];       /* runs of which they are not known */
    struct roast_str why[ROAST_HOURS_COUNT]; /* of the first of these */
    double efficiency;      /* used / offered, of runs with both; NaN: there is none */
    double failed_attempts; /* failed or lost; NaN: known of no run */
    struct roast_str finding; /* in most runs, of those the costliest; absent: none */
    size_t finding_runs;
    double finding_hours; /* what it cost; NaN: not known */
};

struct roast_accounts {
    struct roast_account *items; /* owned */
    size_t count;
};

/* Weeks in their order, others by core-hours, the most first; the one without a name is
 * the last. */
int roast_accounting_sum(struct roast_accounts *out, const roast_accounting *accounting,
                         enum roast_account_by by, roast_error *err);
void roast_accounts_release(struct roast_accounts *accounts);

#ifdef __cplusplus
}
#endif

#endif
