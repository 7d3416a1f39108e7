/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - our failures are counted, not raised. */
#include <stdio.h>

#include "chunk.h"
#include "support.h"

static void keep(char out[PROBE_ERROR_BYTES], const char *where, struct roast_str type,
                 struct roast_str text)
{
    char plain[PROBE_ERROR_BYTES / 2];
    size_t size = text.data ? roast_str_redact(plain, sizeof(plain), text) : 0;
    struct roast_str cut = roast_str_cut((struct roast_str){plain, size},
                                         size < sizeof(plain) ? size : size - 1);

    (void)snprintf(out, PROBE_ERROR_BYTES, "%s: %.*s: %.*s", where,
                   (int)roast_str_cut(type, 64).size_bytes, type.data ? type.data : "",
                   (int)cut.size_bytes, plain);
}

/* Counts in the process and in the running chunk; the first text of each is kept. */
static void count(struct probe_state *state, const char *where, struct roast_str type,
                  struct roast_str text)
{
    struct chunk_errors *chunk = call_errors();

    if (state->errors++ == 0)
        keep(state->first_error, where, type, text);
    if (chunk && chunk->count++ == 0)
        keep(chunk->first, where, type, text);
    if (!chunk && state->loose_errors++ == 0)
        keep(state->first_loose_error, where, type, text);
}

/* Too many failures of ours: this process measures no more. */
static void strike(struct probe_state *state)
{
    if (++state->strikes >= PROBE_MAX_ERRORS)
        state->enabled = false;
}

static void count_exception(struct probe_state *state, const char *where,
                            PyObject *type, PyObject *value)
{
    PyObject *name = type ? PyObject_GetAttr(type, state->names.name) : NULL;
    PyObject *text = value ? text_of(value) : NULL;
    struct roast_str nothing = {NULL, 0};

    count(state, where, name ? text_borrow(name) : nothing,
          text ? text_borrow(text) : nothing);
    strike(state);
    Py_XDECREF(name);
    Py_XDECREF(text);
    (void)guard_clear(); /* a broken __str__ must not escape either; a Ctrl-C must */
}

bool guard_clear(void)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    PyErr_Clear();
    return true;
}

struct raised guard_keep_raised(void)
{
    struct raised raised;

    PyErr_Fetch(&raised.type, &raised.value, &raised.traceback);
    return raised;
}

void guard_raise_again(struct raised *raised)
{
    if (!guard_clear()) {
        Py_XDECREF(raised->type);
        Py_XDECREF(raised->value);
        Py_XDECREF(raised->traceback);
    } else {
        PyErr_Restore(raised->type, raised->value, raised->traceback);
    }
}

int guard_has_attr(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(object, name);

    Py_XDECREF(value);
    if (value)
        return 1;
    return guard_clear() ? 0 : -1;
}

bool guard_note(struct probe_state *state, const char *where)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;

    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    PyErr_Fetch(&type, &value, &traceback);
    count_exception(state, where, type, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return !PyErr_Occurred();
}

void guard_note_error(struct probe_state *state, const char *where,
                      const roast_error *err)
{
    guard_note_trouble(state, where, err);
    strike(state);
}

void guard_note_trouble(struct probe_state *state, const char *where,
                        const roast_error *err)
{
    count(state, where, roast_str_of(roast_status_name(err->code)),
          roast_str_of(err->message));
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
