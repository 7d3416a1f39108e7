/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - our failures are counted, not raised. */
#include <stdio.h>

#include "support.h"

/* "where: ValueError: text" of the first failure; later ones are only counted. */
static void keep_first(struct probe_state *state, const char *where, PyObject *type,
                       PyObject *value)
{
    PyObject *name = type ? PyObject_GetAttrString(type, "__name__") : NULL;
    PyObject *text = value ? PyObject_Str(value) : NULL;
    struct roast_str name_str = name ? text_borrow(name) : roast_str_of("error");
    struct roast_str text_str = text ? text_borrow(text) : roast_str_of("");

    (void)snprintf(state->first_error, sizeof(state->first_error), "%s: %.*s: %.*s",
                   where, (int)roast_str_cut(name_str, 64).size_bytes,
                   name_str.data ? name_str.data : "",
                   (int)roast_str_cut(text_str, 128).size_bytes,
                   text_str.data ? text_str.data : "");
    Py_XDECREF(name);
    Py_XDECREF(text);
    PyErr_Clear(); /* a broken __str__ must not escape either */
}

static void count(struct probe_state *state)
{
    state->errors++;
    if (state->errors >= PROBE_MAX_ERRORS)
        state->enabled = false;
}

bool guard_note(struct probe_state *state, const char *where)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;

    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    PyErr_Fetch(&type, &value, &traceback);
    if (state->errors == 0)
        keep_first(state, where, type, value);
    count(state);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return true;
}

void guard_note_error(struct probe_state *state, const char *where,
                      const roast_error *err)
{
    if (state->errors == 0)
        (void)snprintf(state->first_error, sizeof(state->first_error), "%s: %.200s",
                       where, err->message);
    count(state);
}

PyObject *raise_roast(struct probe_state *state, const roast_error *err)
{
    if (err->code == ROAST_NO_MEMORY)
        return PyErr_NoMemory();
    PyObject *exception = PyObject_CallFunction(
        state->format_error, "s", err->message[0] ? err->message : "bad data");
    PyObject *code = PyUnicode_FromString(roast_status_name(err->code));
    if (exception && code && PyObject_SetAttrString(exception, "code", code) == 0)
        PyErr_SetObject(state->format_error, exception);
    Py_XDECREF(code);
    Py_XDECREF(exception);
    return NULL;
}
