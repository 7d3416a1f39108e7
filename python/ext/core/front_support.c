/* SPDX-License-Identifier: BSD-3-Clause */
/* front_support.c - reading mappings, adding numbers, statistics.
 *
 * Mappings may be records or other classes of users: every value is held by a reference
 * of our own while foreign code (a comparison, a conversion) can run. */
#include <math.h>

#include "front.h"

/* ---- mappings ---------------------------------------------------------------- */

static PyObject *dict_lookup(PyObject *dict, PyObject *name)
{
    PyObject *value = PyDict_GetItemWithError(dict, name); /* no __missing__ */

    return value ? Py_NewRef(value) : NULL;
}

static PyObject *mapping_lookup(PyObject *mapping, PyObject *name)
{
    PyObject *value = PyObject_GetItem(mapping, name);

    if (!value && PyErr_ExceptionMatches(PyExc_KeyError))
        PyErr_Clear();
    return value;
}

int front_find(PyObject **out, PyObject *mapping, const char *key)
{
    PyObject *name = PyUnicode_InternFromString(key);

    *out = NULL;
    if (!name)
        return -1;
    *out = PyDict_Check(mapping) ? dict_lookup(mapping, name)
                                 : mapping_lookup(mapping, name);
    Py_DECREF(name);
    if (*out)
        return 1;
    return PyErr_Occurred() ? -1 : 0;
}

int front_get(PyObject **out, PyObject *mapping, const char *key)
{
    int found = front_find(out, mapping, key);

    if (*out != Py_None)
        return found;
    Py_CLEAR(*out);
    return 0;
}

int front_get_double(double *out, PyObject *mapping, const char *key)
{
    PyObject *value = NULL;
    int found = front_get(&value, mapping, key);

    if (found == 1 && front_double(out, value) < 0)
        found = -1;
    Py_XDECREF(value);
    return found;
}

int front_set(PyObject *dict, const char *key, PyObject *value)
{
    if (!value)
        return -1;
    int status = PyDict_SetItemString(dict, key, value);
    Py_DECREF(value);
    return status;
}

/* ---- numbers ----------------------------------------------------------------- */

int front_double(double *out, PyObject *number)
{
    double value = PyFloat_AsDouble(number);

    if (value == -1.0 && PyErr_Occurred())
        return -1;
    *out = value;
    return 0;
}

int front_add(PyObject **total, PyObject *value)
{
    PyObject *sum = *total ? PyNumber_Add(*total, value) : NULL;

    if (!sum)
        return -1;
    Py_DECREF(*total);
    *total = sum;
    return 0;
}

int front_add_from(PyObject **total, PyObject *mapping, const char *key)
{
    PyObject *value = NULL;
    int found = front_get(&value, mapping, key);

    if (found == 1 && front_add(total, value) < 0)
        found = -1;
    Py_XDECREF(value);
    return found;
}

double front_ratio(double value, double by)
{
    return by > 0 ? value / by : 0.0;
}

/* ---- tally ------------------------------------------------------------------- */

/* Neumaier's sum: the smaller of the two keeps its low digits in `lost`. */
static void add_to_sum(struct tally *tally, double value)
{
    double sum = tally->sum + value;

    if (fabs(tally->sum) >= fabs(value))
        tally->lost += (tally->sum - sum) + value;
    else
        tally->lost += (value - sum) + tally->sum;
    tally->sum = sum;
}

static void replace(PyObject **slot, PyObject *value)
{
    PyObject *old = *slot;

    *slot = Py_NewRef(value);
    Py_XDECREF(old);
}

int tally_add(struct tally *tally, PyObject *number)
{
    double value = 0;

    if (front_double(&value, number) < 0)
        return -1;
    if (!tally->low || value < tally->low_value) {
        replace(&tally->low, number);
        tally->low_value = value;
    }
    if (!tally->high || value > tally->high_value) {
        replace(&tally->high, number);
        tally->high_value = value;
    }
    double step = value - tally->mean;
    tally->count++;
    tally->mean += step / (double)tally->count;
    tally->squares += step * (value - tally->mean);
    add_to_sum(tally, value);
    return 0;
}

int tally_add_from(struct tally *tally, PyObject *mapping, const char *key)
{
    PyObject *value = NULL;
    int found = front_get(&value, mapping, key);

    if (found == 1 && tally_add(tally, value) < 0)
        found = -1;
    Py_XDECREF(value);
    return found;
}

double tally_sum(const struct tally *tally)
{
    return isfinite(tally->sum) ? tally->sum + tally->lost : tally->sum;
}

double tally_mean(const struct tally *tally)
{
    return front_ratio(tally_sum(tally), (double)tally->count);
}

double tally_std(const struct tally *tally)
{
    if (tally->count < 2)
        return 0.0;
    return sqrt(tally->squares / (double)(tally->count - 1));
}

void tally_release(struct tally *tally)
{
    Py_CLEAR(tally->low);
    Py_CLEAR(tally->high);
}
