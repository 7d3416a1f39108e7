/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.h - the state that the hooks of one thread share: what its attempt reads. */
#ifndef ROAST_EXT_READING_H
#define ROAST_EXT_READING_H

#include "state.h"

enum { ENDPOINT_BYTES = 256 };

/* Zeroed = no attempt. Cleared when the outermost attempt begins and ends. */
struct reading {
    PyObject *file;    /* owned: name of the chunk's file, if known */
    PyObject *source;  /* owned: of the chunk's file; of parquet, what reads columns */
    PyObject *columns; /* owned: {column: (bytes, uncompressed)} of a parquet file */
    PyObject *page;    /* owned: the compressed page that was fetched last ... */
    uint64_t page_bytes;
    unsigned attempts; /* nested */
    unsigned opening;  /* running calls of uproot.open, */
    unsigned metadata; /* ... page lists, */
    unsigned buffers;  /* ... buffers of columns, */
    unsigned pages;    /* ... pages of an RNTuple, */
    unsigned sources;  /* ... requests to a source */
    bool opening_ours; /* uproot.open is opening the chunk's file */
    int32_t branch;    /* number of the column that is read, + 1; 0: none */
    bool sees_caches;  /* cached data can be distinguished from data that is read */
    bool offsets;      /* the buffer holds offsets */
    bool touched;      /* its column was really read, not served by a cache */
    unsigned baskets;  /* token of the call that waits for baskets */
    uint64_t awaited;  /* ... number that has not arrived */
    bool in_thread;    /* ... this thread decompresses them */
    bool lost;         /* ... one of them will never arrive */
    uint64_t read_end; /* where the last range of the chunk's file ended */
    PyObject *named;   /* owned: weak reference to the source whose name is below */
    char endpoint[ENDPOINT_BYTES];
    struct roast_file_facts facts;
    uint64_t file_key; /* of facts in the cache of files */
    uint64_t missing;  /* hooks that only an RNTuple needs */
};

struct reading *reading_here(void);

/* Before an attempt begins, on a file of that name. */
void reading_begin(const roast_thread *thread, PyObject *file);

/* Before an attempt ends: records the cost of hooks and the remaining bytes. */
void reading_finish(struct probe_state *state, roast_thread *thread);

/* Whether bytes of a source are those of the chunk's file. */
bool reading_is_ours(const struct reading *reading, PyObject *source);

/* The source that a column is read from; new reference, or NULL with an exception. */
PyObject *reading_source_of(struct probe_state *state, PyObject *column);

/* Whether a column is one of the chunk's file; true while the file is unknown, when
 * events are built. No exception but the user's. */
bool reading_owns(struct probe_state *state, PyObject *column);

/* Records one wait for `source`. more's name is filled in here. */
void source_record(struct probe_state *state, roast_thread *thread, PyObject *source,
                   struct roast_endpoint *more);

/* ---- hook_files.c ------------------------------------------------------------ */

/* Another run begins, and gets all facts again. */
void files_forget(struct probe_state *state);

/* Sizes of a branch of a TTree in its file; false: unknown. */
bool file_branch_sizes(struct probe_state *state, PyObject *branch,
                       struct roast_branch *row);

/* Records the codec, from the first bytes of a packed page, or of a basket: if that is
 * not packed, from the settings of branch and file. `branch` is NULL for a page. */
void file_learn_codec(struct probe_state *state, roast_thread *thread, PyObject *chunk,
                      PyObject *branch);

#endif
