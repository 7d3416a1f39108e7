/* SPDX-License-Identifier: BSD-3-Clause */
/* run_records.c - records and samples of a run as Python objects.
 *
 * They are copied under the lock of the run first, and converted afterwards: creating an
 * object may run any code. */
#include <math.h>

#include "file.h"
#include "run_methods.h"

static PyObject *chunk_new(const struct roast_chunk_list *found,
                           const struct roast_chunk_item *item)
{
    struct roast_str frame = {(const char *)found->frames + item->offset,
                              item->size_bytes};
    roast_record rec;
    bool ok = roast_record_decode(&rec, NULL, frame, NULL) == ROAST_OK &&
              roast_record_has(&rec, ROAST_FIELD_status) &&
              rec.values[ROAST_FIELD_status].u64 == ROAST_CHUNK_OK;

    return Py_BuildValue("y#KKO", frame.data, (Py_ssize_t)frame.size_bytes,
                         (unsigned long long)item->chunk_id,
                         (unsigned long long)item->attempt, ok ? Py_True : Py_False);
}

PyObject *run_chunks(PyObject *self, PyObject *unused)
{
    struct roast_chunk_list found = {NULL, NULL, 0};
    roast_error err = {0};
    int status;

    (void)unused;
    if (run_load(run_of(self)) < 0)
        return NULL;
    WITHOUT_GIL(status = roast_run_chunks(run_of(self)->run, &found, &err));
    if (status < 0)
        return raise_error(run_of(self)->state, &err);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < found.count; i++)
        list = list_append(list, chunk_new(&found, &found.items[i]));
    roast_chunk_list_release(&found);
    return list;
}

const unsigned char *run_id_of(PyObject *args)
{
    const char *id = NULL;
    Py_ssize_t size = 0;

    if (!PyArg_ParseTuple(args, "y#", &id, &size))
        return NULL;
    if (size == ROAST_RUN_ID_BYTES)
        return (const unsigned char *)id;
    PyErr_Format(PyExc_ValueError, "run id of %zd bytes, not 16", size);
    return NULL;
}

PyObject *run_rows(PyObject *self, PyObject *args)
{
    const unsigned char *run_id = run_id_of(args);
    struct roast_rows found = {NULL, 0};
    roast_error err = {0};
    int status;

    if (!run_id || run_load(run_of(self)) < 0)
        return NULL;
    WITHOUT_GIL(status = roast_run_rows(run_of(self)->run, run_id, &found, &err));
    if (status < 0)
        return raise_error(run_of(self)->state, &err);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < found.count; i++)
        list = list_append(list, PyLong_FromUnsignedLong(found.rows[i]));
    roast_rows_release(&found);
    return list;
}

/* Most frames are small; for a larger one the buffer grows. */
PyObject *run_frame(PyObject *self, PyObject *args)
{
    size_t room = 4096;
    int64_t size = ROAST_LIMIT;
    unsigned int row = 0;
    roast_error err = {0};
    PyObject *frame = NULL;
    char *out = NULL;

    if (!PyArg_ParseTuple(args, "I", &row) || run_load(run_of(self)) < 0)
        return NULL;
    while (size == ROAST_LIMIT && room < (size_t)1 << 28) {
        PyMem_Free(out);
        out = PyMem_Malloc(room);
        if (!out)
            return PyErr_NoMemory();
        WITHOUT_GIL(size = roast_run_frame(run_of(self)->run, row, out, room, &err));
        room *= 8;
    }
    if (size < 0)
        raise_error(run_of(self)->state, &err);
    else
        frame = PyBytes_FromStringAndSize(out, (Py_ssize_t)size);
    PyMem_Free(out);
    return frame;
}

/* An aware datetime in UTC. */
static PyObject *datetime_new(const struct core_state *state, int64_t time_ns)
{
    return PyObject_CallFunction(state->from_timestamp, "dO",
                                 nearbyint((double)time_ns / 1e3) / 1e6, state->utc);
}

static PyObject *value_new(double value, double steps)
{
    if (steps == 1 && fabs(value) < 9e15)
        return PyLong_FromDouble(nearbyint(value));
    return PyFloat_FromDouble(value);
}

static PyObject *points_new(const struct core_state *state,
                            const struct roast_timeline *line)
{
    double steps = roast_series_info(line->series)->steps;
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < line->count; i++) {
        PyObject *time = datetime_new(state, line->points[i].time_ns);
        PyObject *value = value_new(line->points[i].value, steps);
        list = list_append(list, Py_BuildValue("NN", time, value));
    }
    return list;
}

static PyObject *counts_new(const struct core_state *state,
                            const struct roast_timeline *line)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < line->count; i++) {
        PyObject *time = datetime_new(state, line->points[i].time_ns);
        PyObject *value = value_new(line->points[i].value, 1);
        if (!time || !value || PyDict_SetItem(dict, time, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(time);
        Py_XDECREF(value);
    }
    return dict;
}

/* tracking[series][worker] = points */
static int add_line(const struct core_state *state, PyObject *tracking,
                    const struct roast_timeline *line)
{
    const char *key = roast_series_info(line->series)->key;

    if (!line->worker)
        return dict_set(tracking, "worker_counts", counts_new(state, line));
    if (!PyDict_GetItemString(tracking, key) &&
        dict_set(tracking, key, PyDict_New()) < 0)
        return -1;
    PyObject *workers = PyDict_GetItemString(tracking, key);
    PyObject *name = text_new(roast_str_of(line->worker));
    PyObject *points = name ? points_new(state, line) : NULL;
    int status = points ? PyDict_SetItem(workers, name, points) : -1;
    Py_XDECREF(name);
    Py_XDECREF(points);
    return status;
}

PyObject *run_tracking(PyObject *self, PyObject *unused)
{
    struct roast_tracking found = {NULL, 0};
    roast_error err = {0};
    int status;

    (void)unused;
    if (run_load(run_of(self)) < 0)
        return NULL;
    WITHOUT_GIL(status = roast_run_tracking(run_of(self)->run, &found, &err));
    if (status < 0)
        return raise_error(run_of(self)->state, &err);
    PyObject *tracking = PyDict_New();
    if (tracking && dict_set(tracking, "worker_counts", PyDict_New()) < 0)
        Py_CLEAR(tracking);
    for (size_t i = 0; tracking && i < found.count; i++) {
        if (add_line(run_of(self)->state, tracking, &found.lines[i]) < 0)
            Py_CLEAR(tracking);
    }
    roast_tracking_release(&found);
    return tracking;
}
