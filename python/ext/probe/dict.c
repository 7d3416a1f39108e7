/* SPDX-License-Identifier: BSD-3-Clause */
/* dict.c - dicts with keys that are C strings. */
#include "support.h"

int dict_set(PyObject *dict, const char *key, PyObject *value)
{
    if (!value)
        return -1;
    int status = PyDict_SetItemString(dict, key, value);
    Py_DECREF(value);
    return status;
}

PyObject *dict_get(PyObject *dict, const char *key)
{
    PyObject *name = PyUnicode_FromString(key);
    PyObject *value = name ? PyDict_GetItemWithError(dict, name) : NULL;

    if (name && !value && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, name);
    Py_XDECREF(name);
    return value;
}
