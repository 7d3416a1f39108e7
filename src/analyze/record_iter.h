/* SPDX-License-Identifier: BSD-3-Clause */
/* record_iter.h - iterates over the chunk records of a run that have certain fields.
 *
 *     struct roast_record_iter iter = {.ctx = ctx, .fields = ..., .roles = ...};
 *     while (roast__record_iter_next(&iter))
 *         ... iter.row, iter.rec ...
 *
 * The iteration ends at once in a run without any of the fields. */
#ifndef ROAST_ANALYZE_RECORD_ITER_H
#define ROAST_ANALYZE_RECORD_ITER_H

#include "analyze/summary.h"
#include "record/sections.h"
#include "roast/ladder.h"
#include "run/cold_fields.h"

#define ROAST_FIELD_BIT(name) (UINT64_C(1) << ROAST_FIELD_##name)

enum {
    ROAST_ROLES_COUNT = 1u << ROAST_ROLE_COUNTS,
    ROAST_ROLES_ALL = (1u << ROAST_ROLE_COUNT) - 1,
};

struct roast_record_iter {
    const struct roast_summary_context *ctx;
    uint64_t fields;  /* a record has one of them at least */
    unsigned roles;   /* bit n: attempts of role n */
    size_t row;       /* of rec */
    roast_record rec; /* borrows the run and the iterator */
    unsigned char identity[ROAST_IDENTITY_BYTES];
    size_t next_row;
};

bool roast__record_iter_next(struct roast_record_iter *iter);

/* The branches of one record. Zeroed = empty and valid. */
struct roast_branch_list {
    struct roast_branch *all; /* owned; names borrow the run */
    size_t count;
    size_t cap;
};

/* Without these fields a record has no information on its reads. */
#define ROAST_FIELDS_OF_READS (ROAST_FIELD_BIT(branches) | ROAST_FIELD_BIT(file_facts))

/* Reads the branches of a record; none if it has a ladder and read nothing. False: not
 * known, lost, damaged, or out of memory, which is noted in the summary. */
bool roast__record_iter_branches(const struct roast_record_iter *iter,
                                 struct roast_branch_list *list);

/* The file of a record; false if it is not known or damaged. */
bool roast__record_iter_facts(const struct roast_record_iter *iter,
                              struct roast_file_facts *facts);

/* Whether a record has a ladder: a record made by the user may list branches without
 * their costs. */
bool roast__record_iter_has_ladder(const struct roast_record_iter *iter);

/* Whether bytes were counted, so that 0 bytes of a branch are a measurement. */
bool roast__record_iter_has_bytes(const struct roast_record_iter *iter);

/* The sections of one record, and a number for each of them that the caller sets.
 * Zeroed = empty and valid. */
struct roast_section_list {
    struct roast_section *all; /* owned; names borrow the run */
    uint32_t *numbers;         /* owned */
    size_t count;
    size_t cap;
};

/* Reads the sections of a record; none if they are damaged. False when out of memory. */
bool roast__record_sections(struct roast_section_list *list, const roast_record *rec);
void roast__section_list_release(struct roast_section_list *list);

#endif
