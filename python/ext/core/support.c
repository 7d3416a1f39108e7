/* SPDX-License-Identifier: BSD-3-Clause */
/* support.c - errors, text and dicts: what every file of the extension uses. */
#include "state.h"

static PyObject *type_of(const struct core_state *state, int code)
{
    switch (code) {
    case ROAST_BAD_DATA:
    case ROAST_TRUNCATED:
    case ROAST_BAD_CHECKSUM:
    case ROAST_NEWER_FORMAT:
        return state->format_error;
    case ROAST_IO:
        return state->store_error;
    default:
        return state->roast_error;
    }
}

/* Takes the reference to the message; NULL is an earlier failure. */
static PyObject *raise_text(const struct core_state *state, int code, PyObject *message)
{
    PyObject *type = type_of(state, code);
    PyObject *name = message ? PyUnicode_FromString(roast_status_name(code)) : NULL;
    PyObject *error = name ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;

    if (error && PyObject_SetAttrString(error, "code", name) == 0)
        PyErr_SetObject(type, error);
    Py_XDECREF(message);
    Py_XDECREF(name);
    Py_XDECREF(error);
    return NULL;
}

/* A path in it may be any bytes. */
static PyObject *message_new(const roast_error *err)
{
    return text_new(
        roast_str_of(err->message[0] ? err->message : roast_status_text(err->code)));
}

PyObject *raise_error(const struct core_state *state, const roast_error *err)
{
    if (err->code == ROAST_NO_MEMORY)
        return PyErr_NoMemory();
    return raise_text(state, err->code, message_new(err));
}

PyObject *raise_error_of(const struct core_state *state, const char *path,
                         const roast_error *err)
{
    PyObject *place = NULL;
    PyObject *message = NULL;
    PyObject *text = NULL;

    if (err->code == ROAST_NO_MEMORY)
        return PyErr_NoMemory();
    place = text_new(roast_str_of(path));
    message = place ? message_new(err) : NULL;
    if (message)
        text = PyUnicode_Contains(message, place) == 1
                   ? Py_NewRef(message)
                   : PyUnicode_FromFormat("%U: %U", place, message);
    Py_XDECREF(place);
    Py_XDECREF(message);
    return raise_text(state, err->code, text);
}

PyObject *text_new(struct roast_str text)
{
    return PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)text.size_bytes,
                                "replace");
}

int dict_set(PyObject *dict, const char *key, PyObject *value)
{
    int status = value ? PyDict_SetItemString(dict, key, value) : -1;

    Py_XDECREF(value);
    return status;
}

int text_borrow(PyObject *object, struct roast_str *text)
{
    Py_ssize_t size = 0;

    *text = (struct roast_str){NULL, 0};
    if (object == Py_None)
        return 0;
    text->data = PyUnicode_AsUTF8AndSize(object, &size);
    text->size_bytes = (size_t)size;
    return text->data ? 0 : -1;
}
