/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk.h - running a chunk: the facts of its events, and the call itself. */
#ifndef ROAST_EXT_CHUNK_H
#define ROAST_EXT_CHUNK_H

#include "state.h"

/* ---- events.c ---------------------------------------------------------------- */

/* Objects whose text a record borrows until it is encoded; owned. */
struct held {
    PyObject *objects[4]; /* dataset, file, tree, uuid */
    size_t count;
};

/* Fills the record with the metadata of the events. -1 only if an exception of the user
 * is set. */
int events_describe(struct probe_state *state, roast_thread *thread, PyObject *events,
                    struct held *held);

/* The object that counts the bytes requested from the events' file. New reference; NULL:
 * unknown, or an exception of the user is set. */
PyObject *events_byte_source(struct probe_state *state, PyObject *events);

/* Its counter. False when it has none. */
bool byte_source_read(struct probe_state *state, PyObject *source, uint64_t *bytes);

/* ---- guard.c ------------------------------------------------------------------ */

/* Distinguishes an exception that propagates from a later one at the same address (see
 * guard.c). Holds no references: addresses are only compared. Zeroed = none. */
struct failure {
    const void *value;
    const void *frame;
    long instruction;
    uintptr_t serial; /* identifies the exception for libroast */
};

/* Whether value, with this traceback, is the exception noted last. */
bool failure_is(struct probe_state *state, const struct failure *failure,
                PyObject *value, PyObject *traceback);

/* Notes an exception that leaves a section; a token for roast_section_failed(). */
const void *failure_note(struct probe_state *state, struct failure *failure,
                         PyObject *value, PyObject *traceback);

/* "package.module.Class", or just the name for builtins. New reference or NULL. */
PyObject *exception_name(struct probe_state *state, PyObject *type);

/* str() of an exception; NULL if that raises. */
PyObject *exception_text(PyObject *value);

/* ---- call.c ------------------------------------------------------------------ */

/* Runs func(*args, **kwargs) as a chunk, or as a section of the running chunk. */
PyObject *call_measured(struct probe_state *state, PyObject *func, PyObject *args,
                        PyObject *kwargs, bool is_method);

/* Errors of the monitor during one chunk. */
struct chunk_errors {
    uint64_t count;
    char first[PROBE_ERROR_BYTES];
};

/* Those of the chunk that runs on this thread; NULL: none runs. */
struct chunk_errors *call_errors(void);

/* Notes that an exception leaves a section of the running chunk. */
void call_section_failed(struct probe_state *state, roast_thread *thread,
                         PyObject *value, PyObject *traceback);

/* The running chunk's user keys (borrowed). NULL: none runs, or with an exception. */
PyObject *call_current_chunk(void);

#endif
