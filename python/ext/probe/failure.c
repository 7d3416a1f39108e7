/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.c - is this still the same exception?
 *
 * The section that an exception left first is the one to name. But an exception may be
 * caught, freed, and another one made at the same address. A strong reference would tell
 * them apart and would keep the user's frames and arrays alive; so the place where it
 * stood in its traceback is compared instead. The entry of a frame stays in the
 * traceback while the exception travels on, and another exception that stands at the
 * same instruction of the same frame has left the same section, which noted it anew. */
#include "chunk.h"
#include "support.h"

/* The attribute of a traceback as a new reference, or NULL without an exception. */
static PyObject *attribute(PyObject *traceback, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(traceback, name);

    if (!value)
        PyErr_Clear();
    return value;
}

static long instruction_of(struct probe_state *state, PyObject *traceback)
{
    PyObject *lasti = attribute(traceback, state->names.tb_lasti);
    long instruction = lasti ? PyLong_AsLong(lasti) : -1;

    Py_XDECREF(lasti);
    PyErr_Clear();
    return instruction;
}

/* The address of the frame; the traceback keeps it alive. */
static const void *frame_of(struct probe_state *state, PyObject *traceback)
{
    PyObject *frame = attribute(traceback, state->names.tb_frame);

    Py_XDECREF(frame);
    return frame;
}

static bool stands_at(struct probe_state *state, const struct failure *failure,
                      PyObject *traceback)
{
    return frame_of(state, traceback) == failure->frame &&
           instruction_of(state, traceback) == failure->instruction;
}

bool failure_is(struct probe_state *state, const struct failure *failure,
                PyObject *value, PyObject *traceback)
{
    bool found = false;

    if (!failure->value || failure->value != value || !traceback)
        return false;
    Py_INCREF(traceback);
    while (traceback && traceback != Py_None && !found) {
        found = stands_at(state, failure, traceback);
        PyObject *next = attribute(traceback, state->names.tb_next);
        Py_DECREF(traceback);
        traceback = next;
    }
    Py_XDECREF(traceback);
    return found;
}

const void *failure_note(struct probe_state *state, struct failure *failure,
                         PyObject *value, PyObject *traceback)
{
    if (!failure_is(state, failure, value, traceback)) {
        failure->value = value;
        failure->frame = traceback ? frame_of(state, traceback) : NULL;
        failure->instruction = traceback ? instruction_of(state, traceback) : -1;
        failure->serial++;
    }
    return (const void *)failure->serial;
}

PyObject *exception_name(struct probe_state *state, PyObject *type)
{
    PyObject *name = PyObject_GetAttr(type, state->names.qualname);
    PyObject *module = PyObject_GetAttr(type, state->names.module_name);
    PyObject *full = NULL;

    if (name && module && PyUnicode_Check(module) &&
        PyUnicode_CompareWithASCIIString(module, "builtins") != 0 &&
        PyUnicode_CompareWithASCIIString(module, "__main__") != 0)
        full = PyUnicode_FromFormat("%U.%U", module, name);
    else
        full = Py_XNewRef(name);
    Py_XDECREF(name);
    Py_XDECREF(module);
    (void)guard_clear();
    return full;
}

PyObject *exception_text(PyObject *value)
{
    PyObject *text = value ? text_of(value) : NULL;

    if (!text)
        (void)guard_clear();
    return text;
}
