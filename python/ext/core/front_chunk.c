/* SPDX-License-Identifier: BSD-3-Clause */
/* front_chunk.c - a list of chunk records as statistics, and when each chunk ran.
 *
 * A chunk failed when it carries an `error` (or our `status` says so); failed ones are
 * counted and otherwise left out. A record without a duration counts as a chunk but not
 * in the mean: 0.1.2 raised KeyError. */
#include "front.h"
#include "front_groups.h"

struct chunk_sums {
    size_t failed;
    struct tally seconds;
    struct tally mem_delta_mb;
    struct tally events;
    PyObject *total_events; /* exact; owned */
    struct groups datasets;
};

static int has_failed(PyObject *chunk)
{
    PyObject *error = NULL, *status = NULL;
    int found = front_get(&error, chunk, "error");

    if (found == 0 && front_get(&status, chunk, "status") == 1)
        found = PyUnicode_Check(status) &&
                PyUnicode_CompareWithASCIIString(status, "failed") == 0;
    Py_XDECREF(error);
    Py_XDECREF(status);
    return PyErr_Occurred() ? -1 : found;
}

static int add_to_dataset(struct groups *datasets, PyObject *chunk)
{
    struct group *group = groups_find(datasets, chunk, "dataset", NULL);

    if (!group)
        return -1;
    group->count++;
    if (tally_add_from(&group->seconds, chunk, "duration") < 0)
        return -1;
    return front_add_from(&group->events, chunk, "num_events");
}

static int add_chunk(struct chunk_sums *sums, PyObject *chunk)
{
    int failed = has_failed(chunk);

    if (failed != 0) {
        sums->failed += failed == 1;
        return failed;
    }
    if (tally_add_from(&sums->seconds, chunk, "duration") < 0 ||
        tally_add_from(&sums->mem_delta_mb, chunk, "mem_delta_mb") < 0 ||
        tally_add_from(&sums->events, chunk, "num_events") < 0 ||
        front_add_from(&sums->total_events, chunk, "num_events") < 0)
        return -1;
    return add_to_dataset(&sums->datasets, chunk);
}

/* ---- describing -------------------------------------------------------------- */

static int put_double(PyObject *dict, const char *key, double value)
{
    return front_set(dict, key, PyFloat_FromDouble(value));
}

static int put_seconds(PyObject *dict, const struct tally *seconds)
{
    if (seconds->count == 0)
        return 0;
    if (put_double(dict, "chunk_duration_mean", tally_mean(seconds)) < 0 ||
        PyDict_SetItemString(dict, "chunk_duration_min", seconds->low) < 0 ||
        PyDict_SetItemString(dict, "chunk_duration_max", seconds->high) < 0)
        return -1;
    return put_double(dict, "chunk_duration_std", tally_std(seconds));
}

static int put_memory(PyObject *dict, const struct tally *memory)
{
    if (memory->count == 0)
        return 0;
    if (put_double(dict, "chunk_mem_delta_mean_mb", tally_mean(memory)) < 0 ||
        PyDict_SetItemString(dict, "chunk_mem_delta_min_mb", memory->low) < 0 ||
        PyDict_SetItemString(dict, "chunk_mem_delta_max_mb", memory->high) < 0)
        return -1;
    return put_double(dict, "chunk_mem_delta_std_mb", tally_std(memory));
}

static int put_events(PyObject *dict, const struct tally *events, PyObject *total)
{
    if (events->count == 0)
        return 0;
    if (PyDict_SetItemString(dict, "total_events_from_chunks", total) < 0 ||
        put_double(dict, "chunk_events_mean", tally_mean(events)) < 0 ||
        PyDict_SetItemString(dict, "chunk_events_min", events->low) < 0)
        return -1;
    return PyDict_SetItemString(dict, "chunk_events_max", events->high);
}

static PyObject *dataset_row(const struct group *group)
{
    double events = 0;

    if (front_double(&events, group->events) < 0)
        return NULL;
    PyObject *row =
        Py_BuildValue("{s:n,s:d,s:O,s:d}", "num_chunks", (Py_ssize_t)group->count,
                      "total_duration", tally_sum(&group->seconds), "total_events",
                      group->events, "mean_duration", tally_mean(&group->seconds));
    if (row && events > 0 &&
        put_double(row, "mean_events_per_chunk", events / (double)group->count) < 0)
        Py_CLEAR(row);
    return row;
}

static PyObject *section_row(const struct group *group)
{
    const struct tally *memory = &group->memory;
    PyObject *row = Py_BuildValue(
        "{s:n,s:d,s:O,s:d}", "count", (Py_ssize_t)group->count, "total_duration",
        tally_sum(&group->seconds), "type", group->type, "mean_duration",
        front_ratio(tally_sum(&group->seconds), (double)group->count));

    if (!row || memory->count == 0)
        return row;
    if (put_double(row, "mean_mem_delta_mb", tally_mean(memory)) < 0 ||
        PyDict_SetItemString(row, "max_mem_delta_mb", memory->high) < 0 ||
        PyDict_SetItemString(row, "min_mem_delta_mb", memory->low) < 0)
        Py_CLEAR(row);
    return row;
}

/* ---- sections ---------------------------------------------------------------- */

/* 0.1.2's records say name and duration, the other documents section_name and
 * time_delta. */
static int add_section(struct groups *sections, PyObject *section)
{
    struct group *group = groups_find(sections, section, "name", "section_name");
    PyObject *type = NULL;

    if (!group || front_get(&type, section, "type") < 0)
        return -1;
    bool memory = type && PyUnicode_Check(type) &&
                  PyUnicode_CompareWithASCIIString(type, "memory") == 0;
    if (!group->type)
        group->type = type ? Py_NewRef(type) : PyUnicode_FromString("section");
    Py_XDECREF(type);
    group->count++;
    int found = group->type ? tally_add_from(&group->seconds, section, "duration") : -1;
    if (found == 0)
        found = tally_add_from(&group->seconds, section, "time_delta");
    if (found >= 0 && memory)
        found = tally_add_from(&group->memory, section, "mem_delta_mb");
    return found < 0 ? -1 : 0;
}

/* ---- the functions ----------------------------------------------------------- */

static int put_counts(PyObject *dict, size_t count, size_t failed)
{
    if (front_set(dict, "num_chunks", PyLong_FromSize_t(count)) < 0 || count == 0)
        return count == 0 && !PyErr_Occurred() ? 0 : -1;
    if (front_set(dict, "num_successful_chunks", PyLong_FromSize_t(count - failed)) < 0)
        return -1;
    return front_set(dict, "num_failed_chunks", PyLong_FromSize_t(failed));
}

static int put_sections(PyObject *dict, PyObject *list)
{
    struct groups sections = {0};
    Py_ssize_t count = list ? PyList_Size(list) : 0;
    int status = 0;

    for (Py_ssize_t i = 0; i < count && status == 0; i++)
        status = add_section(&sections, PyList_GetItem(list, i));
    if (status == 0 && count > 0)
        status = front_set(dict, "sections", groups_dict(&sections, section_row));
    groups_release(&sections);
    return status;
}

static int put_all(PyObject *dict, PyObject *chunks, PyObject *sections)
{
    struct chunk_sums sums = {.total_events = PyLong_FromLong(0)};
    Py_ssize_t count = PyList_Size(chunks);
    int status = sums.total_events ? 0 : -1;

    for (Py_ssize_t i = 0; i < count && status >= 0; i++)
        status = add_chunk(&sums, PyList_GetItem(chunks, i));
    if (status >= 0)
        status = put_counts(dict, (size_t)count, sums.failed);
    if (status == 0 && sums.failed < (size_t)count) {
        if (put_seconds(dict, &sums.seconds) < 0 ||
            put_memory(dict, &sums.mem_delta_mb) < 0 ||
            put_events(dict, &sums.events, sums.total_events) < 0 ||
            front_set(dict, "per_dataset", groups_dict(&sums.datasets, dataset_row)) <
                0)
            status = -1;
        if (status == 0)
            status = put_sections(dict, sections);
    }
    tally_release(&sums.seconds);
    tally_release(&sums.mem_delta_mb);
    tally_release(&sums.events);
    Py_XDECREF(sums.total_events);
    groups_release(&sums.datasets);
    return status < 0 ? -1 : 0;
}

/* A list of our own, so that nobody changes it meanwhile; None is an empty one. */
static PyObject *own_list(PyObject *iterable)
{
    return iterable == Py_None ? PyList_New(0) : PySequence_List(iterable);
}

static PyObject *chunk_metrics(PyObject *module, PyObject *args)
{
    PyObject *chunks, *sections = Py_None;

    (void)module;
    if (!PyArg_ParseTuple(args, "O|O:chunk_metrics", &chunks, &sections))
        return NULL;
    PyObject *chunk_list = own_list(chunks);
    PyObject *section_list = chunk_list ? own_list(sections) : NULL;
    PyObject *dict = section_list ? PyDict_New() : NULL;
    if (dict && put_all(dict, chunk_list, section_list) < 0)
        Py_CLEAR(dict);
    Py_XDECREF(chunk_list);
    Py_XDECREF(section_list);
    return dict;
}

/* ---- chunk_info -------------------------------------------------------------- */

enum { INFO_FILE, INFO_START, INFO_STOP, INFO_T0, INFO_T1, INFO_BYTES, INFO_VALUES };

/* Bytes that are None stay None: known to be unknown. Without the key 0.1.2 says 0. */
static int read_bytes(PyObject **bytes, PyObject *chunk)
{
    if (front_find(bytes, chunk, "bytes_read") == 0)
        *bytes = PyLong_FromLong(0);
    return *bytes ? 1 : -1;
}

/* 1 with all values, 0 when the record lacks one, -1. */
static int read_info(PyObject *values[INFO_VALUES], PyObject *chunk)
{
    static const char *const keys[] = {"file", "entry_start", "entry_stop", "t_start",
                                       "t_end"};
    int found = front_get(&values[INFO_FILE], chunk, keys[INFO_FILE]);

    if (found == 0)
        found = front_get(&values[INFO_FILE], chunk, "filename");
    for (size_t i = INFO_START; i <= INFO_T1 && found == 1; i++)
        found = front_get(&values[i], chunk, keys[i]);
    return found == 1 ? read_bytes(&values[INFO_BYTES], chunk) : found;
}

static int add_info(PyObject *dict, PyObject *chunk)
{
    PyObject *v[INFO_VALUES] = {NULL};
    PyObject *key = NULL, *value = NULL;
    int status = read_info(v, chunk);

    if (status == 1) {
        key = PyTuple_Pack(3, v[INFO_FILE], v[INFO_START], v[INFO_STOP]);
        value = PyTuple_Pack(3, v[INFO_T0], v[INFO_T1], v[INFO_BYTES]);
        status = key && value ? PyDict_SetItem(dict, key, value) : -1;
    }
    Py_XDECREF(key);
    Py_XDECREF(value);
    for (size_t i = 0; i < INFO_VALUES; i++)
        Py_XDECREF(v[i]);
    return status;
}

static PyObject *chunk_info(PyObject *module, PyObject *chunks)
{
    PyObject *list = PySequence_List(chunks);
    PyObject *dict = list ? PyDict_New() : NULL;
    Py_ssize_t count = dict ? PyList_Size(list) : 0;

    (void)module;
    for (Py_ssize_t i = 0; dict && i < count; i++) {
        if (add_info(dict, PyList_GetItem(list, i)) < 0)
            Py_CLEAR(dict);
    }
    Py_XDECREF(list);
    return dict;
}

PyMethodDef front_chunk_methods[] = {
    {"chunk_metrics", chunk_metrics, METH_VARARGS, "Statistics of chunk records."},
    {"chunk_info", chunk_info, METH_O,
     "{(file, start, stop): (t0, t1, bytes)} of chunk records."},
    {NULL, NULL, 0, NULL},
};
