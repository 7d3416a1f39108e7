/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.h - what the files of roastcoffea._probe share.
 *
 * One struct holds the state of the module; one .c per Python type. Our own failures
 * never reach the user: they go through guard_note(), are counted and shown. What is
 * not an `Exception` (KeyboardInterrupt, SystemExit) is never ours: it always passes. */
#ifndef ROAST_EXT_PROBE_H
#define ROAST_EXT_PROBE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "roast/probe.h"
#include "roast/value.h"
#include "roast/view.h"

enum { PROBE_MAX_ERRORS = 100, PROBE_ERROR_BYTES = 256 };

/* Names looked up in other objects, interned once. NAME(c identifier, "text"). */
#define PROBE_NAMES(NAME) \
    NAME(metadata, "metadata") \
    NAME(dataset, "dataset") \
    NAME(filename, "filename") \
    NAME(treename, "treename") \
    NAME(fileuuid, "fileuuid") \
    NAME(entrystart, "entrystart") \
    NAME(entrystop, "entrystop") \
    NAME(events, "events") \
    NAME(attrs, "attrs") \
    NAME(requested, "num_requested_bytes") \
    NAME(output_key, "__roastcoffea_metrics__") \
    NAME(current_chunk, "_roastcoffea_current_chunk") \
    NAME(collect, "_roastcoffea_collect_metrics") \
    NAME(copy, "copy") \
    NAME(item, "item") \
    NAME(dtype, "dtype") \
    NAME(module_name, "__module__") \
    NAME(qualname, "__qualname__")

struct probe_names {
#define NAME(id, text) PyObject *id;
    PROBE_NAMES(NAME)
#undef NAME
};

/* The module's state; every pointer is owned. */
struct probe_state {
    PyObject *front;        /* the object whose methods users call */
    PyObject *null_context; /* what track_*() give outside a chunk */
    PyTypeObject *front_type;
    PyTypeObject *section_type;
    PyTypeObject *null_type;
    PyTypeObject *record_type;
    PyObject *default_dict; /* collections.defaultdict, OrderedDict */
    PyObject *ordered_dict;
    PyObject *chunk_property; /* gives each thread its own chunk */
    PyObject *decorate;       /* callables of the Python layer */
    PyObject *byte_source;
    PyObject *stub;         /* arguments that rebuild front anywhere */
    PyObject *known_class;  /* processor class that is prepared already */
    PyObject *known_events; /* class of events seen last ... */
    bool events_have_attrs; /* ... and whether they may lead to a file */
    PyObject *roast_error;  /* exception types */
    PyObject *format_error;
    struct probe_names names;
    PyObject *spare_section; /* memory of a dead section, or NULL */
    bool enabled;
    bool live;
    bool exact_peak;
    bool has_run_id;
    unsigned char run_id[ROAST_RUN_ID_BYTES];
    uint64_t errors; /* of the monitor, in this process */
    char first_error[PROBE_ERROR_BYTES];
};

/* ---- guard.c ----------------------------------------------------------------- */

/* Swallows and counts the current exception, true; or leaves it, false, when it is not
 * an Exception and therefore the user's. */
bool guard_note(struct probe_state *state, const char *where);

/* The same for a failure of libroast. */
void guard_note_error(struct probe_state *state, const char *where,
                      const roast_error *err);

/* Raises the Python exception of a libroast error; returns NULL. */
PyObject *raise_roast(struct probe_state *state, const roast_error *err);

/* ---- text.c ------------------------------------------------------------------ */

/* UTF-8 of a str object, borrowed from it. A str with lone surrogates has none:
 * absent then, with no exception set. */
struct roast_str text_borrow(PyObject *str);

/* A str object with valid UTF-8 for any object: itself, or str() of it, surrogates
 * written as escapes. New reference; NULL with an exception. */
PyObject *text_of(PyObject *object);

PyObject *text_new(struct roast_str text); /* undecodable bytes are replaced */

/* ---- values.c ---------------------------------------------------------------- */

/* Puts key and value, or takes both back and counts the loss. -1 only when a foreign
 * exception (not an Exception) is set. */
int values_put(struct probe_state *state, roast_thread *thread, roast_values *out,
               PyObject *key, PyObject *value);

/* A dict from a blob of entries. */
PyObject *values_to_dict(struct probe_state *state, struct roast_str blob);

/* ---- types ------------------------------------------------------------------- */

extern PyType_Spec front_spec;
extern PyType_Spec section_spec;
extern PyType_Spec null_spec;
extern PyType_Spec record_spec;

PyObject *front_new(PyObject *module, struct probe_state *state);
PyObject *null_context_new(struct probe_state *state);
PyObject *section_new(struct probe_state *state, PyObject *name,
                      enum roast_section_kind kind, PyObject *source);
PyObject *record_new(struct probe_state *state, struct roast_str frame);

/* A plain dict of everything a frame holds, under the names of api and docs. */
PyObject *record_to_dict(struct probe_state *state, struct roast_str frame);

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

/* ---- call.c ------------------------------------------------------------------ */

/* Gives the class of a processor what its instances are asked for: the switch (off) and
 * the property through which each thread finds its own chunk. Once per class; -1 only
 * for a foreign exception. */
int call_prepare_class(struct probe_state *state, PyObject *processor);

/* Runs func(*args, **kwargs) as a chunk, or as a part of the one that runs already. */
PyObject *call_measured(struct probe_state *state, PyObject *func, PyObject *args,
                        PyObject *kwargs, bool is_method);

/* The running chunk's dict of user keys (borrowed), or NULL without an exception when
 * no chunk runs on this thread, or with one. */
PyObject *call_current_chunk(void);

#endif
