/* SPDX-License-Identifier: BSD-3-Clause */
/* front_fine.c - Dask's cumulative worker metrics as fine metrics.
 *
 * Keys are (context, task prefix, activity, unit, ...). With a processor's name its own
 * tasks are told from the others; without one all are the processor's. A count is never
 * taken for seconds, nor seconds for bytes. */
#include <string.h>

#include "front.h"

enum second_slot {
    PROCESSOR_CPU,
    PROCESSOR_IO,
    OVERHEAD_CPU,
    OVERHEAD_IO,
    COMPRESS,
    DECOMPRESS,
    SERIALIZE,
    DESERIALIZE,
    SECOND_SLOTS
};

enum byte_slot { MEMORY_READ, DISK_READ, DISK_WRITE, BYTE_SLOTS };

/* Sums so far; seconds start as 0.0, bytes as 0. Owned. */
struct sums {
    PyObject *seconds[SECOND_SLOTS];
    PyObject *bytes[BYTE_SLOTS];
};

static const struct {
    const char *activity;
    enum second_slot slot;    /* of the processor */
    enum second_slot outside; /* of other tasks */
} second_rows[] = {
    {"thread-cpu", PROCESSOR_CPU, OVERHEAD_CPU},
    {"thread-noncpu", PROCESSOR_IO, OVERHEAD_IO},
    {"compress", COMPRESS, COMPRESS},
    {"decompress", DECOMPRESS, DECOMPRESS},
    {"serialize", SERIALIZE, SERIALIZE},
    {"deserialize", DESERIALIZE, DESERIALIZE},
};

static const char *const byte_rows[BYTE_SLOTS] = {
    [MEMORY_READ] = "memory-read",
    [DISK_READ] = "disk-read",
    [DISK_WRITE] = "disk-write",
};

static bool is_text(PyObject *object, const char *text)
{
    return PyUnicode_Check(object) &&
           PyUnicode_CompareWithASCIIString(object, text) == 0;
}

static PyObject **second_sum(struct sums *sums, PyObject *activity, bool own)
{
    for (size_t i = 0; i < sizeof(second_rows) / sizeof(second_rows[0]); i++) {
        if (is_text(activity, second_rows[i].activity))
            return &sums->seconds[own ? second_rows[i].slot : second_rows[i].outside];
    }
    return NULL;
}

/* The sum that a key belongs to, or NULL. */
static PyObject **find_sum(struct sums *sums, PyObject *key, bool own)
{
    PyObject *activity = PyTuple_GetItem(key, 2);
    PyObject *unit = PyTuple_GetItem(key, 3);

    if (is_text(unit, "bytes")) {
        for (size_t i = 0; i < BYTE_SLOTS; i++) {
            if (is_text(activity, byte_rows[i]))
                return &sums->bytes[i];
        }
        return NULL;
    }
    return is_text(unit, "count") ? NULL : second_sum(sums, activity, own);
}

static int add_entry(struct sums *sums, PyObject *key, PyObject *value, PyObject *name)
{
    int own = 1;

    if (!PyTuple_Check(key) || PyTuple_Size(key) < 4 || value == Py_None)
        return 0;
    if (name != Py_None)
        own = PyObject_RichCompareBool(PyTuple_GetItem(key, 1), name, Py_EQ);
    if (own < 0)
        return -1;
    PyObject **sum = find_sum(sums, key, own == 1);
    return sum ? front_add(sum, value) : 0;
}

static int add_entries(struct sums *sums, PyObject *metrics, PyObject *name)
{
    PyObject *items = PyMapping_Items(metrics);
    Py_ssize_t count = items ? PyList_Size(items) : -1;
    int status = count < 0 ? -1 : 0;

    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        PyObject *pair = PyList_GetItem(items, i);
        if (PyTuple_Check(pair) && PyTuple_Size(pair) == 2)
            status = add_entry(sums, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1),
                               name);
    }
    Py_XDECREF(items);
    return status;
}

static int begin(struct sums *sums)
{
    bool ok = true;

    memset(sums, 0, sizeof(*sums));
    for (size_t i = 0; i < SECOND_SLOTS; i++)
        ok = (sums->seconds[i] = PyFloat_FromDouble(0.0)) && ok;
    for (size_t i = 0; i < BYTE_SLOTS; i++)
        ok = (sums->bytes[i] = PyLong_FromLong(0)) && ok;
    return ok ? 0 : -1;
}

static void end(struct sums *sums)
{
    for (size_t i = 0; i < SECOND_SLOTS; i++)
        Py_CLEAR(sums->seconds[i]);
    for (size_t i = 0; i < BYTE_SLOTS; i++)
        Py_CLEAR(sums->bytes[i]);
}

static PyObject *describe(const struct sums *sums)
{
    double s[SECOND_SLOTS];

    for (size_t i = 0; i < SECOND_SLOTS; i++) {
        if (front_double(&s[i], sums->seconds[i]) < 0)
            return NULL;
    }
    double processor_s = s[PROCESSOR_CPU] + s[PROCESSOR_IO];
    return Py_BuildValue(
        "{s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:O,s:O,s:d,s:d,s:d,s:d,s:d,s:d}",
        "processor_cpu_time_seconds", s[PROCESSOR_CPU],
        "processor_io_wait_time_seconds", s[PROCESSOR_IO], "processor_cpu_percent",
        front_ratio(s[PROCESSOR_CPU], processor_s) * 100, "processor_io_wait_percent",
        front_ratio(s[PROCESSOR_IO], processor_s) * 100, "overhead_cpu_time_seconds",
        s[OVERHEAD_CPU], "overhead_io_wait_time_seconds", s[OVERHEAD_IO],
        "total_bytes_memory_read", sums->bytes[MEMORY_READ], "disk_read_bytes",
        sums->bytes[DISK_READ], "disk_write_bytes", sums->bytes[DISK_WRITE],
        "decompression_time_seconds", s[DECOMPRESS], "compression_time_seconds",
        s[COMPRESS], "total_compression_overhead_seconds", s[COMPRESS] + s[DECOMPRESS],
        "deserialization_time_seconds", s[DESERIALIZE], "serialization_time_seconds",
        s[SERIALIZE], "total_serialization_overhead_seconds",
        s[SERIALIZE] + s[DESERIALIZE]);
}

static PyObject *fine_metrics(PyObject *module, PyObject *args)
{
    struct sums sums;
    PyObject *metrics, *name = Py_None;
    PyObject *described = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "O|O:fine_metrics", &metrics, &name))
        return NULL;
    if (begin(&sums) == 0 && add_entries(&sums, metrics, name) == 0)
        described = describe(&sums);
    end(&sums);
    return described;
}

PyMethodDef front_fine_methods[] = {
    {"fine_metrics", fine_metrics, METH_VARARGS,
     "Seconds and bytes of Dask's cumulative worker metrics."},
    {NULL, NULL, 0, NULL},
};
