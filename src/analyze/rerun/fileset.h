/* SPDX-License-Identifier: BSD-3-Clause */
/* fileset.h - files of datasets, as coffea's Runner takes them.
 *
 * Texts are kept in one buffer and known by where they are in it; a fileset notes that
 * memory ran out, and is checked once. */
#ifndef ROAST_ANALYZE_RERUN_FILESET_H
#define ROAST_ANALYZE_RERUN_FILESET_H

#include "base/buf.h"
#include "roast/error.h"
#include "roast/text.h"

/* Where a text is, from 1 on; 0: it is absent. Small, because there may be a million. */
struct roast_fileset_text {
    uint32_t at;
    uint32_t size_bytes;
};

struct roast_fileset_file {
    struct roast_fileset_text dataset;
    struct roast_fileset_text file;
    struct roast_fileset_text tree;
};

/* What a dataset has beside its files, such as metadata: members of a JSON object. */
struct roast_fileset_rest {
    struct roast_fileset_text dataset;
    struct roast_fileset_text json;
};

/* Zeroed = empty and valid. */
struct roast_fileset {
    struct roast_buf texts;
    struct roast_fileset_file *files; /* owned */
    size_t count;
    size_t cap;
    struct roast_fileset_rest *rests; /* owned */
    size_t rest_count;
    size_t rest_cap;
    bool failed; /* out of memory */
};

void roast__fileset_release(struct roast_fileset *fileset);

/* Copies a text; an absent one stays so. */
struct roast_fileset_text roast__fileset_keep(struct roast_fileset *fileset,
                                              struct roast_str text);
struct roast_str roast__fileset_text(const struct roast_fileset *fileset,
                                     struct roast_fileset_text text);

void roast__fileset_add(struct roast_fileset *fileset,
                        struct roast_fileset_text dataset, struct roast_str file,
                        struct roast_str tree);

void roast__fileset_add_rest(struct roast_fileset *fileset,
                             struct roast_fileset_text dataset, struct roast_str json);

/* Reads what a user gave to the Runner, as the note `fileset` has it. BAD_DATA for a line
 * that is none of a fileset; then what came before stays. */
int roast__fileset_read(struct roast_fileset *fileset, struct roast_str text,
                        roast_error *err);

/* Orders by dataset, file and tree, and keeps each file of a dataset once; one whose
 * tree is known if there is such. */
void roast__fileset_sort(struct roast_fileset *fileset);

/* Appends a fileset as JSON, with what `given` has beside the files of its datasets. Both
 * are sorted. */
void roast__fileset_write(struct roast_buf *out, const struct roast_fileset *fileset,
                          const struct roast_fileset *given);

/* By dataset, then file; texts as bytes. */
int roast__fileset_compare(const struct roast_str a[2], const struct roast_str b[2]);

#endif
