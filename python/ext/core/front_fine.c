/* SPDX-License-Identifier: BSD-3-Clause */
/* front_fine.c - Dask's cumulative worker metrics as fine metrics.
 *
 * Keys are (context, task prefix, activity, unit, ...). With a processor's name its own
 * tasks are told from the others; without one all are the processor's. A count is never
 * taken for seconds, nor seconds for bytes. */
#include <string.h>

#include "front.h"
#include "roast/analyze.h"
#include "state.h"

/* Sums so far; seconds start as 0.0, bytes as 0. Owned. */
struct sums {
    PyObject *all[ROAST_FINE_SUMS]; /* CPU and waiting: of the processor */
    PyObject *overhead_cpu;
    PyObject *overhead_noncpu;
};

/* A name of a key as text; what is none is empty, and belongs to no sum. */
static struct roast_str name_at(PyObject *key, Py_ssize_t at)
{
    PyObject *name = PyTuple_GetItem(key, at);
    struct roast_str text = {"", 0};

    if (PyUnicode_Check(name) && text_borrow(name, &text) < 0)
        PyErr_Clear();
    return text;
}

/* The sum that a key belongs to, or NULL. */
static PyObject **find_sum(struct sums *sums, PyObject *key, bool own)
{
    enum roast_fine_sum sum = roast_fine_sum_of(name_at(key, 2), name_at(key, 3));

    if (!own && sum == ROAST_FINE_CPU_S)
        return &sums->overhead_cpu;
    if (!own && sum == ROAST_FINE_NONCPU_S)
        return &sums->overhead_noncpu;
    return sum == ROAST_FINE_SUMS ? NULL : &sums->all[sum];
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
    for (int i = 0; i < ROAST_FINE_SUMS; i++) {
        sums->all[i] = i < ROAST_FINE_MEMORY_READ_BYTES ? PyFloat_FromDouble(0.0)
                                                        : PyLong_FromLong(0);
        ok = ok && sums->all[i];
    }
    sums->overhead_cpu = PyFloat_FromDouble(0.0);
    sums->overhead_noncpu = PyFloat_FromDouble(0.0);
    return ok && sums->overhead_cpu && sums->overhead_noncpu ? 0 : -1;
}

static void end(struct sums *sums)
{
    for (int i = 0; i < ROAST_FINE_SUMS; i++)
        Py_CLEAR(sums->all[i]);
    Py_CLEAR(sums->overhead_cpu);
    Py_CLEAR(sums->overhead_noncpu);
}

static PyObject *describe(const struct sums *sums)
{
    double s[ROAST_FINE_MEMORY_READ_BYTES];
    double overhead_cpu, overhead_noncpu;

    for (int i = 0; i < ROAST_FINE_MEMORY_READ_BYTES; i++) {
        if (front_double(&s[i], sums->all[i]) < 0)
            return NULL;
    }
    if (front_double(&overhead_cpu, sums->overhead_cpu) < 0 ||
        front_double(&overhead_noncpu, sums->overhead_noncpu) < 0)
        return NULL;
    double cpu_s = s[ROAST_FINE_CPU_S], wait_s = s[ROAST_FINE_NONCPU_S];
    double pack_s = s[ROAST_FINE_COMPRESS_S], unpack_s = s[ROAST_FINE_DECOMPRESS_S];
    double send_s = s[ROAST_FINE_SERIALIZE_S], take_s = s[ROAST_FINE_DESERIALIZE_S];
    return Py_BuildValue(
        "{s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:O,s:O,s:d,s:d,s:d,s:d,s:d,s:d}",
        "processor_cpu_time_seconds", cpu_s, "processor_io_wait_time_seconds", wait_s,
        "processor_cpu_percent", front_ratio(cpu_s, cpu_s + wait_s) * 100,
        "processor_io_wait_percent", front_ratio(wait_s, cpu_s + wait_s) * 100,
        "overhead_cpu_time_seconds", overhead_cpu, "overhead_io_wait_time_seconds",
        overhead_noncpu, "total_bytes_memory_read",
        sums->all[ROAST_FINE_MEMORY_READ_BYTES], "disk_read_bytes",
        sums->all[ROAST_FINE_DISK_READ_BYTES], "disk_write_bytes",
        sums->all[ROAST_FINE_DISK_WRITE_BYTES], "decompression_time_seconds", unpack_s,
        "compression_time_seconds", pack_s, "total_compression_overhead_seconds",
        pack_s + unpack_s, "deserialization_time_seconds", take_s,
        "serialization_time_seconds", send_s, "total_serialization_overhead_seconds",
        send_s + take_s);
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
