/* SPDX-License-Identifier: BSD-3-Clause */
/* front_workflow.c - a whole run from coffea's report, and its efficiency.
 *
 * 0.1.2's definitions: custom metrics of datasets go before the report; a report
 * without `bytesread` says nothing; a missing `processtime` is the wall time. */
#include "front.h"
#include "roast/analyze.h"

/* What a run read and did. Owned; a NULL is an earlier failure. */
struct totals {
    PyObject *bytes;
    PyObject *events;
    PyObject *seconds;
};

static int add_dataset(struct totals *totals, PyObject *dataset)
{
    PyObject *counters = NULL;
    int status = -1;

    if (front_add_from(&totals->events, dataset, "entries") < 0 ||
        front_add_from(&totals->seconds, dataset, "duration") < 0)
        return -1;
    int found = front_get(&counters, dataset, "performance_counters");
    if (found == 1)
        found = front_add_from(&totals->bytes, counters, "num_requested_bytes");
    status = found < 0 ? -1 : 0;
    Py_XDECREF(counters);
    return status;
}

static int add_custom(struct totals *totals, PyObject *custom)
{
    PyObject *datasets =
        PyObject_CallFunctionObjArgs((PyObject *)&PyDict_Type, custom, NULL);
    PyObject *values = datasets ? PyDict_Values(datasets) : NULL;
    Py_ssize_t count = values ? PyList_Size(values) : -1;
    int status = count < 0 ? -1 : 0;

    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        PyObject *dataset = PyList_GetItem(values, i);
        if (PyDict_Check(dataset))
            status = add_dataset(totals, dataset);
    }
    Py_XDECREF(values);
    Py_XDECREF(datasets);
    return status;
}

static int add_report(struct totals *totals, PyObject *report, PyObject *wall)
{
    int found = front_add_from(&totals->bytes, report, "bytesread");

    if (found <= 0)
        return found;
    if (front_add_from(&totals->events, report, "entries") < 0)
        return -1;
    found = front_add_from(&totals->seconds, report, "processtime");
    return found == 0 ? front_add(&totals->seconds, wall) : found;
}

static int add_up(struct totals *totals, PyObject *report, PyObject *custom,
                  PyObject *wall)
{
    int use_custom = custom && custom != Py_None ? PyObject_IsTrue(custom) : 0;

    if (use_custom < 0 || !totals->bytes || !totals->events || !totals->seconds)
        return -1;
    return use_custom ? add_custom(totals, custom) : add_report(totals, report, wall);
}

/* The numbers behind the rates. */
struct sizes {
    double wall_s;
    double bytes;
    double events;
    double process_s;
    double chunks;
};

static int read_sizes(struct sizes *sizes, const struct totals *totals, PyObject *wall,
                      PyObject *chunks)
{
    if (front_double(&sizes->wall_s, wall) < 0 ||
        front_double(&sizes->bytes, totals->bytes) < 0 ||
        front_double(&sizes->events, totals->events) < 0 ||
        front_double(&sizes->process_s, totals->seconds) < 0)
        return -1;
    return front_double(&sizes->chunks, chunks);
}

static void know(struct roast_metric_values *values, enum roast_metric metric,
                 double value)
{
    values->known[metric] = true;
    values->value[metric] = value;
}

static void know_sizes(struct roast_metric_values *values, const struct sizes *s)
{
    know(values, ROAST_METRIC_wall_time, s->wall_s);
    know(values, ROAST_METRIC_total_bytes_read, s->bytes);
    know(values, ROAST_METRIC_total_events, s->events);
    know(values, ROAST_METRIC_total_cpu_time, s->process_s);
    know(values, ROAST_METRIC_num_chunks, s->chunks);
}

/* A rate per nothing: 0.1.2 says 0. */
static double rate(const struct roast_metric_values *values, enum roast_metric metric)
{
    return values->known[metric] ? values->value[metric] : 0.0;
}

static PyObject *describe(const struct totals *totals, PyObject *wall, PyObject *chunks)
{
    struct roast_metric_values values = {0};
    struct sizes s;

    if (read_sizes(&s, totals, wall, chunks) < 0)
        return NULL;
    know_sizes(&values, &s);
    roast_derive_rates(&values);
    return Py_BuildValue(
        "{s:d,s:O,s:d,s:d,s:O,s:O,s:O,s:d,s:O}", "data_rate_gbps",
        rate(&values, ROAST_METRIC_data_rate_gbps), "total_events", totals->events,
        "event_rate_elapsed_khz", rate(&values, ROAST_METRIC_event_rate_wall_khz),
        "event_rate_cpu_total_khz", rate(&values, ROAST_METRIC_event_rate_agg_khz),
        "elapsed_time_seconds", wall, "total_cpu_time", totals->seconds, "num_chunks",
        chunks, "avg_cpu_time_per_chunk",
        rate(&values, ROAST_METRIC_avg_cpu_time_per_chunk), "total_bytes_read",
        totals->bytes);
}

static PyObject *workflow_metrics(PyObject *module, PyObject *args)
{
    struct totals totals = {0};
    PyObject *report, *t_start, *t_end;
    PyObject *custom = NULL, *wall = NULL, *chunks = NULL, *metrics = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOO|O:workflow_metrics", &report, &t_start, &t_end,
                          &custom))
        return NULL;
    wall = PyNumber_Subtract(t_end, t_start);
    totals =
        (struct totals){PyLong_FromLong(0), PyLong_FromLong(0), PyLong_FromLong(0)};
    if (!wall || front_get(&chunks, report, "chunks") < 0 ||
        add_up(&totals, report, custom, wall) < 0)
        goto out;
    if (!chunks)
        chunks = PyLong_FromLong(0);
    if (chunks)
        metrics = describe(&totals, wall, chunks);
out:
    Py_XDECREF(chunks);
    Py_XDECREF(wall);
    Py_XDECREF(totals.bytes);
    Py_XDECREF(totals.events);
    Py_XDECREF(totals.seconds);
    return metrics;
}

/* ---- efficiency -------------------------------------------------------------- */

static PyObject *known_or_none(bool known, double value)
{
    return known ? PyFloat_FromDouble(value) : Py_NewRef(Py_None);
}

/* Without a positive wall time 0.1.2 says 0. What libroast then does not give was made
 * of a number that is none. */
static double derived(const struct roast_metric_values *values,
                      enum roast_metric metric)
{
    if (!values->known[ROAST_METRIC_wall_time])
        return 0.0;
    return values->known[metric] ? values->value[metric] : Py_NAN;
}

/* Without cores there is nothing to say of them. */
static PyObject *efficiency_dict(const struct sizes *s, double cores)
{
    struct roast_metric_values values = {0};
    bool has_cores = cores > 0;

    if (s->wall_s > 0) {
        know(&values, ROAST_METRIC_wall_time, s->wall_s);
        know(&values, ROAST_METRIC_total_cpu_time, s->process_s);
        know(&values, ROAST_METRIC_total_events, s->events);
        if (has_cores)
            know(&values, ROAST_METRIC_total_cores, cores);
        roast_derive_rates(&values);
        roast_derive_efficiency(&values);
    }
    double per_core_hz = derived(&values, ROAST_METRIC_event_rate_core_hz);
    return Py_BuildValue(
        "{s:N,s:d,s:N}", "core_efficiency",
        known_or_none(has_cores, derived(&values, ROAST_METRIC_cpu_efficiency)),
        "speedup_factor", derived(&values, ROAST_METRIC_speedup), "event_rate_core_khz",
        known_or_none(has_cores, per_core_hz / 1e3));
}

static PyObject *efficiency_metrics(PyObject *module, PyObject *args)
{
    struct sizes s = {0};
    PyObject *workflow, *workers;
    double cores = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:efficiency_metrics", &workflow, &workers))
        return NULL;
    if (front_get_double(&s.wall_s, workflow, "elapsed_time_seconds") < 0 ||
        front_get_double(&s.process_s, workflow, "total_cpu_time") < 0 ||
        front_get_double(&s.events, workflow, "total_events") < 0 ||
        front_get_double(&cores, workers, "total_cores") < 0)
        return NULL;
    return efficiency_dict(&s, cores);
}

static PyObject *elapsed_seconds(PyObject *module, PyObject *args)
{
    double t0 = 0, t1 = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "dd:elapsed_seconds", &t0, &t1))
        return NULL;
    return PyFloat_FromDouble(t1 - t0);
}

PyMethodDef front_workflow_methods[] = {
    {"workflow_metrics", workflow_metrics, METH_VARARGS,
     "Rates and totals of coffea's report."},
    {"efficiency_metrics", efficiency_metrics, METH_VARARGS,
     "How well the cores were used."},
    {"elapsed_seconds", elapsed_seconds, METH_VARARGS, "From t0 to t1."},
    {NULL, NULL, 0, NULL},
};
