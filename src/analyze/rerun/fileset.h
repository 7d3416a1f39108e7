/* SPDX-License-Identifier: BSD-3-Clause */
/* fileset.h - files of datasets, as coffea's Runner takes them.
 *
 * Texts are kept in one buffer and identified by their position. Failure is sticky: check
 * `failed` once. */
#ifndef ROAST_ANALYZE_RERUN_FILESET_H
#define ROAST_ANALYZE_RERUN_FILESET_H

#include "base/buf.h"
#include "roast/error.h"
#include "roast/json_write.h"
#include "roast/text.h"

/* The position of a text + 1; 0: absent. Small, because there may be a million. */
struct roast_fileset_text {
    uint32_t at;
    uint32_t size_bytes;
};

struct roast_fileset_file {
    struct roast_fileset_text dataset;
    struct roast_fileset_text file;
    struct roast_fileset_text tree;
};

/* The other members of a dataset, such as metadata, as JSON. */
struct roast_fileset_other {
    struct roast_fileset_text dataset;
    struct roast_fileset_text json;
};

/* Zeroed = empty and valid. */
struct roast_fileset {
    struct roast_buf texts;
    struct roast_fileset_file *files; /* owned */
    size_t count;
    size_t cap;
    struct roast_fileset_other *others; /* owned */
    size_t other_count;
    size_t other_cap;
    bool failed; /* out of memory */
};

void roast__fileset_release(struct roast_fileset *fileset);

/* Copies a text; an absent one is absent. */
struct roast_fileset_text roast__fileset_keep(struct roast_fileset *fileset,
                                              struct roast_str text);
struct roast_str roast__fileset_text(const struct roast_fileset *fileset,
                                     struct roast_fileset_text text);

void roast__fileset_add(struct roast_fileset *fileset,
                        struct roast_fileset_text dataset, struct roast_str file,
                        struct roast_str tree);

void roast__fileset_add_other(struct roast_fileset *fileset,
                              struct roast_fileset_text dataset, struct roast_str json);

/* Reads the note `N given`, which has the argument of the Runner. BAD_DATA for a damaged
 * line; the lines before it are kept. */
int roast__fileset_read(struct roast_fileset *fileset, struct roast_str text,
                        roast_error *err);

/* Removes the text up to a mark from *rest, which is absent after the last one. */
struct roast_str roast__fileset_next(struct roast_str *rest, char mark);

/* Whether JSON may be copied into an object: printable, with balanced quotes and
 * brackets, so that it cannot end the object. */
bool roast__fileset_is_closed(struct roast_str json);

/* Sorts by dataset, file and tree, and removes duplicate files; one with a known tree is
 * kept. */
void roast__fileset_sort(struct roast_fileset *fileset);

/* Whether a sorted fileset has a file: its dataset and its name. */
bool roast__fileset_has(const struct roast_fileset *sorted,
                        const struct roast_str names[2]);

/* Writes a fileset, with the other members of the datasets in `given`. Both are sorted. */
void roast__fileset_write(struct roast_json *json, const struct roast_fileset *fileset,
                          const struct roast_fileset *given);

/* By dataset, then file; texts as bytes. */
int roast__fileset_compare(const struct roast_str a[2], const struct roast_str b[2]);

#endif
