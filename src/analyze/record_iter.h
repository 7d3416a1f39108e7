/* SPDX-License-Identifier: BSD-3-Clause */
/* record_iter.h - the chunk records of a run that hold certain fields, one after the other.
 *
 *     struct roast_record_iter iter = {.ctx = ctx, .fields = ..., .roles = ...};
 *     while (roast__record_iter_next(&iter))
 *         ... iter.row, iter.rec ...
 *
 * A run in which no record holds any of them costs nothing. */
#ifndef ROAST_ANALYZE_RECORD_ITER_H
#define ROAST_ANALYZE_RECORD_ITER_H

#include "analyze/summary.h"
#include "roast/ladder.h"
#include "run/cold_fields.h"

#define ROAST_FIELD_BIT(name) (UINT64_C(1) << ROAST_FIELD_##name)

enum {
    ROAST_ROLES_COUNT = 1u << ROAST_ROLE_COUNTS,
    ROAST_ROLES_ALL = (1u << ROAST_ROLE_COUNT) - 1,
};

struct roast_record_iter {
    const struct roast_summary_context *ctx;
    uint64_t fields;  /* of chunk frames: one of them must be there */
    unsigned roles;   /* bit n: attempts of role n */
    size_t row;       /* of rec */
    roast_record rec; /* borrows the run and this */
    unsigned char identity[ROAST_IDENTITY_BYTES];
    size_t next_row;
};

bool roast__record_iter_next(struct roast_record_iter *iter);

/* What the record of a walk read, by branch. Zeroed = empty and valid. */
struct roast_branch_list {
    struct roast_branch *all; /* owned; names borrow the run */
    size_t count;
    size_t cap;
};

/* Without these fields a record has no information on what it read. */
#define ROAST_FIELDS_OF_READS (ROAST_FIELD_BIT(branches) | ROAST_FIELD_BIT(file_facts))

/* Reads the branches of a record; none if it has a ladder and read nothing.
 * False: not known, lost, damaged, or out of memory, which the
 * summary notes. */
bool roast__record_iter_branches(const struct roast_record_iter *iter,
                                 struct roast_branch_list *list);

/* The file of a record; false if it is not known or damaged. */
bool roast__record_iter_facts(const struct roast_record_iter *iter,
                              struct roast_file_facts *facts);

/* Whether a record has a ladder: a record made by the user may list branches without
 * their costs. */
bool roast__record_iter_looked_into(const struct roast_record_iter *iter);

/* Whether 0 bytes of its branches are a measurement: else bytes were not counted. */
bool roast__record_iter_knows_bytes(const struct roast_record_iter *iter);

/* Room for count items whose content does not matter; NULL when out of memory, and then
 * there is none. */
void *roast__scratch(void *items, size_t *cap, size_t count, size_t item_bytes);

#endif
