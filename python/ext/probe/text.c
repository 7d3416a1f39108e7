/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - Python str and UTF-8 with a length. */
#include <string.h>

#include "support.h"

struct roast_str text_borrow(PyObject *str)
{
    Py_ssize_t size = 0;
    const char *data = PyUnicode_AsUTF8AndSize(str, &size);

    if (!data)
        PyErr_Clear();
    return (struct roast_str){data, (size_t)size};
}

/* Lone surrogates have no UTF-8; "\udc80" as six characters does. */
static PyObject *escape_surrogates(PyObject *str)
{
    PyObject *bytes = PyUnicode_AsEncodedString(str, "utf-8", "backslashreplace");
    PyObject *plain =
        bytes ? PyUnicode_FromEncodedObject(bytes, "utf-8", "replace") : NULL;

    Py_XDECREF(bytes);
    return plain;
}

PyObject *text_of(PyObject *object)
{
    PyObject *str = PyUnicode_CheckExact(object) ? Py_NewRef(object) : NULL;

    if (!str)
        str = PyObject_Str(object);
    if (!str || text_borrow(str).data)
        return str;
    PyObject *escaped = escape_surrogates(str);
    Py_DECREF(str);
    return escaped;
}

PyObject *text_redacted(PyObject *object)
{
    PyObject *text = text_of(object);
    struct roast_str str = text ? text_borrow(text) : (struct roast_str){NULL, 0};

    if (!str.data || !memchr(str.data, ':', str.size_bytes) || !strstr(str.data, "://"))
        return text;
    char *plain = PyMem_Malloc(str.size_bytes + 1);
    PyObject *redacted = NULL;
    if (plain) {
        size_t size = roast_str_redact(plain, str.size_bytes, str);
        redacted = text_new((struct roast_str){plain, size});
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(plain);
    Py_DECREF(text);
    return redacted;
}

PyObject *text_new(struct roast_str text)
{
    return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.size_bytes, "replace");
}
