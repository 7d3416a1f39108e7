/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.h - callables that stand in for entry points of coffea and uproot.
 *
 * While chunks run, the Python layer puts a hook where such an entry point was
 * (coffea/hooks.py). A hook calls what it stands for with the same arguments and
 * gives back the same result; on a thread whose attempt is looked into it also says
 * which slice the time goes to, and what was read. It holds no state of its own. */
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
    PyObject *original; /* as it was found in its namespace */
    PyObject *target;   /* what is called */
    PyObject *weak_refs;
    struct probe_state *state; /* of the module, which the type keeps alive */
    enum roast_hook number;
    enum hook_binding binding;
};

/* Calls what the hook stands for, and looks on. args of a method begin with self. */
typedef PyObject *(*hook_handler)(struct hook *hook, roast_thread *thread,
                                  PyObject *args, PyObject *kwargs);

static inline PyObject *hook_pass(const struct hook *hook, PyObject *args,
                                  PyObject *kwargs)
{
    return PyObject_Call(hook->target, args, kwargs);
}

/* The call with its time in one slice. */
PyObject *hook_in_slice(struct hook *hook, roast_thread *thread, PyObject *args,
                        PyObject *kwargs, enum roast_ladder_item slice);

/* Ends our own part of a call that gave `result`. What failed in it is noted; only what
 * is the user's (Ctrl-C) takes the place of the result. */
PyObject *hook_done(struct probe_state *state, PyObject *result, const char *where);

/* ---- support ----------------------------------------------------------------- */

/* CPU time of the calling thread. (ladder.c) */
int64_t hook_thread_cpu_ns(void);

/* Puts a new reference in a slot. */
static inline void hook_set(PyObject **slot, PyObject *value)
{
    PyObject *old = *slot;

    *slot = value;
    Py_XDECREF(old);
}

/* A number >= 0; false, and no exception but the user's, when it is none or NULL. */
bool hook_whole(PyObject *object, uint64_t *value);

/* The same of object.name. */
bool hook_number(PyObject *object, PyObject *name, uint64_t *value);

/* The same of what uproot has read into a model; ten times cheaper than the property
 * that gives it to users. */
bool hook_member(struct probe_state *state, PyObject *model, PyObject *name,
                 uint64_t *value);

/* The member itself, of the model or of its bases; new reference, NULL: none. */
PyObject *hook_any_member(struct probe_state *state, PyObject *model, PyObject *name);

#endif
