/* SPDX-License-Identifier: BSD-3-Clause */
/* front_names.c - names that Python shows or writes, from the lists that C uses. */
#include "front.h"

/* The key of one value in worker_tracking.json, by the series' key in tracking_data. */
static PyObject *series_value_keys(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *dict = PyDict_New();
#define S(name, key, value_key, unit, steps) \
    if (dict && front_set(dict, key, PyUnicode_FromString(value_key)) < 0) \
        Py_CLEAR(dict);
#include "roast/series.def"
#undef S
    return dict;
}

static PyObject *table_titles(PyObject *module, PyObject *unused)
{
    static const char *const titles[] = {
#define T(id, title) title,
#include "roast/report_tables.def"
#undef T
    };
    const Py_ssize_t count = (Py_ssize_t)(sizeof(titles) / sizeof(titles[0]));
    PyObject *list = PyList_New(0);

    (void)module;
    (void)unused;
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *title = PyUnicode_FromString(titles[i]);
        if (!title || PyList_Append(list, title) < 0)
            Py_CLEAR(list);
        Py_XDECREF(title);
    }
    return list;
}

PyMethodDef front_name_methods[] = {
    {"series_value_keys", series_value_keys, METH_NOARGS,
     "{key in tracking_data: key of a value in worker_tracking.json}."},
    {"table_titles", table_titles, METH_NOARGS, "Titles of the tables, in order."},
    {NULL, NULL, 0, NULL},
};
