/* SPDX-License-Identifier: BSD-3-Clause */
/* formulas.c - formulas of libroast for numbers from Python.
 *
 * The functions of 0.1.2 (roastcoffea.aggregation) select values from dicts and call
 * these. Numbers may be of any class: each is converted once, from a copy of the list
 * that user code cannot change meanwhile. */
#include <math.h>
#include <string.h>

#include "roast/analyze.h"
#include "state.h"

/* The items of a list as doubles, to be freed with PyMem_Free(); NULL with an exception. */
static double *doubles_of(PyObject *list, size_t *count)
{
    Py_ssize_t size = PyList_Size(list);
    double *values = PyMem_Calloc((size_t)size + 1, sizeof(*values));

    *count = (size_t)size;
    if (!values)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; values && i < size; i++) {
        values[i] = PyFloat_AsDouble(PyList_GetItem(list, i));
        if (values[i] == -1.0 && PyErr_Occurred()) {
            PyMem_Free(values);
            values = NULL;
        }
    }
    return values;
}

/* ---- statistics ----------------------------------------------------------------- */

/* The exact sum if all items are integers, else `sum`. */
static PyObject *total_new(PyObject *list, double sum)
{
    PyObject *total = PyLong_FromLong(0);

    for (Py_ssize_t i = 0; total && i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        if (!PyIndex_Check(item)) {
            Py_DECREF(total);
            return PyFloat_FromDouble(sum);
        }
        PyObject *number = PyNumber_Index(item);
        PyObject *more = number ? PyNumber_Add(total, number) : NULL;
        Py_XDECREF(number);
        Py_DECREF(total);
        total = more;
    }
    return total;
}

/* The first item with this value, so that an int is returned as int. */
static PyObject *item_of(PyObject *list, const double *values, size_t count,
                         double value)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] == value)
            return Py_NewRef(PyList_GetItem(list, (Py_ssize_t)i));
    }
    return count > 0 ? PyFloat_FromDouble(NAN) : Py_NewRef(Py_None);
}

static PyObject *statistics(PyObject *module, PyObject *numbers)
{
    PyObject *list = PySequence_List(numbers);
    PyObject *dict = NULL;
    size_t count = 0;
    double *values = list ? doubles_of(list, &count) : NULL;

    (void)module;
    if (values) {
        struct roast_statistics found = roast_statistics_of(values, count);
        dict = Py_BuildValue("{s:n,s:N,s:d,s:N,s:N,s:d}", "count", (Py_ssize_t)count,
                             "total", total_new(list, found.sum), "mean", found.mean,
                             "min", item_of(list, values, count, found.min), "max",
                             item_of(list, values, count, found.max), "std", found.std);
    }
    PyMem_Free(values);
    Py_XDECREF(list);
    return dict;
}

/* ---- averages over time --------------------------------------------------------- */

static struct roast_point *points_new(const double *seconds, const double *values,
                                      size_t count)
{
    struct roast_point *points = PyMem_Calloc(count + 1, sizeof(*points));

    if (!points)
        PyErr_NoMemory();
    for (size_t i = 0; points && i < count; i++) {
        if (!(fabs(seconds[i]) < 9e9)) { /* 285 years: int64 nanoseconds hold them */
            PyErr_SetString(PyExc_OverflowError,
                            "samples are too far apart in time: over 285 years");
            PyMem_Free(points);
            return NULL;
        }
        points[i] = (struct roast_point){llround(seconds[i] * 1e9), values[i]};
    }
    return points;
}

static PyObject *time_average(PyObject *module, PyObject *args)
{
    PyObject *times, *numbers, *result = NULL;
    double mean = 0;
    double *seconds = NULL, *values = NULL;
    struct roast_point *points = NULL;
    size_t count = 0, value_count = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:time_average", &times, &numbers))
        return NULL;
    times = PySequence_List(times);
    numbers = times ? PySequence_List(numbers) : NULL;
    if (numbers && (seconds = doubles_of(times, &count)))
        values = doubles_of(numbers, &value_count);
    if (values && count != value_count)
        PyErr_Format(PyExc_ValueError, "%zu times, but %zu values", count, value_count);
    else if (values)
        points = points_new(seconds, values, count);
    if (points && !roast_time_average(points, count, &mean))
        mean = roast_statistics_of(values, count).mean; /* all at the same time */
    if (points)
        result = PyFloat_FromDouble(mean);
    PyMem_Free(points);
    PyMem_Free(values);
    PyMem_Free(seconds);
    Py_XDECREF(numbers);
    Py_XDECREF(times);
    return result;
}

/* ---- metrics from metrics ------------------------------------------------------- */

/* -1 with KeyError. */
static int metric_of(const char *name)
{
    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        if (strcmp(roast_metric_info((enum roast_metric)i)->name, name) == 0)
            return i;
    }
    PyErr_SetString(PyExc_KeyError, name);
    return -1;
}

/* None is unknown. */
static int read_metrics(struct roast_metric_values *values, PyObject *mapping)
{
    PyObject *items = PyMapping_Items(mapping);
    int status = items ? 0 : -1;

    for (Py_ssize_t i = 0; status == 0 && i < PyList_Size(items); i++) {
        const char *name = NULL;
        PyObject *number = NULL;
        int metric = -1;
        if (PyArg_ParseTuple(PyList_GetItem(items, i), "sO", &name, &number))
            metric = metric_of(name);
        if (metric >= 0 && number != Py_None) {
            values->value[metric] = PyFloat_AsDouble(number);
            values->known[metric] = true;
        }
        status = PyErr_Occurred() ? -1 : 0;
    }
    Py_XDECREF(items);
    return status;
}

static PyObject *derive_metrics(PyObject *module, PyObject *mapping)
{
    struct roast_metric_values values = {0};
    size_t count = 0;
    const struct roast_metric_alias *aliases = roast_metric_aliases(&count);

    (void)module;
    if (read_metrics(&values, mapping) < 0)
        return NULL;
    roast_derive_fine(&values);
    roast_derive_rates(&values);
    roast_derive_efficiency(&values);
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < ROAST_METRIC_COUNT; i++) {
        const char *name = roast_metric_info((enum roast_metric)i)->name;
        if (values.known[i] &&
            dict_set(dict, name, PyFloat_FromDouble(values.value[i])) < 0)
            Py_CLEAR(dict);
    }
    for (size_t i = 0; dict && i < count; i++) {
        double value = values.value[aliases[i].metric] / aliases[i].per;
        if (values.known[aliases[i].metric] &&
            dict_set(dict, aliases[i].alias, PyFloat_FromDouble(value)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

/* None for arguments that are no str. */
static PyObject *fine_metric(PyObject *module, PyObject *args)
{
    PyObject *activity, *unit;
    struct roast_str texts[2];

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:fine_metric", &activity, &unit))
        return NULL;
    if (!PyUnicode_Check(activity) || !PyUnicode_Check(unit))
        Py_RETURN_NONE;
    if (text_borrow(activity, &texts[0]) < 0 || text_borrow(unit, &texts[1]) < 0) {
        PyErr_Clear(); /* lone surrogates */
        Py_RETURN_NONE;
    }
    enum roast_fine_sum sum = roast_fine_sum_of(texts[0], texts[1]);
    if (sum == ROAST_FINE_SUMS)
        Py_RETURN_NONE;
    return PyUnicode_FromString(roast_metric_info(roast_fine_metric(sum))->name);
}

PyMethodDef formula_methods[] = {
    {"statistics", statistics, METH_O,
     "count, total, mean, min, max and std of numbers, as 0.1.2 defines them."},
    {"time_average", time_average, METH_VARARGS,
     "Values averaged over their times in seconds by the trapezoid."},
    {"derive_metrics", derive_metrics, METH_O,
     "These metrics and those that follow from them, under all their names."},
    {"fine_metric", fine_metric, METH_VARARGS,
     "The metric that an activity and unit of Dask adds to, or None."},
    {NULL, NULL, 0, NULL},
};
