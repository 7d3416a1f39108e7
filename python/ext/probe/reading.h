/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.h - what the attempt on this thread reads, as its hooks see it. */
#ifndef ROAST_EXT_READING_H
#define ROAST_EXT_READING_H

#include "state.h"

enum { ENDPOINT_BYTES = 256 };

/* Zeroed = nothing. Cleared with an attempt's begin and end; one inside is part of it. */
struct reading {
    PyObject *file;    /* owned: name of the chunk's file, if known */
    PyObject *source;  /* owned: of the chunk's file; of parquet, what reads columns */
    PyObject *columns; /* owned: {column: (bytes, uncompressed)} of a parquet file */
    PyObject *page;    /* owned: the packed page that was fetched last ... */
    uint64_t page_bytes;
    unsigned attempts; /* begun, each inside the one before */
    unsigned opening;  /* calls that go on: uproot.open, */
    unsigned metadata; /* ... page lists, */
    unsigned buffers;  /* ... buffers of columns, */
    unsigned pages;    /* ... pages of an RNTuple, */
    unsigned sources;  /* ... requests to a source */
    bool opening_ours; /* uproot.open goes on for the chunk's file */
    int32_t branch;    /* number of the column that is read, + 1; 0: none */
    bool sees_caches;  /* cached data can be distinguished from data that is read */
    bool offsets;      /* the buffer holds offsets */
    bool touched;      /* its column was really read, not served by a cache */
    unsigned baskets;  /* token of the baskets that are waited for */
    uint64_t awaited;  /* ... so many have not come yet */
    bool in_thread;    /* ... and this thread unpacks them */
    bool lost;         /* ... and one of them will never come */
    PyObject *named;   /* owned: weak reference to the source whose name is below */
    char endpoint[ENDPOINT_BYTES];
    struct roast_file_facts facts;
    uint64_t file_key; /* of facts in the cache of files */
    uint64_t missing;  /* hooks that only an RNTuple needs */
};

struct reading *reading_here(void);

/* Before an attempt begins, on a file of that name. */
void reading_begin(const roast_thread *thread, PyObject *file);

/* Before an attempt ends: records what is left of its reads. No exception of ours. */
void reading_finish(struct probe_state *state, roast_thread *thread);

/* Whether bytes of a source are those of the chunk's file. */
bool reading_is_ours(const struct reading *reading, PyObject *source);

/* What a column is read from; new reference, or NULL with an exception. */
PyObject *reading_source_of(struct probe_state *state, PyObject *column);

/* Whether a column is one of the chunk's file; true while events are built, when it
 * is not known. No exception but the user's. */
bool reading_owns(struct probe_state *state, PyObject *column);

/* Records one wait for `source`. more's name is filled in here. */
void source_record(struct probe_state *state, roast_thread *thread, PyObject *source,
                   struct roast_endpoint *more);

/* ---- hook_files.c ------------------------------------------------------------ */

/* Another run begins, which gets everything again. */
void files_forget(struct probe_state *state);

/* What is known of the tree behind a NanoEventsFactory. */
void file_learn_root(struct probe_state *state, roast_thread *thread, PyObject *factory,
                     PyObject *kwargs);
void file_learn_parquet(struct probe_state *state, roast_thread *thread,
                        PyObject *factory, PyObject *kwargs);

/* Sizes of a branch of a TTree in its file; false when they are not known. */
bool file_branch_sizes(struct probe_state *state, PyObject *branch,
                       struct roast_branch *row);

/* The codec, from the first bytes of a basket or page. */
void file_learn_codec(struct probe_state *state, roast_thread *thread, PyObject *chunk,
                      bool is_basket);

#endif
