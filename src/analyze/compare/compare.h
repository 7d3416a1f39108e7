/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.h - the chunks of two runs as samples, and the offset between them.
 *
 * Values are logarithms, so an offset is a ratio. */
#ifndef ROAST_ANALYZE_COMPARE_COMPARE_H
#define ROAST_ANALYZE_COMPARE_COMPARE_H

#include "roast/compare.h"

/* The normal quantile of ROAST_SURE_PERCENT, both sides. */
#define ROAST_SURE_SIGMAS 1.959963984540054

/* The value of a chunk. */
struct roast_chunk_value {
    double value;    /* logarithm */
    int32_t stratum; /* only chunks of the same stratum are compared */
    uint32_t row;    /* of the table: in order of start */
};

struct roast_sample_set {
    struct roast_chunk_value *all; /* owned; by stratum, then by value */
    size_t count;
};

/* The datasets and chunks that are in both runs. Zeroed = none. */
struct roast_match {
    const roast_table *chunks[2];
    int32_t *datasets; /* owned; word of B -> word of A, -1: not in A */
    int32_t *files;    /* the same */
    uint32_t *b_row;   /* owned; row of A -> row of B, UINT32_MAX: none */
    bool *shared;      /* owned; word of A -> B has this dataset too */
    bool
        by_dataset; /* both runs have datasets: only chunks of the same one are compared */
    bool any_shared;
};

/* Fills `processors` and `differs`. The metrics are set. */
void roast__find_differences(struct roast_comparison *out,
                             const struct roast_match *match,
                             const struct roast_side sides[2]);

/* The text of a note of a side, cut to fit; "": none. */
void roast__side_note(char *out, size_t out_bytes, const struct roast_side *side,
                      enum roast_note_group group, const char *name);

int roast__match_find(struct roast_match *match, const roast_table *a,
                      const roast_table *b, roast_error *err);
void roast__match_release(struct roast_match *match);

/* A column of the table chunks. */
static inline const struct roast_table_column *roast__chunk_column(
    const roast_table *chunks, int col)
{
    return roast_table_column(chunks, (size_t)(col - ROAST_COL_chunks_chunk_id));
}

/* The number of the word in a row; -1: not known. */
int32_t roast__data_word(const struct roast_table_column *data, size_t row);

/* A measure in one chunk; NaN: not known, or not above 0. */
double roast__measured_at(const roast_table *chunks, enum roast_measure measure,
                          size_t row);

/* The difference of two samples. */
struct roast_offset {
    double value; /* NaN: there are no pairs */
    double low;   /* -inf ... inf: they are too few */
    double high;
};

/* Of b relative to a, by stratum. */
int roast__offset_between(struct roast_offset *out, const struct roast_sample_set *a,
                          const struct roast_sample_set *b, roast_error *err);

/* Of differences relative to 0, all in one stratum. b_row has the row in the other run:
 * chunks may be slow together in either run. */
int roast__offset_of(struct roast_offset *out,
                     const struct roast_sample_set *differences, const uint32_t *b_row,
                     roast_error *err);

/* Sorts by stratum, then by value. */
void roast__sample_sort(struct roast_sample_set *set);

#endif
