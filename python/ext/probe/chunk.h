/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk.h - running a chunk: what the events say, and the call itself. */
#ifndef ROAST_EXT_CHUNK_H
#define ROAST_EXT_CHUNK_H

#include "state.h"

/* ---- events.c ---------------------------------------------------------------- */

/* Objects whose text a record borrows until it is encoded; owned. */
struct held {
    PyObject *objects[4]; /* dataset, file, tree, uuid */
    size_t count;
};

/* Fills the record with what events say of themselves. -1 only for a foreign
 * exception. */
int events_describe(struct probe_state *state, roast_thread *thread, PyObject *events,
                    struct held *held);

/* The object that counts the bytes requested from the events' file (new reference), or
 * NULL: unknown, or with a foreign exception set. */
PyObject *events_byte_source(struct probe_state *state, PyObject *events);

/* Its counter. False when it has none. */
bool byte_source_read(struct probe_state *state, PyObject *source, uint64_t *bytes);

/* ---- guard.c ------------------------------------------------------------------ */

/* Distinguishes an exception on its way out from a later one at the same address.
 * Nothing is kept alive for it: addresses are compared only, together with the place
 * in the traceback, which no other exception can share. Zeroed = none seen. */
struct failure {
    const void *value;
    const void *frame;
    long instruction;
    uintptr_t serial; /* what libroast knows the exception by */
};

/* Whether value, with this traceback, is the exception noted last. */
bool failure_is(struct probe_state *state, const struct failure *failure,
                PyObject *value, PyObject *traceback);

/* Notes an exception that leaves a section; a token for roast_section_failed(). */
const void *failure_note(struct probe_state *state, struct failure *failure,
                         PyObject *value, PyObject *traceback);

/* "package.module.Class", or just the name for builtins. New reference or NULL. */
PyObject *exception_name(struct probe_state *state, PyObject *type);

/* The text of an exception; NULL when it cannot say, or was interrupted. */
PyObject *exception_text(PyObject *value);

/* ---- call.c ------------------------------------------------------------------ */

/* Gives the class of a processor the property through which each thread finds its own
 * chunk. Once per class; -1 only for a foreign exception. */
int call_prepare_class(struct probe_state *state, PyObject *processor);

/* Runs func(*args, **kwargs) as a chunk, or as a part of the one that runs already. */
PyObject *call_measured(struct probe_state *state, PyObject *func, PyObject *args,
                        PyObject *kwargs, bool is_method);

/* Failures of the monitor during one chunk. */
struct chunk_errors {
    uint64_t count;
    char first[PROBE_ERROR_BYTES];
};

/* Those of the chunk that runs on this thread; NULL when none does. */
struct chunk_errors *call_errors(void);

/* An exception leaves a section of the running chunk. */
void call_section_failed(struct probe_state *state, roast_thread *thread,
                         PyObject *value, PyObject *traceback);

/* The running chunk's user keys (borrowed). NULL: none runs, or with an exception. */
PyObject *call_current_chunk(void);

#endif
