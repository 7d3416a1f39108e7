/* SPDX-License-Identifier: BSD-3-Clause */
/* mapping.c - values of mappings that users made, and parts of a record from them. */
#include "mapping.h"

#include <math.h>

PyObject *mapping_item(PyObject *mapping, const char *key)
{
    PyObject *value = PyErr_Occurred() ? NULL : PyMapping_GetItemString(mapping, key);

    if (!value)
        (void)guard_clear();
    if (value == Py_None)
        Py_CLEAR(value);
    return value;
}

bool number_of(PyObject *object, double *number)
{
    *number = object ? PyFloat_AsDouble(object) : NAN;
    if (PyErr_Occurred())
        (void)guard_clear();
    else if (object && isfinite(*number))
        return true;
    return false;
}

bool mapping_number(PyObject *mapping, const char *key, double *number)
{
    PyObject *value = mapping_item(mapping, key);
    bool known = number_of(value, number);

    Py_XDECREF(value);
    return known;
}

uint64_t whole_of(double value, double scale)
{
    double scaled = nearbyint(value * scale);
    return scaled >= 0 && scaled < 9e18 ? (uint64_t)scaled : 0;
}

/* Takes the reference to text, which may be NULL. */
static struct roast_str keep(PyObject *kept, PyObject *text)
{
    struct roast_str borrowed = {NULL, 0};

    if (text && PyList_Append(kept, text) == 0)
        borrowed = text_borrow(text);
    Py_XDECREF(text);
    (void)guard_clear();
    return borrowed;
}

struct roast_str text_kept(PyObject *kept, PyObject *object)
{
    return keep(kept, object ? text_redacted(object) : NULL);
}

struct roast_str file_kept(PyObject *kept, PyObject *object)
{
    return keep(kept, object ? file_redacted(object) : NULL);
}

uint64_t mapping_whole(PyObject *mapping, const char *key, double scale)
{
    double number = 0;
    return mapping_number(mapping, key, &number) ? whole_of(number, scale) : 0;
}

PyObject *mapping_dict(PyObject *mapping, const char *key)
{
    PyObject *found = mapping_item(mapping, key);
    PyObject *copy = found && PyDict_Check(found) ? PyDict_Copy(found) : NULL;

    Py_XDECREF(found);
    (void)guard_clear();
    return copy;
}

bool part_room(struct record_parts *parts, size_t size_bytes)
{
    parts->out = PyMem_Malloc(size_bytes);
    if (!parts->out)
        PyErr_NoMemory();
    return parts->out != NULL;
}

int part_finish(struct record_parts *parts, enum roast_field field, int64_t size,
                const roast_error *err)
{
    PyObject *bytes = NULL;
    int status = -1;

    if (size < 0)
        raise_roast(parts->state, err);
    else
        bytes = PyBytes_FromStringAndSize(parts->out, (Py_ssize_t)size);
    if (bytes)
        status = PyList_Append(parts->kept, bytes);
    if (status == 0)
        roast_record_set_str(parts->rec, field,
                             (struct roast_str){PyBytes_AsString(bytes), (size_t)size});
    Py_XDECREF(bytes);
    PyMem_Free(parts->out);
    parts->out = NULL;
    return status;
}
