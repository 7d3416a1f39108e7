/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_sections.h - the sections of a chunk record that is being read.
 *
 *     timing, memory, bytes      {name: seconds, MiB, bytes}
 *     sections, memory_sections  [{section_name, count, depth, parent, ...}]
 *     intervals                  [[name, start, duration], ...], seconds
 *
 * Records that others made have the sums alone. Of ours the lists give the tree back. */
#ifndef ROAST_COLLECT_MEASUREMENT_SECTIONS_H
#define ROAST_COLLECT_MEASUREMENT_SECTIONS_H

#include "collect/measurement_values.h"
#include "roast/record.h"

enum { ROAST_DRAFT_MAX_SECTIONS = 256, ROAST_DRAFT_MAX_INTERVALS = 256 };

/* What a name stands in. */
enum roast_sums {
    ROAST_SUMS_TIME,
    ROAST_SUMS_MEMORY,
    ROAST_SUMS_BYTES,
    ROAST_SUMS_COUNT
};

/* Zeroed = empty and valid. All are arrays of structs that the .c files know. */
struct roast_section_draft {
    struct roast_buf sums[ROAST_SUMS_COUNT];
    struct roast_buf times;    /* the list `sections` */
    struct roast_buf memories; /* the list `memory_sections` */
    struct roast_buf
        byte_rows; /* the same of sections of bytes, which are in no list */
    struct roast_buf intervals;
    struct roast_buf nodes; /* of struct roast_section, while the tree is made */
    struct roast_buf blob;
    struct roast_buf interval_blob;
    uint64_t lost; /* names past the limit */
};

/* An entry of timing, memory or bytes. */
struct roast_section_sum {
    struct roast_kept name;
    double value;
    bool told; /* the tree says it */
};

void roast__section_draft_clear(struct roast_section_draft *draft);
void roast__section_draft_release(struct roast_section_draft *draft);

/* Read the value under timing, memory or bytes; one of the two lists; intervals. */
int roast__section_draft_sums(struct roast_section_draft *draft, enum roast_sums which,
                              const struct roast_part *part);
int roast__section_draft_rows(struct roast_section_draft *draft, bool memory,
                              const struct roast_part *part);
int roast__section_draft_intervals(struct roast_section_draft *draft,
                                   const struct roast_part *part);

/* Put `sections`, and of the tree `intervals`, into the record, which borrows the draft:
 * by the sums, as of hand-made records, or by the lists. False when out of memory. What
 * the lists do not explain of the sums was put there by the user: `told` is false. */
bool roast__section_draft_put(struct roast_section_draft *draft,
                              const struct roast_texts *texts, roast_record *rec);
bool roast__section_draft_put_tree(struct roast_section_draft *draft,
                                   const struct roast_texts *texts, roast_record *rec);

#endif
