/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.h - the files of datasets that attempts read, each once.
 *
 * A chunk frame names its file. A begin frame has ids only: its source has no texts
 * until roast__sources_resolve() finds names for the ids. */
#ifndef ROAST_RUN_SOURCES_H
#define ROAST_RUN_SOURCES_H

#include "base/string_table.h"
#include "roast/record.h"

/* A file of a dataset. The texts are numbers of strings, or ROAST_NO_STRING. */
struct roast_source {
    int32_t dataset;
    int32_t file;
    int32_t tree;
    int32_t uuid;
    bool by_id; /* known by these ids alone; the texts are what they resolve to */
    uint32_t dataset_id;
    uint32_t file_id;
};

enum { ROAST_NO_SOURCE = -1, ROAST_SOURCE_NO_MEMORY = -2 };

/* The source of a record that has at least one of its texts, else ROAST_NO_SOURCE. Adds
 * its names. */
struct roast_attempts;
struct roast_names;
int32_t roast__sources_of_record(struct roast_attempts *attempts,
                                 struct roast_string_table *strings,
                                 struct roast_names *names, const roast_record *rec);

/* The source of two ids of a place, ROAST_NO_SOURCE where both are 0. */
int32_t roast__sources_of_ids(struct roast_attempts *attempts, uint32_t dataset_id,
                              uint32_t file_id);

/* Sets the source of a row. */
void roast__sources_set(struct roast_attempts *attempts, size_t row, int32_t source);

/* Resolves ids to known names, and sets the rows of such a source to the source of the
 * records of the same file, if any. Called before sources are read. */
void roast__sources_resolve(struct roast_attempts *attempts,
                            const struct roast_names *names);

/* ---- names of datasets and files by the 32-bit ids of begin frames. Where two names
 * have the same id, the id resolves to none. */

/* Zeroed = empty and valid. */
struct roast_names {
    struct roast_name {
        uint32_t id;
        int32_t text; /* number of a string */
    } * items;        /* owned */
    size_t count;
    size_t cap;
    struct roast_hash_table slots; /* by id */
};

/* Adds a text of strings; false when out of memory. ROAST_NO_STRING is ignored. */
bool roast__names_add(struct roast_names *names,
                      const struct roast_string_table *strings, int32_t text);

/* Whether a text of strings was added. */
bool roast__names_has(const struct roast_names *names,
                      const struct roast_string_table *strings, int32_t text);

/* The number of the text with this id; ROAST_NO_STRING where none or several have it,
 * and for id 0, which means no name. */
int32_t roast__names_find(const struct roast_names *names, uint32_t id);

void roast__names_release(struct roast_names *names);

#endif
