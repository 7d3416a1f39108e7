/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.h - callables that replace entry points of coffea and uproot.
 *
 * While chunks run, the Python layer replaces these functions by hooks (coffea/hooks.py).
 * A hook calls the original with the same arguments and returns its result. On a thread
 * with an armed attempt it also records the slice that the time belongs to, and what was
 * read. It has no state of its own. */
#ifndef ROAST_EXT_HOOK_H
#define ROAST_EXT_HOOK_H

#include "state.h"

enum hook_binding {
    HOOK_PLAIN,    /* a function in a module */
    HOOK_METHOD,   /* a function in a class */
    HOOK_CLASS,    /* a classmethod */
    HOOK_PROPERTY, /* a property */
};

struct hook {
    PyObject_HEAD
    PyObject *original; /* as found in its namespace: maybe a classmethod or property */
    PyObject *target;   /* the function that is called */
    PyObject *weak_refs;
    struct probe_state *state; /* of the module, which the type keeps alive */
    enum roast_hook number;
    enum hook_binding binding;
};

/* Calls the target and measures it. args of a method begin with self. */
typedef PyObject *(*hook_handler)(struct hook *hook, roast_thread *thread,
                                  PyObject *args, PyObject *kwargs);

/* The call itself, in a handler: signals wait while we work, and pass meanwhile. */
PyObject *hook_pass(const struct hook *hook, PyObject *args, PyObject *kwargs);

/* The call, with its time in one slice. */
PyObject *hook_in_slice(struct hook *hook, roast_thread *thread, PyObject *args,
                        PyObject *kwargs, enum roast_ladder_item slice);

/* Ends our own part of a call that returned `result`. An exception in it is noted; only
 * one of the user (Ctrl-C) replaces the result. */
PyObject *hook_done(struct probe_state *state, PyObject *result, const char *where);

/* ---- support ----------------------------------------------------------------- */

/* CPU time of the calling thread. (ladder.c) */
int64_t hook_thread_cpu_ns(void);

/* Replaces a reference; takes value. */
static inline void hook_set(PyObject **slot, PyObject *value)
{
    PyObject *old = *slot;

    *slot = value;
    Py_XDECREF(old);
}

/* A number >= 0; false for NULL and other objects, with no exception but the user's. */
bool hook_whole(PyObject *object, uint64_t *value);

/* The same of object.name. */
bool hook_number(PyObject *object, PyObject *name, uint64_t *value);

/* The same of a member of an uproot model: ten times cheaper than its property. */
bool hook_member(struct probe_state *state, PyObject *model, PyObject *name,
                 uint64_t *value);

/* The member itself, of the model or of its bases. New reference; NULL: none. */
PyObject *hook_any_member(struct probe_state *state, PyObject *model, PyObject *name);

#endif
