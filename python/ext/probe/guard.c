/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - errors of the monitor are counted, not raised; exceptions of the user are
 * identified. */
#include <stdio.h>

#include "chunk.h"
#include "support.h"

static void format_error(char out[PROBE_ERROR_BYTES], const char *where,
                         struct roast_str type, struct roast_str text)
{
    char plain[PROBE_ERROR_BYTES / 2];
    size_t size = text.data ? roast_str_redact(plain, sizeof(plain), text) : 0;
    struct roast_str cut = roast_str_cut((struct roast_str){plain, size},
                                         size < sizeof(plain) ? size : size - 1);

    (void)snprintf(out, PROBE_ERROR_BYTES, "%s: %.*s: %.*s", where,
                   (int)roast_str_cut(type, 64).size_bytes, type.data ? type.data : "",
                   (int)cut.size_bytes, plain);
}

/* Counts in the process and in the running chunk; both keep the text of the first. */
static void count(struct probe_state *state, const char *where, struct roast_str type,
                  struct roast_str text)
{
    struct chunk_errors *chunk = call_errors();

    if (state->errors++ == 0)
        format_error(state->first_error, where, type, text);
    if (chunk && chunk->count++ == 0)
        format_error(chunk->first, where, type, text);
    if (!chunk && state->loose_errors++ == 0)
        format_error(state->first_loose_error, where, type, text);
}

/* Too many errors: this process stops measuring. */
static void count_strike(struct probe_state *state)
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
    count_strike(state);
    Py_XDECREF(name);
    Py_XDECREF(text);
    (void)guard_clear(); /* of a broken __str__; a Ctrl-C stays set */
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
    if (raised.type)
        PyErr_NormalizeException(&raised.type, &raised.value, &raised.traceback);
    return raised;
}

void guard_raise_again(struct raised *raised)
{
    if (!raised->type)
        return;
    if (guard_clear())
        PyErr_Restore(raised->type, raised->value, raised->traceback);
    else
        guard_give_context(raised);
}

void guard_give_context(struct raised *before)
{
    struct raised now = guard_keep_raised();

    if (before->traceback)
        (void)PyException_SetTraceback(before->value, before->traceback);
    if (now.value && before->value && now.value != before->value)
        PyException_SetContext(now.value, Py_NewRef(before->value));
    PyErr_Restore(now.type, now.value, now.traceback);
    Py_XDECREF(before->type);
    Py_XDECREF(before->value);
    Py_XDECREF(before->traceback);
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
    count_strike(state);
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

/* ---- is this still the same exception? ------------------------------------------
 *
 * A failed chunk names the first section that the exception left. But an exception may be
 * caught and freed, and another one created at the same address. A strong reference would
 * distinguish them, but keep the user's frames and arrays alive. So a position in the
 * traceback is compared instead: the entry of a frame stays in the traceback while the
 * exception propagates, and another exception at the same instruction of the same frame
 * has left the same section, which noted it again. */

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

static bool is_at(struct probe_state *state, const struct failure *failure,
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
        found = is_at(state, failure, traceback);
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
