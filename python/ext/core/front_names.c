/* SPDX-License-Identifier: BSD-3-Clause */
/* front_names.c - names that Python shows or writes, from the lists that C uses. */
#include "front.h"
#include "roast/report.h"

/* The key of one value in worker_tracking.json, by the series' key in tracking_data. */
static PyObject *series_value_keys(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < ROAST_SERIES_COUNT; i++) {
        const struct roast_series_info *info = roast_series_info((enum roast_series)i);
        if (front_set(dict, info->key, PyUnicode_FromString(info->value_key)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *table_titles(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module;
    (void)unused;
    for (int i = 0; list && i < ROAST_REPORT_TABLE_COUNT; i++) {
        PyObject *title =
            PyUnicode_FromString(roast_report_title((enum roast_report_table)i));
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
