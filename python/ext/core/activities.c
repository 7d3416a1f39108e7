/* SPDX-License-Identifier: BSD-3-Clause */
/* activities.c - what a cluster added up by itself, into a Run; and tasks, counted.
 *
 * Names in Dask's metrics may be anything that user code put there. What does not look
 * like ours is counted as a loss and skipped: measuring never fails for it. */
#include "batch.h"
#include "file.h"
#include "roast/scheduler.h"

static struct run_object *cast(PyObject *self)
{
    return (struct run_object *)self;
}

static void skip_odd(PyObject *self)
{
    PyErr_Clear();
    roast_run_lose(cast(self)->run, ROAST_RUN_LOSS_scheduler_unread, 1);
}

/* None with an exception that is no reason to go on without it. */
static bool is_fatal(void)
{
    return PyErr_Occurred() && (PyErr_ExceptionMatches(PyExc_MemoryError) ||
                                !PyErr_ExceptionMatches(PyExc_Exception));
}

/* ---- activities ------------------------------------------------------------------ */

/* (context, [prefix,] activity, unit), whose texts the tuple keeps; false for others,
 * with or without an exception. */
static bool read_names(PyObject *key, struct roast_activity *activity)
{
    struct roast_str *const with_prefix[] = {&activity->context, &activity->prefix,
                                             &activity->activity, &activity->unit};
    struct roast_str *const without[] = {&activity->context, &activity->activity,
                                         &activity->unit};
    Py_ssize_t size = PyTuple_Check(key) ? PyTuple_Size(key) : 0;

    if (size != 3 && size != 4)
        return false;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *name = PyTuple_GetItem(key, i);
        if (!PyUnicode_Check(name) ||
            text_borrow(name, size == 4 ? with_prefix[i] : without[i]) < 0)
            return false;
    }
    return true;
}

/* 0, or -1 with an exception. */
static int set_activity(PyObject *self, PyObject *key, PyObject *value)
{
    struct roast_activity activity = {.value = 0};
    roast_error err = {0};
    bool is_read = read_names(key, &activity);

    if (is_read)
        activity.value = PyFloat_AsDouble(value);
    if (is_fatal())
        return -1;
    if (!is_read || PyErr_Occurred())
        skip_odd(self);
    else if (roast_run_set_activity(cast(self)->run, &activity, &err) < 0)
        return raise_error(cast(self)->state, &err) ? 0 : -1;
    return 0;
}

PyObject *run_set_activities(PyObject *self, PyObject *mapping)
{
    PyObject *items = PyMapping_Items(mapping);
    Py_ssize_t count = items ? PyList_Size(items) : 0;
    int status = items ? 0 : -1;

    for (Py_ssize_t i = 0; status == 0 && i < count; i++) {
        PyObject *item = PyList_GetItem(items, i);
        if (!PyTuple_Check(item) || PyTuple_Size(item) != 2)
            skip_odd(self);
        else
            status =
                set_activity(self, PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1));
    }
    Py_XDECREF(items);
    return status == 0 ? Py_NewRef(Py_None) : NULL;
}

/* ---- hot lines -------------------------------------------------------------------- */

/* (file, line, function, text, seconds, self_seconds); texts borrow from the tuple.
 * False with an exception. */
static bool read_line(PyObject *row, struct roast_hot_line *line)
{
    PyObject *texts[3];
    long long number = 0;

    if (!PyTuple_Check(row)) {
        PyErr_SetString(PyExc_TypeError, "a hot line is a tuple");
        return false;
    }
    if (!PyArg_ParseTuple(row, "OLOOdd", &texts[0], &number, &texts[1], &texts[2],
                          &line->seconds, &line->self_seconds))
        return false;
    if (number < 0) {
        PyErr_Format(PyExc_ValueError, "line %lld", number);
        return false;
    }
    line->line = (uint64_t)number;
    return text_borrow(texts[0], &line->file) == 0 &&
           text_borrow(texts[1], &line->function) == 0 &&
           text_borrow(texts[2], &line->text) == 0;
}

/* 0, or -1 with an exception. */
static int add_line(PyObject *self, PyObject *row)
{
    struct roast_hot_line line = {.line = 0};
    roast_error err = {0};

    if (!read_line(row, &line)) {
        if (is_fatal())
            return -1;
        skip_odd(self);
        return 0;
    }
    if (roast_run_add_hot_line(cast(self)->run, &line, &err) < 0)
        return raise_error(cast(self)->state, &err) ? 0 : -1;
    return 0;
}

PyObject *run_add_hot_lines(PyObject *self, PyObject *rows)
{
    PyObject *iterator = PyObject_GetIter(rows);
    PyObject *row;
    int status = iterator ? 0 : -1;

    while (status == 0 && (row = PyIter_Next(iterator))) {
        status = add_line(self, row);
        Py_DECREF(row);
    }
    Py_XDECREF(iterator);
    return status == 0 && !PyErr_Occurred() ? Py_NewRef(Py_None) : NULL;
}

/* ---- what was told ---------------------------------------------------------------- */

/* {end: count} of those that there are. */
static PyObject *by_end(const uint64_t counts[ROAST_TASK_END_LAST])
{
    PyObject *dict = PyDict_New();

    for (unsigned end = 0; dict && end < ROAST_TASK_END_LAST; end++) {
        if (counts[end] > 0 && dict_set(dict, roast_task_end_name(end),
                                        PyLong_FromUnsignedLongLong(counts[end])) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

PyObject *run_tasks_seen(PyObject *self, PyObject *unused)
{
    struct roast_task_counts counts;

    (void)unused;
    if (run_load(cast(self)) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    roast_run_task_counts(cast(self)->run, &counts);
    Py_END_ALLOW_THREADS;
    PyObject *dict = PyDict_New();
    if (dict &&
        (dict_set(dict, "ours", by_end(counts.ours)) < 0 ||
         dict_set(dict, "foreign", by_end(counts.foreign)) < 0 ||
         dict_set(dict, "joined", PyLong_FromUnsignedLongLong(counts.joined)) < 0 ||
         dict_set(dict, "present", PyLong_FromUnsignedLongLong(counts.present)) < 0))
        Py_CLEAR(dict);
    return dict;
}
