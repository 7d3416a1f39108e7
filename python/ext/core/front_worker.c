/* SPDX-License-Identifier: BSD-3-Clause */
/* front_worker.c - tracking_data as worker metrics.
 *
 * Times are datetimes (anything whose difference has total_seconds(), or numbers). The
 * means are the trapezoid of the documents, roast_time_average(); memory is averaged
 * per worker first, then over workers, as 0.1.2 did. A sample that is None is skipped. */
#include <math.h>

#include "front.h"
#include "roast/analyze.h"

/* Points of one line, times counted from its first. Zeroed = empty. */
struct line {
    struct roast_point *points; /* owned */
    size_t count;
    struct tally values;
};

static void line_release(struct line *line)
{
    PyMem_Free(line->points);
    tally_release(&line->values);
    *line = (struct line){0};
}

static int seconds_between(double *seconds, PyObject *from, PyObject *to)
{
    PyObject *difference = PyNumber_Subtract(to, from);
    PyObject *number = NULL;
    int status = -1;

    if (!difference)
        return -1;
    if (PyFloat_Check(difference) || PyLong_Check(difference))
        number = Py_NewRef(difference);
    else
        number = PyObject_CallMethod(difference, "total_seconds", NULL);
    if (number)
        status = front_double(seconds, number);
    Py_XDECREF(number);
    Py_DECREF(difference);
    return status;
}

static int to_ns(int64_t *out, PyObject *from, PyObject *to)
{
    double seconds = 0;

    if (seconds_between(&seconds, from, to) < 0)
        return -1;
    if (!(fabs(seconds) < 9e9)) { /* 285 years: int64 nanoseconds hold them */
        PyErr_SetString(PyExc_OverflowError, "samples lie too far apart in time");
        return -1;
    }
    *out = llround(seconds * 1e9);
    return 0;
}

/* Appends one (time, value) unless the value is None; there is room. */
static int line_add(struct line *line, PyObject *first, PyObject *pair)
{
    PyObject *time = PySequence_GetItem(pair, 0);
    PyObject *value = time ? PySequence_GetItem(pair, 1) : NULL;
    struct roast_point point = {0, 0};
    int status = value ? 0 : -1;

    if (value && value != Py_None) {
        if (to_ns(&point.time_ns, first, time) < 0 ||
            front_double(&point.value, value) < 0 ||
            tally_add(&line->values, value) < 0)
            status = -1;
        else
            line->points[line->count++] = point;
    }
    Py_XDECREF(value);
    Py_XDECREF(time);
    return status;
}

/* Reads a list of our own, sorted by time: the sort also refuses mixed time zones. */
static int line_read(struct line *line, PyObject *pairs)
{
    Py_ssize_t count = PyList_Size(pairs);
    PyObject *pair = count > 0 ? PyList_GetItem(pairs, 0) : NULL;
    PyObject *first = pair ? PySequence_GetItem(pair, 0) : NULL;
    int status = count == 0 ? 0 : -1;

    if (first) {
        line->points = PyMem_Calloc((size_t)count, sizeof(*line->points));
        status = line->points ? 0 : -1;
        if (!line->points)
            PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count && status == 0; i++)
        status = line_add(line, first, PyList_GetItem(pairs, i));
    Py_XDECREF(first);
    return status;
}

/* Sorted by the time alone: values need not compare. */
static PyObject *sorted_pairs(PyObject *pairs)
{
    PyObject *list = PySequence_List(pairs);
    PyObject *module = list ? PyImport_ImportModule("operator") : NULL;
    PyObject *time_of =
        module ? PyObject_CallMethod(module, "itemgetter", "i", 0) : NULL;
    PyObject *sort = time_of ? PyObject_GetAttrString(list, "sort") : NULL;
    PyObject *args = sort ? PyTuple_New(0) : NULL;
    PyObject *keywords = args ? Py_BuildValue("{s:O}", "key", time_of) : NULL;
    PyObject *done = keywords ? PyObject_Call(sort, args, keywords) : NULL;

    Py_XDECREF(module);
    Py_XDECREF(time_of);
    Py_XDECREF(sort);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    if (!done)
        Py_CLEAR(list);
    Py_XDECREF(done);
    return list;
}

static int line_of(struct line *line, PyObject *pairs)
{
    PyObject *list = sorted_pairs(pairs);
    int status = list ? line_read(line, list) : -1;

    Py_XDECREF(list);
    return status;
}

/* Without a span of time the plain mean; 0 without any value. */
static double line_mean(const struct line *line)
{
    double mean = 0;

    if (roast_time_average(line->points, line->count, &mean))
        return mean;
    return tally_mean(&line->values);
}

/* ---- number of workers ------------------------------------------------------- */

static int read_counts(struct line *line, PyObject *counts)
{
    if (counts == Py_None)
        return 0;
    PyObject *items = PyMapping_Items(counts);
    int status = items ? line_of(line, items) : -1;
    Py_XDECREF(items);
    return status;
}

static PyObject *average_workers(PyObject *module, PyObject *counts)
{
    struct line line = {0};
    PyObject *mean = NULL;

    (void)module;
    if (read_counts(&line, counts) == 0)
        mean = PyFloat_FromDouble(line_mean(&line));
    line_release(&line);
    return mean;
}

/* ---- memory ------------------------------------------------------------------ */

/* Over workers: the highest sample, and the mean of each one's mean. */
struct memory {
    PyObject *peak; /* owned; NULL without a sample */
    double peak_value;
    struct tally means;
};

static int memory_add(struct memory *memory, PyObject *pairs)
{
    struct line line = {0};
    int status = pairs == Py_None ? 0 : line_of(&line, pairs);

    if (status == 0 && line.count > 0) {
        PyObject *mean = PyFloat_FromDouble(line_mean(&line));
        status = mean ? tally_add(&memory->means, mean) : -1;
        Py_XDECREF(mean);
        if (!memory->peak || line.values.high_value > memory->peak_value) {
            Py_XDECREF(memory->peak);
            memory->peak = Py_NewRef(line.values.high);
            memory->peak_value = line.values.high_value;
        }
    }
    line_release(&line);
    return status;
}

static int memory_read(struct memory *memory, PyObject *series)
{
    if (series == Py_None)
        return 0;
    PyObject *lines = PyMapping_Values(series);
    Py_ssize_t count = lines ? PyList_Size(lines) : -1;
    int status = count < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; i < count && status == 0; i++)
        status = memory_add(memory, PyList_GetItem(lines, i));
    Py_XDECREF(lines);
    return status;
}

static void memory_release(struct memory *memory)
{
    Py_CLEAR(memory->peak);
    tally_release(&memory->means);
}

static PyObject *peak_or_zero(const struct memory *memory)
{
    return memory->peak ? Py_NewRef(memory->peak) : PyFloat_FromDouble(0.0);
}

static PyObject *peak_memory(PyObject *module, PyObject *series)
{
    struct memory memory = {0};
    PyObject *peak = NULL;

    (void)module;
    if (memory_read(&memory, series) == 0)
        peak = peak_or_zero(&memory);
    memory_release(&memory);
    return peak;
}

static PyObject *average_memory(PyObject *module, PyObject *series)
{
    struct memory memory = {0};
    PyObject *mean = NULL;

    (void)module;
    if (memory_read(&memory, series) == 0)
        mean = PyFloat_FromDouble(tally_mean(&memory.means));
    memory_release(&memory);
    return mean;
}

/* ---- cores ------------------------------------------------------------------- */

/* Adds the last sample of a worker; a worker without samples is left out. */
static int add_cores(struct tally *cores, PyObject *pairs)
{
    Py_ssize_t count = pairs == Py_None ? 0 : PySequence_Size(pairs);
    PyObject *pair = count > 0 ? PySequence_GetItem(pairs, count - 1) : NULL;
    PyObject *value = pair ? PySequence_GetItem(pair, 1) : NULL;
    int status = count == 0 || value ? 0 : -1;

    if (value && value != Py_None)
        status = tally_add(cores, value);
    Py_XDECREF(value);
    Py_XDECREF(pair);
    return status;
}

static int read_cores(struct tally *cores, PyObject *series)
{
    PyObject *lines = PyMapping_Values(series);
    Py_ssize_t count = lines ? PyList_Size(lines) : -1;
    int status = count < 0 ? -1 : 0;

    for (Py_ssize_t i = 0; i < count && status == 0; i++)
        status = add_cores(cores, PyList_GetItem(lines, i));
    Py_XDECREF(lines);
    return status;
}

/* ---- all of it --------------------------------------------------------------- */

struct workers {
    struct line counts;
    struct memory memory;
    struct tally cores;
};

static int workers_read(struct workers *workers, PyObject *tracking)
{
    PyObject *counts = NULL, *memory = NULL, *cores = NULL;
    int status = -1;

    if (front_get(&counts, tracking, "worker_counts") < 0 ||
        front_get(&memory, tracking, "worker_memory") < 0 ||
        front_get(&cores, tracking, "worker_cores") < 0)
        goto out;
    if ((counts && read_counts(&workers->counts, counts) < 0) ||
        (memory && memory_read(&workers->memory, memory) < 0) ||
        (cores && read_cores(&workers->cores, cores) < 0))
        goto out;
    status = 0;
out:
    Py_XDECREF(counts);
    Py_XDECREF(memory);
    Py_XDECREF(cores);
    return status;
}

static PyObject *number_or_none(const struct tally *tally, double value)
{
    return tally->count > 0 ? PyFloat_FromDouble(value) : Py_NewRef(Py_None);
}

static PyObject *describe(const struct workers *workers)
{
    const struct line *counts = &workers->counts;
    PyObject *peak = counts->values.high;

    return Py_BuildValue(
        "{s:d,s:N,s:N,s:N,s:N,s:d}", "avg_workers", line_mean(counts), "peak_workers",
        peak ? Py_NewRef(peak) : PyLong_FromLong(0), "total_cores",
        number_or_none(&workers->cores, tally_sum(&workers->cores)), "cores_per_worker",
        number_or_none(&workers->cores, tally_mean(&workers->cores)),
        "peak_memory_bytes", peak_or_zero(&workers->memory),
        "avg_memory_per_worker_bytes", tally_mean(&workers->memory.means));
}

static PyObject *worker_metrics(PyObject *module, PyObject *tracking)
{
    struct workers workers = {0};
    PyObject *described = NULL;

    (void)module;
    if (workers_read(&workers, tracking) == 0)
        described = describe(&workers);
    line_release(&workers.counts);
    memory_release(&workers.memory);
    tally_release(&workers.cores);
    return described;
}

PyMethodDef front_worker_methods[] = {
    {"average_workers", average_workers, METH_O, "Workers, averaged over time."},
    {"peak_memory", peak_memory, METH_O, "The highest sample of any worker."},
    {"average_memory", average_memory, METH_O,
     "Mean over workers of the memory averaged over time."},
    {"worker_metrics", worker_metrics, METH_O, "What tracking_data says of workers."},
    {NULL, NULL, 0, NULL},
};
