/* SPDX-License-Identifier: BSD-3-Clause */
/* support.c - errors, text and dicts: what every file of the extension uses. */
#include "state.h"

PyObject *raise_error(const struct core_state *state, const roast_error *err)
{
    if (err->code == ROAST_NO_MEMORY)
        return PyErr_NoMemory();
    PyErr_SetString(state->roast_error,
                    err->message[0] ? err->message : roast_status_text(err->code));
    return NULL;
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
