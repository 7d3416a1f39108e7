/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - one call of the Runner: what it was given, what it planned, what its result
 * has.
 *
 * Read from the notes of the group `call`, which Python writes (coffea/plan.py). An item
 * is a range of entries of a file, as coffea's WorkItem. It is missing if the call gave
 * no result; otherwise the part of it that the result does not have. */
#ifndef ROAST_ANALYZE_RERUN_PLAN_H
#define ROAST_ANALYZE_RERUN_PLAN_H

#include "analyze/rerun/fileset.h"
#include "run/run.h"

/* A file of a dataset, with what coffea repeats in each of its items. */
struct roast_plan_file {
    struct roast_str dataset; /* all texts are borrowed from the notes */
    struct roast_str file;
    struct roast_str tree;     /* absent: None */
    struct roast_str uuid;     /* hexadecimal digits */
    struct roast_str usermeta; /* JSON; absent: None */
    struct roast_str preload;
    bool moved;   /* a later call ran the whole file again */
    bool inexact; /* its texts are not all that the item had */
    uint64_t planned_items;
    uint64_t missing_items; /* or parts of items */
};

struct roast_item {
    uint32_t file; /* index in files */
    uint64_t start;
    uint64_t stop;
};

struct roast_items {
    struct roast_item *items; /* owned */
    size_t count;
    size_t cap;
};

/* Zeroed = empty and valid. */
struct roast_plan {
    uint32_t call; /* 1, 2 ... */
    struct roast_str processor;
    struct roast_str run_id;    /* hexadecimal digits */
    bool changes_output;        /* postprocess() is not, or may not be, the identity */
    bool is_part;               /* not all of its files: the user gave items */
    uint64_t max_chunks;        /* per dataset; 0: no limit */
    bool is_listed;             /* the items are known */
    bool is_unlisted;           /* there are items, but they are not known */
    bool reruns;                /* it ran again what an earlier call missed, ... */
    uint32_t earlier;           /* this one; 0: several */
    bool returned;              /* the call gave a result */
    struct roast_fileset given; /* owned, sorted; empty: not known, or items */
    struct roast_plan_file *files; /* owned */
    size_t file_count;
    size_t file_cap;
    struct roast_items planned;  /* by file */
    struct roast_items missing;  /* in the same order */
    struct roast_fileset moved;  /* owned, sorted: files that a later call ran again */
    struct roast_fileset unread; /* owned, sorted: files without items */
};

/* The number of calls that have notes. */
uint32_t roast__plan_count(const struct roast_run *run);

/* The call that missed what this one ran again; 0: none, or several. */
uint32_t roast__plan_reruns(const struct roast_run *run, uint32_t call);

/* Reads one call; the run stays locked while the plan is used. NO_MEMORY only. */
int roast__plan_read(struct roast_plan *plan, const struct roast_run *run,
                     uint32_t call, roast_error *err);
void roast__plan_release(struct roast_plan *plan);

/* Whether the call ended in preprocessing, and its files are not known either. */
static inline bool roast__plan_is_unknown(const struct roast_plan *plan)
{
    return plan->call > 0 && !plan->is_listed && !plan->returned &&
           (plan->is_part || plan->given.count == 0);
}

/* Whether the result of the call is not whole, or may not be. */
static inline bool roast__plan_misses(const struct roast_plan *plan)
{
    return plan->missing.count > 0 || plan->unread.count > 0 || plan->is_unlisted ||
           roast__plan_is_unknown(plan);
}

/* What to do where the result of a run is not whole. */
enum roast_rerun_way {
    ROAST_RERUN_UNKNOWN,    /* nothing is missing, or it is not known what */
    ROAST_RERUN_ITEMS,      /* failed_items() */
    ROAST_RERUN_FILES,      /* failed_fileset(): there are no items */
    ROAST_RERUN_BOTH,       /* failed_items(), and files that have none */
    ROAST_RERUN_EVERYTHING, /* postprocess(): another output cannot be added */
};

/* The run is locked. */
enum roast_rerun_way roast__rerun_way(const struct roast_run *run);

#endif
