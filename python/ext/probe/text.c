/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - Python str and UTF-8 with a length. */
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

typedef size_t redactor(char *out, size_t out_bytes, struct roast_str text);

/* Takes the reference to text; gives one to what is left of it. */
static PyObject *cleaned(PyObject *text, redactor *redact)
{
    struct roast_str str = text_borrow(text);
    size_t room = 2 * str.size_bytes + 16; /* `***` may be longer than a secret */
    char *plain = PyMem_Malloc(room);
    PyObject *clean = NULL;

    if (plain)
        clean = text_new((struct roast_str){plain, redact(plain, room, str)});
    else
        PyErr_NoMemory();
    PyMem_Free(plain);
    Py_DECREF(text);
    return clean;
}

PyObject *text_redacted(PyObject *object)
{
    PyObject *text = text_of(object);
    struct roast_str str = text ? text_borrow(text) : (struct roast_str){NULL, 0};

    return str.data && roast_str_may_hold_secret(str) ? cleaned(text, roast_str_redact)
                                                      : text;
}

PyObject *file_redacted(PyObject *object)
{
    PyObject *text = text_of(object);

    return text ? cleaned(text, roast_str_redact_file) : NULL;
}

PyObject *text_new(struct roast_str text)
{
    return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.size_bytes, "replace");
}
