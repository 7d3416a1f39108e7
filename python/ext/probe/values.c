/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c - Python objects as text (UTF-8) and as free-form values of a record.
 *
 * Values keep null, bool, int64, double, str, bytes, list, tuple and dict; numpy scalars
 * go through item(). Any other object is stored as its repr, and counted. A value that is
 * too deep or too large is removed again and counted as dropped. */
#include "support.h"

/* ---- text ----------------------------------------------------------------------- */

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

/* A new reference to the text without secrets; with a key it is a name. Takes the
 * reference to text, which may be NULL. */
static PyObject *redacted(PyObject *text, const unsigned char *key)
{
    struct roast_str str = text ? text_borrow(text) : (struct roast_str){NULL, 0};

    if (!str.data || !roast_str_may_hold_secret(str))
        return text;
    size_t room = roast_str_redact_bound(str.size_bytes);
    char *plain = PyMem_Malloc(room);
    PyObject *clean = NULL;
    if (plain) {
        size_t size = key ? roast_str_redact_name(plain, room, str, key)
                          : roast_str_redact(plain, room, str);
        clean = text_new((struct roast_str){plain, size});
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(plain);
    Py_DECREF(text);
    return clean;
}

PyObject *text_redacted(PyObject *object)
{
    return redacted(text_of(object), NULL);
}

PyObject *name_redacted(PyObject *object)
{
    return redacted(text_of(object), roast_name_key());
}

PyObject *text_new(struct roast_str text)
{
    return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.size_bytes, "replace");
}

/* ---- values --------------------------------------------------------------------- */

enum { REPR_MAX_BYTES = 1024 };

struct writer {
    struct probe_state *state;
    roast_thread *thread;
    roast_values *out;
};

static int put_value(struct writer *w, PyObject *value, int depth);

static int put_repr(struct writer *w, PyObject *value)
{
    PyObject *repr = PyObject_Repr(value);
    PyObject *plain = repr ? text_redacted(repr) : NULL;
    int status = -1;

    if (plain) {
        roast_values_put_text(w->out,
                              roast_str_cut(text_borrow(plain), REPR_MAX_BYTES));
        roast_chunk_lose(w->thread, ROAST_LOSS_values_repr, 1);
        status = 0;
    }
    Py_XDECREF(plain);
    Py_XDECREF(repr);
    return status;
}

static int put_text(struct writer *w, PyObject *value)
{
    PyObject *plain = text_redacted(value);

    if (!plain)
        return -1;
    roast_values_put_text(w->out, text_borrow(plain));
    Py_DECREF(plain);
    return 0;
}

static int put_int(struct writer *w, PyObject *value)
{
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);

    if (overflow != 0)
        return put_repr(w, value);
    roast_values_put_int(w->out, number);
    return 0;
}

/* Bytes that are text may contain a secret: the redacted text. NULL, with or without an
 * exception, for other bytes. */
static PyObject *redacted_bytes(struct roast_str bytes)
{
    for (size_t i = 0; i < bytes.size_bytes; i++) {
        if ((unsigned char)bytes.data[i] < '\t')
            return NULL;
    }
    PyObject *text =
        PyUnicode_DecodeUTF8(bytes.data, (Py_ssize_t)bytes.size_bytes, NULL);
    PyObject *clean = text ? text_redacted(text) : NULL;
    Py_XDECREF(text);
    return clean;
}

static int put_bytes(struct writer *w, PyObject *value)
{
    char *data = NULL;
    Py_ssize_t size = 0;

    if (PyBytes_AsStringAndSize(value, &data, &size) < 0)
        return -1;
    struct roast_str bytes = {data, (size_t)size};
    PyObject *clean = redacted_bytes(bytes);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeError))
            return -1;
        PyErr_Clear(); /* no text */
    }
    roast_values_put_bytes(w->out, clean ? text_borrow(clean) : bytes);
    Py_XDECREF(clean);
    return 0;
}

static int put_list(struct writer *w, PyObject *value, int depth)
{
    PyObject *items = PySequence_Tuple(value); /* a copy: repr() may change the list */
    Py_ssize_t count = items ? PyTuple_Size(items) : -1;
    int status = count < 0 ? -1 : 0;

    if (status == 0)
        roast_values_put_list(w->out, (uint64_t)count);
    for (Py_ssize_t i = 0; i < count && status == 0 && roast_values_ok(w->out); i++)
        status = put_value(w, PyTuple_GetItem(items, i), depth + 1);
    Py_XDECREF(items);
    return status;
}

static int put_entry(struct writer *w, PyObject *key, PyObject *value, int depth)
{
    PyObject *name = text_redacted(key);

    if (!name)
        return -1;
    struct roast_str text =
        PyUnicode_Check(value) ? text_borrow(value) : (struct roast_str){NULL, 0};
    bool is_secret = roast_str_is_secret(text_borrow(name), text) && value != Py_None &&
                     !PyBool_Check(value);
    roast_values_put_key(w->out, text_borrow(name));
    Py_DECREF(name);
    if (!is_secret)
        return put_value(w, value, depth);
    roast_values_put_text(w->out, roast_str_of("***"));
    return 0;
}

static int put_dict(struct writer *w, PyObject *value, int depth)
{
    PyObject *items = PyDict_Items(value);
    Py_ssize_t count = items ? PyList_Size(items) : -1;
    int status = count < 0 ? -1 : 0;

    if (status == 0)
        roast_values_put_dict(w->out, (uint64_t)count);
    for (Py_ssize_t i = 0; i < count && status == 0 && roast_values_ok(w->out); i++) {
        PyObject *pair = PyList_GetItem(items, i);
        status =
            put_entry(w, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), depth + 1);
    }
    Py_XDECREF(items);
    return status;
}

static bool is_scalar(PyObject *value)
{
    return value == Py_None || PyFloat_Check(value) || PyLong_Check(value) ||
           PyUnicode_Check(value) || PyBytes_Check(value);
}

/* numpy scalars and 0-d arrays have a dtype and an item() that returns a Python scalar.
 * If item() returns another object, the repr is stored. */
static int put_foreign(struct writer *w, PyObject *value, int depth)
{
    const struct probe_names *names = &w->state->names;

    int numpy_like = guard_has_attr(value, names->dtype);
    if (numpy_like == 1)
        numpy_like = guard_has_attr(value, names->item);
    if (numpy_like <= 0)
        return numpy_like < 0 ? -1 : put_repr(w, value);
    PyObject *plain = PyObject_CallMethodObjArgs(value, names->item, NULL);
    if (!plain || !is_scalar(plain)) {
        Py_XDECREF(plain);
        return guard_clear() ? put_repr(w, value) : -1;
    }
    int status = put_value(w, plain, depth);
    Py_DECREF(plain);
    return status;
}

static int put_value(struct writer *w, PyObject *value, int depth)
{
    bool is_container =
        PyList_Check(value) || PyTuple_Check(value) || PyDict_Check(value);

    if (is_container && depth >= ROAST_VALUE_MAX_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "custom value nested over 8 deep");
        return -1;
    }
    if (value == Py_None)
        roast_values_put_null(w->out);
    else if (PyBool_Check(value))
        roast_values_put_bool(w->out, value == Py_True);
    else if (PyFloat_Check(value))
        roast_values_put_double(w->out, PyFloat_AsDouble(value));
    else if (PyLong_Check(value))
        return put_int(w, value);
    else if (PyUnicode_Check(value))
        return put_text(w, value);
    else if (PyBytes_Check(value))
        return put_bytes(w, value);
    else if (PyDict_Check(value))
        return put_dict(w, value, depth);
    else if (is_container)
        return put_list(w, value, depth);
    else
        return put_foreign(w, value, depth);
    return 0;
}

/* Converting runs code of the user (repr, item, finalisers), which may record a value
 * itself. That one would be written into the middle of this one, so it is dropped. */
int values_put(struct probe_state *state, roast_thread *thread, roast_values *out,
               PyObject *key, PyObject *value)
{
    static _Thread_local bool busy;
    struct writer w = {state, thread, out};
    size_t mark = roast_values_mark(out);

    if (busy) {
        roast_chunk_lose(thread, ROAST_LOSS_values_dropped, 1);
        return 0;
    }
    busy = true;
    int status = put_entry(&w, key, value, 0);
    busy = false;
    if (status == 0 && roast_values_ok(out))
        return 0;
    roast_values_rewind(out, mark);
    roast_chunk_lose(thread, ROAST_LOSS_values_dropped, 1);
    return guard_clear() ? 0 : -1; /* not counted as an error of the monitor */
}
