/* SPDX-License-Identifier: BSD-3-Clause */
/* lists.c - closed lists of libroast that Python code needs: names, numbers, limits. */
#include <string.h>

#include "roast/dask_batch.h"
#include "roast/report.h"
#include "roast/sample.h"
#include "roast/task.h"
#include "state.h"

static PyObject *batch_items(PyObject *module, PyObject *unused)
{
    PyObject *dict = PyDict_New();
    const struct roast_dask_batch_item *item;

    (void)module;
    (void)unused;
    for (size_t i = 0; dict && (item = roast_dask_batch_item(i)); i++) {
        PyObject *row = Py_BuildValue("IsI", item->number, item->format, item->texts);
        if (dict_set(dict, item->name, row) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *task_ends(void)
{
    PyObject *dict = PyDict_New();

    for (unsigned end = 0; dict && end < ROAST_TASK_END_LAST; end++) {
        const char *name = roast_task_end_name(end);
        if (name && dict_set(dict, name, PyLong_FromUnsignedLong(end)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *leave_reasons(void)
{
    PyObject *dict = PyDict_New();

    for (int i = 0; dict && i < ROAST_LEAVE_COUNT; i++) {
        const struct roast_leave_reason_info *reason =
            roast_leave_reason_info((enum roast_leave_reason)i);
        if (dict_set(dict, reason->name, PyUnicode_FromString(reason->text)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *batch_rules(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return Py_BuildValue(
        "{s:N,s:N,s:i,s:I,s:i,s:i,s:i}", "ends", task_ends(), "reasons",
        leave_reasons(), "ours", ROAST_TASK_OURS, "no_worker", ROAST_DASK_NO_WORKER,
        "most_workers", ROAST_DASK_MOST_WORKERS, "most_prefixes",
        ROAST_DASK_MOST_PREFIXES, "most_text_bytes", ROAST_DASK_MOST_TEXT_BYTES);
}

int series_number(const char *name)
{
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        const struct roast_series_info *info = roast_series_info((enum roast_series)i);
        if (strcmp(info->name, name) == 0 || strcmp(info->key, name) == 0)
            return i;
    }
    return -1;
}

static PyObject *series_names(PyObject *module, PyObject *unused)
{
    PyObject *names = PyTuple_New(ROAST_SERIES_COUNT);

    (void)module;
    (void)unused;
    for (int i = 0; names && i < ROAST_SERIES_COUNT; i++) {
        PyObject *name =
            PyUnicode_FromString(roast_series_info((enum roast_series)i)->name);
        if (!name || PyTuple_SetItem(names, i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

static PyObject *series_value_keys(PyObject *module, PyObject *unused)
{
    PyObject *dict = PyDict_New();

    (void)module;
    (void)unused;
    for (int i = 0; dict && i < ROAST_SERIES_COUNT; i++) {
        const struct roast_series_info *info = roast_series_info((enum roast_series)i);
        if (dict_set(dict, info->key, PyUnicode_FromString(info->value_key)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *table_names(PyObject *module, PyObject *unused)
{
    PyObject *names = PyTuple_New(ROAST_RUN_TABLE_COUNT);

    (void)module;
    (void)unused;
    for (int i = 0; names && i < ROAST_RUN_TABLE_COUNT; i++) {
        PyObject *name = PyUnicode_FromString(roast_table_name((enum roast_table_id)i));
        if (!name || PyTuple_SetItem(names, i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

static PyObject *table_titles(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module;
    (void)unused;
    for (int i = 0; list && i < ROAST_REPORT_TABLE_COUNT; i++)
        list = list_append(
            list, PyUnicode_FromString(roast_report_title((enum roast_report_table)i)));
    return list;
}

PyMethodDef list_methods[] = {
    {"batch_items", batch_items, METH_NOARGS,
     "{name: (number, format, texts)} of the items of a scheduler's batch."},
    {"batch_rules", batch_rules, METH_NOARGS,
     "Numbers, limits and texts for the code that packs a batch."},
    {"series_names", series_names, METH_NOARGS,
     "The series of a worker; the bit of each is its place."},
    {"series_value_keys", series_value_keys, METH_NOARGS,
     "{key in tracking_data: key of a value in worker_tracking.json}."},
    {"table_names", table_names, METH_NOARGS, "The tables that a run is asked for."},
    {"table_titles", table_titles, METH_NOARGS, "Titles of the tables, in order."},
    {NULL, NULL, 0, NULL},
};
