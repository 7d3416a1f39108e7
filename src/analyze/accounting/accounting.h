/* SPDX-License-Identifier: BSD-3-Clause */
/* accounting.h - what is kept of each run. */
#ifndef ROAST_ANALYZE_ACCOUNTING_ACCOUNTING_H
#define ROAST_ANALYZE_ACCOUNTING_ACCOUNTING_H

#include "base/string_table.h"
#include "roast/accounting.h"

/* Texts are numbers of words; ROAST_NO_STRING: not known. Numbers: NaN. */
struct roast_counted_run {
    int32_t names[ROAST_BY_COUNT]; /* the dataset is in the parts */
    enum roast_run_state state;
    double wall_s;
    double seconds[ROAST_HOURS_COUNT];
    int32_t why[ROAST_HOURS_COUNT];
    double failed_attempts;
    size_t first_part;
    size_t part_count;
    size_t first_finding;
    size_t finding_count;
};

/* A dataset of a run. */
struct roast_run_part {
    int32_t dataset;
    double share[ROAST_HOURS_COUNT]; /* of the seconds of the run; add up to 1 */
    double failed_attempts;
};

struct roast_run_finding {
    int32_t id;
    double cost_s;
};

struct roast_accounting {
    int64_t since_ns;
    int64_t until_ns;
    struct roast_string_table ids; /* of the runs: number n is runs[n] */
    struct roast_string_table words;
    struct roast_counted_run *runs; /* owned */
    size_t run_count;
    size_t run_cap;
    struct roast_run_part *parts; /* owned */
    size_t part_count;
    size_t part_cap;
    struct roast_run_finding *findings; /* owned */
    size_t finding_count;
    size_t finding_cap;
    size_t repeated;
    bool failed; /* out of memory */
};

#endif
